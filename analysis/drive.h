/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Directed, signed functional connectivity: which unit drives which, and whether it excites or inhibits. For
 * every ordered pair of units one of several methods computes a signed statistic from binned trains
 * (analysis/lags.h).
 *
 * regression: a multivariate autoregression that regresses the spikes of every unit on the past of all units,
 * its own included, by its normal equations (Krumin and Shoham, Comput Intell Neurosci 2010,
 * doi:10.1155/2010/752428); the past is divided into windows of doubling length. The effect of a third
 * recorded unit on both is therefore not attributed to the pair. The statistic is the effect over its
 * standard error.
 *
 * excess: (coincidences - mean of segment-shift surrogates) / square root of that mean.
 *
 * tspe: total spiking probability edges (De Blasi et al., J Neurosci Methods 312, 2019,
 * doi:10.1016/j.jneumeth.2018.11.013).
 *
 * transfer-entropy: delayed transfer entropy at the delay with the largest value (Ito et al., PLoS ONE 6,
 * 2011, doi:10.1371/journal.pone.0027431); its sign is that of the excess over the rate expectation at that
 * delay.
 *
 * directed-sttc: a one-sided spike-time tiling coefficient: spikes of the first unit followed by one of the
 * second within the delay, and spikes of the second preceded by one of the first (after Cutts and Eglen, J
 * Neurosci 34, 2014).
 */
#ifndef SF_ANALYSIS_DRIVE_H
#define SF_ANALYSIS_DRIVE_H

#include "analysis/drive_methods.h"

/** Minimum expected count at which a Poisson variable counts as normal. Its standard deviation is then a
 * fourth of the mean, so a complete absence of coincidences is a trough of four standard deviations. */
#define SF_DRIVE_LEAST_EXPECTED 16

/** SF_NO_MEMORY, SF_CANCELLED. */
int sf_drive_pairs_open(sf_drive_pairs *pairs, const sf_drive_job *job, sf_error *error);
void sf_drive_pairs_close(sf_drive_pairs *pairs);

/** Number of coincidences within the lags that the rates predict. */
double sf_drive_expected(const sf_drive_job *job, size_t from, size_t to);

/**
 * Upper bound on a pair's score, in standard deviations: the normal deviate with the same tail probability as
 * the Poisson count in the best lag window, given its rate expectation and multiplied by the number of such
 * windows within the lags. INFINITY if that expectation is at least SF_DRIVE_LEAST_EXPECTED.
 */
double sf_drive_most_score(const sf_drive_pairs *pairs, const sf_drive_job *job, size_t from, size_t to);

/**
 * Empirical null distribution from all pairs (Efron, J Am Stat Assoc 99, 2004): the median of a statistic and
 * two standard deviations, one estimated from the pairs above the median and one from those below, so that
 * troughs have a null of their own.
 */
typedef struct sf_drive_null {
    double median, above, below;
} sf_drive_null;

/** Estimates the null from `count` numbers; sorts them in place. */
sf_drive_null sf_drive_null_of(double *statistics, size_t count);

/** In those standard deviations. */
double sf_drive_standardise(const sf_drive_null *null, double statistic);

/**
 * Sets confidence[i] to 1 - (estimated fraction of null pairs among the pairs whose scores are at least as
 * extreme on the same side), 0 to 1 (Benjamini and Hochberg 1995, each side separately). SF_NO_MEMORY.
 */
int sf_drive_confidence(double *confidence, const double *scores, size_t count, sf_error *error);

#endif
