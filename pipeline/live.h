/* SPDX-License-Identifier: Apache-2.0 */
/** The public run (synfire/live.h) around a pipeline that was opened by other means. */
#ifndef SF_PIPELINE_LIVE_H
#define SF_PIPELINE_LIVE_H

#include "pipeline/pipeline.h"

/** An object that is closed after the run. */
typedef struct sf_live_owner {
    void (*close)(void *self); /**< or NULL */
    void *self;
} sf_live_owner;

/**
 * Starts a pipeline; the program gets what the options `topics` to `user` request. Takes ownership of
 * pipeline and owner, also on failure. Sources are read from the first sf_live_next on.
 */
int sf_live_start(sf_live **out, sf_pipeline *pipeline, const sf_live_options *options, sf_live_owner owner,
                  sf_error *error);

/** As sf_live_open, with `handoff_room` of sf_pipeline_options. */
int sf_live_open_room(sf_live **live, const sf_live_options *options, uint64_t handoff_room, sf_error *error);

/** As sf_pipeline_halt; what was accepted is still processed. Any thread, and signal handlers. */
void sf_live_halt(sf_live *live);

/** Whether the run was halted, and how many ms its hop may still take (sf_pipeline_leave_ms). */
bool sf_live_is_halted(const sf_live *live);
int sf_live_leave_ms(const sf_live *live);

/** Use instead of sf_live_close if a hop does not end: sf_pipeline_abandon. Frees nothing. */
int sf_live_abandon(sf_live *live, sf_error *error);

#endif
