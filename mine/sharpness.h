/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How sharp the bursts are that units share, against the shifts of a test: what decides whether surrogates
 * (core/backend/surrogate.h) can tell a link from a burst.
 *
 * Let c(d) be how often a spike of B follows one of A within the delay (low, high], with B displaced by d:
 * all pairs of spikes, d to either side, halved. Offsets of segment-shift have a density that falls off
 * linearly from 0 to the width w, so surrogates count m, the mean of c over that density, and shifting takes
 * c(0) - m off, linked or not: if c falls off as d^a out to w, 2 / ((a + 1) (a + 2)) of c(0) - c(w), a sixth
 * where it is smooth (a = 2). What is known of each pair is c(0) - c(3 w), and the part of it that is taken
 * off depends on the shape alone: 1 / 54 where c is quadratic out to 3 w (mine/surrogate_blur.h), more where
 * it is sharper or has a rhythm. So the part is measured, as the sum of c(0) - m over the sum of c(0) -
 * c(3 w), of pairs that do not stand out. (With c(0) - c(w) over 6 in place of c(0) - m no link would touch
 * it, but it assumes the quadratic out to w: half of the part for a cusp, nine tenths for 8 Hz at 30 ms.)
 * With one part in D taken off the count, and with its variance V m (mine/surrogate_scatter.h),
 *
 *     z = (c(0) - m - (c(0) - c(3 w)) / D) / sqrt(V m)
 *
 * is by how many standard deviations a pair stands out. Few of all pairs are linked, so the middle half of
 * all z tells what bursts alone do, and is what D is measured of. D is 54 where the mean of z, `shared`, is
 * within its error, or where c(0) - c(3 w) is.
 *
 * What is left then is of three kinds: the mean of z; by how much more than 1 it scatters, which is what each
 * pair has of its own, where one unit leads another in every burst or bursts of pairs have other shapes; and
 * a fifth of what was taken off all pairs, since counts of occurrences that do not overlap fall off otherwise
 * than pairs of spikes do (bursts of sigma 10 ms: 5 standard deviations are taken off, and 17 % of unlinked
 * pairs have p < 0.05). The root of the sum of their squares, less what may be due to chance, twice the error
 * of either, is the sharpness. At 0.5 of the second kind 7 % of unlinked pairs have p < 0.05. It grows with
 * the square root of what was recorded, as the test's power does.
 *
 * A spike that two electrodes see is no burst: where the lower bound is half a millisecond or more, lags up
 * to half a millisecond are left out of m, and those up to a millisecond stand for them.
 */
#ifndef SF_MINE_SHARPNESS_H
#define SF_MINE_SHARPNESS_H

#include "core/recording.h"

#include <synfire/mine.h>

/** Shifting takes this part of c(0) - c(3 w) off where bursts are smooth: one in so many. The most it is. */
#define SF_SMOOTH_DIVISOR 54.0

/** Nothing is as slow as shifts of years: what wider ones would meet is not looked at. */
#define SF_SHARPNESS_WIDEST (INT64_C(1) << 57)

/**
 * Measures it for shifts by up to `width_ns` (at most SF_SHARPNESS_WIDEST), with the 64 units that fire most.
 * Spikes are in order. Linear in the spikes, and at most about 20 million pairs of spikes: beyond that only a
 * part of them are first ones. On so many threads (0: all cores), which change nothing. progress may be NULL.
 * SF_NO_MEMORY, SF_CANCELLED.
 */
int sf_sharpness_measure(sf_sharpness *sharpness, const sf_spike *spikes, size_t count, size_t unit_count,
                         sf_delay delay, int64_t width_ns, unsigned threads, const sf_progress *progress,
                         sf_error *error);

#endif
