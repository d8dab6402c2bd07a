/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Are chains called significant by their splits that are none? 24 units of one rate, with bursts or without
 * (sigma 100 ms, one in 10 s, 5 spikes), with a dead time of 2 ms. Chains of disjoint units are given to the
 * test: of three units, of which none is linked, or the first two, or the first and the last; and of four, of
 * which the first two are linked and the last two. Links are 8 to 12 ms long, and a tenth of a unit's spikes
 * are of each. So one split at least of each chain is between units that know nothing of each other, and p is
 * that of this split wherever the others are found.
 *
 *     bench_splits [RECORDINGS [SURROGATES [FIRST_SEED [DEVICE [THREADS [CELL]]]]]]
 *
 * By default 20 200 1 cpu 0 (all cores, recordings at a time) 0 (all kinds). Prints, for each kind, the share
 * of chains with p < 0.05 and p <= 0.01, and how many recordings have one with q < 0.05: at most one in
 * twenty should.
 */
#include "bench/arguments.h"
#include "core/clock.h"
#include "mine/given.h"
#include "mine/significance.h"
#include "replay/simulation.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define UNITS 24u
#define LOW_NS 500000 /* of the delays */
#define LINKED_PART 0.1

/* Which of its units a chain is linked by. */
typedef enum linked { NONE, FIRST_TWO, OUTER_TWO, TWO_PAIRS } linked;

typedef struct kind {
    const char *name;
    double rate_hz, burst_spikes;
    int64_t high_ms, seconds;
} kind;

static const kind kinds[] = {
    {"units of 5 Hz, up to 20 ms", 5, 0, 20, 600},
    {"with bursts, up to 20 ms", 4, 5, 20, 600},
    {"units of 20 Hz, up to 50 ms", 20, 0, 50, 300},
    {"units of 40 Hz, up to 50 ms", 40, 0, 50, 200},
};
static const char *const links[] = {"none", "A -> B of A -> B -> C", "A -> C of A -> B -> C",
                                    "A -> B, C -> D of A -> B -> C -> D"};
enum { KINDS = sizeof kinds / sizeof *kinds, LINKS = sizeof links / sizeof *links, CELLS = KINDS * LINKS };

typedef struct cell {
    atomic_uint recordings, not_tested, chains, low, very_low, with_low_q;
} cell;

typedef struct plan {
    bench_arguments arguments;
    sf_significance_options options;
    cell cells[CELLS];
} plan;

static sf_simulation_chain link(const kind *k, uint32_t from, uint32_t to)
{
    return (sf_simulation_chain){
        .episode = {.size = 2, .units = {from, to}, .delays = {{8 * SF_MILLISECOND, 12 * SF_MILLISECOND}}},
        .rate_hz = LINKED_PART * k->rate_hz};
}

/* The links of the chain of these units, from `first` on; returns how many. */
static size_t link_chain(sf_simulation_chain *to, const kind *k, linked by, uint32_t first)
{
    if (by == NONE) return 0;
    to[0] = link(k, first, by == OUTER_TWO ? first + 2 : first + 1);
    if (by != TWO_PAIRS) return 1;
    to[1] = link(k, first + 2, first + 3);
    return 2;
}

static int simulate(sf_recording *recording, const kind *k, linked by, uint32_t size, uint64_t seed)
{
    sf_simulation_chain planted[UNITS];
    size_t count = 0;
    for (uint32_t first = 0; first < UNITS; first += size)
        count += link_chain(planted + count, k, by, first);
    sf_simulation_settings made;
    sf_simulation_settings_default(&made);
    made.seed = seed;
    made.unit_count = UNITS;
    made.rate_hz = k->rate_hz;
    made.duration_ns = k->seconds * SF_SECOND;
    made.burst_rate_hz = k->burst_spikes > 0 ? 0.1 : 0;
    made.burst_sigma_ns = 100 * SF_MILLISECOND;
    made.burst_spikes = k->burst_spikes;
    made.chains = planted;
    made.chain_count = count;
    return sf_simulate(recording, NULL, &made, NULL, NULL);
}

static uint32_t list_chains(sf_episode *chains, const kind *k, uint32_t size)
{
    uint32_t count = 0;
    for (uint32_t first = 0; first < UNITS; first += size, count++) {
        chains[count] = (sf_episode){.size = size};
        for (uint32_t i = 0; i < size; i++) {
            chains[count].units[i] = first + i;
            chains[count].delays[i] = (sf_delay){LOW_NS, k->high_ms * SF_MILLISECOND};
        }
    }
    return count;
}

static void look_at(cell *c, const sf_mine_result *result, const sf_significance *told)
{
    unsigned low_q = 0;
    c->recordings++;
    c->not_tested += told->not_tested != SF_TESTABLE;
    for (size_t i = 0; i < result->count && told->not_tested == SF_TESTABLE; i++) {
        c->chains++;
        c->low += result->items[i].p < 0.05;
        c->very_low += result->items[i].p <= 0.01;
        low_q += result->items[i].q < 0.05;
    }
    c->with_low_q += low_q > 0;
}

static int test_chains(cell *c, const sf_recording *recording, const plan *p, const kind *k, uint32_t size,
                       uint64_t seed)
{
    sf_mine_input input = {.spikes = recording->spikes,
                           .spike_count = recording->spike_count,
                           .units = &recording->units,
                           .duration_ns = sf_recording_duration_ns(recording)};
    sf_episode chains[UNITS];
    uint32_t count = list_chains(chains, k, size);
    sf_mining_options mining;
    sf_significance_options how = p->options;
    how.seed = seed;
    how.splits = how.found_only = true;
    sf_mine_result *result;
    sf_significance told;
    sf_error error;
    int status = sf_mine_given(&result, &mining, &input, chains, count, 1, NULL, &error);
    if (status == SF_OK) {
        status = sf_significance_test(&told, result, &input, &mining, &how, NULL, &error);
        if (status == SF_OK) look_at(c, result, &told);
        sf_mine_result_free(result);
    }
    if (status != SF_OK) fprintf(stderr, "seed %llu: %s\n", (unsigned long long)seed, error.text);
    return status;
}

static int do_recording(void *context, unsigned worker, size_t item)
{
    (void)worker;
    plan *p = context;
    size_t index = p->arguments.cell > 0 ? (size_t)p->arguments.cell - 1 : item / p->arguments.recordings;
    const kind *k = &kinds[index / LINKS];
    linked by = (linked)(index % LINKS);
    uint32_t size = by == TWO_PAIRS ? 4 : 3;
    uint64_t seed = p->arguments.first_seed + item;
    sf_recording recording;
    int status = simulate(&recording, k, by, size, seed);
    if (status != SF_OK) return status;
    status = test_chains(&p->cells[index], &recording, p, k, size, seed);
    sf_recording_clear(&recording);
    return status;
}

static void print_cell(const cell *c, size_t index)
{
    double percent = c->chains > 0 ? 100.0 / c->chains : 0;
    printf("| %s | %s | %u | %u | %u | %.2f %% | %.2f %% | %u |\n", kinds[index / LINKS].name,
           links[index % LINKS], c->recordings, c->not_tested, c->chains, percent * c->low,
           percent * c->very_low, c->with_low_q);
}

int main(int argc, char **argv)
{
    static plan p;
    if (bench_read_arguments(&p.arguments, argc, argv, CELLS) != SF_OK) return EXIT_FAILURE;
    p.options = bench_significance(&p.arguments);
    size_t only = (size_t)p.arguments.cell, asked = only > 0 ? 1 : CELLS;
    if (sf_parallel_for((unsigned)p.arguments.threads, asked * p.arguments.recordings, do_recording, &p) != 0)
        return EXIT_FAILURE;
    printf("| recordings | linked | of them | without a verdict | chains | p < 0.05 | p <= 0.01 | with a q < "
           "0.05 |\n|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < CELLS; i++)
        if (only == 0 || only == i + 1) print_cell(&p.cells[i], i);
    return EXIT_SUCCESS;
}
