/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is what `sequences` says calibrated, and what does it find? bench_sequences [PART [ROUNDS [BURSTS
 * [SEED [ORDER [KIND]]]]]], by default `all`, 100 recordings of each kind, 60 bursts, 1, first-last, and all
 * kinds; else the KINDth alone, with the seeds that it has among all.
 *
 * `null`     recordings without a sequence: the share with p of 0.05 or less, the share of backbone units
 *            whose p is 0.05 or less, and recordings in which a unit is told to be of a sequence
 * `planted`  eight of forty units fire in order, 6 ms after each other with a jitter of 3 ms, in 70 % of the
 *            bursts: recall, precision, and pairs in the right order among those found
 * `cost`     seconds of a recording of so many units and bursts
 *
 * A burst is a common time course, which rises within 5 ms and falls for about 300 ms, in which each unit
 * fires at its own rate; rates are log-normal, a factor e^0.8 around the mean.
 */
#include "analysis/sequences.h"
#include "core/clock.h"
#include "core/memory.h"
#include "core/random.h"
#include "core/recording.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMBERS 8
#define LEVEL 0.05
#define MOST_EVENTS 4000 /* of a unit in a burst */

typedef enum trains { POISSON, REGULAR, CLUMPS } trains;

typedef struct design {
    const char *name;
    trains trains;
    double spread;   /* of log rates */
    double spikes;   /* of a unit with the median rate in a burst */
    double tonic_hz; /* of all units, outside of bursts, too */
    size_t tonic;    /* units that fire as fast within bursts as outside, 10 Hz */
    size_t members;  /* that fire in order, or in any */
    bool shuffled;   /* in an order drawn anew for each burst */
    double volley;   /* share of each unit's spikes that come within 5 ms of the start */
    double begin_ms; /* the sequence begins up to so late */
    bool silent;     /* members fire nothing else in the bursts */
    size_t units;
} design;

static const design nulls[] = {
    {"equal rates", POISSON, 0, 3, 0.1, 0, 0, false, 0, 0, false, 40},
    {"rates apart by e^0.8", POISSON, 0.8, 3, 0.1, 0, 0, false, 0, 0, false, 40},
    {"rates apart by e^1.5", POISSON, 1.5, 3, 0.1, 0, 0, false, 0, 0, false, 40},
    {"regular trains, e^0.8", REGULAR, 0.8, 3, 0.1, 0, 0, false, 0, 0, false, 40},
    {"clumps of four spikes, e^0.8", CLUMPS, 0.8, 6, 0.1, 0, 0, false, 0, 0, false, 40},
    {"half of the spikes in a volley, e^0.8", POISSON, 0.8, 3, 0.1, 0, 0, false, 0.5, 0, false, 40},
    {"eight units, e^0.8", POISSON, 0.8, 3, 0.1, 0, 0, false, 0, 0, false, 8},
    {"eight in random order", POISSON, 0.8, 1, 0.1, 0, MEMBERS, true, 0, 0, false, 40},
    {"eight units alone in random order", POISSON, 0.8, 3, 0.1, 0, MEMBERS, true, 0, 0, false, 8},
    {"background of 1 Hz of every unit", POISSON, 0.8, 3, 1, 0, 0, false, 0, 0, false, 40},
    {"five units that know no bursts", POISSON, 0.8, 3, 0.1, 5, 0, false, 0, 0, false, 40},
};

static const design planted[] = {
    {"0.5 other spikes a burst", POISSON, 0.8, 0.5, 0.1, 0, MEMBERS, false, 0, 0, false, 40},
    {"1 other spike", POISSON, 0.8, 1, 0.1, 0, MEMBERS, false, 0, 0, false, 40},
    {"2 other spikes", POISSON, 0.8, 2, 0.1, 0, MEMBERS, false, 0, 0, false, 40},
    {"4 other spikes", POISSON, 0.8, 4, 0.1, 0, MEMBERS, false, 0, 0, false, 40},
    {"2 other spikes, members none", POISSON, 0.8, 2, 0.1, 0, MEMBERS, false, 0, 0, true, 40},
    {"2, members none, up to 100 ms late", POISSON, 0.8, 2, 0.1, 0, MEMBERS, false, 0, 100, true, 40},
    {"1 other spike, up to 50 ms late", POISSON, 0.8, 1, 0.1, 0, MEMBERS, false, 0, 50, false, 40},
    {"regular trains, 2 other spikes", REGULAR, 0.8, 2, 0.1, 0, MEMBERS, false, 0, 0, false, 40},
    {"eight units alone, 3 other spikes", POISSON, 0.8, 3, 0.1, 0, MEMBERS, false, 0, 0, false, 8},
};

/* ---- recordings ---- */

typedef struct made {
    sf_recording recording;
    size_t capacity;
    const design *d;
    double *spikes; /* of each unit in a burst, mean */
    sf_random random;
} made;

static void put(made *m, double at_s, uint32_t unit)
{
    if (at_s < 0 || sf_reserve(&m->recording.spikes, &m->capacity, m->recording.spike_count + 1,
                               sizeof *m->recording.spikes) != 0)
        return;
    m->recording.spikes[m->recording.spike_count++] =
        (sf_spike){.time_ns = (int64_t)(at_s * 1e9), .unit = unit};
}

static double gamma_of_8(sf_random *random)
{
    double sum = 0;
    for (int i = 0; i < 8; i++)
        sum += sf_random_exponential(random);
    return sum / 8;
}

/* Places of a unit's events on [0, 1), on which each unit's rate is constant. */
static size_t draw_events(made *m, double *events, double mean)
{
    size_t count = 0;
    double now = 0, clump = m->d->trains == CLUMPS ? 4 : 1;
    if (m->d->trains == REGULAR)
        now = -sf_random_uniform(&m->random) * 8 / mean; /* begins long before: in equilibrium */
    while (now < 1 && count + 4 < MOST_EVENTS) {
        now += (m->d->trains == REGULAR ? gamma_of_8(&m->random) : sf_random_exponential(&m->random)) *
               clump / mean;
        for (int i = 0; i < (int)clump && now >= 0; i++)
            if (now + 0.01 * i < 1) events[count++] = now + 0.01 * i;
    }
    return count;
}

/* A rise of 5 ms and a fall by e every third of the length. */
static double time_course(double place, double volley, double length_s)
{
    if (place < volley) return 0.005 * place / volley;
    double rest = (place - volley) / (1 - volley);
    return 0.005 * (rest < 0.05 ? sqrt(rest / 0.05) : 1) - log(1 - rest * (1 - exp(-3.0))) / 3 * length_s;
}

static void put_sequence(made *m, double start_s)
{
    uint32_t order[MEMBERS];
    double late_s = sf_random_uniform(&m->random) * m->d->begin_ms * 1e-3;
    for (uint32_t i = 0; i < MEMBERS; i++)
        order[i] = i;
    for (uint32_t i = MEMBERS; m->d->shuffled && i > 1; i--) {
        uint64_t other = sf_random_below(&m->random, i);
        uint32_t one = order[i - 1];
        order[i - 1] = order[other];
        order[other] = one;
    }
    for (size_t i = 0; i < m->d->members; i++)
        if (sf_random_uniform(&m->random) >= 0.3)
            put(m, start_s + 0.005 + late_s + 0.006 * (double)i + 0.003 * sf_random_normal(&m->random),
                order[i]);
}

static void put_burst(made *m, double start_s)
{
    double events[MOST_EVENTS], length_s = 0.3 * exp(0.2 * sf_random_normal(&m->random));
    double strength = exp(0.3 * sf_random_normal(&m->random));
    for (uint32_t u = 0; u < m->d->units; u++) {
        bool takes_part = u >= m->d->tonic && !(m->d->silent && u < m->d->members);
        size_t count = takes_part ? draw_events(m, events, m->spikes[u] * strength) : 0;
        for (size_t i = 0; i < count; i++)
            put(m, start_s + time_course(events[i], m->d->volley, length_s), u);
    }
    put_sequence(m, start_s);
}

static int make(made *m, const design *d, size_t bursts, uint64_t seed, uint64_t stream)
{
    *m = (made){.d = d, .random = sf_random_start(seed, stream)};
    double seconds = 6 * (double)bursts + 6;
    m->recording.recorded = (sf_span){0, (int64_t)(seconds * 1e9)};
    m->recording.declared = true;
    m->recording.units.count = d->units;
    m->recording.units.items = sf_alloc(d->units, sizeof *m->recording.units.items);
    m->spikes = sf_alloc(d->units, sizeof *m->spikes);
    if (m->recording.units.items == NULL || m->spikes == NULL) return SF_NO_MEMORY;
    for (uint32_t u = 0; u < d->units; u++) {
        m->spikes[u] = d->spikes * exp(d->spread * sf_random_normal(&m->random));
        double rate_hz = u < d->tonic ? 10 : d->tonic_hz;
        for (double now = 0; now < seconds;) {
            now += sf_random_exponential(&m->random) / rate_hz;
            put(m, now < seconds ? now : -1, u);
        }
    }
    for (size_t b = 0; b < bursts; b++)
        put_burst(m, 6 * (double)b + 4 + sf_random_uniform(&m->random) * 2);
    return sf_spikes_sort(m->recording.spikes, m->recording.spike_count, NULL);
}

static void unmake(made *m)
{
    sf_free(m->recording.spikes);
    sf_free(m->recording.units.items);
    sf_free(m->spikes);
}

static sf_sequence_order order_by;
static size_t only_kind; /* 0: all */

static bool is_wanted(size_t kind)
{
    return only_kind == 0 || only_kind == kind + 1;
}

static int look(sf_sequences *found, size_t *bursts, const made *m)
{
    const sf_network_rule rule = SF_NETWORK_RULE;
    sf_sequence_options options = SF_SEQUENCE_OPTIONS;
    options.order_by = order_by;
    sf_bursts network = {0};
    sf_error error;
    int status = sf_bursts_find(&network, &m->recording, &rule, &error);
    if (status == SF_OK) status = sf_sequences_find(found, &m->recording, &network, &options, &error);
    *bursts = network.count;
    sf_bursts_free(&network);
    return status;
}

/* ---- the parts ---- */

typedef struct tally {
    size_t recordings, low, false_members, units, low_units, bursts;
    double similarity, placed, most_placed, recall, precision, found, order, pairs;
} tally;

static void add(tally *t, const sf_sequences *s, const design *d)
{
    size_t right = 0, backbone = 0;
    t->recordings++;
    t->low += s->p <= LEVEL;
    t->similarity += isnan(s->mean_similarity) ? 0 : s->mean_similarity;
    double placed = isnan(s->placed_similarity) ? 0 : s->placed_similarity;
    t->placed += placed;
    t->most_placed =
        fmax(t->most_placed, s->placed >= SF_SEQUENCE_LEAST && s->placed_p <= LEVEL ? placed : 0);
    t->false_members += s->members > 0;
    for (size_t u = 0; u < s->unit_count; u++) {
        const sf_sequence_unit *one = &s->units[u];
        backbone += one->backbone;
        t->low_units += one->place.p <= LEVEL;
        right += one->member && u < d->members;
        for (size_t v = u + 1; v < d->members && one->member; v++) {
            t->pairs += s->units[v].member;
            t->order += s->units[v].member && one->order < s->units[v].order;
        }
    }
    t->units += backbone;
    t->recall += (double)right / MEMBERS;
    t->found += (double)s->members;
    t->precision += (double)right;
}

static int of_design(tally *t, const design *d, size_t rounds, size_t bursts, uint64_t seed)
{
    int status = SF_OK;
    *t = (tally){0};
    for (size_t i = 0; i < rounds && status == SF_OK; i++) {
        made m;
        sf_sequences found = {0};
        size_t count = 0;
        status = make(&m, d, bursts, seed, i);
        if (status == SF_OK) status = look(&found, &count, &m);
        if (status == SF_OK) add(t, &found, d);
        t->bursts += count;
        sf_sequences_free(&found);
        unmake(&m);
    }
    return status;
}

static int bench_nulls(size_t rounds, size_t bursts, uint64_t seed)
{
    printf("%-40s %8s %10s %8s %12s %8s %8s %10s\n", "no sequence", "bursts", "similarity", "p low",
           "unit p low", "placed", "most", "sequences");
    for (size_t k = 0; k < sizeof nulls / sizeof *nulls; k++) {
        tally t;
        if (!is_wanted(k)) continue;
        int status = of_design(&t, &nulls[k], rounds, bursts, seed + k);
        if (status != SF_OK) return status;
        double all = (double)t.recordings;
        printf("%-40s %8.1f %10.3f %8.2f %12.3f %8.3f %8.3f %10.2f\n", nulls[k].name, (double)t.bursts / all,
               t.similarity / all, (double)t.low / all, (double)t.low_units / (double)t.units, t.placed / all,
               t.most_placed, (double)t.false_members / all);
        fflush(stdout);
    }
    return SF_OK;
}

static int bench_planted(size_t rounds, size_t bursts, uint64_t seed)
{
    printf("%-40s %8s %10s %8s %8s %8s %10s %8s\n", "eight in order", "bursts", "similarity", "p low",
           "placed", "recall", "precision", "order");
    for (size_t k = 0; k < sizeof planted / sizeof *planted; k++) {
        tally t;
        if (!is_wanted(k)) continue;
        int status = of_design(&t, &planted[k], rounds, bursts, seed + 100 + k);
        if (status != SF_OK) return status;
        double all = (double)t.recordings;
        printf("%-40s %8.1f %10.3f %8.2f %8.3f %8.2f %10.3f %8.3f\n", planted[k].name, (double)t.bursts / all,
               t.similarity / all, (double)t.low / all, t.placed / all, t.recall / all, t.precision / t.found,
               t.order / t.pairs);
        fflush(stdout);
    }
    return SF_OK;
}

static int bench_cost(uint64_t seed)
{
    static const size_t units[] = {40, 200, 1000}, bursts[] = {60, 300, 300};
    for (size_t k = 0; k < 3; k++) {
        design d = planted[2];
        made m;
        sf_sequences found = {0};
        size_t count;
        d.units = units[k];
        int status = make(&m, &d, bursts[k], seed, 0);
        int64_t began_ns = sf_clock_monotonic_ns();
        if (status == SF_OK) status = look(&found, &count, &m);
        if (status != SF_OK) return status;
        printf("{\"units\":%zu,\"bursts\":%zu,\"spikes\":%zu,\"seconds\":%.3g}\n", units[k], count,
               m.recording.spike_count, (double)(sf_clock_monotonic_ns() - began_ns) * 1e-9);
        sf_sequences_free(&found);
        unmake(&m);
    }
    return SF_OK;
}

int main(int argc, char **argv)
{
    const char *part = argc > 1 ? argv[1] : "all";
    size_t rounds = argc > 2 ? (size_t)atol(argv[2]) : 100, bursts = argc > 3 ? (size_t)atol(argv[3]) : 60;
    uint64_t seed = argc > 4 ? (uint64_t)atoll(argv[4]) : 1;
    bool all = strcmp(part, "all") == 0;
    for (int i = 0; argc > 5 && sf_sequence_order_names[i] != NULL; i++)
        if (strcmp(argv[5], sf_sequence_order_names[i]) == 0) order_by = (sf_sequence_order)i;
    only_kind = argc > 6 ? (size_t)atol(argv[6]) : 0;
    int status = SF_OK;
    if (all || strcmp(part, "null") == 0) status = bench_nulls(rounds, bursts, seed);
    if (status == SF_OK && (all || strcmp(part, "planted") == 0))
        status = bench_planted(rounds, bursts, seed);
    if (status == SF_OK && (all || strcmp(part, "cost") == 0)) status = bench_cost(seed);
    return status == SF_OK ? 0 : 1;
}
