/* SPDX-License-Identifier: Apache-2.0 */
/** A trial opening of a run, to find what it refuses. */
#ifndef SF_PIPELINE_REHEARSAL_H
#define SF_PIPELINE_REHEARSAL_H

#include "core/units.h"
#include "pipeline/options.h"

/**
 * Opens a pipeline for these resolved options and closes it again, to find what sf_pipeline_open would
 * refuse, devices included, before the units are known: every unit that the options name is assumed to exist
 * and to have a position. SF_CONFIG with the wrong key as the place; other errors as sf_pipeline_open.
 */
int sf_pipeline_rehearse(const sf_live_options *options, sf_error *error);

#endif
