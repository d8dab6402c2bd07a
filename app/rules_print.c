/* SPDX-License-Identifier: Apache-2.0 */
/* What synfire rules has learnt, as text, as JSON and as a rule file. */
#include "app/rules.h"

#include "core/describe/column.h"
#include "io/file.h"

#include <inttypes.h>
#include <math.h>

/* Where block f of the learning begins; f = folds: the end. */
static size_t block_begin(const app_rules *r, size_t f)
{
    return r->window_count * f / (size_t)r->folds;
}

static const sf_episode *chosen(const app_rules *r)
{
    return &r->told.episodes[r->learnt.rule.attribute];
}

/* In how many blocks the others chose the episode that all of them choose. */
static size_t agreeing(const app_rules *r)
{
    size_t count = 0;
    for (size_t f = 0; f < r->folds; f++)
        count += r->learnt.fold_attribute[f] == r->learnt.rule.attribute;
    return count;
}

/* ---- JSON ---- */

/* The intervals of a rule: `thresholds` and, one more, `predicts`. */
static void add_intervals(sf_json *json, const app_rules *r, const sf_rule *rule)
{
    sf_json_array(json, "thresholds");
    for (size_t i = 0; i + 1 < rule->interval_count; i++)
        sf_json_real(json, NULL, rule->thresholds[i]);
    sf_json_end_array(json);
    sf_json_array(json, "predicts");
    for (size_t i = 0; i < rule->interval_count; i++)
        sf_json_string(json, NULL, app_rules_label(r, rule->labels[i]));
    sf_json_end_array(json);
}

static void add_windows(sf_json *json, const app_rules *r)
{
    const sf_labelled *labelled = &r->labelled;
    sf_json_object(json, "windows");
    sf_json_uint(json, "count", r->told.window_count);
    sf_json_uint(json, "labelled", labelled->labelled);
    sf_json_uint(json, "mixed", labelled->mixed);
    sf_json_uint(json, "unlabelled", labelled->without);
    sf_json_uint(json, "unrecorded", labelled->unrecorded);
    sf_json_uint(json, "stretches", labelled->stretches);
    sf_json_end_object(json);
}

static void add_confusion(sf_json *json, const app_rules *r)
{
    size_t labels = r->labelled.name_count;
    sf_json_array(json, "confusion");
    for (size_t c = 0; c < labels; c++) {
        sf_json_array(json, NULL);
        for (size_t p = 0; p < labels; p++)
            sf_json_uint(json, NULL, r->learnt.confusion[c * labels + p]);
        sf_json_end_array(json);
    }
    sf_json_end_array(json);
}

static void add_folds(sf_json *json, const app_rules *r)
{
    sf_json_array(json, "folds");
    for (size_t f = 0; f < r->folds; f++) {
        char id[SF_EPISODE_ID_SIZE];
        size_t begin = block_begin(r, f), end = block_begin(r, f + 1);
        sf_recording_episode_id(r->recording, &r->told.episodes[r->learnt.fold_attribute[f]], id);
        sf_json_object(json, NULL);
        sf_json_seconds(json, "from_s", r->windows[begin].start_ns);
        sf_json_seconds(json, "to_s", r->windows[end - 1].stop_ns);
        sf_json_uint(json, "windows", end - begin);
        sf_json_real(json, "accuracy", r->learnt.fold_accuracy[f]);
        sf_json_string(json, "episode", id);
        sf_json_end_object(json);
    }
    sf_json_end_array(json);
}

static void add_comparisons(sf_json *json, const app_rules *r)
{
    const sf_rules *learnt = &r->learnt;
    const sf_rule *rate = &r->by_rate.rule;
    uint32_t unit = r->told.episodes[r->episode_count + rate->attribute].units[0];
    sf_json_object(json, "chance");
    sf_json_uint(json, "shifts", learnt->shifts);
    sf_json_uint(json, "segments", learnt->segments);
    sf_json_real(json, "mean", learnt->chance_mean);
    sf_json_real(json, "most", learnt->chance_most);
    sf_json_real(json, "p", learnt->chance_p);
    sf_json_end_object(json);
    sf_json_object(json, "rate");
    sf_json_uint(json, "unit", unit);
    sf_json_string(json, "name", app_unit_name(r->recording, unit));
    add_intervals(json, r, rate);
    sf_json_real(json, "accuracy", r->by_rate.accuracy);
    sf_json_real(json, "balanced_accuracy", r->by_rate.balanced);
    sf_json_end_object(json);
}

void app_rules_json(sf_text *text, const app_rules *r)
{
    const sf_rules *learnt = &r->learnt;
    sf_json json = sf_json_start(text);
    sf_json_object(&json, NULL);
    sf_json_string(&json, "recording", app_recording_path(r->recording));
    sf_json_seconds(&json, "window_s", r->window_ns);
    sf_json_seconds(&json, "hop_s", r->hop_ns);
    sf_json_array(&json, "labels");
    for (uint16_t c = 0; c < r->labelled.name_count; c++)
        sf_json_string(&json, NULL, app_rules_label(r, c));
    sf_json_end_array(&json);
    add_windows(&json, r);
    sf_json_uint(&json, "episodes", r->episode_count);
    sf_json_object(&json, "episode");
    app_episode_json(&json, r->recording, chosen(r));
    sf_json_end_object(&json);
    add_intervals(&json, r, &learnt->rule);
    sf_json_real(&json, "training_accuracy", (double)learnt->rule.correct / (double)r->window_count);
    sf_json_real(&json, "accuracy", learnt->accuracy);
    sf_json_real(&json, "balanced_accuracy", learnt->balanced);
    sf_json_real(&json, "majority", learnt->majority);
    add_confusion(&json, r);
    add_folds(&json, r);
    add_comparisons(&json, r);
    sf_json_uint(&json, "least", r->least);
    sf_json_uint(&json, "seed", r->seed);
    sf_json_string(&json, "stopped", r->stop.where);
    app_provenance_json(&json, r->call);
    sf_json_end_object(&json);
}

/* ---- CSV ---- */

/* The least count that an interval may have. */
static double first_count(const sf_rule *rule, size_t interval)
{
    return interval == 0 ? 0 : floor(rule->thresholds[interval - 1]) + 1;
}

/* An interval of counts. */
typedef struct interval_row {
    char id[SF_EPISODE_ID_SIZE];
    const char *episode, *predicts;
    double count_from, count_to;
    const sf_rules *learnt, *by_rate;
} interval_row;

#define ROW interval_row
#define LEARNT(name, of, ...) SF_INSIDE_IS(REAL, name, learnt, sf_rules, of, __VA_ARGS__)
static const sf_column_row interval_rows[] = {
    SF_MEMBER_IS(TEXT, id, "of the episode whose count the rule goes by"),
    SF_MEMBER_IS(TEXT, episode, "the episode, as people write it"),
    SF_MEMBER_IS(REAL, count_from, "the least count of the interval"),
    SF_MEMBER_IS(REAL, count_to, "the greatest count of the interval", .null = "it has no end"),
    SF_MEMBER_IS(TEXT, predicts, "the label that the rule then predicts"),
    LEARNT("accuracy", accuracy, "of the rule, in blocks of time that were left out"),
    LEARNT("balanced_accuracy", balanced, "the mean of the labels' own accuracies"),
    LEARNT("majority", majority, "the accuracy of the most frequent label"),
    SF_INSIDE_IS(REAL, "rate_accuracy", by_rate, sf_rules, accuracy, "of the best rule by a unit's rate"),
    LEARNT("chance_accuracy", chance_mean, "mean accuracy with shifted labels",
           .null = "no shifts were made"),
    LEARNT("p", chance_p, "share of shifts, and one, that do as well", .unit = "probability",
           .null = "no shifts were made"),
};
#undef ROW

const sf_table app_rules_table = {.name = "rule",
                                  .row = "rule_interval",
                                  .about = "intervals of counts that the rule of `rules` has",
                                  SF_TABLE_OF(interval_rows)};

void app_rules_csv(sf_text *text, const app_rules *r)
{
    const sf_rule *rule = &r->learnt.rule;
    sf_text spelt = app_episode_text(r->recording, chosen(r));
    interval_row row = {.episode = spelt.data, .learnt = &r->learnt, .by_rate = &r->by_rate};
    app_csv csv = app_csv_start_table(text, &app_rules_table);
    sf_recording_episode_id(r->recording, chosen(r), row.id);
    for (size_t i = 0; i < rule->interval_count; i++) {
        row.count_from = first_count(rule, i);
        row.count_to = i + 1 < rule->interval_count ? floor(rule->thresholds[i]) : NAN;
        row.predicts = app_rules_label(r, rule->labels[i]);
        app_csv_struct(&csv, &app_rules_table, &row);
    }
    text->failed = text->failed || spelt.failed;
    sf_text_free(&spelt);
}

/* ---- text ---- */

static void print_windows(sf_text *text, const app_rules *r)
{
    const sf_labelled *labelled = &r->labelled;
    app_stop_print(text, &r->stop, "");
    sf_text_printf(text, "%s: %zu windows of %g s, one each %g s, in %zu stretches of one label\n",
                   app_recording_path(r->recording), labelled->labelled, (double)r->window_ns * 1e-9,
                   (double)r->hop_ns * 1e-9, labelled->stretches);
    if (labelled->mixed + labelled->without + labelled->unrecorded > 0)
        sf_text_printf(
            text, "left out: %zu partly in a label or in several, %zu in none, %zu not recorded throughout\n",
            labelled->mixed, labelled->without, labelled->unrecorded);
}

static void print_rule(sf_text *text, const app_rules *r)
{
    const sf_rule *rule = &r->learnt.rule;
    sf_text spelt = app_episode_text(r->recording, chosen(r));
    sf_text_printf(text, "\nof %zu episodes  %s\n", r->episode_count, spelt.data != NULL ? spelt.data : "");
    app_table table = {0};
    app_table_cell(&table, "count in a window");
    app_table_cell(&table, "predicts");
    for (size_t i = 0; i < rule->interval_count; i++) {
        bool last = i + 1 == rule->interval_count;
        if (i == 0 && last)
            app_table_cell(&table, "any");
        else if (last)
            app_table_cell(&table, "%.0f or more", first_count(rule, i));
        else if (first_count(rule, i) == floor(rule->thresholds[i]))
            app_table_cell(&table, "%.0f", first_count(rule, i));
        else
            app_table_cell(&table, "%.0f to %.0f", first_count(rule, i), floor(rule->thresholds[i]));
        app_table_cell(&table, "%s", app_rules_label(r, rule->labels[i]));
    }
    app_table_print(&table, text, 2);
    sf_text_free(&spelt);
}

static void print_accuracy(sf_text *text, const app_rules *r)
{
    const sf_rules *learnt = &r->learnt;
    uint32_t unit = r->told.episodes[r->episode_count + r->by_rate.rule.attribute].units[0];
    app_table table = {0};
    app_table_cell(&table, "accuracy");
    app_table_cell(&table, "balanced");
    app_table_cell(&table, "of what");
    app_table_cell(&table, "%.3f", learnt->accuracy);
    app_table_cell(&table, "%.3f", learnt->balanced);
    app_table_cell(&table,
                   "in blocks of time that were left out; %zu of %" PRIu64 " times this episode was chosen",
                   agreeing(r), r->folds);
    app_table_cell(&table, "%.3f", r->by_rate.accuracy);
    app_table_cell(&table, "%.3f", r->by_rate.balanced);
    app_table_cell(&table, "by rate: how often %s fires", app_unit_name(r->recording, unit));
    app_table_cell(&table, "%.3f", learnt->majority);
    app_table_cell(&table, "%.3f", 1.0 / r->labelled.name_count);
    app_table_cell(&table, "always %s", app_rules_label(r, 0));
    if (isfinite(learnt->chance_p)) {
        app_table_cell(&table, "%.3f", learnt->chance_mean);
        app_table_cell(&table, "-");
        app_table_cell(&table,
                       "by chance: labels shifted in %zu segments, 95 %% of %zu times up to %.3f; p = %.2g",
                       learnt->segments, learnt->shifts, learnt->chance_most, learnt->chance_p);
    }
    sf_text_printf(text, "\n");
    app_table_print(&table, text, 3);
}

static void print_confusion(sf_text *text, const app_rules *r)
{
    uint16_t labels = r->labelled.name_count;
    app_table table = {0};
    app_table_cell(&table, "true label");
    for (uint16_t p = 0; p < labels; p++)
        app_table_cell(&table, "as %s", app_rules_label(r, p));
    for (uint16_t c = 0; c < labels; c++) {
        app_table_cell(&table, "%s", app_rules_label(r, c));
        for (uint16_t p = 0; p < labels; p++)
            app_table_cell(&table, "%" PRIu64, r->learnt.confusion[(size_t)c * labels + p]);
    }
    sf_text_printf(text, "\n");
    app_table_print(&table, text, (size_t)labels + 1);
}

void app_rules_print(sf_text *text, const app_rules *r)
{
    print_windows(text, r);
    print_rule(text, r);
    print_accuracy(text, r);
    print_confusion(text, r);
    if (text->length > 0 && !text->failed)
        text->data[--text->length] = '\0'; /* app_print ends the last line */
}

/* ---- the rule file ---- */

int app_rules_write(const char *path, const app_rules *r, sf_error *error)
{
    sf_text text = {0}, spelt = app_episode_text(r->recording, chosen(r));
    sf_json json = sf_json_start(&text);
    sf_json_object(&json, NULL);
    sf_json_string(&json, "synfire", "rule");
    sf_json_uint(&json, "version", 1);
    sf_json_string(&json, "episode", spelt.data);
    sf_json_seconds(&json, "window_s", r->window_ns);
    add_intervals(&json, r, &r->learnt.rule);
    sf_json_real(&json, "accuracy", r->learnt.accuracy);
    sf_json_real(&json, "p", r->learnt.chance_p);
    app_provenance_json(&json, r->call);
    sf_json_end_object(&json);
    sf_text_printf(&text, "\n");
    text.failed = text.failed || spelt.failed;
    int status = sf_file_write(&text, path, error);
    sf_text_free(&spelt);
    sf_text_free(&text);
    return status;
}
