/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Two groups of replicates compared in several measures at once.
 *
 * The permutation test (Pitman 1937) deals the replicates out to two groups of the same sizes in all ways, or
 * in `most` random ones where they are more; p is the share in which the means differ by as much or more, by
 * their difference over its standard deviation under such dealing. With SF_COMPARED_RANKS the values are
 * first replaced by their ranks: the exact test of Mann and Whitney, ties included. Where both groups are of
 * the same replicates, the signs of their differences are dealt instead (with ranks: Wilcoxon's signed-rank
 * test). A replicate keeps all its measures when it is dealt, so the greatest statistic over all measures of
 * each dealing gives a q that corrects for all of them (single step, Westfall and Young 1993), however
 * correlated they are. SF_COMPARED_WELCH is Welch's t-test, or the paired one, corrected by Holm (1979).
 *
 * Hedges' g is the difference over the pooled standard deviation, times the gamma-function correction for
 * small samples; its interval is by the normal approximation with the variance 1/n + 1/m + g^2 / (2 (n + m))
 * (Hedges and Olkin 1985), of pairs with (1/n + d^2 / (2 n)) 2 (1 - r) times the square of the correction, d
 * being g without it (Borenstein et al. 2009, 4.28). The interval of the difference is that of Welch's t, or
 * of the paired t. All intervals are of 95 %.
 */
#ifndef SF_ANALYSIS_STATISTICS_H
#define SF_ANALYSIS_STATISTICS_H

#include <synfire/error.h>

typedef enum sf_compared_by { SF_COMPARED_PERMUTATION, SF_COMPARED_RANKS, SF_COMPARED_WELCH } sf_compared_by;

typedef struct sf_contrast_input {
    size_t measure_count;
    size_t counts[2];        /**< replicates in each group; equal where they are paired */
    const double *values[2]; /**< counts[g] rows of measure_count; NaN where a replicate has none */
    bool paired;             /**< row i of both groups is of one replicate */
    sf_compared_by by;
    uint64_t most; /**< dealings, at least 1; all of them where they are no more */
    uint64_t seed;
} sf_contrast_input;

/** Of one measure; NaN where there is too little to tell. */
typedef struct sf_compared {
    size_t n[2]; /**< replicates that have it, of pairs both */
    double mean[2], sd[2];
    double difference, low, high; /**< of the means, second less first */
    double g, g_low, g_high;
    double p, q;  /**< NaN with fewer than two replicates on either side, or where all are equal */
    double least; /**< the least p that there could be with so many replicates; 0 by Welch's test */
} sf_compared;

typedef struct sf_contrast {
    sf_compared *measures; /**< measure_count */
    uint64_t dealings;     /**< that p and q are of, the one that was found among them; 0 by Welch's test */
    bool exact;            /**< these were all */
} sf_contrast;

/** SF_NO_MEMORY. sf_contrast_free whatever happened. */
int sf_contrast_find(sf_contrast *contrast, const sf_contrast_input *input, sf_error *error);
void sf_contrast_free(sf_contrast *contrast);

/** The probability that Student's t with these degrees of freedom is further from 0 than t. */
double sf_student_p(double t, double degrees);

/** The t that is exceeded with this probability in all, on both sides together; 0 < p < 1. */
double sf_student_quantile(double p, double degrees);

#endif
