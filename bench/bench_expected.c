/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far is what is expected by rates (mine/expected.c) from the count of simulated trains that are
 * independent? Poisson trains, and trains with a dead time of 2 ms at the same rates; the expected count and
 * how much more or less was counted. Then random episodes: the largest deviations. Prints the tables of
 * docs/episodes.md.
 *
 *     bench_expected [COUNT [CASES [SEED [THREADS]]]]
 *
 * Simulates until chance should have completed COUNT occurrences (100,000) of each episode; CASES random ones
 * (150). The standard error of a deviation is at most 1 / sqrt(COUNT).
 */
#include "core/memory.h"
#include "core/random.h"
#include "core/recording.h"
#include "core/text.h"
#include "core/thread.h"
#include "mine/mine.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MS INT64_C(1000000)
#define MOST_SPIKES 1e7
#define DEAD_S 0.002

/* An episode of units 0, 1, ..., their rates, and what came of it. */
typedef struct trial {
    sf_episode episode;
    double rates_hz[SF_EPISODE_MAX_SIZE];
    double off, off_dead; /* (counted - expected) / expected, without and with a dead time; NaN: not tried */
} trial;

typedef struct trials {
    trial *items;
    size_t count;
    double wanted;
    uint64_t seed;
    bool dead;
} trials;

static size_t add_train(sf_spike *spikes, sf_random *random, uint32_t unit, double rate_hz, double dead_s,
                        double seconds)
{
    size_t count = 0;
    double wait_s = 1 / rate_hz - dead_s, t = 0;
    while ((t += dead_s + sf_random_exponential(random) * wait_s) < seconds)
        spikes[count++] = (sf_spike){.time_ns = sf_seconds_to_ns(t), .unit = unit};
    return count;
}

/* NaN where memory is out or the recording would be too long. */
static double deviation(const trials *all, size_t number, double dead_s)
{
    const trial *of = &all->items[number];
    uint32_t units = of->episode.size;
    double seconds = all->wanted / sf_expected_count(units, of->rates_hz, of->episode.delays, 1), total = 0;
    for (uint32_t u = 0; u < units; u++)
        total += of->rates_hz[u] * seconds;
    sf_spike *spikes = total < MOST_SPIKES ? sf_alloc((size_t)(total * 1.1) + 10000, sizeof *spikes) : NULL;
    if (spikes == NULL) return NAN;
    size_t count = 0;
    for (uint32_t u = 0; u < units; u++) {
        sf_random random = sf_random_start(all->seed, number * SF_EPISODE_MAX_SIZE + u);
        count += add_train(spikes + count, &random, u, of->rates_hz[u], dead_s, seconds);
    }
    sf_counter *counter = NULL;
    uint64_t counted = 0;
    bool done = sf_spikes_sort(spikes, count, NULL) == SF_OK &&
                sf_counter_open(&counter, spikes, count, units, &of->episode, 1, NULL, 1, NULL) == SF_OK &&
                sf_counter_count(counter, NULL, &counted, NULL) == SF_OK;
    sf_counter_close(counter);
    sf_free(spikes);
    return done ? (double)counted / all->wanted - 1 : NAN;
}

static int try_one(void *context, unsigned worker, size_t number)
{
    (void)worker;
    const trials *all = context;
    all->items[number].off = deviation(all, number, 0);
    all->items[number].off_dead = all->dead ? deviation(all, number, DEAD_S) : NAN;
    return SF_OK;
}

/* ---- episodes that look alike ---- */

static const sf_delay intervals[] = {{0, 5 * MS}, {MS / 2, 20 * MS}, {5 * MS, 10 * MS}, {0, 80 * MS}};
static const double rates[] = {0.5, 2, 5, 20, 50};

enum {
    INTERVALS = sizeof intervals / sizeof intervals[0],
    RATES = sizeof rates / sizeof rates[0],
    SIZES = 3
};

static trial alike(size_t number)
{
    sf_delay delay = intervals[number / RATES % INTERVALS];
    trial of = {.episode.size = (uint32_t)(number / RATES / INTERVALS) + 2};
    for (uint32_t u = 0; u < of.episode.size; u++) {
        of.episode.units[u] = u;
        of.rates_hz[u] = rates[number % RATES];
        if (u + 1 < of.episode.size) of.episode.delays[u] = delay;
    }
    return of;
}

static void print_cell(double off)
{
    if (isnan(off))
        printf(" |");
    else
        printf(" %+.1f %% |", 100 * off);
}

static void print_alike(const trials *all)
{
    printf("| units | delays ms |");
    for (size_t r = 0; r < RATES; r++)
        printf(" all at %g Hz | with a dead time |", rates[r]);
    printf("\n|---|---|");
    for (size_t r = 0; r < RATES; r++)
        printf("---|---|");
    for (size_t i = 0; i < all->count; i++) {
        const trial *of = &all->items[i];
        if (i % RATES == 0)
            printf("\n| %u | (%g,%g] |", of->episode.size, (double)of->episode.delays[0].low_ns / 1e6,
                   (double)of->episode.delays[0].high_ns / 1e6);
        print_cell(of->off);
        print_cell(of->off_dead);
    }
    printf("\n\n");
}

/* ---- random ones ---- */

static double between(sf_random *random, double low, double high)
{
    return low * exp(sf_random_uniform(random) * log(high / low));
}

static trial at_random(size_t number, uint64_t seed)
{
    sf_random random = sf_random_start(seed, UINT32_C(1) << 30 | (uint32_t)number);
    trial of = {.episode.size = 3 + (uint32_t)sf_random_below(&random, 3)};
    for (uint32_t u = 0; u < of.episode.size; u++) {
        of.episode.units[u] = u;
        of.rates_hz[u] = between(&random, 2, 80);
        int64_t low = (int64_t)sf_random_below(&random, 20) * MS;
        if (u + 1 < of.episode.size)
            of.episode.delays[u] = (sf_delay){low, low + (int64_t)between(&random, 3e6, 80e6)};
    }
    return of;
}

static double most_covered(const trial *of)
{
    double most = 0;
    for (uint32_t k = 0; k + 1 < of->episode.size; k++) {
        double width = (double)(of->episode.delays[k].high_ns - of->episode.delays[k].low_ns) * 1e-9;
        most = fmax(most, fmax(of->rates_hz[k], of->rates_hz[k + 1]) * width);
    }
    return most;
}

/* By how often a unit fires within the delay, of the unit and the link where that is most. */
static void print_random(const trials *all)
{
    static const double ends[] = {0, 0.3, 1, 3, INFINITY};
    printf("| most spikes in a delay | episodes | off by, mean | least | most |\n|---|---|---|---|---|\n");
    for (size_t b = 0; b + 1 < sizeof ends / sizeof ends[0]; b++) {
        double sum = 0, least = INFINITY, most = -INFINITY;
        size_t count = 0;
        for (size_t i = 0; i < all->count; i++) {
            double covered = most_covered(&all->items[i]), off = all->items[i].off;
            if (isnan(off) || covered < ends[b] || covered >= ends[b + 1]) continue;
            count++;
            sum += off;
            least = fmin(least, off);
            most = fmax(most, off);
        }
        if (count > 0)
            printf("| %g to %g | %zu | %+.2f %% | %+.2f %% | %+.2f %% |\n", ends[b], ends[b + 1], count,
                   100 * sum / (double)count, 100 * least, 100 * most);
    }
}

static int try_all(trials *all, size_t count, unsigned threads, bool random)
{
    all->count = count;
    all->dead = !random;
    all->items = sf_alloc(count, sizeof *all->items);
    if (all->items == NULL) return SF_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        all->items[i] = random ? at_random(i, all->seed) : alike(i);
    int status = sf_parallel_for(threads, count, try_one, all);
    if (status == SF_OK) (random ? print_random : print_alike)(all);
    sf_free(all->items);
    return status;
}

int main(int argc, char **argv)
{
    double wanted = argc > 1 ? atof(argv[1]) : 100000;
    size_t cases = argc > 2 ? strtoull(argv[2], NULL, 10) : 150;
    uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
    unsigned threads = argc > 4 ? (unsigned)strtoul(argv[4], NULL, 10) : sf_thread_cores();
    if (!(wanted >= 1)) {
        fprintf(stderr, "expected [COUNT [CASES [SEED [THREADS]]]]\n");
        return 64;
    }
    printf("Counted beside expected by rates, %g occurrences each: standard error %.2f %% at most. Dead time "
           "%g ms\n\n",
           wanted, 100 / sqrt(wanted), DEAD_S * 1e3);
    trials all = {.wanted = wanted, .seed = seed};
    int status = try_all(&all, (size_t)SIZES * INTERVALS * RATES, threads, false);
    if (status == SF_OK && cases > 0) status = try_all(&all, cases, threads, true);
    return status == SF_OK ? 0 : 1;
}
