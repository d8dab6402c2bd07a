/* SPDX-License-Identifier: Apache-2.0 */
/** Evaluating a kernel density. */
#ifndef SF_DENSITY_EVALUATE_H
#define SF_DENSITY_EVALUATE_H

#include <synfire/synfire.h>

/**
 * values[k] = 1/(n h) sum_j phi((points[k] - samples[j]) / h), phi the standard normal density: the direct
 * sum, O(count * n), on up to `threads` threads. n >= 1, h > 0 and finite (SF_USAGE); SF_DATA where a sample
 * is not finite.
 */
int sf_density_evaluate(double *values, const double *points, size_t count, const double *samples, size_t n,
                        double h, unsigned threads, sf_error *error);

#endif
