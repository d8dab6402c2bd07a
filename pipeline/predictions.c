/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/predictions.h"

#include "analysis/rules.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int check(const sf_live_rule *rule, const sf_live_options *config, const char *key, sf_error *error)
{
    if (rule->episode == NULL || rule->label_count == 0)
        return sf_live_refuse(key, error,
                              "a rule has an episode and a label for each interval of its counts");
    for (uint32_t i = 0; i + 2 < rule->label_count; i++)
        if (!(rule->thresholds[i] < rule->thresholds[i + 1]))
            return sf_live_refuse(
                key, error, "found the thresholds %g and %g one after the other, expected them to ascend",
                rule->thresholds[i], rule->thresholds[i + 1]);
    if (sf_seconds_to_ns(rule->window_s) != sf_seconds_to_ns(config->window.length_s))
        return sf_live_refuse(
            key, error, "was learnt in windows of %g s, and those of this run have %g s: set window.length_s",
            rule->window_s, config->window.length_s);
    return SF_OK;
}

static bool predicts(const sf_live_rule *rule, const char *label)
{
    for (uint32_t i = 0; i < rule->label_count; i++)
        if (strcmp(rule->labels[i], label) == 0) return true;
    return false;
}

static bool asks_label(const sf_live_trigger *trigger)
{
    return trigger->label != NULL && strcmp(trigger->label, "*") != 0;
}

/* The rule that a trigger waits for. */
static int find_rule(uint32_t *found, const sf_live_options *config, uint32_t index, sf_error *error)
{
    const sf_live_trigger *trigger = &config->triggers[index];
    char key[40];
    *found = UINT32_MAX;
    if (trigger->on != SF_LIVE_ON_RULE) return SF_OK;
    for (uint32_t i = 0; i < config->rule_count && *found == UINT32_MAX; i++)
        if (config->rules[i].name != NULL && strcmp(config->rules[i].name, trigger->rule) == 0) *found = i;
    snprintf(key, sizeof key, "triggers.%" PRIu32 ".rule", index);
    if (*found == UINT32_MAX)
        return sf_live_refuse(
            key, error, "found '%.60s', expected the name of one of the rules, of which there are %" PRIu32,
            trigger->rule, config->rule_count);
    snprintf(key, sizeof key, "triggers.%" PRIu32 ".label", index);
    if (asks_label(trigger) && !predicts(&config->rules[*found], trigger->label))
        return sf_live_refuse(key, error, "found '%.60s', which the rule never predicts", trigger->label);
    return SF_OK;
}

int sf_predictions_open(sf_predictions *predictions, const sf_live_options *config, const sf_units *units,
                        sf_tracking *tracking, sf_error *error)
{
    *predictions = (sf_predictions){.items = sf_alloc(config->rule_count, sizeof *predictions->items),
                                    .rule_of = sf_alloc(config->trigger_count, sizeof *predictions->rule_of)};
    if (predictions->items == NULL || predictions->rule_of == NULL) return sf_fail_memory(error);
    int status = SF_OK;
    for (uint32_t i = 0; i < config->trigger_count && status == SF_OK; i++)
        status = find_rule(&predictions->rule_of[i], config, i, error);
    for (uint32_t i = 0; i < config->rule_count && status == SF_OK; i++) {
        const sf_live_rule *rule = &config->rules[i];
        sf_ruling *ruling = &predictions->items[predictions->count++];
        char key[32];
        sf_error reason;
        snprintf(key, sizeof key, "rules.%" PRIu32, i);
        *ruling = (sf_ruling){.rule = rule, .label = rule->label_count};
        status = check(rule, config, key, error);
        if (status == SF_OK && sf_episode_parse(&ruling->episode, rule->episode, units, &reason) != SF_OK)
            status = sf_live_refuse(key, error, "%s: %s", reason.place, reason.text);
        if (status == SF_OK) status = sf_tracking_pin_one(tracking, &ruling->episode, units, error);
    }
    return status;
}

void sf_predictions_close(sf_predictions *predictions)
{
    sf_free(predictions->items);
    sf_free(predictions->rule_of);
    *predictions = (sf_predictions){0};
}

static const sf_episode_count *find(const sf_episodes_message *window, const sf_episode *episode)
{
    for (size_t i = 0; i < window->count; i++)
        if (sf_episode_compare(&window->items[i].episode, episode) == 0) return &window->items[i];
    return NULL;
}

static void tell(sf_prediction *into, sf_ruling *ruling, const sf_episode_count *counted, bool partial)
{
    const sf_live_rule *rule = ruling->rule;
    *into = (sf_prediction){.count = counted->count};
    snprintf(into->rule, sizeof into->rule, "%s", rule->name != NULL ? rule->name : "");
    memcpy(into->id, counted->id, sizeof into->id);
    ruling->changed = false;
    if (partial) return;
    uint32_t before = ruling->label,
             label = (uint32_t)sf_rule_interval(rule->thresholds, rule->label_count, counted->count);
    snprintf(into->label, sizeof into->label, "%s", rule->labels[label]);
    if (before < rule->label_count && strcmp(rule->labels[before], rule->labels[label]) != 0) {
        snprintf(into->before, sizeof into->before, "%s", rule->labels[before]);
        into->changed = ruling->changed = true;
    }
    ruling->label = label;
}

int sf_predictions_tell(sf_predictions *predictions, sf_episodes_message *window, sf_error *error)
{
    window->rules = sf_alloc(predictions->count, sizeof *window->rules);
    if (window->rules == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < predictions->count; i++) {
        const sf_episode_count *counted = find(window, &predictions->items[i].episode);
        if (counted != NULL) /* always: it is pinned */
            tell(&window->rules[window->rule_count++], &predictions->items[i], counted, window->partial);
    }
    return SF_OK;
}

uint32_t sf_predictions_next(const sf_predictions *predictions, const sf_live_options *config, uint32_t from)
{
    for (uint32_t i = from; i < config->trigger_count; i++) {
        const sf_live_trigger *trigger = &config->triggers[i];
        const sf_ruling *ruling =
            predictions->rule_of[i] != UINT32_MAX ? &predictions->items[predictions->rule_of[i]] : NULL;
        if (ruling != NULL && ruling->changed &&
            (!asks_label(trigger) || strcmp(ruling->rule->labels[ruling->label], trigger->label) == 0))
            return i;
    }
    return config->trigger_count;
}
