/* SPDX-License-Identifier: Apache-2.0 */
/** What the command asks of files beside the public functions. Errors are as in synfire/synfire.h; one object
 * from one thread at a time. */
#ifndef SF_TOOLS_FILES_H
#define SF_TOOLS_FILES_H

#include "core/text.h"

#include <synfire/recording.h>

/**
 * Writes a recording in another layout: "synfire", "nwb", "carmen" or "csv", NULL: by the suffix of the path.
 * *layout is its name; `lost` gets the words of what it has no place for, "" where all is in it. SF_USAGE
 * where the layout cannot hold it, SF_CANNOT_CREATE for what sf_recording_spare protects.
 */
int sf_convert(const sf_recording *recording, const char *path, const char *to, const char *provenance,
               const char **layout, sf_text *lost, sf_error *error);

/** True where the file is readable and one of occurrences (synfire/mine.h). */
bool sf_file_has_occurrences(const char *path);

/** True where the journal of this recording stands beside it, which its recorder removes when it ends in
 * order. Another recording's journal is none, whatever its name. */
bool sf_file_has_journal(const char *path);

#endif
