/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Are the p and q of `responses` calibrated, and what do they find? bench_responses [ROUNDS [THREADS
 * [SEED]]], by default 500 rounds, all cores, 1.
 *
 * A round is 20 units of one kind, one trial a second on average, at random or regular times, by the default
 * options with a response window of 100 ms. Without responses: the share of units with p of 0.05 and of 0.005
 * or less, and of recordings with any q of 0.05 or less. With a response of 0.2 spikes a trial of half of the
 * units (Poisson, 5 Hz): the share of these found by q. `seconds`: 1,000 units at 5 Hz and 1,000 trials.
 */
#include "analysis/responses.h"
#include "core/clock.h"
#include "core/memory.h"
#include "core/random.h"
#include "core/recording.h"
#include "core/thread.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNITS 20
#define LEVEL 0.05
#define LOW_LEVEL 0.005
#define LEAD_S 2.0 /* before the first trial and after the last */

typedef struct list {
    sf_spike *items;
    size_t count, capacity;
    int64_t stop_ns;
} list;

static void add(list *to, uint32_t unit, double time_s)
{
    if (time_s < 0 || time_s * 1e9 >= (double)to->stop_ns) return;
    if (sf_reserve(&to->items, &to->capacity, to->count + 1, sizeof *to->items) != 0) exit(1);
    to->items[to->count++] = (sf_spike){.time_ns = (int64_t)(time_s * 1e9), .unit = unit};
}

static double end_of(const list *of)
{
    return (double)of->stop_ns * 1e-9;
}

static uint64_t poisson(sf_random *random, double mean)
{
    uint64_t count = 0;
    for (double left = mean; (left -= sf_random_exponential(random)) > 0;)
        count++;
    return count;
}

/* ---- kinds of units ---- */

static void fire(list *to, uint32_t unit, double hz, sf_random *random)
{
    for (double t = 0; (t += sf_random_exponential(random) / hz) < end_of(to);)
        add(to, unit, t);
}

/* Bursts begin at random and fall off. */
static void burst(list *to, uint32_t unit, double hz, double spikes, double decay_s, sf_random *random)
{
    fire(to, unit, 0.5, random);
    for (double t = 0; (t += sf_random_exponential(random) / hz) < end_of(to);)
        for (uint64_t n = poisson(random, spikes); n > 0; n--)
            add(to, unit, t + decay_s * sf_random_exponential(random));
}

/* Volleys of five in 20 ms, at intervals with this coefficient of variation. */
static void beat(list *to, uint32_t unit, double hz, double cv, sf_random *random)
{
    for (double t = sf_random_uniform(random) / hz; t < end_of(to);
         t += fmax(0, 1 + cv * sf_random_normal(random)) / hz)
        for (uint64_t n = poisson(random, 5); n > 0; n--)
            add(to, unit, t + 0.02 * sf_random_exponential(random));
}

/* From 0 to 20 Hz. */
static void drift(list *to, uint32_t unit, sf_random *random)
{
    for (double t = 0; (t += sf_random_exponential(random) / 20) < end_of(to);)
        if (sf_random_uniform(random) < t / end_of(to)) add(to, unit, t);
}

typedef enum kind {
    POISSON,
    SLOW,
    SHORT_BURSTS,
    LONG_BURSTS,
    SHARED_BURSTS,
    RHYTHM,
    NEAR_RHYTHM,
    DRIFT,
    KINDS
} kind;

static const char *const names[KINDS] = {"Poisson, 5 Hz",
                                         "Poisson, 0.5 Hz",
                                         "bursts, 20 spikes in 100 ms",
                                         "bursts, 100 spikes in 500 ms",
                                         "bursts of all units, 20 in 100 ms",
                                         "rhythm, 3.1 Hz, CV 0.2",
                                         "rhythm, 1.03 Hz, CV 0.1",
                                         "drift, 0 to 20 Hz"};

static void make_unit(list *to, uint32_t unit, kind of, sf_random *random)
{
    switch (of) {
    case POISSON:
        fire(to, unit, 5, random);
        break;
    case SLOW:
        fire(to, unit, 0.5, random);
        break;
    case SHORT_BURSTS:
        burst(to, unit, 0.2, 20, 0.1, random);
        break;
    case LONG_BURSTS:
        burst(to, unit, 0.05, 100, 0.5, random);
        break;
    case SHARED_BURSTS: { /* the same seed gives all units the same bursts */
        sf_random shared = sf_random_start(random->seed, random->stream ^ 1);
        fire(to, unit, 0.5, random);
        for (double t = 0; (t += sf_random_exponential(&shared) / 0.2) < end_of(to);)
            for (uint64_t n = poisson(random, 20); n > 0; n--)
                add(to, unit, t + 0.1 * sf_random_exponential(random));
        break;
    }
    case RHYTHM:
        beat(to, unit, 3.1, 0.2, random);
        break;
    case NEAR_RHYTHM:
        beat(to, unit, 1.03, 0.1, random);
        break;
    default:
        drift(to, unit, random);
    }
}

/* ---- a recording ---- */

static int by_number(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void make_markers(sf_marker *markers, size_t count, bool regular, sf_random *random)
{
    double *times = sf_alloc(count, sizeof *times);
    if (times == NULL) exit(1);
    for (size_t k = 0; k < count; k++)
        times[k] = LEAD_S + (regular ? (double)k : (double)count * sf_random_uniform(random));
    qsort(times, count, sizeof *times, by_number);
    for (size_t k = 0; k < count; k++)
        markers[k] =
            (sf_marker){.time_ns = (int64_t)(times[k] * 1e9), .kind = SF_MARKER_TTL, .state = 1, .line = 0};
    sf_free(times);
}

/* A spike 20 ms after the marker, give or take 5, in this share of the trials. */
static void respond(list *to, uint32_t unit, const sf_marker *markers, size_t count, double share,
                    sf_random *random)
{
    for (size_t k = 0; k < count; k++)
        if (sf_random_uniform(random) < share)
            add(to, unit, (double)markers[k].time_ns * 1e-9 + 0.02 + 0.005 * sf_random_normal(random));
}

typedef struct design {
    kind of;
    size_t trials;
    bool regular;
    double share; /* of trials with a response, of every other unit */
    uint64_t baseline;
} design;

typedef struct found {
    double low, lower, any; /* units with p <= 0.05, <= 0.005; whether any has q <= 0.05 */
    double found, false_q;  /* of units that respond, of others: with q <= 0.05 */
} found;

typedef struct bench {
    const design *design;
    uint64_t seed;
    found *rounds;
} bench;

static int look(found *to, const sf_recording *recording, const design *d, uint64_t seed)
{
    sf_response_options options = SF_RESPONSE_OPTIONS;
    sf_responses responses;
    sf_error error;
    options.marker = "ttl0";
    options.baseline = d->baseline;
    options.seed = seed;
    int status = sf_responses_open(&responses, recording, &options, &error);
    if (status == SF_OK) status = sf_responses_take_units(&responses, recording, 1, &error);
    if (status != SF_OK) fprintf(stderr, "bench_responses: %s\n", error.text);
    for (size_t u = 0; status == SF_OK && u < UNITS; u++) {
        const sf_response *item = &responses.items[u];
        bool stands = item->q <= LEVEL, responds = d->share > 0 && u % 2 == 0;
        to->low += item->p <= LEVEL;
        to->lower += item->p <= LOW_LEVEL;
        to->any = to->any > 0 || stands;
        to->found += stands && responds;
        to->false_q = to->false_q > 0 || (stands && !responds);
    }
    sf_responses_free(&responses);
    return status;
}

static int run_round(void *context, unsigned worker, size_t round)
{
    (void)worker;
    const bench *b = context;
    const design *d = b->design;
    list spikes = {.stop_ns = (int64_t)(((double)d->trials + 2 * LEAD_S) * 1e9)};
    sf_marker *markers = sf_alloc(d->trials, sizeof *markers);
    sf_random random = sf_random_start(b->seed, round * 1024);
    sf_recording_input input = sf_recording_input_default();
    const sf_span recorded = {0, spikes.stop_ns};
    sf_recording *recording = NULL;
    sf_error error;
    if (markers == NULL) return SF_NO_MEMORY;
    make_markers(markers, d->trials, d->regular, &random);
    for (uint32_t u = 0; u < UNITS; u++) {
        make_unit(&spikes, u, d->of, &random);
        if (u % 2 == 0) respond(&spikes, u, markers, d->trials, d->share, &random);
    }
    input.unit_count = UNITS;
    input.spikes = spikes.items;
    input.spike_count = spikes.count;
    input.markers = markers;
    input.marker_count = d->trials;
    input.recorded = &recorded;
    int status = sf_recording_new(&recording, &input, &error);
    if (status == SF_OK) status = look(&b->rounds[round], recording, d, round + 1);
    sf_recording_free(recording);
    sf_free(spikes.items);
    sf_free(markers);
    return status;
}

static int bench_design(const design *d, size_t rounds, unsigned threads, uint64_t seed)
{
    bench b = {d, seed * 100000, sf_alloc(rounds, sizeof *b.rounds)};
    found sum = {0};
    int status = b.rounds == NULL ? SF_NO_MEMORY : sf_parallel_for(threads, rounds, run_round, &b);
    for (size_t r = 0; status == SF_OK && r < rounds; r++) {
        sum.low += b.rounds[r].low;
        sum.lower += b.rounds[r].lower;
        sum.any += b.rounds[r].any;
        sum.found += b.rounds[r].found;
        sum.false_q += b.rounds[r].false_q;
    }
    double units = UNITS * (double)rounds;
    printf("%-34s %6zu %-8s %4g", names[d->of], d->trials, d->regular ? "regular" : "random",
           (double)d->baseline);
    if (d->share > 0)
        printf(" %8s %8s %8.3f %8.3f\n", "", "", sum.false_q / (double)rounds, sum.found / (units / 2));
    else
        printf(" %8.3f %8.4f %8.3f\n", sum.low / units, sum.lower / units, sum.any / (double)rounds);
    fflush(stdout);
    sf_free(b.rounds);
    return status;
}

/* What a large recording takes. */
static int bench_seconds(void)
{
    enum { LARGE_UNITS = 1000, LARGE_TRIALS = 1000 };
    list spikes = {.stop_ns = (int64_t)((LARGE_TRIALS + 2 * LEAD_S) * 1e9)};
    sf_marker *markers = sf_alloc(LARGE_TRIALS, sizeof *markers);
    sf_random random = sf_random_start(7, 7);
    sf_recording_input input = sf_recording_input_default();
    sf_recording *recording = NULL;
    sf_response_options options = SF_RESPONSE_OPTIONS;
    sf_responses responses = {0};
    if (markers == NULL) return SF_NO_MEMORY;
    make_markers(markers, LARGE_TRIALS, true, &random);
    for (uint32_t u = 0; u < LARGE_UNITS; u++)
        fire(&spikes, u, 5, &random);
    input.unit_count = LARGE_UNITS;
    input.spikes = spikes.items;
    input.spike_count = spikes.count;
    input.markers = markers;
    input.marker_count = LARGE_TRIALS;
    int status = sf_recording_new(&recording, &input, NULL);
    options.marker = "ttl0";
    int64_t began_ns = sf_clock_monotonic_ns();
    if (status == SF_OK) status = sf_responses_open(&responses, recording, &options, NULL);
    if (status == SF_OK) status = sf_responses_take_units(&responses, recording, 0, NULL);
    printf("%d units, %d trials, %zu spikes: %.2f s on %u cores\n", LARGE_UNITS, LARGE_TRIALS, spikes.count,
           (double)(sf_clock_monotonic_ns() - began_ns) * 1e-9, sf_thread_cores());
    sf_responses_free(&responses);
    sf_recording_free(recording);
    sf_free(spikes.items);
    sf_free(markers);
    return status;
}

int main(int argc, char **argv)
{
    size_t rounds = argc > 1 ? (size_t)atol(argv[1]) : 500;
    unsigned threads = argc > 2 && atoi(argv[2]) > 0 ? (unsigned)atoi(argv[2]) : sf_thread_cores();
    uint64_t seed = argc > 3 ? (uint64_t)atoll(argv[3]) : 1;
    static const size_t trials[] = {20, 100, 300};
    int status = SF_OK;
    printf("%-34s %6s %-8s %4s %8s %8s %8s %8s\n", "units", "trials", "markers", "base", "p<=0.05",
           "p<=0.005", "any q", "found");
    for (int k = 0; k < KINDS && status == SF_OK; k++)
        for (size_t t = 0; t < 3 && status == SF_OK; t++)
            for (int regular = 0; regular < 2 && status == SF_OK; regular++)
                status = bench_design(&(design){(kind)k, trials[t], regular, 0, 3}, rounds, threads, seed);
    for (uint64_t baseline = 1; baseline <= 3; baseline += 2)
        for (size_t t = 0; t < 3 && status == SF_OK; t++)
            status = bench_design(&(design){POISSON, trials[t], true, 0.2, baseline}, rounds, threads, seed);
    return status == SF_OK ? bench_seconds() != SF_OK : 1;
}
