/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Results as tables of an NWB 2 file: a copy of the file that the recording is of, or a new one with the
 * recording. They stand in the processing module `synfire`, and refer to the rows of the Units table.
 */
#ifndef SF_REPLAY_NWB_RESULTS_H
#define SF_REPLAY_NWB_RESULTS_H

#include <stddef.h>
#include <synfire/recording.h>

typedef enum sf_result_kind {
    SF_RESULT_TEXT,    /**< char * */
    SF_RESULT_INTEGER, /**< int64_t */
    SF_RESULT_REAL,    /**< double; NaN: not known */
    SF_RESULT_UNIT,    /**< int64_t: a unit of the recording */
    SF_RESULT_ROW      /**< int64_t: a row of the first of the tables */
} sf_result_kind;

typedef struct sf_result_column {
    const char *name, *about; /**< what it is, with its unit */
    sf_result_kind kind;
    size_t width; /**< numbers in a row of an array; 1: a vector */
    void *values; /**< as many rows of that width as the table has */
    size_t *ends; /**< or NULL. Of a ragged column: a row of the table has those from ends[row - 1] to
                     ends[row] */
} sf_result_column;

#define SF_RESULT_COLUMNS 24

typedef struct sf_result_table {
    const char *name, *about;
    bool intervals; /**< its rows are stretches of time, with start_time and stop_time */
    size_t row_count, column_count;
    sf_result_column columns[SF_RESULT_COLUMNS];
} sf_result_table;

/**
 * Writes the file at `path`, whole or not at all. Where the recording is of the Units table of an NWB 2 file
 * it is a copy of that, to the byte but for the tables; else a new one with the recording, which `provenance`
 * (JSON or NULL) is for. Tables of these names that are there already stay, and the new ones are numbered:
 * episodes_2. Of several ranks the first writes. SF_CANNOT_CREATE, also where there is a file of this name;
 * SF_USAGE where seconds do not hold the recording's times; SF_NO_INPUT, SF_DATA where the file that is
 * copied is no longer the one that was read; SF_IO, SF_NO_MEMORY.
 */
int sf_nwb_results_write(const sf_recording *recording, const char *path, const sf_result_table *tables,
                         size_t count, const char *provenance, sf_error *error);

#endif
