/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How sharp the bursts are that units share, against the shifts of a test: what decides whether surrogates
 * (core/backend/surrogate.h) can tell a link from a burst.
 *
 * Shifting takes c(0) - m off a count, linked or not (mine/pair_survey.h): if c falls off as d^a out to w,
 * 2 / ((a + 1) (a + 2)) of c(0) - c(w), a sixth where it is smooth (a = 2). What is known of each pair is
 * c(0) - c(3 w), and the part of it that is taken off depends on the shape alone: 1 / 54 where c is quadratic
 * out to 3 w (mine/surrogate_blur.h), more where it is sharper or has a rhythm. So the part is measured, as
 * the sum of c(0) - m over the sum of c(0) - c(3 w), of pairs that do not stand out. With one part in D taken
 * off the count, and the recorded count nearer to m than surrogates by the ratio r
 * (mine/surrogate_scatter.h),
 *
 *     z = (c(0) - m - (c(0) - c(3 w)) / D) / (r sqrt(V))
 *
 * is by how many standard deviations the test would see a pair stand out. Few of all pairs are linked, so the
 * middle half of all z tells what bursts alone do, and is what D is measured of; pairs that stand out one way
 * alone are left out as links, and pairs of units that are linked with a third one, which surrogates reach. D
 * is 54 where the mean of z, `shared`, is within its error, or where c(0) - c(3 w) is.
 *
 * What is left then is of two kinds: the mean of z, where D cannot be so small, and how much z scatters,
 * which is what each pair has of its own, where one unit leads another in every burst or bursts of pairs have
 * other shapes: of normal numbers the deciles are 2.563 deviations apart. Of z with this mean and spread more
 * than 5 % exceed the 1.645 where p is 0.05, and as many exceed it where z is s nearer to it than it should
 * be:
 *
 *     s = 1.645 - (1.645 - mean) / spread
 *
 * With the mean and the spread less what may be due to chance, twice the error of either, s is the sharpness.
 * At 0.17 of it 7 % of unlinked pairs have p < 0.05. It grows with the square root of what was recorded, as
 * the test's power does.
 *
 * Where pairs of spikes are too many, a part of each segment is looked at (mine/pair_survey.h), and z and its
 * scatter are scaled up to all. Of n pairs and one part in S that finds a scatter whose square exceeds 1 by
 * some 3.6 S / sqrt(n), and S grows with n: few units of which more is looked at tell more. So those that
 * fire most are then looked at closer. What remains must exceed four times its error, for what is scaled up
 * holds how well counts that saturate are known, too (measured: 64 units of 9 and 21 Hz scatter by 1.036 at
 * 50 ms).
 *
 * Units that share events which others do not hardly move the middle half. They are found as groups
 * (mine/shared_groups.h), with D as pairs outside them have it, and left out of all of the above. Where most
 * pairs are of a group it is what all share, and no group.
 *
 * A spike that two electrodes see is no burst: where the lower bound is half a millisecond or more, pairs
 * that see each other's spikes are left out.
 */
#ifndef SF_MINE_SHARPNESS_H
#define SF_MINE_SHARPNESS_H

#include "mine/pair_survey.h"

#include <synfire/mine.h>

/** Shifting takes 1 / this of c(0) - c(3 w) off where bursts are smooth. No divisor is greater. */
#define SF_SMOOTH_DIVISOR 54.0

/** Nothing is as slow as shifts of years: what wider ones would meet is not looked at. */
#define SF_SHARPNESS_WIDEST (INT64_C(1) << 57)

/**
 * Measures it. `groups`, by unit of the recording: 0, or the number of the group of those that it shares
 * events with; NULL: not asked for. SF_NO_MEMORY, SF_CANCELLED.
 */
int sf_sharpness_measure(sf_sharpness *sharpness, uint32_t *groups, const sf_survey_job *job,
                         sf_error *error);

#endif
