/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Are chains called significant that are none? Poisson units of 3 to 8 Hz with a dead time of 3 ms, 600 s, in
 * which pairs of units are linked: A fires and, 5 ms later with a jitter of 2 ms, C, so often that the pair
 * counts a multiple of what chance makes. Chains of up to 4 units are mined and tested. False is a finding,
 * q < 0.05, with a cut that no link crosses: for one link A -> C every chain but that pair, for two unrelated
 * links A -> B and C -> D every one but these two, for a planted chain every one but those of its units in
 * its order.
 *
 *     bench_false_chains [RECORDINGS [SURROGATES [FIRST_SEED [DEVICE [THREADS [CELL]]]]]]
 *
 * By default 20 200 1 cpu 0 (all cores, recordings at a time) 0 (all kinds). Prints, for each kind, the
 * recordings with a false chain and with a false pair, how many false chains there are in all, and in how
 * many recordings all that was planted is found.
 */
#include "bench/arguments.h"
#include "core/clock.h"
#include "core/memory.h"
#include "core/random.h"
#include "mine/significance.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNITS 24u
#define SECONDS 600.0
#define DEAD_S 0.003
#define LAG_S 0.005
#define JITTER_S 0.002

static const sf_delay delay = {500000, 20 * SF_MILLISECOND};

/* Chains are planted one after the other, of units 0, 1, ... */
typedef struct kind {
    const char *name;
    uint32_t sizes[2]; /* of the chains */
    double factor;
    uint32_t max_size;
    atomic_uint recordings, with_false_chain, with_false_pair, false_chains, whole;
} kind;

static kind kinds[] = {
    {.name = "one link, 2 times chance", .sizes = {2}, .factor = 2, .max_size = 4},
    {.name = "one link, 4 times chance", .sizes = {2}, .factor = 4, .max_size = 4},
    {.name = "one link, 8 times chance", .sizes = {2}, .factor = 8, .max_size = 4},
    {.name = "two links, 2 times chance", .sizes = {2, 2}, .factor = 2, .max_size = 4},
    {.name = "two links, 4 times chance", .sizes = {2, 2}, .factor = 4, .max_size = 4},
    {.name = "two links, 8 times chance", .sizes = {2, 2}, .factor = 8, .max_size = 4},
    {.name = "chain of 3, 1.4 times chance", .sizes = {3}, .factor = 1.4, .max_size = 3},
    {.name = "chain of 5, 1.4 times chance", .sizes = {5}, .factor = 1.4, .max_size = 5},
    {.name = "chain of 8, 1.4 times chance", .sizes = {8}, .factor = 1.4, .max_size = 8},
};
#define KINDS (sizeof kinds / sizeof *kinds)

typedef struct plan {
    bench_arguments arguments;
    sf_significance_options options;
} plan;

/* ---- recordings ---- */

typedef struct trains {
    sf_spike *spikes;
    size_t count, capacity;
    double rates[UNITS];
} trains;

static int add_spike(trains *t, double at_s, uint32_t unit)
{
    if (at_s < 0 || at_s >= SECONDS) return SF_OK;
    if (sf_reserve(&t->spikes, &t->capacity, t->count + 1, sizeof *t->spikes) != 0) return SF_NO_MEMORY;
    t->spikes[t->count++] = (sf_spike){.time_ns = (int64_t)(at_s * 1e9), .unit = unit};
    return SF_OK;
}

static int add_background(trains *t, sf_random *random)
{
    int status = SF_OK;
    for (uint32_t u = 0; u < UNITS; u++) {
        t->rates[u] = 3 + 5 * sf_random_uniform(random);
        double mean_s = 1 / t->rates[u] - DEAD_S;
        for (double at = 0;
             status == SF_OK && (at += DEAD_S + mean_s * sf_random_exponential(random)) < SECONDS;)
            status = add_spike(t, at, u);
    }
    return status;
}

/* So often that each of its links counts `factor` times what chance makes, or more. */
static int add_chain(trains *t, sf_random *random, uint32_t first, uint32_t size, double factor)
{
    double width_s = (double)(delay.high_ns - delay.low_ns) * 1e-9, by_chance = 0;
    for (uint32_t k = 1; k < size; k++)
        by_chance = fmax(by_chance, t->rates[first + k - 1] * t->rates[first + k] * width_s * SECONDS);
    double often = (factor - 1) * by_chance;
    int status = SF_OK;
    for (double at = 0;
         status == SF_OK && (at += SECONDS / often * sf_random_exponential(random)) < SECONDS;) {
        double spike = at;
        for (uint32_t k = 0; k < size && status == SF_OK; k++) {
            status = add_spike(t, spike, first + k);
            double lag = 0;
            while (lag <= 0.0005)
                lag = LAG_S + JITTER_S * sf_random_normal(random);
            spike += lag;
        }
    }
    return status;
}

static int make(trains *t, const kind *k, uint64_t seed)
{
    sf_random random = sf_random_start(seed, UINT64_C(1) << 61);
    int status = add_background(t, &random);
    for (uint32_t i = 0, first = 0; i < 2 && k->sizes[i] > 0 && status == SF_OK; first += k->sizes[i++])
        status = add_chain(t, &random, first, k->sizes[i], k->factor);
    return status == SF_OK ? sf_spikes_sort(t->spikes, t->count, NULL) : status;
}

/* ---- findings ---- */

/* Whether the units are of one planted chain, in its order: all are linked, by way of those left out too. */
static bool is_planted(const kind *k, const sf_episode *episode)
{
    uint32_t first = 0;
    for (uint32_t i = 0; i < 2; first += k->sizes[i++]) {
        uint32_t size = episode->size;
        bool own = episode->units[0] >= first && episode->units[size - 1] < first + k->sizes[i];
        for (uint32_t n = 1; own && n < size; n++)
            own = episode->units[n] > episode->units[n - 1];
        if (own) return true;
    }
    return false;
}

static void look_at(kind *k, const sf_mine_result *result)
{
    unsigned chains = 0, pairs = 0, whole = 0, planted = 0;
    for (uint32_t i = 0; i < 2; i++)
        planted += k->sizes[i] > 0;
    for (size_t i = 0; i < result->count; i++) {
        sf_episode episode;
        sf_mine_result_episode(result, i, &episode);
        if (episode.size < 2 || !(result->items[i].q < 0.05)) continue;
        bool real = is_planted(k, &episode);
        whole += real && episode.size == k->sizes[0];
        chains += !real && episode.size > 2;
        pairs += !real && episode.size == 2;
    }
    k->recordings++;
    k->with_false_chain += chains > 0;
    k->with_false_pair += pairs > 0;
    k->false_chains += chains;
    k->whole += whole == planted;
}

static int mine_and_test(kind *k, const plan *p, const trains *t, const sf_units *units, uint64_t seed)
{
    sf_mine_input input = {.spikes = t->spikes,
                           .spike_count = t->count,
                           .units = units,
                           .duration_ns = (int64_t)(SECONDS * 1e9)};
    sf_mining_options options;
    options = sf_mining_options_default();
    options.delays = &delay;
    options.delay_count = 1;
    options.max_size = k->max_size;
    options.threshold = k->factor < 2 ? 40 : 100;
    options.threads = 1;
    options.device = "cpu";
    sf_significance_options how = p->options;
    how.seed = seed;
    sf_mine_result *result = NULL;
    sf_significance told;
    sf_error error;
    int status = sf_mine_spikes(&result, &input, &options, NULL, &error);
    if (status == SF_OK) status = sf_significance_test(&told, result, &input, &options, &how, NULL, &error);
    if (status == SF_OK)
        look_at(k, result);
    else
        fprintf(stderr, "seed %llu: %s\n", (unsigned long long)seed, error.text);
    sf_mine_result_free(result);
    return status;
}

static int do_recording(void *context, unsigned worker, size_t item)
{
    (void)worker;
    const plan *p = context;
    kind *k = &kinds[p->arguments.cell > 0 ? p->arguments.cell - 1 : item / p->arguments.recordings];
    uint64_t seed = p->arguments.first_seed + item;
    trains t = {0};
    sf_units units = {0};
    sf_unit unit = {.electrode = -1};
    int status = make(&t, k, seed);
    for (uint32_t u = 0; u < UNITS && status == SF_OK; u++)
        status = sf_units_add(&units, &unit, NULL);
    if (status == SF_OK) status = sf_units_finish(&units, NULL);
    if (status == SF_OK) status = mine_and_test(k, p, &t, &units, seed);
    sf_units_free(&units);
    sf_free(t.spikes);
    return status;
}

int main(int argc, char **argv)
{
    plan p;
    if (bench_read_arguments(&p.arguments, argc, argv, KINDS) != SF_OK) return EXIT_FAILURE;
    p.options = bench_significance(&p.arguments);
    size_t only = (size_t)p.arguments.cell, asked = only > 0 ? 1 : KINDS;
    if (sf_parallel_for((unsigned)p.arguments.threads, asked * p.arguments.recordings, do_recording, &p) != 0)
        return EXIT_FAILURE;
    printf("%-30s %10s %16s %12s %15s %9s\n", "planted", "recordings", "with false chain", "false chains",
           "with false pair", "all whole");
    for (size_t i = 0; i < KINDS; i++)
        if (only == 0 || only == i + 1)
            printf("%-30s %10u %16u %12u %15u %9u\n", kinds[i].name, kinds[i].recordings,
                   kinds[i].with_false_chain, kinds[i].false_chains, kinds[i].with_false_pair,
                   kinds[i].whole);
    return EXIT_SUCCESS;
}
