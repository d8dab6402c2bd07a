/* SPDX-License-Identifier: Apache-2.0 */
/** The part of `bench latency` that goes over sockets. */
#ifndef SF_BENCH_COMMAND_TRIGGER_H
#define SF_BENCH_COMMAND_TRIGGER_H

#include "bench/command/bench.h"

/** From a spike that is sent to the trigger that comes back, by ZeroMQ and by OSC, for so many seconds. */
int bench_trigger(double seconds, app_bench_rows *rows, sf_error *error);

#endif
