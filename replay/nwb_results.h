/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Results as tables of an NWB 2 file: a copy of the file that the recording is of, or a new one with the
 * recording. They stand in the processing module `synfire`, and refer to the rows of the Units table.
 */
#ifndef SF_REPLAY_NWB_RESULTS_H
#define SF_REPLAY_NWB_RESULTS_H

#include <stddef.h>
#include <synfire/recording.h>
#include <synfire/table.h>

/**
 * Writes the file at `path`, whole or not at all. Where the recording is of the Units table of an NWB 2 file
 * it is a copy of that, to the byte but for the tables; else a new one with the recording, which `provenance`
 * (JSON or NULL) is for. Tables of these names that are there already stay, and the new ones are numbered:
 * episodes_2. A table with the columns start_time and stop_time is one of intervals. Of several ranks the
 * first writes. SF_CANNOT_CREATE, also where there is a file of this name; SF_USAGE where seconds do not hold
 * the recording's times; SF_NO_INPUT, SF_DATA where the file that is copied is no longer the one that was
 * read; SF_IO, SF_NO_MEMORY.
 */
int sf_nwb_results_write(const sf_recording *recording, const char *path, const sf_table *tables,
                         size_t count, const char *provenance, sf_error *error);

#endif
