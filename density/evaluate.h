/* SPDX-License-Identifier: Apache-2.0 */
/** Evaluating a kernel density, also of quantities that cannot be negative. */
#ifndef SF_DENSITY_EVALUATE_H
#define SF_DENSITY_EVALUATE_H

#include <synfire/density.h>

/** SF_DATA where a sample is not finite or does not lie in the domain. */
int sf_domain_check(sf_domain domain, const double *samples, size_t n, sf_error *error);

/** Mean and covariance of two columns (divisor n - 1). */
typedef struct sf_covariance {
    double mean_x, mean_y;
    double xx, xy, yy;
    double rest; /**< of y, what x does not explain: yy - xy^2 / xx without cancellation */
} sf_covariance;

/** The covariance of n rows, row-major; row i counts as weights[i] (NULL: all as 1). SF_DATA where it is
 * singular. */
int sf_covariance_find(sf_covariance *covariance, const double *samples, const double *weights, size_t n,
                       sf_error *error);

/**
 * The widest step along column c (0 or 1) of a grid that misses no kernel of covariance h^2 times this: the
 * width that is left of one where the other column is known, along which the kernels of leaning columns are
 * narrow. A sum over such a grid is the integral within 1e-5.
 */
double sf_plane_step(const sf_covariance *covariance, double h, size_t c);

/**
 * The density of samples of two columns (row-major) on a grid: values[r * columns + c] at (x[c], y[r]).
 * Sample i counts as weights[i] equal ones, 2 or more together; NULL: each as one. The kernel's covariance is
 * h^2 times that of the samples. The direct sum, O(rows * columns * different samples). SF_DATA where the
 * covariance is singular, SF_USAGE as above, SF_NO_MEMORY, SF_CANCELLED.
 */
int sf_density_evaluate_plane(double *values, const double *x, size_t columns, const double *y, size_t rows,
                              const double *samples, const double *weights, size_t n, double h,
                              unsigned threads, const sf_progress *progress, sf_error *error);

#endif
