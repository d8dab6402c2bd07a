/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Discrete power laws fitted to whole numbers by the method of Clauset, Shalizi and Newman (SIAM Review 51
 * (2009), 661).
 *
 * p(x) = x^-a / zeta(a, xmin) for x >= xmin. The exponent is the maximum-likelihood estimate; xmin minimises
 * the Kolmogorov-Smirnov distance between data and fit, among all values that leave at least SF_POWER_TAIL
 * values. p is the fraction of drawings whose distance from their own fit is at least that of the data,
 * counting the data as one of them, so that p is never 0. Each drawing takes values below xmin from the data
 * and values above from the fit, and is fitted with an xmin of its own. A small p (at most 0.1 in that paper)
 * rules the power law out. The interval of the exponent is 1.96 standard deviations of the drawings'
 * exponents on either side, and so includes the uncertainty of xmin.
 *
 * Two alternative distributions are fitted to the same tail by maximum likelihood, and compared with the
 * power law by Vuong's likelihood ratio: the lognormal, whose probability of x is its integral from x - 1/2
 * to x + 1/2, and the exponential, p(x) = (1 - e^-l) e^(-l (x - xmin)).
 */
#ifndef SF_ANALYSIS_POWER_FIT_H
#define SF_ANALYSIS_POWER_FIT_H

#include <synfire/error.h>

#include <stdint.h>

/** Minimum number of values in a tail; with fewer the exponent is off by more than a hundredth (Clauset et
 * al.). */
#define SF_POWER_TAIL 50

/** Exponents are looked for below. */
#define SF_POWER_STEEPEST 10.0

/** How a distribution compares with the power law. */
typedef struct sf_rival {
    double ratio; /**< standardised log likelihood ratio; above 0 the power law fits better */
    double p;     /**< that it is as far from 0 by chance */
} sf_rival;

/** Everything from the exponent on is NaN for fewer than SF_POWER_TAIL values, or if all are equal. */
typedef struct sf_power_fit {
    uint64_t count;      /**< values */
    uint64_t xmin, tail; /**< smallest fitted value; number of values from it on */
    uint64_t most;       /**< the greatest value */
    double exponent;     /**< a */
    double error;        /**< its standard error for a given xmin, from the curvature of the likelihood */
    double low, high;    /**< 95 % interval; NaN without drawings */
    double distance;     /**< of Kolmogorov and Smirnov */
    double p;            /**< NaN without drawings */
    sf_rival lognormal, exponential;
} sf_power_fit;

typedef struct sf_power_options {
    uint64_t xmin;   /**< 0: is looked for */
    uint32_t rounds; /**< drawings; 0: no p and no interval */
    uint64_t seed;
    const sf_progress *progress; /**< or NULL */
} sf_power_options;

/** Fits `count` values >= 1, in any order. SF_NO_MEMORY, SF_CANCELLED. */
int sf_power_fit_find(sf_power_fit *fit, const uint64_t *values, size_t count,
                      const sf_power_options *options, sf_error *error);

/** Hurwitz' zeta function, the sum of (x + k)^-a over k = 0, 1, ...; a > 1, x >= 1. */
double sf_hurwitz_zeta(double a, double x);

#endif
