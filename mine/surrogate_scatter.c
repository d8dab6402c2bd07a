/* SPDX-License-Identifier: Apache-2.0 */
#include "mine/surrogate_scatter.h"

#include "core/reals.h"

#include <math.h>

/* How likely an offset is below this many widths: its density falls off linearly to both sides of 0. */
static double below(double widths)
{
    double inside = fmax(-1, fmin(1, widths));
    return inside < 0 ? (1 + inside) * (1 + inside) / 2 : 1 - (1 - inside) * (1 - inside) / 2;
}

double sf_surrogate_reach(sf_delay delay, int64_t width_ns, double lag_ns)
{
    double width = (double)width_ns;
    return below(((double)delay.high_ns - lag_ns) / width) - below(((double)delay.low_ns - lag_ns) / width);
}

static bool within(sf_delay delay, double lag_ns)
{
    return lag_ns > (double)delay.low_ns && lag_ns <= (double)delay.high_ns;
}

/* g(x), squared. */
static double deviation(sf_delay delay, int64_t width_ns, double share, double lag_ns)
{
    double far = (double)(SF_DISPLACED_WIDTHS * width_ns);
    double here = within(delay, lag_ns),
           beyond = (within(delay, lag_ns - far) + within(delay, lag_ns + far)) / 2.0;
    double g = here - share * (here - beyond) - sf_surrogate_reach(delay, width_ns, lag_ns);
    return g * g;
}

/* Between two of these lags all that is integrated is a polynomial of the fourth degree at most. */
enum { CORNERS = 10 };

static void list_corners(double corners[CORNERS], sf_delay delay, int64_t width_ns)
{
    static const int widths[CORNERS / 2] = {-SF_DISPLACED_WIDTHS, -1, 0, 1, SF_DISPLACED_WIDTHS};
    for (int i = 0; i < CORNERS / 2; i++) {
        corners[2 * i] = (double)delay.low_ns + (double)widths[i] * (double)width_ns;
        corners[2 * i + 1] = (double)delay.high_ns + (double)widths[i] * (double)width_ns;
    }
    sf_reals_sort(corners, CORNERS);
}

/* By the formula of Gauss with three points, which is exact up to the fifth degree. */
sf_surrogate_scatter sf_surrogate_scatter_of(sf_delay delay, int64_t width_ns, double share)
{
    static const double points[] = {-0.77459666924148337704, 0, 0.77459666924148337704},
                        weights[] = {5.0 / 9, 8.0 / 9, 5.0 / 9};
    double corners[CORNERS], recorded = 0, reached = 0, length = (double)(delay.high_ns - delay.low_ns);
    list_corners(corners, delay, width_ns);
    for (int i = 1; i < CORNERS; i++) {
        double middle = (corners[i - 1] + corners[i]) / 2, half = (corners[i] - corners[i - 1]) / 2;
        for (int k = 0; k < 3; k++) {
            double lag_ns = middle + half * points[k], reach = sf_surrogate_reach(delay, width_ns, lag_ns);
            recorded += half * weights[k] * deviation(delay, width_ns, share, lag_ns);
            reached += half * weights[k] * reach * reach;
        }
    }
    return (sf_surrogate_scatter){recorded / length, 1 - reached / length};
}
