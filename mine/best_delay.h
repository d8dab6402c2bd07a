/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Which delay a link has, where people do not know: they give intervals that overlap, such as a wide one with
 * its halves and quarters, and each pair of units keeps the one in which it stands out most. Intervals that
 * overlap, or that others join by overlapping both, are one question; a pair keeps one interval for each
 * question.
 *
 * How far a pair stands out is (count - expected) / sqrt(expected), with at least 1 for the root: of what
 * surrogates count in the mean where there is a test, else of constant rates. Chains grow from the pairs that
 * are kept, so that a link has the same delay in all of them, and what is kept is one of the candidates that
 * q corrects for: all pairs in all intervals. So q is that of the search; p, which is of one interval, is
 * multiplied by the number of those that it was chosen from (Bonferroni), but is no more than a q that is
 * corrected by the maximum.
 */
#ifndef SF_MINE_BEST_DELAY_H
#define SF_MINE_BEST_DELAY_H

#include "mine/mine.h"
#include "window/pair_counts.h"

/** groups[d]: the first of the intervals that interval d is one question with. SF_NO_MEMORY. */
int sf_delays_group(uint32_t *groups, const sf_delay *delays, size_t count, sf_error *error);

/** Whether some of them overlap. */
bool sf_delays_overlap(const sf_delay *delays, size_t count);

/** The pairs of a result that are kept, in the form of sf_mine_input.pairs; free *pairs with sf_free.
 * SF_NO_MEMORY. */
int sf_mine_best_delays(sf_pair_count **pairs, size_t *count, const sf_mine_result *result, sf_error *error);

/** Corrects p of every tested item for the intervals that its links were chosen from, the most of any link.
 * SF_NO_MEMORY. */
int sf_mine_correct_choice(sf_mine_result *result, sf_correction correction, sf_error *error);

#endif
