/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The spikes of all units counted in bins, and neuronal avalanches as Beggs and Plenz (J Neurosci 23 (2003),
 * 11167) define them: bins in a row that hold spikes, between two that hold none. Size is the number of
 * spikes, duration that of bins. Bins begin anew with each interval of observation; an avalanche that an
 * empty bin of the same interval does not end on both sides is left out, for its size is not known.
 */
#ifndef SF_ANALYSIS_AVALANCHES_H
#define SF_ANALYSIS_AVALANCHES_H

#include "core/recording.h"

/** The mean interval from a spike of any unit to the next within an interval of observation, the bin of Beggs
 * and Plenz; at least 1 ns, 0 where there is none. */
int64_t sf_population_interval_ns(const sf_recording *recording);

/** Spikes in bins, one interval of observation after the other, each of whole bins. */
typedef struct sf_population {
    int64_t bin_ns;
    double *counts;
    size_t *first; /**< interval_count + 1: the bins of an interval begin there */
    size_t interval_count, bins;
    uint64_t spikes; /**< in all of them */
} sf_population;

/** SF_NO_MEMORY, SF_USAGE of more than 2^31 bins. sf_population_free whatever happened. */
int sf_population_count(sf_population *population, const sf_recording *recording, int64_t bin_ns,
                        sf_error *error);
void sf_population_free(sf_population *population);

typedef struct sf_avalanche {
    int64_t start_ns, stop_ns; /**< of its bins */
    uint64_t spikes, bins;
    uint64_t units; /**< that fire in it */
    size_t first;   /**< its first spike in the recording */
} sf_avalanche;

/** Zero-initialise. */
typedef struct sf_avalanches {
    int64_t bin_ns;
    sf_avalanche *items; /**< in order */
    size_t count, capacity;
} sf_avalanches;

/** bin_ns > 0. SF_NO_MEMORY. sf_avalanches_free whatever happened. */
int sf_avalanches_find(sf_avalanches *avalanches, const sf_recording *recording, int64_t bin_ns,
                       sf_error *error);
void sf_avalanches_free(sf_avalanches *avalanches);

#endif
