/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_discovery [SPIKES_PER_SECOND WINDOW_SECONDS EVERY_SECONDS THREADS]
 *
 * What a discovery costs that mines its window anew, and one that follows the window before: 4,096 units that
 * fire at random, and a hundred chains of four units among them; (0,5] ms, with a million spikes a second
 * (0,1] ms, to size 4, six standard deviations above chance. `shown` is what
 * the window's thread does, `begun` the discovery that first counts the pairs to follow. Every window's
 * episodes are held together.
 */
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
#define MOST_WINDOWS 8

typedef struct job {
    uint32_t rate; /* spikes a second, of all units */
    double window_s, every_s;
    uint32_t threads;
    size_t windows;
} job;

/* What was seen, by window: in milliseconds. */
typedef struct times {
    double anew[MOST_WINDOWS], followed[MOST_WINDOWS], shown[MOST_WINDOWS], begun;
    size_t anew_count, followed_count;
    size_t episodes, longer;
} times;

static uint32_t draw(uint32_t index, uint32_t what)
{
    philox4x32_ctr_t counter = {{index, what, 0, 0}};
    philox4x32_key_t key = {{3, 0}};
    return philox4x32(counter, key).v[0];
}

static int compare_spikes(const void *a, const void *b)
{
    const sf_spike *left = a, *right = b;
    if (left->time_ns != right->time_ns)
        return left->time_ns < right->time_ns ? -1 : 1;
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
static sf_spike *make_spikes(const job *j, size_t *count)
{
    double seconds = j->window_s + j->every_s * (double)j->windows;
    size_t at_random = (size_t)(seconds * j->rate),
           chained = (size_t)(seconds / j->window_s * fires_of(j)) * CHAINS;
    sf_spike *spikes = malloc((at_random + chained * CHAIN_SIZE) * sizeof *spikes);
    *count = at_random;
    for (size_t i = 0; spikes != NULL && i < at_random; i++)
        spikes[i] =
            (sf_spike){.time_ns = (int64_t)((double)i / j->rate * 1e9), .unit = draw((uint32_t)i, 1) % UNITS};
    for (size_t i = 0; spikes != NULL && i < chained; i++)
        for (uint32_t n = 0; n < CHAIN_SIZE; n++)
            spikes[(*count)++] =
                (sf_spike){.time_ns = (int64_t)(draw((uint32_t)i, 2) * 0x1p-32 * seconds * 1e9) +
                                      n * delay_ms(j) * (2 * SF_MILLISECOND / 5),
                           .unit = (uint32_t)(i % CHAINS) + n * CHAINS};
    if (spikes != NULL)
        qsort(spikes, *count, sizeof *spikes, compare_spikes);
    return spikes;
}

static int discover(sf_discovery *discovery, const sf_discovery_window *window, sf_episode **found,
                    size_t *count, double *shown_ms, sf_error *error)
{
    bool ready;
    double start = sf_clock_seconds();
    int status = sf_discovery_start(discovery, window, error);
    double all_ms = (sf_clock_seconds() - start) * 1e3;
    if (status == SF_OK)
        status = sf_discovery_take(discovery, &ready, found, count, error);
    *shown_ms = all_ms - discovery->how.seconds * 1e3;
    return status;
}

static bool are_same(const sf_episode *a, size_t a_count, const sf_episode *b, size_t b_count)
{
    bool same = a_count == b_count;
    for (size_t i = 0; i < a_count && same; i++)
        same = sf_episode_compare(&a[i], &b[i]) == 0;
    return same;
}

/* Of one window, by a discovery that knows the one before and by one that knows nothing. */
static int compare(sf_discovery *discovery, sf_discovery *alone, const sf_discovery_window *window, times *t,
                   sf_error *error)
{
    sf_episode *found, *expected;
    size_t count, expected_count;
    uint64_t followed = discovery->kept.followed;
    double shown_ms, ignored_ms;
    int status = discover(discovery, window, &found, &count, &shown_ms, error);
    if (status == SF_OK)
        status = discover(alone, window, &expected, &expected_count, &ignored_ms, error);
    if (status != SF_OK)
        return status;
    if (!are_same(found, count, expected, expected_count))
        return sf_fail(error, SF_INTERNAL, NULL, "the episodes differ");
    t->anew[t->anew_count++] = alone->how.seconds * 1e3;
    if (discovery->kept.followed > followed) {
        t->shown[t->followed_count] = shown_ms;
        t->followed[t->followed_count++] = discovery->how.seconds * 1e3;
    } else if (discovery->kept.pairs != NULL)
        t->begun = discovery->how.seconds * 1e3;
    t->episodes = count;
    t->longer = 0;
    for (size_t i = 0; i < count; i++)
        t->longer += found[i].size > 2;
    return SF_OK;
}

static void tell(const job *j, times *t)
{
    sf_reals_sort(t->anew, t->anew_count);
    sf_reals_sort(t->followed, t->followed_count);
    sf_reals_sort(t->shown, t->followed_count);
    printf("%7" PRIu32 " spikes/s, window %g s, each %g s, %" PRIu32 " threads: anew %.1f ms; ", j->rate,
           j->window_s, j->every_s, j->threads, t->anew[t->anew_count / 2]);
    if (t->followed_count > 0)
        printf("followed %.1f ms, %.1f times less (begun in %.1f ms; shown in %.2f ms); ",
               t->followed[t->followed_count / 2],
               t->anew[t->anew_count / 2] / t->followed[t->followed_count / 2], t->begun,
               t->shown[t->followed_count / 2]);
    printf("%zu episodes of %g and more, %zu of them longer than pairs\n", t->episodes, threshold_of(j),
           t->longer);
    fflush(stdout);
}

static int move_along(const job *j, const sf_units *units, const sf_spike *spikes, size_t count,
                      sf_error *error)
{
    static uint64_t unit_spikes[UNITS];
    static times t;
    sf_live_options config = sf_live_options_default();
    sf_discovery discovery = {0}, alone = {0};
    config.mine.delays_ms = delay_ms(j) == 5 ? "0:5" : "0:1";
    config.mine.min_count = threshold_of(j);
    config.mine.threads = j->threads;
    config.mine.track_most = 1000000;
    t = (times){0};
    int status = sf_discovery_open(&discovery, &config, units, "cpu", true, error);
    for (size_t w = 0; w <= j->windows && status == SF_OK; w++) {
        sf_span span = {.start_ns = (int64_t)((double)w * j->every_s * 1e9)};
        span.stop_ns = span.start_ns + (int64_t)(j->window_s * 1e9);
        sf_discovery_window window = {.span = span,
                                      .begin = sf_spikes_lower_bound(spikes, count, span.start_ns),
                                      .end = sf_spikes_lower_bound(spikes, count, span.stop_ns),
                                      .unit_spikes = unit_spikes};
        window.spikes = spikes + window.begin;
        memset(unit_spikes, 0, sizeof unit_spikes);
        for (uint64_t i = window.begin; i < window.end; i++)
            unit_spikes[spikes[i].unit]++;
        status = sf_discovery_open(&alone, &config, units, "cpu", true, error);
        if (status == SF_OK)
            status = compare(&discovery, &alone, &window, &t, error);
        sf_discovery_close(&alone);
    }
    sf_discovery_close(&discovery);
    if (status == SF_OK)
        tell(j, &t);
    return status;
}

static int run(const job *j, sf_error *error)
{
    sf_units units = {0};
    size_t count;
    int status = SF_OK;
    for (uint32_t u = 0; u < UNITS && status == SF_OK; u++)
        status = sf_units_add(&units, &(sf_unit){.electrode = -1}, error);
    if (status == SF_OK)
        status = sf_units_finish(&units, error);
    sf_spike *spikes = make_spikes(j, &count);
    if (spikes == NULL)
        status = sf_fail_memory(error);
    if (status == SF_OK)
        status = move_along(j, &units, spikes, count, error);
    free(spikes);
    sf_units_free(&units);
    return status;
}

int main(int argc, char **argv)
{
    static const job jobs[] = {
        {10000, 10, 1, 1, 5},  {10000, 60, 1, 1, 5},  {100000, 10, 1, 1, 5},
        {100000, 10, 4, 1, 5}, {100000, 60, 1, 1, 3},
    };
    sf_error error = {0};
    int status = SF_OK;
    if (argc == 5) {
        const job asked = {(uint32_t)atoi(argv[1]), atof(argv[2]), atof(argv[3]), (uint32_t)atoi(argv[4]), 3};
        status = run(&asked, &error);
    }
    for (size_t i = 0; i < sizeof jobs / sizeof jobs[0] && status == SF_OK && argc < 5; i++)
        status = run(&jobs[i], &error);
    if (status != SF_OK)
        fprintf(stderr, "bench_discovery: %s\n", error.text);
    return status == SF_OK ? 0 : 1;
}
