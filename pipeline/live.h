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

/** As sf_live_open, with `handoff_room` of sf_pipeline_options. */
int sf_live_open_room(sf_live **live, const sf_live_options *options, uint64_t handoff_room, sf_error *error);

/** Any thread, and handlers of signals: as sf_pipeline_halt. What was accepted is still worked off. */
void sf_live_halt(sf_live *live);

/** Whether the run was halted, and how long its hop still may take (sf_pipeline_leave_ms). */
bool sf_live_is_halted(const sf_live *live);
int sf_live_leave_ms(const sf_live *live);

/** In place of sf_live_close where a hop does not end: sf_pipeline_abandon. Nothing is freed. */
int sf_live_abandon(sf_live *live, sf_error *error);

#endif
