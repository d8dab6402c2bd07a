/* SPDX-License-Identifier: Apache-2.0 */
/** Shared by `run` and `record`: the configuration with its settings, and running a pipeline to its end. */
#ifndef SF_APP_LIVE_H
#define SF_APP_LIVE_H

#include "app/command.h"
#include "live/run.h"

/** --duration, of sf_run_options. */
extern const sf_key_table app_live_table;

/** --speed X|max: the given value, or 1; max is 0, as in sf_play. */
int app_speed(const app_call *call, double *speed, sf_error *error);

/** Builds the configuration of a call; called again when it is reloaded during the run. */
typedef int app_configure(const app_call *call, sf_config *config, sf_error *error);

/** Loads `path` (NULL: the defaults), then applies --preset, then --set. */
int app_live_configure(const app_call *call, const char *path, sf_config *config, sf_error *error);

/**
 * Runs the pipeline until its sources end, --duration is over or a signal comes, drawing the live page; then
 * prints the summary, or with --json one document. `recording`, if not NULL, is replayed instead of the
 * configured sources at `speed` (0: max). `configure`, if not NULL, built the configuration.
 */
int app_live_run(const app_call *call, sf_config *config, const sf_recording *recording, double speed,
                 app_configure *configure, sf_error *error);

#endif
