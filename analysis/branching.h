/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Branching ratio m, the mean number of spikes in the next bin that one spike causes, by multistep regression
 * (Wilting and Priesemann, Nat Commun 9 (2018), 2325), which is unbiased for any recorded fraction of the
 * network. r_k is the slope of the regression of a bin's count on the count k bins earlier; for a branching
 * process r_k = b m^k, and subsampling lowers b but leaves m unchanged. m and b minimise the squared error
 * over k = 1 .. lags; the time constant is -bin / ln m. r_1 alone, the conventional estimate, is b m and
 * therefore too small.
 *
 * Confidence interval: block bootstrap. The recorded time is cut into blocks of equal length, blocks are
 * drawn with replacement, r_k is computed from the summed statistics of the drawn blocks and fitted; the 95 %
 * interval leaves out 2.5 % of the drawings on either side. A pair of bins belongs to the block of its first
 * bin.
 *
 * Cautions (SF_BRANCHING_...), besides too few blocks:
 * - no memory: the mean of r_1 .. r_10 is less than three of its standard errors above 0. m is then NaN.
 * - offset: a fit with a constant, r_k = b m^k + c, leaves less than half the squared error, or has a time
 * constant that differs by a factor of three; c is further from 0 than three standard errors, and the time
 * constant is shorter than half the longest lag (after Wilting and Priesemann). Changing rates or more than
 * one time constant cause this.
 * - oscillation: one cosine accounts for more than half the squared error that the fit with a constant
 * leaves; its amplitude is at least a tenth of b and three times the standard errors of r_k.
 * - misfit: otherwise, residuals of a tenth of b and twice the standard errors (root mean squares of both).
 * - drift: block means vary more than a stationary process with this b and m (or those of the fit with a
 * constant, if there is one) allows, p < 0.001 by chi squared.
 * - long: otherwise, the time constant is longer than half the longest lag.
 */
#ifndef SF_ANALYSIS_BRANCHING_H
#define SF_ANALYSIS_BRANCHING_H

#include "analysis/avalanches.h"

#define SF_BRANCHING_BLOCKS 50  /**< number of blocks, if that makes them long enough */
#define SF_BRANCHING_LEAST 10   /**< minimum number of blocks for an interval and error-based cautions */
#define SF_BRANCHING_ROUNDS 500 /**< drawings of blocks */
#define SF_BRANCHING_LAGS 3     /**< by fewer lags nothing is fitted */

enum {
    SF_BRANCHING_NO_MEMORY = 1,
    SF_BRANCHING_OFFSET = 2,
    SF_BRANCHING_OSCILLATION = 4,
    SF_BRANCHING_MISFIT = 8,
    SF_BRANCHING_DRIFT = 16,
    SF_BRANCHING_LONG = 32,
    SF_BRANCHING_SHORT = 64 /**< fewer than SF_BRANCHING_LEAST blocks */
};

/** What is not known is NaN. */
typedef struct sf_branching {
    int64_t bin_ns;
    size_t bins, lags, blocks;
    uint64_t spikes;
    double mean;         /**< spikes in a bin */
    double variance;     /**< of these */
    double m, low, high; /**< with its interval */
    double tau_s, tau_low, tau_high;
    double b;
    double offset_m, offset_b, offset;  /**< of the fit with a constant */
    double oscillation_hz, oscillation; /**< the cosine, its amplitude */
    double drift_p;
    unsigned cautions;
    double *r, *errors; /**< r[k - 1] and its standard error (0: unknown), k = 1 .. lags */
} sf_branching;

typedef struct sf_branching_options {
    size_t lags;   /**< lags of the fit, in bins; fewer if no observed interval has four times as many bins */
    bool alone;    /**< m alone: no interval, no cautions */
    uint64_t seed; /**< of the drawings */
} sf_branching_options;

/** Estimates m from the population counts. SF_NO_MEMORY. Free with sf_branching_free, also after an error. */
int sf_branching_find(sf_branching *found, const sf_population *population,
                      const sf_branching_options *options, sf_error *error);
void sf_branching_free(sf_branching *found);

#endif
