/* SPDX-License-Identifier: Apache-2.0 */
/** The spikes of each counted occurrence. */
#ifndef SF_MINE_OCCURRENCES_H
#define SF_MINE_OCCURRENCES_H

#include "core/recording.h"
#include "mine/events.h"

#include <synfire/mine.h>

/** Behind <synfire/mine.h>: zeroed it holds none. */
struct sf_occurrences {
    const sf_recording *recording; /**< borrowed, or `own` */
    const char *counted_in;        /**< borrowed */
    size_t count;
    sf_episode *episodes;
    double *expected;
    uint64_t *counts;
    int64_t **times_ns; /**< of each episode, from sf_alloc; NULL before they are found */
    sf_recording own;   /**< of a file: its units, and as its path what they were counted in */
};

/** Makes room for `count` episodes, zeroed. SF_NO_MEMORY. */
int sf_occurrences_reserve(sf_occurrences *occurrences, size_t count, sf_error *error);

/** When the occurrences of an episode begin, ascending: listed->counts[i] times, of which sf_free takes the
 * memory. NULL: none was left. */
int64_t *sf_occurrences_begins(const sf_occurrences_columns *listed, size_t i);

/**
 * As sf_counter_occurrences; units are the episode's units as the events number them. SF_NO_MEMORY.
 */
int sf_events_occurrences(int64_t **times, size_t *count, const sf_events *events, const uint32_t *units,
                          const sf_episode *episode, sf_error *error);

#endif
