/* SPDX-License-Identifier: Apache-2.0 */
/** What rules predict for every window: the label for the count of one episode, when it changes, and which
 * triggers wait for that. */
#ifndef SF_PIPELINE_PREDICTIONS_H
#define SF_PIPELINE_PREDICTIONS_H

#include "pipeline/tracking.h"

typedef struct sf_ruling {
    const sf_live_rule *rule; /**< borrowed */
    sf_episode episode;
    uint32_t label; /**< of the newest full window; label_count: none yet */
    bool changed;   /**< the newest window changed it */
} sf_ruling;

/** Zero-initialise. */
typedef struct sf_predictions {
    sf_ruling *items;
    size_t count;
    uint32_t *rule_of; /**< by trigger: the rule that it waits for; UINT32_MAX: none */
} sf_predictions;

/**
 * Reads the rules of a run and makes their episodes tracked. SF_CONFIG with the key as the place: an unknown
 * unit, thresholds that do not ascend, or windows that differ from the run's. SF_NO_MEMORY.
 */
int sf_predictions_open(sf_predictions *predictions, const sf_live_options *config, const sf_units *units,
                        sf_tracking *tracking, sf_error *error);
void sf_predictions_close(sf_predictions *predictions);

/** Adds each rule's prediction to a window's counts. A partial window has fewer occurrences and gets no
 * predictions. SF_NO_MEMORY. */
int sf_predictions_tell(sf_predictions *predictions, sf_episodes_message *window, sf_error *error);

/** The first trigger from index `from` on that waits for what its rule predicts since the newest window;
 * trigger_count: none. */
uint32_t sf_predictions_next(const sf_predictions *predictions, const sf_live_options *config, uint32_t from);

#endif
