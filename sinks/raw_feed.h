/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The recorder's own input: raw spikes and markers from the front thread, which merges the sources, to the
 * writing thread, beside all messages and ahead of all analysis. One thread puts, one takes.
 */
#ifndef SF_SINKS_RAW_FEED_H
#define SF_SINKS_RAW_FEED_H

#include "core/outlet.h"

/** Capacity: a disk that hangs for a second at a million spikes per second loses none. */
#define SF_RAW_SPIKES (1u << 20)
#define SF_RAW_MARKERS (1u << 14)

/** Capacity if spikes are only shown: half a second at that rate. */
#define SF_SHOWN_SPIKES (1u << 19)

typedef struct sf_raw_feed sf_raw_feed;

/** A snapshot; any thread. Once the feed is empty, everything put is counted as either recorded or lost. */
typedef struct sf_raw_counts {
    uint64_t spikes, markers; /**< recorded */
    uint64_t spikes_lost;     /**< found no room, or came after recording had failed */
    uint64_t markers_lost;
} sf_raw_counts;

int sf_raw_feed_open(sf_raw_feed **feed, uint64_t spikes, sf_error *error);
void sf_raw_feed_close(sf_raw_feed *feed); /**< NULL is allowed */

/**
 * Front thread. With `wait` it returns after there was room for everything, and calls `wake` with `user` so
 * that the taker makes some; otherwise it is real-time safe, and what does not fit is lost and counted.
 */
void sf_raw_feed_put(sf_raw_feed *feed, const sf_raw_batch *batch, bool wait, void (*wake)(void *user),
                     void *user);

/** Writing thread: false if nothing waits. The batch is valid until the next take; settle each before that.
 */
bool sf_raw_feed_take(sf_raw_feed *feed, sf_raw_batch *batch);
void sf_raw_feed_settle(sf_raw_feed *feed, const sf_raw_batch *batch, bool recorded);

/** Writing thread: number of spikes accepted so far, and of those taken. */
uint64_t sf_raw_feed_put_so_far(const sf_raw_feed *feed);
uint64_t sf_raw_feed_taken_so_far(const sf_raw_feed *feed);

sf_raw_counts sf_raw_feed_count(const sf_raw_feed *feed);

/** Whether something accepted is not yet settled as recorded or lost. Any thread. */
bool sf_raw_feed_is_busy(const sf_raw_feed *feed);

#endif
