/* SPDX-License-Identifier: Apache-2.0 */
/** Occurrences of episodes, every spike time of each, as a file. */
#ifndef SF_APP_OCCURRENCES_H
#define SF_APP_OCCURRENCES_H

#include "app/command.h"

#include <synfire/mine.h>

/**
 * Writes the occurrences that the counts of the episodes count: HDF5 where the path ends in .h5, else CSV.
 * `configuration` (YAML) is for the HDF5 file. SF_CANNOT_CREATE, SF_IO; then no file is left. SF_CANCELLED.
 */
int app_occurrences_write(const app_call *call, const char *path, const sf_recording *recording,
                          const sf_episodes_columns *told, const char *configuration, sf_error *error);

/** Appends what such an HDF5 file holds, for `info`: as lines, or as one JSON document. SF_NO_INPUT, SF_DATA.
 */
int app_occurrences_describe(sf_text *text, const app_call *call, const char *path, sf_error *error);

/** What app_occurrences_describe prints with --json. */
extern const sf_table app_occurrences_document;

#endif
