/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The branching ratio m, how many spikes of a bin a spike brings about in the next, by multistep regression
 * (Wilting and Priesemann, Nat Commun 9 (2018), 2325), which holds for any share of the network that is
 * recorded. r_k is the slope of the regression of the spikes of a bin on those k bins before; of a branching
 * process r_k = b m^k, and what is not recorded makes b smaller but leaves m as it is. m and b are those of
 * the least squares over k = 1 .. lags; the time constant is -bin / ln m. r_1 alone is the conventional
 * estimate, which is b m and so too small.
 *
 * The interval: the recorded time is cut into blocks of one length, blocks are drawn with replacement, r_k
 * are added up from the sums of the drawn blocks and fitted; the interval of 95 % leaves out 2.5 % of the
 * drawings on either side. Pairs of bins belong to the block of the first.
 *
 * When not to believe it (SF_BRANCHING_...), beside few blocks:
 * - no memory: the mean of r_1 .. r_10 is less than three of its standard errors above 0. m is then NaN.
 * - offset: a fit with a constant, r_k = b m^k + c, leaves less than half the squares, or has another time
 *   constant by a factor of three, c is further from 0 than three standard errors, and the time constant is
 *   shorter than half the longest lag (after Wilting and Priesemann). Rates that change, or more than one
 * time constant, do that.
 * - oscillation: one cosine takes more than half the squares that the fit with a constant leaves, its
 * amplitude is a tenth of b or more and three times the standard errors of r_k.
 * - misfit: otherwise residuals of a tenth of b and twice the standard errors, root mean squares of both.
 * - drift: means of blocks vary more than a stationary process with this b and m (or with those of the fit
 * with a constant, where there is one) does, p < 0.001 by chi squared.
 * - long: otherwise the time constant is longer than half the longest lag.
 */
#ifndef SF_ANALYSIS_BRANCHING_H
#define SF_ANALYSIS_BRANCHING_H

#include "analysis/avalanches.h"

#define SF_BRANCHING_BLOCKS 50  /**< so many blocks, where they are long enough */
#define SF_BRANCHING_LEAST 10   /**< of fewer there is no interval and no caution that goes by errors */
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
    double *r, *errors; /**< r[k - 1] and its standard error (0: not known), k = 1 .. lags */
} sf_branching;

typedef struct sf_branching_options {
    size_t lags;   /**< of the fit, in bins; fewer where no interval of observation has four times as many */
    bool alone;    /**< m alone: no interval, no cautions */
    uint64_t seed; /**< of the drawings */
} sf_branching_options;

/** SF_NO_MEMORY. sf_branching_free whatever happened. */
int sf_branching_find(sf_branching *found, const sf_population *population,
                      const sf_branching_options *options, sf_error *error);
void sf_branching_free(sf_branching *found);

#endif
