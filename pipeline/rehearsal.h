/* SPDX-License-Identifier: Apache-2.0 */
/** Opening a run to see what it refuses. */
#ifndef SF_PIPELINE_REHEARSAL_H
#define SF_PIPELINE_REHEARSAL_H

#include "core/units.h"
#include "pipeline/options.h"

/**
 * Opens a pipeline for these resolved options and closes it again: what sf_pipeline_open would refuse of
 * them, devices included, before anybody knows the units: every one that the options name is there, with a
 * position. SF_CONFIG with the key that is wrong, and as sf_pipeline_open.
 */
int sf_pipeline_rehearse(const sf_live_options *options, sf_error *error);

#endif
