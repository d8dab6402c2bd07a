/* SPDX-License-Identifier: Apache-2.0 */
/** What rules say of every window: the label that the count of one episode predicts, when it changes, and
 * which triggers wait for that. */
#ifndef SF_PIPELINE_PREDICTIONS_H
#define SF_PIPELINE_PREDICTIONS_H

#include "pipeline/tracking.h"

typedef struct sf_ruling {
    const sf_live_rule *rule; /**< borrowed */
    sf_episode episode;
    uint32_t label; /**< of the newest full window; label_count: there was none yet */
    bool changed;   /**< with the newest window */
} sf_ruling;

/** Zero-initialise. */
typedef struct sf_predictions {
    sf_ruling *items;
    size_t count;
    uint32_t *rule_of; /**< by trigger: the rule that it waits for; UINT32_MAX: none */
} sf_predictions;

/**
 * Reads the rules of a run and has their episodes tracked. SF_CONFIG with the key for its place: an unknown
 * unit, thresholds that do not ascend, windows that are not those of the run. SF_NO_MEMORY.
 */
int sf_predictions_open(sf_predictions *predictions, const sf_live_options *config, const sf_units *units,
                        sf_tracking *tracking, sf_error *error);
void sf_predictions_close(sf_predictions *predictions);

/** Adds to a window's counts what each rule says of them. A partial window has fewer occurrences, so nothing
 * is said of it. SF_NO_MEMORY. */
int sf_predictions_tell(sf_predictions *predictions, sf_episodes_message *window, sf_error *error);

/** The first trigger from `from` on that waits for what its rule says from the newest window on;
 * trigger_count: there is none. */
uint32_t sf_predictions_next(const sf_predictions *predictions, const sf_live_options *config, uint32_t from);

#endif
