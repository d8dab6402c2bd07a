/* SPDX-License-Identifier: Apache-2.0 */
/** Writes the occurrences of episodes, with every spike time, to a file. */
#ifndef SF_APP_OCCURRENCES_H
#define SF_APP_OCCURRENCES_H

#include "app/command.h"

#include <synfire/mine.h>

/**
 * Writes the occurrences behind the episodes' counts: HDF5 if the path ends in .h5, else CSV. `configuration`
 * (YAML) goes into the HDF5 file. SF_CANNOT_CREATE, SF_IO; then no file is left. SF_CANCELLED.
 */
int app_occurrences_write(const app_call *call, const char *path, const sf_recording *recording,
                          const sf_episodes_columns *told, const char *configuration, sf_error *error);

/** Appends the content of such an HDF5 file, for `info`: as lines, or as one JSON document. SF_NO_INPUT,
 * SF_DATA. */
int app_occurrences_describe(sf_text *text, const app_call *call, const char *path, sf_error *error);

/** The document that app_occurrences_describe prints with --json. */
extern const sf_table app_occurrences_document;

#endif
