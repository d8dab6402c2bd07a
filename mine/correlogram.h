/* SPDX-License-Identifier: Apache-2.0 */
/** The cross-correlogram of two units: how their spikes lie to each other, whatever episode is meant. */
#ifndef SF_MINE_CORRELOGRAM_H
#define SF_MINE_CORRELOGRAM_H

#include "core/recording.h"

#include "core/backend/surrogate.h"

#include <synfire/mine.h>

/**
 * Counts all pairs of spikes within half bins of each other; of one unit with itself all but each spike with
 * itself. Rates are over the observed spans, which are ordered and disjoint; a lag is expected as often as
 * there are times that are observed both there and a lag later (at the middle of the bin), so ends and gaps
 * make no dip. Linear in the spikes, the pairs, and bins times spans. SF_NO_MEMORY.
 */
int sf_correlogram_make(sf_correlogram *correlogram, const sf_spike *spikes, size_t count, uint32_t from,
                        uint32_t to, int64_t bin_ns, uint32_t half, const sf_span *observed,
                        size_t observed_count, sf_error *error);

/** Fills in what `surrogates` surrogates of this rule give, at least 1, at most SF_CORRELOGRAM_SURROGATES:
 * the train of `to` moves. The spikes are those that it was made of. SF_NO_MEMORY. */
int sf_correlogram_shift(sf_correlogram *correlogram, const sf_spike *spikes, size_t count,
                         const sf_surrogate_rule *rule, uint32_t surrogates, sf_error *error);

void sf_correlogram_free(sf_correlogram *correlogram);

#endif
