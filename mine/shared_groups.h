/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Groups of units that share events which the others do not: a stimulus that some are locked to, bursts of a
 * few. What is shared stands out in all pairs of a group and both ways, where a chain, a link or a unit that
 * drives others stands out one way. So a pair is worth x, the lesser z of its two ways, standardised by what
 * the lesser of two normal numbers is: mean -1 / sqrt(pi), variance 1 - 1 / pi. Of k units among n that share
 * nothing the sum of x over their pairs, over the root of the number of pairs, is normal, and the largest
 * over all sets of k units is about sqrt(2 k ln(e n / k)). A group exceeds that by 1 or more. It is looked
 * for from the best pair on, by the unit that adds most; the best size counts, from 3 on; then among the
 * units that are left.
 * Units that stand out with all members together by three standard deviations join it. What tells of one
 * unit beside a group that is known needs no proof in each pair: both ways of a pair count, by their sum,
 * which shows more than the lesser of them; a pair that stands out one way alone is a link and has its worth
 * only.
 */
#ifndef SF_MINE_SHARED_GROUPS_H
#define SF_MINE_SHARED_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** x of a pair with these z; at most 4, so that a group needs most of its pairs. */
double sf_shared_worth(double z, double z_of_reverse);

/** The sum of both, standardised, and at most 4, too. */
double sf_shared_together(double z, double z_of_reverse);

/**
 * groups[unit]: 0, or the number of its group, from 1 on. worth and together: [first * units + second], the
 * same both ways, 0 where nothing is known of a pair. At most 64 units. The number of groups is returned.
 */
size_t sf_shared_groups_find(uint32_t *groups, const double *worth, const double *together, size_t units);

#endif
