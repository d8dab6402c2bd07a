/* SPDX-License-Identifier: Apache-2.0 */
/** The standard normal density and its integrals. */
#ifndef SF_DENSITY_NORMAL_H
#define SF_DENSITY_NORMAL_H

#include <math.h>

static inline double sf_normal_density(double z)
{
    return exp(-0.5 * z * z) / 2.50662827463100050242;
}

/** Its integral between two places, without cancellation in either tail. */
static inline double sf_normal_between(double below, double above)
{
    if (below > 0)
        return 0.5 * (erfc(below * M_SQRT1_2) - erfc(above * M_SQRT1_2));
    return 0.5 * (erfc(-above * M_SQRT1_2) - erfc(-below * M_SQRT1_2));
}

#endif
