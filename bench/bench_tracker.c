/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hop's work on the window path at the scale of a large array: 4,096 units, 100,000 spikes/s, a window of
 * 10 s, a hop of 100 ms, 1,000 tracked episodes; then the same episodes tracked late, all at once.
 */
#include "core/clock.h"
#include "core/memory.h"
#include "window/tracker.h"

#include <Random123/philox.h>
#include <inttypes.h>
#include <stdio.h>

#define UNITS 4096
#define EPISODES 1000
#define HOPS 300
#define HOP_NS (100 * SF_MILLISECOND)
#define WINDOW_NS (10 * SF_SECOND)
#define PER_HOP 10000

static uint32_t draw(uint32_t index, uint32_t what)
{
    philox4x32_ctr_t counter = {{index, what, 0, 0}};
    philox4x32_key_t key = {{2, 0}};
    return philox4x32(counter, key).v[0];
}

static int append_hop(sf_history *history, uint32_t hop, uint32_t units, sf_error *error)
{
    static sf_spike spikes[PER_HOP];
    for (uint32_t i = 0; i < PER_HOP; i++)
        spikes[i] = (sf_spike){.time_ns = (int64_t)hop * HOP_NS + (int64_t)i * (HOP_NS / PER_HOP),
                               .unit = draw(hop * PER_HOP + i, 1) % units};
    return sf_history_append(history, spikes, PER_HOP, error);
}

static void make_episodes(sf_episode *episodes, uint32_t units, int64_t low_ms, int64_t high_ms)
{
    for (uint32_t e = 0; e < EPISODES; e++) {
        episodes[e] = (sf_episode){.size = 2 + e % 3};
        for (uint32_t n = 0; n < episodes[e].size; n++)
            episodes[e].units[n] = draw(e, 10 + n) % units;
        for (uint32_t n = 0; n + 1 < episodes[e].size; n++)
            episodes[e].delays[n] = (sf_delay){low_ms * SF_MILLISECOND, high_ms * SF_MILLISECOND};
    }
}

static int take_hop(sf_tracker *tracker, sf_history *history, const sf_segment *segment, sf_error *error)
{
    int status = sf_tracker_push(tracker, segment, sf_history_view(history, segment->begin), error);
    if (status == SF_OK)
        status = sf_tracker_drop_before(tracker, segment->window.start_ns, error);
    sf_history_drop_before(history, sf_history_find(history, segment->window.start_ns));
    return status;
}

/* Spikes are spread over the first `units` units: fewer make busier ones. */
static int run(uint32_t units, int64_t low_ms, int64_t high_ms, sf_error *error)
{
    static sf_episode episodes[EPISODES];
    sf_history history = {0};
    sf_cutter cutter;
    sf_tracker *tracker = NULL;
    double total = 0, worst = 0, late = 0;
    uint64_t counted = 0;
    make_episodes(episodes, units, low_ms, high_ms);
    int status = sf_cutter_open(&cutter, 0, WINDOW_NS, HOP_NS, error);
    if (status == SF_OK)
        status = sf_tracker_open(&tracker, UNITS, error);
    if (status == SF_OK)
        status = sf_tracker_set(tracker, episodes, EPISODES, error);
    for (uint32_t hop = 0; status == SF_OK && hop < HOPS; hop++) {
        sf_segment segment;
        status = append_hop(&history, hop, units, error);
        if (status != SF_OK || !sf_cutter_next(&cutter, &history, (hop + 1) * HOP_NS, &segment))
            break;
        double begin = sf_clock_seconds();
        status = take_hop(tracker, &history, &segment, error);
        for (size_t e = 0; status == SF_OK && e < EPISODES; e++)
            counted += sf_tracker_count(tracker, e);
        double seconds = sf_clock_seconds() - begin;
        total += seconds;
        worst = seconds > worst ? seconds : worst;
    }
    if (status == SF_OK)
        status = sf_tracker_set(tracker, NULL, 0, error);
    double begin = sf_clock_seconds();
    if (status == SF_OK)
        status = sf_tracker_set(tracker, episodes, EPISODES, error);
    late = sf_clock_seconds() - begin;
    if (status == SF_OK)
        printf("%4" PRIu32 " units, (%" PRId64 ",%" PRId64
               "] ms: hop %.2f ms, worst %.2f ms; tracked late %.1f ms; "
               "mean count %.1f\n",
               units, low_ms, high_ms, total / HOPS * 1e3, worst * 1e3, late * 1e3,
               (double)counted / HOPS / EPISODES);
    sf_tracker_close(tracker);
    sf_history_free(&history);
    return status;
}

int main(void)
{
    sf_error error;
    if (run(4096, 0, 5, &error) != SF_OK || run(4096, 50, 100, &error) != SF_OK ||
        run(60, 0, 5, &error) != SF_OK || run(60, 50, 100, &error) != SF_OK) {
        fprintf(stderr, "bench_tracker: %s\n", error.text);
        return 1;
    }
    return 0;
}
