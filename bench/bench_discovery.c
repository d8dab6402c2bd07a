/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_discovery [SPIKES_PER_SECOND WINDOW_SECONDS EVERY_SECONDS THREADS [DEVICE]]
 *
 * What a discovery costs that mines its window anew, one that follows the pairs of the window before, and one
 * that is given the pairs that hops of 100 ms have counted; on the CPU (with 0 threads it is left out) and on
 * a device: 4,096 units that fire at random, and a hundred chains of four units among them; (0,5] ms, with a
 * million spikes a second (0,1] ms, to size 4, six standard deviations above chance. `shown` is what the
 * window's thread does, `begun` the discovery that first counts the pairs to follow; `a hop` is what counting
 * all pairs takes in a hop with a full window, on the device if there is one. Every window's episodes are
 * held together.
 */
#include "core/backend/find.h"
#include "core/clock.h"
#include "core/episode.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/reals.h"
#include "pipeline/discovery.h"

#include <Random123/philox.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNITS 4096
#define CHAINS 100
#define CHAIN_SIZE 4
#define HOP_S 0.1
#define MOST_TIMES 100

typedef struct job {
    uint32_t rate; /* spikes a second, of all units */
    double window_s, every_s;
    uint32_t threads; /* of the CPU; 0: it is left out */
    size_t windows;   /* after the first */
    sf_device *device;
} job;

/* In milliseconds. */
typedef struct times {
    double ms[MOST_TIMES];
    size_t count;
} times;

typedef enum way { ANEW, FOLLOWED, GIVEN, WAYS } way;

/* One that mines all windows in one way, on the CPU or on the device. */
typedef struct miner {
    way way;
    bool there;
    sf_discovery discovery;
    times mined, shown;
    double begun;
} miner;

typedef struct bench {
    const job *job;
    sf_live_options config;
    sf_units units;
    sf_history history; /* all spikes */
    uint64_t *unit_spikes;
    sf_resident *resident;
    sf_pairing pairs; /* of hops */
    double paired_s;  /* up to here */
    times hops;
    miner miners[2 * WAYS];
    size_t miner_count;
    sf_episode *expected;
    size_t expected_count, longer;
} bench;

static uint32_t draw(uint32_t index, uint32_t what)
{
    philox4x32_ctr_t counter = {{index, what, 0, 0}};
    philox4x32_key_t key = {{3, 0}};
    return philox4x32(counter, key).v[0];
}

static int compare_spikes(const void *a, const void *b)
{
    const sf_spike *left = a, *right = b;
    if (left->time_ns != right->time_ns) return left->time_ns < right->time_ns ? -1 : 1;
    return left->unit < right->unit ? -1 : left->unit > right->unit;
}

/* Where units fire so often that all follow all within 5 ms, it is 1. */
static int64_t delay_ms(const job *j)
{
    return j->rate > 500000 ? 1 : 5;
}

/* Of two units that fire at random, in a window. */
static double expected_of(const job *j)
{
    const double rates[] = {(double)j->rate / UNITS, (double)j->rate / UNITS};
    const sf_delay delay = {0, delay_ms(j) * SF_MILLISECOND};
    return sf_expected_count(2, rates, &delay, j->window_s);
}

static double threshold_of(const job *j)
{
    double expected = expected_of(j);
    return ceil(expected + 6 * sqrt(expected));
}

/* Each chain, in a window: as often as the threshold is, but not so often that all of their units follow all.
 */
static double fires_of(const job *j)
{
    return delay_ms(j) == 1 ? 8 * sqrt(expected_of(j)) : threshold_of(j);
}

/* Chains c, CHAINS + c, 2 CHAINS + c, ...: each unit is in one at most. */
static size_t make_chained(const job *j, sf_spike *spikes, size_t fires, double seconds)
{
    size_t count = 0;
    for (size_t i = 0; i < fires; i++)
        for (uint32_t n = 0; n < CHAIN_SIZE; n++)
            spikes[count++] =
                (sf_spike){.time_ns = (int64_t)(draw((uint32_t)i, 2) * 0x1p-32 * seconds * 1e9) +
                                      n * delay_ms(j) * (2 * SF_MILLISECOND / 5),
                           .unit = (uint32_t)(i % CHAINS) + n * CHAINS};
    qsort(spikes, count, sizeof *spikes, compare_spikes);
    return count;
}

/* Those at random come in order, and those of chains are merged with them. */
static int make_spikes(sf_history *history, const job *j, sf_error *error)
{
    double seconds = j->window_s + j->every_s * (double)j->windows;
    size_t at_random = (size_t)(seconds * j->rate), next = 0, chained_count = 0,
           fires = (size_t)(seconds / j->window_s * fires_of(j)) * CHAINS;
    sf_spike *chained = sf_resize(NULL, fires * CHAIN_SIZE, sizeof *chained);
    int status = chained != NULL ? SF_OK : sf_fail_memory(error);
    if (status == SF_OK) chained_count = make_chained(j, chained, fires, seconds);
    for (size_t i = 0; i < at_random && status == SF_OK; i++) {
        sf_spike own = {.time_ns = (int64_t)((double)i / j->rate * 1e9),
                        .unit = draw((uint32_t)i, 1) % UNITS};
        while (status == SF_OK && next < chained_count && compare_spikes(&chained[next], &own) < 0)
            status = sf_history_append(history, &chained[next++], 1, error);
        if (status == SF_OK) status = sf_history_append(history, &own, 1, error);
    }
    sf_free(chained);
    return status;
}

/* ---- one window ---- */

static void note(times *t, double ms)
{
    if (t->count < MOST_TIMES) t->ms[t->count++] = ms;
}

static uint64_t position_of(const bench *b, double seconds)
{
    return sf_history_find(&b->history, (int64_t)(seconds * 1e9));
}

/* Pairs are counted hop by hop up to then. */
static int pair_up(bench *b, double until_s, sf_error *error)
{
    int status = SF_OK;
    while (status == SF_OK && b->paired_s + HOP_S / 2 < until_s) {
        b->paired_s += HOP_S;
        double begin_s = b->paired_s - b->job->window_s, start = sf_clock_seconds();
        status = sf_pairing_slide(&b->pairs, &b->history, position_of(b, begin_s > 0 ? begin_s : 0),
                                  position_of(b, b->paired_s), sf_threshold_least(b->config.mine.min_count),
                                  error);
        if (begin_s > 0) note(&b->hops, (sf_clock_seconds() - start) * 1e3);
    }
    return status;
}

/* As a hop would hand it over. */
static int make_window(sf_discovery_window *window, bench *b, double start_s, sf_error *error)
{
    double stop_s = start_s + b->job->window_s;
    *window = (sf_discovery_window){.span = {(int64_t)(start_s * 1e9), (int64_t)(stop_s * 1e9)},
                                    .begin = position_of(b, start_s),
                                    .end = position_of(b, stop_s),
                                    .unit_spikes = b->unit_spikes};
    window->spikes = sf_history_view(&b->history, window->begin);
    memset(b->unit_spikes, 0, UNITS * sizeof *b->unit_spikes);
    for (uint64_t i = window->begin; i < window->end; i++)
        b->unit_spikes[window->spikes[i - window->begin].unit]++;
    int status = pair_up(b, stop_s, error);
    if (status == SF_OK && b->resident != NULL)
        status = sf_resident_hold(b->resident, &b->history, window->begin, window->end, error);
    return status;
}

static int check(bench *b, const sf_episode *found, size_t count, sf_error *error)
{
    bool same = count == b->expected_count;
    for (size_t i = 0; i < count && same; i++)
        same = sf_episode_compare(&found[i], &b->expected[i]) == 0;
    return same ? SF_OK : sf_fail(error, SF_INTERNAL, NULL, "the episodes differ");
}

static int expect(bench *b, const sf_episode *found, size_t count, sf_error *error)
{
    sf_episode *expected = sf_resize(b->expected, count, sizeof *expected);
    if (expected == NULL) return sf_fail_memory(error);
    b->expected = expected;
    b->expected_count = count;
    b->longer = 0;
    for (size_t i = 0; i < count; i++) {
        expected[i] = found[i];
        b->longer += found[i].size > 2;
    }
    return SF_OK;
}

/* Before a window, the discovery sees those of the hops after the window before. */
static int see_hops(bench *b, miner *m, const sf_discovery_window *window, sf_error *error)
{
    int status = SF_OK;
    for (double hop_s = b->job->every_s - HOP_S; hop_s > HOP_S / 2 && status == SF_OK; hop_s -= HOP_S) {
        sf_discovery_window hop = {.begin = window->begin,
                                   .end = position_of(b, (double)window->span.stop_ns * 1e-9 - hop_s),
                                   .spikes = window->spikes};
        double start = sf_clock_seconds();
        status = sf_discovery_see(&m->discovery, &hop, error);
        note(&m->shown, (sf_clock_seconds() - start) * 1e3);
    }
    return status;
}

/* By one miner; all find what the first one does. */
static int mine(bench *b, miner *m, const sf_discovery_window *window, sf_error *error)
{
    sf_discovery *discovery = &m->discovery;
    sf_discovery_window own = *window;
    sf_tracking next;
    bool ready;
    uint64_t followed = discovery->kept.followed;
    own.resident = m->there ? b->resident : NULL;
    own.pairs_known = m->way == GIVEN;
    if (own.pairs_known) own.pairs = sf_pairing_found(&b->pairs, &own.pair_count);
    int status = see_hops(b, m, window, error);
    double start = sf_clock_seconds();
    if (status == SF_OK) status = sf_discovery_start(discovery, &own, error);
    double all_ms = (sf_clock_seconds() - start) * 1e3, ms = discovery->how.seconds * 1e3;
    if (status == SF_OK) status = sf_discovery_take(discovery, &ready, &next, error);
    if (status != SF_OK) return status;
    sf_tracking_free(&next);
    if (m->way == FOLLOWED && discovery->kept.followed == followed) {
        m->begun = sf_pairing_counts(&discovery->kept.pairs) ? ms : m->begun;
    } else {
        note(&m->mined, ms);
        note(&m->shown, all_ms - ms);
    }
    return m == b->miners ? expect(b, discovery->found, discovery->found_count, error)
                          : check(b, discovery->found, discovery->found_count, error);
}

/* ---- a job ---- */

static double middle(times *t)
{
    sf_reals_sort(t->ms, t->count);
    return t->count > 0 ? t->ms[t->count / 2] : NAN;
}

static void tell(bench *b)
{
    static const char *const ways[] = {"anew", "followed", "given its pairs"};
    const job *j = b->job;
    double hop = middle(&b->hops);
    printf("%7" PRIu32 " spikes/s, window %g s, each %g s: %zu episodes of %g and more, %zu of them longer "
           "than pairs\n",
           j->rate, j->window_s, j->every_s, b->expected_count, b->config.mine.min_count, b->longer);
    printf("    pairs, %-8s %-16s %9.2f ms a hop, longest %.2f\n", sf_pairing_device(&b->pairs), "", hop,
           b->hops.count > 0 ? b->hops.ms[b->hops.count - 1] : NAN);
    for (size_t i = 0; i < b->miner_count; i++) {
        miner *m = &b->miners[i];
        double ms = middle(&m->mined);
        printf("    mined, %-8s %-16s %9.2f ms, longest %.2f; shown in %.2f ms",
               m->there ? sf_device_name(j->device) : "cpu", ways[m->way], ms,
               m->mined.count > 0 ? m->mined.ms[m->mined.count - 1] : NAN, middle(&m->shown));
        if (m->way == FOLLOWED) printf("; begun in %.1f ms", m->begun);
        printf("\n");
    }
    fflush(stdout);
}

/* A discovery that is to mine anew has given up following. */
static int open_miner(bench *b, way how, bool there, sf_error *error)
{
    miner *m = &b->miners[b->miner_count++];
    sf_device *device = there ? b->job->device : NULL;
    *m = (miner){.way = how, .there = there, .begun = NAN};
    const sf_discovery_setup setup = {.config = &b->config,
                                      .units = &b->units,
                                      .device = sf_device_name(device),
                                      .there = device,
                                      .inside = true};
    int status = sf_discovery_open(&m->discovery, &setup, error);
    for (int place = 0; place < 2 && how == ANEW; place++)
        m->discovery.kept.given_up[place] = true;
    return status;
}

static int open_pairs(bench *b, sf_error *error)
{
    const sf_discovery *discovery = &b->miners[0].discovery;
    const sf_pairing_setup setup = {.unit_count = UNITS,
                                    .delays = discovery->delays,
                                    .delay_count = discovery->delay_count,
                                    .most = SF_PAIRING_MOST,
                                    .threads = b->job->threads,
                                    .device = b->job->device,
                                    .always = true};
    return sf_pairing_open(&b->pairs, &setup, error);
}

static int open_bench(bench *b, const job *j, sf_error *error)
{
    *b = (bench){.job = j, .config = sf_live_options_default()};
    b->config.mine.delays_ms = delay_ms(j) == 5 ? "0:5" : "0:1";
    b->config.mine.min_count = threshold_of(j);
    b->config.mine.threads = j->threads;
    b->config.mine.track_most = 1000000;
    b->unit_spikes = sf_alloc(UNITS, sizeof *b->unit_spikes);
    int status = b->unit_spikes != NULL ? SF_OK : sf_fail_memory(error);
    for (uint32_t u = 0; u < UNITS && status == SF_OK; u++)
        status = sf_units_add(&b->units, &(sf_unit){.electrode = -1}, error);
    if (status == SF_OK) status = sf_units_finish(&b->units, error);
    if (status == SF_OK) status = make_spikes(&b->history, j, error);
    for (int there = j->threads == 0; there < (j->device != NULL ? 2 : 1); there++)
        for (way how = ANEW; how < WAYS && status == SF_OK; how++)
            status = open_miner(b, how, there, error);
    if (status == SF_OK) status = open_pairs(b, error);
    if (status == SF_OK && j->device != NULL) status = sf_resident_open(&b->resident, j->device, error);
    return status;
}

static void close_bench(bench *b)
{
    for (size_t i = 0; i < b->miner_count; i++)
        sf_discovery_close(&b->miners[i].discovery);
    sf_pairing_close(&b->pairs);
    sf_resident_close(b->resident);
    sf_history_free(&b->history);
    sf_units_free(&b->units);
    sf_free(b->unit_spikes);
    sf_free(b->expected);
}

static int run(const job *j, sf_error *error)
{
    static bench b;
    int status = open_bench(&b, j, error);
    for (size_t w = 0; w <= j->windows && status == SF_OK; w++) {
        sf_discovery_window window;
        status = make_window(&window, &b, (double)w * j->every_s, error);
        for (size_t i = 0; i < b.miner_count && status == SF_OK; i++)
            status = mine(&b, &b.miners[i], &window, error);
    }
    if (status == SF_OK) tell(&b);
    close_bench(&b);
    return status;
}

int main(int argc, char **argv)
{
    static const job jobs[] = {
        {10000, 10, 1, 1, 5, NULL},  {10000, 60, 1, 1, 5, NULL},  {100000, 10, 1, 1, 5, NULL},
        {100000, 10, 4, 1, 5, NULL}, {100000, 60, 1, 1, 3, NULL},
    };
    sf_error error = {0};
    job asked = {.windows = 3};
    int status = argc > 5 ? sf_device_find(&asked.device, argv[5], &error) : SF_OK;
    if (argc >= 5) {
        asked.rate = (uint32_t)atoi(argv[1]);
        asked.window_s = atof(argv[2]);
        asked.every_s = atof(argv[3]);
        asked.threads = (uint32_t)atoi(argv[4]);
    }
    if (status == SF_OK && argc >= 5) status = run(&asked, &error);
    for (size_t i = 0; i < sizeof jobs / sizeof jobs[0] && status == SF_OK && argc < 5; i++)
        status = run(&jobs[i], &error);
    if (status != SF_OK) fprintf(stderr, "bench_discovery: %s\n", error.text);
    return status == SF_OK ? 0 : 1;
}
