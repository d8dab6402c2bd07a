/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A recorder's HDF5 file: a recording of synfire's own layout (io/layout.h) with what a run found as tables
 * under /results. HDF5 calls are made by one thread only (sinks/storage.h).
 */
#ifndef SF_SINKS_RECORDER_FILE_H
#define SF_SINKS_RECORDER_FILE_H

#include "io/layout.h"

/** The tables, in the order in which they are created (sinks/recorder_rows.h). */
typedef enum sf_recorder_table {
    SF_TABLE_WINDOWS,
    SF_TABLE_EPISODES,
    SF_TABLE_COUNTS,
    SF_TABLE_TRIGGERS,
    SF_TABLE_DECISIONS,
    SF_TABLE_DELIVERIES,
    SF_TABLE_DENSITIES,
    SF_TABLE_GRAPHS,
    SF_TABLE_EDGES,
    SF_TABLE_REACH,
    SF_TABLE_UNITS,
    SF_TABLE_MATCHES,
    SF_TABLE_TRIADS,
    SF_TABLE_STATUS,
    SF_TABLE_SOURCES,
    SF_TABLE_SINKS,
    SF_TABLE_DENSITY_VALUES, /**< a plain column of double */
    SF_TABLE_MATCH_UNITS,    /**< a plain column of uint32_t */
    SF_RECORDER_TABLES
} sf_recorder_table;

const char *sf_recorder_table_name(sf_recorder_table table);
size_t sf_recorder_row_size(sf_recorder_table table);
/** A hash of names, types and places of its fields: rows in memory of one form are of no other. */
uint64_t sf_recorder_table_form(sf_recorder_table table);

typedef struct sf_recorder_file sf_recorder_file;

/** As sf_layout_create, with the tables; where it is live readers may open it. */
int sf_recorder_file_create(sf_recorder_file **file, const char *path, const sf_recording *about,
                            const sf_layout_options *options, sf_error *error);

/** For all that is no table; closed with the file. */
sf_layout *sf_recorder_file_layout(const sf_recorder_file *file);

int sf_recorder_file_append(sf_recorder_file *file, sf_recorder_table table, const void *rows, size_t count,
                            sf_error *error);

/** As of sf_layout; NULL is allowed. */
int sf_recorder_file_close(sf_recorder_file *file, const sf_span *recorded, sf_error *error);
void sf_recorder_file_discard(sf_recorder_file *file);
void sf_recorder_file_abandon(sf_recorder_file *file);

#endif
