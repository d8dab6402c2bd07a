/* SPDX-License-Identifier: Apache-2.0 */
/** A source whose spikes the program pushes itself: it has units, but does not read. */
#ifndef SF_PIPELINE_PUSHED_H
#define SF_PIPELINE_PUSHED_H

#include "pipeline/inputs.h"

#include <synfire/live.h>

/** SF_NO_MEMORY. */
int sf_pushed_open(sf_input *input, const sf_live_source *settings, sf_error *error);

#endif
