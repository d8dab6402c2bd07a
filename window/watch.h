/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Watched episodes advance spike by spike and tell the moment one completes. All memory is taken at open. The
 * completions are those of the count: their number is the count of the stream so far, exactly.
 *
 * For every node but the last, the ends of partial occurrences since the last completion are kept. Of those
 * that the next node may follow by now only the latest matters, so a list holds one entry and the ends within
 * the last `low` of the delay. Where there are more than there is room for, the newest is given up and
 * counted: counts may then be too low from there on.
 */
#ifndef SF_WINDOW_WATCH_H
#define SF_WINDOW_WATCH_H

#include <synfire/mine.h>

/** Partial occurrences kept per node unless told otherwise: 10,000 spikes/s for a lower delay bound of 100
 * ms. */
#define SF_WATCH_ROOM 1024

typedef struct sf_watch sf_watch;

typedef struct sf_completion {
    uint32_t episode;                            /**< index in the list given at open */
    uint32_t size;                               /**< of the episode */
    uint64_t occurrence;                         /**< 1-based number of this completion of the episode */
    int64_t spike_times_ns[SF_EPISODE_MAX_SIZE]; /**< of the occurrence, the one that starts latest */
} sf_completion;

/** room 0: SF_WATCH_ROOM; rounded up to a power of two. SF_DATA where an episode is not valid, SF_NO_MEMORY.
 */
int sf_watch_open(sf_watch **watch, const sf_episode *episodes, size_t count, size_t unit_count,
                  uint32_t room, sf_error *error);
void sf_watch_close(sf_watch *watch);

/**
 * Takes the next spike in stream order, of a unit below unit_count, and returns how many episodes it
 * completed; *completions are valid until the next call. One thread; real-time safe.
 */
size_t sf_watch_advance(sf_watch *watch, const sf_spike *spike, const sf_completion **completions);

/** Partial occurrences given up for want of room; any thread. 0: all counts are exact. */
uint64_t sf_watch_overflows(const sf_watch *watch);

#endif
