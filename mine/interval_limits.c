/* SPDX-License-Identifier: Apache-2.0 */
#include "mine/interval_limits.h"

#include "core/clock.h"

#include <math.h>

/* ---- logISI ---- */

#define BINS_A_DECADE 10
#define DECADES 13 /* of milliseconds in an int64_t of nanoseconds */
#define MOST_BINS (BINS_A_DECADE * DECADES)
#define REACH 2 /* bins on either side, of smoothing and of a peak */
#define LEAST_VOID 0.7
#define ALIKE 1e-9 /* of an interval: smoothed counts that differ by rounding alone */

typedef struct histogram {
    size_t bins; /* to the end of the longest interval's decade */
    double held[MOST_BINS], smooth[MOST_BINS];
} histogram;

static void count_intervals(histogram *h, const int64_t *intervals_ns, size_t count)
{
    double longest = 1;
    for (size_t i = 0; i < count; i++) {
        double log_ms = log10((double)intervals_ns[i] / (double)SF_MILLISECOND);
        if (intervals_ns[i] < SF_MILLISECOND) continue;
        size_t bin = (size_t)(log_ms * BINS_A_DECADE + 1e-9);
        h->held[bin < MOST_BINS ? bin : MOST_BINS - 1]++;
        longest = fmax(longest, ceil(log_ms));
    }
    h->bins = (size_t)fmin(longest, DECADES) * BINS_A_DECADE;
}

/* The line through the five nearest bins at bin `at`, nearer ones weighing more. */
static double smooth_at(const histogram *h, size_t at)
{
    size_t first = at < REACH ? 0 : at - REACH;
    first = first + 2 * REACH < h->bins ? first : h->bins - 1 - 2 * REACH;
    double farthest = fmax((double)at - (double)first, (double)(first + 2 * REACH) - (double)at);
    double sum = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (size_t bin = first; bin <= first + 2 * REACH; bin++) {
        double away = (double)bin - (double)at;
        double weight = pow(1 - pow(fabs(away) / farthest, 3), 3);
        sum += weight;
        x += weight * away;
        y += weight * h->held[bin];
        xx += weight * away * away;
        xy += weight * away * h->held[bin];
    }
    return (y * xx - x * xy) / (sum * xx - x * x);
}

static bool is_peak(const histogram *h, size_t at)
{
    if (at == 0 || at + 1 == h->bins) return false;
    for (size_t bin = at < REACH ? 0 : at - REACH; bin < h->bins && bin <= at + REACH; bin++)
        if (bin != at && h->smooth[bin] >= h->smooth[at] - ALIKE) return false;
    return true;
}

static int64_t edge_ns(size_t bin)
{
    return llround(pow(10, (double)bin / BINS_A_DECADE) * (double)SF_MILLISECOND);
}

/* The highest peak of short intervals; SIZE_MAX without one. */
static size_t find_short_peak(const histogram *h, int64_t short_ns)
{
    size_t peak = SIZE_MAX;
    for (size_t bin = 0; bin < h->bins && edge_ns(bin) < short_ns; bin++)
        if (is_peak(h, bin) && (peak == SIZE_MAX || h->smooth[bin] > h->smooth[peak] + ALIKE)) peak = bin;
    return peak;
}

static histogram smooth_intervals(const int64_t *intervals_ns, size_t count)
{
    histogram h = {.bins = 0};
    count_intervals(&h, intervals_ns, count);
    for (size_t bin = 0; bin < h.bins; bin++)
        h.smooth[bin] = smooth_at(&h, bin);
    return h;
}

static size_t least_between(const histogram *h, size_t first, size_t last)
{
    size_t least = first;
    for (size_t bin = first; bin <= last; bin++)
        least = h->smooth[bin] < h->smooth[least] - ALIKE ? bin : least;
    return least;
}

static bool is_void(const histogram *h, size_t peak, size_t other, size_t least)
{
    double between = fmax(h->smooth[least], 0);
    return 1 - between / sqrt(h->smooth[peak] * h->smooth[other]) >= LEAST_VOID;
}

sf_interval_valley sf_interval_valley_find(const int64_t *intervals_ns, size_t count, int64_t short_ns)
{
    const histogram h = smooth_intervals(intervals_ns, count);
    size_t peak = find_short_peak(&h, short_ns);
    if (peak == SIZE_MAX) return (sf_interval_valley){.has_short_peak = false};
    for (size_t bin = peak + 1; bin < h.bins; bin++) {
        size_t least = least_between(&h, peak, bin);
        if (is_peak(&h, bin) && is_void(&h, peak, bin, least))
            return (sf_interval_valley){true, edge_ns(least)};
    }
    return (sf_interval_valley){.has_short_peak = true};
}

int64_t sf_interval_valley_of_peaks(const int64_t *intervals_ns, size_t count)
{
    const histogram h = smooth_intervals(intervals_ns, count);
    size_t peak = find_short_peak(&h, INT64_MAX), other = SIZE_MAX, valley = 0;
    for (size_t bin = 0; peak != SIZE_MAX && bin < h.bins; bin++) {
        size_t least = bin < peak ? least_between(&h, bin, peak) : least_between(&h, peak, bin);
        if (bin == peak || !is_peak(&h, bin) || !is_void(&h, peak, bin, least) ||
            (other != SIZE_MAX && h.smooth[bin] <= h.smooth[other] + ALIKE))
            continue;
        other = bin;
        valley = least;
    }
    return other != SIZE_MAX ? edge_ns(valley) : 0;
}

sf_interval_limits sf_interval_limits_log(const int64_t *intervals_ns, size_t count)
{
    const int64_t usual_ns = 100 * SF_MILLISECOND;
    const sf_interval_valley valley = sf_interval_valley_find(intervals_ns, count, usual_ns);
    if (!valley.has_short_peak) return (sf_interval_limits){-1, -1};
    if (valley.at_ns == 0 || valley.at_ns >= SF_SECOND) return (sf_interval_limits){usual_ns, usual_ns};
    return (sf_interval_limits){valley.at_ns < usual_ns ? valley.at_ns : usual_ns, valley.at_ns};
}

/* ---- cumulative moving average ---- */

#define CMA_BINS 1000
#define MOST_WIDTHS 1e12 /* of a bin in an interval: beyond, intervals are the same in all that matters */

/* Bins before the first that holds an interval are empty: their averages are 0 and are not kept. */
typedef struct averages {
    double width_ns;
    size_t empty, kept, at_maximum;
    double average[CMA_BINS + 3];
} averages;

/* Bins include their upper edge, with the tolerance of R's hist(). */
static size_t bin_of(double interval_ns, double width_ns)
{
    double bin = ceil(interval_ns / width_ns - 1e-7) - 1;
    return bin > 0 ? (size_t)bin : 0;
}

static bool take_averages(averages *a, const int64_t *intervals_ns, size_t count)
{
    int64_t least = INT64_MAX, most = 0;
    for (size_t i = 0; i < count; i++) {
        least = intervals_ns[i] < least ? intervals_ns[i] : least;
        most = intervals_ns[i] > most ? intervals_ns[i] : most;
    }
    if (count < 2 || least == most) return false;
    double range = (double)(most - least);
    *a = (averages){.width_ns = range / (range < (double)SF_MILLISECOND ? 10 : CMA_BINS)};
    if ((double)most / a->width_ns > MOST_WIDTHS) return false;
    a->empty = bin_of((double)least, a->width_ns);
    size_t bins = (size_t)(((double)most + a->width_ns) / a->width_ns + 1e-10);
    a->kept = bins - a->empty;
    for (size_t i = 0; i < count; i++)
        a->average[bin_of((double)intervals_ns[i], a->width_ns) - a->empty]++;
    double sum = 0;
    for (size_t bin = 0; bin < a->kept; bin++) {
        sum += a->average[bin];
        a->average[bin] = sum / (double)(a->empty + bin + 1);
        a->at_maximum = a->average[bin] > a->average[a->at_maximum] ? bin : a->at_maximum;
    }
    return true;
}

static double skewness(const averages *a)
{
    double bins = (double)(a->empty + a->kept), mean = 0, squares = 0, cubes = 0;
    for (size_t bin = 0; bin < a->kept; bin++)
        mean += a->average[bin] / bins;
    squares = (double)a->empty * mean * mean;
    cubes = -(double)a->empty * mean * mean * mean;
    for (size_t bin = 0; bin < a->kept; bin++) {
        double away = a->average[bin] - mean;
        squares += away * away;
        cubes += away * away * away;
    }
    return cubes / bins / pow(squares / (bins - 1), 1.5);
}

/* The longest interval below the middle of the bin whose average is closest to this. */
static int64_t limit_at(const averages *a, double average)
{
    size_t closest = a->at_maximum;
    for (size_t bin = closest; bin < a->kept; bin++)
        if (fabs(a->average[bin] - average) < fabs(a->average[closest] - average)) closest = bin;
    return (int64_t)ceil(((double)(a->empty + closest) + 0.5) * a->width_ns) - 1;
}

sf_interval_limits sf_interval_limits_cma(const int64_t *intervals_ns, size_t count)
{
    static const struct {
        double skewness, core, extend;
    } alphas[] = {{1, 1, 0.5}, {4, 0.7, 0.5}, {9, 0.5, 0.3}, {INFINITY, 0.3, 0.1}};
    averages a;
    size_t by = 0;
    if (!take_averages(&a, intervals_ns, count)) return (sf_interval_limits){-1, -1};
    double skew = skewness(&a), maximum = a.average[a.at_maximum];
    while (skew >= alphas[by].skewness)
        by++;
    int64_t core_ns = limit_at(&a, alphas[by].core * maximum),
            extend_ns = limit_at(&a, alphas[by].extend * maximum);
    return (sf_interval_limits){core_ns, extend_ns > core_ns ? extend_ns : core_ns};
}
