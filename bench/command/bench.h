/* SPDX-License-Identifier: Apache-2.0 */
/** Benchmarks: one struct and one file each; bench/command/main.c holds their registry and prints what they
 * measure.
 */
#ifndef SF_BENCH_COMMAND_H
#define SF_BENCH_COMMAND_H

#include "app/command.h"

/** What a benchmark measured: rows of named values. The machine and the device are added when it is printed.
 */
typedef struct app_bench_rows {
    struct app_bench_field *fields;
    size_t count, capacity;
    bool failed; /**< out of memory; reported when it is printed */
} app_bench_rows;

/** Begins a row; the fields that follow belong to it. Neighbouring rows with the same fields share a table.
 */
void app_bench_row(app_bench_rows *rows, const char *device);
void app_bench_text(app_bench_rows *rows, const char *name, const char *value);
void app_bench_number(app_bench_rows *rows, const char *name, double value);

/** Options of several benchmarks. */
typedef struct app_bench_options {
    uint32_t threads; /**< never 0 when they are read */
    double seconds;   /**< 0: what the benchmark has */
} app_bench_options;

/** SF_USAGE with a sentence. */
int app_bench_read(app_bench_options *options, const app_call *call, sf_error *error);

/** The path of a file below the data folder (--data); false where it is not there. */
bool app_bench_data(const app_call *call, const char *file, char *path, size_t size);

/** A device to measure; NULL where it does not work, which the log says. */
struct sf_device *app_bench_device(uint32_t index);

/** Whether the command line names this part, or none. */
bool app_bench_wants(const app_call *call, const char *part);

typedef struct app_bench {
    const char *name;
    const char *const *parts;   /**< what may be asked for alone; NULL-terminated, or NULL: it has no parts */
    const char *const *options; /**< which of the command's it takes; NULL-terminated, or NULL: none */
    /** SF_CANCELLED: what is in `rows` is printed. */
    int (*run)(const app_call *call, app_bench_rows *rows, sf_error *error);
} app_bench;

extern const app_bench app_bench_analyses;
extern const app_bench app_bench_bfs;
extern const app_bench app_bench_density;
extern const app_bench app_bench_episodes;
extern const app_bench app_bench_latency;
extern const app_bench app_bench_throughput;
extern const app_bench app_bench_match;
extern const app_bench app_bench_plan;

#endif
