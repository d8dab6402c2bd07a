/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Discrete power laws fitted to whole numbers, as Clauset, Shalizi and Newman (SIAM Review 51 (2009), 661)
 * do it.
 *
 * p(x) = x^-a / zeta(a, xmin) from xmin on. The exponent is that of the maximum likelihood; xmin is the value
 * from which on the distance of Kolmogorov and Smirnov between data and fit is least, among all that leave
 * SF_POWER_TAIL values or more. p is the share of drawings that lie as far from their own fit, the data being
 * one of them, so that it is never 0: values below xmin are drawn from the data and those above from the fit,
 * and each drawing is fitted with its own xmin. A small p (0.1 and less there) rules the power law out. The
 * interval of the exponent is 1.96 standard deviations of the drawings' exponents on either side, and so
 * contains that xmin is not known.
 *
 * Two other distributions are fitted to the same tail by maximum likelihood, and held against the power law
 * by Vuong's ratio of likelihoods: the lognormal, whose probability of x is its integral from x - 1/2 to x +
 * 1/2, and the exponential, p(x) = (1 - e^-l) e^(-l (x - xmin)).
 */
#ifndef SF_ANALYSIS_POWER_FIT_H
#define SF_ANALYSIS_POWER_FIT_H

#include <synfire/error.h>

#include <stdint.h>

/** A tail has at least so many values: of fewer the exponent is off by more than a hundredth (Clauset et
 * al.). */
#define SF_POWER_TAIL 50

/** Exponents are looked for below. */
#define SF_POWER_STEEPEST 10.0

/** How a distribution compares with the power law. */
typedef struct sf_rival {
    double ratio; /**< of log likelihoods over its standard deviation: above 0 the power law fits better */
    double p;     /**< that it is as far from 0 by chance */
} sf_rival;

/** Of fewer than SF_POWER_TAIL values, or of one value alone: NaN from the exponent on. */
typedef struct sf_power_fit {
    uint64_t count;      /**< values */
    uint64_t xmin, tail; /**< the least value that is fitted, and how many there are from it on */
    uint64_t most;       /**< the greatest value */
    double exponent;     /**< a */
    double error;        /**< its standard error where xmin is given: of the curvature */
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

/** `values` are 1 or more, in any order. SF_NO_MEMORY, SF_CANCELLED. */
int sf_power_fit_find(sf_power_fit *fit, const uint64_t *values, size_t count,
                      const sf_power_options *options, sf_error *error);

/** Hurwitz' zeta function, the sum of (x + k)^-a over k = 0, 1, ...; a > 1, x >= 1. */
double sf_hurwitz_zeta(double a, double x);

#endif
