/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Which units drive which, and whether they excite or inhibit: a statistic with a sign for every ordered pair
 * of units, by one of several methods, each of trains in bins (analysis/lags.h).
 *
 * regression: the spikes of every unit regressed on the past of all units at once, their own among them: a
 * multivariate autoregression by its normal equations (Krumin and Shoham, Comput Intell Neurosci 2010,
 * doi:10.1155/2010/752428), the past cut into windows that double. So what a third recorded unit makes of a
 * pair is not the pair's. The statistic is the effect over its standard error.
 *
 * excess: coincidences less the mean of segment-shift surrogates, over the root of that mean.
 *
 * tspe: total spiking probability edges (De Blasi et al., J Neurosci Methods 312, 2019,
 * doi:10.1016/j.jneumeth.2018.11.013).
 *
 * transfer-entropy: transfer entropy with delay, of the delay that has most (Ito et al., PLoS ONE 6, 2011,
 * doi:10.1371/journal.pone.0027431); its sign is that of the excess over rates there.
 *
 * directed-sttc: spike-time tiling of what follows alone: spikes of the first with one of the second in the
 * delay after them, spikes of the second with one of the first before them (after Cutts and Eglen, J Neurosci
 * 34, 2014).
 */
#ifndef SF_ANALYSIS_DRIVE_H
#define SF_ANALYSIS_DRIVE_H

#include "analysis/drive_methods.h"

/** From so many on a Poisson variable is like a normal one, whose standard deviation is a fourth of it: a
 * total absence of coincidences is a trough of four. */
#define SF_DRIVE_LEAST_EXPECTED 16

/** SF_NO_MEMORY, SF_CANCELLED. */
int sf_drive_pairs_open(sf_drive_pairs *pairs, const sf_drive_job *job, sf_error *error);
void sf_drive_pairs_close(sf_drive_pairs *pairs);

/** How many coincidences within the lags are expected by rates. */
double sf_drive_expected(const sf_drive_job *job, size_t from, size_t to);

/**
 * How far out the coincidences of a pair can be at all, in standard deviations: as far as a normal variable
 * that is as unlikely as a Poisson one, of what rates expect in the window of lags that was found, times the
 * windows that there are. INFINITY from SF_DRIVE_LEAST_EXPECTED on.
 */
double sf_drive_most_score(const sf_drive_pairs *pairs, const sf_drive_job *job, size_t from, size_t to);

/**
 * What most pairs are like (Efron, J Am Stat Assoc 99, 2004): the median of a statistic, and a standard
 * deviation above it and one below, each from the half of the pairs that lies there, so that troughs have a
 * null of their own.
 */
typedef struct sf_drive_null {
    double median, above, below;
} sf_drive_null;

/** Of `count` numbers, which it puts in order. */
sf_drive_null sf_drive_null_of(double *statistics, size_t count);

/** In those standard deviations. */
double sf_drive_standardise(const sf_drive_null *null, double statistic);

/**
 * confidence[i] becomes 1 less the share of pairs with scores at least as far out on its side that the null
 * alone explains (Benjamini and Hochberg 1995, either side by itself): 0 to 1. SF_NO_MEMORY.
 */
int sf_drive_confidence(double *confidence, const double *scores, size_t count, sf_error *error);

#endif
