/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The way of one source into the merge: rings filled by the source's thread, and on the merge's side the
 * spikes that wait for their turn, in stream order. A note beside the rings says after each batch what the
 * source's clock promises and when the batch arrived, so that what the merge makes of a source depends on
 * what the source sent and not on how fast the threads were.
 */
#ifndef SF_WINDOW_INLET_H
#define SF_WINDOW_INLET_H

#include "core/ring.h"
#include "window/source.h"

/** Markers that may wait for their turn. */
#define SF_INLET_MARKERS 1024

typedef struct sf_inlet_settings {
    size_t unit_count;
    /**
     * How much older than the newest spike of its source a spike may be. 0: the source is in time order;
     * spikes at the same time may then be in any order within one batch, and everything goes through at once.
     */
    int64_t lateness_ns;
    uint64_t ring; /**< spikes on the way; as many again may wait for their turn */
    sf_ring_policy policy;
} sf_inlet_settings;

/** A place in stream order. */
typedef struct sf_place {
    int64_t time_ns;
    uint32_t unit; /**< in the merged numbering */
} sf_place;

static inline sf_place sf_place_of(const sf_spike *spike)
{
    return (sf_place){spike->time_ns, spike->unit};
}

static inline bool sf_place_before(sf_place a, sf_place b)
{
    return a.time_ns < b.time_ns || (a.time_ns == b.time_ns && a.unit < b.unit);
}

/** Every spike offered is at last emitted, dropped, late, of an unknown unit, or a duplicate that is not
 * kept.
 */
typedef struct sf_inlet_counts {
    uint64_t offered; /**< spikes handed in by the source */
    uint64_t emitted; /**< spikes that went through */
    uint64_t dropped; /**< for want of room, by the policy */
    uint64_t late;    /**< older than what had been promised or given out */
    /** of a unit the source does not have; those the source left out are in `left_out` */
    uint64_t out_of_range;
    uint64_t duplicate;    /**< same unit and time as the one before; emitted all the same if they are kept */
    uint64_t hurried;      /**< given out before their lateness had passed, for want of room; not lost */
    uint64_t markers;      /**< markers that went through */
    uint64_t markers_late; /**< older than a marker given out before */
    uint64_t markers_dropped; /**< for want of room, by the policy */
    uint64_t left_out;        /**< spikes of unknown units that the source itself left out */
    uint64_t gaps, gap_lost, malformed, other_streams, restarts; /**< as the source's batches tell */
    uint64_t stalls;                                             /**< times the others went on without it */
    int64_t lateness_max_ns; /**< the most that a spike was behind its source's newest */
    int64_t shift_ns; /**< of the newest epoch: stream time less the source's own; whole milliseconds */
    uint64_t ring_fill, ring_size;
    bool ended;
} sf_inlet_counts;

typedef struct sf_inlet sf_inlet;

/**
 * Source's thread, real-time safe: hands a batch over. False only with the policy `block`, while there is no
 * room, and with a batch that begins an epoch: wait and offer the same batch again; what was taken of it is
 * remembered. With another policy a note may find no room either (the merge is far behind): what it says then
 * holds from the next batch on. Markers must not be older than the spikes of the batches before, by more than
 * the lateness.
 *
 * Times of a new epoch (sf_batch.joins) go on where the stream is: just after all that this source and the
 * merge have reached, base_ns is there. The shift is of whole milliseconds, so that times stay on the
 * source's grid.
 */
bool sf_inlet_offer(sf_inlet *inlet, const sf_batch *batch);

/** Source's thread: whether a batch of this size would be taken whole. Always true unless the policy is
 * `block`. */
bool sf_inlet_has_room(const sf_inlet *inlet, size_t spikes, size_t markers);

/** How many spikes and markers a batch may have at most, with the policy `block`. */
size_t sf_inlet_most_spikes(const sf_inlet *inlet);
size_t sf_inlet_most_markers(const sf_inlet *inlet);

/** Source's thread, after the last batch was taken: the source ended and holds nobody up any more. */
void sf_inlet_end(sf_inlet *inlet);

/** Any thread; a snapshot. */
sf_inlet_counts sf_inlet_count(const sf_inlet *inlet);

/* ---- the merge's side: window/merge.c alone calls these ---- */

/** A spike that waits, and the monotonic clock when it was due: when it arrived, or before. */
typedef struct sf_held {
    sf_spike spike;
    int64_t arrival_ns;
} sf_held;

int sf_inlet_open(sf_inlet **inlet, const sf_inlet_settings *settings, uint32_t unit_offset, sf_error *error);
void sf_inlet_close(sf_inlet *inlet);

/**
 * Takes in what the source handed over, as far as there is room; spikes before `given_out` are late. Returns
 * false where it had to stop for want of room.
 */
bool sf_inlet_take_in(sf_inlet *inlet, sf_place given_out);

/** Nothing before this place will come from the source any more. */
sf_place sf_inlet_promise(const sf_inlet *inlet);

/** The furthest place the source has reached, by a spike or by its clock. */
sf_place sf_inlet_reached(const sf_inlet *inlet);

/** Just after its newest spike, or its clock where that is later; INT64_MIN before either. */
int64_t sf_inlet_stop_ns(const sf_inlet *inlet);

/** The source ended and all it sent was taken in. */
bool sf_inlet_ended(const sf_inlet *inlet);

/** The first spike that waits, or NULL. */
const sf_held *sf_inlet_first(const sf_inlet *inlet);

/** All that wait, in stream order. */
const sf_held *sf_inlet_waiting(const sf_inlet *inlet, size_t *count);

/** Removes the first `count` items; the other two arguments say how many of them were duplicates and how many
 * went on. */
void sf_inlet_release(sf_inlet *inlet, size_t count, size_t duplicates, size_t kept);

/** The first marker that waits and is not after time_ns, or NULL. Where many wait the first may always go. */
const sf_marker *sf_inlet_first_marker(const sf_inlet *inlet, int64_t time_ns);
void sf_inlet_release_marker(sf_inlet *inlet, bool late);

void sf_inlet_note_stall(sf_inlet *inlet);

#endif
