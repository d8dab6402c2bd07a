/* SPDX-License-Identifier: Apache-2.0 */
/** Chains that a file says were planted, compared with what was found. Errors are as in synfire/synfire.h;
 * one object from one thread at a time. */
#ifndef SF_TOOLS_PLANTED_H
#define SF_TOOLS_PLANTED_H

#include "analysis/planted.h"

#include <synfire/recording.h>

/**
 * Compares the chains that the recording at `path` says were planted with what was found in a window;
 * `chains` is NULL if it says nothing. `units` has the names of its units. No other thread may use HDF5
 * meanwhile.
 */
int sf_planted_read(sf_planted *planted, const char *path, const sf_recording *units,
                    const sf_episodes_message *found, sf_error *error);

#endif
