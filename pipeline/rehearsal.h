/* SPDX-License-Identifier: Apache-2.0 */
/** Opening a run to see what it refuses. */
#ifndef SF_PIPELINE_REHEARSAL_H
#define SF_PIPELINE_REHEARSAL_H

#include "core/units.h"
#include "pipeline/options.h"

/**
 * Opens a pipeline for these resolved options and closes it again: what sf_pipeline_open would refuse of
 * them, devices included. `units`: those of the sources, or NULL where nobody knows them yet: then every unit
 * that the options name is one, with a position. SF_CONFIG with the key that is wrong, and as
 * sf_pipeline_open.
 */
int sf_pipeline_rehearse(const sf_live_options *options, const sf_units *units, sf_error *error);

#endif
