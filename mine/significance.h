/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a count is worth: tests of frequent episodes against surrogates (core/backend/surrogate.h), and the
 * analytic test of Sastry and Unnikrishnan.
 *
 * Surrogates. The question is whether the node that an episode adds is linked to the rest of it. So only the
 * last unit is shifted, and the episode without it stays as it was recorded; and for the first unit the same
 * in the mirror (for a pair the question is the same, and one test is enough). Of either test p = (1 +
 * surrogates that count as much or more) / (1 + surrogates), and the episode has the larger one. Without
 * that, a strong A -> B makes A -> B -> X significant for every X. What must be ruled out is that either end
 * is not linked, and the larger p does so at any level: where one end is linked and the other is not, it is
 * about the other's, and calibrated; where neither is, both have to be low by chance, and it is cautious.
 *
 * Segment-shift takes something off counts that is no link, where units share bursts. That is estimated
 * (surrogate_blur.h) and taken off the count before it is compared, and added to what is expected.
 *
 * Correction, for each size by itself, over all candidates that the search looked at:
 *   maximum   q is the share of surrogates, the recorded stream counted with them, in which any candidate
 *             stands out as much: counts are standardised by the candidate's own mean and standard deviation
 *             over them all, and the largest of those that are frequent in a surrogate is compared.
 *             Being right for all episodes of a size at once: the family-wise error (Westfall and
 *             Young 1993).
 *
 *   rate      q is the expected share of false findings among all that are as good or better (Benjamini and
 *             Hochberg 1995), by tails fitted to each candidate's surrogates, which reach below 1 / (1 +
 *             surrogates).
 *
 * Candidates that are not frequent take part with a p of 1.
 *
 * No verdict. Where surrogates cannot tell a link from something else, there is neither p nor q, and the item
 * says why:
 *   a unit returns     the shifted unit's spikes move against its own others, which its bursts and dead time
 *                      do not allow. Such candidates are not counted among those corrected for.
 *   delays too long    of segment-shift: shifts beyond the delays are more than a tenth of a segment.
 *   bursts too sharp   what units share is too sharp at the scale of the shifts (mine/sharpness.h).
 * The last two are of the whole recording with these delays.
 */
#ifndef SF_MINE_SIGNIFICANCE_H
#define SF_MINE_SIGNIFICANCE_H

#include "core/backend/surrogate.h"
#include "mine/mine.h"
#include "mine/sharpness.h"

#include <synfire/mine.h>

/** How far trains are shifted where `width_ns` is 0: half further than the largest delay bound. */
int64_t sf_significance_width(const sf_delay *delays, size_t count);

/** What is longer does not fit into segments of this length. */
int64_t sf_significance_longest_delay(int64_t segment_ns);

/**
 * Tests all frequent episodes of a result: sets p, q, expected and not_testable of its items. expected
 * becomes the mean count over the surrogates, of the two tests the larger one; the analytic test leaves it
 * alone and gives no q. `mining` are the options of the run that gave the result, and `input` the same. The
 * same seed gives the same numbers on every device and on any number of threads. SF_USAGE, SF_CANCELLED,
 * SF_UNAVAILABLE.
 */
int sf_significance_test(sf_significance *significance, sf_mine_result *result, const sf_mine_input *input,
                         const sf_mine_options *mining, const sf_significance_options *options,
                         const sf_progress *progress, sf_error *error);

#endif
