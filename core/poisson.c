/* SPDX-License-Identifier: Apache-2.0 */
#include "core/poisson.h"

#include "core/platform.h"

#include <math.h>

double sf_poisson_surprise(double mean, double least)
{
    if (least == 0 || mean == 0) return least == 0 ? 0 : INFINITY;
    double tail = 1, log_term = least * log(mean) - mean - sf_platform_log_gamma(least + 1);
    if (mean >= least) { /* the upper tail is most of it: what lies below, from the top down */
        double below = exp(log_term) * least / mean, sum = 0;
        for (double k = least - 1; k >= 0 && below > sum * 1e-17; below *= k / mean, k--)
            sum += below;
        return -log1p(-sum);
    }
    for (double k = least + 1, next = mean / k; next > tail * 1e-17; k++, next *= mean / k)
        tail += next;
    return -log_term - log(tail);
}
