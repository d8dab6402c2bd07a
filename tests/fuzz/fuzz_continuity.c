/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of a live source whose clock steps, begins anew and lies: every spike and marker comes out of the
 * merge in order or is counted by its cause. */
#include "byte_input.h"

#include "core/clock.h"
#include "core/memory.h"
#include "window/continuity.h"
#include "window/merge.h"

#include <stdlib.h>
#include <string.h>

#define UNITS 4
#define MOST 8

typedef struct stream {
    byte_input in;
    sf_continuity *continuity;
    sf_merge *merge;
    int64_t now_ns;     /* the newest time that was sent */
    int64_t arrival_ns; /* monotonic */
    int64_t last_ns;    /* that came out */
    uint64_t sent, sent_markers, came, markers_came, joined;
    uint64_t seams; /* markers that tell of steps and new runs */
} stream;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds) abort();
}

static void pull(stream *it)
{
    sf_merged merged;
    do {
        sf_merge_pull(it->merge, 0, &merged);
        for (size_t i = 0; i < merged.spike_count; i++) {
            require(merged.spikes[i].time_ns >= it->last_ns && merged.spikes[i].unit < UNITS);
            it->last_ns = merged.spikes[i].time_ns;
        }
        it->came += merged.spike_count;
    } while (merged.more);
}

static void fetch(stream *it)
{
    sf_batch batch;
    while (sf_continuity_next(it->continuity, &batch)) {
        it->joined += batch.joins;
        for (size_t i = 0; i < batch.marker_count; i++) {
            bool is_seam = strncmp(batch.markers[i].text, "synfire: ", 9) == 0;
            it->seams += is_seam;
            it->markers_came += !is_seam;
        }
        for (size_t i = 0; i < batch.spike_count; i++)
            require(batch.spikes[i].time_ns > -SF_CONTINUITY_MOST &&
                    batch.spikes[i].time_ns < SF_CONTINUITY_MOST);
        while (!sf_inlet_offer(sf_merge_inlet(it->merge, 0), &batch))
            pull(it);
    }
    pull(it);
}

static int compare_times(const void *a, const void *b)
{
    int64_t x = ((const sf_spike *)a)->time_ns, y = ((const sf_spike *)b)->time_ns;
    return (x > y) - (x < y);
}

/* One frame: what it is, how much later it comes, its spikes in time order, perhaps a marker, and its clock.
 */
static void send(stream *it)
{
    sf_spike spikes[MOST];
    sf_marker marker = {.kind = SF_MARKER_TEXT};
    unsigned what = (unsigned)byte_take(&it->in, 1);
    it->arrival_ns += (int64_t)byte_take(&it->in, 2) * SF_MILLISECOND / 16;
    sf_batch batch = {.spikes = spikes,
                      .spike_count = what % MOST,
                      .markers = &marker,
                      .marker_count = what >> 3 & 1,
                      .restarts = (what & 0x70) == 0x70,
                      .clock_ns = INT64_MIN,
                      .arrival_ns = it->arrival_ns,
                      .heard = true};
    int64_t time_ns = it->now_ns;
    for (size_t i = 0; i < batch.spike_count; i++) {
        time_ns = byte_time(&it->in, time_ns);
        spikes[i] = (sf_spike){.time_ns = time_ns, .unit = (uint32_t)(i % UNITS)};
    }
    qsort(spikes, batch.spike_count, sizeof *spikes, compare_times);
    marker.time_ns = time_ns;
    if ((what & 0x80) != 0) batch.clock_ns = byte_time(&it->in, time_ns);
    it->now_ns = time_ns;
    it->sent += batch.spike_count;
    it->sent_markers += batch.marker_count;
    require(sf_continuity_take(it->continuity, &batch, NULL) == SF_OK);
    fetch(it);
    require(sf_continuity_count(it->continuity).held <= SF_CONTINUITY_ITEMS);
}

static void check_account(const stream *it)
{
    sf_continuity_counts of = sf_continuity_count(it->continuity);
    sf_inlet_counts in = sf_inlet_count(sf_merge_inlet(it->merge, 0));
    require(of.held == 0 && it->sent == in.offered + of.leaps + of.late);
    require(in.offered == in.emitted + in.late && in.emitted == it->came);
    require(it->joined == of.epochs);
    require(it->sent_markers == it->markers_came + of.markers_left_out && it->seams >= of.steps + of.epochs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    stream it = {.in = {data, data + size}, .arrival_ns = 1, .last_ns = INT64_MIN};
    const int64_t leaps_ns[] = {0, SF_MILLISECOND, SF_SECOND, 10 * SF_SECOND};
    unsigned how = (unsigned)byte_take(&it.in, 1);
    const sf_continuity_settings settings = {.leap_ns = leaps_ns[how & 3],
                                             .lateness_ns = leaps_ns[how >> 2 & 3] / 2};
    const sf_inlet_settings inlet = {UNITS, settings.lateness_ns, 64, SF_RING_BLOCK};
    const sf_merge_settings merge = {.inlets = &inlet, .inlet_count = 1};
    require(sf_continuity_open(&it.continuity, &settings, NULL) == SF_OK);
    require(sf_merge_open(&it.merge, &merge, NULL) == SF_OK);
    while (byte_left(&it.in))
        send(&it);
    sf_continuity_end(it.continuity);
    fetch(&it);
    sf_inlet_end(sf_merge_inlet(it.merge, 0));
    pull(&it);
    check_account(&it);
    sf_continuity_close(it.continuity);
    sf_merge_close(it.merge);
    require(sf_memory_live() == 0);
    return 0;
}
