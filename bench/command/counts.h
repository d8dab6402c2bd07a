/* SPDX-License-Identifier: Apache-2.0 */
/** The part `counts` of bench episodes: the engines side by side, as the figures of Cao et al. have them. */
#ifndef SF_BENCH_COMMAND_COUNTS_H
#define SF_BENCH_COMMAND_COUNTS_H

#include "bench/command/bench.h"

/** A row for each device, or the one of --device, size of episodes and number of episodes: milliseconds of
 * every engine. */
int app_bench_counts(const app_call *call, app_bench_rows *rows, unsigned threads, sf_error *error);

/** --calibrate: from how many episodes of each size on the hybrid engine takes ptpe, on the CPU and every
 * device, or on that of --device. */
int app_bench_crossovers(const app_call *call, app_bench_rows *rows, unsigned threads, sf_error *error);

#endif
