/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Which times of a live source are believed, so that neither a broken time stamp nor a clock that steps or
 * begins anew makes what follows late. It stands between the source and its inlet, on the source's thread.
 *
 * The rule. A frame is what the source hands over at once; its times are those of its spikes and markers and
 * its clock. The *front* is the furthest time that is believed.
 *
 * - A time is *near* while it is not further ahead of the front than `leap_ns` and the time that has passed
 * on the monotonic clock since, or than `leap_ns` from a time of its frame that is near; nor further behind
 * the front than the lateness, or SF_CONTINUITY_BEHIND_NS where that is more. What is near goes through at
 * once, however much of the stream a frame holds. A clock behind the front says nothing, nor does the clock
 * of the batch that begins a run.
 * - What is not near is *held*. It is believed once the stream goes on from it: when
 *   SF_CONTINUITY_FRAMES frames after the first lie wholly there, each ending later than the one before. A
 *   frame that only repeats a time does not count.
 * - A frame with anything near undoes it: what was held is left out and counted (`leaps` ahead of the front,
 *   `late` behind it), but what is behind by no more than `leap_ns` goes on before it, as the straggler that
 * it is. A frame wholly at a third place moves the doubt there.
 * - Held are at most SF_CONTINUITY_HELD frames and SF_CONTINUITY_ITEMS spikes and markers (a frame that has
 *   more is held alone); beyond, the oldest frame is left out and counted.
 * - Times of 2^62 ns (146 years) and more from 0 are never believed, so that sums of two never overflow.
 * - At the start and when the sender begins a new run there is no front: all is held until the stream goes on
 *   from it. The source's end settles what began it, and undoes any other doubt.
 *
 * What is believed ahead of the front is a step: stream time leaps with it. So is a near frame after which
 * the stream is ahead of the monotonic clock by SF_CONTINUITY_AHEAD_NS more than it ever was; a backlog that
 * comes at once is none, since it was behind before. What is believed behind the front, or of a new run whose
 * times do not go on from the front, is a new *epoch*: the batch says so (sf_batch.joins), and the inlet
 * shifts its times to where the stream is. A marker of kind text says each of these.
 */
#ifndef SF_WINDOW_CONTINUITY_H
#define SF_WINDOW_CONTINUITY_H

#include "window/source.h"

#define SF_CONTINUITY_FRAMES 2
#define SF_CONTINUITY_HELD 256
#define SF_CONTINUITY_ITEMS (1u << 20)
#define SF_CONTINUITY_BEHIND_NS (100 * INT64_C(1000000)) /* datagrams overtake each other by less */
#define SF_CONTINUITY_AHEAD_NS INT64_C(1000000000)
#define SF_CONTINUITY_MOST (INT64_C(1) << 62)

typedef struct sf_continuity_settings {
    int64_t leap_ns; /**< 0: every time is believed, but a new run is still joined on */
    int64_t lateness_ns;
} sf_continuity_settings;

/** A spike that was taken in is at last given on, held, a leap or late; a marker likewise, or left out. */
typedef struct sf_continuity_counts {
    uint64_t held;             /**< spikes, now */
    uint64_t leaps, late;      /**< spikes left out ahead of the front, and behind it */
    uint64_t markers_left_out; /**< either way */
    uint64_t undone;           /**< doubts that the stream did not go on from */
    uint64_t steps;            /**< ahead */
    uint64_t epochs;           /**< begun after the first */
} sf_continuity_counts;

typedef struct sf_continuity sf_continuity;

int sf_continuity_open(sf_continuity **out, const sf_continuity_settings *settings, sf_error *error);
void sf_continuity_close(sf_continuity *continuity); /**< NULL is allowed */

/**
 * Takes a batch in; what goes on because of it comes from sf_continuity_next, all of which is to be fetched
 * before the next call. SF_NO_MEMORY.
 */
int sf_continuity_take(sf_continuity *continuity, const sf_batch *batch, sf_error *error);

/** The source ended: settles what is held, for sf_continuity_next. */
void sf_continuity_end(sf_continuity *continuity);

/** The next batch that goes on; false: none. Valid while the batch last taken in is, and until the next. */
bool sf_continuity_next(sf_continuity *continuity, sf_batch *batch);

/** Any thread; a snapshot. */
sf_continuity_counts sf_continuity_count(const sf_continuity *continuity);

#endif
