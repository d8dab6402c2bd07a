/* SPDX-License-Identifier: Apache-2.0 */
/** The parts of `bench throughput` that go over sockets. */
#ifndef SF_BENCH_COMMAND_INGEST_H
#define SF_BENCH_COMMAND_INGEST_H

#include "bench/command/bench.h"

/** Rows of a bare receiver and of runs, each of so many seconds; then where the time of the last one went. */
int bench_ingest_sockets(double seconds, app_bench_rows *rows, sf_error *error);

/** Rows of rigs, each sent in real time for so many seconds. */
int bench_ingest_rigs(double seconds, app_bench_rows *rows, sf_error *error);

#endif
