/* SPDX-License-Identifier: Apache-2.0 */
/* synfire compare: groups of recordings. */
#include "app/compare.h"
#include "app/connect.h"
#include "app/load.h"
#include "app/responses.h"
#include "app/significance.h"

#include "app/parse.h"
#include "core/error.h"
#include "core/file.h"
#include "core/memory.h"
#include "core/row_macros.h"
#include "core/thread.h"
#include "draw/scene.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const app_option options[] = {
    {"out", "FOLDER", "where the tables go, and what lets a second run go on (must be given)"},
    {"by", "COLUMN", "the column of the table whose values are compared (default condition)"},
    {"factor", "COLUMN",
     "a second factor, such as age: its effect, that of --by and whether one depends on the other are "
     "tested, and "
     "conditions are compared at each of its values"},
    {"replicate", "COLUMN",
     "what an independent observation is; recordings and wells of one are averaged (default animal, culture "
     "or "
     "subject, the first that the table has, else each file)"},
    {"block", "COLUMN",
     "deal replicates within the values of this column alone, such as batch or litter, and compare within "
     "them "
     "(default: all together)"},
    {.name = "control"},
    {"measures", "LIST", "only these, and q corrects for these alone (default all), as rate_hz,burst_rate"},
    {.name = "test"},
    {.name = "permutations"},
    {.name = "active"},
    {.name = "bursts"},
    {.name = "network-share"},
    {.name = "burst-method"},
    {.name = "burst-spikes"},
    {.name = "burst-surprise"},
    {.name = "network-method"},
    {.name = "network-spikes"},
    {.name = "network-within"},
    {.name = "avalanche-bin"},
    {.name = "branching-bin"},
    {.name = "lags"},
    {.name = "marker"},
    {.name = "response"},
    {.name = "baseline"},
    {.name = "without"},
    {.name = "sequences"},
    {.name = "order-by"},
    {.name = "backbone"},
    {.name = "least-spikes"},
    {.name = "window"},
    {.name = "sequence-surrogates"},
    {"max-size", NULL, "units of the longest chains to look for (3 to 16, default 4)"},
    {"plot", "FILE", "the picture of the measures for print, too, by the ending as SVG, PDF or PNG"},
    {"shared-scale", NULL,
     "the picture has all measures on one scale, as multiples of the mean of the first condition"},
    {.name = "jobs"},
    {NULL, NULL, NULL},
};

/* ---- what is asked ---- */

static int read_bursts(void *comparing, const char *text, sf_error *error)
{
    sf_burst_rule *rule = &((app_comparing *)comparing)->activity.bursts;
    int64_t *const times[] = {&rule->begin_ns, &rule->within_ns, &rule->apart_ns, &rule->least_ns};
    char *copy = sf_copy_string(text), *rest = copy;
    if (copy == NULL) return sf_fail_memory(error);
    bool right = true;
    for (size_t i = 0; i < 4 && right; i++)
        right = rest != NULL && sf_parse_scaled(sf_text_field(&rest, ','), 6, times[i]) && *times[i] >= 0;
    right = right && rest != NULL && sf_parse_uint(sf_text_field(&rest, ','), 1000000, &rule->least_spikes) &&
            rest == NULL && rule->least_spikes >= 2 && rule->begin_ns > 0 &&
            rule->begin_ns <= rule->within_ns;
    sf_free(copy);
    return right ? SF_OK
                 : sf_fail(error, SF_USAGE, NULL,
                           "found '%s', expected A,B,C,D,N in ms and spikes, A no more than B and N at least "
                           "2, as 170,300,200,10,3",
                           text);
}

static const char *const may_lack[] = {"graph", "chains", "none", NULL}; /* as app_part */
static const app_comparing usual = {.seed = 1, .sequence = {.surrogates = 999}};

#define ROW app_comparing
static const sf_key comparing_rows[] = {
    FORM("bursts", read_bursts, .argument = "A,B,C,D,N",
         .what = "bursts of a unit: intervals of at most A ms begin one and of at most B go on, less than C "
                 "apart are one, none is shorter than D or has fewer than N spikes (default "
                 "170,300,200,10,3)"),
    SET("without", without, may_lack, .argument = "LIST", .zero = "none",
        .what = "leave out graph, chains or both (graph,chains): these take most of the time"),
    SWITCH("sequences", sequences,
           .what = "the order of units within network bursts, too: sequences.csv and two measures"),
    COUNT(
        "sequence_surrogates", sequence.surrogates, 19, 1000000, .argument = "N",
        .what =
            "drawings of each null of --sequences, at most: a unit of hundreds keeps its place by more than "
            "999"),
    {SF_ROW_SEED, AT(seed), .what = "of what is drawn at random"},
    {0},
};
#undef ROW

static const sf_key_table comparing_table = SF_KEY_TABLE(comparing_rows, usual);

/* Lists the columns of all files, with a comma on both sides of each. */
static void all_columns(sf_text *text)
{
    for (size_t f = 0; f < APP_COMPARED_FILES; f++) {
        sf_text_printf(text, ",");
        app_compared_columns(text, (app_compared_file)f);
        sf_text_printf(text, ",");
    }
}

/* Hashes what a single recording's result depends on; leaves out options that only affect the comparison, and
 * the number of cores. */
static int hash_options(app_comparing *how, sf_error *error)
{
    static const char *const others[] = {"out",      "by",   "factor", "replicate",    "block",   "control",
                                         "measures", "test", "jobs",   "permutations", "threads", "quiet",
                                         "verbose",  "json", "plot",   "shared-scale", NULL};
    const app_call *call = how->call;
    int status = SF_OK;
    uint64_t hash = sf_hash_bytes(SF_HASH_START, sf_version(), strlen(sf_version()));
    sf_text columns = {0};
    all_columns(&columns);
    if (columns.failed)
        status = sf_fail_memory(error);
    else /* parts of another layout are others */
        hash = sf_hash_bytes(hash, columns.data, columns.length);
    sf_text_free(&columns);
    for (size_t i = 0; status == SF_OK && i < call->given_count; i++) {
        const char *const *other = others, *name = call->given[i].name, *value = call->given[i].value;
        while (*other != NULL && strcmp(*other, name) != 0)
            other++;
        if (*other != NULL) continue;
        hash = sf_hash_bytes(hash, name, strlen(name) + 1);
        if (value == NULL) continue;
        hash = sf_hash_bytes(hash, value, strlen(value) + 1);
        if (app_is_file(value)) /* whatever is in it now */
            status = app_hash_input(&hash, value, error);
    }
    how->options = hash;
    return status;
}

/* The options as given, and those that are not but are meant: a test, what passes it, and a share of the
 * cores. */
static int add_defaults(app_call *call, const app_call *given, size_t jobs, sf_error *error)
{
    static char threads[16];
    size_t cores = (size_t)sysconf(_SC_NPROCESSORS_ONLN);
    *call = *given;
    call->given = sf_alloc(given->given_count + 3, sizeof *call->given);
    if (call->given == NULL) return sf_fail_memory(error);
    if (given->given_count > 0) memcpy(call->given, given->given, given->given_count * sizeof *call->given);
    snprintf(threads, sizeof threads, "%zu", jobs < cores ? cores / jobs : 1);
    if (!app_has(given, "significance"))
        call->given[call->given_count++] = (app_given){"significance", "segment-shift"};
    if (!app_has(given, "max-p") && !app_has(given, "max-q"))
        call->given[call->given_count++] = (app_given){"max-q", "0.05"};
    if (!app_has(given, "threads")) call->given[call->given_count++] = (app_given){"threads", threads};
    return SF_OK;
}

/* Finds once, before any analysis, what the analysis of every recording would refuse. */
static int check_options(const app_call *call, sf_error *error)
{
    const app_call silent = app_silenced(call);
    app_mining mining;
    app_test test;
    int metric = 0;
    int status = app_word(call, "metric", &metric, error);
    if (status == SF_OK) status = app_mining_parse(&mining, &silent, error);
    if (status == SF_OK && mining.options.max_size < 3)
        status = sf_fail(error, SF_USAGE, "--max-size", "found '2', expected a whole number from 3 to %d",
                         SF_EPISODE_MAX_SIZE);
    if (status == SF_OK) status = app_test_parse(&test, &silent, error);
    if (status == SF_OK && test.options.kind == SF_SIGNIFICANCE_ANALYTIC)
        status =
            sf_fail(error, SF_USAGE, "--significance",
                    "the analytic test gives no q, and an edge or a chain is what has one of 0.05 or less");
    return status;
}

static int parse(app_comparison *c, app_call *call, size_t *jobs, sf_error *error)
{
    app_jobs_options asked = {0};
    c->folder = app_value(c->call, "out", NULL);
    c->how = usual;
    c->how.activity = SF_ACTIVITY_OPTIONS;
    c->how.criticality = SF_CRITICALITY_OPTIONS;
    int status = c->folder == NULL
                     ? sf_fail(error, SF_USAGE, "--out", "is missing: expected a folder for the tables")
                     : app_options_read(c->call, &app_jobs_table, &asked, error);
    *jobs = asked.at_once > 0 ? asked.at_once : sf_thread_cores();
    c->picture = app_value(c->call, "plot", NULL);
    c->shared_scale = app_has(c->call, "shared-scale");
    if (status == SF_OK && c->picture != NULL) status = sf_scene_check_path(c->picture, error);
    if (status == SF_OK) status = app_options_read(c->call, &sf_activity_table, &c->how.activity, error);
    if (status == SF_OK) status = app_options_read(c->call, &comparing_table, &c->how, error);
    if (status == SF_OK)
        status = app_options_read(c->call, &sf_criticality_options_table, &c->how.criticality, error);
    c->how.criticality.rounds = 0; /* no test of a power law is told */
    if (status == SF_OK) status = app_responses_parse(&c->how.response, c->call, error);
    if (status == SF_OK && c->how.response.marker == NULL)
        status = app_refuse(c->call, (const char *const[]){"response", "baseline", "around", "bin", NULL},
                            "goes with --marker", error);
    const uint64_t surrogates = c->how.sequence.surrogates; /* --surrogates is of chains and edges */
    c->how.sequence = SF_SEQUENCE_OPTIONS;
    if (status == SF_OK && c->how.sequences)
        status = app_options_read(c->call, &sf_sequence_table, &c->how.sequence, error);
    else if (status == SF_OK)
        status = app_refuse(c->call,
                            (const char *const[]){"order-by", "backbone", "least-spikes", "window",
                                                  "sequence-surrogates", NULL},
                            "goes with --sequences", error);
    c->how.sequence.surrogates = surrogates;
    c->how.response.permutations = SF_RESPONSE_OPTIONS.permutations; /* --permutations is of groups */
    if (status == SF_OK) status = add_defaults(call, c->call, *jobs, error);
    c->how.call = call;
    if (status == SF_OK) status = check_options(call, error);
    return status == SF_OK ? hash_options(&c->how, error) : status;
}

/* ---- the table ---- */

/* Names that are columns of the results already. */
static int check_columns(const app_comparison *c, sf_error *error)
{
    sf_text columns = {0};
    all_columns(&columns);
    int status = columns.failed ? sf_fail_memory(error) : SF_OK;
    for (size_t column = 0; column < c->table.column_count && status == SF_OK; column++) {
        const char *name = sf_delimited_name(&c->table, column);
        sf_text cell = {0};
        sf_text_printf(&cell, ",%s,", name);
        if (cell.failed)
            status = sf_fail_memory(error);
        else if (strcmp(name, "well") != 0 && strchr(name, ',') == NULL &&
                 strstr(columns.data, cell.data) != NULL)
            status = sf_fail(error, SF_DATA, c->table_path,
                             "column '%s' has the name of a column of the results: give it another", name);
        sf_text_free(&cell);
    }
    sf_text_free(&columns);
    return status;
}

static void input_free(app_compared_input *input)
{
    sf_free(input->path);
    sf_free(input->positions);
}

/* A path in the table: relative paths start at the table's folder. */
static char *path_of(const char *table_path, const char *file)
{
    const char *slash = strrchr(table_path, '/');
    sf_text path = {0};
    if (file[0] != '/' && slash != NULL) sf_text_append(&path, table_path, (size_t)(slash - table_path) + 1);
    sf_text_append(&path, file, strlen(file));
    char *copy = path.failed ? NULL : sf_copy_string(path.data);
    sf_text_free(&path);
    return copy;
}

/* The text of a row in a column; NULL if the column does not exist, or the cell is empty. */
static const char *said_in(const app_comparison *c, size_t row, const char *column)
{
    size_t number = sf_delimited_column(&c->table, column);
    const char *said = number != SIZE_MAX ? sf_delimited_cell(&c->table, row, number) : "";
    return said[0] != '\0' ? said : NULL;
}

static bool is_same(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* Several rows, one per well, may name the same file, which is added once. */
static int add_input(app_comparison *c, size_t row, const char *file, sf_error *error)
{
    const char *positions = said_in(c, row, "positions");
    app_compared_input *input = &c->inputs[c->input_count];
    *input = (app_compared_input){path_of(c->table_path, file), said_in(c, row, "recorded"),
                                  positions != NULL ? path_of(c->table_path, positions) : NULL};
    size_t i = 0;
    if (input->path == NULL || (positions != NULL && input->positions == NULL)) {
        input_free(input);
        return sf_fail_memory(error);
    }
    while (i < c->input_count &&
           !(is_same(c->inputs[i].path, input->path) && is_same(c->inputs[i].recorded, input->recorded) &&
             is_same(c->inputs[i].positions, input->positions)))
        i++;
    c->files[row] = i;
    if (i < c->input_count)
        input_free(input);
    else
        c->input_count++;
    return SF_OK;
}

static int list_files(app_comparison *c, sf_error *error)
{
    size_t file = sf_delimited_column(&c->table, "file");
    if (file == SIZE_MAX)
        return sf_fail(error, SF_DATA, c->table_path, "has no column 'file': its first line must name one");
    if (c->table.row_count == 0)
        return sf_fail(error, SF_DATA, c->table_path, "has no rows: expected a recording a line");
    c->files = sf_alloc(c->table.row_count, sizeof *c->files);
    c->inputs = sf_alloc(c->table.row_count, sizeof *c->inputs);
    c->results = sf_alloc(c->table.row_count, sizeof *c->results);
    if (c->files == NULL || c->inputs == NULL || c->results == NULL) return sf_fail_memory(error);
    for (size_t row = 0; row < c->table.row_count; row++) {
        char place[256];
        snprintf(place, sizeof place, "%.200s:%zu", c->table_path, sf_delimited_line(&c->table, row));
        if (sf_delimited_cell(&c->table, row, file)[0] == '\0')
            return sf_fail(error, SF_DATA, place, "names no file");
        const size_t columns[] = {c->grouping.by, c->grouping.factor, c->grouping.block};
        for (size_t k = 0; k < sizeof columns / sizeof *columns; k++)
            if (columns[k] != SIZE_MAX && sf_delimited_cell(&c->table, row, columns[k])[0] == '\0')
                return sf_fail(error, SF_DATA, place, "has nothing in the column '%s'",
                               sf_delimited_name(&c->table, columns[k]));
        int status = add_input(c, row, sf_delimited_cell(&c->table, row, file), error);
        if (status != SF_OK) return status;
    }
    return SF_OK;
}

static int read_table(app_comparison *c, sf_error *error)
{
    sf_text text = {0};
    int status = sf_file_read(&text, c->table_path, error);
    if (status == SF_OK) status = sf_delimited_parse(&c->table, text.data, text.length, c->table_path, error);
    sf_text_free(&text);
    if (status == SF_OK) status = app_grouping_parse(&c->grouping, &c->how, c->call, &c->table, error);
    if (status == SF_OK) status = list_files(c, error);
    return status == SF_OK ? check_columns(c, error) : status;
}

/* ---- what was found ---- */

static double number_in(const sf_delimited *part, size_t row, const char *column)
{
    double value;
    return sf_parse_real(sf_delimited_cell(part, row, sf_delimited_column(part, column)), &value) ? value
                                                                                                  : NAN;
}

/* If a row lacks a measure it must lack its chance value, too, or the two means would be over different rows.
 */
static void take_value(app_compared_row *row, const sf_delimited *part, size_t i, sf_measured measure)
{
    char column[64];
    snprintf(column, sizeof column, "%s_chance", sf_measure_about(measure)->name);
    row->values[measure] = number_in(part, i, sf_measure_about(measure)->name);
    row->chance[measure] =
        sf_measure_has_chance(measure) && !isnan(row->values[measure]) ? number_in(part, i, column) : NAN;
}

/* Rows of the table may each name a well, of those that a recording has. */
static int take_rows(app_comparison *c, size_t table_row, const sf_delimited *part, sf_error *error)
{
    size_t well = sf_delimited_column(&c->table, "well"), taken = 0;
    const char *wanted = well != SIZE_MAX ? sf_delimited_cell(&c->table, table_row, well) : "";
    app_compared_row *rows = sf_resize(c->rows, c->row_count + part->row_count, sizeof *rows);
    if (rows == NULL) return sf_fail_memory(error);
    c->rows = rows;
    for (size_t i = 0; i < part->row_count; i++) {
        const char *name = sf_delimited_cell(part, i, 0);
        if (wanted[0] != '\0' && strcmp(wanted, name) != 0) continue;
        app_compared_row *row = &rows[c->row_count];
        *row = (app_compared_row){.table_row = table_row,
                                  .file = c->files[table_row],
                                  .well = sf_copy_string(name),
                                  .duration_s = number_in(part, i, "duration_s"),
                                  .declared = number_in(part, i, "declared") > 0};
        if (row->well == NULL) return sf_fail_memory(error);
        for (int m = 0; m < SF_MEASURES; m++)
            take_value(row, part, i, (sf_measured)m);
        c->row_count++;
        taken++;
    }
    if (taken > 0) return SF_OK;
    char place[256];
    snprintf(place, sizeof place, "%.200s:%zu", c->table_path, sf_delimited_line(&c->table, table_row));
    return sf_fail(error, SF_DATA, place, "there is no well '%s' in %s, whose first is '%s'", wanted,
                   c->inputs[c->files[table_row]].path,
                   part->row_count > 0 ? sf_delimited_cell(part, 0, 0) : "");
}

static int collect(app_comparison *c, sf_error *error)
{
    int status = SF_OK;
    for (size_t row = 0; row < c->table.row_count && status == SF_OK; row++) {
        const app_compared *result = &c->results[c->files[row]];
        sf_text path = {0}, text = {0};
        sf_delimited part = {0};
        if (result->status != SF_OK) continue;
        sf_text_printf(&path, "%s/parts/%s/%s", c->folder, result->key, app_compared_names[0]);
        status = path.failed ? sf_fail_memory(error) : sf_file_read(&text, path.data, error);
        if (status == SF_OK) status = sf_delimited_parse(&part, text.data, text.length, path.data, error);
        for (int m = 0; m < SF_MEASURES && status == SF_OK; m++)
            if (sf_delimited_column(&part, sf_measure_about((sf_measured)m)->name) == SIZE_MAX ||
                sf_delimited_column(&part, "duration_s") == SIZE_MAX)
                status = sf_fail(error, SF_DATA, path.data, "is damaged: remove its folder and run again");
        if (status == SF_OK) status = take_rows(c, row, &part, error);
        sf_delimited_free(&part);
        sf_text_free(&text);
        sf_text_free(&path);
    }
    return status;
}

static size_t count_failed(const app_comparison *c)
{
    size_t failed = 0;
    for (size_t i = 0; i < c->input_count; i++)
        failed += c->results[i].status != SF_OK;
    return failed;
}

/* ---- what may mislead ---- */

#define ALIKE 1.2 /* recordings whose lengths differ by less are as long as each other */

static void warn_of_lengths(const app_comparison *c)
{
    double least = INFINITY, most = 0;
    for (size_t i = 0; i < c->row_count; i++) {
        least = fmin(least, c->rows[i].duration_s);
        most = fmax(most, c->rows[i].duration_s);
    }
    if (most > ALIKE * least && (c->how.without != (APP_PART_GRAPH | APP_PART_CHAINS)))
        app_doubt(
            c->call,
            "recordings last from %.4g to %.4g s, and of longer ones more edges and chains are found: --from "
            "+0 --to +%.4g takes as much of each",
            least, most, floor(least));
}

/* Rates are over the recorded time; adds a note for recordings whose duration nothing states. */
static void warn_of_undeclared(const app_comparison *c)
{
    size_t undeclared = 0;
    for (size_t i = 0; i < c->row_count; i++)
        undeclared += !c->rows[i].declared;
    if (undeclared > 0)
        app_warn(
            c->call,
            "%zu of %zu rows do not say how long was recorded: their rates are from first to last spike of "
            "the file; --recorded A:B or a column `recorded` says it",
            undeclared, c->row_count);
}

#define FAST_HZ 1.0 /* of units whose Poisson trains have bursts */

/* Bursts of fast units are chance for the most part, which the tests are not of. */
static void warn_of_rates(const app_comparison *c)
{
    double rate = 0, share = NAN, by_chance = NAN;
    for (size_t i = 0; i < c->row_count; i++)
        if (c->rows[i].values[SF_MEASURE_RATE] > rate) {
            rate = c->rows[i].values[SF_MEASURE_RATE];
            share = c->rows[i].values[SF_MEASURE_BURST_SHARE];
            by_chance = c->rows[i].chance[SF_MEASURE_BURST_SHARE];
        }
    if (rate >= FAST_HZ)
        app_doubt(c->call,
                  "units fire at up to %.3g Hz, and from %g Hz on Poisson trains have bursts too: where %.2g "
                  "of the "
                  "spikes lie in bursts, %.2g do by chance. Tests are of what lies beyond chance",
                  rate, FAST_HZ, share, by_chance);
}

static void warn_of_groups(const app_comparison *c)
{
    for (size_t i = 0; i < c->groups.contrast_count; i++) {
        const app_contrast *contrast = &c->groups.contrasts[i];
        char first[APP_CONDITION_WORDS], second[APP_CONDITION_WORDS];
        double least = INFINITY;
        app_condition_words(first, &c->groups, contrast->first);
        app_condition_words(second, &c->groups, contrast->second);
        if (contrast->paired)
            app_warn(
                c->call,
                "%s and %s have replicates in common, and are compared in pairs%s: where they are not the "
                "same, give them different names",
                first, second, contrast->left_out > 0 ? ", others left out" : "");
        else if (contrast->left_out > 0)
            app_warn(c->call, "%s and %s: %zu replicates are left out, of a %s without any of the other",
                     first, second, contrast->left_out, c->groups.block);
        for (size_t m = 0; m < c->groups.measure_count; m++)
            least = fmin(least, contrast->told.measures[m].least); /* not NaN */
        if (isfinite(least) && least * (double)c->groups.tested > 0.05)
            app_doubt(
                c->call,
                "%s and %s: with so few replicates no permutation gives a p below %.2g, q not below %.2g",
                first, second, least, fmin(1, least * (double)c->groups.tested));
    }
}

/* Warns of effects of two factors for which no measure was tested, or none could be significant. */
static void warn_of_factors(const app_comparison *c)
{
    const app_groups *groups = &c->groups;
    for (int e = 0; e < SF_FACTOR_EFFECTS && groups->factor != NULL; e++) {
        char words[APP_EFFECT_WORDS];
        double least = INFINITY;
        app_effect_words(words, c, (sf_factor)e);
        for (size_t m = 0; m < groups->measure_count; m++)
            least = fmin(least, groups->factors.effects[e][m].least); /* not NaN */
        if (isinf(least))
            app_doubt(c->call,
                      "%s is not tested: each combination of %s and %s needs two replicates, and replicates "
                      "that are "
                      "compared with themselves more than the levels they are compared at",
                      words, sf_delimited_name(&c->table, c->grouping.by), groups->factor);
        else if (groups->factors.within[e])
            app_warn(c->call,
                     "%s is tested within replicates, since some have several values of %s: where these are "
                     "not the same, give them different names",
                     words,
                     e == SF_FACTOR_FIRST ? sf_delimited_name(&c->table, c->grouping.by) : groups->factor);
        if (isfinite(least) && least * (double)groups->effects_tested > 0.05)
            app_doubt(c->call,
                      "%s: with so few replicates no permutation gives a p below %.2g, q not below %.2g",
                      words, least, fmin(1, least * (double)groups->effects_tested));
    }
}

/* ---- the command ---- */

static int make_folder(const char *path, sf_error *error)
{
    if (mkdir(path, 0777) == 0 || errno == EEXIST) return SF_OK;
    return sf_fail(error, SF_CANNOT_CREATE, path, "cannot make this folder: %s", strerror(errno));
}

static int analyse(app_comparison *c, size_t jobs, sf_error *error)
{
    sf_text parts = {0};
    sf_text_printf(&parts, "%s/parts", c->folder);
    int status = parts.failed ? sf_fail_memory(error) : make_folder(c->folder, error);
    if (status == SF_OK) status = make_folder(parts.data, error);
    if (status == SF_OK)
        status =
            app_compare_recordings(c->results, &c->how, c->inputs, c->input_count, parts.data, jobs, error);
    sf_text_free(&parts);
    for (size_t i = 0; i < c->input_count && status == SF_OK; i++)
        if (c->results[i].status != SF_OK && count_failed(c) == c->input_count) {
            *error = c->results[i].error;
            return c->results[i].status;
        }
    return status;
}

static int tell_result(const app_comparison *c, sf_error *error)
{
    sf_text text = {0};
    int status = app_compare_write(c, error);
    if (status != SF_OK) return status;
    warn_of_lengths(c);
    warn_of_undeclared(c);
    warn_of_rates(c);
    warn_of_groups(c);
    warn_of_factors(c);
    if (c->call->json)
        app_compare_json(&text, c);
    else
        app_compare_print(&text, c);
    status = app_print(&text, error);
    for (size_t i = 0; i < c->input_count; i++)
        if (c->results[i].status != SF_OK)
            app_warn(c->call, "left out: %s%s%s", c->results[i].error.place,
                     c->results[i].error.place[0] != '\0' ? ": " : "", c->results[i].error.text);
    if (status == SF_OK && count_failed(c) > 0)
        return sf_fail(error, SF_DATA, NULL, "%zu of %zu recordings could not be analysed, and are left out",
                       count_failed(c), c->input_count);
    return status;
}

static void close_comparison(app_comparison *c)
{
    for (size_t i = 0; i < c->row_count; i++)
        sf_free(c->rows[i].well);
    for (size_t i = 0; i < c->input_count; i++)
        input_free(&c->inputs[i]);
    app_groups_free(&c->groups);
    sf_delimited_free(&c->table);
    sf_free(c->rows);
    sf_free(c->files);
    sf_free(c->inputs);
    sf_free(c->results);
}

static int run(app_call *call, sf_error *error)
{
    size_t jobs;
    app_call each = {.given = NULL};
    app_comparison c = {.call = call, .table_path = call->arguments[0]};
    int status = parse(&c, &each, &jobs, error);
    if (status == SF_OK) status = read_table(&c, error);
    if (status == SF_OK) status = analyse(&c, jobs, error);
    if (status == SF_OK) status = collect(&c, error);
    if (status == SF_OK)
        status = app_groups_make(&c.groups, &c.grouping, &c.table, c.rows, c.row_count, error);
    if (status == SF_OK) status = tell_result(&c, error);
    close_comparison(&c);
    sf_free(each.given);
    return status;
}

const app_command app_command_compare = {
    .name = "compare",
    .group = "look",
    .summary = "groups of recordings: a table of them becomes tables of what they are like, and tests",
    .arguments = "TABLE.csv --out FOLDER",
    .least_arguments = 1,
    .most_arguments = 1,
    .example =
        "synfire simulate a.h5 --seed 1 && synfire simulate b.h5 --seed 2 --rate 15 && printf "
        "'file,condition\\na.h5,wild type\\nb.h5,mutant\\n' >table.csv && synfire compare table.csv --out "
        "compared --without graph,chains",
    .notes =
        "The table has a first line of names: file (from the table's folder), condition, animal, age and "
        "whatever else, which goes into every output; `well` chooses one well, stream or trial of a "
        "recording, `recorded` says when it was recorded, as "
        "0:600. A recording is a file or a folder, and each well or stream of one is a row. FOLDER gets "
        "recordings.csv (a row a recording and well), units.csv, bursts.csv, edges.csv, chains.csv, "
        "responses.csv (of --marker), sequences.csv (of --sequences), "
        "replicates.csv (what the tests are of), tests.csv, effects.csv (of --factor), measures.svg and "
        "summary.json. Edges are those "
        "of `synfire "
        "graph` "
        "and chains those of `synfire mine`, by their options; --significance is segment-shift and --max-q "
        "0.05 "
        "unless given. Recordings that were analysed before with the same options are not analysed again. A "
        "recording that cannot be analysed is left out, is named at the end, and the exit code is 65. "
        "docs/compare.md says what each measure means and when not to trust a test.",
    .options = {options, app_selection_options, app_mining_options, app_engine_options,
                app_compare_connect_options, app_significance_options},
    .rows = {&sf_mining_table, &sf_significance_table, &comparing_table, &app_grouping_table,
             &sf_activity_table, &sf_criticality_options_table, &sf_response_table, &sf_sequence_table},
    .tables = {&app_compared_recordings, &app_compared_units, &app_compared_tests_table,
               &app_compared_effects_table},
    .documents = {&app_compare_document},
    .run = run,
};
