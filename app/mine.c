/* SPDX-License-Identifier: Apache-2.0 */
#include "app/counting.h"
#include "app/details.h"
#include "app/load.h"
#include "app/mining.h"
#include "app/nwb.h"
#include "app/occurrences.h"
#include "app/significance.h"

#include "analysis/tables.h"
#include "core/describe/column.h"
#include "core/memory.h"

#include <inttypes.h>
#include <math.h>

static const app_option options[] = {
    {.name = "max-size"},
    {.name = "closed"},
    {"top", NULL, "of each size only the first K episodes (default: all; tables: 20)"},
    {"sort", NULL,
     "what comes first: standing (default: of all sizes, what has a q of 0.05 or less, is folded under no "
     "other, "
     "is the longest, is most above chance); or of each size: q (then, and without a test, as ratio), ratio "
     "(count/expected, by the lower end of its interval), strength, count (default of --json)"},
    {"csv", NULL, "print CSV; docs/formats.md has the columns"},
    {"occurrences", "FILE",
     "write the spike times of every occurrence of the episodes printed: HDF5 where FILE ends in .h5, else "
     "CSV"},
    APP_REGISTERED_OPTION,
    APP_NWB_OPTION,
    {.name = "memory"},
    {NULL, NULL, NULL},
};

#define TABLE_TOP 20
#define WORTH_STRETCHES 10

/* What was asked, and what was found. */
typedef struct finding {
    const app_call *call;
    const sf_recording *recording;
    sf_recording_columns of; /* of it */
    app_mining mining;
    app_test test;
    sf_episodes *found;
    app_details details; /* with its columns */
    const char *stopped; /* as app_stopped_name has it */
    app_counting registered;
    size_t rows; /* of each size, that a table shows */
} finding;

/* ---- output ---- */

SF_GETTER(get_methods)
{
    const finding *f = of;
    app_methods_value(value, f->found, f->call);
}

#define ROW sf_mine_level
static const sf_column_row level_rows[] = {
    SF_MEMBER_IS(COUNT, size, "units of an episode"),
    SF_MEMBER_IS(COUNT, candidates, "counted, or culled before", .null = "the size before is not complete"),
    SF_MEMBER_IS(COUNT, culled, "that a bound showed not to be frequent", .null = "not known"),
    SF_MEMBER_IS(COUNT, frequent, "that were"),
    APP_ROW_SECONDS(seconds),
    SF_MEMBER_IS(FLAG, complete, "all frequent ones were found; false only of a result that was stopped"),
};
#undef ROW

#define ROW finding
static const sf_column_row document_rows[] = {
    SF_FIELD_IS(TEXT, "recording", of.path, "its path"),
    SF_FIELD_IS(COUNT, "spikes", of.spike_count, "spikes"),
    SF_FIELD_IS(COUNT, "units", of.unit_count, "units"),
    APP_ROW_ENGINE(details.told.ran),
    APP_ROW_DEVICE(details.told.ran),
    APP_ROW_SECONDS(details.told.ran.seconds),
    SF_GOT_BY(TEXT, "methods", get_methods, "what was done, as a paper prints it"),
    APP_ROW_REGISTERED(registered),
    SF_RECORDS_OF("levels", details.told.levels, details.told.level_count, level_rows, "by size"),
    SF_TABLE_IS("episodes", details.table, &sf_episodes_columns_table,
                "by size, count downwards, units, delays"),
    APP_ROWS_DETAILS(details),
    APP_ROW_SIGNIFICANCE(details.told.significance),
    APP_ROW_DEVICE_NOTE(details.told.ran),
    SF_FIELD_IS(COUNT, "device_memory", details.told.ran.memory,
                "bytes of the device that were taken at most"),
    APP_ROW_STOPPED(stopped),
    APP_ROW_THRESHOLD(details.told.threshold),
    APP_ROW_THRESHOLD_WHY(details.told.threshold_why),
};
#undef ROW

static const sf_table document = {
    .name = "mined", .about = "frequent episodes of a recording", SF_TABLE_OF(document_rows)};

static void print_csv(sf_text *text, const finding *f)
{
    const sf_episodes_columns *told = &f->details.told;
    if (told->stopped != SF_NOT_STOPPED) {
        sf_text_printf(text, "# ");
        app_stopped_print(text, told);
        sf_text_printf(text, "\n");
    }
    app_csv csv = app_csv_start_table(text, &f->details.table);
    app_epochs_csv_heads(&csv, &f->details.epochs);
    for (size_t i = 0; i < told->count; i++) {
        app_csv_row(&csv);
        app_csv_cells(&csv, &f->details.table, i);
        app_epochs_csv_cells(&csv, &f->details.epochs, i);
    }
}

static void print_levels(sf_text *text, const sf_episodes_columns *told)
{
    app_table table = {0};
    bool culls = false;
    for (size_t i = 0; i < told->level_count; i++)
        culls = culls || told->levels[i].culled > 0;
    app_table_cell(&table, "size");
    app_table_cell(&table, "candidates");
    if (culls) app_table_cell(&table, "culled");
    app_table_cell(&table, "frequent");
    app_table_cell(&table, "seconds");
    for (size_t i = 0; i < told->level_count; i++) {
        app_table_cell(&table, "%" PRIu32, told->levels[i].size);
        app_table_cell(&table, told->levels[i].candidates != SF_NO_COUNT ? "%" PRIu64 : "-",
                       told->levels[i].candidates);
        if (culls)
            app_table_cell(&table, told->levels[i].culled < 0 ? "-" : "%" PRId64, told->levels[i].culled);
        app_table_cell(&table, "%" PRIu64 "%s", told->levels[i].frequent,
                       told->levels[i].complete ? "" : " so far");
        app_table_cell(&table, "%.3g", told->levels[i].seconds);
    }
    app_table_print(&table, text, culls ? 5 : 4);
}

/* How many of what is shown are folded under each, directly or by way of others. Parts are counted before
 * what they are folded under, being shorter. */
static int count_parts(const sf_episodes_columns *told, size_t **parts)
{
    *parts = sf_alloc(told->count, sizeof **parts);
    for (uint32_t size = 2; *parts != NULL && size < SF_EPISODE_MAX_SIZE; size++)
        for (size_t i = 0; i < told->count; i++)
            if (told->episodes[i].size == size && told->parents[i] != SF_NO_PARENT)
                (*parts)[told->parents[i]] += 1 + (*parts)[i];
    return *parts != NULL ? SF_OK : SF_NO_MEMORY;
}

/* Returns how many columns there are. */
static size_t print_head(app_table *table, const finding *f)
{
    static const char *const first[] = {"episode", "count", "expected", "ratio", "95 %", "strength"};
    static const char *const last[] = {APP_DETAIL_HEADS, "parts"};
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        app_table_cell(table, "%s", first[i]);
    if (f->details.told.significance != NULL) app_verdict_heads(table);
    for (size_t i = 0; i < sizeof last / sizeof *last; i++)
        app_table_cell(table, "%s", last[i]);
    return (f->details.told.significance != NULL ? 14 : 10) + app_epochs_heads(table, &f->details.epochs);
}

static void print_row(app_table *table, const finding *f, size_t i, size_t parts)
{
    const sf_episodes_columns *told = &f->details.told;
    sf_text spelt = app_details_name(&f->details, i);
    app_table_cell(table, "%s", spelt.data != NULL ? spelt.data : "");
    app_table_cell(table, "%" PRIu64, told->counts[i]);
    app_table_cell(table, isfinite(told->expected[i]) ? "%.4g" : "-", told->expected[i]);
    app_table_cell(table, told->expected[i] > 0 ? "%.3g" : "-", (double)told->counts[i] / told->expected[i]);
    app_ratio_cell(table, told->ratio_low[i], told->ratio_high[i]);
    app_table_cell(table, isfinite(told->strength[i]) ? "%.3f" : "-", told->strength[i]);
    if (told->significance != NULL) app_verdict_cells(table, told, i);
    app_details_cells(table, &f->details, i);
    app_table_cell(table, "%zu", parts);
    app_epochs_cells(table, &f->details.epochs, i);
    sf_text_free(&spelt);
}

/* A file takes all that was found; a table shows of each size the first, and the first of those worth
 * showing. */
typedef struct shown {
    size_t of_size[SF_EPISODE_MAX_SIZE + 1], worth;
} shown;

static bool is_shown(const finding *f, shown *so_far, size_t i)
{
    const sf_episodes_columns *told = &f->details.told;
    so_far->worth += told->worth_showing[i];
    return ++so_far->of_size[told->episodes[i].size] <= f->rows ||
           (told->worth_showing[i] && so_far->worth <= f->rows);
}

/* Episodes that a longer one accounts for are folded under it, and listed only with --verbose. */
static void print_episodes(sf_text *text, const finding *f, bool unfolded)
{
    const sf_episodes_columns *told = &f->details.told;
    app_table table = {0};
    size_t *parts, *listed = sf_resize(NULL, told->count, sizeof *listed), listed_count = 0;
    if (count_parts(told, &parts) != SF_OK || listed == NULL) {
        text->failed = true;
    } else {
        size_t columns = print_head(&table, f);
        shown so_far = {0};
        size_t rows = 0;
        for (size_t i = 0; i < told->count; i++) {
            if (!is_shown(f, &so_far, i)) continue;
            rows++;
            if (unfolded || told->parents[i] == SF_NO_PARENT) {
                print_row(&table, f, i, parts[i]);
                listed[listed_count++] = i;
            }
        }
        app_table_fit(&table, text, columns, app_details_drop, f->details.is_wide);
        if (listed_count < rows)
            sf_text_printf(
                text,
                "%zu of their parts are folded, which count no more beyond them than chance gives: "
                "--verbose lists them\n",
                rows - listed_count);
        if (rows < told->count)
            sf_text_printf(text, "%zu more are in %s\n", told->count - rows, app_value(f->call, "nwb", ""));
        app_details_print_below(text, &f->details, listed, listed_count);
    }
    sf_free(parts);
    sf_free(listed);
}

/* Of the episodes worth showing, counts those that do not come from a few bursts or epochs; known only for
 * those shown. */
static void print_stretches(sf_text *text, const sf_episodes_columns *told)
{
    size_t worth = 0, wide = 0;
    for (size_t i = 0; i < told->count; i++)
        if (told->worth_showing[i]) {
            worth++;
            wide += told->stretches[i] >= WORTH_STRETCHES;
        }
    sf_text_printf(text, "; of the %zu of them among the %zu shown, %zu are in %d bursts or epochs or more",
                   worth, told->count, wide, WORTH_STRETCHES);
}

/* How many episodes are worth a closer look, where a test said so. */
static void print_verdict(sf_text *text, const finding *f)
{
    const sf_episodes_columns *told = &f->details.told;
    const sf_significance *test = told->significance;
    if (test == NULL || test->options.kind == SF_SIGNIFICANCE_ANALYTIC || told->found == 0) return;
    if (test->not_tested != SF_TESTABLE) {
        sf_text_printf(text, "\nNone of %zu episodes could be tested: ", told->found);
        app_not_tested_print(text, test);
        sf_text_printf(text, "\n");
        return;
    }
    sf_text_printf(text, "\n");
    if (app_chains_print(text, told)) sf_text_printf(text, " (q of %g or less)\n", SF_SIGNIFICANT_Q);
    sf_text_printf(text, "%zu of %zu episodes count 20 or more, with q below 0.05 and units over 0.1 Hz",
                   told->worth, told->found - told->returning);
    if (told->worth > 0 && app_details_know_stretches(&f->details)) print_stretches(text, told);
    sf_text_printf(text, "\n");
    if (told->returning > 0)
        sf_text_printf(
            text,
            "%zu more cannot be tested: a unit returns, as in A -> B -> A. Look at their links, A -> "
            "B and B -> A\n",
            told->returning);
}

static void print_units(sf_text *text, const sf_selected *selected)
{
    if (selected->units != NULL) sf_text_printf(text, "%zu of ", selected->unit_count);
    sf_text_printf(text, "%zu units", selected->units_in_file);
}

static void print_tables(sf_text *text, const finding *f, bool unfolded)
{
    const sf_episodes_columns *told = &f->details.told;
    sf_recording_columns of = {.size = sizeof of};
    sf_recording_get_columns(f->recording, &of);
    sf_text_printf(text, "%s: ", of.path);
    print_units(text, of.selected);
    sf_text_printf(text, ", %zu spikes, %.6g s recorded\ndelays ", of.spike_count,
                   (double)of.duration_ns * 1e-9);
    sf_text_delays(text, f->mining.options.delays, f->mining.options.delay_count);
    sf_text_printf(text, " ms, frequent from ");
    app_threshold_print(text, told->threshold, told->threshold_why);
    sf_text_printf(text, ", engine %s on %s, %.3g s", told->ran.engine, told->ran.device, told->ran.seconds);
    if (!f->details.in_pieces)
        sf_text_printf(text, "; %zu network burst%s", told->burst_count, told->burst_count == 1 ? "" : "s");
    sf_text_printf(text, "\n\n");
    if (told->stopped != SF_NOT_STOPPED) {
        app_stopped_print(text, told);
        sf_text_printf(text, "\n\n");
    }
    print_levels(text, told);
    if (told->count > 0 && told->significance == NULL) {
        sf_text_printf(text, "\n");
        app_untested_print(text, told->burst_count, true);
    } else if (told->count > 0) {
        app_tested_print(text, told->significance, told->burst_count);
    }
    if (told->count > 0) {
        sf_text_printf(text, "\n");
        app_details_print_delay(text, &f->details);
        print_episodes(text, f, unfolded);
    }
    if (told->passing < told->found)
        sf_text_printf(text, "\n%zu of %zu have p and q within --max-p and --max-q%s\n", told->passing,
                       told->found, told->passing == 0 ? ": without them the table shows what all have" : "");
    if (told->count < told->passing)
        sf_text_printf(text, "\n%zu more: --top, --csv and --json show them\n", told->passing - told->count);
    print_verdict(text, f);
    app_power_print(text, told->significance);
    app_doubts_print(text, f->call);
    sf_text_printf(text, "\n");
    text->failed = text->failed || app_methods(text, f->found, f->call, NULL) != SF_OK;
    if (f->registered.counted != NULL) sf_text_printf(text, "\n\n");
    app_registered_print(text, &f->registered);
}

/* ---- occurrences ---- */

static int write_occurrences(const char *path, const finding *f, sf_error *error)
{
    const sf_episodes_columns *told = &f->details.told;
    sf_text settings = {0};
    app_mining_yaml(&settings, &f->mining, told->threshold);
    int status = settings.failed
                     ? sf_fail_memory(error)
                     : app_occurrences_write(f->call, path, f->recording, told, settings.data, error);
    sf_text_free(&settings);
    return status;
}

/* ---- the command ---- */

static int report(const finding *f, sf_error *error)
{
    const app_call *call = f->call;
    const sf_significance *test = f->details.told.significance;
    const char *occurrences = app_value(call, "occurrences", NULL);
    bool whole = f->details.told.stopped == SF_NOT_STOPPED;
    int written = occurrences != NULL && whole ? write_occurrences(occurrences, f, error) : SF_OK;
    if (written == SF_OK && whole)
        written = app_nwb_episodes(call, f->recording, f->found, &f->details.told, error);
    if (written != SF_OK && written != SF_CANCELLED) return written;
    app_nothing_warn(&f->mining, call, f->recording, &f->details.told);
    sf_text text = {0};
    if (call->json || app_has(call, "csv")) /* tables say it at their end */
        app_not_tested_warn(call, test);
    if (call->json)
        app_document_json(&text, f->call, &document, f);
    else if (app_has(call, "csv"))
        print_csv(&text, f);
    else
        print_tables(&text, f, call->verbose);
    int status = app_print(&text, written == SF_OK ? error : NULL);
    if (occurrences != NULL && (!whole || written != SF_OK))
        app_warn(call, "%s is not written: stopped before", occurrences);
    if (app_has(call, "nwb") && (!whole || written != SF_OK))
        app_warn(call, "%s is not written: stopped before", app_value(call, "nwb", ""));
    return written == SF_OK ? status : written;
}

/* Refuses options that need more than counts if spikes are read in pieces. */
static int check_memory(const app_call *call, sf_error *error)
{
    static const char *const others[] = {"occurrences", "epochs", "nwb", "registered"};
    if (!app_has(call, "memory")) return SF_OK;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (app_has(call, others[i]))
            return sf_fail(error, SF_USAGE, "--memory", "goes without --%s, which needs all spikes at once",
                           others[i]);
    return SF_OK;
}

static int parse(finding *f, sf_error *error)
{
    const app_call *call = f->call;
    sf_mining_options *asked = &f->mining.options;
    bool for_people = !call->json && !app_has(call, "csv");
    int status = app_mining_parse(&f->mining, call, error);
    if (!app_has(call, "sort")) asked->order = call->json ? SF_ORDER_COUNT : SF_ORDER_STANDING;
    if (!app_has(call, "top")) asked->top = for_people && !app_has(call, "nwb") ? TABLE_TOP : 0;
    f->rows = for_people && !app_has(call, "top") ? TABLE_TOP : SIZE_MAX;
    asked->top_worth = app_has(call, "top") ? 0 : TABLE_TOP;
    asked->details = true;
    asked->keep_stopped = true;
    if (status == SF_OK) status = app_test_parse(&f->test, call, error);
    asked->significance = app_test_options(&f->test);
    return status;
}

static int mine(finding *f, sf_error *error)
{
    app_epochs *epochs = &f->details.epochs;
    int status = parse(f, error);
    if (status == SF_OK) status = app_epochs_open(epochs, f->call, f->recording, 0, error);
    if (status != SF_OK) return status;
    f->mining.options.spans = epochs->spans;
    f->mining.options.span_count = epochs->count;
    int mined = app_mining_run(&f->found, &f->mining, f->call, f->recording, error);
    if (f->found == NULL) return mined;
    status = app_details_take(&f->details, f->call, f->found, error);
    if (status != SF_OK) return status;
    f->stopped = app_stopped_name(&f->details.told);
    app_significance_warn(f->call, &f->details.told);
    if (mined == SF_OK) status = app_registered_count(&f->registered, f->call, f->recording, &f->test, error);
    if (status != SF_OK) return status;
    status = report(f, error);
    return status == SF_OK ? app_stopped_report(mined, &f->details.told, error) : status;
}

static int run(app_call *call, sf_error *error)
{
    sf_recording *recording;
    int status = check_memory(call, error);
    if (status == SF_OK && app_has(call, "registered") && app_has(call, "csv"))
        status = sf_fail(error, SF_USAGE, "--registered",
                         "is a table of its own: synfire count --registered --csv prints it");
    if (status == SF_OK) status = app_nwb_check(call, error);
    if (status == SF_OK) status = app_load(call, call->arguments[0], &recording, error);
    if (status != SF_OK) return status;
    finding f = {
        .call = call, .recording = recording, .of.size = sizeof f.of, .details.recording = recording};
    sf_recording_get_columns(recording, &f.of);
    status = mine(&f, error);
    app_registered_free(&f.registered);
    app_epochs_free(&f.details.epochs);
    sf_episodes_free(f.found);
    sf_recording_free(recording);
    return status;
}

const app_command app_command_mine = {
    .name = "mine",
    .group = "find",
    .summary = "frequent episodes: which firing chains recur, how often, and how often by chance",
    .arguments = "REC...",
    .least_arguments = 1,
    .most_arguments = 1,
    .takes_several = true,
    .example = "synfire mine demo.h5 --delay 4:6 --min-count 60",
    .notes =
        "An episode is a chain of units, each firing within a delay of the one before; other spikes may come "
        "in between. Its count is the largest number of occurrences of which no two overlap. Delays are open "
        "below: spikes at the same instant make no episode.\n"
        "`expected` is by rates: the count that independent units with constant rates would give. Bursts "
        "that "
        "units share make almost every count exceed it, so it ranks and does not decide. With --significance "
        "`given rest` is the mean count in surrogates, which keep the bursts and the rest of the chain; p "
        "compares the count with them, and q corrects for all candidates. "
        "What surrogates cannot tell has no p and q but a reason: a unit returns, delays too long, reverse "
        "of "
        "a link, bursts too sharp (`synfire info` tells how sharp). "
        "strength is the probability of a link at which the count would be expected.\n"
        "bursts are those of the network that an occurrence begins in, reverse is the count of B -> A, "
        "and "
        "parts are episodes that this one and chance account for: folded, unless --verbose. With --epochs "
        "every "
        "epoch's own count is told too.\n"
        "Ctrl-C stops it and prints what it has, with what is missing.\n"
        "docs/episodes.md says what the tests assume and when not to trust them.",
    .options = {options, app_mining_options, app_significance_options, app_surrogate_options,
                app_engine_options, app_selection_options},
    .rows = {&sf_mining_table, &sf_significance_table},
    .documents = {&document},
    .run = run,
};
