/* SPDX-License-Identifier: Apache-2.0 */
/** File operations of the command beside the public functions. Errors are as in synfire/synfire.h; one object
 * from one thread at a time. */
#ifndef SF_TOOLS_FILES_H
#define SF_TOOLS_FILES_H

#include "core/text.h"

#include <synfire/recording.h>

/**
 * Writes a recording in another layout: "synfire", "nwb", "carmen" or "csv"; NULL: by the path's suffix.
 * *layout receives its name; `lost` receives a description of what the layout cannot hold, "" if it holds
 * all. SF_USAGE if the layout cannot hold the recording, SF_CANNOT_CREATE for a file that sf_recording_spare
 * protects.
 */
int sf_convert(const sf_recording *recording, const char *path, const char *to, const char *provenance,
               const char **layout, sf_text *lost, sf_error *error);

/** True if the file is readable and holds occurrences (synfire/mine.h). */
bool sf_file_has_occurrences(const char *path);

/** True if this recording's journal lies beside it; the recorder removes it when it ends properly. A journal
 * of another recording does not count, whatever its name. */
bool sf_file_has_journal(const char *path);

#endif
