/* SPDX-License-Identifier: Apache-2.0 */
/** A source that a program pushes itself: its units, and nothing that reads. */
#ifndef SF_PIPELINE_PUSHED_H
#define SF_PIPELINE_PUSHED_H

#include "pipeline/inputs.h"

#include <synfire/live.h>

/** SF_NO_MEMORY. */
int sf_pushed_open(sf_input *input, const sf_live_source *settings, sf_error *error);

#endif
