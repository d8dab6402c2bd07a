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
 * (surrogate_blur.h) and taken off the count before it is compared, and added to what is expected. What is
 * left lies nearer to the mean of surrogates than these to each other: what it deviates is stretched to
 * theirs (surrogate_scatter.h), and for p and q the count is what it would then be.
 *
 * That alone would call a chain significant whose ends are linked past a unit that is not (A -> C makes
 * A -> X -> C), or that two links make that have nothing to do with each other (A -> B and C -> D). What has
 * to be ruled out is any split of the chain into two groups of units that know nothing of each other. Each
 * such split cuts a link, so it is enough that every consecutive link stands out as a pair: p and q of a
 * chain are the largest of those of its two ends and of its links (an intersection-union test: Berger,
 * Technometrics 24, 1982). Links of a frequent chain are frequent, so that they are tested already; and a
 * family-wise q of pairs bounds chains of every size, also against this: which chains are candidates is
 * decided by counts of their parts in the same recording, which surrogates of the chain do not repeat. (300
 * units of 1 Hz for 3 s, counts of 2 and more: by the ends alone 25 of 40 recordings had a chain with q <
 * 0.05, none a pair.)
 *
 * Correction, over all candidates of a size that the search looked at, of all delays:
 *   maximum   q is the share of surrogates, the recorded stream counted with them, in which any candidate
 *             stands out as much: counts are standardised by the candidate's own mean and standard deviation
 *             over them all, and the largest of those that are frequent in a surrogate is compared
 *             (mine/family.h). Being right for all episodes at once: the family-wise error (Westfall and
 *             Young 1993), of pairs and with them of chains, since none is called without its links.
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
 *   delays too long    of segment-shift: shifts beyond the delays are wider than segments allow.
 *   bursts too sharp   what units share is too sharp at the scale of the shifts (mine/sharpness.h),
 *   pairs too unlike   or pairs stand out of it each in its own way.
 * The last three are of the whole recording with these delays.
 *   shared events      two of the units are of a group that shares events which the others do not.
 * And where a verdict is read by itself, and not with those of other tests:
 *   reverse of a link  shifting moves a part of a link into its reverse's delay; such pairs are candidates.
 *   a link cannot be tested   of a chain with such a pair.
 */
#ifndef SF_MINE_SIGNIFICANCE_H
#define SF_MINE_SIGNIFICANCE_H

#include "core/backend/surrogate.h"
#include "mine/mine.h"
#include "mine/sharpness.h"

#include <synfire/mine.h>

/** How far trains are shifted where `width_ns` is 0 and not more is chosen: half further than the largest
 * delay bound. */
int64_t sf_significance_width(const sf_delay *delays, size_t count);

/**
 * How far segment-shift moves segments at these delays where `width_ns` is 0, as width_ns of the sharpness
 * that is measured for it: by three times the largest delay, which takes more of a link out of its delay and
 * less of it into the reverse pair's, where what units share is known to be smooth as far as that, or a group
 * is found and the others can be tested, and that is widest_ns or less; else by half more than it. The job's
 * own width does not matter. `groups` as in sf_sharpness_measure. SF_NO_MEMORY, SF_CANCELLED.
 */
int sf_significance_choose_width(sf_sharpness *sharpness, uint32_t *groups, const sf_survey_job *job,
                                 int64_t widest_ns, sf_error *error);

/** The segments to use where `segment_ns` is 0, given the span of the spikes and the spikes of the most
 * active unit: 360 of them, 60 where a unit fires more than once in five largest delays, 12 where more than
 * three times in four; whole seconds. */
int64_t sf_significance_segment(int64_t span_ns, uint32_t most_spikes, int64_t longest_ns);

/** The widest shifts that segments so long allow, or those that are chosen (0): a tenth of a segment, or of a
 * second. Chosen segments may be longer, but delays of hundreds of ms are those of waves and bursts. */
int64_t sf_significance_widest(int64_t segment_ns);

/**
 * Tests all frequent episodes of a result: sets p, q, expected and not_tested of its items. expected
 * becomes the mean count over the surrogates, of the two tests the larger one; the analytic test leaves it
 * alone and gives no q. `mining` are the options of the run that gave the result, and `input` the same. The
 * same seed gives the same numbers on every device and on any number of threads. SF_USAGE, SF_CANCELLED,
 * SF_UNAVAILABLE.
 */
int sf_significance_test(sf_significance *significance, sf_mine_result *result, const sf_mine_input *input,
                         const sf_mining_options *mining, const sf_significance_options *options,
                         const sf_progress *progress, sf_error *error);

/** What a test goes by in spikes as a whole: how far segment-shift moves segments where that is chosen, what
 * it takes off counts, whether bursts are too sharp, and which units share events. */
typedef struct sf_test_shape {
    sf_sharpness sharpness;
    /** by unit of the recording, as in sf_sharpness_measure; owned; NULL: none are known */
    uint32_t *groups;
} sf_test_shape;

/** Measures it for a test by these options; the job's own width and segment do not matter, its delay is from
 * the lowest bound of the delays to the largest. SF_NO_MEMORY, SF_CANCELLED; sf_test_shape_free in any case.
 */
int sf_significance_shape(sf_test_shape *shape, const sf_survey_job *job,
                          const sf_significance_options *options, sf_error *error);
void sf_test_shape_free(sf_test_shape *shape); /**< a zeroed object is allowed */

/** sf_significance_test by a shape that other spikes have, so that what is tested has no say in how; NULL:
 * its own. */
int sf_significance_test_by(sf_significance *significance, sf_mine_result *result, const sf_mine_input *input,
                            const sf_mining_options *mining, const sf_significance_options *options,
                            const sf_test_shape *shape, const sf_progress *progress, sf_error *error);

/** Takes p and q from pairs B -> A that have a q of 0.05 or more where A -> B has one below, and from chains
 * with such a pair, and sets the reason. A caller that combines several tests should not call it: only high
 * values would be removed. SF_NO_MEMORY. */
int sf_significance_mark_reverses(sf_mine_result *result, sf_error *error);

#endif
