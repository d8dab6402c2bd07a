/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Two factors, such as genotype and age, tested in several measures at once: each alone, and whether the
 * effect of one depends on the other.
 *
 * The model is linear with a mean for every combination of levels, coded so that they sum to zero: the effect
 * of one factor is its mean over the levels of the other, each counting alike. An effect is tested by dealing
 * out what the model without it leaves of the values (Freedman and Lane 1983, which Anderson and Legendre
 * 1999 and Winkler et al. 2014 found to hold its level best), so that what the other effects do is in none of
 * the dealings. The first of `most` dealings is what was found, the others are random; p is the share whose
 * statistic is as great or greater. Where nothing but chance is left this is exact; else it holds the better
 * the more replicates there are.
 *
 * The statistic is Wald's, with the covariance HC2 of MacKinnon and White (1985), and not F: so p holds where
 * combinations vary unequally, too (Pauly, Brunner and Konietschke 2015). Of two levels it is the square of
 * Welch's t. Dealings differ in their degrees of freedom, which are Johansen's (1980), of two levels Welch's
 * and Satterthwaite's: so what is put beside each other is the chi-square that is as rare.
 *
 * A replicate that has several levels of a factor, such as a culture at two ages, is compared with itself:
 * the effect of that factor and the interaction are tested within replicates, with a mean for each of them;
 * dealing is within them and a replicate is one term of the covariance (as CR2 of Bell and McCaffrey 2002). A
 * factor of which each has one level is then tested by the replicates' means over all levels of the other,
 * and those that lack one are left out. Blocks are dealt within, with a mean for each.
 *
 * q takes the greatest statistic over all measures of each dealing, each over what one of twenty of its own
 * dealings reaches, as in analysis/statistics.h.
 */
#ifndef SF_ANALYSIS_FACTORS_H
#define SF_ANALYSIS_FACTORS_H

#include <synfire/error.h>

typedef enum sf_factor { SF_FACTOR_FIRST, SF_FACTOR_SECOND, SF_FACTOR_BOTH, SF_FACTOR_EFFECTS } sf_factor;

typedef struct sf_factors_input {
    size_t count; /**< number of observations; each is one replicate at one level of either factor, and occurs
                     once */
    size_t measure_count;
    const double *values; /**< count rows of measure_count; NaN: missing */
    const double *chance; /**< chance level of each value, subtracted from it; NaN or NULL: not subtracted */
    const size_t *levels[2]; /**< level of each observation, below level_counts */
    size_t level_counts[2];
    const size_t *replicates; /**< replicate of each observation, below replicate_count; a replicate belongs
                                 to one block */
    size_t replicate_count;
    const size_t *blocks; /**< block of each observation; NULL: one block */
    uint64_t most;        /**< dealings, at least 1 */
    uint64_t seed;
} sf_factors_input;

/** Effect on one measure; NaN if not tested. */
typedef struct sf_factor_effect {
    size_t n;               /**< number of observations (or means of them) that have the measure */
    size_t degrees;         /**< degrees of freedom: independent differences that make up the effect */
    double difference;      /**< for one degree of freedom: second level minus first; for the interaction this
                               difference at the second level of the second factor minus that at its first */
    double eta_squared;     /**< partial: effect / (effect + residual) */
    double epsilon_squared; /**< the same, corrected for chance (Kelley 1935) */
    double statistic;       /**< Wald's */
    double p, q;
    double least; /**< smallest p that any permutation of these values has */
} sf_factor_effect;

typedef struct sf_factors {
    sf_factor_effect *effects[SF_FACTOR_EFFECTS]; /**< measure_count of each */
    bool within[SF_FACTOR_EFFECTS];               /**< whether the effect is tested within replicates */
} sf_factors;

/** Tests all effects. SF_NO_MEMORY. Free with sf_factors_free, also after an error. */
int sf_factors_find(sf_factors *factors, const sf_factors_input *input, sf_error *error);
void sf_factors_free(sf_factors *factors);

#endif
