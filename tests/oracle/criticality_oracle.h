/* SPDX-License-Identifier: Apache-2.0 */
/** Avalanches, multistep regression and power laws, slow and obvious: by arrays of all bins, sums of all
 * pairs and grids of all exponents. */
#ifndef SF_TESTS_ORACLE_CRITICALITY_ORACLE_H
#define SF_TESTS_ORACLE_CRITICALITY_ORACLE_H

#include "analysis/avalanches.h"

/** Of one interval of observation [start, stop); returns how many. `items` has room for as many as spikes. */
size_t oracle_avalanches(sf_avalanche *items, const sf_spike *spikes, size_t count, sf_span span,
                         int64_t bin_ns);

/** r_k as a regression of all pairs of bins that lie in one interval. */
double oracle_slope(const sf_population *population, size_t k);

/** m of the least squares of b m^k to r[0..lags): the best of a fine grid of time constants. */
double oracle_branching_ratio(const double *r, size_t lags);

/** The sum over thousands of terms, and the integral of the rest. */
double oracle_zeta(double a, double x);

typedef struct oracle_power {
    uint64_t xmin;
    double exponent, distance;
} oracle_power;

/** Clauset's fit over every xmin that leaves `least` values, distances at every whole number. */
oracle_power oracle_power_fit(const uint64_t *values, size_t count, size_t least);

#endif
