/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A recorder's HDF5 file: a recording in synfire's own layout (io/layout.h), with the results of a run as
 * tables under /results. Only one thread calls HDF5 (sinks/storage.h).
 */
#ifndef SF_SINKS_RECORDER_FILE_H
#define SF_SINKS_RECORDER_FILE_H

#include "io/layout.h"
#include "sinks/recorder_rows.h"

typedef struct sf_recorder_file sf_recorder_file;

/** As sf_layout_create, with the tables; a live file may be opened by readers. */
int sf_recorder_file_create(sf_recorder_file **file, const char *path, const sf_recording *about,
                            const sf_layout_options *options, sf_error *error);

/** The layout, for everything except tables; closed with the file. */
sf_layout *sf_recorder_file_layout(const sf_recorder_file *file);

int sf_recorder_file_append(sf_recorder_file *file, sf_recorder_table table, const void *rows, size_t count,
                            sf_error *error);

/** As in sf_layout; NULL is allowed. */
int sf_recorder_file_close(sf_recorder_file *file, const sf_span *recorded, sf_error *error);
void sf_recorder_file_discard(sf_recorder_file *file);
void sf_recorder_file_abandon(sf_recorder_file *file);

#endif
