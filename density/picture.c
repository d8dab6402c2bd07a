/* SPDX-License-Identifier: Apache-2.0 */
#include "density/picture.h"

#include <math.h>

/* The density's averages over `count` bins side by side. */
static void fill_bins(const sf_moving_picture *bins, size_t count, const sf_moving_density *live,
                      sf_moving_plan *plan, double *points, double *values)
{
    for (size_t k = 0; k < count; k++)
        points[k] = bins->from + bins->step * ((double)k + 0.5);
    sf_moving_density_at(live, plan, bins->step, points, count, values);
    for (size_t k = 0; k < count; k++)
        values[k] = fmax(values[k], 0); /* rounding may leave them below */
}

void sf_moving_draw(sf_moving_picture *picture, const sf_moving_density *live, sf_moving_plan *plan,
                    const sf_moving_view *view, double *points, double *values)
{
    *picture = (sf_moving_picture){live->h, view->from, (view->to - view->from) / view->bins};
    fill_bins(picture, view->bins, live, plan, points, values);
    if (!view->cut_below && !view->cut_above) return;
    sf_moving_cut(picture, view, values);
    fill_bins(picture, view->bins, live, plan, points, values);
}
