/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Network bursts, to tell an episode that recurs from one that happened often once, and to compare recordings
 * by; and bursts of one unit.
 *
 * Of the network: spikes of all units are counted in bins of 100 ms from the first spike on, and the mean of
 * a bin is that of the recorded time within 30 s of it, so that a rate that drifts makes none. A run of bins
 * that each hold at least their mean is a burst where one, two or four of them in a row hold together
 *
 *     at least 10 spikes, 1.5 times the mean m, and m + 4.5 sqrt(c m) + 3.2,
 *
 * and where the share `share` of the active units fires in it, two at least. c is the variance of the spikes
 * in a window, over their mean, of trains that have nothing in common: the sum of the variances of the single
 * trains over the sum of their means, at least 1, as of Poisson trains. So units that burst each at its own
 * times make the rule stricter. 3.2 is (4.5^2 - 1) / 6, for the skewness of a Poisson count (Cornish and
 * Fisher 1938). Of Poisson trains some windows of each length in ten hours stand out, at any rate.
 *
 * Of a unit: the max-interval method, as NeuroExplorer's manual has it and Cotterill et al. (J Neurophysiol
 * 116 (2016), 306-321) compare it with others. A burst begins where an interval between spikes is no longer
 * than `begin` and goes on while they are no longer than `within`; bursts less than `apart` from each other
 * become one; then those shorter than `least` or of fewer than `least_spikes` spikes go.
 */
#ifndef SF_MINE_BURSTS_H
#define SF_MINE_BURSTS_H

#include "core/recording.h"

/** A unit is active that fires at the rate `active_hz` or more over the recorded time. */
typedef struct sf_network_rule {
    double active_hz, share;
} sf_network_rule;

#define SF_NETWORK_RULE ((sf_network_rule){0.1, 0.25})

typedef struct sf_burst_members {
    uint64_t spikes;
    size_t units; /**< active ones that fire in it */
} sf_burst_members;

typedef struct sf_bursts {
    sf_span *items; /**< in order, disjoint */
    size_t count;
    sf_burst_members *members; /**< of each */
} sf_bursts;

/** Of the spikes that the recording holds; none of one that is read in pieces. SF_NO_MEMORY. sf_bursts_free
 * afterwards. */
int sf_bursts_find(sf_bursts *bursts, const sf_recording *recording, const sf_network_rule *rule,
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
