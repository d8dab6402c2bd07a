/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Population spike counts in bins, and neuronal avalanches as Beggs and Plenz (J Neurosci 23 (2003), 11167)
 * define them: consecutive bins with spikes between two empty bins. Size is the number of spikes, duration
 * the number of bins. Binning restarts with each observed interval. An avalanche without an empty bin of the
 * same interval on both sides is left out, because its size is unknown.
 */
#ifndef SF_ANALYSIS_AVALANCHES_H
#define SF_ANALYSIS_AVALANCHES_H

#include "core/recording.h"

/** Mean interval between consecutive spikes of the population within an observed interval, the bin width of
 * Beggs and Plenz; at least 1 ns, 0 if there is no interval. */
int64_t sf_population_interval_ns(const sf_recording *recording);

/** Population spike counts per bin; the whole bins of one observed interval follow those of the one before.
 */
typedef struct sf_population {
    int64_t bin_ns;
    double *counts;
    size_t *first; /**< interval_count + 1: index of each observed interval's first bin */
    size_t interval_count, bins;
    uint64_t spikes; /**< in all of them */
} sf_population;

/** Counts spikes in bins. SF_NO_MEMORY; SF_USAGE for more than 2^31 bins. Free with sf_population_free, also
 * after an error. */
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

/** Finds all avalanches at bin_ns > 0. SF_NO_MEMORY. Free with sf_avalanches_free, also after an error. */
int sf_avalanches_find(sf_avalanches *avalanches, const sf_recording *recording, int64_t bin_ns,
                       sf_error *error);
void sf_avalanches_free(sf_avalanches *avalanches);

#endif
