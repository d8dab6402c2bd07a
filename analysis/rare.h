/* SPDX-License-Identifier: Apache-2.0 */
/** What tests by dealing have in common: which statistics of dealings are as great, and which are rare. */
#ifndef SF_ANALYSIS_RARE_H
#define SF_ANALYSIS_RARE_H

#include "core/reals.h"

#include <math.h>

#define SF_RARE 0.05 /**< of dealings, beside which statistics of several measures are put */
#define SF_TIES 1e-9 /**< statistics so close are equal but for rounding */

/** From here on a statistic is as great as this one. */
static inline double sf_just_below(double statistic)
{
    return statistic * (1 - SF_TIES) - SF_TIES;
}

/** What one dealing in twenty reaches, or `otherwise` where that tells nothing; puts the statistics in order.
 */
static inline double sf_rare_of(double *statistics, size_t count, double otherwise)
{
    sf_reals_sort(statistics, count);
    double rare = statistics[(size_t)((1 - SF_RARE) * (double)count)];
    return rare > 0 && isfinite(rare) ? rare : otherwise;
}

#endif
