/* SPDX-License-Identifier: Apache-2.0 */
/** Helpers of permutation tests: comparison of statistics, and the critical value of a set of them. */
#ifndef SF_ANALYSIS_RARE_H
#define SF_ANALYSIS_RARE_H

#include "core/reals.h"

#include <math.h>

#define SF_RARE 0.05 /**< fraction of permutations that reach the value of sf_rare_of */
#define SF_TIES 1e-9 /**< statistics this close differ by rounding only */

/** Smallest value that counts as at least as great as `statistic`. */
static inline double sf_just_below(double statistic)
{
    return statistic * (1 - SF_TIES) - SF_TIES;
}

/** The value that one permutation in twenty reaches, or `otherwise` if that is not a positive number; sorts
 * `statistics` in place. */
static inline double sf_rare_of(double *statistics, size_t count, double otherwise)
{
    sf_reals_sort(statistics, count);
    double rare = statistics[(size_t)((1 - SF_RARE) * (double)count)];
    return rare > 0 && isfinite(rare) ? rare : otherwise;
}

#endif
