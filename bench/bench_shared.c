/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is tested and what is not: recordings in which units share sharp onsets or only a part of them shares
 * events, planted chains, and trains that are no Poisson trains. Prints how many recordings had no verdict,
 * the share of unlinked pairs with p < 0.05, how many recordings have a false q, in how many the group that
 * shares events lost its verdict, and how many of the chain's links kept theirs and were found. bench_shared
 * [SEEDS [SURROGATES [THREADS [FIRST [KIND]]]]], by default 20 1000 0 1 0: all cores, first seed 1, all
 * kinds.
 *
 * 24 units, 1,200 s, 2 to 6 Hz each, dead time 2 ms, delays (0.5,20] ms; hum (0.5,5]. Bursts come once in 10
 * s with 5 spikes of a unit. Onset: half of these uniform in the first 5 or 15 ms, half exponential with 150
 * ms. Locked: 12 of 30 units fire half a spike more 20 ms after each of some 600 stimuli, jittered by 5 ms. A
 * group: 8 of 30 units share the bursts, of sigma 15 ms. Chains: 5 ms from unit to unit, jittered by 2 ms, so
 * often that a link counts 1.4 or 4 times what chance gives. Regular: gamma trains of shape 5, 8 to 25 Hz.
 * Rhythms: 8 Hz, half of every rate, each unit with its own phase; hum: 50 Hz, a third of it, one phase. Own
 * bursts: 9 spikes of one unit, some 6 ms apart, 0.3 a second. Jitter: bursts of sigma 100 ms by the test of
 * that name.
 */
#include "core/clock.h"
#include "core/memory.h"
#include "core/random.h"
#include "core/text.h"
#include "mine/significance.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SECONDS 1200.0
#define MOST_UNITS 30u
#define DEAD_S 0.002
#define PI 3.14159265358979323846

typedef enum shape { POISSON, ONSET, LOCKED, GROUP, CHAIN, REGULAR, PHASES, HUM, OWN, BURSTS } shape;

typedef struct kind {
    const char *name;
    shape shape;
    uint32_t units, part; /* that share events or make the chain */
    double times;         /* what chance gives; s of an onset */
    sf_significance_kind test;
} kind;

static const kind kinds[] = {
    {"Poisson", POISSON, 24, 0, 0, SF_SIGNIFICANCE_SEGMENT_SHIFT},
    {"onset of 5 ms", ONSET, 24, 0, 0.005, SF_SIGNIFICANCE_SEGMENT_SHIFT},
    {"onset of 15 ms", ONSET, 24, 0, 0.015, SF_SIGNIFICANCE_SEGMENT_SHIFT},
    {"12 of 30 locked", LOCKED, 30, 12, 0, SF_SIGNIFICANCE_SEGMENT_SHIFT},
    {"8 of 30 in bursts", GROUP, 30, 8, 0, SF_SIGNIFICANCE_SEGMENT_SHIFT},
    {"chain of 3, 1.4 times", CHAIN, 24, 3, 1.4, SF_SIGNIFICANCE_SEGMENT_SHIFT},
    {"chain of 5, 1.4 times", CHAIN, 24, 5, 1.4, SF_SIGNIFICANCE_SEGMENT_SHIFT},
    {"chain of 8, 1.4 times", CHAIN, 24, 8, 1.4, SF_SIGNIFICANCE_SEGMENT_SHIFT},
    {"chain of 3, 4 times", CHAIN, 24, 3, 4, SF_SIGNIFICANCE_SEGMENT_SHIFT},
    {"chain of 5, 4 times", CHAIN, 24, 5, 4, SF_SIGNIFICANCE_SEGMENT_SHIFT},
    {"chain of 8, 4 times", CHAIN, 24, 8, 4, SF_SIGNIFICANCE_SEGMENT_SHIFT},
    {"regular units", REGULAR, 24, 0, 0, SF_SIGNIFICANCE_SEGMENT_SHIFT},
    {"8 Hz, own phases", PHASES, 24, 0, 0, SF_SIGNIFICANCE_SEGMENT_SHIFT},
    {"hum of 50 Hz, (0.5,5]", HUM, 24, 0, 0, SF_SIGNIFICANCE_SEGMENT_SHIFT},
    {"bursts of each its own", OWN, 24, 0, 0, SF_SIGNIFICANCE_SEGMENT_SHIFT},
    {"bursts of 100 ms", BURSTS, 24, 0, 0, SF_SIGNIFICANCE_SEGMENT_SHIFT},
    {"bursts of 100 ms, jitter", BURSTS, 24, 0, 0, SF_SIGNIFICANCE_JITTER},
};

#define KINDS (sizeof kinds / sizeof *kinds)

typedef struct plan {
    uint64_t seeds, surrogates, threads, first, only;
} plan;

/* A recording that is made. */
typedef struct recording {
    sf_random random;
    sf_spike *spikes;
    size_t count, capacity;
    bool failed;
} recording;

/* ---- trains ---- */

static double uniform(recording *r, double low, double high)
{
    return low + (high - low) * sf_random_uniform(&r->random);
}

static double normal(recording *r, double sigma)
{
    return sigma * sqrt(-2 * log(1 - uniform(r, 0, 1))) * cos(2 * PI * uniform(r, 0, 1));
}

static uint32_t poisson(recording *r, double mean)
{
    uint32_t n = 0;
    for (double at = 0; (at += sf_random_exponential(&r->random)) < mean;)
        n++;
    return n;
}

static void add(recording *r, uint32_t unit, double at_s)
{
    void *room = r->spikes;
    if (at_s < 0 || at_s >= SECONDS ||
        sf_reserve(&room, &r->capacity, r->count + 1, sizeof *r->spikes) != 0) {
        r->failed = r->failed || (at_s >= 0 && at_s < SECONDS);
        return;
    }
    r->spikes = room;
    r->spikes[r->count++] = (sf_spike){.time_ns = (int64_t)(at_s * 1e9), .unit = unit};
}

static double relative_rate(const kind *k, double at_s, double phase)
{
    return k->shape == PHASES ? 1 + 0.5 * cos(2 * PI * 8 * at_s + phase)
           : k->shape == HUM  ? 1 + cos(2 * PI * 50 * at_s) / 3
                              : 1;
}

static void add_train(recording *r, const kind *k, uint32_t unit)
{
    int order = k->shape == REGULAR ? 5 : 1;
    double hz = k->shape == REGULAR ? uniform(r, 8, 25)
                : k->shape == OWN   ? 2
                                    : uniform(r, 2, 6),
           most = k->shape == PHASES ? 1.5
                  : k->shape == HUM  ? 4.0 / 3
                                     : 1,
           phase = uniform(r, 0, 2 * PI);
    for (double at = 0; at < SECONDS;) {
        for (int i = 0; i < order; i++)
            at += sf_random_exponential(&r->random) / (hz * most * order);
        if (uniform(r, 0, most) < relative_rate(k, at, phase)) add(r, unit, at);
    }
}

/* ---- what they share ---- */

static void add_own_bursts(recording *r, uint32_t unit)
{
    for (double at = 0; (at += sf_random_exponential(&r->random) / 0.3) < SECONDS;) {
        double then = at;
        for (uint32_t n = 1 + poisson(r, 8); n > 0; n--)
            add(r, unit, then += 0.003 + 0.003 * sf_random_exponential(&r->random));
    }
}

/* How long after an event a spike comes. */
static double latency(recording *r, const kind *k)
{
    if (k->shape == ONSET)
        return uniform(r, 0, 1) < 0.5 ? uniform(r, 0, k->times) : 0.15 * sf_random_exponential(&r->random);
    if (k->shape == LOCKED) return 0.02 + normal(r, 0.005);
    return normal(r, k->shape == GROUP ? 0.015 : 0.1);
}

static void add_events(recording *r, const kind *k)
{
    bool locked = k->shape == LOCKED;
    for (double at = 0; (at += sf_random_exponential(&r->random) / (locked ? 0.5 : 0.1)) < SECONDS;)
        for (uint32_t u = 0; u < (k->part > 0 ? k->part : k->units); u++)
            for (uint32_t n = poisson(r, locked ? 0.5 : 5); n > 0; n--)
                add(r, u, at + latency(r, k));
}

static void add_chain(recording *r, const kind *k)
{
    double chance_hz = 4.0 * 4.0 * 0.0195;
    for (double at = 0; (at += sf_random_exponential(&r->random) / ((k->times - 1) * chance_hz)) < SECONDS;) {
        double then = at;
        for (uint32_t u = 0; u < k->part; u++) {
            add(r, u, then);
            then += 0.005 + normal(r, 0.002);
        }
    }
}

/* Spikes in order, without those within the dead time of a unit. */
static void settle(recording *r)
{
    int64_t last[MOST_UNITS];
    size_t kept = 0;
    r->failed = r->failed || sf_spikes_sort(r->spikes, r->count, NULL) != SF_OK;
    for (uint32_t u = 0; u < MOST_UNITS; u++)
        last[u] = INT64_MIN / 2;
    for (size_t i = 0; i < r->count; i++)
        if (r->spikes[i].time_ns - last[r->spikes[i].unit] >= (int64_t)(DEAD_S * 1e9)) {
            last[r->spikes[i].unit] = r->spikes[i].time_ns;
            r->spikes[kept++] = r->spikes[i];
        }
    r->count = kept;
}

static recording make(const kind *k, uint64_t seed)
{
    recording r = {.random = sf_random_start(seed, (uint64_t)(k - kinds) + 1)};
    for (uint32_t u = 0; u < k->units; u++) {
        add_train(&r, k, u);
        if (k->shape == OWN) add_own_bursts(&r, u);
    }
    if (k->shape == CHAIN)
        add_chain(&r, k);
    else if (k->shape == ONSET || k->shape == LOCKED || k->shape == GROUP || k->shape == BURSTS)
        add_events(&r, k);
    settle(&r);
    return r;
}

/* ---- what the test says ---- */

typedef struct tally {
    uint64_t without_verdict, unlinked, low, false_q, group_lost, group_false;
    uint64_t links, links_tested, links_found, cautions, good; /* recordings with 7 % or less, or refused */
    double sharpness, divisor;
} tally;

static void add_items(tally *sum, const kind *k, const sf_mine_result *result, const sf_significance *told)
{
    uint64_t unlinked = 0, low = 0, found = 0, group = 0, group_tested = 0, group_found = 0;
    for (size_t i = 0; i < result->count; i++) {
        const sf_mine_item *item = &result->items[i];
        sf_episode e;
        sf_mine_result_episode(result, i, &e);
        bool tested = item->not_tested == SF_TESTABLE, inside = e.units[0] < k->part && e.units[1] < k->part;
        if (inside && k->shape == CHAIN) {
            bool link = e.units[1] == e.units[0] + 1;
            sum->links += link;
            sum->links_tested += link && tested;
            sum->links_found += link && item->q < 0.05;
        } else if (inside) {
            group++;
            group_tested += tested;
            group_found += item->q < 0.05;
        } else if (tested) {
            unlinked++;
            low += item->p < 0.05;
            found += item->q < 0.05;
        }
    }
    sum->without_verdict += told->not_tested != SF_TESTABLE;
    sum->unlinked += unlinked;
    sum->low += low;
    sum->false_q += found > 0;
    sum->group_lost += group > 0 && group_tested * 10 <= group;
    sum->group_false += group_found > 0;
    sum->good += unlinked == 0 || (double)low <= 0.07 * (double)unlinked;
    sum->cautions += told->cautions != 0;
    sum->sharpness += told->sharpness.sharpness;
    sum->divisor += told->sharpness.divisor;
}

static int run_seed(tally *sum, const kind *k, const plan *p, uint64_t seed, sf_error *error)
{
    recording r = make(k, seed);
    sf_unit names[MOST_UNITS] = {{0}};
    for (uint32_t u = 0; u < k->units; u++)
        names[u] = (sf_unit){.name = "u", .x_um = NAN, .y_um = NAN, .electrode = -1};
    sf_units units = {.items = names, .count = k->units};
    const sf_delay delay = {SF_MILLISECOND / 2, (k->shape == HUM ? 5 : 20) * SF_MILLISECOND};
    sf_mine_input input = {
        .spikes = r.spikes, .spike_count = r.count, .units = &units, .duration_ns = (int64_t)(SECONDS * 1e9)};
    sf_mining_options mining;
    mining = sf_mining_options_default();
    mining.delays = &delay;
    mining.delay_count = 1;
    mining.max_size = 2;
    mining.threshold = 20;
    mining.device = "cpu";
    mining.threads = (unsigned)p->threads;
    sf_significance_options test = sf_significance_options_default();
    test.kind = k->test;
    test.surrogates = (uint32_t)p->surrogates;
    test.seed = seed;
    test.device = "cpu";
    test.threads = (unsigned)p->threads;
    sf_mine_result *result = NULL;
    sf_significance told;
    int status = r.failed ? SF_NO_MEMORY : sf_mine_spikes(&result, &input, &mining, NULL, error);
    if (status == SF_OK) status = sf_significance_test(&told, result, &input, &mining, &test, NULL, error);
    if (status == SF_OK) add_items(sum, k, result, &told);
    if (result != NULL) sf_mine_result_free(result);
    sf_free(r.spikes);
    return status;
}

/* ---- the table ---- */

static void print_row(const kind *k, const tally *sum, uint64_t seeds)
{
    printf("| %s | 1/%.3g | %.2f | %" PRIu64 " | ", k->name, sum->divisor / (double)seeds,
           sum->sharpness / (double)seeds, sum->without_verdict);
    if (sum->unlinked > 0) printf("%.2f %%", 100 * (double)sum->low / (double)sum->unlinked);
    printf(" | %" PRIu64 " | %" PRIu64 " | ", sum->good, sum->false_q);
    if (k->part > 0 && k->shape != CHAIN)
        printf("%" PRIu64 " (false q in %" PRIu64 ")", sum->group_lost, sum->group_false);
    printf(" | ");
    if (sum->links > 0)
        printf("%" PRIu64 " of %" PRIu64 ", found %" PRIu64, sum->links_tested, sum->links, sum->links_found);
    printf(" | %" PRIu64 " |\n", sum->cautions);
    fflush(stdout);
}

int main(int count, char **arguments)
{
    uint64_t numbers[] = {20, 1000, 0, 1, 0};
    for (int i = 1; i < count && i <= 5; i++)
        if (!sf_parse_uint(arguments[i], 1000000, &numbers[i - 1])) {
            fprintf(stderr, "expected [SEEDS [SURROGATES [THREADS [FIRST [KIND]]]]]\n");
            return 1;
        }
    const plan p = {numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]};
    sf_error error = {.text = ""};
    int status = SF_OK;
    printf("Of %" PRIu64
           " recordings each:\n\n| recording | taken off | sharpness | without a verdict | p < 0.05 | "
           "at most 7 %%, or none | with a false q | group without a verdict | links tested | cautions "
           "|\n|---|---|---|---|---|---|---|---|---|---|\n",
           p.seeds);
    for (size_t i = 0; i < KINDS && status == SF_OK; i++) {
        tally sum = {0};
        if (p.only != 0 && p.only != i + 1) continue;
        for (uint64_t seed = p.first; seed < p.first + p.seeds && status == SF_OK; seed++)
            status = run_seed(&sum, &kinds[i], &p, seed, &error);
        if (status == SF_OK) print_row(&kinds[i], &sum, p.seeds);
    }
    if (status != SF_OK) fprintf(stderr, "%s\n", error.text);
    return status == SF_OK ? 0 : 1;
}
