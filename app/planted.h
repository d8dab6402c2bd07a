/* SPDX-License-Identifier: Apache-2.0 */
/** Compares what a run found with what a simulation planted. */
#ifndef SF_APP_PLANTED_H
#define SF_APP_PLANTED_H

#include "core/text.h"

#include <synfire/live.h>

/**
 * If the recording at `path` holds planted chains, appends a table of them with the counts in `episodes` (a
 * message of the topic episodes, usually the last of a run; NULL: none came); else nothing. `units` are the
 * names of the units of the recording. No other thread may use HDF5 meanwhile.
 */
int app_planted_print(sf_text *text, const char *path, char *const *units, uint32_t unit_count,
                      const sf_message *episodes, sf_error *error);

#endif
