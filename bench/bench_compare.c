/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Are the verdicts of `compare` calibrated? bench_compare [PART [ROUNDS [THREADS [SEED]]]], by default `all`,
 * 2000 rounds, all cores, 1.
 *
 * - `factors`: two factors that both have effects: the share of rounds with p of the interaction of 0.05 or
 * less, without one and with one of 2.5
 * - `tests`: groups without a difference of means (and with one of 1.5 where it says power): the share of
 * rounds with p and with any q of 0.05 or less, of intervals that miss the difference, and of p below their
 * own least
 * - `bursts`: two groups of cultures of Poisson trains, of other rates: the share of rounds in which a
 * measure of bursts has q of 0.05 or less, each and any, with chance taken off and without; ROUNDS / 10
 * rounds
 * - `network`: 60 bursts planted in ten minutes: how many are found, how many bursts are found in all, and
 * how many seconds they last; ROUNDS / 100 rounds
 */
#include "analysis/activity.h"
#include "analysis/factors.h"
#include "analysis/statistics.h"
#include "core/clock.h"
#include "core/memory.h"
#include "core/random.h"
#include "core/thread.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 64    /* replicates of a group */
#define MEASURES 5 /* of a replicate in `tests` */
#define LEVEL 0.05

typedef struct plan {
    size_t rounds;
    unsigned threads;
    uint64_t seed;
} plan;

static int ended(int status, const sf_error *error)
{
    if (status != SF_OK) fprintf(stderr, "bench_compare: %s\n", error->text);
    return status;
}

/* ---- tests ---- */

typedef struct trial_design {
    const char *name;
    size_t counts[2]; /* of each block */
    double sd[2];
    size_t blocks;
    double block_sd, difference;
    bool told_of_blocks, paired;
    double missing; /* share of values */
} trial_design;

static const trial_design designs[] = {
    {"4 v 10, spread 1:1", {4, 10}, {1, 1}, 1, 0, 0, false, false, 0},
    {"4 v 10, spread 2:1", {4, 10}, {2, 1}, 1, 0, 0, false, false, 0},
    {"4 v 10, spread 3:1", {4, 10}, {3, 1}, 1, 0, 0, false, false, 0},
    {"4 v 10, spread 5:1", {4, 10}, {5, 1}, 1, 0, 0, false, false, 0},
    {"4 v 10, spread 1:3", {4, 10}, {1, 3}, 1, 0, 0, false, false, 0},
    {"4 v 4, spread 1:1", {4, 4}, {1, 1}, 1, 0, 0, false, false, 0},
    {"4 v 4, spread 2:1", {4, 4}, {2, 1}, 1, 0, 0, false, false, 0},
    {"6 v 6, spread 3:1", {6, 6}, {3, 1}, 1, 0, 0, false, false, 0},
    {"6 v 10, a third missing", {6, 10}, {2, 1}, 1, 0, 0, false, false, 1 / 3.0},
    {"10 pairs", {10, 10}, {1, 1}, 1, 0, 0, false, true, 0},
    {"3 batches of 4 v 4, dealt within", {4, 4}, {1, 1}, 3, 3, 0, true, false, 0},
    {"3 batches of 2 v 5, spread 2:1, dealt within", {2, 5}, {2, 1}, 3, 3, 0, true, false, 0},
    {"8 batches of 1 v 1, dealt within", {1, 1}, {1, 1}, 8, 3, 0, true, false, 0},
    {"6 batches of 1 v 2, spread 2:1, dealt within", {1, 2}, {2, 1}, 6, 3, 0, true, false, 0},
    {"3 batches of 4 v 4, dealt in all", {4, 4}, {1, 1}, 3, 3, 0, false, false, 0},
    {"3 batches of 4 v 4, dealt within: power", {4, 4}, {1, 1}, 3, 3, 1.5, true, false, 0},
    {"3 batches of 4 v 4, dealt in all: power", {4, 4}, {1, 1}, 3, 3, 1.5, false, false, 0},
    {"4 v 10, spread 1:1: power", {4, 10}, {1, 1}, 1, 0, 1.5, false, false, 0},
    {"12 v 12, without batches: power", {12, 12}, {1, 1}, 1, 0, 1.5, false, false, 0},
};

typedef struct trial_result {
    bool low_p, low_q, missed, unbounded, below_least;
} trial_result;

typedef struct trials {
    const plan *plan;
    const trial_design *design;
    trial_result *results;
} trials;

static int run_trial(void *context, unsigned worker, size_t round)
{
    (void)worker;
    const trials *all = context;
    const trial_design *d = all->design;
    sf_random random = sf_random_start(all->plan->seed, round * 100 + (size_t)(d - designs));
    double values[2][MOST * MEASURES], of_block[MOST], of_pair[MOST];
    size_t blocks[2][MOST];
    for (size_t b = 0; b < MOST; b++) {
        of_block[b] = d->block_sd * sf_random_normal(&random);
        of_pair[b] = d->paired ? sf_random_normal(&random) : 0;
    }
    for (int g = 0; g < 2; g++)
        for (size_t i = 0; i < d->blocks * d->counts[g]; i++) {
            double shared = sf_random_normal(&random);
            blocks[g][i] = i / d->counts[g];
            for (size_t m = 0; m < MEASURES; m++) {
                double noise = sqrt(0.5) * (shared + sf_random_normal(&random));
                values[g][i * MEASURES + m] =
                    d->sd[g] * noise + of_block[blocks[g][i]] + of_pair[i] + g * d->difference;
                if (sf_random_uniform(&random) < d->missing) values[g][i * MEASURES + m] = NAN;
            }
        }
    const sf_contrast_input input = {
        .measure_count = MEASURES,
        .counts = {d->blocks * d->counts[0], d->blocks * d->counts[1]},
        .values = {values[0], values[1]},
        .paired = d->paired,
        .blocks = {d->told_of_blocks ? blocks[0] : NULL, d->told_of_blocks ? blocks[1] : NULL},
        .block_count = d->blocks,
        .by = SF_COMPARED_PERMUTATION,
        .most = 2000,
        .seed = round + 1};
    sf_contrast told;
    sf_error error;
    int status = ended(sf_contrast_find(&told, &input, &error), &error);
    trial_result *result = &all->results[round];
    for (size_t m = 0; status == SF_OK && m < MEASURES; m++) {
        const sf_compared *of = &told.measures[m];
        result->low_q = result->low_q || of->q <= LEVEL;
        result->below_least = result->below_least || of->p < of->least * (1 - 1e-9);
    }
    if (status == SF_OK) {
        result->low_p = told.measures->p <= LEVEL;
        result->unbounded = isnan(told.measures->low) || isnan(told.measures->high);
        result->missed = told.measures->low > d->difference || told.measures->high < d->difference;
    }
    sf_contrast_free(&told);
    return status;
}

static int bench_tests(const plan *p)
{
    int status = SF_OK;
    trial_result *results = sf_alloc(p->rounds, sizeof *results);
    if (results == NULL) return SF_NO_MEMORY;
    printf("%-46s %8s %8s %16s %10s %8s\n", "design", "p<=0.05", "q<=0.05", "interval misses", "unbounded",
           "p<least");
    for (size_t k = 0; k < sizeof designs / sizeof *designs && status == SF_OK; k++) {
        trials all = {p, &designs[k], results};
        double n = (double)p->rounds, low_p = 0, low_q = 0, missed = 0, unbounded = 0, below = 0;
        memset(results, 0, p->rounds * sizeof *results);
        status = sf_parallel_for(p->threads, p->rounds, run_trial, &all);
        for (size_t i = 0; i < p->rounds; i++) {
            low_p += results[i].low_p;
            low_q += results[i].low_q;
            missed += results[i].missed;
            unbounded += results[i].unbounded;
            below += results[i].below_least;
        }
        printf("%-46s %6.2f %% %6.2f %% %14.2f %% %8.2f %% %8.0f\n", designs[k].name, 100 * low_p / n,
               100 * low_q / n, 100 * missed / n, 100 * unbounded / n, below);
        fflush(stdout);
    }
    sf_free(results);
    return status;
}

/* ---- two factors ---- */

typedef struct factors_design {
    const char *name;
    size_t levels, counts[6]; /* of the second factor; of each condition */
    double sd[6];
    bool repeated; /* each replicate has all levels of the second factor */
} factors_design;

static const factors_design factors_designs[] = {
    {"2 x 2, 4 each", 2, {4, 4, 4, 4}, {1, 1, 1, 1}, false},
    {"2 x 2, 3 each", 2, {3, 3, 3, 3}, {1, 1, 1, 1}, false},
    {"2 x 2, 3, 8, 6 and 4", 2, {3, 8, 6, 4}, {1, 1, 1, 1}, false},
    {"2 x 2, 4, 10, 10 and 4, spread 3:1:1:1", 2, {4, 10, 10, 4}, {3, 1, 1, 1}, false},
    {"2 x 2, 4, 10, 10 and 4, spread 1:2:2:1", 2, {4, 10, 10, 4}, {1, 2, 2, 1}, false},
    {"2 x 3, 4 each", 3, {4, 4, 4, 4, 4, 4}, {1, 1, 1, 1, 1, 1}, false},
    {"2 x 3, 4, 8, 4 and 4, 4, 8, spread 2:1:1 and 3:1:1", 3, {4, 8, 4, 4, 4, 8}, {2, 1, 1, 3, 1, 1}, false},
    {"5 and 5, each at 2 levels", 2, {5, 5, 5, 5}, {1, 1, 1, 1}, true},
    {"4 and 9, each at 2 levels", 2, {4, 4, 9, 9}, {1, 1, 1, 1}, true},
    {"6 and 6, each at 3 levels, spread 2:1", 3, {6, 6, 6, 6, 6, 6}, {2, 2, 2, 1, 1, 1}, true},
};

typedef struct factors_trials {
    const plan *plan;
    const factors_design *design;
    double both;
    bool *low;
} factors_trials;

static int run_factors_trial(void *context, unsigned worker, size_t round)
{
    (void)worker;
    const factors_trials *all = context;
    const factors_design *d = all->design;
    sf_random random = sf_random_start(all->plan->seed + 3000, round * 100 + (size_t)(d - factors_designs));
    size_t levels[2][MOST], replicates[MOST], count = 0;
    double values[MOST], own[MOST];
    for (size_t r = 0; r < MOST; r++)
        own[r] = 3 * sf_random_normal(&random);
    for (size_t c = 0; c < 2 * d->levels; c++)
        for (size_t i = 0; i < d->counts[c]; i++, count++) {
            const size_t a = c / d->levels, b = c % d->levels;
            levels[0][count] = a;
            levels[1][count] = b;
            replicates[count] = d->repeated ? a * d->counts[0] + i : count;
            values[count] = d->sd[c] * sf_random_normal(&random) + 4 * (double)a + 1.5 * (double)b +
                            (c == 2 * d->levels - 1 ? all->both : 0) +
                            (d->repeated ? own[replicates[count]] : 0);
        }
    const sf_factors_input input = {.count = count,
                                    .measure_count = 1,
                                    .values = values,
                                    .levels = {levels[0], levels[1]},
                                    .level_counts = {2, d->levels},
                                    .replicates = replicates,
                                    .replicate_count = count,
                                    .most = 1000,
                                    .seed = round + 1};
    sf_factors told;
    sf_error error;
    int status = ended(sf_factors_find(&told, &input, &error), &error);
    all->low[round] = status == SF_OK && told.effects[SF_FACTOR_BOTH]->p <= LEVEL;
    sf_factors_free(&told);
    return status;
}

static int bench_factors(const plan *p)
{
    int status = SF_OK;
    bool *low = sf_alloc(p->rounds, sizeof *low);
    if (low == NULL) return SF_NO_MEMORY;
    printf("%-54s %12s %12s\n", "conditions", "p<=0.05", "power");
    for (size_t k = 0; k < sizeof factors_designs / sizeof *factors_designs && status == SF_OK; k++) {
        double share[2] = {0};
        for (int planted = 0; planted < 2 && status == SF_OK; planted++) {
            factors_trials all = {p, &factors_designs[k], planted * 2.5, low};
            status = sf_parallel_for(p->threads, p->rounds, run_factors_trial, &all);
            for (size_t i = 0; i < p->rounds; i++)
                share[planted] += low[i] / (double)p->rounds;
        }
        printf("%-54s %10.1f %% %10.1f %%\n", factors_designs[k].name, 100 * share[0], 100 * share[1]);
        fflush(stdout);
    }
    sf_free(low);
    return status;
}

/* ---- recordings ---- */

typedef struct culture {
    sf_recording recording;
    size_t capacity;
} culture;

static int add_spike(culture *c, double time_s, size_t unit)
{
    if (!(time_s >= 0 && time_s < (double)c->recording.recorded.stop_ns * 1e-9)) return SF_OK;
    if (sf_reserve(&c->recording.spikes, &c->capacity, c->recording.spike_count + 1, sizeof(sf_spike)) != 0)
        return SF_NO_MEMORY;
    c->recording.spikes[c->recording.spike_count++] =
        (sf_spike){.time_ns = (int64_t)(time_s * 1e9), .unit = (uint32_t)unit, .amplitude = NAN};
    return SF_OK;
}

/* A number of a Poisson distribution, by its intervals. */
static size_t poisson(double mean, sf_random *random)
{
    size_t count = 0;
    for (double sum = sf_random_exponential(random); sum < mean; sum += sf_random_exponential(random))
        count++;
    return count;
}

/* Poisson trains, and bursts at `at_s`, in which each has so many spikes more. */
static int make_culture(culture *c, size_t units, double rate_hz, double duration_s, const double *at_s,
                        size_t bursts, double sigma_s, double spikes, sf_random *random)
{
    sf_error error;
    int status = SF_OK;
    *c = (culture){.recording = {.recorded = {0, (int64_t)(duration_s * 1e9)}}};
    c->recording.units.items = sf_alloc(units, sizeof *c->recording.units.items);
    c->recording.units.count = units;
    if (c->recording.units.items == NULL) return SF_NO_MEMORY;
    for (size_t u = 0; u < units; u++) {
        double time_s = 0;
        while (status == SF_OK && (time_s += sf_random_exponential(random) / rate_hz) < duration_s)
            status = add_spike(c, time_s, u);
        for (size_t b = 0; b < bursts; b++)
            for (size_t i = poisson(spikes, random); i > 0 && status == SF_OK; i--)
                status = add_spike(c, at_s[b] + sigma_s * sf_random_normal(random), u);
    }
    return status == SF_OK ? sf_spikes_sort(c->recording.spikes, c->recording.spike_count, &error) : status;
}

static void close_culture(culture *c)
{
    sf_free(c->recording.units.items);
    sf_free(c->recording.spikes);
}

/* ---- bursts ---- */

#define BURST_MEASURES (SF_MEASURE_NETWORK_UNITS - SF_MEASURE_BURST_RATE + 1)
#define CULTURES 6
#define CULTURE_UNITS 12
#define CULTURE_S 300.0

static const double rates[][2] = {{3, 6}, {1, 3}, {0.5, 1}, {6, 12}};

typedef struct burst_trials {
    const plan *plan;
    const double *rates;
    bool (*found)[2][BURST_MEASURES]; /* with chance taken off, and without */
} burst_trials;

static int compare_bursts(bool found[BURST_MEASURES], double *const values[2], double *const chance[2])
{
    const sf_contrast_input input = {.measure_count = BURST_MEASURES,
                                     .counts = {CULTURES, CULTURES},
                                     .values = {values[0], values[1]},
                                     .chance = {chance[0], chance[1]},
                                     .by = SF_COMPARED_PERMUTATION,
                                     .most = 2000,
                                     .seed = 1};
    sf_contrast told;
    sf_error error;
    int status = ended(sf_contrast_find(&told, &input, &error), &error);
    for (size_t m = 0; status == SF_OK && m < BURST_MEASURES; m++)
        found[m] = told.measures[m].q <= LEVEL;
    sf_contrast_free(&told);
    return status;
}

static int run_burst_trial(void *context, unsigned worker, size_t round)
{
    (void)worker;
    const burst_trials *all = context;
    double room[4][CULTURES * BURST_MEASURES];
    double *const values[] = {room[0], room[1]}, *const chance[] = {room[2], room[3]},
                  *const none[] = {NULL, NULL};
    int status = SF_OK;
    for (int g = 0; g < 2; g++)
        for (size_t i = 0; i < CULTURES && status == SF_OK; i++) {
            sf_random random =
                sf_random_start(all->plan->seed + 1000, (round * 2 + (size_t)g) * CULTURES + i);
            culture c;
            sf_activity activity = {0};
            sf_error error;
            double measured[SF_MEASURES], by_chance[SF_MEASURES];
            status = make_culture(&c, CULTURE_UNITS, all->rates[g], CULTURE_S, NULL, 0, 0, 0, &random);
            if (status == SF_OK)
                status = sf_activity_find(&activity, &c.recording, &SF_ACTIVITY_OPTIONS, &error);
            if (status == SF_OK)
                status =
                    sf_activity_chance(by_chance, NULL, &c.recording, &SF_ACTIVITY_OPTIONS, round, &error);
            if (status == SF_OK) sf_activity_measure(&activity, measured);
            memcpy(values[g] + i * BURST_MEASURES, measured + SF_MEASURE_BURST_RATE,
                   BURST_MEASURES * sizeof(double));
            memcpy(chance[g] + i * BURST_MEASURES, by_chance + SF_MEASURE_BURST_RATE,
                   BURST_MEASURES * sizeof(double));
            sf_activity_free(&activity);
            close_culture(&c);
        }
    if (status == SF_OK) status = compare_bursts(all->found[round][0], values, chance);
    return status == SF_OK ? compare_bursts(all->found[round][1], values, none) : status;
}

static int bench_bursts(const plan *p)
{
    size_t rounds = p->rounds / 10 > 0 ? p->rounds / 10 : 1;
    bool(*found)[2][BURST_MEASURES] = sf_alloc(rounds, sizeof *found);
    int status = found == NULL ? SF_NO_MEMORY : SF_OK;
    printf("%d v %d cultures of %d Poisson trains, %g s, %zu rounds: share with q <= 0.05\n%-22s %8s",
           CULTURES, CULTURES, CULTURE_UNITS, CULTURE_S, rounds, "rates", "any");
    for (int m = 0; m < BURST_MEASURES; m++)
        printf(" %s", sf_measure_about((sf_measured)(SF_MEASURE_BURST_RATE + m))->name);
    for (size_t k = 0; k < sizeof rates / sizeof *rates && status == SF_OK; k++) {
        burst_trials all = {p, rates[k], found};
        memset(found, 0, rounds * sizeof *found);
        status = sf_parallel_for(p->threads, rounds, run_burst_trial, &all);
        for (int raw = 0; raw < 2; raw++) {
            double any = 0, each[BURST_MEASURES] = {0};
            for (size_t i = 0; i < rounds; i++) {
                bool one = false;
                for (int m = 0; m < BURST_MEASURES; m++) {
                    one = one || found[i][raw][m];
                    each[m] += found[i][raw][m];
                }
                any += one;
            }
            printf("\n%g and %g Hz%-10s %6.2f %%", rates[k][0], rates[k][1], raw ? ", raw" : "",
                   100 * any / (double)rounds);
            for (int m = 0; m < BURST_MEASURES; m++)
                printf(" %.2f", 100 * each[m] / (double)rounds);
        }
        fflush(stdout);
    }
    printf("\n");
    sf_free(found);
    return status;
}

/* ---- network bursts ---- */

#define PLANTED 60

typedef struct planting {
    const char *name;
    size_t units;
    double rate_hz, sigma_ms, spikes;
} planting;

static const planting plantings[] = {
    {"460 Hz: 46 units of 10 Hz, 3 spikes, sigma 100 ms", 46, 10, 100, 3},
    {"460 Hz: 46 units of 10 Hz, 5 spikes, sigma 100 ms", 46, 10, 100, 5},
    {"460 Hz: 46 units of 10 Hz, 3 spikes, sigma 30 ms", 46, 10, 30, 3},
    {"460 Hz: 23 units of 20 Hz, 8 spikes, sigma 100 ms", 23, 20, 100, 8},
    {"the guide's: 26 units of 10 Hz, 3 spikes, sigma 100 ms", 26, 10, 100, 3},
    {"4600 Hz: 460 units of 10 Hz, 3 spikes, sigma 100 ms", 460, 10, 100, 3},
    {"sparse: 46 units of 0.1 Hz, 3 spikes, sigma 100 ms", 46, 0.1, 100, 3},
    {"sparse: 12 units of 0.5 Hz, 3 spikes, sigma 50 ms", 12, 0.5, 50, 3},
    {"sparse: 6 units of 0.2 Hz, 5 spikes, sigma 50 ms", 6, 0.2, 50, 5},
    {"long: 30 units of 2 Hz, 10 spikes, sigma 400 ms", 30, 2, 400, 10},
    {"none: 46 units of 10 Hz", 46, 10, 100, 0},
    {"none: 26 units of 1 Hz", 26, 1, 100, 0},
};

typedef struct planted_result {
    double found, all, seconds;
} planted_result;

typedef struct planted_trials {
    const plan *plan;
    const planting *planting;
    planted_result *results;
} planted_trials;

static int run_planting(void *context, unsigned worker, size_t round)
{
    (void)worker;
    const planted_trials *all = context;
    const planting *p = all->planting;
    sf_random random = sf_random_start(all->plan->seed + 2000, round * 100 + (size_t)(p - plantings));
    double at_s[PLANTED], length_s = 600;
    culture c;
    sf_bursts bursts = {0};
    sf_error error;
    planted_result *result = &all->results[round];
    for (size_t b = 0; b < PLANTED; b++)
        at_s[b] = ((double)b + 0.2 + 0.6 * sf_random_uniform(&random)) * length_s / PLANTED;
    int status = make_culture(&c, p->units, p->rate_hz, length_s, at_s, PLANTED, p->sigma_ms * 1e-3,
                              p->spikes, &random);
    if (status == SF_OK)
        status = ended(sf_bursts_find(&bursts, &c.recording, &SF_NETWORK_RULE, &error), &error);
    for (size_t b = 0; b < PLANTED; b++)
        result->found += sf_bursts_at(&bursts, (int64_t)(at_s[b] * 1e9)) != SIZE_MAX;
    result->all = (double)bursts.count;
    for (size_t i = 0; i < bursts.count; i++)
        result->seconds += (double)(bursts.items[i].stop_ns - bursts.items[i].start_ns) * 1e-9;
    sf_bursts_free(&bursts);
    close_culture(&c);
    return status;
}

static int bench_network(const plan *p)
{
    size_t rounds = p->rounds / 100 > 0 ? p->rounds / 100 : 1;
    planted_result *results = sf_alloc(rounds, sizeof *results);
    int status = results == NULL ? SF_NO_MEMORY : SF_OK;
    printf("%d bursts planted in 600 s, %zu rounds\n%-56s %8s %8s %10s\n", PLANTED, rounds, "", "found",
           "bursts", "seconds");
    for (size_t k = 0; k < sizeof plantings / sizeof *plantings && status == SF_OK; k++) {
        planted_trials all = {p, &plantings[k], results};
        planted_result sum = {0};
        memset(results, 0, rounds * sizeof *results);
        status = sf_parallel_for(p->threads, rounds, run_planting, &all);
        for (size_t i = 0; i < rounds; i++) {
            sum.found += plantings[k].spikes > 0 ? results[i].found : 0;
            sum.all += results[i].all;
            sum.seconds += results[i].seconds;
        }
        printf("%-56s %8.2f %8.2f %10.3f\n", plantings[k].name, sum.found / (double)rounds,
               sum.all / (double)rounds, sum.all > 0 ? sum.seconds / sum.all : 0);
        fflush(stdout);
    }
    sf_free(results);
    return status;
}

int main(int count, char **arguments)
{
    const char *part = count > 1 ? arguments[1] : "all";
    bool all = strcmp(part, "all") == 0;
    const plan p = {.rounds = count > 2 ? strtoul(arguments[2], NULL, 10) : 2000,
                    .threads = count > 3 ? (unsigned)strtoul(arguments[3], NULL, 10) : sf_thread_cores(),
                    .seed = count > 4 ? strtoull(arguments[4], NULL, 10) : 1};
    int status = SF_OK;
    if (all || strcmp(part, "tests") == 0) status = bench_tests(&p);
    if (status == SF_OK && (all || strcmp(part, "factors") == 0)) status = bench_factors(&p);
    if (status == SF_OK && (all || strcmp(part, "bursts") == 0)) status = bench_bursts(&p);
    if (status == SF_OK && (all || strcmp(part, "network") == 0)) status = bench_network(&p);
    return status == SF_OK ? 0 : 1;
}
