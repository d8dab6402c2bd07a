/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_pair_counts [DEVICE [alone]]   cuda, or none: the CPU alone; `alone`: the device, and not the CPU
 *
 * What the counts of all pairs cost a hop: independent spikes of all units, a window of 10 s, a hop of 100
 * ms. `came` is the first tenth of the hops, before a spike leaves. The same pairs are found on both.
 */
#include "core/backend/find.h"
#include "core/clock.h"
#include "core/memory.h"
#include "core/reals.h"
#include "window/pair_counts.h"
#include "window/pairs_there.h"

#include <Random123/philox.h>
#include <inttypes.h>
#include <stdio.h>

#define MILLISECOND INT64_C(1000000)
#define HOPS 120
#define WINDOW_HOPS 100
#define HOP_NS (100 * MILLISECOND)
#define MOST_FOUND 1000000

typedef struct job {
    uint32_t units, per_hop; /* spikes */
    sf_delay delay;
    uint32_t least;
    bool is_long; /* on a CPU */
} job;

static uint32_t draw(uint32_t index)
{
    philox4x32_ctr_t counter = {{index, 1, 0, 0}};
    philox4x32_key_t key = {{2, 0}};
    return philox4x32(counter, key).v[0];
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

static void tell(const job *j, const char *where, double *slides, size_t found)
{
    size_t full = HOPS - WINDOW_HOPS;
    double *full_slides = slides + WINDOW_HOPS;
    sf_reals_sort(slides, HOPS / 10);
    sf_reals_sort(full_slides, full);
    printf("%5" PRIu32 " units, %6" PRIu32 " spikes/s, (%" PRId64 ",%" PRId64
           "] ms, %s: came %.2f ms; came and went %.2f ms, worst %.2f; %zu pairs of %" PRIu32 " and more\n",
           j->units, j->per_hop * 10, j->delay.low_ns / MILLISECOND, j->delay.high_ns / MILLISECOND, where,
           slides[HOPS / 20], full_slides[full / 2], full_slides[full - 1], found, j->least);
}

/* One of the two. */
typedef struct pairs {
    sf_pair_counts *here;
    sf_pairs_there *there;
} pairs;

static int open_pairs(pairs *p, const job *j, sf_device *device, sf_error *error)
{
    *p = (pairs){0};
    if (device == NULL)
        return sf_pair_counts_open(&p->here, j->units, &j->delay, 1, false, MOST_FOUND, 1, 0, error);
    return sf_pairs_there_open(&p->there, device, j->units, &j->delay, 1, false, MOST_FOUND, 0, 0, error);
}

static void close_pairs(pairs *p)
{
    sf_pair_counts_close(p->here);
    sf_pairs_there_close(p->there);
}

static int run(const job *j, sf_device *device, size_t *found, sf_error *error)
{
    static double slides[HOPS];
    sf_history history = {0};
    pairs p;
    int status = open_pairs(&p, j, device, error);
    for (uint32_t hop = 0; hop < HOPS && status == SF_OK; hop++) {
        uint64_t begin = hop < WINDOW_HOPS ? 0 : (uint64_t)(hop + 1 - WINDOW_HOPS) * j->per_hop;
        status = append_hop(&history, hop, j, error);
        double start = sf_clock_seconds();
        if (status == SF_OK)
            status = p.here != NULL
                         ? sf_pair_counts_slide(p.here, &history, begin, history.end, j->least, error)
                         : sf_pairs_there_slide(p.there, &history, begin, history.end, j->least, error);
        slides[hop] = (sf_clock_seconds() - start) * 1e3;
        sf_history_drop_before(&history, begin);
    }
    if (status == SF_OK && p.here != NULL) sf_pair_counts_found(p.here, found);
    if (status == SF_OK && p.here == NULL) sf_pairs_there_found(p.there, found);
    if (status == SF_OK) tell(j, sf_device_name(device), slides, *found);
    close_pairs(&p);
    sf_history_free(&history);
    return status;
}

static int compare(const job *j, sf_device *device, bool alone, sf_error *error)
{
    size_t here = 0, there = 0;
    bool runs_here = !j->is_long && !alone;
    int status = runs_here ? run(j, NULL, &here, error) : SF_OK;
    if (status != SF_OK || device == NULL) return status;
    status = run(j, device, &there, error);
    if (status == SF_OK && runs_here && here != there) {
        printf("THE PAIRS DIFFER\n");
        return SF_INTERNAL;
    }
    return status;
}

int main(int argc, char **argv)
{
    static const job jobs[] = {
        {4096, 10000, {0, 5 * MILLISECOND}, 49, false},
        {4096, 10000, {1 * MILLISECOND, 20 * MILLISECOND}, 150, false},
        {4096, 1000, {0, 5 * MILLISECOND}, 5, false},
        {20000, 10000, {0, 5 * MILLISECOND}, 8, false},
        {1000, 2000, {0, 5 * MILLISECOND}, 49, false},
        {60, 1000, {0, 5 * MILLISECOND}, 600, false},
        {60, 100, {0, 100 * MILLISECOND}, 100, false},
        {4096, 100000, {0, 5 * MILLISECOND}, 1300, true},
    };
    sf_error error = {.text = "the pairs differ"};
    sf_device *device = NULL;
    int status = argc > 1 ? sf_device_find(&device, argv[1], &error) : SF_OK;
    for (size_t i = 0; i < sizeof jobs / sizeof jobs[0] && status == SF_OK; i++)
        status = compare(&jobs[i], device, argc > 2, &error);
    if (status != SF_OK) fprintf(stderr, "bench_pair_counts: %s\n", error.text);
    return status == SF_OK ? 0 : 1;
}
