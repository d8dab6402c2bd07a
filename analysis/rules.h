/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The 1R classifier over windows: finds the one count whose value best predicts the label of a window, its
 * accuracy in blocks of time that were left out of the learning, and the accuracy expected by chance. Counts
 * are cut into intervals as by Holte (Machine Learning 11 (1993), 63-90): an interval is closed once it has
 * `least` windows of its most frequent label and the next value has another label; neighbours that predict
 * the same are merged.
 *
 * The chance level preserves slow changes. Labels and spikes may both change slowly over a session without
 * being related, and any two such series correlate (Harris, Nonsense correlations in neuroscience, bioRxiv
 * 2020). The session is therefore cut into segments, each as long as two runs of one label on average, and
 * labels are shifted circularly within each segment by an independent offset. How often each label occurs and
 * how much each unit fires then stay the same in each segment. p is exact if labels could equally well begin
 * anywhere in their segment.
 */
#ifndef SF_ANALYSIS_RULES_H
#define SF_ANALYSIS_RULES_H

#include <synfire/recording.h>

typedef struct sf_rules_input {
    size_t window_count; /**< number of labelled windows, in order of time */
    const sf_span *windows;
    const uint16_t *labels; /**< of each, below label_count */
    uint16_t label_count; /**< labels are numbered by decreasing frequency: the lower number wins a tie within
                             an interval */
    size_t attribute_count; /**< at least 1 */
    const uint64_t *const
        *counts;    /**< attribute_count counts per window; among equally good attributes the first wins */
    uint64_t least; /**< Holte's SMALL, at least 1; 6 */
    size_t folds;   /**< number of blocks of time, 2 to window_count */
    size_t shifts;  /**< number of label shifts for the chance level; 0: none */
    uint64_t seed;
    unsigned threads;            /**< 0: all cores */
    const sf_progress *progress; /**< or NULL */
} sf_rules_input;

/** Interval i holds counts up to thresholds[i]; the last interval holds all above. */
typedef struct sf_rule {
    size_t attribute;
    size_t interval_count; /**< 1: it always predicts the same */
    double *thresholds;    /**< interval_count - 1, ascending, halfway between two observed counts */
    uint16_t *labels;      /**< predicted in each interval */
    uint64_t correct;      /**< number of correctly predicted windows among those it was learnt from */
} sf_rule;

/** Fewer shifts than this give no p, */
#define SF_RULES_LEAST_SHIFTS 19
/** nor do fewer stretches of one label: what is slow cannot be told from them. */
#define SF_RULES_LEAST_STRETCHES 10

typedef struct sf_rules {
    sf_rule rule; /**< learnt from all windows, by 1R's parallel form */
    /* Measured in blocks left out of the learning, together with all windows that overlap them: */
    double accuracy;     /**< fraction of windows predicted correctly */
    double balanced;     /**< mean over labels of that share */
    uint64_t *confusion; /**< label_count x label_count: row is the true label, column the predicted one */
    double *fold_accuracy;
    size_t *fold_attribute; /**< what was chosen without each block */
    /* By chance: */
    double majority; /**< share of the most frequent label */
    size_t shifts;   /**< number of shifts tried; 0 below SF_RULES_LEAST_STRETCHES */
    size_t segments; /**< number of segments for the shifts; also 0 below SF_RULES_LEAST_STRETCHES */
    double chance_mean, chance_most,
        chance_p; /**< accuracy with shifted labels: mean, 95th percentile, and fraction at least as good; NaN
                     below SF_RULES_LEAST_SHIFTS */
} sf_rules;

/**
 * Learns and tests. Every shift goes through the same procedure as the true labels. The result depends on the
 * seed, not on the number of threads. SF_NO_MEMORY; SF_CANCELLED keeps what was learnt, and the chance level
 * from the shifts done by then. Free with sf_rules_free, also after an error.
 */
int sf_rules_learn(sf_rules *rules, const sf_rules_input *input, sf_error *error);
void sf_rules_free(sf_rules *rules);

/** Index of the interval that contains a count; counts up to the first threshold are in interval 0. */
size_t sf_rule_interval(const double *thresholds, size_t interval_count, uint64_t count);

#endif
