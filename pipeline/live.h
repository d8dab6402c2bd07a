/* SPDX-License-Identifier: Apache-2.0 */
/** The public run (synfire/live.h) around a pipeline that was opened by other means. */
#ifndef SF_PIPELINE_LIVE_H
#define SF_PIPELINE_LIVE_H

#include "pipeline/pipeline.h"

/** What closes with a run, after it. */
typedef struct sf_live_owner {
    void (*close)(void *self); /**< or NULL */
    void *self;
} sf_live_owner;

/**
 * Starts a pipeline, of whose options `topics` to `user` say what the program gets. Pipeline and owner are
 * the run's from the call on, whether it succeeds or not. Sources are read from the first sf_live_next on.
 */
int sf_live_start(sf_live **out, sf_pipeline *pipeline, const sf_live_options *options, sf_live_owner owner,
                  sf_error *error);

#endif
