/* SPDX-License-Identifier: Apache-2.0 */
/** The options that are allowed wherever REC is, and loading a recording by them. */
#ifndef SF_APP_LOAD_H
#define SF_APP_LOAD_H

#include "app/command.h"

#include <synfire/recording.h>

#include <math.h>

/** What selects or describes a recording, in every command: --units --kind --from --to --epochs --dedup
 * --blank --preset --stream --recorded --rate --columns --positions */
extern const app_option app_selection_options[];
extern const sf_key_table app_selection_table;

/** Reads `path` and applies the selection; warnings go to stderr. sf_recording_free takes *recording. */
int app_load(const app_call *call, const char *path, sf_recording **recording, sf_error *error);

/** The recordings that a file holds side by side, as --columns and --rate read it; sf_streams_free takes
 * them. */
int app_streams_of(sf_streams *streams, const app_call *call, const char *path, sf_error *error);

/** SF_USAGE: of so many that the pattern of --stream matches none has spikes. */
int app_refuse_streams(size_t count, const char *path, const char *pattern, sf_error *error);

/** Behind a result: warns that the rates in it are from first to last spike, where nobody says how long the
 * recording was that app_load read. */
void app_tell_undeclared(const app_call *call);

/** Whether app_load has warned of what stands under this key of a recording's metadata. */
bool app_told_reading(const app_call *call, const char *key);

/** Spikes per second; NaN where what was recorded is not longer than a microsecond. */
static inline double app_rate_hz(const sf_overview_columns *overview, uint64_t spikes)
{
    return overview->duration_ns > 1000 ? (double)spikes / ((double)overview->duration_ns * 1e-9) : NAN;
}

#endif
