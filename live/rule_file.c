/* SPDX-License-Identifier: Apache-2.0 */
#include "live/rule_file.h"

#include "core/error.h"
#include "core/file.h"
#include "core/memory.h"

#include <jansson.h>
#include <string.h>

#define MOST_BYTES (1 << 20)

/* A label is no longer than in a message. */
#define MOST_LABEL (sizeof((sf_prediction *)0)->label - 1)

static int refuse(sf_error *error, const char *path, const char *expected)
{
    return sf_fail(error, SF_DATA, path, "is no rule file: expected %s, as synfire rules --rule writes it",
                   expected);
}

static int take_labels(sf_live_rule *rule, const json_t *labels, const char *path, sf_error *error)
{
    size_t count = json_array_size(labels);
    if (count == 0 || count > UINT16_MAX) return refuse(error, path, "an array `predicts` of labels");
    char **own = sf_alloc(count, sizeof *own);
    rule->labels = (const char *const *)own;
    for (; own != NULL && rule->label_count < count; rule->label_count++) {
        const char *label = json_string_value(json_array_get(labels, rule->label_count));
        if (label == NULL || strlen(label) > MOST_LABEL)
            return refuse(error, path, "labels of at most 63 bytes in `predicts`");
        own[rule->label_count] = sf_copy_string(label);
        if (own[rule->label_count] == NULL) return sf_fail_memory(error);
    }
    return own != NULL ? SF_OK : sf_fail_memory(error);
}

static int take_thresholds(sf_live_rule *rule, const json_t *thresholds, const char *path, sf_error *error)
{
    size_t count = json_array_size(thresholds);
    double *own = sf_alloc(count, sizeof *own);
    rule->thresholds = own;
    if (own == NULL) return sf_fail_memory(error);
    if (!json_is_array(thresholds) || count + 1 != rule->label_count)
        return refuse(error, path, "an array `thresholds`, one fewer than `predicts`");
    for (size_t i = 0; i < count; i++) {
        if (!json_is_number(json_array_get(thresholds, i)))
            return refuse(error, path, "numbers in `thresholds`");
        own[i] = json_number_value(json_array_get(thresholds, i));
    }
    return SF_OK;
}

static int take(sf_live_rule *rule, const json_t *file, const char *path, sf_error *error)
{
    const char *kind = json_string_value(json_object_get(file, "synfire"));
    const char *episode = json_string_value(json_object_get(file, "episode"));
    const json_t *window = json_object_get(file, "window_s");
    if (kind == NULL || strcmp(kind, "rule") != 0) return refuse(error, path, "\"synfire\":\"rule\"");
    if (json_integer_value(json_object_get(file, "version")) != 1)
        return sf_fail(error, SF_DATA, path, "is a rule file of another version: expected version 1");
    if (episode == NULL) return refuse(error, path, "a text `episode`");
    if (!json_is_number(window) || !(json_number_value(window) > 0))
        return refuse(error, path, "a number `window_s` above 0");
    const char *slash = strrchr(path, '/');
    rule->name = sf_copy_string(slash != NULL ? slash + 1 : path);
    rule->episode = sf_copy_string(episode);
    rule->window_s = json_number_value(window);
    if (rule->name == NULL || rule->episode == NULL) return sf_fail_memory(error);
    int status = take_labels(rule, json_object_get(file, "predicts"), path, error);
    return status == SF_OK ? take_thresholds(rule, json_object_get(file, "thresholds"), path, error) : status;
}

static int read_rule(sf_live_rule *rule, const char *path, sf_error *error)
{
    sf_text text = {0};
    json_error_t problem;
    int status = sf_file_read(&text, path, error);
    if (status == SF_OK && text.length > MOST_BYTES)
        status = sf_fail(error, SF_DATA, path, "has %zu bytes, which no rule file has", text.length);
    json_t *file = status == SF_OK ? json_loadb(text.data != NULL ? text.data : "", text.length,
                                                JSON_REJECT_DUPLICATES, &problem)
                                   : NULL;
    if (status == SF_OK && file == NULL)
        status = sf_fail(error, SF_DATA, path, "is no rule file: line %d, column %d: %s", problem.line,
                         problem.column, problem.text);
    if (status == SF_OK) status = take(rule, file, path, error);
    json_decref(file);
    sf_text_free(&text);
    return status;
}

int sf_rule_files_read(sf_live_rule **rules, const char *const *paths, uint32_t count, uint32_t *failed,
                       sf_error *error)
{
    *rules = sf_alloc(count, sizeof **rules);
    if (*rules == NULL) return sf_fail_memory(error);
    int status = SF_OK;
    for (*failed = 0; *failed < count; (*failed)++)
        if ((status = read_rule(&(*rules)[*failed], paths[*failed], error)) != SF_OK) return status;
    return SF_OK;
}

void sf_rule_files_free(sf_live_rule *rules, uint32_t count)
{
    for (uint32_t i = 0; rules != NULL && i < count; i++) {
        for (uint32_t k = 0; rules[i].labels != NULL && k < rules[i].label_count; k++)
            sf_free((char *)rules[i].labels[k]);
        sf_free((void *)rules[i].labels);
        sf_free((double *)rules[i].thresholds);
        sf_free((char *)rules[i].name);
        sf_free((char *)rules[i].episode);
    }
    sf_free(rules);
}
