/* SPDX-License-Identifier: Apache-2.0 */
/** The one filter by what a test says, of episodes and of edges. */
#ifndef SF_ANALYSIS_LIMITS_H
#define SF_ANALYSIS_LIMITS_H

#include "core/error.h"

#include <synfire/mine.h>

/** What a test has to say for an episode or an edge to be told of; 0: anything, or nothing. */
typedef struct sf_limits {
    double max_p, max_q;
} sf_limits;

/** Without a verdict, NaN, only where any will do. */
static inline bool sf_within_limits(sf_limits limits, double p, double q)
{
    return (limits.max_p <= 0 || p <= limits.max_p) && (limits.max_q <= 0 || q <= limits.max_q);
}

/** Refuses limits for which a test (NULL: there is none) gives no values. SF_USAGE. */
static inline int sf_limits_check(sf_limits limits, const sf_significance_options *test, sf_error *error)
{
    const char *place = limits.max_q > 0 ? "max_q" : "max_p";
    if ((limits.max_p > 0 || limits.max_q > 0) && test == NULL)
        return sf_fail(error, SF_USAGE, place, "needs a test of significance, and none is made");
    if (limits.max_q > 0 && test->kind == SF_SIGNIFICANCE_ANALYTIC)
        return sf_fail(error, SF_USAGE, place, "needs surrogates: the analytic test gives no q");
    return SF_OK;
}

#endif
