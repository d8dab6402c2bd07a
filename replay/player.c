/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/player.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define BLOCK_NS 5e6           /* most stream time in a batch */
#define BLOCK_WALL_NS 1e6      /* and the most monotonic time it covers */
#define HEARTBEAT_WALL_NS 20e6 /* maximum time between clocks in silence */

typedef struct player {
    sf_source source;
    const sf_recording *recording;
    sf_recording *kept; /* freed with the source; or NULL */
    double speed;
    size_t next_spike, next_marker;
    int64_t clock_ns;                       /* everything before this has been given */
    int64_t stop_ns;                        /* final clock; no spike or marker is later */
    int64_t stream_start_ns, wall_start_ns; /* stream time that corresponds to the monotonic time
                                               wall_start_ns; wall 0: not started */
    int64_t due_ns;
} player;

static size_t markers_before(const player *it, int64_t time_ns)
{
    size_t end = it->next_marker;
    while (end < it->recording->marker_count && it->recording->markers[end].time_ns < time_ns)
        end++;
    return end;
}

/* Delivers everything before `clock`; at the final clock, the rest. */
static int give(player *it, sf_batch *batch, size_t spike_end, int64_t clock)
{
    const sf_recording *recording = it->recording;
    size_t marker_end = clock == it->stop_ns ? recording->marker_count : markers_before(it, clock);
    *batch = (sf_batch){
        .spikes = spike_end > 0 ? recording->spikes + it->next_spike : NULL,
        .spike_count = spike_end - it->next_spike,
        .markers = marker_end > 0 ? recording->markers + it->next_marker : NULL,
        .marker_count = marker_end - it->next_marker,
        .clock_ns = clock,
        .arrival_ns = sf_clock_monotonic_ns(),
    };
    it->next_spike = spike_end;
    it->next_marker = marker_end;
    it->clock_ns = clock;
    return SF_READ_BATCH;
}

static int read_at_once(player *it, sf_batch *batch)
{
    const sf_recording *recording = it->recording;
    if (recording->spike_count - it->next_spike <= SF_PLAYER_BATCH)
        return give(it, batch, recording->spike_count, it->stop_ns);
    size_t end = it->next_spike + SF_PLAYER_BATCH;
    return give(it, batch, end, recording->spikes[end].time_ns);
}

static int64_t next_event_ns(const player *it)
{
    const sf_recording *recording = it->recording;
    int64_t next = it->stop_ns;
    if (it->next_spike < recording->spike_count && recording->spikes[it->next_spike].time_ns < next)
        next = recording->spikes[it->next_spike].time_ns;
    if (it->next_marker < recording->marker_count && recording->markers[it->next_marker].time_ns < next)
        next = recording->markers[it->next_marker].time_ns;
    return next;
}

/* End of the next batch: a block after the clock or, in silence, the next event or heartbeat. */
static int64_t next_clock_ns(const player *it)
{
    double step = fmin(it->speed * BLOCK_WALL_NS, BLOCK_NS);
    double quiet = (double)(next_event_ns(it) - it->clock_ns);
    if (quiet > step) step = fmin(quiet, fmax(step, it->speed * HEARTBEAT_WALL_NS));
    double left = (double)(it->stop_ns - it->clock_ns);
    return step < left ? it->clock_ns + (int64_t)ceil(step) : it->stop_ns;
}

/* Monotonic time at which this stream time is over; INT64_MAX if that is centuries away. */
static int64_t due_at(const player *it, int64_t clock_ns)
{
    double wall = (double)(clock_ns - it->stream_start_ns) / it->speed;
    return wall < 4e18 ? it->wall_start_ns + (int64_t)wall : INT64_MAX;
}

static int read_in_time(player *it, sf_batch *batch, int timeout_ms)
{
    int64_t now = sf_clock_monotonic_ns();
    if (it->wall_start_ns == 0) it->wall_start_ns = now;
    int64_t clock = next_clock_ns(it);
    int64_t due = due_at(it, clock);
    if (now < due) {
        int64_t patience = now + timeout_ms * SF_MILLISECOND;
        sf_clock_sleep_until(due < patience ? due : patience);
        if (sf_clock_monotonic_ns() < due) return SF_READ_NOTHING;
    }
    it->due_ns = due;
    size_t end = it->recording->spike_count;
    if (clock < it->stop_ns) end = sf_spikes_lower_bound(it->recording->spikes, end, clock);
    return give(it, batch, end, clock);
}

static int player_read(sf_source *source, sf_batch *batch, int timeout_ms, sf_error *error)
{
    (void)error;
    player *it = (player *)source;
    *batch = (sf_batch){.clock_ns = it->clock_ns};
    if (it->clock_ns == it->stop_ns) return SF_READ_END;
    return it->speed == 0 ? read_at_once(it, batch) : read_in_time(it, batch, timeout_ms);
}

static void player_close(sf_source *source)
{
    player *it = (player *)source;
    sf_recording_free(it->kept);
    sf_free(it);
}

static const sf_source_kind player_kind = {
    .settings = {.name = "replay"}, .read = player_read, .close = player_close};

static const char *file_name(const char *path)
{
    if (path == NULL) return "recording";
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* Sets the played span: the recorded one, extended to spikes and markers outside it. */
static void set_span(player *it)
{
    const sf_recording *recording = it->recording;
    sf_span span = recording->recorded;
    if (recording->spike_count > 0) {
        int64_t first = recording->spikes[0].time_ns,
                last = recording->spikes[recording->spike_count - 1].time_ns;
        span.start_ns = first < span.start_ns ? first : span.start_ns;
        span.stop_ns = last >= span.stop_ns ? last + 1 : span.stop_ns;
    }
    if (recording->marker_count > 0) {
        int64_t first = recording->markers[0].time_ns,
                last = recording->markers[recording->marker_count - 1].time_ns;
        span.start_ns = first < span.start_ns ? first : span.start_ns;
        span.stop_ns = last >= span.stop_ns ? last + 1 : span.stop_ns;
    }
    it->clock_ns = it->stream_start_ns = span.start_ns;
    it->stop_ns = span.stop_ns;
}

int sf_player_open(sf_source **out, const sf_recording *recording, double speed, sf_error *error)
{
    *out = NULL;
    if (!(speed == 0 || (speed >= SF_PLAYER_SLOWEST && speed <= SF_PLAYER_FASTEST)))
        return sf_fail(error, SF_USAGE, NULL, "a speed of %g is not possible: expected %g to %g", speed,
                       SF_PLAYER_SLOWEST, SF_PLAYER_FASTEST);
    player *it = sf_alloc(1, sizeof *it);
    if (it == NULL) return sf_fail_memory(error);
    it->source = (sf_source){
        .kind = &player_kind,
        .units = recording->units, /* borrowed like the rest */
        .origin = recording,
        .can_wait = true,
        .virtual_clock = speed == 0,
    };
    snprintf(it->source.name, sizeof it->source.name, "%s", file_name(recording->path));
    it->recording = recording;
    it->speed = speed;
    set_span(it);
    *out = &it->source;
    return SF_OK;
}

void sf_player_keep(sf_source *source, sf_recording *recording)
{
    ((player *)source)->kept = recording;
}

sf_span sf_player_span(const sf_source *source)
{
    const player *it = (const player *)source;
    return (sf_span){it->stream_start_ns, it->stop_ns};
}

int64_t sf_player_due_ns(const sf_source *source)
{
    return ((const player *)source)->due_ns;
}

bool sf_player_speed(const char *text, double *speed)
{
    *speed = 0;
    return strcmp(text, "max") == 0 ||
           (sf_parse_real(text, speed) && *speed >= SF_PLAYER_SLOWEST && *speed <= SF_PLAYER_FASTEST);
}
