/* SPDX-License-Identifier: Apache-2.0 */
/** The request and result of `synfire rules`, shared by the code that learns and the code that prints. */
#ifndef SF_APP_RULES_H
#define SF_APP_RULES_H

#include "app/mining.h"

typedef struct app_rules {
    const app_call *call;
    const sf_recording *recording;
    int64_t window_ns, hop_ns, hold_ns;
    uint64_t least, folds, shifts, seed;
    uint32_t line; /**< UINT32_MAX: texts if there are any, else the only line */
    uint32_t threads;
    sf_epoch *epochs;
    size_t epoch_count;
    sf_labelled labelled;
    sf_episodes *counted; /**< the episodes tried, then each of their units alone */
    sf_episodes_columns told;
    size_t episode_count; /**< how many of these are episodes */
    /* Windows with a label: */
    sf_span *windows;
    uint16_t *labels;
    const uint64_t **counts; /**< rows of told.window_counts */
    size_t window_count;
    sf_rules learnt;
    app_stop stop;
    sf_rules by_rate; /**< the same from the units' own counts, in the same windows; without shifts */
} app_rules;

/** The label with this number, as it was given. */
static inline const char *app_rules_label(const app_rules *r, uint16_t label)
{
    const char *name = r->labelled.names[label];
    return name[0] != '\0' ? name : "no label";
}

extern const sf_table app_rules_document;
void app_rules_json(sf_text *text, const app_rules *r);
void app_rules_print(sf_text *text, const app_rules *r);

/** One row per interval of counts: its prediction, and how well the rule does. */
extern const sf_table app_rules_table;
void app_rules_csv(sf_text *text, const app_rules *r);

/** The rule as a file that a live run reads, docs/rules.md. */
int app_rules_write(const char *path, const app_rules *r, sf_error *error);

#endif
