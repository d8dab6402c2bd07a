/* SPDX-License-Identifier: Apache-2.0 */
/** The spikes of each counted occurrence. */
#ifndef SF_MINE_OCCURRENCES_H
#define SF_MINE_OCCURRENCES_H

#include "mine/events.h"

#include <synfire/mine.h>

/**
 * As sf_counter_occurrences; units are the episode's units as the events number them. SF_NO_MEMORY.
 */
int sf_events_occurrences(int64_t **times, size_t *count, const sf_events *events, const uint32_t *units,
                          const sf_episode *episode, sf_error *error);

#endif
