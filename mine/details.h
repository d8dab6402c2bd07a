/* SPDX-License-Identifier: Apache-2.0 */
/** What the occurrences of an episode tell beside their number: in how many bursts they lie, and their
 * delays. */
#ifndef SF_MINE_DETAILS_H
#define SF_MINE_DETAILS_H

#include "mine/bursts.h"

#include <synfire/mine.h>

/** Of `count` occurrences in order of time, count * episode->size times. SF_NO_MEMORY. */
int sf_details_make(sf_details *details, const sf_episode *episode, const int64_t *times, size_t count,
                    const sf_bursts *bursts, sf_error *error);

/**
 * The share of each bin in the delays that chance counts of a pair A -> B: of different units that fire
 * independently at constant rates, together rate_hz. A counted occurrence has the latest start for its end
 * and ends as early as can be, so from the lower bound on no spike of A or B lies between but the two: delays
 * above it are exponential with that rate, cut at the upper bound. In longer chains they fall off less.
 */
void sf_delay_chance(double shares[SF_DELAY_BINS], sf_delay interval, double rate_hz);

/**
 * Which episodes a longer one accounts for. parents[i] is the episode with one unit more, at either end, that
 * episode i is folded under, of several the one with the highest count; SIZE_MAX: none. It is folded where
 * what it counts beyond that one is within chance: at most expected + 2 sqrt(count). Of q, or NULL where
 * nothing was tested: a significant one is folded under a significant one only, so that nothing significant
 * is hidden by what chance may have made longer. SF_NO_MEMORY.
 */
int sf_fold(size_t *parents, const sf_episode *episodes, const uint64_t *counts, const double *expected,
            const double *q, size_t count, sf_error *error);

#endif
