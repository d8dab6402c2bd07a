/* SPDX-License-Identifier: Apache-2.0 */
/** What the occurrences of an episode tell beside their number: in how many bursts they lie, and their
 * delays. */
#ifndef SF_MINE_DETAILS_H
#define SF_MINE_DETAILS_H

#include "mine/bursts.h"

#include <synfire/mine.h>

/** Details of `count` occurrences in order of time, which have count * episode->size times. SF_NO_MEMORY. */
int sf_details_make(sf_details *details, const sf_episode *episode, const int64_t *times, size_t count,
                    const sf_bursts *bursts, sf_error *error);

/**
 * The share of each bin in the delays that chance counts of a pair A -> B: of different units that fire
 * independently at constant rates, together rate_hz. A counted occurrence has the latest start for its end
 * and ends as early as can be, so from the lower bound on no spike of A or B lies between but the two: delays
 * above it are exponential with that rate, cut at the upper bound. In longer chains they fall off less.
 */
void sf_delay_chance(double shares[SF_DELAY_BINS], sf_delay interval, double rate_hz);

#endif
