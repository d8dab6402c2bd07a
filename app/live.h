/* SPDX-License-Identifier: Apache-2.0 */
/** What `run` and `record` share: the configuration with its settings, and a pipeline followed to its end. */
#ifndef SF_APP_LIVE_H
#define SF_APP_LIVE_H

#include "app/command.h"
#include "live/run.h"

/** --duration, of sf_run_options. */
extern const sf_key_table app_live_table;

/** --speed X|max: as given, or 1; max is 0, as sf_play has it. */
int app_speed(const app_call *call, double *speed, sf_error *error);

/** Makes the configuration of a call, also again while its run goes on. */
typedef int app_configure(const app_call *call, sf_config *config, sf_error *error);

/** Loads `path` (NULL: the defaults) with what --preset and then --set say. */
int app_live_configure(const app_call *call, const char *path, sf_config *config, sf_error *error);

/**
 * Runs the pipeline until its sources end, --duration is over or a signal comes, drawing the live table; then
 * the closing table, or with --json one document. `recording`, where not NULL, is replayed in place of the
 * configured sources at `speed` (0: max). `configure`, where not NULL, is what made the configuration.
 */
int app_live_run(const app_call *call, sf_config *config, const sf_recording *recording, double speed,
                 app_configure *configure, sf_error *error);

#endif
