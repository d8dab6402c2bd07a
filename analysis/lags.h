/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Spike trains in bins of a millisecond, and how often two units fire so many bins apart. A unit fires once
 * in a bin or not at all, as methods that take trains for zeros and ones want it. Spans of recorded time lie
 * so far apart in bins that no count goes across a pause.
 */
#ifndef SF_ANALYSIS_LAGS_H
#define SF_ANALYSIS_LAGS_H

#include "core/recording.h"

#define SF_LAG_BIN_NS 1000000
#define SF_LAG_MOST 128 /**< the largest reach */

typedef struct sf_binned_spike {
    uint32_t bin, unit;
} sf_binned_spike;

/** Zero-initialise. */
typedef struct sf_binned {
    sf_binned_spike *spikes; /**< by bin and unit */
    uint32_t *places;        /**< of the spikes of each unit in `spikes`, from first[unit] on */
    size_t count, unit_count, *first;
    double bins; /**< recorded ones */
} sf_binned;

/** Of spikes by time in observed spans, which are in order and disjoint; those outside are left out. SF_DATA
 * where no time is recorded or it has more than 2^31 bins, SF_NO_MEMORY. */
int sf_binned_open(sf_binned *trains, const sf_spike *spikes, size_t count, size_t unit_count,
                   const sf_span *observed, size_t observed_count, sf_error *error);
void sf_binned_close(sf_binned *trains);

/** In how many bins a unit fires. */
static inline double sf_binned_spikes(const sf_binned *trains, size_t unit)
{
    return (double)(trains->first[unit + 1] - trains->first[unit]);
}

/** counts[other * (2 * reach + 1) + reach + lag] becomes how often `other` fires `lag` bins after `unit`, and
 * itself with itself; reach is at most SF_LAG_MOST. */
void sf_lags_count(uint32_t *counts, const sf_binned *trains, uint32_t unit, uint32_t reach);

/** The train of the bins in which each unit fires after it fired in the one before, under the number of the
 * unit. SF_NO_MEMORY. */
int sf_binned_repeats(sf_binned *repeats, const sf_binned *trains, sf_error *error);

/** As sf_lags_count, of the trains of `others`, which has the same bins. */
void sf_lags_count_of(uint32_t *counts, const sf_binned *trains, uint32_t unit, const sf_binned *others,
                      uint32_t reach);

#endif
