/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Bursts of the whole array, to tell an episode that recurs from one that happened often once; and bursts of
 * one unit.
 *
 * Of the array: spikes of all units are counted in bins of 100 ms from the first spike on. A burst is a
 * longest run of bins that each hold at least the mean number of spikes a bin, of which one holds at least
 * three times the mean and ten spikes.
 *
 * Of a unit: the max-interval method, as NeuroExplorer's manual has it and Cotterill et al. (J Neurophysiol
 * 116 (2016), 306-321) compare it with others. A burst begins where an interval between spikes is no longer
 * than `begin` and goes on while they are no longer than `within`; bursts less than `apart` from each other
 * become one; then those shorter than `least` or of fewer than `least_spikes` spikes go.
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

/** The parameters of bursts of a unit; begin <= within. */
typedef struct sf_burst_rule {
    int64_t begin_ns, within_ns, apart_ns, least_ns;
    uint64_t least_spikes; /**< 2 or more */
} sf_burst_rule;

/** Those of NeuroExplorer: 170, 300, 200 and 10 ms, 3 spikes. */
#define SF_BURST_RULE ((sf_burst_rule){170000000, 300000000, 200000000, 10000000, 3})

typedef struct sf_unit_burst {
    size_t first;              /**< index of its first spike among the unit's */
    size_t spikes;             /**< from there on */
    int64_t first_ns, last_ns; /**< times of its first and its last spike */
} sf_unit_burst;

/** Room grows; zero-initialise, and free `items` with sf_free. */
typedef struct sf_unit_bursts {
    sf_unit_burst *items;
    size_t count, capacity;
} sf_unit_bursts;

/** Appends the bursts of a train, in order; `first` counts from its first spike. SF_NO_MEMORY. */
int sf_unit_bursts_find(sf_unit_bursts *bursts, const int64_t *times_ns, size_t count,
                        const sf_burst_rule *rule, sf_error *error);

#endif
