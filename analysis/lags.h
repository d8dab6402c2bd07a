/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Spike trains in 1 ms bins, and cross-correlation counts at a lag of a number of bins. Trains are binary (a
 * unit fires in a bin or not), as methods on 0/1 sequences require. Observed spans are placed so far apart in
 * bins that no count crosses a pause.
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
    uint32_t *places;        /**< indices into `spikes` of each unit's spikes; unit u's begin at first[u] */
    size_t count, unit_count, *first;
    double bins; /**< recorded ones */
} sf_binned;

/** Bins time-ordered spikes of the observed spans, which are ordered and disjoint; ignores spikes outside.
 * SF_DATA if no time is recorded or it exceeds 2^31 bins; SF_NO_MEMORY. */
int sf_binned_open(sf_binned *trains, const sf_spike *spikes, size_t count, size_t unit_count,
                   const sf_span *observed, size_t observed_count, sf_error *error);
void sf_binned_close(sf_binned *trains);

/** In how many bins a unit fires. */
static inline double sf_binned_spikes(const sf_binned *trains, size_t unit)
{
    return (double)(trains->first[unit + 1] - trains->first[unit]);
}

/** Sets counts[other * (2 * reach + 1) + reach + lag] to the number of times that `other` fires `lag` bins
 * after `unit`, `unit` itself included; reach <= SF_LAG_MOST. */
void sf_lags_count(uint32_t *counts, const sf_binned *trains, uint32_t unit, uint32_t reach);

/** Keeps, of each unit, the bins in which it also fired in the bin before. SF_NO_MEMORY. */
int sf_binned_repeats(sf_binned *repeats, const sf_binned *trains, sf_error *error);

/** As sf_lags_count, for units of `others`, which must be binned in the same way. */
void sf_lags_count_of(uint32_t *counts, const sf_binned *trains, uint32_t unit, const sf_binned *others,
                      uint32_t reach);

#endif
