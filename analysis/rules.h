/* SPDX-License-Identifier: Apache-2.0 */
/**
 * 1R over windows: the one count whose value predicts the label of a window best, how well it does in blocks
 * of time that it has not seen, and how well it would by chance. Counts are cut into intervals as Holte does
 * (Machine Learning 11 (1993), 63-90): an interval is closed once `least` windows of its most frequent label
 * are in it and the next value has another, and neighbours that predict the same become one.
 *
 * Chance keeps what is slow. Labels and spikes may both change over a session with nothing to do with each
 * other, and any two such series go together (Harris, Nonsense correlations in neuroscience, bioRxiv 2020).
 * The session is therefore cut into segments that two stretches of one label fill on average, and labels are
 * shifted round within each segment, by an offset of its own: how often each label is there and how much each
 * unit fires stay as they are from segment to segment. p is exact where labels could as well begin anywhere
 * in their segment.
 */
#ifndef SF_ANALYSIS_RULES_H
#define SF_ANALYSIS_RULES_H

#include <synfire/recording.h>

typedef struct sf_rules_input {
    size_t window_count; /**< windows that have a label, in the order of time */
    const sf_span *windows;
    const uint16_t *labels; /**< of each, below label_count */
    uint16_t label_count;   /**< the more frequent first: of labels as frequent in an interval the first is
                                 predicted */
    size_t attribute_count; /**< at least 1 */
    const uint64_t *const
        *counts;    /**< of each window attribute_count; of attributes as good the first is kept */
    uint64_t least; /**< Holte's SMALL, at least 1; 6 */
    size_t folds;   /**< blocks of time, at least 2 and at most window_count */
    size_t shifts;  /**< of the labels, for the chance level; 0: none */
    uint64_t seed;
    unsigned threads;            /**< 0: all cores */
    const sf_progress *progress; /**< or NULL */
} sf_rules_input;

/** Interval i has the counts up to thresholds[i], the last one all above. */
typedef struct sf_rule {
    size_t attribute;
    size_t interval_count; /**< 1: it always predicts the same */
    double *thresholds;    /**< interval_count - 1, ascending, halfway between two counts that were seen */
    uint16_t *labels;      /**< predicted in each interval */
    uint64_t correct;      /**< of the windows that it was learnt from */
} sf_rule;

/** Fewer shifts than this give no p, */
#define SF_RULES_LEAST_SHIFTS 19
/** nor do fewer stretches of one label: what is slow cannot be told from them. */
#define SF_RULES_LEAST_STRETCHES 10

typedef struct sf_rules {
    sf_rule rule; /**< learnt from all windows, by 1R's parallel form */
    /* In blocks that were left out of the learning, with all that overlaps them: */
    double accuracy;     /**< share of windows that are predicted right */
    double balanced;     /**< mean over labels of that share */
    uint64_t *confusion; /**< label_count rows of label_count: row the true label, column the predicted one */
    double *fold_accuracy;
    size_t *fold_attribute; /**< what was chosen without each block */
    /* By chance: */
    double majority;                           /**< share of the most frequent label */
    size_t shifts;                             /**< that were tried: 0 below SF_RULES_LEAST_STRETCHES */
    size_t segments;                           /**< in which labels were shifted; 0 there, too */
    double chance_mean, chance_most, chance_p; /**< of the accuracy with shifted labels: mean, 95 %, and the
                                                  share that is as good; NaN below SF_RULES_LEAST_SHIFTS */
} sf_rules;

/**
 * Learns and tests. Every shift goes through the same procedure as the true labels. The same seed gives the
 * same on any number of threads. Free with sf_rules_free whatever happened. SF_NO_MEMORY; SF_CANCELLED with
 * all that was learnt, and the chance level of the shifts tried by then.
 */
int sf_rules_learn(sf_rules *rules, const sf_rules_input *input, sf_error *error);
void sf_rules_free(sf_rules *rules);

/** Which interval a count lies in: those up to the first threshold in the first. */
size_t sf_rule_interval(const double *thresholds, size_t interval_count, uint64_t count);

#endif
