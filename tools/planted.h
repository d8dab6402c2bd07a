/* SPDX-License-Identifier: Apache-2.0 */
/** What a file says was planted, beside what was found in it. Errors are as in synfire/synfire.h; one object
 * from one thread at a time. */
#ifndef SF_TOOLS_PLANTED_H
#define SF_TOOLS_PLANTED_H

#include "analysis/planted.h"

#include <synfire/recording.h>

/**
 * What the recording at `path` says was planted, beside what was found in a window; `chains` is NULL where it
 * says nothing. `units` has the names of its units. HDF5 must not be in use by another thread.
 */
int sf_planted_read(sf_planted *planted, const char *path, const sf_recording *units,
                    const sf_episodes_message *found, sf_error *error);

#endif
