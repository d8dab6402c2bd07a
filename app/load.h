/* SPDX-License-Identifier: Apache-2.0 */
/** Options accepted wherever REC is, and loading a recording by them. */
#ifndef SF_APP_LOAD_H
#define SF_APP_LOAD_H

#include "app/command.h"

#include <synfire/recording.h>

#include <math.h>

/** Options of every command that select or describe a recording: --units --kind --from --to --epochs --dedup
 * --blank --preset --stream --recorded --rate --columns --positions */
extern const app_option app_selection_options[];
extern const sf_key_table app_selection_table;

/** Reads `path` and applies the selection; warnings go to stderr. Free *recording with sf_recording_free. */
int app_load(const app_call *call, const char *path, sf_recording **recording, sf_error *error);

/** Lists the recordings that a file holds side by side, reading it by --columns and --rate; free with
 * sf_streams_free. */
int app_streams_of(sf_streams *streams, const app_call *call, const char *path, sf_error *error);

/** SF_USAGE: none of the `count` recordings that the pattern of --stream matches has spikes. */
int app_refuse_streams(size_t count, const char *path, const char *pattern, sf_error *error);

/** After a result: warns that its rates are from first to last spike, if nothing states the duration of the
 * recording that app_load read. */
void app_tell_undeclared(const app_call *call);

/** Whether app_load has warned about this key of the recording's metadata. */
bool app_told_reading(const app_call *call, const char *key);

/** Spikes per second; NaN if at most a microsecond was recorded. */
static inline double app_rate_hz(const sf_overview_columns *overview, uint64_t spikes)
{
    return overview->duration_ns > 1000 ? (double)spikes / ((double)overview->duration_ns * 1e-9) : NAN;
}

#endif
