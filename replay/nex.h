/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Headers of NeuroExplorer's files: .nex (NEX1, 32-bit timestamps) and .nex5 (NEX5, 32- or 64-bit timestamps,
 * JSON after the data). The file header is followed by one header per variable, with the offset of its data;
 * all numbers are little-endian. The layouts are those of NexFileHeader and NexVarHeader in NeuroExplorer's
 * published readers. nex.c interprets the variables.
 */
#ifndef SF_REPLAY_NEX_H
#define SF_REPLAY_NEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <synfire/error.h>

typedef enum sf_nex_type {
    SF_NEX_NEURON = 0,
    SF_NEX_EVENT = 1,
    SF_NEX_INTERVAL = 2,
    SF_NEX_WAVEFORM = 3,
    SF_NEX_POPULATION_VECTOR = 4,
    SF_NEX_CONTINUOUS = 5,
    SF_NEX_MARKER = 6,
    SF_NEX_TYPES
} sf_nex_type;

#define SF_NEX_FIELD_NAME 64 /**< bytes of the name that precedes the values of a marker's field */

typedef struct sf_nex_variable {
    char name[136]; /**< UTF-8 */
    int32_t type;   /**< an sf_nex_type, or an unknown value */
    uint64_t offset, count;
    uint32_t width;     /**< bytes of a timestamp: 4 or 8 */
    bool is_whole;      /**< its data that are not read also lie within the file */
    bool has_numbers;   /**< wire and unit mean something */
    int32_t wire, unit; /**< channel of the electrode; unit 0: unsorted spikes */
    double x, y;        /**< NaN: not known */
    uint32_t fields;    /**< of a marker */
    uint32_t length;    /**< bytes of a marker's value */
    bool is_numeric;    /**< its values are integers, not text */
} sf_nex_variable;

typedef struct sf_nex {
    const char *path; /**< the caller's */
    int file;
    uint64_t size; /**< of the file */
    bool is_nex5;
    int32_t version;
    double rate_hz;    /**< timestamps in a second */
    char comment[520]; /**< UTF-8 */
    bool has_span;
    int64_t begin, end; /**< smallest and greatest timestamp, if has_span */
    char trouble[160];  /**< why the JSON was not read; "": it was read, or there is none */
    sf_nex_variable *variables;
    size_t count;
} sf_nex;

/** Whether the file begins with the signature of one of these formats. */
bool sf_nex_has_signature(const char *path);

/** Reads the headers and the JSON, and checks counts and offsets of the data to be read against the size of
 * the file. SF_DATA; SF_IO, SF_NO_INPUT, SF_NO_MEMORY. Call sf_nex_close also on failure. */
int sf_nex_open(sf_nex *nex, const char *path, sf_error *error);
void sf_nex_close(sf_nex *nex);

/** Reads `count` timestamps of `width` bytes each from byte `offset` of the file. SF_IO. */
int sf_nex_read_times(int64_t *times, const sf_nex *nex, uint64_t offset, uint32_t width, size_t count,
                      sf_error *error);

/** `size` bytes of the file. SF_IO. */
int sf_nex_read(void *bytes, const sf_nex *nex, uint64_t offset, size_t size, sf_error *error);

#endif
