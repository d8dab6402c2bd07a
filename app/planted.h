/* SPDX-License-Identifier: Apache-2.0 */
/** What a run found beside what a simulation planted. */
#ifndef SF_APP_PLANTED_H
#define SF_APP_PLANTED_H

#include "core/text.h"

#include <synfire/live.h>

/**
 * Where the recording at `path` holds planted chains, appends a table of them with what `episodes` (of the
 * topic episodes, usually the last of a run; NULL: none came) counted of each in its window; nothing where it
 * holds none. `units` are the names of those of the recording. HDF5 must not be in use by another thread.
 */
int app_planted_print(sf_text *text, const char *path, char *const *units, uint32_t unit_count,
                      const sf_message *episodes, sf_error *error);

#endif
