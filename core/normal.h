/* SPDX-License-Identifier: Apache-2.0 */
/** The standard normal density and its integrals, the same on the CPU and on GPUs. */
#ifndef SF_CORE_NORMAL_H
#define SF_CORE_NORMAL_H

#include "core/anywhere.h"

#include <math.h>

static inline SF_ANYWHERE double sf_normal_density(double z)
{
    return exp(-0.5 * z * z) / 2.50662827463100050242;
}

/** Its integral between two places, without cancellation in either tail. */
static inline SF_ANYWHERE double sf_normal_between(double below, double above)
{
    if (below > 0) return 0.5 * (erfc(below * M_SQRT1_2) - erfc(above * M_SQRT1_2));
    return 0.5 * (erfc(-above * M_SQRT1_2) - erfc(-below * M_SQRT1_2));
}

/** The density with standard deviation b so far from its middle, averaged over a width around there (0: at
 * the point). */
static inline SF_ANYWHERE double sf_normal_average(double away, double b, double width)
{
    return width > 0 ? sf_normal_between((away - width / 2) / b, (away + width / 2) / b) / width
                     : sf_normal_density(away / b) / b;
}

#endif
