/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the counts of all pairs cost a hop: independent spikes of all units, a window of 10 s, a hop of 100
 * ms. Times are of the processor; `came` is the first tenth of the hops, before a spike leaves.
 */
#include "core/memory.h"
#include "core/reals.h"
#include "window/pair_counts.h"

#include <Random123/philox.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#define MILLISECOND INT64_C(1000000)
#define HOPS 120
#define WINDOW_HOPS 100
#define HOP_NS (100 * MILLISECOND)

typedef struct job {
    uint32_t units, per_hop; /* spikes */
    sf_delay delay;
    uint32_t least;
} job;

static uint32_t draw(uint32_t index)
{
    philox4x32_ctr_t counter = {{index, 1, 0, 0}};
    philox4x32_key_t key = {{2, 0}};
    return philox4x32(counter, key).v[0];
}

static double busy_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static int append_hop(sf_history *history, uint32_t hop, const job *j, sf_error *error)
{
    int status = SF_OK;
    for (uint32_t i = 0; i < j->per_hop && status == SF_OK; i++) {
        const sf_spike spike = {.time_ns = (int64_t)hop * HOP_NS + (int64_t)i * (HOP_NS / j->per_hop),
                                .unit = draw(hop * j->per_hop + i) % j->units};
        status = sf_history_append(history, &spike, 1, error);
    }
    return status;
}

static void tell(const job *j, double *slides, size_t found)
{
    size_t full = HOPS - WINDOW_HOPS;
    double *full_slides = slides + WINDOW_HOPS;
    sf_reals_sort(slides, HOPS / 10);
    sf_reals_sort(full_slides, full);
    printf("%5" PRIu32 " units, %6" PRIu32 " spikes/s, (%" PRId64 ",%" PRId64
           "] ms: came %.2f ms; came and went %.2f ms, worst %.2f; %zu pairs of %" PRIu32 " and more\n",
           j->units, j->per_hop * 10, j->delay.low_ns / MILLISECOND, j->delay.high_ns / MILLISECOND,
           slides[HOPS / 20], full_slides[full / 2], full_slides[full - 1], found, j->least);
}

static int run(const job *j, sf_error *error)
{
    static double slides[HOPS];
    sf_history history = {0};
    sf_pair_counts *pairs;
    int status = sf_pair_counts_open(&pairs, j->units, &j->delay, 1, false, SIZE_MAX, error);
    for (uint32_t hop = 0; hop < HOPS && status == SF_OK; hop++) {
        uint64_t begin = hop < WINDOW_HOPS ? 0 : (uint64_t)(hop + 1 - WINDOW_HOPS) * j->per_hop;
        status = append_hop(&history, hop, j, error);
        double start = busy_ms();
        if (status == SF_OK)
            status = sf_pair_counts_slide(pairs, &history, begin, history.end, j->least, error);
        slides[hop] = busy_ms() - start;
        sf_history_drop_before(&history, begin);
    }
    size_t found = 0;
    if (status == SF_OK)
        sf_pair_counts_found(pairs, &found);
    if (status == SF_OK)
        tell(j, slides, found);
    sf_pair_counts_close(pairs);
    sf_history_free(&history);
    return status;
}

int main(void)
{
    static const job jobs[] = {
        {4096, 10000, {0, 5 * MILLISECOND}, 49}, {4096, 10000, {1 * MILLISECOND, 20 * MILLISECOND}, 150},
        {4096, 1000, {0, 5 * MILLISECOND}, 5},   {20000, 10000, {0, 5 * MILLISECOND}, 8},
        {1000, 2000, {0, 5 * MILLISECOND}, 49},  {60, 1000, {0, 5 * MILLISECOND}, 600},
        {60, 100, {0, 100 * MILLISECOND}, 100},
    };
    sf_error error;
    for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++)
        if (run(&jobs[i], &error) != SF_OK) {
            fprintf(stderr, "bench_pair_counts: %s\n", error.text);
            return 1;
        }
    return 0;
}
