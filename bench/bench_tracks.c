/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_tracks [DEVICE [alone]]   cuda, or none: the CPU alone; `alone`: the device, and not the CPU
 *
 * What tracked episodes cost a hop on the CPU and on a device: 4,096 units, 100,000 and 1,000,000 spikes a
 * second, windows of 10 and 60 s, a hop of 100 ms, 1,000 to 100,000 episodes of two to four units. Of each
 * the median and the longest of HOPS hops with a full window, from the spikes to the counts, which are
 * compared; and what it takes to replace a tenth of the episodes. The CPU runs on one thread, and is left out
 * where the window would take it minutes.
 */
#include "core/backend/find.h"
#include "core/clock.h"
#include "core/memory.h"
#include "core/random.h"
#include "core/reals.h"
#include "window/tracker.h"
#include "window/tracks.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define UNITS 4096
#define HOP_NS (100 * SF_MILLISECOND)
#define HOPS 50
#define LONG_MS 100000.0 /* of the CPU, for one row */

typedef struct setting {
    uint64_t rate;
    int64_t window_s;
    size_t episodes;
} setting;

typedef struct figures {
    double median_ms, worst_ms;
    double renewal_ms; /* a tenth of the episodes */
    uint64_t sum;      /* of the counts of the last hop */
} figures;

/* One of the two ways. */
typedef struct counter {
    sf_tracker *here;
    sf_resident *resident;
    sf_tracks *there;
} counter;

static void draw_episodes(sf_episode *episodes, size_t count, uint64_t seed)
{
    sf_random random = sf_random_start(seed, 0);
    for (size_t i = 0; i < count; i++) {
        episodes[i] = (sf_episode){.size = 2 + (uint32_t)i % 3};
        for (uint32_t n = 0; n < episodes[i].size; n++)
            episodes[i].units[n] = (uint32_t)sf_random_below(&random, UNITS);
        for (uint32_t n = 0; n + 1 < episodes[i].size; n++)
            episodes[i].delays[n] = (sf_delay){0, 5 * SF_MILLISECOND};
    }
}

/* Evenly spaced, on units drawn at random: the same for every way. */
static int append_hop(sf_history *history, const setting *s, uint32_t hop, sf_error *error)
{
    sf_random random = sf_random_start(3, hop);
    size_t count = (size_t)(s->rate / 10);
    sf_spike *spikes = sf_resize(NULL, count, sizeof *spikes);
    if (spikes == NULL) return SF_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        spikes[i] = (sf_spike){.time_ns = hop * HOP_NS + (int64_t)i * HOP_NS / (int64_t)count,
                               .unit = (uint32_t)sf_random_below(&random, UNITS)};
    int status = sf_history_append(history, spikes, count, error);
    sf_free(spikes);
    return status;
}

static int open_counter(counter *c, sf_device *device, sf_error *error)
{
    const sf_queue none = {0};
    *c = (counter){0};
    if (device == NULL) return sf_tracker_open(&c->here, UNITS, 0, error);
    int status = sf_resident_open(&c->resident, device, error);
    return status == SF_OK ? sf_tracks_open(&c->there, c->resident, UNITS, &none, error) : status;
}

static void close_counter(counter *c)
{
    sf_tracker_close(c->here);
    sf_tracks_close(c->there);
    sf_resident_close(c->resident);
}

static int renew(counter *c, const sf_history *history, const sf_episode *episodes, size_t count,
                 sf_error *error)
{
    bool ready;
    if (c->here != NULL) return sf_tracker_set(c->here, episodes, count, error);
    sf_track_list list;
    int status = sf_track_list_make(&list, episodes, count, error);
    if (status == SF_OK) status = sf_tracks_prepare(c->there, &list, error);
    return status == SF_OK ? sf_tracks_go_on(c->there, history, INT64_MAX, &ready, error) : status;
}

static int take_hop(counter *c, const sf_segment *segment, const sf_history *history, uint64_t *counts,
                    size_t count, sf_error *error)
{
    int status;
    if (c->here == NULL) {
        status = sf_tracks_push(c->there, segment, history, error);
        sf_tracks_drop_before(c->there, segment->window.start_ns);
        return status == SF_OK ? sf_tracks_counts(c->there, counts, error) : status;
    }
    status = sf_tracker_push(c->here, segment, sf_history_view(history, segment->begin), error);
    if (status == SF_OK) status = sf_tracker_drop_before(c->here, segment->window.start_ns, error);
    for (size_t i = 0; i < count && status == SF_OK; i++)
        counts[i] = sf_tracker_count(c->here, i);
    return status;
}

static int slide(counter *c, const setting *s, sf_history *history, uint64_t *counts, figures *made,
                 sf_error *error)
{
    double times[HOPS];
    uint32_t full = (uint32_t)(s->window_s * SF_SECOND / HOP_NS);
    int status = SF_OK;
    for (uint32_t hop = 0; hop < full + HOPS && status == SF_OK; hop++) {
        int64_t begin_ns = hop * HOP_NS, end_ns = begin_ns + HOP_NS;
        sf_segment segment = {.begin = history->end,
                              .span = {begin_ns, end_ns},
                              .closes = true,
                              .window = {end_ns - s->window_s * SF_SECOND, end_ns}};
        status = append_hop(history, s, hop, error);
        segment.end = history->end;
        sf_history_drop_before(history, sf_history_find(history, segment.window.start_ns));
        double begin = sf_clock_seconds();
        if (status == SF_OK) status = take_hop(c, &segment, history, counts, s->episodes, error);
        if (hop >= full) times[hop - full] = (sf_clock_seconds() - begin) * 1e3;
    }
    if (status != SF_OK) return status;
    sf_reals_sort(times, HOPS);
    made->median_ms = times[HOPS / 2];
    made->worst_ms = times[HOPS - 1];
    for (size_t i = 0; i < s->episodes; i++)
        made->sum += counts[i];
    return SF_OK;
}

static int measure(figures *made, const setting *s, sf_device *device, sf_error *error)
{
    sf_history history = {0};
    counter c;
    *made = (figures){0};
    sf_episode *episodes = sf_alloc(s->episodes, sizeof *episodes);
    uint64_t *counts = sf_alloc(s->episodes, sizeof *counts);
    int status = open_counter(&c, device, error);
    draw_episodes(episodes, s->episodes, 9);
    if (status == SF_OK) status = renew(&c, &history, episodes, s->episodes, error);
    if (status == SF_OK) status = slide(&c, s, &history, counts, made, error);
    draw_episodes(episodes, s->episodes / 10, 10);
    double begin = sf_clock_seconds();
    if (status == SF_OK) status = renew(&c, &history, episodes, s->episodes, error);
    made->renewal_ms = (sf_clock_seconds() - begin) * 1e3;
    close_counter(&c);
    sf_history_free(&history);
    sf_free(episodes);
    sf_free(counts);
    return status;
}

static int row(const setting *s, sf_device *device, bool alone, double *cpu_ms, sf_error *error)
{
    figures here = {0}, there = {0};
    double hops = (double)(s->window_s * SF_SECOND / HOP_NS + HOPS);
    bool runs_here =
        !alone && *cpu_ms * 12 * hops < LONG_MS; /* ten times the row before, and what sliding takes */
    int status = runs_here ? measure(&here, s, NULL, error) : SF_OK;
    *cpu_ms = here.median_ms > 0 ? here.median_ms : *cpu_ms * 10;
    if (status == SF_OK && device != NULL) status = measure(&there, s, device, error);
    if (status != SF_OK) return status;
    printf("%9" PRIu64 " %5" PRId64 " %9zu", s->rate, s->window_s, s->episodes);
    if (runs_here)
        printf(" %9.2f %9.2f %9.1f", here.median_ms, here.worst_ms, here.renewal_ms);
    else
        printf(" %9s %9s %9s", "-", "-", "-");
    if (device != NULL)
        printf(" %9.2f %9.2f %9.1f  %6" PRIu64 " MiB  %s", there.median_ms, there.worst_ms, there.renewal_ms,
               sf_device_memory(device) >> 20,
               !runs_here              ? ""
               : here.sum == there.sum ? "counts equal"
                                       : "COUNTS DIFFER");
    printf("\n");
    fflush(stdout);
    return runs_here && device != NULL && here.sum != there.sum ? SF_INTERNAL : SF_OK;
}

int main(int argc, char **argv)
{
    sf_error error = {.text = "no memory, or the counts differ"};
    sf_device *device = NULL;
    int status = argc > 1 ? sf_device_find(&device, argv[1], &error) : SF_OK;
    printf("                           CPU, ms a hop                 %s, ms a hop\n"
           " spikes/s     s  episodes    median   longest   renewal    median   longest   renewal\n",
           device != NULL ? sf_device_name(device) : "-");
    for (uint64_t rate = 100000; rate <= 1000000; rate *= 10)
        for (int64_t window_s = 10; window_s <= 60; window_s += 50) {
            double cpu_ms = 0;
            for (size_t episodes = 1000; episodes <= 100000 && status == SF_OK; episodes *= 10)
                status = row(&(setting){rate, window_s, episodes}, device, argc > 2, &cpu_ms, &error);
        }
    if (status != SF_OK) fprintf(stderr, "bench_tracks: %s\n", error.text);
    return status == SF_OK ? 0 : 1;
}
