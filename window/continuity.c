/* SPDX-License-Identifier: Apache-2.0 */
#include "window/continuity.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* A frame that is held back: its items lie in `held`, one frame after the other. */
typedef struct frame {
    size_t spikes, markers;
    int64_t clock_ns, arrival_ns;
} frame;

typedef struct items {
    sf_spike *spikes;
    sf_marker *markers;
    size_t spike_count, marker_count, spike_capacity, marker_capacity;
} items;

struct sf_continuity {
    sf_continuity_settings settings;
    bool began;   /* something was believed */
    bool settled; /* ... of the present run */
    int64_t front_ns, front_arrival_ns;
    int64_t lead_ns; /* the most that the stream was ahead of arrival, less what clocks may drift since */

    int64_t near_to_ns; /* of the frame that is taken in: what is further is not near */

    bool doubting;
    int64_t from_ns, to_ns; /* first and furthest time of the place that is doubted */
    int64_t seen_ns;        /* arrival of its newest frame */
    unsigned went_on;       /* frames that went on from there */
    int64_t undone_ns;      /* where the doubt that was undone last began: not counted anew */
    frame frames[SF_CONTINUITY_HELD];
    size_t frame_count;
    items held;

    items near;       /* of a frame that is near in part */
    items stragglers; /* of a doubt that was undone */
    sf_marker seam;   /* what a step or an epoch is told by */
    sf_batch out[SF_CONTINUITY_HELD + 4];
    size_t out_count, out_next;

    _Atomic uint64_t held_spikes, leaps, late, markers_left_out, undone, steps, epochs;
};

static void add(_Atomic uint64_t *counter, uint64_t amount)
{
    atomic_fetch_add_explicit(counter, amount, memory_order_relaxed);
}

int sf_continuity_open(sf_continuity **out, const sf_continuity_settings *settings, sf_error *error)
{
    *out = sf_alloc(1, sizeof **out);
    if (*out == NULL) return sf_fail_memory(error);
    (*out)->settings = *settings;
    (*out)->undone_ns = INT64_MIN;
    return SF_OK;
}

void sf_continuity_close(sf_continuity *continuity)
{
    if (continuity == NULL) return;
    sf_free(continuity->held.spikes);
    sf_free(continuity->held.markers);
    sf_free(continuity->near.spikes);
    sf_free(continuity->near.markers);
    sf_free(continuity->stragglers.spikes);
    sf_free(continuity->stragglers.markers);
    sf_free(continuity);
}

sf_continuity_counts sf_continuity_count(const sf_continuity *it)
{
    return (sf_continuity_counts){.held = atomic_load(&it->held_spikes),
                                  .leaps = atomic_load(&it->leaps),
                                  .late = atomic_load(&it->late),
                                  .markers_left_out = atomic_load(&it->markers_left_out),
                                  .undone = atomic_load(&it->undone),
                                  .steps = atomic_load(&it->steps),
                                  .epochs = atomic_load(&it->epochs)};
}

/* ---- where a time lies ---- */

typedef enum verdict { NEAR, FAR, IMPOSSIBLE } verdict;

static bool impossible(int64_t time_ns)
{
    return time_ns <= -SF_CONTINUITY_MOST || time_ns >= SF_CONTINUITY_MOST;
}

/* As far as the stream may have come from `time_ns`, which arrived at `since_ns`, by now. */
static int64_t reach(const sf_continuity *it, int64_t time_ns, int64_t since_ns, int64_t now_ns)
{
    int64_t passed = now_ns > since_ns ? now_ns - since_ns : 0;
    return sf_time_plus(time_ns, sf_time_plus(it->settings.leap_ns, passed));
}

/* The furthest that belongs to the same place as `time_ns`, behind it. */
static int64_t back_to(const sf_continuity *it, int64_t time_ns)
{
    const sf_continuity_settings *settings = &it->settings;
    int64_t back = settings->leap_ns > settings->lateness_ns ? settings->leap_ns : settings->lateness_ns;
    return sf_time_plus(time_ns, -back);
}

static int64_t behind(const sf_continuity *it)
{
    int64_t lateness_ns = it->settings.lateness_ns;
    return lateness_ns > SF_CONTINUITY_BEHIND_NS ? lateness_ns : SF_CONTINUITY_BEHIND_NS;
}

static verdict judge(const sf_continuity *it, int64_t time_ns)
{
    if (impossible(time_ns)) return IMPOSSIBLE;
    if (!it->settled) return FAR;
    if (it->settings.leap_ns == 0) return NEAR;
    bool near = time_ns <= it->near_to_ns && time_ns >= sf_time_plus(it->front_ns, -behind(it));
    return near ? NEAR : FAR;
}

/* Whether a batch's clock says something: one that is behind does not, nor does that of a run's first word,
 * which may not have been set yet. */
static bool has_clock(const sf_continuity *it, const sf_batch *batch)
{
    return batch->clock_ns != INT64_MIN && batch->restarts == 0 &&
           (!it->settled || batch->clock_ns > it->front_ns);
}

/* ---- what is given on ---- */

static void give(sf_continuity *it, sf_batch batch)
{
    it->out[it->out_count++] = batch;
}

bool sf_continuity_next(sf_continuity *it, sf_batch *batch)
{
    if (it->out_next == it->out_count) return false;
    *batch = it->out[it->out_next++];
    return true;
}

static void begin_output(sf_continuity *it)
{
    it->out_count = it->out_next = 0;
    if (it->doubting) return;
    it->frame_count = it->held.spike_count = it->held.marker_count = 0;
}

/* What a batch says beside its times. */
static sf_batch without_times(const sf_batch *batch)
{
    sf_batch rest = *batch;
    rest.spike_count = rest.marker_count = 0;
    rest.clock_ns = INT64_MIN;
    return rest;
}

/* ---- holding ---- */

static void leave_out_spike(sf_continuity *it, int64_t time_ns)
{
    add(it->settled && time_ns < it->front_ns ? &it->late : &it->leaps, 1);
}

static int append(items *to, const sf_spike *spike, const sf_marker *marker)
{
    void *spikes = to->spikes, *markers = to->markers;
    if (spike != NULL && sf_reserve(&spikes, &to->spike_capacity, to->spike_count + 1, sizeof *spike) != 0)
        return SF_NO_MEMORY;
    to->spikes = spikes;
    if (marker != NULL &&
        sf_reserve(&markers, &to->marker_capacity, to->marker_count + 1, sizeof *marker) != 0)
        return SF_NO_MEMORY;
    to->markers = markers;
    if (spike != NULL) to->spikes[to->spike_count++] = *spike;
    if (marker != NULL) to->markers[to->marker_count++] = *marker;
    return SF_OK;
}

/* Puts the items of a batch that have this verdict behind those that are there. */
static int append_items(sf_continuity *it, items *to, const sf_batch *batch, verdict wanted)
{
    int status = SF_OK;
    for (size_t i = 0; i < batch->spike_count && status == SF_OK; i++)
        if (judge(it, batch->spikes[i].time_ns) == wanted) status = append(to, &batch->spikes[i], NULL);
    for (size_t i = 0; i < batch->marker_count && status == SF_OK; i++)
        if (judge(it, batch->markers[i].time_ns) == wanted) status = append(to, NULL, &batch->markers[i]);
    return status;
}

/* Leaves out what the first `spikes` and `markers` of those held are. */
static void leave_out_first(sf_continuity *it, size_t spikes, size_t markers)
{
    items *held = &it->held;
    for (size_t i = 0; i < spikes; i++)
        leave_out_spike(it, held->spikes[i].time_ns);
    add(&it->markers_left_out, markers);
    held->spike_count -= spikes;
    held->marker_count -= markers;
    if (held->spike_count > 0)
        memmove(held->spikes, held->spikes + spikes, held->spike_count * sizeof *held->spikes);
    if (held->marker_count > 0)
        memmove(held->markers, held->markers + markers, held->marker_count * sizeof *held->markers);
}

static void leave_out_oldest(sf_continuity *it)
{
    leave_out_first(it, it->frames[0].spikes, it->frames[0].markers);
    memmove(it->frames, it->frames + 1, --it->frame_count * sizeof *it->frames);
}

static int hold(sf_continuity *it, const sf_batch *batch, sf_error *error)
{
    size_t incoming = batch->spike_count + batch->marker_count;
    while (it->frame_count > 0 &&
           (it->frame_count == SF_CONTINUITY_HELD ||
            it->held.spike_count + it->held.marker_count + incoming > SF_CONTINUITY_ITEMS))
        leave_out_oldest(it);
    size_t spikes = it->held.spike_count, markers = it->held.marker_count;
    if (append_items(it, &it->held, batch, FAR) != SF_OK) return sf_fail_memory(error);
    it->frames[it->frame_count++] = (frame){.spikes = it->held.spike_count - spikes,
                                            .markers = it->held.marker_count - markers,
                                            .clock_ns = has_clock(it, batch) ? batch->clock_ns : INT64_MIN,
                                            .arrival_ns = batch->arrival_ns};
    return SF_OK;
}

static void count_undone(sf_continuity *it, int64_t from_ns)
{
    add(&it->undone, from_ns != it->undone_ns);
    it->undone_ns = from_ns;
}

static void give_frames(sf_continuity *it, const items *of)
{
    const sf_spike *spikes = of->spikes;
    const sf_marker *markers = of->markers;
    for (size_t f = 0; f < it->frame_count; f++) {
        const frame *now = &it->frames[f];
        give(it, (sf_batch){.spikes = spikes,
                            .spike_count = now->spikes,
                            .markers = markers,
                            .marker_count = now->markers,
                            .clock_ns = now->clock_ns,
                            .arrival_ns = now->arrival_ns});
        spikes = now->spikes > 0 ? spikes + now->spikes : spikes;
        markers = now->markers > 0 ? markers + now->markers : markers;
    }
}

/* Whether what is held is behind by so little that the inlet may judge it. */
static bool straggles(const sf_continuity *it)
{
    return it->settled && it->to_ns < it->front_ns && it->from_ns >= back_to(it, it->front_ns);
}

/* What is held moves aside, since another doubt may begin before it is fetched. */
static void give_stragglers(sf_continuity *it)
{
    items aside = it->stragglers;
    it->stragglers = it->held;
    it->held = aside;
    it->held.spike_count = it->held.marker_count = 0;
    give_frames(it, &it->stragglers);
}

static void undo(sf_continuity *it)
{
    if (!it->doubting) return;
    if (straggles(it)) {
        give_stragglers(it);
    } else {
        leave_out_first(it, it->held.spike_count, it->held.marker_count);
        count_undone(it, it->from_ns);
    }
    it->frame_count = 0;
    it->doubting = false;
}

/* ---- believing ---- */

/* Leaves out what is held and lies elsewhere, and gives the first time that stays. */
static int64_t keep_within(sf_continuity *it, int64_t low_ns, int64_t high_ns)
{
    items *held = &it->held;
    int64_t first_ns = INT64_MAX;
    size_t spike = 0, marker = 0, spikes = 0, markers = 0;
    for (size_t f = 0; f < it->frame_count; f++) {
        frame *of = &it->frames[f];
        size_t spike_end = spike + of->spikes, marker_end = marker + of->markers;
        size_t spikes_before = spikes, markers_before = markers;
        for (; spike < spike_end; spike++) {
            int64_t time_ns = held->spikes[spike].time_ns;
            if (time_ns < low_ns || time_ns > high_ns) {
                leave_out_spike(it, time_ns);
                continue;
            }
            held->spikes[spikes++] = held->spikes[spike];
            first_ns = time_ns < first_ns ? time_ns : first_ns;
        }
        for (; marker < marker_end; marker++) {
            int64_t time_ns = held->markers[marker].time_ns;
            if (time_ns < low_ns || time_ns > high_ns) {
                add(&it->markers_left_out, 1);
                continue;
            }
            held->markers[markers++] = held->markers[marker];
            first_ns = time_ns < first_ns ? time_ns : first_ns;
        }
        of->spikes = spikes - spikes_before;
        of->markers = markers - markers_before;
        if (of->clock_ns < low_ns || of->clock_ns > high_ns) of->clock_ns = INT64_MIN;
    }
    held->spike_count = spikes;
    held->marker_count = markers;
    return first_ns != INT64_MAX ? first_ns : it->from_ns;
}

/* Whether the times of a new run go on from those before. */
static bool goes_on(const sf_continuity *it, int64_t first_ns)
{
    return first_ns >= it->front_ns &&
           (it->settings.leap_ns == 0 ||
            it->to_ns <= reach(it, it->front_ns, it->front_arrival_ns, it->seen_ns));
}

/* What follows may lie behind the first of an epoch by the lateness, as spikes of one block of a rig do: it,
 * too, has its place behind what was there before. */
static void tell(sf_continuity *it, int64_t first_ns, bool joins, const char *words)
{
    it->seam = (sf_marker){.time_ns = first_ns, .kind = SF_MARKER_TEXT};
    snprintf(it->seam.text, sizeof it->seam.text, "synfire: %s", words);
    give(it, (sf_batch){.markers = &it->seam,
                        .marker_count = 1,
                        .clock_ns = INT64_MIN,
                        .arrival_ns = it->seen_ns,
                        .joins = joins,
                        .base_ns = sf_time_plus(first_ns, -it->settings.lateness_ns)});
}

/* Says what happened where the stream goes on at `first_ns`. */
static void give_seam(sf_continuity *it, int64_t first_ns)
{
    if (!it->began) return;
    bool ahead = it->settled && first_ns > it->front_ns;
    bool joins = it->settled ? !ahead : !goes_on(it, first_ns);
    add(&it->steps, ahead);
    add(&it->epochs, joins);
    tell(it, first_ns, joins,
         ahead         ? "the clock stepped ahead"
         : it->settled ? "the clock went back, joined on"
         : joins       ? "the sender and its clock began anew"
                       : "the sender began anew");
}

static void believe(sf_continuity *it)
{
    int64_t low_ns = it->settings.leap_ns > 0 ? back_to(it, it->from_ns) : INT64_MIN;
    if (it->settled && it->from_ns > it->front_ns && low_ns <= it->front_ns)
        low_ns = it->front_ns + 1; /* what was held there is behind the front */
    int64_t first_ns = keep_within(it, low_ns, it->to_ns);
    give_seam(it, first_ns);
    give_frames(it, &it->held);
    it->began = it->settled = true;
    it->doubting = false;
    it->front_ns = it->to_ns;
    it->front_arrival_ns = it->seen_ns;
    it->lead_ns = sf_time_plus(it->front_ns, -it->seen_ns);
}

/* ---- a frame ---- */

/* What the times of a frame come to. */
typedef struct sorted {
    size_t near, far, impossible;
    int64_t near_high_ns;
    int64_t low_ns, high_ns; /* of the far ones; those further than a leap from the one before left aside */
} sorted;

/* The times of a batch's spikes and markers, in order. */
typedef struct times {
    const sf_batch *of;
    size_t spike, marker;
} times;

static bool next_time(times *it, int64_t *time_ns)
{
    bool spike = it->spike < it->of->spike_count, marker = it->marker < it->of->marker_count;
    if (!spike && !marker) return false;
    spike = spike && (!marker || it->of->spikes[it->spike].time_ns <= it->of->markers[it->marker].time_ns);
    *time_ns = spike ? it->of->spikes[it->spike++].time_ns : it->of->markers[it->marker++].time_ns;
    return true;
}

static int64_t a_leap_from(const sf_continuity *it, int64_t time_ns)
{
    return it->settings.leap_ns > 0 ? sf_time_plus(time_ns, it->settings.leap_ns) : INT64_MAX;
}

/* As far as times of the frame are near: each that is lets those after it be a leap further. What waited for
 * long comes at once, and may be longer than a leap. */
static int64_t near_to(const sf_continuity *it, const sf_batch *batch, int64_t to_ns)
{
    times all = {.of = batch};
    for (int64_t time_ns; next_time(&all, &time_ns) && time_ns <= to_ns;)
        to_ns = a_leap_from(it, time_ns) > to_ns ? a_leap_from(it, time_ns) : to_ns;
    return to_ns;
}

static void sort_time(sf_continuity *it, sorted *all, int64_t time_ns)
{
    verdict is = judge(it, time_ns);
    all->near += is == NEAR;
    all->far += is == FAR;
    all->impossible += is == IMPOSSIBLE;
    if (is == NEAR && time_ns > all->near_high_ns) all->near_high_ns = time_ns;
    if (is == FAR && time_ns < all->low_ns) all->low_ns = time_ns;
}

static void raise_high(const sf_continuity *it, sorted *all, int64_t time_ns)
{
    int64_t from_ns = all->high_ns > all->low_ns ? all->high_ns : all->low_ns;
    if (judge(it, time_ns) == FAR && time_ns <= a_leap_from(it, from_ns) && time_ns > all->high_ns)
        all->high_ns = time_ns;
}

/* What nearly all frames are: near from their first time to their last, so that no time need be judged alone.
 */
static bool sort_near(const sf_continuity *it, sorted *all, const sf_batch *batch)
{
    bool clock = has_clock(it, batch);
    int64_t low_ns = clock ? batch->clock_ns : INT64_MAX, high_ns = clock ? batch->clock_ns : INT64_MIN;
    for (size_t i = 0; i < batch->spike_count; i++) {
        int64_t time_ns = batch->spikes[i].time_ns;
        low_ns = time_ns < low_ns ? time_ns : low_ns;
        high_ns = time_ns > high_ns ? time_ns : high_ns;
    }
    for (size_t i = 0; i < batch->marker_count; i++) {
        int64_t time_ns = batch->markers[i].time_ns;
        low_ns = time_ns < low_ns ? time_ns : low_ns;
        high_ns = time_ns > high_ns ? time_ns : high_ns;
    }
    if (low_ns > high_ns || judge(it, low_ns) != NEAR || judge(it, high_ns) != NEAR) return false;
    all->near = batch->spike_count + batch->marker_count + clock;
    all->near_high_ns = high_ns;
    return true;
}

static sorted sort_out(sf_continuity *it, const sf_batch *batch)
{
    sorted all = {.near_high_ns = INT64_MIN, .low_ns = INT64_MAX, .high_ns = INT64_MIN};
    times first = {.of = batch}, again = first;
    int64_t time_ns;
    it->near_to_ns = reach(it, it->front_ns, it->front_arrival_ns, batch->arrival_ns);
    if (sort_near(it, &all, batch)) return all;
    it->near_to_ns = near_to(it, batch, it->near_to_ns);
    while (next_time(&first, &time_ns))
        sort_time(it, &all, time_ns);
    if (has_clock(it, batch)) sort_time(it, &all, batch->clock_ns);
    while (all.far > 0 && next_time(&again, &time_ns))
        raise_high(it, &all, time_ns);
    if (all.far > 0 && has_clock(it, batch)) raise_high(it, &all, batch->clock_ns);
    return all;
}

static void leave_out_impossible(sf_continuity *it, const sf_batch *batch)
{
    for (size_t i = 0; i < batch->spike_count; i++)
        add(&it->leaps, impossible(batch->spikes[i].time_ns));
    for (size_t i = 0; i < batch->marker_count; i++)
        add(&it->markers_left_out, impossible(batch->markers[i].time_ns));
    if (has_clock(it, batch) && impossible(batch->clock_ns)) count_undone(it, batch->clock_ns);
}

/* Two clocks drift apart by far less than this part of what has passed since the last frame. */
static int64_t drift(const sf_continuity *it, int64_t now_ns)
{
    return now_ns > it->front_arrival_ns ? (now_ns - it->front_arrival_ns) / 1000 : 0;
}

/* A step that is too small to be doubted: it goes through at once, but not in silence. */
static void tell_small_step(sf_continuity *it, const sf_batch *batch, const sorted *all)
{
    int64_t ahead_ns = sf_time_plus(all->near_high_ns, -batch->arrival_ns);
    int64_t most_ns = sf_time_plus(it->lead_ns, SF_CONTINUITY_AHEAD_NS + drift(it, batch->arrival_ns));
    if (it->settings.leap_ns == 0 || ahead_ns <= most_ns) return;
    add(&it->steps, 1);
    it->seen_ns = batch->arrival_ns;
    tell(it, all->near_high_ns, false, "the clock stepped ahead");
}

/* Gives on what of the frame is near. */
static int give_near(sf_continuity *it, const sf_batch *batch, const sorted *all, sf_error *error)
{
    undo(it);
    tell_small_step(it, batch, all);
    it->near.spike_count = it->near.marker_count = 0;
    sf_batch near = *batch;
    if (all->far + all->impossible > 0) {
        if (append_items(it, &it->near, batch, NEAR) != SF_OK) return sf_fail_memory(error);
        near.spikes = it->near.spikes;
        near.spike_count = it->near.spike_count;
        near.markers = it->near.markers;
        near.marker_count = it->near.marker_count;
        if (judge(it, batch->clock_ns) != NEAR) near.clock_ns = INT64_MIN;
    }
    give(it, near);
    return SF_OK;
}

static void move_front(sf_continuity *it, const sf_batch *batch, const sorted *all)
{
    if (all->near == 0) return;
    int64_t lead_ns = sf_time_plus(it->lead_ns, -drift(it, batch->arrival_ns)); /* of a clock that is slow */
    int64_t ahead_ns = sf_time_plus(all->near_high_ns, -batch->arrival_ns);
    it->lead_ns = ahead_ns > lead_ns ? ahead_ns : lead_ns;
    if (all->near_high_ns > it->front_ns) it->front_ns = all->near_high_ns;
    it->front_arrival_ns = batch->arrival_ns;
}

/* A frame that is far, or what of it is: holds it and follows where the stream goes. */
static int doubt(sf_continuity *it, const sf_batch *batch, const sorted *all, sf_error *error)
{
    bool there = it->doubting && (it->settings.leap_ns == 0 ||
                                  (all->low_ns >= back_to(it, it->to_ns) &&
                                   all->low_ns <= reach(it, it->to_ns, it->seen_ns, batch->arrival_ns)));
    bool further = !there || all->high_ns > it->to_ns;
    if (!there) {
        if (it->doubting) count_undone(it, it->from_ns);
        it->from_ns = all->low_ns;
        it->went_on = 0;
    } else {
        it->from_ns = all->low_ns < it->from_ns ? all->low_ns : it->from_ns;
        it->went_on += further;
    }
    if (further) it->to_ns = all->high_ns;
    it->doubting = true;
    it->seen_ns = batch->arrival_ns;
    int status = SF_OK;
    if (further || batch->spike_count + batch->marker_count > 0) status = hold(it, batch, error);
    if (status == SF_OK && it->went_on >= (it->settings.leap_ns > 0 ? SF_CONTINUITY_FRAMES : 0)) believe(it);
    return status;
}

static void begin_run(sf_continuity *it)
{
    undo(it);
    it->settled = false;
    it->undone_ns = INT64_MIN;
}

int sf_continuity_take(sf_continuity *it, const sf_batch *batch, sf_error *error)
{
    begin_output(it);
    if (batch->restarts > 0) begin_run(it);
    sorted all = sort_out(it, batch);
    if (all.impossible > 0) leave_out_impossible(it, batch);
    int status = SF_OK;
    if (all.near > 0)
        status = give_near(it, batch, &all, error);
    else
        give(it, without_times(batch));
    if (all.far > 0 && status == SF_OK) status = doubt(it, batch, &all, error);
    move_front(it, batch, &all);
    atomic_store(&it->held_spikes, it->doubting ? it->held.spike_count : 0);
    return status;
}

void sf_continuity_end(sf_continuity *it)
{
    begin_output(it);
    if (it->doubting && !it->settled) believe(it);
    undo(it);
    atomic_store(&it->held_spikes, 0);
}
