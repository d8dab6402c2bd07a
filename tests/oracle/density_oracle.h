/* SPDX-License-Identifier: Apache-2.0 */
/** Slow and obvious twins of density/: the formulas as they are printed, in long double, one term at a time.
 */
#ifndef SF_TESTS_DENSITY_ORACLE_H
#define SF_TESTS_DENSITY_ORACLE_H

#include "density/bandwidth.h"

#include <synfire/density.h>

/** PLUG-IN from raw samples; the whole double sums, diagonal included. */
sf_plugin check_plugin(const double *samples, size_t n);

/** g(h) of the whole double sum over rows of d columns, the covariance inverted by elimination; d <= 16. */
double check_lscv(const double *rows, size_t n, size_t d, double h);

/** sum_j w_j exp(i t x_j), w NULL: all 1 */
void check_characteristic(double t, const double *samples, const double *w, size_t n, double *re, double *im);

/** 1/(n h) sum_j phi((x - samples[j])/h) */
double check_density(double x, const double *samples, size_t n, double h);

/** kernels.h of samples without a clock, in one call: the density at points of the samples' own axis, per
 * unit of the domain's. */
int check_kernels(double *values, const double *points, size_t count, const double *samples, size_t n,
                  double h, sf_domain domain, unsigned threads, sf_error *error);

/**
 * The generator of the check values: row-major n x columns of a set named gauss16, isi, rate, delay or
 * array8. Free with free(). Every smaller n is a prefix.
 */
double *check_samples(const char *set, size_t n, size_t *columns);

#endif
