/* SPDX-License-Identifier: Apache-2.0 */
/** The cross-correlogram of two units: how their spikes lie to each other, whatever episode is meant. */
#ifndef SF_MINE_CORRELOGRAM_H
#define SF_MINE_CORRELOGRAM_H

#include <synfire/synfire.h>

/** Bins cover the lags k * bin < t(to) - t(from) <= (k + 1) * bin for k = -half .. half - 1. */
typedef struct sf_correlogram {
    uint32_t from, to;
    int64_t bin_ns;
    uint32_t half;
    uint64_t *counts; /**< 2 * half, from k = -half */
    double expected;  /**< in each bin, of independent units at constant rates */
} sf_correlogram;

/**
 * Counts all pairs of spikes within half bins of each other; of one unit with itself all but each spike with
 * itself. Linear in the spikes and the pairs. Rates are over duration_ns. SF_NO_MEMORY.
 */
int sf_correlogram_make(sf_correlogram *correlogram, const sf_spike *spikes, size_t count, uint32_t from,
                        uint32_t to, int64_t bin_ns, uint32_t half, int64_t duration_ns, sf_error *error);

void sf_correlogram_free(sf_correlogram *correlogram);

#endif
