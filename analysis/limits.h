/* SPDX-License-Identifier: Apache-2.0 */
/** The only filter of episodes and edges by their test results. */
#ifndef SF_ANALYSIS_LIMITS_H
#define SF_ANALYSIS_LIMITS_H

#include "core/error.h"

#include <synfire/mine.h>

/** Largest p and q that an episode or an edge may have to be selected; 0: no limit, untested ones included.
 */
typedef struct sf_limits {
    double max_p, max_q;
} sf_limits;

/** An untested value (NaN) passes only if there is no limit. */
static inline bool sf_within_limits(sf_limits limits, double p, double q)
{
    return (limits.max_p <= 0 || p <= limits.max_p) && (limits.max_q <= 0 || q <= limits.max_q);
}

/** Refuses limits on values that the test (NULL: no test) does not compute. SF_USAGE. */
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
