/* SPDX-License-Identifier: Apache-2.0 */
#include "window/inlet.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"
#include "window/due.h"

#include <string.h>

#define NOTE_RING 1024

/* What the source reported beside its spikes: it applies once this many spikes and markers were taken in. */
typedef struct note {
    uint64_t spikes_after, markers_after; /* as counted by the rings */
    int64_t clock_ns;                     /* INT64_MIN: none */
    int64_t arrival_ns;
    bool ends_batch;
    bool joins; /* its items are the first of an epoch that has base_ns where the stream is */
    int64_t base_ns;
    bool tells_due; /* as of sf_batch */
    int64_t due_offset_ns;
} note;

struct sf_inlet {
    sf_inlet_settings settings;
    uint32_t unit_offset;
    sf_ring spikes, markers, notes;

    /* The source's thread. */
    size_t spikes_done, markers_done; /* of the batch on offer */
    bool faults_counted;              /* of the batch on offer */
    note owed;                        /* the last note, where the ring had no room for it */
    bool owes;
    _Atomic uint64_t offered, left_out, gaps, gap_lost, malformed, other_streams, restarts;
    atomic_bool finished;

    /* The merge's thread. */
    unsigned char before_merge[SF_CACHE_LINE];
    note current; /* the note whose items are being taken in */
    bool has_current, closing;
    atomic_bool ended;
    bool any_spike;
    sf_place newest;  /* of the spikes taken in */
    sf_place promise; /* nothing before it will come */
    int64_t clock_ns;
    sf_held *held; /* 2 * room: at most `room` of them are in use, first .. last - 1, in stream order */
    size_t room, first, last;
    sf_marker waiting[SF_INLET_MARKERS]; /* in time order, from index first_marker & (SF_INLET_MARKERS - 1) */
    uint64_t first_marker, last_marker;
    _Atomic uint64_t emitted, late, out_of_range, duplicate, hurried, emitted_markers, late_markers, stalls;
    _Atomic int64_t lateness_max_ns, shift_ns;
};

/* One thread writes each counter, so a plain addition will do. */
static void add(_Atomic uint64_t *counter, uint64_t amount)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + amount,
                          memory_order_relaxed);
}

int sf_inlet_open(sf_inlet **inlet, const sf_inlet_settings *settings, uint32_t unit_offset, sf_error *error)
{
    *inlet = NULL;
    sf_inlet *made = sf_alloc(1, sizeof *made);
    if (made == NULL) return sf_fail_memory(error);
    made->settings = *settings;
    made->unit_offset = unit_offset;
    made->newest = made->promise = (sf_place){INT64_MIN, 0};
    made->clock_ns = INT64_MIN;
    int status = sf_ring_open(&made->spikes, sizeof(sf_spike), settings->ring, settings->policy, error);
    if (status == SF_OK)
        status = sf_ring_open(&made->markers, sizeof(sf_marker), SF_INLET_MARKERS, settings->policy, error);
    if (status == SF_OK) status = sf_ring_open(&made->notes, sizeof(note), NOTE_RING, SF_RING_BLOCK, error);
    if (status == SF_OK) {
        made->room = made->spikes.limit;
        made->held = sf_alloc(made->room, 2 * sizeof *made->held);
        status = made->held != NULL ? SF_OK : sf_fail_memory(error);
    }
    if (status != SF_OK) {
        sf_inlet_close(made);
        return status;
    }
    *inlet = made;
    return SF_OK;
}

void sf_inlet_close(sf_inlet *inlet)
{
    if (inlet == NULL) return;
    sf_ring_close(&inlet->spikes);
    sf_ring_close(&inlet->markers);
    sf_ring_close(&inlet->notes);
    sf_free(inlet->held);
    sf_free(inlet);
}

/* ---- the source's thread ---- */

static bool waits(const sf_inlet *inlet)
{
    return inlet->settings.policy == SF_RING_BLOCK;
}

static void offer_markers(sf_inlet *inlet, const sf_batch *batch)
{
    size_t rest = batch->marker_count - inlet->markers_done;
    if (rest == 0) return;
    size_t pushed = sf_ring_push(&inlet->markers, batch->markers + inlet->markers_done, rest);
    inlet->markers_done += waits(inlet) ? pushed : rest;
}

static void offer_spikes(sf_inlet *inlet, const sf_batch *batch)
{
    size_t rest = batch->spike_count - inlet->spikes_done;
    if (rest == 0) return;
    size_t pushed = sf_ring_push(&inlet->spikes, batch->spikes + inlet->spikes_done, rest);
    size_t taken = waits(inlet) ? pushed : rest;
    inlet->spikes_done += taken;
    add(&inlet->offered, taken);
}

/* Hands over the note that is owed; with a policy that does not wait, later notes are added to it meanwhile.
 */
static bool pay_note(sf_inlet *inlet)
{
    if (inlet->owes && sf_ring_push(&inlet->notes, &inlet->owed, 1) == 1) inlet->owes = false;
    return !inlet->owes;
}

static void owe_note(sf_inlet *inlet, const sf_batch *batch, bool first, bool complete)
{
    int64_t clock = complete ? batch->clock_ns : INT64_MIN;
    bool joins = first && batch->joins, still_joins = inlet->owes && inlet->owed.joins;
    if (inlet->owes && inlet->owed.clock_ns > clock) clock = inlet->owed.clock_ns;
    inlet->owed = (note){.spikes_after = sf_ring_pushed(&inlet->spikes),
                         .markers_after = sf_ring_pushed(&inlet->markers),
                         .clock_ns = clock,
                         .arrival_ns = batch->arrival_ns,
                         .ends_batch = complete,
                         .joins = joins || still_joins,
                         .base_ns = joins ? batch->base_ns : inlet->owed.base_ns,
                         .tells_due = batch->tells_due,
                         .due_offset_ns = batch->due_offset_ns};
    inlet->owes = true;
}

/* Once, however often the batch is offered. */
static void count_faults(sf_inlet *inlet, const sf_batch *batch)
{
    if (inlet->faults_counted) return;
    inlet->faults_counted = true;
    add(&inlet->gaps, batch->gaps);
    add(&inlet->gap_lost, batch->gap_lost);
    add(&inlet->malformed, batch->malformed);
    add(&inlet->other_streams, batch->other_streams);
    add(&inlet->restarts, batch->restarts);
    add(&inlet->left_out, batch->out_of_range);
}

bool sf_inlet_offer(sf_inlet *inlet, const sf_batch *batch)
{
    if (!pay_note(inlet) && (waits(inlet) || batch->joins)) return false;
    size_t before = inlet->markers_done + inlet->spikes_done;
    offer_markers(inlet, batch); /* first, so that a marker goes with the spikes around it */
    if (inlet->markers_done == batch->marker_count) offer_spikes(inlet, batch);
    bool complete = inlet->markers_done == batch->marker_count && inlet->spikes_done == batch->spike_count;
    if (!complete && inlet->markers_done + inlet->spikes_done == before) return false;
    count_faults(inlet, batch); /* before its spikes can be seen: who acts on these looks at it first */
    owe_note(inlet, batch, before == 0, complete);
    bool paid = pay_note(inlet);
    if (!complete || (!paid && waits(inlet))) return false;
    inlet->markers_done = inlet->spikes_done = 0;
    inlet->faults_counted = false;
    return true;
}

static bool has_room(const sf_ring *ring, uint64_t items)
{
    return ring->limit - sf_ring_fill(ring) >= items;
}

bool sf_inlet_has_room(const sf_inlet *inlet, size_t spikes, size_t markers)
{
    return !waits(inlet) || (sf_inlet_most_spikes(inlet) >= spikes && has_room(&inlet->spikes, spikes) &&
                             sf_inlet_most_markers(inlet) >= markers && has_room(&inlet->markers, markers) &&
                             has_room(&inlet->notes, 2)); /* one may be owed */
}

size_t sf_inlet_most_spikes(const sf_inlet *inlet)
{
    return waits(inlet) ? inlet->spikes.limit : SIZE_MAX;
}

size_t sf_inlet_most_markers(const sf_inlet *inlet)
{
    return waits(inlet) ? inlet->markers.limit : SIZE_MAX;
}

void sf_inlet_end(sf_inlet *inlet)
{
    atomic_store_explicit(&inlet->finished, true, memory_order_release);
}

sf_inlet_counts sf_inlet_count(const sf_inlet *inlet)
{
    return (sf_inlet_counts){
        .offered = atomic_load(&inlet->offered),
        .emitted = atomic_load(&inlet->emitted),
        .dropped = sf_ring_dropped(&inlet->spikes),
        .late = atomic_load(&inlet->late),
        .out_of_range = atomic_load(&inlet->out_of_range),
        .duplicate = atomic_load(&inlet->duplicate),
        .hurried = atomic_load(&inlet->hurried),
        .markers = atomic_load(&inlet->emitted_markers),
        .markers_late = atomic_load(&inlet->late_markers),
        .markers_dropped = sf_ring_dropped(&inlet->markers),
        .left_out = atomic_load(&inlet->left_out),
        .gaps = atomic_load(&inlet->gaps),
        .gap_lost = atomic_load(&inlet->gap_lost),
        .malformed = atomic_load(&inlet->malformed),
        .other_streams = atomic_load(&inlet->other_streams),
        .restarts = atomic_load(&inlet->restarts),
        .stalls = atomic_load(&inlet->stalls),
        .lateness_max_ns = atomic_load(&inlet->lateness_max_ns),
        .shift_ns = atomic_load(&inlet->shift_ns),
        .ring_fill = sf_ring_fill(&inlet->spikes),
        .ring_size = inlet->spikes.limit,
        .ended = atomic_load(&inlet->ended),
    };
}

/* ---- the merge's thread ---- */

static void raise_promise(sf_inlet *inlet, sf_place place)
{
    if (sf_place_before(inlet->promise, place)) inlet->promise = place;
}

static int64_t shifted(const sf_inlet *inlet, int64_t time_ns)
{
    return sf_time_plus(time_ns, atomic_load_explicit(&inlet->shift_ns, memory_order_relaxed));
}

/* Puts base_ns of the source's clock just after all that it and the merge have reached. */
static void join_epoch(sf_inlet *inlet, int64_t base_ns, sf_place given_out)
{
    sf_place reached = sf_inlet_reached(inlet);
    if (sf_place_before(reached, given_out)) reached = given_out;
    if (reached.time_ns == INT64_MIN) return; /* nothing to join on to */
    int64_t by_ns;
    if (__builtin_sub_overflow(sf_time_plus(reached.time_ns, 1), base_ns, &by_ns))
        by_ns = base_ns < 0 ? INT64_MAX : INT64_MIN;
    int64_t rest = by_ns % SF_MILLISECOND;
    if (rest != 0) by_ns = sf_time_plus(by_ns, rest > 0 ? SF_MILLISECOND - rest : -rest);
    atomic_store(&inlet->shift_ns, by_ns);
}

static void measure_lateness(sf_inlet *inlet, int64_t time_ns)
{
    int64_t late;
    if (time_ns >= inlet->newest.time_ns) return;
    if (__builtin_sub_overflow(inlet->newest.time_ns, time_ns, &late)) late = INT64_MAX;
    if (late > atomic_load_explicit(&inlet->lateness_max_ns, memory_order_relaxed))
        atomic_store_explicit(&inlet->lateness_max_ns, late, memory_order_relaxed);
}

/* Room behind those that wait; at most `room` of them do. */
static void make_room(sf_inlet *inlet, size_t count)
{
    if (2 * inlet->room - inlet->last >= count) return;
    memmove(inlet->held, inlet->held + inlet->first, (inlet->last - inlet->first) * sizeof *inlet->held);
    inlet->last -= inlet->first;
    inlet->first = 0;
}

/* When a spike of the current note, at this time of the source's own, was due: not after it arrived. */
static int64_t due_at(const sf_inlet *inlet, int64_t time_ns)
{
    const note *current = &inlet->current;
    return current->tells_due ? sf_due_at(current->due_offset_ns, time_ns, current->arrival_ns)
                              : current->arrival_ns;
}

/* Puts a spike in its place among those that wait; equal ones stay in the order they came. */
static void hold(sf_inlet *inlet, const sf_spike *spike, int64_t due_ns)
{
    make_room(inlet, 1);
    size_t at = inlet->last++;
    sf_held *held = inlet->held;
    while (at > inlet->first && sf_place_before(sf_place_of(spike), sf_place_of(&held[at - 1].spike)))
        at--;
    memmove(&held[at + 1], &held[at], (inlet->last - 1 - at) * sizeof *held);
    held[at] = (sf_held){*spike, due_ns};
}

static void admit(sf_inlet *inlet, sf_spike spike, sf_place given_out)
{
    if (spike.unit >= inlet->settings.unit_count) {
        add(&inlet->out_of_range, 1);
        return;
    }
    int64_t due_ns = due_at(inlet, spike.time_ns);
    spike.time_ns = shifted(inlet, spike.time_ns);
    spike.unit += inlet->unit_offset;
    sf_place place = sf_place_of(&spike);
    if (inlet->any_spike) measure_lateness(inlet, spike.time_ns);
    if (sf_place_before(place, inlet->promise) || sf_place_before(place, given_out)) {
        add(&inlet->late, 1);
        return;
    }
    hold(inlet, &spike, due_ns);
    if (!inlet->any_spike || sf_place_before(inlet->newest, place)) inlet->newest = place;
    inlet->any_spike = true;
    int64_t oldest = sf_time_plus(inlet->newest.time_ns, -inlet->settings.lateness_ns);
    raise_promise(inlet, (sf_place){oldest, 0});
}

/* What nearly all spikes are: in order behind all before them. They are held as they come, up to the first
 * that is not; returns how many. */
static size_t admit_in_order(sf_inlet *inlet, const sf_spike *spikes, size_t count, sf_place given_out)
{
    sf_place last = sf_place_before(inlet->promise, given_out) ? given_out : inlet->promise;
    if (sf_place_before(last, inlet->newest)) last = inlet->newest;
    make_room(inlet, count);
    sf_held *held = inlet->held + inlet->last;
    const int64_t shift_ns = atomic_load_explicit(&inlet->shift_ns, memory_order_relaxed);
    size_t taken = 0;
    for (; taken < count && spikes[taken].unit < inlet->settings.unit_count; taken++) {
        sf_spike spike = spikes[taken];
        spike.time_ns = sf_time_plus(spike.time_ns, shift_ns);
        spike.unit += inlet->unit_offset;
        if (sf_place_before(sf_place_of(&spike), last)) break;
        last = sf_place_of(&spike);
        held[taken] = (sf_held){spike, due_at(inlet, spikes[taken].time_ns)};
    }
    if (taken == 0) return 0;
    inlet->last += taken;
    inlet->newest = last;
    inlet->any_spike = true;
    raise_promise(inlet, (sf_place){sf_time_plus(last.time_ns, -inlet->settings.lateness_ns), 0});
    return taken;
}

static void admit_all(sf_inlet *inlet, const sf_spike *spikes, size_t count, sf_place given_out)
{
    for (size_t done = 0; done < count;) {
        done += admit_in_order(inlet, spikes + done, count - done, given_out);
        if (done < count) admit(inlet, spikes[done++], given_out);
    }
}

/* All the room is taken by spikes that wait for older ones of the same source: half of them must wait no
 * longer. What they waited for is late when it comes. */
static void hurry(sf_inlet *inlet)
{
    sf_place first = sf_place_of(&inlet->held[inlet->first].spike);
    if (!sf_place_before(inlet->promise, first)) return; /* they wait for another source */
    size_t half = inlet->room / 2;
    raise_promise(inlet, sf_place_of(&inlet->held[inlet->first + half].spike));
    add(&inlet->hurried, half + 1);
}

/* Takes in the spikes of the current note; false where there is no room for the rest. */
static bool take_spikes(sf_inlet *inlet, sf_place given_out)
{
    for (;;) {
        uint64_t popped = sf_ring_popped(&inlet->spikes);
        if (popped >= inlet->current.spikes_after) return true;
        size_t room = inlet->room - (inlet->last - inlet->first);
        if (room == 0) {
            hurry(inlet);
            return false;
        }
        uint64_t wanted = inlet->current.spikes_after - popped;
        if (wanted > room) wanted = room;
        const void *spikes;
        size_t taken = sf_ring_look(&inlet->spikes, &spikes, (size_t)wanted, NULL);
        admit_all(inlet, spikes, taken, given_out);
        sf_ring_release(&inlet->spikes, taken);
    }
}

static sf_marker *waiting_marker(const sf_inlet *inlet, uint64_t index)
{
    return (sf_marker *)&inlet->waiting[index & (SF_INLET_MARKERS - 1)];
}

/* Takes in the markers of the current note; false where there is no room for the rest. */
static bool take_markers(sf_inlet *inlet)
{
    while (sf_ring_popped(&inlet->markers) < inlet->current.markers_after) {
        if (inlet->last_marker - inlet->first_marker == SF_INLET_MARKERS) return false;
        sf_marker marker;
        sf_ring_pop(&inlet->markers, &marker, 1, NULL);
        marker.time_ns = shifted(inlet, marker.time_ns);
        uint64_t at = inlet->last_marker++;
        for (; at > inlet->first_marker && waiting_marker(inlet, at - 1)->time_ns > marker.time_ns; at--)
            *waiting_marker(inlet, at) = *waiting_marker(inlet, at - 1);
        *waiting_marker(inlet, at) = marker;
    }
    return true;
}

/* Makes the next note the current one. After the last comes one that the source still owed. */
static bool next_note(sf_inlet *inlet, sf_place given_out)
{
    bool finished = atomic_load_explicit(&inlet->finished, memory_order_acquire);
    inlet->has_current = sf_ring_pop(&inlet->notes, &inlet->current, 1, NULL) == 1;
    if (!inlet->has_current && finished && !sf_inlet_ended(inlet)) {
        inlet->current = inlet->owes ? inlet->owed
                                     : (note){.spikes_after = sf_ring_pushed(&inlet->spikes),
                                              .markers_after = sf_ring_pushed(&inlet->markers),
                                              .clock_ns = INT64_MIN};
        inlet->has_current = inlet->closing = true;
    }
    if (inlet->has_current && inlet->current.joins) join_epoch(inlet, inlet->current.base_ns, given_out);
    return inlet->has_current;
}

/* All items of the current note are in: its clock holds, and a source in time order has done with what it
 * gave. */
static void end_note(sf_inlet *inlet)
{
    if (inlet->current.clock_ns != INT64_MIN && shifted(inlet, inlet->current.clock_ns) > inlet->clock_ns)
        inlet->clock_ns = shifted(inlet, inlet->current.clock_ns);
    raise_promise(inlet, (sf_place){inlet->clock_ns, 0});
    if (inlet->settings.lateness_ns == 0 && inlet->current.ends_batch) raise_promise(inlet, inlet->newest);
    inlet->has_current = false;
    atomic_store(&inlet->ended, inlet->closing);
}

bool sf_inlet_take_in(sf_inlet *inlet, sf_place given_out)
{
    while (inlet->has_current || next_note(inlet, given_out)) {
        if (!take_markers(inlet) || !take_spikes(inlet, given_out)) return false;
        end_note(inlet);
    }
    return true;
}

sf_place sf_inlet_promise(const sf_inlet *inlet)
{
    return inlet->promise;
}

sf_place sf_inlet_reached(const sf_inlet *inlet)
{
    return sf_place_before(inlet->promise, inlet->newest) ? inlet->newest : inlet->promise;
}

int64_t sf_inlet_stop_ns(const sf_inlet *inlet)
{
    int64_t after = inlet->any_spike ? sf_time_plus(inlet->newest.time_ns, 1) : INT64_MIN;
    return after > inlet->clock_ns ? after : inlet->clock_ns;
}

bool sf_inlet_ended(const sf_inlet *inlet)
{
    return atomic_load_explicit(&inlet->ended, memory_order_relaxed);
}

const sf_held *sf_inlet_first(const sf_inlet *inlet)
{
    return inlet->first < inlet->last ? &inlet->held[inlet->first] : NULL;
}

const sf_held *sf_inlet_waiting(const sf_inlet *inlet, size_t *count)
{
    *count = inlet->last - inlet->first;
    return inlet->held + inlet->first;
}

void sf_inlet_release(sf_inlet *inlet, size_t count, size_t duplicates, size_t kept)
{
    inlet->first += count;
    add(&inlet->duplicate, duplicates);
    add(&inlet->emitted, kept);
}

const sf_marker *sf_inlet_first_marker(const sf_inlet *inlet, int64_t time_ns)
{
    uint64_t count = inlet->last_marker - inlet->first_marker;
    if (count == 0) return NULL;
    const sf_marker *first = waiting_marker(inlet, inlet->first_marker);
    return first->time_ns <= time_ns || count == SF_INLET_MARKERS ? first : NULL;
}

void sf_inlet_release_marker(sf_inlet *inlet, bool late)
{
    inlet->first_marker++;
    add(late ? &inlet->late_markers : &inlet->emitted_markers, 1);
}

void sf_inlet_note_stall(sf_inlet *inlet)
{
    add(&inlet->stalls, 1);
}
