/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Two groups of replicates compared in several measures at once.
 *
 * The permutation test deals the replicates out to two groups of the same sizes in all ways, or in `most`
 * random ones where they are more; p is the share of dealings whose statistic is as great or greater. The
 * statistic is the difference of the means over its standard error by Welch, so that p holds where the groups
 * have the same mean and another spread (Janssen 1997; Chung and Romano 2013), and then, since dealings
 * differ in their degrees of freedom, the standard normal deviate that is as rare as this t (Wallace 1959).
 * Only replicates that have the measure are dealt for its p. The interval of the difference is of all shifts
 * of the second group that the test does not reject.
 *
 * Replicates of blocks, such as batches, are dealt within their blocks. The difference is then that of least
 * squares with a mean for each block, in which a block of n and m replicates has the weight n m / (n + m),
 * and its standard error is HC2 of MacKinnon and White (1985) with Satterthwaite's degrees of freedom: of one
 * block Welch's, of blocks that have one replicate of each group that of pairs. A block without replicates of
 * both groups is left out. Pairs are blocks of one replicate in both groups.
 *
 * With SF_COMPARED_RANKS ranks within blocks are dealt, and the statistic is the difference of their means:
 * the exact test of Mann and Whitney, ties included, of pairs Wilcoxon's signed-rank test. The interval stays
 * that of values. SF_COMPARED_WELCH is the t-test by that standard error, Welch's or the paired one,
 * corrected by Holm (1979).
 *
 * A replicate keeps all its measures when it is dealt, so the greatest statistic over all measures of each
 * dealing gives a q that corrects for all of them (single step, Westfall and Young 1993), however correlated
 * they are. How far statistics of a measure reach depends on how its values are spread, by dealings of few
 * replicates much: so each is taken over what one of twenty of the measure's own dealings reaches. Where some
 * replicates lack a measure, an order of all of them is dealt: the first of those that have it are the first
 * group.
 *
 * Hedges' g is the difference over the pooled standard deviation (within blocks), times the gamma-function
 * correction for small samples; its interval is by the normal approximation with the variance 1/n + 1/m + g^2
 * / (2 (n + m)) (Hedges and Olkin 1985; with blocks 1 / sum of weights for the first two). Of pairs the
 * divisor is the root of the mean of both variances, the correction that of 2 (n - 1) / (1 + r^2) degrees of
 * freedom (Cousineau 2020), and the variance Bonett's (2008), d^2 (s1^4 + s2^4 + 2 s12^2) / (8 s^4 (n - 1)) +
 * (s1^2 + s2^2 - 2 s12) / (s^2 (n - 1)), times the square of the correction. All intervals are of 95 %.
 */
#ifndef SF_ANALYSIS_STATISTICS_H
#define SF_ANALYSIS_STATISTICS_H

#include <synfire/error.h>

typedef enum sf_compared_by { SF_COMPARED_PERMUTATION, SF_COMPARED_RANKS, SF_COMPARED_WELCH } sf_compared_by;

typedef struct sf_contrast_input {
    size_t measure_count;
    size_t counts[2];        /**< replicates in each group; equal if paired */
    const double *values[2]; /**< counts[g] rows of measure_count; NaN where a replicate has none */
    const double *chance[2]; /**< chance level of each value, subtracted for everything but the mean; NaN: not
                                subtracted; NULL: no value has one */
    bool paired;             /**< row i of both groups is the same replicate, and a block of its own */
    const size_t *blocks[2]; /**< block of each replicate, below block_count; NULL: one block */
    size_t block_count;
    sf_compared_by by;
    uint64_t most; /**< number of random permutations, >= 1; all permutations if they are no more */
    uint64_t seed;
} sf_contrast_input;

/** Result for one measure; NaN if there are too few data. */
typedef struct sf_compared {
    size_t n[2];               /**< replicates that have the measure, in blocks with both groups */
    double mean[2], chance[2]; /**< mean of the values, and of their chance levels (NaN: none) */
    double sd[2];
    double difference; /**< difference of the means, second minus first, within blocks */
    double low, high;  /**< 95 % interval; NaN if the permutation test cannot reach p = 0.05 with this few
                          replicates */
    double g, g_low, g_high;
    double p, q;  /**< NaN with fewer than two replicates in a group, or if all values are equal */
    double least; /**< smallest p that this number of replicates allows; 0 for Welch's test */
} sf_compared;

typedef struct sf_contrast {
    sf_compared *measures; /**< measure_count */
    size_t blocks;         /**< with replicates of both groups */
    uint64_t dealings; /**< number of permutations behind q, the observed one included; 0 for Welch's test */
    bool exact;        /**< these were all */
} sf_contrast;

/** Compares the groups in all measures. SF_NO_MEMORY. Free with sf_contrast_free, also after an error. */
int sf_contrast_find(sf_contrast *contrast, const sf_contrast_input *input, sf_error *error);
void sf_contrast_free(sf_contrast *contrast);

/** Two-sided p of Student's t with these degrees of freedom. */
double sf_student_p(double t, double degrees);

/** The t whose two-sided p is `p`; 0 < p < 1. */
double sf_student_quantile(double p, double degrees);

#endif
