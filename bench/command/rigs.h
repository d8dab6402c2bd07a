/* SPDX-License-Identifier: Apache-2.0 */
/** The part of `bench latency` that goes through each rig's protocol. */
#ifndef SF_BENCH_COMMAND_RIGS_H
#define SF_BENCH_COMMAND_RIGS_H

#include "bench/command/bench.h"

/** From a spike that is handed to a protocol's player to the trigger that comes back, for so many seconds
 * each; protocols whose library or server this machine lacks are left out, which is said. */
int bench_rigs(const app_call *call, double seconds, app_bench_rows *rows, sf_error *error);

#endif
