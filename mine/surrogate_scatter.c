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

/* ---- counts that saturate ---- */

#define MOST_CROWD 40.0

/* The crowd of which such a part is counted, (1 - exp(-crowd)) / crowd. */
static double crowd_of(double part)
{
    double low = 0, high = MOST_CROWD;
    for (int i = 0; i < 40; i++) {
        double middle = (low + high) / 2;
        if (-expm1(-middle) > part * middle)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Where trains are displaced to, in lengths of the delay, and the weights in a recorded count less its blur
 * and less the mean of its surrogates; the offsets of these first, whose weights are those of the mean. */
enum { MOST_PLACES = SF_MOST_STOPS + 3 };

typedef struct displacements {
    size_t offsets, count;
    double at[MOST_PLACES], weight[MOST_PLACES];
    double covariance[MOST_PLACES][MOST_PLACES]; /* of each two, at a crowd */
} displacements;

static displacements displace(sf_delay delay, int64_t width_ns, double share, size_t offsets)
{
    displacements d = {.offsets = offsets, .count = offsets + 3};
    double width = (double)width_ns / (double)(delay.high_ns - delay.low_ns), all = 0;
    for (size_t i = 0; i < offsets; i++) {
        double widths = (2 * (double)i + 1 - (double)offsets) / (double)offsets;
        d.at[i] = widths * width;
        d.weight[i] = fabs(widths) - 1;
        all -= d.weight[i];
    }
    for (size_t i = 0; i < offsets; i++)
        d.weight[i] /= all;
    for (size_t i = 0; i < 3; i++) {
        double side = (double)i - 1;
        d.at[offsets + i] = side * SF_DISPLACED_WIDTHS * width;
        d.weight[offsets + i] = i == 1 ? 1 - share : share / 2;
    }
    return d;
}

static void crowd_all(displacements *d, double crowd)
{
    double all = exp(-crowd), counted = -expm1(-crowd);
    for (size_t i = 0; i < d->count; i++)
        for (size_t k = 0; k <= i; k++) {
            double part = fabs(d->at[i] - d->at[k]), covariance = 1 - part; /* the limit of no crowd */
            if (part >= 1)
                covariance = 0;
            else if (crowd > 0)
                covariance = (exp(-crowd * part) - all) / counted;
            d->covariance[i][k] = d->covariance[k][i] = covariance;
        }
}

/* The sum of covariances between the first `count` displacements. */
static double variance_of(const displacements *d, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < count; k++)
            sum += d->weight[i] * d->weight[k] * d->covariance[i][k];
    return sum;
}

/* The root of the ratio of both variances where such a part is counted. */
static double ratio_at(displacements *d, double part)
{
    crowd_all(d, crowd_of(part));
    return sqrt(variance_of(d, d->count) / (1 - variance_of(d, d->offsets)));
}

sf_surrogate_saturation sf_surrogate_saturation_of(sf_delay delay, int64_t width_ns, double share,
                                                   size_t stops)
{
    sf_surrogate_saturation told;
    displacements d = displace(delay, width_ns, share, stops > 0 ? stops : SF_MOST_STOPS);
    sf_surrogate_scatter few = sf_surrogate_scatter_of(delay, width_ns, share);
    for (int i = 0; i < SF_SATURATIONS; i++)
        told.factors[i] = ratio_at(&d, i / (SF_SATURATIONS - 1.0)) / sqrt(few.recorded / few.surrogates);
    double all = stops > 0 ? 1 : told.factors[SF_SATURATIONS - 1]; /* what few offsets make of all */
    for (int i = 0; i < SF_SATURATIONS; i++)
        told.factors[i] /= all;
    return told;
}

static double part_of(double counted, double near)
{
    return near > counted ? counted / near : 1;
}

double sf_surrogate_saturated(const sf_surrogate_saturation *saturation, double counted, double near)
{
    const double *factors = saturation->factors;
    double at = part_of(counted, near) * (SF_SATURATIONS - 1);
    int below = (int)fmin(at, SF_SATURATIONS - 2);
    return factors[below] + (at - below) * (factors[below + 1] - factors[below]);
}

double sf_surrogate_saturated_once(sf_delay delay, int64_t width_ns, double share, double counted,
                                   double near)
{
    displacements d = displace(delay, width_ns, share, SF_MOST_STOPS);
    return ratio_at(&d, part_of(counted, near)) / ratio_at(&d, 1);
}

/* From the first spike of units, each of which has some, to the last. */
static double span_of(const sf_events *events, const uint32_t *units, uint32_t count)
{
    uint32_t first = UINT32_MAX, last = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t begin = events->positions[events->first[units[i]]],
                 end = events->positions[events->first[units[i] + 1] - 1];
        first = begin < first ? begin : first;
        last = end > last ? end : last;
    }
    return (double)(events->times[last] - events->times[first]) + 1;
}

static double spikes_of(const sf_events *events, uint32_t unit)
{
    return (double)(events->first[unit + 1] - events->first[unit]);
}

double sf_surrogate_near_by_rates(const sf_events *events, const sf_episode *episode, double counted)
{
    uint32_t size = episode->size;
    for (uint32_t k = 0; k < size; k++)
        if (spikes_of(events, episode->units[k]) == 0) /* of a stretch of a stream */
            return 0;
    double span = span_of(events, episode->units, size), ends = spikes_of(events, episode->units[0]);
    for (uint32_t k = 1;; k++) {
        double part = (double)(episode->delays[k - 1].high_ns - episode->delays[k - 1].low_ns) / span,
               own = spikes_of(events, episode->units[k]), crowd = part * (ends + own);
        if (k + 1 == size) /* units that fire at other times count less, and do not saturate */
            return fmin(ends * own * part, counted * crowd / -expm1(-crowd));
        ends = own * -expm1(-ends * part);
    }
}
