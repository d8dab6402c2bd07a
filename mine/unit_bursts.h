/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Bursts of one unit, by one of four published definitions (compared by Cotterill et al., J Neurophysiol 116
 * (2016), 306-321):
 *
 * Maximum interval, as NeuroExplorer's manual has it. A burst begins where an interval between spikes is no
 * longer than `begin` and goes on while they are no longer than `within`; bursts less than `apart` from each
 * other become one; then those shorter than `least` or of fewer than `least_spikes` spikes go.
 *
 * logISI and CMA (mine/interval_limits.h). `least_spikes` spikes or more with intervals of the core's limit
 * at most make a burst, which takes in the spikes on both sides while intervals stay within the wider limit.
 *
 * Poisson surprise (Legendy and Salcman, J Neurophysiol 53 (1985), 926-939), as Cotterill et al. search for
 * it. Where two intervals in a row are shorter than half the mean, three spikes begin a burst; it grows to
 * where -ln P is larger, within ten spikes and while none of them comes later than two mean intervals, then
 * loses first spikes while that makes it larger; P is that of n - 1 spikes or more in its duration at the
 * train's mean rate. Bursts of `least_surprise` or more and `least_spikes` or more remain.
 */
#ifndef SF_MINE_UNIT_BURSTS_H
#define SF_MINE_UNIT_BURSTS_H

#include "mine/interval_limits.h"

#include <synfire/error.h>

typedef enum sf_burst_method {
    SF_BURSTS_MAX_INTERVAL,
    SF_BURSTS_LOG_ISI,
    SF_BURSTS_CMA,
    SF_BURSTS_SURPRISE
} sf_burst_method;

/** "max-interval", "logisi", "cma", "surprise"; NULL at the end. */
extern const char *const sf_burst_method_names[];

/** begin <= within. Zeroed but for the first members: maximum interval. */
typedef struct sf_burst_rule {
    int64_t begin_ns, within_ns, apart_ns, least_ns; /**< of maximum interval alone */
    uint64_t least_spikes;                           /**< 2 or more */
    sf_burst_method method;
    double least_surprise; /**< of Poisson surprise alone: natural logarithm */
} sf_burst_rule;

/** Maximum interval with the parameters of NeuroExplorer: 170, 300, 200 and 10 ms, 3 spikes. */
#define SF_BURST_RULE                                                                                        \
    ((sf_burst_rule){170000000, 300000000, 200000000, 10000000, 3, SF_BURSTS_MAX_INTERVAL, 5})

/** What a definition takes from all intervals of a train. */
typedef struct sf_burst_limits {
    sf_interval_limits intervals; /**< of logISI and CMA */
    double mean_ns;               /**< mean interval; 0 without any */
} sf_burst_limits;

sf_burst_limits sf_burst_limits_find(const int64_t *intervals_ns, size_t count, const sf_burst_rule *rule);

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

/** Appends the bursts of a train, or of a segment of it, in order; `first` counts from its first spike.
 * `limits` is of the whole train; NULL where the method is maximum interval. SF_NO_MEMORY. */
int sf_unit_bursts_find(sf_unit_bursts *bursts, const int64_t *times_ns, size_t count,
                        const sf_burst_rule *rule, const sf_burst_limits *limits, sf_error *error);

#endif
