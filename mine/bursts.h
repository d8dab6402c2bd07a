/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Bursts of the whole array, to tell an episode that recurs from one that happened often once.
 *
 * Spikes of all units are counted in bins of 100 ms from the first spike on. A burst is a longest run of bins
 * that each hold at least the mean number of spikes a bin, of which one holds at least three times the mean
 * and ten spikes.
 */
#ifndef SF_MINE_BURSTS_H
#define SF_MINE_BURSTS_H

#include "core/recording.h"

typedef struct sf_bursts {
    sf_span *items; /**< in order, disjoint */
    size_t count;
} sf_bursts;

/** `duration_ns` is the recorded time, which the mean refers to. Spikes are in order. SF_NO_MEMORY. */
int sf_bursts_find(sf_bursts *bursts, const sf_spike *spikes, size_t count, int64_t duration_ns,
                   sf_error *error);
void sf_bursts_free(sf_bursts *bursts);

/** The burst that this time lies in, or SIZE_MAX. */
size_t sf_bursts_at(const sf_bursts *bursts, int64_t time_ns);

#endif
