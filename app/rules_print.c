/* SPDX-License-Identifier: Apache-2.0 */
/* What synfire rules has learnt, as text, as JSON and as a rule file. */
#include "app/document.h"
#include "app/rules.h"

#include "analysis/episode_columns.h"
#include "core/memory.h"
#include "io/file.h"

#include <inttypes.h>
#include <math.h>

/* First window of block f of the cross-validation; f = folds: the end. */
static size_t block_begin(const app_rules *r, size_t f)
{
    return r->window_count * f / (size_t)r->folds;
}

static const sf_episode *chosen(const app_rules *r)
{
    return &r->told.episodes[r->learnt.rule.attribute];
}

/* Number of blocks for which learning on the others chose the same episode as learning on all. */
static size_t agreeing(const app_rules *r)
{
    size_t count = 0;
    for (size_t f = 0; f < r->folds; f++)
        count += r->learnt.fold_attribute[f] == r->learnt.rule.attribute;
    return count;
}

/* ---- JSON ---- */

/* A block of time in turn. */
typedef struct fold {
    int64_t from_ns, to_ns;
    size_t windows;
    double accuracy;
    const sf_episode *episode;
    const sf_recording *recording;
} fold;

/* The document. */
typedef struct content {
    const app_rules *rules;
    const char *path, *stopped;
    const char *what; /* of a file, with its version */
    uint64_t version;
    const sf_episode *episode; /* that was chosen */
    const sf_recording *recording;
    double training_accuracy;
    uint32_t unit; /* whose rate the best rule by rates goes by */
    const char *unit_name;
    double *confusion; /* label_count rows of as many */
    size_t label_count;
    fold *fold; /* that is read */
} content;

/* The rule by counts, or where column->member is 1 the one by rates. */
static const sf_rule *rule_of(const sf_column_row *column, const void *of)
{
    const app_rules *r = ((const content *)of)->rules;
    return column->member == 1 ? &r->by_rate.rule : &r->learnt.rule;
}

SF_LENGTH(count_thresholds)
{
    *length = rule_of(column, of)->interval_count - (column->is.type == SF_COLUMN_REAL);
    return true;
}

SF_GETTER(get_threshold)
{
    sf_value_set_real(value, rule_of(column, of)->thresholds[item]);
}

SF_GETTER(get_prediction)
{
    sf_value_set_text(value,
                      app_rules_label(((const content *)of)->rules, rule_of(column, of)->labels[item]));
}

SF_LENGTH(count_labels)
{
    *length = ((const content *)of)->label_count;
    return true;
}

SF_GETTER(get_label)
{
    sf_value_set_text(value, app_rules_label(((const content *)of)->rules, (uint16_t)item));
}

SF_GETTER(get_confusion)
{
    const content *c = of;
    sf_value_set_numbers(value, c->confusion + item * c->label_count, c->label_count, 0);
}

SF_LENGTH(count_folds)
{
    *length = ((const content *)of)->rules->folds;
    return true;
}

SF_GETTER(get_fold)
{
    const content *c = of;
    const app_rules *r = c->rules;
    size_t begin = block_begin(r, item), end = block_begin(r, item + 1);
    *c->fold = (fold){.from_ns = r->windows[begin].start_ns,
                      .to_ns = r->windows[end - 1].stop_ns,
                      .windows = end - begin,
                      .accuracy = r->learnt.fold_accuracy[item],
                      .episode = &r->told.episodes[r->learnt.fold_attribute[item]],
                      .recording = r->recording};
    sf_value_set_record(value, c->fold, 0);
}

#define SHARE .unit = "probability"
#define ROW fold
static const sf_column_row fold_rows[] = {
    SF_FIELD_IS(TIME, "from_s", from_ns, "start of its first window", .unit = "s"),
    SF_FIELD_IS(TIME, "to_s", to_ns, "stop of its last", .unit = "s"),
    SF_MEMBER_IS(COUNT, windows, "in it"),
    SF_MEMBER_IS(REAL, accuracy, "of the rule that was learnt without it", SHARE),
    SF_EPISODE_ID_IS("episode", episode, recording),
};
#undef ROW

#define ROW app_rules
static const sf_column_row window_rows[] = {
    SF_FIELD_IS(COUNT, "count", told.window_count, "full windows from the first label to the last"),
    SF_FIELD_IS(COUNT, "labelled", labelled.labelled,
                "in one label and recorded throughout: what is learnt from"),
    SF_FIELD_IS(COUNT, "mixed", labelled.mixed, "partly in a label, or in several"),
    SF_FIELD_IS(COUNT, "unlabelled", labelled.without, "in none"),
    SF_FIELD_IS(COUNT, "unrecorded", labelled.unrecorded, "in one label, but not recorded throughout"),
    SF_FIELD_IS(COUNT, "stretches", labelled.stretches, "runs of windows of one label"),
};

static const sf_column_row chance_rows[] = {
    SF_FIELD_IS(COUNT, "shifts", learnt.shifts, "shifts of the labels that were tried"),
    SF_FIELD_IS(COUNT, "segments", learnt.segments,
                "of the session: labels are shifted within each, by an offset of its own; 0: fewer than 10 "
                "stretches of one label, and no shift was tried"),
    SF_FIELD_IS(REAL, "mean", learnt.chance_mean, "accuracy with shifted labels", SHARE,
                .null = "no shift was tried"),
    SF_FIELD_IS(REAL, "most", learnt.chance_most, "what 95 % of shifts do not exceed", SHARE,
                .null = "no shift was tried"),
    SF_FIELD_IS(REAL, "p", learnt.chance_p,
                "share of shifts with as high an accuracy, the true labels counted as one", SHARE,
                .null = "fewer than 19 shifts, or than 10 stretches of one label"),
};
#undef ROW

#define ROW content
#define INTERVALS_OF(which)                                                                                  \
    {.is = SF_WHAT_LIST(REAL, "thresholds",                                                                  \
                        "counts up to the first are in the first interval, and so on; ascending"),           \
     .get = get_threshold,                                                                                   \
     .length = count_thresholds,                                                                             \
     .member = (which)},                                                                                     \
    {                                                                                                        \
        .is = SF_WHAT_LIST(TEXT, "predicts", "label of each interval, one more than thresholds"),            \
        .get = get_prediction, .length = count_thresholds, .member = (which)                                 \
    }
#define OF_RULES(kind, column, of, ...) SF_INSIDE_IS(kind, column, rules, app_rules, of, __VA_ARGS__)

static const sf_column_row chosen_rows[] = {
    SF_EPISODE_ID_IS("id", episode, recording),
    SF_EPISODE_UNITS_ARE(episode, recording),
};

static const sf_column_row rate_rows[] = {
    SF_MEMBER_IS(UNIT, unit, "0-based index of a unit of the episodes tried"),
    SF_FIELD_IS(TEXT, "name", unit_name, "its name"),
    INTERVALS_OF(1),
    OF_RULES(REAL, "accuracy", by_rate.accuracy, "of blocks left out", SHARE),
    OF_RULES(REAL, "balanced_accuracy", by_rate.balanced, "the same, averaged over labels", SHARE),
};

static const sf_column_row learnt_rows[] = {
    SF_FIELD_IS(TEXT, "recording", path, "path"),
    OF_RULES(TIME, "window_s", window_ns, "length of a window", .unit = "s"),
    OF_RULES(TIME, "hop_s", hop_ns, "from the start of one window to that of the next", .unit = "s"),
    SF_LIST_BY(TEXT, "labels", get_label, count_labels,
               "labels that windows have, those that more windows have first, of as many the earlier"),
    {.is = SF_WHAT_IS(RECORD, "windows", "windows by where they lie"),
     .get = sf_column_pointed,
     SF_ROW_ELEMENT(rules),
     SF_ROWS_ARE(window_rows)},
    OF_RULES(COUNT, "episodes", episode_count, "episodes that were tried"),
    SF_RECORD_BY("episode", sf_column_own_row, chosen_rows, "of the rule"),
    INTERVALS_OF(0),
    SF_MEMBER_IS(REAL, training_accuracy,
                 "share of windows that the rule gets right of those it was learnt from", SHARE),
    OF_RULES(REAL, "accuracy", learnt.accuracy,
             "the same in blocks of time that were left out of the learning", SHARE),
    OF_RULES(REAL, "balanced_accuracy", learnt.balanced, "the same, averaged over labels", SHARE),
    OF_RULES(REAL, "majority", learnt.majority,
             "share of the most frequent label: the accuracy of always predicting it", SHARE),
    SF_LIST_BY(NUMBERS, "confusion", get_confusion, count_labels,
               "a row for each true label, a column for each that was predicted, as in labels: windows of "
               "blocks that were left out"),
    SF_RECORDS_BY("folds", get_fold, count_folds, fold_rows, "blocks of time in turn"),
    {.is =
         SF_WHAT_IS(RECORD, "chance", "what the same procedure gives for labels shifted against the spikes"),
     .get = sf_column_pointed,
     SF_ROW_ELEMENT(rules),
     SF_ROWS_ARE(chance_rows)},
    SF_RECORD_BY("rate", sf_column_own_row, rate_rows, "the rule of how often a single unit fires"),
    OF_RULES(COUNT, "least", least, "windows of its label that an interval has before another may follow"),
    OF_RULES(COUNT, "seed", seed, "of the shifts"),
    APP_ROW_STOPPED(stopped),
};

/* The file of --rule. */
static const sf_column_row file_rows[] = {
    SF_FIELD_IS(TEXT, "synfire", what, "rule"),
    SF_MEMBER_IS(COUNT, version, "1"),
    SF_EPISODE_WORDS_ARE(episode, recording),
    OF_RULES(TIME, "window_s", window_ns, "length of a window", .unit = "s"),
    INTERVALS_OF(0),
    OF_RULES(REAL, "accuracy", learnt.accuracy, "in blocks of time that were left out", SHARE),
    OF_RULES(REAL, "p", learnt.chance_p, "by chance", SHARE, .null = "too few shifts"),
};
#undef ROW

static const sf_table file_table = {.name = "rule", .about = "a rule", SF_TABLE_OF(file_rows)};

const sf_table app_rules_document = {
    .name = "rules", .about = "a rule that predicts labels from counts", SF_TABLE_OF(learnt_rows)};

void app_rules_json(sf_text *text, const app_rules *r)
{
    size_t labels = r->labelled.name_count;
    uint32_t unit = r->told.episodes[r->episode_count + r->by_rate.rule.attribute].units[0];
    content of = {.rules = r,
                  .path = app_recording_path(r->recording),
                  .episode = chosen(r),
                  .recording = r->recording,
                  .training_accuracy = (double)r->learnt.rule.correct / (double)r->window_count,
                  .unit = unit,
                  .unit_name = app_unit_name(r->recording, unit),
                  .confusion = sf_alloc(labels * labels, sizeof *of.confusion),
                  .label_count = labels,
                  .stopped = r->stop.where,
                  .fold = &(fold){0}};
    text->failed = text->failed || of.confusion == NULL;
    for (size_t i = 0; of.confusion != NULL && i < labels * labels; i++)
        of.confusion[i] = (double)r->learnt.confusion[i];
    if (of.confusion != NULL) app_document_json(text, r->call, &app_rules_document, &of);
    sf_free(of.confusion);
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
    app_doubts_print(text, r->call);
    if (text->length > 0 && !text->failed)
        text->data[--text->length] = '\0'; /* app_print ends the last line */
}

/* ---- the rule file ---- */

int app_rules_write(const char *path, const app_rules *r, sf_error *error)
{
    const content of = {
        .rules = r, .what = "rule", .version = 1, .episode = chosen(r), .recording = r->recording};
    sf_text text = {0};
    app_document_json(&text, r->call, &file_table, &of);
    sf_text_printf(&text, "\n");
    int status = sf_file_write(&text, path, error);
    sf_text_free(&text);
    return status;
}
