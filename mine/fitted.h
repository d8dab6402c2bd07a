/* SPDX-License-Identifier: Apache-2.0 */
/** Tails of distributions fitted to samples, and false discovery rates. */
#ifndef SF_MINE_FITTED_H
#define SF_MINE_FITTED_H

#include <synfire/error.h>

/** P(X >= count) of a number of events X by a scaled Poisson distribution with a continuity correction. mean
 * and variance (both > 0) are estimates from a sample of size `sample`: the smaller, the thicker the tail. */
double sf_fitted_tail(double mean, double variance, uint32_t sample, double count);

/** Turns p-values into Benjamini and Hochberg's q, in place; `tested` >= count: how many there are in all,
 * those left out having p = 1. SF_NO_MEMORY. */
int sf_false_discovery(double *p, size_t count, uint64_t tested, sf_error *error);

#endif
