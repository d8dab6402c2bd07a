/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The kernels of a density in one column, which is what is evaluated, integrated and drawn. They lie on an
 * axis: that of the samples, or of their natural logarithm (SF_DOMAIN_LOG), where a density is per unit of
 * the logarithm, so that equal areas are equal shares. One file knows what the clock means for them:
 *
 * - Samples of one tick are spread evenly over it before a logarithm is taken: what a clock calls k ticks lay
 *   anywhere from k - 1/2 to k + 1/2.
 * - No kernel is narrower than a tick where it lies. On the axis of x that is the tick; on that of ln x it is
 *   tick / x, which grows as x falls.
 */
#ifndef SF_DENSITY_KERNELS_H
#define SF_DENSITY_KERNELS_H

#include "density/evaluate.h"
#include "density/samples.h"

typedef struct sf_kernels {
    sf_domain domain;
    double h;          /**< the narrowest kernel there may be */
    size_t n;          /**< samples; each is one kernel */
    size_t count;      /**< kernels: with SF_DOMAIN_REFLECT also those reflected that reach above 0 */
    double *at;        /**< where they lie on the axis, ascending */
    double *width;     /**< standard deviation of each */
    double *from, *to; /**< no kernel from here on, or up to here, reaches further down, or up; ascending */
} sf_kernels;

/** Kernels over one column, of bandwidth h (of ln x on a logarithmic axis), or of one clock tick if that is
 * wider. SF_USAGE unless h is a number above 0; SF_DATA for samples outside the domain, or none;
 * SF_NO_MEMORY. */
int sf_kernels_open(sf_kernels *kernels, const sf_samples *samples, double h, sf_domain domain,
                    sf_error *error);
void sf_kernels_close(sf_kernels *kernels);

/** Where x lies on the axis of a domain, and back. x > 0 with SF_DOMAIN_LOG. */
double sf_axis_of(sf_domain domain, double x);
double sf_axis_value(sf_domain domain, double at);

/**
 * The density at `count` points of the axis, per unit of the axis: the sum over the kernels that reach there
 * (9 widths), fastest where points ascend. 0 outside the domain. SF_CANCELLED.
 */
int sf_kernels_density(const sf_kernels *kernels, double *values, const double *points, size_t count,
                       unsigned threads, const sf_progress *progress, sf_error *error);

/** The share of the density between two places of the axis, in closed form. */
double sf_kernels_share(const sf_kernels *kernels, double from, double to);

/** The widest step between points of the axis at which no kernel is missed: half the narrowest one. */
double sf_kernels_step(double narrowest);

/**
 * Points of the axis that resolve kernels from `narrowest` on wherever there are any, and pass over the rest:
 * a fifth of the narrowest apart, or half of it where that needs too many. Their straight-line integral is
 * the density's within 0.1 %. Hands over *points (sf_free). SF_USAGE, with the number that is needed, where
 * that is over `most`; SF_NO_MEMORY.
 */
int sf_kernels_points(const sf_kernels *kernels, double narrowest, double widest, size_t most,
                      double **points, size_t *count, sf_error *error);

#endif
