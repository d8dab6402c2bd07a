/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Results as tables of an NWB 2 file: in a copy of the file that the recording was read from, or in a new
 * file with the recording. They are in the processing module `synfire`, and refer to rows of the Units table.
 */
#ifndef SF_REPLAY_NWB_RESULTS_H
#define SF_REPLAY_NWB_RESULTS_H

#include <stddef.h>
#include <synfire/recording.h>
#include <synfire/table.h>

/**
 * Writes the file at `path` atomically. If the recording is the Units table of an NWB 2 file, it is an exact
 * copy of that file plus the tables; else a new file with the recording and its `provenance` (JSON or NULL).
 * Existing tables of these names stay, and the new ones are numbered: episodes_2. A table with the columns
 * start_time and stop_time is an interval table. With several ranks the first writes. SF_CANNOT_CREATE, also
 * if the file exists; SF_USAGE if times do not fit in seconds; SF_NO_INPUT, SF_DATA if the source file
 * changed since it was read; SF_IO, SF_NO_MEMORY.
 */
int sf_nwb_results_write(const sf_recording *recording, const char *path, const sf_table *tables,
                         size_t count, const char *provenance, sf_error *error);

#endif
