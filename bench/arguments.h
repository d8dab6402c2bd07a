/* SPDX-License-Identifier: Apache-2.0 */
/** What benches of many recordings are told on their command line. */
#ifndef SF_BENCH_ARGUMENTS_H
#define SF_BENCH_ARGUMENTS_H

#include "core/text.h"
#include "core/thread.h"

#include <synfire/mine.h>

#include <inttypes.h>
#include <stdio.h>

typedef struct bench_arguments {
    uint64_t recordings, surrogates, first_seed;
    const char *device;
    uint64_t threads; /**< recordings at a time */
    uint64_t cell;    /**< 0: all */
} bench_arguments;

/** [RECORDINGS [SURROGATES [FIRST_SEED [DEVICE [THREADS [CELL]]]]]], CELL where there are any; by default
 * 20 200 1 cpu 0 0, and 0 threads are all cores. SF_USAGE, told on standard error. */
static inline int bench_read_arguments(bench_arguments *to, int count, char **arguments, uint64_t cells)
{
    *to = (bench_arguments){.recordings = 20, .surrogates = 200, .first_seed = 1, .device = "cpu"};
    uint64_t *const numbers[] = {&to->recordings, &to->surrogates, &to->first_seed, NULL,
                                 &to->threads,    &to->cell};
    bool right = count <= (cells > 0 ? 7 : 6);
    for (int i = 1; right && i < count; i++)
        if (numbers[i - 1] == NULL)
            to->device = arguments[i];
        else
            right = sf_parse_uint(arguments[i], UINT32_MAX, numbers[i - 1]);
    right = right && to->recordings > 0 && to->surrogates > 0 && to->cell <= cells;
    if (!right)
        fprintf(stderr, "expected [RECORDINGS [SURROGATES [FIRST_SEED [DEVICE [THREADS%s]]]]]\n",
                cells > 0 ? " [CELL]" : "");
    if (to->threads == 0) to->threads = sf_thread_cores();
    return right ? SF_OK : SF_USAGE;
}

/** The tests of these, each on one thread. */
static inline sf_significance_options bench_significance(const bench_arguments *from)
{
    sf_significance_options options = sf_significance_options_default();
    options.surrogates = (uint32_t)from->surrogates;
    options.device = from->device;
    options.threads = 1;
    return options;
}

#endif
