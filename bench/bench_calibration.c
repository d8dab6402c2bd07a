/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Are the tests of significance calibrated? Simulated recordings in which it is known who leads whom: the
 * share of unlinked episodes with p < 0.05, how many recordings have a corrected finding among them, and
 * whether a planted chain is found. Prints the table of docs/episodes.md.
 *   bench_calibration [SEEDS [SURROGATES [SECONDS [SIZE [RECORDING [KIND]]]]]]
 * By default 20 1000 1800 2 0 segment-shift; SIZE is 2 or 3, RECORDING one of the kinds below, or 0 for all.
 *
 * 24 units on a grid; dead time 2 ms; delays (0.5,20] ms, and no pairs of neighbours, which see each other's
 * spikes again. Alone every unit fires at 5 Hz. With bursts it fires at 4 Hz and has 5 more spikes in each
 * burst that all units share (sigma 100 ms, one in 10 s on average), and of all spikes 15 % are detected
 * again by a neighbour; strong bursts have 10 more spikes at 2 Hz otherwise. One chain of three units is
 * planted, so often that its links count 1.4 times what they would without it. An episode is unlinked where
 * no two of its units lie within a neighbour of two units of the chain.
 */
#include "core/clock.h"
#include "core/memory.h"
#include "core/text.h"
#include "mine/significance.h"
#include "replay/simulation.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNITS 24u
#define COLUMNS 5u
#define RATIO 1.4
#define SIZES 4 /* sizes below it are looked at */

static const sf_delay delay = {500000, 20 * SF_MILLISECOND};
static const uint32_t chain_units[] = {0, 12, 22}; /* none a neighbour of another */

typedef struct setting {
    const char *name;
    double rate_hz, burst_rate_hz, burst_spikes, duplicates;
} setting;

static const setting settings[] = {
    {"independent", 5, 0, 0, 0},
    {"bursts, duplicates", 4, 0.1, 5, 0.15},
    {"strong bursts, duplicates", 2, 0.1, 10, 0.15},
};

typedef struct plan {
    uint64_t seeds, seconds, max_size;
    uint64_t only; /* 1-based setting; 0: all */
    sf_significance_options options;
} plan;

/* What was found over all seeds of a setting. */
typedef struct tally {
    uint64_t unlinked[SIZES], low[SIZES], runs_with_findings[SIZES], runs_with_chain[SIZES];
    double share[SIZES][2]; /* least and most of a run */
    double ratio;           /* of the planted links, sum over seeds */
} tally;

static bool are_neighbours(uint32_t a, uint32_t b)
{
    int rows = (int)(a / COLUMNS) - (int)(b / COLUMNS), columns = (int)(a % COLUMNS) - (int)(b % COLUMNS);
    return abs(rows) <= 1 && abs(columns) <= 1;
}

/* The unit of the chain that this one may carry spikes of, as a bit set: itself and its neighbours. */
static unsigned carries(uint32_t unit)
{
    unsigned set = 0;
    for (unsigned i = 0; i < 3; i++)
        set |= (unsigned)are_neighbours(unit, chain_units[i]) << i;
    return set;
}

static bool is_unlinked(const sf_episode *episode)
{
    for (uint32_t a = 0; a < episode->size; a++)
        for (uint32_t b = 0; b < a; b++) {
            unsigned one = carries(episode->units[a]), other = carries(episode->units[b]);
            if ((one != 0 && other != 0) || are_neighbours(episode->units[a], episode->units[b]))
                return false;
        }
    return true;
}

/* ---- one recording ---- */

static int simulate(sf_recording *recording, const plan *p, const setting *s, uint64_t seed, double chain_hz,
                    sf_error *error)
{
    sf_simulation_chain chain = {.episode = {.size = 3}, .rate_hz = chain_hz};
    for (uint32_t i = 0; i < 3; i++) {
        chain.episode.units[i] = chain_units[i];
        chain.episode.delays[i] = (sf_delay){8 * SF_MILLISECOND, 12 * SF_MILLISECOND};
    }
    sf_simulation_settings made;
    sf_simulation_settings_default(&made);
    made.seed = seed;
    made.unit_count = UNITS;
    made.rate_hz = s->rate_hz;
    made.duration_ns = (int64_t)p->seconds * SF_SECOND;
    made.burst_rate_hz = s->burst_rate_hz;
    made.burst_sigma_ns = 100 * SF_MILLISECOND;
    made.burst_spikes = s->burst_spikes;
    made.duplicates = s->duplicates;
    made.chains = &chain;
    made.chain_count = chain_hz > 0;
    return sf_simulate(recording, NULL, &made, NULL, error);
}

static sf_mine_input input_of(const sf_recording *recording)
{
    return (sf_mine_input){recording->spikes, recording->spike_count, &recording->units,
                           sf_recording_duration_ns(recording)};
}

static void mining_options(sf_mine_options *options, uint32_t max_size)
{
    sf_mine_options_default(options);
    options->delays = &delay;
    options->delay_count = 1;
    options->max_size = max_size;
    options->threshold = 20;
    options->min_distance_um = 150; /* neighbours are 100 or 141 um apart */
}

/* The mean count of pairs that are not neighbours, in a recording without a chain: what chance makes. */
static int chance_count(double *mean, const plan *p, const setting *s, sf_error *error)
{
    sf_recording recording;
    int status = simulate(&recording, p, s, 1000, 0, error);
    if (status != SF_OK)
        return status;
    sf_mine_input input = input_of(&recording);
    sf_mine_options options;
    sf_mine_result *result;
    mining_options(&options, 2);
    status = sf_mine(&result, &input, &options, NULL, error);
    *mean = 0;
    for (size_t i = 0; status == SF_OK && i < result->count; i++)
        *mean += result->items[i].count / (double)result->count;
    if (status == SF_OK)
        sf_mine_result_free(result);
    sf_recording_free(&recording);
    return status;
}

/* ---- what a run tells ---- */

static bool is_of_chain(const sf_episode *episode)
{
    for (uint32_t from = 0; from + episode->size <= 3; from++)
        if (memcmp(episode->units, chain_units + from, episode->size * sizeof *chain_units) == 0)
            return true;
    return false;
}

static void add_run(tally *sum, const sf_mine_result *result, double chance)
{
    uint64_t unlinked[SIZES] = {0}, low[SIZES] = {0}, findings[SIZES] = {0}, chain[SIZES] = {0};
    for (size_t i = 0; i < result->count; i++) {
        const sf_mine_item *item = &result->items[i];
        sf_episode episode;
        sf_mine_result_episode(result, i, &episode);
        if (is_of_chain(&episode)) {
            chain[item->size] += item->q < 0.05;
            sum->ratio += item->size == 2 ? item->count / chance / 2 : 0;
        } else if (is_unlinked(&episode)) {
            unlinked[item->size]++;
            low[item->size] += item->p < 0.05;
            findings[item->size] += item->q < 0.05;
        }
    }
    for (uint32_t size = 2; size < SIZES && unlinked[size] > 0; size++) {
        double share = (double)low[size] / (double)unlinked[size];
        sum->share[size][0] = fmin(sum->share[size][0], share);
        sum->share[size][1] = fmax(sum->share[size][1], share);
        sum->unlinked[size] += unlinked[size];
        sum->low[size] += low[size];
        sum->runs_with_findings[size] += findings[size] > 0;
        sum->runs_with_chain[size] += chain[size] == 4 - size;
    }
}

static int run_seed(tally *sum, const plan *p, const setting *s, uint64_t seed, double chance,
                    sf_error *error)
{
    sf_recording recording;
    int status = simulate(&recording, p, s, seed, (RATIO - 1) * chance / (double)p->seconds, error);
    if (status != SF_OK)
        return status;
    sf_mine_input input = input_of(&recording);
    sf_mine_options options;
    sf_mine_result *result;
    sf_significance told;
    mining_options(&options, (uint32_t)p->max_size);
    sf_significance_options test = p->options;
    test.seed = seed;
    status = sf_mine(&result, &input, &options, NULL, error);
    if (status == SF_OK) {
        status = sf_significance_test(&told, result, &input, &options, &test, NULL, error);
        if (status == SF_OK)
            add_run(sum, result, chance);
        sf_mine_result_free(result);
    }
    sf_recording_free(&recording);
    return status;
}

static void print_row(const char *name, const tally *sum, uint32_t size, uint64_t seeds)
{
    printf("| %s | %" PRIu32 " | %" PRIu64 " | %.2f %% (%.1f to %.1f) | %" PRIu64 " of %" PRIu64 " | %" PRIu64
           " of %" PRIu64 " |\n",
           name, size, sum->unlinked[size] / seeds,
           100.0 * (double)sum->low[size] / (double)sum->unlinked[size], 100 * sum->share[size][0],
           100 * sum->share[size][1], sum->runs_with_findings[size], seeds, sum->runs_with_chain[size],
           seeds);
    fflush(stdout);
}

static int run_setting(const plan *p, const setting *s, sf_error *error)
{
    tally sum = {0};
    double chance;
    for (uint32_t size = 0; size < SIZES; size++)
        sum.share[size][0] = INFINITY;
    int status = chance_count(&chance, p, s, error);
    for (uint64_t seed = 1; seed <= p->seeds && status == SF_OK; seed++) {
        double start = sf_clock_seconds();
        status = run_seed(&sum, p, s, seed, chance, error);
        fprintf(stderr, "%s: seed %" PRIu64 ", %.1f s\n", s->name, seed, sf_clock_seconds() - start);
    }
    for (uint32_t size = 2; size <= p->max_size && status == SF_OK; size++)
        print_row(s->name, &sum, size, p->seeds);
    if (status == SF_OK)
        fprintf(stderr, "%s: chance makes %.0f pairs, the planted links count %.2f times that\n", s->name,
                chance, sum.ratio / (double)p->seeds);
    return status;
}

static int read_arguments(plan *p, int count, char **arguments, sf_error *error)
{
    uint64_t numbers[] = {20, 1000, 1800, 2, 0};
    for (int i = 1; i < count && i <= 5; i++)
        if (!sf_parse_uint(arguments[i], 1000000, &numbers[i - 1]) || (numbers[i - 1] == 0 && i < 5))
            return SF_USAGE;
    sf_significance_options_default(&p->options);
    p->seeds = numbers[0];
    p->options.surrogates = (uint32_t)numbers[1];
    p->seconds = numbers[2];
    p->max_size = numbers[3] > 2 ? 3 : 2;
    p->only = numbers[4];
    return count > 6 ? sf_significance_find(&p->options.kind, arguments[6], error) : SF_OK;
}

int main(int count, char **arguments)
{
    plan p = {0};
    sf_error error = {.text = "expected [SEEDS [SURROGATES [SECONDS [SIZE [RECORDING [KIND]]]]]]"};
    int status = read_arguments(&p, count, arguments, &error);
    if (status == SF_OK)
        printf("| recording | size | unlinked | p < 0.05 (least to most of a run) | runs with q < 0.05 among "
               "them | runs that find the chain |\n|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof settings / sizeof *settings && status == SF_OK; i++)
        if (p.only == 0 || p.only == i + 1)
            status = run_setting(&p, &settings[i], &error);
    if (status != SF_OK)
        fprintf(stderr, "%s\n", error.text);
    return status == SF_OK ? 0 : 1;
}
