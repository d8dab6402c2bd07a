/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Samples that a clock rounded, spread evenly over its ticks, the same on the CPU and on GPUs: what it calls
 * k ticks lay anywhere from k - 1/2 to k + 1/2 (density/kernels.h has the rule).
 */
#ifndef SF_CORE_BACKEND_TICK_H
#define SF_CORE_BACKEND_TICK_H

#include "core/anywhere.h"

#include <math.h>
#include <stddef.h>

/** Where the r-th of m samples lies that a clock calls x. */
static inline SF_ANYWHERE double sf_tick_spread(double x, double tick, size_t r, size_t m)
{
    return x + fmin(tick, x) * (((double)r + 0.5) / (double)m - 0.5);
}

/** Some of the samples of one count of ticks, on the axis of their logarithm. */
typedef struct sf_tick_point {
    double at, weight; /**< so many samples, which may be a fraction */
    double width;      /**< the narrowest kernel there */
} sf_tick_point;

/** The r-th of the points that `count` samples of k ticks are spread over. */
static inline SF_ANYWHERE sf_tick_point sf_tick_point_of(size_t count, double tick, size_t k, size_t r,
                                                         size_t points)
{
    double x = sf_tick_spread((double)k * tick, tick, r, points);
    sf_tick_point point = {log(x), (double)count / (double)points, fmin(tick / x, 1.0)};
    return point;
}

#endif
