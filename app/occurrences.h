/* SPDX-License-Identifier: Apache-2.0 */
/** Occurrences of episodes, every spike time of each, as a file. */
#ifndef SF_APP_OCCURRENCES_H
#define SF_APP_OCCURRENCES_H

#include "app/command.h"
#include "core/recording.h"
#include "core/text.h"

#include <synfire/mine.h>

/**
 * Writes the occurrences that the counts of the episodes count: HDF5 (io/occurrence_file.h) where the path
 * ends in .h5, else CSV. `configuration` (YAML) and `provenance` (JSON) are for the HDF5 file.
 * SF_CANNOT_CREATE, SF_IO; then no file is left.
 */
int app_occurrences_write(const char *path, const sf_recording *recording, const sf_episode *episodes,
                          const double *expected, size_t count, const char *configuration,
                          const char *provenance, sf_error *error);

/** Appends what such an HDF5 file holds, for `info`: as lines, or as one JSON document. SF_NO_INPUT, SF_DATA.
 */
int app_occurrences_describe(sf_text *text, const app_call *call, const char *path, sf_error *error);

#endif
