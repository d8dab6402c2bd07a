/* SPDX-License-Identifier: Apache-2.0 */
/** The live stream that `bench latency` and `bench throughput` send through the pipeline. */
#ifndef SF_BENCH_COMMAND_STREAM_H
#define SF_BENCH_COMMAND_STREAM_H

#include "bench/command/bench.h"

#include "core/text.h"
#include "live/run.h"

#define BENCH_UNITS 4096
#define BENCH_RATE_HZ 100000 /* all units together */
#define BENCH_TRACKED 1000

/** Appends the key, "track" or "watch", with BENCH_TRACKED episodes of two to four units, delays (0,5] ms. */
void bench_stream_episodes(sf_text *yaml, const char *key);

/** Runs the configuration on the stream to its end; *seconds is the time from start to end. */
int bench_stream_run(const char *yaml, const sf_recording *stream, double speed, sf_outlet outlet,
                     double *seconds, sf_error *error);

/** Adds the rows of one device, named as the key `device` does. */
typedef int bench_stream_measure(const app_call *call, const sf_recording *stream, const char *device,
                                 app_bench_rows *rows, sf_error *error);

/** Measures so many seconds of independent units, equally busy, on the device that --device asks for, else on
 * the CPU and, where there is one, the first GPU. SF_USAGE. */
int bench_stream_on_devices(const app_call *call, double seconds, bench_stream_measure *measure,
                            app_bench_rows *rows, sf_error *error);

#endif
