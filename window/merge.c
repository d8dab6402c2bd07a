/* SPDX-License-Identifier: Apache-2.0 */
#include "window/merge.h"

#include "core/error.h"
#include "core/memory.h"

#define SPIKE_BATCH 4096

typedef struct entry {
    sf_inlet *inlet;
    uint32_t unit_offset;
    sf_place promise, reached; /* as the last pull saw them */
    int64_t held_up;           /* monotonic clock since when it holds the others up */
    bool holds, stalled;
} entry;

struct sf_merge {
    entry *entries;
    size_t count;
    int64_t stall_ns;
    bool drop_duplicates;
    sf_place bound; /* nothing before it goes through any more, nothing after it has */
    bool any_emitted;
    sf_place last_emitted;
    int64_t last_marker_ns;
    size_t batch;
    sf_spike *spikes;
    int64_t *arrivals;
    sf_marker *markers;
    size_t marker_room; /* for all that inlets hold: no spike goes before a marker of its time */
};

static int check(const sf_merge_settings *settings, sf_error *error)
{
    uint64_t units = 0;
    if (settings->inlet_count == 0)
        return sf_fail(error, SF_USAGE, NULL, "there is no source to merge: expected at least one");
    for (size_t i = 0; i < settings->inlet_count; i++) {
        units += settings->inlets[i].unit_count;
        if (settings->inlets[i].lateness_ns < 0)
            return sf_fail(error, SF_USAGE, NULL, "the lateness of source %zu is negative", i);
        if (settings->inlets[i].unit_count >= UINT32_MAX || units >= UINT32_MAX)
            return sf_fail(error, SF_USAGE, NULL, "the sources have too many units: at most %lu are numbered",
                           (unsigned long)UINT32_MAX - 1);
    }
    if (settings->stall_ns < 0) return sf_fail(error, SF_USAGE, NULL, "the longest stall is negative");
    return SF_OK;
}

static int open_inlets(sf_merge *merge, const sf_merge_settings *settings, sf_error *error)
{
    uint32_t offset = 0;
    for (; merge->count < settings->inlet_count; merge->count++) {
        const sf_inlet_settings *inlet = &settings->inlets[merge->count];
        entry *made = &merge->entries[merge->count];
        *made = (entry){.unit_offset = offset, .promise = {INT64_MIN, 0}, .reached = {INT64_MIN, 0}};
        int status = sf_inlet_open(&made->inlet, inlet, offset, error);
        if (status != SF_OK) return status;
        offset += (uint32_t)inlet->unit_count;
    }
    return SF_OK;
}

int sf_merge_open(sf_merge **merge, const sf_merge_settings *settings, sf_error *error)
{
    *merge = NULL;
    int status = check(settings, error);
    if (status != SF_OK) return status;
    sf_merge *made = sf_alloc(1, sizeof *made);
    if (made == NULL) return sf_fail_memory(error);
    made->stall_ns = settings->stall_ns;
    made->drop_duplicates = settings->drop_duplicates;
    made->bound = (sf_place){INT64_MIN, 0};
    made->last_marker_ns = INT64_MIN;
    made->batch = settings->batch != 0 ? settings->batch : SPIKE_BATCH;
    made->entries = sf_alloc(settings->inlet_count, sizeof *made->entries);
    made->spikes = sf_alloc(made->batch, sizeof *made->spikes);
    made->arrivals = sf_alloc(made->batch, sizeof *made->arrivals);
    made->marker_room = settings->inlet_count * SF_INLET_MARKERS;
    made->markers = sf_alloc(made->marker_room, sizeof *made->markers);
    bool whole =
        made->entries != NULL && made->spikes != NULL && made->arrivals != NULL && made->markers != NULL;
    status = whole ? open_inlets(made, settings, error) : sf_fail_memory(error);
    if (status != SF_OK) {
        sf_merge_close(made);
        return status;
    }
    *merge = made;
    return SF_OK;
}

void sf_merge_close(sf_merge *merge)
{
    if (merge == NULL) return;
    for (size_t i = 0; i < merge->count; i++)
        sf_inlet_close(merge->entries[i].inlet);
    sf_free(merge->entries);
    sf_free(merge->spikes);
    sf_free(merge->arrivals);
    sf_free(merge->markers);
    sf_free(merge);
}

sf_inlet *sf_merge_inlet(const sf_merge *merge, size_t index)
{
    return merge->entries[index].inlet;
}

/* ---- the watermark ---- */

static sf_place furthest_reached(const sf_merge *merge)
{
    sf_place furthest = sf_inlet_reached(merge->entries[0].inlet);
    for (size_t i = 1; i < merge->count; i++) {
        sf_place reached = sf_inlet_reached(merge->entries[i].inlet);
        if (sf_place_before(furthest, reached)) furthest = reached;
    }
    return furthest;
}

/* A source stalls when for stall_ns others have been further than its promise and nothing further came of
 * it. One that goes on is waited for at once: what it promised may be ahead of what its lateness lets it. */
static void watch_stall(entry *source, sf_place furthest, int64_t stall_ns, int64_t now_ns)
{
    sf_place promise = sf_inlet_promise(source->inlet), reached = sf_inlet_reached(source->inlet);
    bool advanced = sf_place_before(source->promise, promise) || sf_place_before(source->reached, reached);
    source->promise = promise;
    source->reached = reached;
    if (advanced || !sf_place_before(promise, furthest)) {
        source->holds = source->stalled = false;
    } else if (!source->holds) {
        source->holds = true;
        source->held_up = now_ns;
    } else if (stall_ns > 0 && !source->stalled && now_ns - source->held_up >= stall_ns) {
        source->stalled = true;
        sf_inlet_note_stall(source->inlet);
    }
}

/* The least promise of the sources that are waited for. Returns false where all sources ended. */
static bool find_bound(sf_merge *merge, int64_t now_ns, sf_place *bound)
{
    sf_place furthest = furthest_reached(merge);
    bool any_open = false;
    *bound = furthest;
    for (size_t i = 0; i < merge->count; i++) {
        entry *source = &merge->entries[i];
        if (sf_inlet_ended(source->inlet)) continue;
        any_open = true;
        watch_stall(source, furthest, merge->stall_ns, now_ns);
        if (!source->stalled && sf_place_before(source->promise, *bound)) *bound = source->promise;
    }
    return any_open;
}

static sf_place stream_end(const sf_merge *merge)
{
    sf_place end = {INT64_MIN, 0};
    for (size_t i = 0; i < merge->count; i++) {
        int64_t stop = sf_inlet_stop_ns(merge->entries[i].inlet);
        if (stop > end.time_ns) end.time_ns = stop;
    }
    if (end.time_ns == INT64_MAX) /* where times were cut to: all that lies there is before the end */
        end.unit = UINT32_MAX;
    return end;
}

/* ---- giving out ---- */

static sf_place first_place(const entry *source)
{
    return sf_place_of(&sf_inlet_first(source->inlet)->spike);
}

/* The source whose first spike is next in stream order, or NULL; *until is the place up to which it may go
 * on: the bound, or the next source's first spike. */
static entry *next_source(const sf_merge *merge, sf_place *until)
{
    entry *next = NULL;
    *until = merge->bound;
    for (size_t i = 0; i < merge->count; i++) {
        entry *source = &merge->entries[i];
        if (sf_inlet_first(source->inlet) == NULL || sf_place_before(*until, first_place(source))) continue;
        if (next != NULL && !sf_place_before(first_place(source), first_place(next))) {
            *until = first_place(source);
            continue;
        }
        if (next != NULL) *until = first_place(next);
        next = source;
    }
    return next;
}

/* Gives out spikes of one source up to a place. */
static void emit_run(sf_merge *merge, entry *source, sf_place until, sf_merged *merged)
{
    size_t count, taken = 0, duplicates = 0, before = merged->spike_count;
    const sf_held *held = sf_inlet_waiting(source->inlet, &count);
    for (; taken < count && merged->spike_count < merge->batch; taken++) {
        sf_place place = sf_place_of(&held[taken].spike);
        if (sf_place_before(until, place)) break;
        bool duplicate = merge->any_emitted && !sf_place_before(merge->last_emitted, place);
        duplicates += duplicate;
        if (!duplicate || !merge->drop_duplicates) {
            merge->spikes[merged->spike_count] = held[taken].spike;
            merge->arrivals[merged->spike_count++] = held[taken].arrival_ns;
        }
        merge->last_emitted = place;
        merge->any_emitted = true;
    }
    sf_inlet_release(source->inlet, taken, duplicates, merged->spike_count - before);
}

/* Returns false where the batch is full and spikes before the bound are left. */
static bool emit_spikes(sf_merge *merge, sf_merged *merged)
{
    sf_place until;
    entry *source;
    while ((source = next_source(merge, &until)) != NULL) {
        if (merged->spike_count == merge->batch) return false;
        emit_run(merge, source, until, merged);
    }
    return true;
}

/* Markers up to a time, in time order; returns false where the batch is full. */
static bool emit_markers(sf_merge *merge, int64_t until_ns, sf_merged *merged)
{
    while (merged->marker_count < merge->marker_room) {
        sf_inlet *from = NULL;
        const sf_marker *next = NULL;
        for (size_t i = 0; i < merge->count; i++) {
            const sf_marker *first = sf_inlet_first_marker(merge->entries[i].inlet, until_ns);
            if (first != NULL && (next == NULL || first->time_ns < next->time_ns)) {
                next = first;
                from = merge->entries[i].inlet;
            }
        }
        if (next == NULL) return true;
        bool late = next->time_ns < merge->last_marker_ns;
        if (!late) {
            merge->last_marker_ns = next->time_ns;
            merge->markers[merged->marker_count++] = *next;
        }
        sf_inlet_release_marker(from, late);
    }
    return false;
}

void sf_merge_pull(sf_merge *merge, int64_t now_ns, sf_merged *merged)
{
    bool all_in = true;
    for (size_t i = 0; i < merge->count; i++)
        all_in = sf_inlet_take_in(merge->entries[i].inlet, merge->bound) && all_in;
    sf_place bound;
    bool open = find_bound(merge, now_ns, &bound);
    if (!open) bound = stream_end(merge);
    if (sf_place_before(merge->bound, bound)) merge->bound = bound;
    *merged = (sf_merged){.spikes = merge->spikes, .arrivals_ns = merge->arrivals, .markers = merge->markers};
    bool all_out = emit_spikes(merge, merged);
    merged->watermark_ns = all_out ? merge->bound.time_ns : merge->last_emitted.time_ns;
    all_out = emit_markers(merge, open ? merged->watermark_ns : INT64_MAX, merged) && all_out;
    merged->more = !all_out || (!all_in && merged->spike_count + merged->marker_count > 0);
    merged->ended = !open && all_in && all_out;
}
