/* SPDX-License-Identifier: Apache-2.0 */
/** Evaluating a kernel density, also of quantities that cannot be negative. */
#ifndef SF_DENSITY_EVALUATE_H
#define SF_DENSITY_EVALUATE_H

#include <synfire/synfire.h>

/** Where samples can lie, and so which density is estimated. Intervals and delays are positive. */
typedef enum sf_domain {
    SF_DOMAIN_LINE, /**< anywhere */
    SF_DOMAIN_LOG, /**< above 0: the density of log x, carried back by f(x) = f_log(log x)/x; h is in log x */
    SF_DOMAIN_REFLECT, /**< at or above 0: what the kernels put under 0 is reflected, f(x) + f(-x) */
} sf_domain;

/** SF_DATA where a sample is not finite or does not lie in the domain. */
int sf_domain_check(sf_domain domain, const double *samples, size_t n, sf_error *error);

/**
 * Density at `count` points, values[k] = 1/(n h) sum_j phi((points[k] - samples[j]) / h) with phi the
 * standard normal density: the direct sum, O(count * n), on up to `threads` threads. n >= 1, h > 0 and finite
 * (SF_USAGE); SF_DATA, SF_NO_MEMORY. Outside the domain the density is 0.
 */
int sf_density_evaluate(double *values, const double *points, size_t count, const double *samples, size_t n,
                        double h, sf_domain domain, unsigned threads, sf_error *error);

/**
 * The density of samples of two columns (row-major) on a grid: values[r * columns + c] at (x[c], y[r]).
 * Sample i counts as weights[i] equal ones, 2 or more together; NULL: each as one. The kernel's covariance is
 * h^2 times that of the samples. The direct sum, O(rows * columns * n). SF_DATA where the covariance is
 * singular, SF_USAGE as above, SF_NO_MEMORY.
 */
int sf_density_evaluate_plane(double *values, const double *x, size_t columns, const double *y, size_t rows,
                              const double *samples, const double *weights, size_t n, double h,
                              unsigned threads, sf_error *error);

#endif
