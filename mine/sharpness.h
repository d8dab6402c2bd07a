/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How sharp the bursts are that units share, against the shifts of a test: what decides whether surrogates
 * (core/backend/surrogate.h) can tell a link from a burst.
 *
 * Let c(d) be how often a spike of B follows one of A within the delay (low, high], with B displaced by d:
 * all pairs of spikes, d to either side, halved. Offsets of segment-shift have a density that falls off
 * linearly from 0 to the width w, so surrogates count m, the mean of c over that density, and shifting takes
 * c(0) - m off, linked or not. Where bursts are smooth at the scale of w, c falls off quadratically out to
 * 3 w, and that is 1 / 54 of c(0) - c(3 w) (mine/surrogate_blur.h). With this much taken off the count,
 *
 *     z = (c(0) - m - (c(0) - c(3 w)) / 54) / sqrt(m)
 *
 * is by how many standard deviations of its count a pair stands out. Few of all pairs are linked, so the
 * middle half of all z tells what bursts alone do: its mean is what all pairs have in common, and by how much
 * more z scatters than of unrelated pairs is what each has of its own, where one unit leads another in every
 * burst. The root of the sum of both squares is the sharpness, less what may be due to chance, twice the
 * error of either: 0 where bursts are smooth or there are none. At 0.3 some 9 % of unlinked pairs have
 * p < 0.05, at 1 a quarter. It grows with the square root of what was recorded, as the test's power does.
 *
 * What pairs have in common can be taken off, as a larger part of c(0) - c(3 w); what each has of its own
 * cannot.
 *
 * A spike that two electrodes see is no burst: where the lower bound is half a millisecond or more, lags up
 * to half a millisecond are left out of m, and those up to a millisecond stand for them.
 */
#ifndef SF_MINE_SHARPNESS_H
#define SF_MINE_SHARPNESS_H

#include "core/recording.h"

#include <synfire/mine.h>

/** Shifting takes this part of c(0) - c(3 w) off where bursts are smooth: one in so many. */
#define SF_SMOOTH_DIVISOR 54.0

/** Nothing is as slow as shifts of years: what wider ones would meet is not looked at. */
#define SF_SHARPNESS_WIDEST (INT64_C(1) << 57)

/**
 * Measures it for shifts by up to `width_ns` (at most SF_SHARPNESS_WIDEST), with the 64 units that fire most.
 * Spikes are in order. Linear in the spikes, and at most about 20 million pairs of spikes: beyond that only a
 * part of them are first ones. progress may be NULL. SF_NO_MEMORY, SF_CANCELLED.
 */
int sf_sharpness_measure(sf_sharpness *sharpness, const sf_spike *spikes, size_t count, size_t unit_count,
                         sf_delay delay, int64_t width_ns, const sf_progress *progress, sf_error *error);

#endif
