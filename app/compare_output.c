/* SPDX-License-Identifier: Apache-2.0 */
/* What compare writes and prints of all recordings. */
#include "app/compare_rows.h"

#include "core/file.h"
#include "core/memory.h"
#include "io/file.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- the parts, put together ---- */

/* The columns of the table; `well` is one of the results. */
static void put_table_names(sf_text *out, const sf_delimited *table)
{
    app_csv csv = {.out = out};
    for (size_t c = 0; c < table->column_count; c++)
        if (strcmp(sf_delimited_name(table, c), "well") != 0)
            app_csv_string(&csv, sf_delimited_name(table, c));
}

static void put_table_cells(sf_text *out, const sf_delimited *table, size_t row)
{
    app_csv csv = {.out = out};
    for (size_t c = 0; c < table->column_count; c++)
        if (strcmp(sf_delimited_name(table, c), "well") != 0)
            app_csv_string(&csv, sf_delimited_cell(table, row, c));
}

static int add_part(sf_text *out, const app_comparison *c, size_t row, app_compared_file file,
                    sf_error *error)
{
    const app_compared *result = &c->results[c->files[row]];
    size_t well = sf_delimited_column(&c->table, "well");
    const char *wanted = well != SIZE_MAX ? sf_delimited_cell(&c->table, row, well) : "";
    sf_text path = {0}, text = {0};
    sf_delimited part = {0};
    sf_text_printf(&path, "%s/parts/%s/%s", c->folder, result->key, app_compared_names[file]);
    int status = path.failed ? sf_fail_memory(error) : sf_file_read(&text, path.data, error);
    if (status == SF_OK) status = sf_delimited_parse(&part, text.data, text.length, path.data, error);
    for (size_t i = 0; i < part.row_count && status == SF_OK; i++) {
        if (wanted[0] != '\0' && strcmp(sf_delimited_cell(&part, i, 0), wanted) != 0) continue;
        app_csv csv = {.out = out, .in_row = true};
        sf_text_append(out, "\n", 1);
        put_table_cells(out, &c->table, row);
        for (size_t k = 0; k < part.column_count; k++)
            app_csv_string(&csv, sf_delimited_cell(&part, i, k));
    }
    sf_delimited_free(&part);
    sf_text_free(&text);
    sf_text_free(&path);
    return status;
}

static int write_file(sf_text *text, const char *folder, const char *name, sf_error *error)
{
    sf_text path = {0};
    sf_text_append(text, "\n", 1);
    sf_text_printf(&path, "%s/%s", folder, name);
    int status = path.failed ? sf_fail_memory(error) : sf_file_write(text, path.data, error);
    sf_text_free(&path);
    sf_text_free(text);
    return status;
}

static int write_parts(const app_comparison *c, app_compared_file file, sf_error *error)
{
    sf_text text = {0};
    int status = SF_OK;
    put_table_names(&text, &c->table);
    sf_text_printf(&text, ",");
    app_compared_columns(&text, file);
    for (size_t row = 0; row < c->table.row_count && status == SF_OK; row++)
        if (c->results[c->files[row]].status == SF_OK) status = add_part(&text, c, row, file, error);
    if (status == SF_OK) return write_file(&text, c->folder, app_compared_names[file], error);
    sf_text_free(&text);
    return status;
}

/* ---- replicates and tests ---- */

/* The means of a replicate in a condition. */
typedef struct replicate_row {
    const char *name, *block;
    double values[SF_MEASURES], chance[SF_MEASURES];
} replicate_row;

#define ROW replicate_row
static const sf_column_row chance_rows[] = {APP_CHANCE_ARE};
static const sf_column_row replicate_rows[] = {
    SF_MEMBER_IS(TEXT, name, "as the table has it"),
    SF_MEMBER_IS(TEXT, block, "its value in the column `block`", .null = "without one"),
    APP_MEASURES_ARE SF_RECORD_BY("chance", sf_column_own_row, chance_rows,
                                  "what chance gives of the measures of bursts (of units those of Poisson "
                                  "trains as fast, of the network "
                                  "those of the same trains, each shifted as a whole), and of reliability"),
};
static const sf_column_row mean_rows[] = {APP_MEASURES_ARE APP_NAMED_CHANCE_ARE};
#undef ROW

static const sf_table means_table = {.name = "means", .row = "means", SF_TABLE_OF(mean_rows)};

static replicate_row replicate_of(const app_groups *groups, const app_condition *condition, size_t r)
{
    replicate_row row = {.name = condition->replicates[r].name,
                         .block =
                             groups->block != NULL ? groups->blocks[condition->replicates[r].block] : NULL};
    memcpy(row.values, condition->values + r * SF_MEASURES, sizeof row.values);
    memcpy(row.chance, condition->chance + r * SF_MEASURES, sizeof row.chance);
    return row;
}

/* The first columns are named as in the table. */
static int write_replicates(const app_comparison *c, sf_error *error)
{
    const app_groups *groups = &c->groups;
    sf_text text = {0};
    app_csv csv = {.out = &text};
    app_csv_string(&csv, sf_delimited_name(&c->table, c->grouping.by));
    if (groups->factor != NULL) app_csv_string(&csv, groups->factor);
    app_csv_string(&csv, groups->replicate != NULL ? groups->replicate : "file");
    if (groups->block != NULL) app_csv_string(&csv, groups->block);
    sf_text_printf(&text, ",");
    app_csv_heads(&text, &means_table);
    for (size_t k = 0; k < groups->condition_count; k++) {
        const app_condition *condition = &groups->conditions[k];
        for (size_t r = 0; r < condition->count; r++) {
            const replicate_row row = replicate_of(groups, condition, r);
            sf_table means = means_table;
            means.of = &row;
            app_csv_row(&csv);
            app_csv_string(&csv, condition->name);
            if (groups->factor != NULL) app_csv_string(&csv, groups->levels[condition->level]);
            app_csv_string(&csv, row.name);
            if (groups->block != NULL) app_csv_string(&csv, row.block);
            app_csv_cells(&csv, &means, 0);
        }
    }
    return write_file(&text, c->folder, "replicates.csv", error);
}

/* Test of a measure between two conditions; arrays of two are [first, second], or [from, to] for intervals.
 */
typedef struct test_row {
    const char *measure, *unit, *first, *second, *level;
    bool paired;
    double n[2], mean[2], chance[2], sd[2], difference, difference_interval[2], g, g_interval[2];
    const char *test;
    double p, q, least_p;
} test_row;

#define ROW test_row
#define TWO(column, phrase, ...)                                                                             \
    SF_MEMBER_IS(PAIR, column, phrase, .item_null = "too few replicates have it",                            \
                 .first_name = "first_" #column, .second_name = "second_" #column, __VA_ARGS__)
#define TOO_FEW "too few replicates have it"
static const sf_column_row test_rows[] = {
    SF_MEMBER_IS(TEXT, measure, "what is compared"),
    SF_MEMBER_IS(TEXT, unit, "its unit; empty of a plain number"),
    SF_MEMBER_IS(TEXT, first, "a condition"),
    SF_MEMBER_IS(TEXT, second, "another one"),
    SF_MEMBER_IS(TEXT, level, "value of the second factor at which they are compared",
                 .null = "without --factor"),
    SF_MEMBER_IS(FLAG, paired, "of the replicates that are in both"),
    TWO(n, "replicates that have it, of the first and of the second"),
    TWO(mean, "of them", .null = TOO_FEW),
    TWO(chance,
        "mean of what chance gives of a measure of bursts, which is taken off before all that follows",
        .null = "of other measures"),
    TWO(sd, "standard deviation of them, less chance", .null = TOO_FEW),
    SF_MEMBER_IS(REAL, difference,
                 "mean of the second less that of the first, of what lies beyond chance, within blocks",
                 .null = TOO_FEW),
    SF_MEMBER_IS(PAIR, difference_interval, "95 % confidence interval of it",
                 .null = "so few replicates can have no p of 0.05", .first_name = "low",
                 .second_name = "high"),
    SF_MEMBER_IS(REAL, g, "Hedges' g", .null = TOO_FEW),
    SF_MEMBER_IS(PAIR, g_interval, "95 % confidence interval of it", .null = TOO_FEW, .first_name = "g_low",
                 .second_name = "g_high"),
    SF_MEMBER_IS(TEXT, test, "permutation, mann-whitney or welch"),
    SF_MEMBER_IS(REAL, p, "of this measure alone, of the replicates that have it", .unit = "probability",
                 .null = "not tested"),
    SF_MEMBER_IS(REAL, q, "corrected for all measures asked for, and for all contrasts that are tested",
                 .unit = "probability", .null = "not tested"),
    SF_MEMBER_IS(REAL, least_p, "the least p that so few replicates can have", .unit = "probability",
                 .null = "not tested"),
};
#undef ROW

const sf_table app_compared_tests_table = {
    .name = "tests", .row = "test", .about = "measures that compare tested", SF_TABLE_OF(test_rows)};

/* NULL without a second factor. */
static const char *level_of(const app_groups *groups, size_t condition)
{
    return groups->factor != NULL ? groups->levels[groups->conditions[condition].level] : NULL;
}

static test_row test_of(const app_groups *groups, const app_contrast *contrast, size_t m)
{
    const sf_compared *of = &contrast->told.measures[m];
    const sf_measure_kind *about = sf_measure_about(groups->measures[m]);
    return (test_row){.measure = about->name,
                      .unit = about->unit,
                      .first = groups->conditions[contrast->first].name,
                      .second = groups->conditions[contrast->second].name,
                      .level = level_of(groups, contrast->first),
                      .paired = contrast->paired,
                      .n = {(double)of->n[0], (double)of->n[1]},
                      .mean = {of->mean[0], of->mean[1]},
                      .chance = {of->chance[0], of->chance[1]},
                      .sd = {of->sd[0], of->sd[1]},
                      .difference = of->difference,
                      .difference_interval = {of->low, of->high},
                      .g = of->g,
                      .g_interval = {of->g_low, of->g_high},
                      .test = app_compared_tests[groups->by],
                      .p = of->p,
                      .q = of->q,
                      .least_p = of->least};
}

void app_effect_words(char words[APP_EFFECT_WORDS], const app_comparison *c, sf_factor effect)
{
    const char *first = sf_delimited_name(&c->table, c->grouping.by);
    snprintf(words, APP_EFFECT_WORDS, "%.60s%s%.60s", effect == SF_FACTOR_SECOND ? "" : first,
             effect == SF_FACTOR_BOTH ? " x " : "", effect == SF_FACTOR_FIRST ? "" : c->groups.factor);
}

/* Effect of one factor, or of both together, on a measure. */
typedef struct effect_row {
    const char *measure, *unit, *effect;
    bool within;
    double difference, eta_squared, epsilon_squared, statistic, p, q, least_p;
    uint64_t n, degrees;
} effect_row;

#define ROW effect_row
static const sf_column_row effect_rows[] = {
    SF_MEMBER_IS(TEXT, measure, "what is compared"),
    SF_MEMBER_IS(TEXT, unit, "its unit; empty of a plain number"),
    SF_MEMBER_IS(
        TEXT, effect,
        "what is tested: the column of --by, that of --factor, or both with an x between them: whether the "
        "effect of one depends on the other"),
    SF_MEMBER_IS(FLAG, within, "replicates are compared with themselves, since some have several values"),
    SF_MEMBER_IS(COUNT, n,
                 "values that it is of: a replicate in each condition, or its mean over the other factor"),
    SF_MEMBER_IS(COUNT, degrees, "degrees of freedom: independent differences that the effect is of"),
    SF_MEMBER_IS(
        REAL, difference,
        "the second value's mean less the first's, over the values of the other factor alike, of what lies "
        "beyond chance; of both this difference at the second value of the second factor less that at its "
        "first",
        .null = "not tested, or of more than one degree of freedom"),
    SF_MEMBER_IS(REAL, eta_squared,
                 "partial eta squared: what the effect explains, of itself and what is left",
                 .null = "not tested"),
    SF_MEMBER_IS(
        REAL, epsilon_squared,
        "partial epsilon squared: that less what chance explains, so 0 on average where there is no effect",
        .null = "not tested"),
    SF_MEMBER_IS(REAL, statistic, "Wald's statistic, of one degree of freedom the square of Welch's t",
                 .null = "not tested"),
    SF_MEMBER_IS(REAL, p, "of this measure alone, of the replicates that have it", .unit = "probability",
                 .null = "not tested"),
    SF_MEMBER_IS(REAL, q, "corrected for all measures asked for, and for all effects that are tested",
                 .unit = "probability", .null = "not tested"),
    SF_MEMBER_IS(REAL, least_p, "the least p that any permutation of these values has", .unit = "probability",
                 .null = "not tested"),
};
#undef ROW

const sf_table app_compared_effects_table = {.name = "effects",
                                             .row = "effect",
                                             .about = "effects of two factors on measures",
                                             SF_TABLE_OF(effect_rows)};

/* Effect i, of the first factor on each measure, then of the second and of both; words: room for its name. */
static effect_row effect_of(const app_comparison *c, size_t i, char words[APP_EFFECT_WORDS])
{
    const app_groups *groups = &c->groups;
    const sf_factor effect = (sf_factor)(i / groups->measure_count);
    const size_t m = i % groups->measure_count;
    const sf_factor_effect *of = &groups->factors.effects[effect][m];
    const sf_measure_kind *about = sf_measure_about(groups->measures[m]);
    app_effect_words(words, c, effect);
    return (effect_row){.measure = about->name,
                        .unit = about->unit,
                        .effect = words,
                        .within = groups->factors.within[effect],
                        .n = of->n,
                        .degrees = of->degrees,
                        .difference = of->difference,
                        .eta_squared = of->eta_squared,
                        .epsilon_squared = of->epsilon_squared,
                        .statistic = of->statistic,
                        .p = of->p,
                        .q = of->q,
                        .least_p = of->least};
}

static size_t count_of_effects(const app_groups *groups)
{
    return groups->factor != NULL ? SF_FACTOR_EFFECTS * groups->measure_count : 0;
}

static int write_effects(const app_comparison *c, sf_error *error)
{
    sf_text text = {0};
    app_csv csv = app_csv_start_table(&text, &app_compared_effects_table);
    for (size_t i = 0; i < count_of_effects(&c->groups); i++) {
        char words[APP_EFFECT_WORDS];
        const effect_row row = effect_of(c, i, words);
        app_csv_struct(&csv, &app_compared_effects_table, &row);
    }
    return write_file(&text, c->folder, "effects.csv", error);
}

static int write_tests(const app_comparison *c, sf_error *error)
{
    sf_text text = {0};
    app_csv csv = app_csv_start_table(&text, &app_compared_tests_table);
    for (size_t i = 0; i < c->groups.contrast_count; i++)
        for (size_t m = 0; m < c->groups.measure_count; m++) {
            const test_row row = test_of(&c->groups, &c->groups.contrasts[i], m);
            app_csv_struct(&csv, &app_compared_tests_table, &row);
        }
    return write_file(&text, c->folder, "tests.csv", error);
}

int app_compare_write(const app_comparison *c, sf_error *error)
{
    int status = SF_OK;
    for (int f = 0; f < APP_COMPARED_FILES && status == SF_OK; f++)
        status = write_parts(c, (app_compared_file)f, error);
    if (status == SF_OK) status = write_replicates(c, error);
    if (status == SF_OK) status = write_tests(c, error);
    if (status == SF_OK) status = write_effects(c, error);
    sf_text document = {0}, picture = {0};
    sf_text_printf(&picture, "%s/measures.svg", c->folder);
    if (status == SF_OK)
        status = picture.failed ? sf_fail_memory(error) : app_compare_draw(c, picture.data, error);
    if (status == SF_OK && c->picture != NULL) status = app_compare_draw(c, c->picture, error);
    sf_text_free(&picture);
    if (status == SF_OK) app_compare_json(&document, c);
    return status == SF_OK ? write_file(&document, c->folder, "summary.json", error) : status;
}

/* ---- JSON ---- */

/* A row of the table. */
typedef struct recording_row {
    const app_comparison *compared;
    size_t row;
    const char *path, *part, *status, *error;
    uint64_t wells;
} recording_row;

typedef struct condition_row {
    const app_groups *groups;
    const app_condition *condition;
    const char *name, *level;
    size_t replicates;
    replicate_row *replicate; /* that is read */
} condition_row;

typedef struct contrast_row {
    const app_groups *groups;
    const app_contrast *contrast;
    const char *first, *second, *level;
    uint64_t blocks;
    size_t measures;
    test_row *test; /* that is read */
} contrast_row;

/* The document. */
typedef struct content {
    const app_comparison *compared;
    const char *by, *test, *methods;
    uint64_t failed;
    size_t measures, recordings, conditions, contrasts, effects;
    /* What is read: */
    recording_row *recording;
    condition_row *condition;
    contrast_row *contrast;
    effect_row *effect;
    char *words; /* its name */
} content;

static const char *const status_words[] = {"done", "kept", "failed", NULL};

SF_LENGTH(count_cells)
{
    *length = ((const recording_row *)of)->compared->table.column_count;
    return true;
}

SF_GETTER(get_cell)
{
    const recording_row *r = of;
    value->key = sf_delimited_name(&r->compared->table, item);
    sf_value_set_text(value, sf_delimited_cell(&r->compared->table, r->row, item));
}

SF_GETTER(get_recording)
{
    const content *told = of;
    const app_comparison *c = told->compared;
    const app_compared *result = &c->results[c->files[item]];
    const bool failed = result->status != SF_OK;
    *told->recording = (recording_row){.compared = c,
                                       .row = item,
                                       .path = c->inputs[c->files[item]].path,
                                       .part = result->key[0] != '\0' ? result->key : NULL,
                                       .status = status_words[failed ? 2 : result->kept],
                                       .error = failed ? result->error.text : NULL};
    for (size_t i = 0; i < c->row_count; i++)
        told->recording->wells += c->rows[i].table_row == item;
    sf_value_set_record(value, told->recording, 0);
}

SF_GETTER(get_measure)
{
    sf_value_set_record(value, sf_measure_about((sf_measured)item), 0);
}

SF_GETTER(get_replicate)
{
    const condition_row *c = of;
    *c->replicate = replicate_of(c->groups, c->condition, item);
    sf_value_set_record(value, c->replicate, 0);
}

SF_GETTER(get_condition)
{
    const content *c = of;
    const app_groups *groups = &c->compared->groups;
    c->condition->groups = groups;
    c->condition->condition = &groups->conditions[item];
    c->condition->name = groups->conditions[item].name;
    c->condition->level = level_of(groups, item);
    c->condition->replicates = groups->conditions[item].count;
    sf_value_set_record(value, c->condition, 0);
}

SF_GETTER(get_test)
{
    const contrast_row *c = of;
    *c->test = test_of(c->groups, c->contrast, item);
    sf_value_set_record(value, c->test, 0);
}

SF_GETTER(get_contrast)
{
    const content *c = of;
    const app_groups *groups = &c->compared->groups;
    const app_contrast *contrast = &groups->contrasts[item];
    *c->contrast = (contrast_row){.groups = groups,
                                  .contrast = contrast,
                                  .first = groups->conditions[contrast->first].name,
                                  .second = groups->conditions[contrast->second].name,
                                  .level = level_of(groups, contrast->first),
                                  .blocks = groups->block != NULL && !contrast->paired ? contrast->told.blocks
                                                                                       : SF_NO_COUNT,
                                  .measures = groups->measure_count,
                                  .test = c->contrast->test};
    sf_value_set_record(value, c->contrast, 0);
}

SF_GETTER(get_effect)
{
    const content *c = of;
    *c->effect = effect_of(c->compared, item, c->words);
    sf_value_set_record(value, c->effect, 0);
}

/* A column that is a list of structs, returned by `getter`; the member `number` is their count; `of` is a
 * pointer to ROW. */
#define RECORDS(column, getter, of, number, rows, phrase)                                                    \
    {                                                                                                        \
        .is = SF_WHAT_LIST(RECORD, column, phrase), .get = (getter), SF_ITEMS_LENGTH(of, number),            \
        SF_ROWS_ARE(rows)                                                                                    \
    }
#define WITHOUT_ONE .null = "without one"
#define ROW sf_measure_kind
static const sf_column_row measure_rows[] = {
    SF_MEMBER_IS(TEXT, name, "a column of recordings.csv and replicates.csv"),
    SF_MEMBER_IS(TEXT, unit, "empty of a plain number"),
    SF_MEMBER_IS(TEXT, what, "in plain words"),
};
#undef ROW

#define ROW recording_row
static const sf_column_row recording_rows[] = {
    SF_LIST_BY(ENTRY, "table", get_cell, count_cells, "the row as it stands, by its columns"),
    SF_MEMBER_IS(TEXT, path, "the file"),
    SF_MEMBER_IS(TEXT, part, "its folder in parts: a hash of content and options", .null = "it was not read"),
    SF_MEMBER_IS(TEXT, status, "kept: it was done before", .words = status_words),
    SF_MEMBER_IS(TEXT, error, "why it failed", .null = "it did not"),
    SF_MEMBER_IS(COUNT, wells, "rows that it has in recordings.csv"),
};
#undef ROW

#define ROW condition_row
static const sf_column_row condition_rows[] = {
    SF_MEMBER_IS(TEXT, name, "a value of the column `by`"),
    SF_MEMBER_IS(TEXT, level, "and one of the column `factor`", WITHOUT_ONE),
    SF_INSIDE_IS(COUNT, "wells", condition, app_condition, rows, "rows of recordings.csv"),
    RECORDS("replicates", get_replicate, condition, replicates, replicate_rows,
            "means over their recordings of means over their wells"),
};
#undef ROW

#define ROW contrast_row
#define OF_CONTRAST(kind, column, of, ...) SF_INSIDE_IS(kind, column, contrast, app_contrast, of, __VA_ARGS__)
static const sf_column_row contrast_rows[] = {
    SF_MEMBER_IS(TEXT, first, "a condition"),
    SF_MEMBER_IS(TEXT, second, "another"),
    SF_MEMBER_IS(TEXT, level, "value of the second factor that both have", WITHOUT_ONE),
    OF_CONTRAST(FLAG, "paired", paired, "of the replicates that are in both"),
    OF_CONTRAST(
        COUNT, "left_out", left_out,
        "replicates that are in one alone, where it is paired, or in a block without any of the other"),
    SF_MEMBER_IS(COUNT, blocks, "blocks with replicates of both, which are dealt within",
                 .null = "it is paired, or there are none"),
    OF_CONTRAST(COUNT, "permutations", told.dealings,
                "that q is of, and p where no replicate lacks the measure; 0 by Welch's test"),
    OF_CONTRAST(FLAG, "all_permutations", told.exact, "these are all that there are"),
    SF_STRUCTS_BY("measures", get_test, groups, measures, &app_compared_tests_table, "those asked for"),
};
#undef ROW

#define ROW content
#define COMPARED(column, of, ...) SF_INSIDE_IS(TEXT, column, compared, app_comparison, of, __VA_ARGS__)
static const sf_column_row document_rows[] = {
    COMPARED("table", table_path, "the file"),
    COMPARED("folder", folder, "--out"),
    SF_MEMBER_IS(TEXT, by, "the column whose values are compared"),
    COMPARED("factor", groups.factor, "the column of the second factor", .null = "there is none"),
    COMPARED("replicate", groups.replicate, "the column that replicates are of", .null = "each file is one"),
    COMPARED("block", groups.block, "the column within whose values replicates are dealt",
             .null = "all together"),
    SF_MEMBER_IS(TEXT, test, "--test", .words = app_compared_tests),
    SF_MEMBER_IS(COUNT, failed, "files that could not be analysed, and are left out"),
    RECORDS("measures", get_measure, compared, measures, measure_rows, "all that there are"),
    RECORDS("recordings", get_recording, compared, recordings, recording_rows, "rows of the table"),
    RECORDS("conditions", get_condition, compared, conditions, condition_rows, "in the order of the table"),
    RECORDS("contrasts", get_contrast, compared, contrasts, contrast_rows,
            "pairs of conditions, of two factors those at each value of the second one"),
    SF_STRUCTS_BY(
        "effects", get_effect, compared, effects, &app_compared_effects_table,
        "of the first factor, the second and both on each measure asked for; empty without a second "
        "factor"),
    SF_MEMBER_IS(TEXT, methods, "what was done, in sentences for a paper"),
};
#undef ROW

const sf_table app_compare_document = {
    .name = "compare", .about = "recordings compared", SF_TABLE_OF(document_rows)};

/* Whether one of the measures from `first` to `last` is tested. */
static bool is_tested(const app_groups *groups, sf_measured first, sf_measured last)
{
    for (size_t m = 0; m < groups->measure_count; m++)
        if (groups->measures[m] >= first && groups->measures[m] <= last) return true;
    return false;
}

/* What responses are. */
static void put_response_methods(sf_text *out, const sf_response_options *as)
{
    sf_text_printf(
        out,
        "Spikes from %g to %g ms after each stimulus ('%s') were held against %" PRIu64
        " window%s of the same length before it; a unit responds where permutations of these "
        "windows within trials give q of %g or less (%" PRIu64
        " permutations, maximum statistic over units). From reliability the share of windows before "
        "with a spike was taken. ",
        (double)as->from_ns * 1e-6, (double)as->to_ns * 1e-6, as->marker, as->baseline,
        as->baseline == 1 ? "" : "s", SF_SIGNIFICANT_Q, as->permutations);
}

static void put_sequence_methods(sf_text *out, const sf_sequence_options *by)
{
    sf_text_printf(out,
                   "The order of units in a network burst was that by %s, of units that fire in %.3g of the "
                   "bursts or more; a unit keeps its place with a false-discovery rate of %g, beside its own "
                   "train begun anywhere in each burst. ",
                   by->order_by == SF_ORDER_FIRST_LAST    ? "the first and the last spike of each together"
                   : by->order_by == SF_ORDER_FIRST_SPIKE ? "the first spike of each"
                                                          : "the rate peak of each",
                   by->backbone, by->alpha);
}

/* The sentence of a paper. */
static void put_methods(sf_text *out, const app_comparison *c)
{
    const app_groups *groups = &c->groups;
    sf_text_printf(
        out, "Values were averaged over wells, then over recordings of each %s, which was the replicate. ",
        groups->replicate != NULL ? groups->replicate : "file");
    if (is_tested(groups, SF_MEASURE_RESPONDING, SF_MEASURE_LATENCY))
        put_response_methods(out, &c->how.response);
    if (is_tested(groups, SF_MEASURE_SIMILARITY, SF_MEASURE_PLACED))
        put_sequence_methods(out, &c->how.sequence);
    if (is_tested(groups, SF_MEASURE_BURST_RATE, SF_MEASURE_NETWORK_UNITS))
        sf_text_printf(
            out,
            "From measures of bursts what chance gives was taken: of bursts of units the mean of %d sets of "
            "Poisson trains with each unit's spikes in every 10 s and its shortest interval, of network "
            "bursts "
            "that of %d sets of its trains, each shifted as a whole. ",
            SF_CHANCE_ROUNDS, SF_CHANCE_ROUNDS);
    if (groups->by == SF_COMPARED_WELCH)
        sf_text_printf(out,
                       "Groups were compared by Welch's t-test, or the paired t-test where they shared "
                       "replicates, corrected over %zu measures by Holm's method",
                       groups->measure_count);
    else
        sf_text_printf(
            out,
            "Groups were compared by two-sided permutation tests of %s, or by the signs of differences where "
            "they shared replicates (all permutations, or %" PRIu64
            " random ones where there were more), corrected over %zu measures by the maximum statistic "
            "(Westfall and Young 1993)",
            groups->by == SF_COMPARED_RANKS ? "the difference of mean ranks"
                                            : "Welch's statistic (Janssen 1997; Chung and Romano 2013)",
            c->grouping.permutations, groups->measure_count);
    if (groups->block != NULL) sf_text_printf(out, ", within each %s", groups->block);
    if (groups->factor != NULL) sf_text_printf(out, ", at each %s", groups->factor);
    sf_text_printf(out, groups->tested > 1 ? ", and over %zu comparisons by Bonferroni's method. " : ". ",
                   groups->tested);
    if (groups->factor != NULL)
        sf_text_printf(
            out,
            "Effects of %s, of %s and their interaction were tested by %" PRIu64
            " permutations of what the model without each leaves (Freedman and Lane 1983), of Wald's "
            "statistic with the covariance HC2, corrected over %zu measures by the maximum statistic and "
            "over %zu effects by Bonferroni's method; epsilon squared is partial. ",
            sf_delimited_name(&c->table, c->grouping.by), groups->factor, c->grouping.permutations,
            groups->measure_count, groups->effects_tested);
    sf_text_printf(out, "Effect sizes are Hedges' g; intervals are of 95 %%%s. (synfire %s)",
                   groups->by == SF_COMPARED_WELCH
                       ? ""
                       : ", of differences those that the permutations of values do "
                         "not reject",
                   sf_version());
}

void app_compare_json(sf_text *text, const app_comparison *c)
{
    sf_text methods = {0};
    put_methods(&methods, c);
    content of = {.compared = c,
                  .by = sf_delimited_name(&c->table, c->grouping.by),
                  .test = app_compared_tests[c->groups.by],
                  .methods = methods.data,
                  .measures = SF_MEASURES,
                  .recordings = c->table.row_count,
                  .conditions = c->groups.condition_count,
                  .contrasts = c->groups.contrast_count,
                  .effects = count_of_effects(&c->groups),
                  .recording = &(recording_row){0},
                  .condition = &(condition_row){.replicate = &(replicate_row){0}},
                  .contrast = &(contrast_row){.test = &(test_row){0}},
                  .effect = &(effect_row){0},
                  .words = (char[APP_EFFECT_WORDS]){0}};
    for (size_t i = 0; i < c->input_count; i++)
        of.failed += c->results[i].status != SF_OK;
    app_document_json(text, c->call, &app_compare_document, &of);
    text->failed = text->failed || methods.failed;
    sf_text_free(&methods);
}

/* ---- for people ---- */

static void cell(app_table *table, const char *format, double value)
{
    if (isfinite(value))
        app_table_cell(table, format, value);
    else
        app_table_cell(table, "-");
}

static void print_contrast(sf_text *text, const app_groups *groups, const app_contrast *contrast, bool wide)
{
    const app_condition *first = &groups->conditions[contrast->first];
    const app_condition *second = &groups->conditions[contrast->second];
    const char *level = level_of(groups, contrast->first);
    app_table table = {0};
    static const char *const heads[] = {"measure", "n", NULL,        "n", NULL, "difference",
                                        "95 %",    "g", "95 % of g", "p", "q"};
    static const char *const drop[] = {"p", "95 % of g", "n", "95 %", NULL};
    sf_text_printf(text, "\n%s and %s%s%s%s\n", first->name, second->name, level != NULL ? " at " : "",
                   level != NULL ? level : "", contrast->paired ? ", in pairs" : "");
    for (size_t h = 0; h < sizeof heads / sizeof heads[0]; h++)
        app_table_cell(&table, "%s", h == 2 ? first->name : h == 4 ? second->name : heads[h]);
    for (size_t m = 0; m < groups->measure_count; m++) {
        const sf_compared *of = &contrast->told.measures[m];
        const sf_measure_kind *about = sf_measure_about(groups->measures[m]);
        app_table_cell(&table,
                       about->unit[0] != '\0' && strcmp(about->unit, "Hz") != 0 &&
                               strcmp(about->unit, "s") != 0
                           ? "%s %s"
                           : "%s",
                       about->name, about->unit);
        for (int g = 0; g < 2; g++) {
            app_table_cell(&table, "%zu", of->n[g]);
            if (isfinite(of->chance[g]))
                app_table_cell(&table, "%.3g [%.3g]", of->mean[g], of->chance[g]);
            else
                cell(&table, "%.3g", of->mean[g]);
        }
        cell(&table, "%+.3g", of->difference);
        app_table_cell(&table, isfinite(of->low) ? "%+.3g..%+.3g" : "-", of->low, of->high);
        cell(&table, "%+.2f", of->g);
        app_table_cell(&table, isfinite(of->g_low) ? "%+.2f..%+.2f" : "-", of->g_low, of->g_high);
        cell(&table, "%.2g", of->p);
        cell(&table, "%.2g", of->q);
    }
    app_table_fit(&table, text, sizeof heads / sizeof heads[0], drop, wide);
}

/* A line a measure: how great each effect is and its q. */
static void print_effects(sf_text *text, const app_comparison *c)
{
    const app_groups *groups = &c->groups;
    static const char *const drop[] = {NULL};
    app_table table = {0};
    char words[SF_FACTOR_EFFECTS][APP_EFFECT_WORDS];
    app_table_cell(&table, "measure");
    for (int e = 0; e < SF_FACTOR_EFFECTS; e++) {
        app_effect_words(words[e], c, (sf_factor)e);
        app_table_cell(&table, "%s", words[e]);
        app_table_cell(&table, "q");
    }
    for (size_t m = 0; m < groups->measure_count; m++) {
        app_table_cell(&table, "%s", sf_measure_about(groups->measures[m])->name);
        for (int e = 0; e < SF_FACTOR_EFFECTS; e++) {
            cell(&table, "%.2f", groups->factors.effects[e][m].epsilon_squared);
            cell(&table, "%.2g", groups->factors.effects[e][m].q);
        }
    }
    sf_text_printf(text,
                   "\nepsilon squared, the share of what varies that %s, %s, and %s explain, 0 by chance\n",
                   words[0], words[1], words[2]);
    app_table_fit(&table, text, 1 + 2 * SF_FACTOR_EFFECTS, drop, c->call->verbose);
}

void app_compare_print(sf_text *text, const app_comparison *c)
{
    size_t done = 0, kept = 0;
    for (size_t i = 0; i < c->input_count; i++) {
        done += c->results[i].status == SF_OK;
        kept += c->results[i].status == SF_OK && c->results[i].kept;
    }
    sf_text_printf(text, "%s: %zu recordings", c->table_path, done);
    if (kept > 0) sf_text_printf(text, ", %zu of them analysed before", kept);
    if (c->row_count > done) sf_text_printf(text, ", %zu rows with their wells", c->row_count);
    sf_text_printf(text, "; a replicate is %s %s", c->groups.replicate != NULL ? "one" : "each",
                   c->groups.replicate != NULL ? c->groups.replicate : "file");
    if (c->groups.block != NULL)
        sf_text_printf(text, " of a %s, of which there are %zu", c->groups.block, c->groups.block_count);
    sf_text_append(text, "\n", 1);
    for (size_t k = 0; k < c->groups.condition_count; k++)
        sf_text_printf(text, "%s %s%s%s%s%s: %zu replicate%s, %zu row%s\n",
                       sf_delimited_name(&c->table, c->grouping.by), c->groups.conditions[k].name,
                       c->groups.factor != NULL ? ", " : "", c->groups.factor != NULL ? c->groups.factor : "",
                       c->groups.factor != NULL ? " " : "", c->groups.levels[c->groups.conditions[k].level],
                       c->groups.conditions[k].count, c->groups.conditions[k].count == 1 ? "" : "s",
                       c->groups.conditions[k].rows, c->groups.conditions[k].rows == 1 ? "" : "s");
    for (size_t i = 0; i < c->groups.contrast_count; i++)
        print_contrast(text, &c->groups, &c->groups.contrasts[i], c->call->verbose);
    if (c->groups.factor != NULL) print_effects(text, c);
    if (is_tested(&c->groups, SF_MEASURE_BURST_RATE, SF_MEASURE_NETWORK_UNITS))
        sf_text_printf(
            text, "\n[in brackets] what chance gives at these rates: the difference, and all behind it, is "
                  "of what lies beyond\n");
    app_doubts_print(text, c->call);
    sf_text_append(text, "\n", 1);
    put_methods(text, c);
    sf_text_printf(text, "\nThe tables, and measures.svg, are in %s", c->folder);
}
