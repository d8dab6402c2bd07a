/* SPDX-License-Identifier: Apache-2.0 */
#include "app/details.h"
#include "app/load.h"
#include "app/mining.h"
#include "app/occurrences.h"
#include "app/significance.h"

#include "core/episode.h"
#include "core/memory.h"

#include <inttypes.h>
#include <math.h>

static const app_option options[] = {
    {"max-size", "N", "longest episodes to look for, 2 to 16 units (default 4)"},
    {"closed", NULL, "leave out episodes that a longer one contains with the same count"},
    {"top", "K", "of each size only the K episodes with the highest counts (default: all; tables: 20)"},
    {"csv", NULL, "print CSV: id, size, episode, count, expected, p, q, strength, not_testable"},
    {"occurrences", "FILE",
     "write the spike times of every occurrence of the episodes printed: HDF5 where FILE ends in .h5, else "
     "CSV"},
    {NULL, NULL, NULL},
};

#define TABLE_TOP 20
#define WORTH_STRETCHES 10

/* What was found, and which of it is shown: indices into result->items. */
typedef struct finding {
    const app_call *call;
    const sf_recording *recording;
    const app_mining *mining;
    app_significance significance;
    sf_mine_result *result;
    size_t *shown;
    size_t shown_count;
    sf_episode *episodes; /* of what is shown: spelt out, and what is told of it */
    uint64_t *counts;
    double *expected;
    app_details details;
} finding;

static const sf_mine_item *item_at(const finding *f, size_t shown)
{
    return &f->result->items[f->shown[shown]];
}

static bool is_worth_showing(const finding *f, size_t i)
{
    return f->significance.asked && f->significance.options.kind != SF_SIGNIFICANCE_ANALYTIC &&
           app_worth_showing(f->result, i, sf_recording_duration_ns(f->recording));
}

/* The first `top` items of each size, and beside them the first `worth` that are worth showing. */
static int choose(finding *f, uint64_t top, uint64_t worth, sf_error *error)
{
    f->shown = sf_resize(NULL, f->result->count, sizeof *f->shown);
    if (f->shown == NULL)
        return sf_fail_memory(error);
    uint64_t of_size = 0, worth_of_size = 0;
    for (size_t i = 0; i < f->result->count; i++) {
        bool goes_on = i > 0 && f->result->items[i].size == f->result->items[i - 1].size;
        of_size = goes_on ? of_size + 1 : 1;
        worth_of_size = (goes_on ? worth_of_size : 0) + is_worth_showing(f, i);
        if (of_size <= top || (is_worth_showing(f, i) && worth_of_size <= worth))
            f->shown[f->shown_count++] = i;
    }
    return SF_OK;
}

static int spell_out(finding *f, sf_error *error)
{
    f->episodes = sf_resize(NULL, f->shown_count, sizeof *f->episodes);
    f->counts = sf_resize(NULL, f->shown_count, sizeof *f->counts);
    f->expected = sf_resize(NULL, f->shown_count, sizeof *f->expected);
    if (f->episodes == NULL || f->counts == NULL || f->expected == NULL)
        return sf_fail_memory(error);
    for (size_t i = 0; i < f->shown_count; i++) {
        sf_mine_result_episode(f->result, f->shown[i], &f->episodes[i]);
        f->counts[i] = item_at(f, i)->count;
        f->expected[i] = item_at(f, i)->expected;
    }
    return SF_OK;
}

static void free_finding(finding *f)
{
    app_details_free(&f->details);
    sf_free(f->shown);
    sf_free(f->episodes);
    sf_free(f->counts);
    sf_free(f->expected);
    sf_mine_result_free(f->result);
}

/* ---- output ---- */

static void add_levels(sf_json *json, const sf_mine_result *result)
{
    sf_json_array(json, "levels");
    for (uint32_t i = 0; i < result->level_count; i++) {
        const sf_mine_level *level = &result->levels[i];
        sf_json_object(json, NULL);
        sf_json_uint(json, "size", level->size);
        sf_json_uint(json, "candidates", level->candidates);
        if (level->culled >= 0)
            sf_json_int(json, "culled", level->culled);
        else
            sf_json_null(json, "culled");
        sf_json_uint(json, "frequent", level->frequent);
        sf_json_real(json, "seconds", level->seconds);
        sf_json_end_object(json);
    }
    sf_json_end_array(json);
}

static void add_methods(sf_json *json, const finding *f)
{
    sf_text methods = {0};
    app_methods(&methods, &f->significance, f->result, f->mining, f->call);
    sf_json_string(json, "methods", methods.failed ? NULL : methods.data);
    sf_text_free(&methods);
}

static void print_json(sf_text *text, const finding *f)
{
    sf_json json = sf_json_start(text);
    sf_json_object(&json, NULL);
    sf_json_string(&json, "recording", f->recording->path);
    sf_json_uint(&json, "spikes", f->recording->spike_count);
    sf_json_uint(&json, "units", f->recording->units.count);
    sf_json_string(&json, "engine", f->result->ran.engine);
    sf_json_string(&json, "device", f->result->ran.device);
    sf_json_real(&json, "seconds", f->result->ran.seconds);
    add_methods(&json, f);
    add_levels(&json, f->result);
    sf_json_array(&json, "episodes");
    for (size_t i = 0; i < f->shown_count; i++) {
        sf_json_object(&json, NULL);
        app_episode_json(&json, &f->episodes[i], &f->recording->units);
        sf_json_uint(&json, "count", item_at(f, i)->count);
        sf_json_real(&json, "expected", item_at(f, i)->expected);
        sf_json_real(&json, "p", item_at(f, i)->p);
        sf_json_real(&json, "q", item_at(f, i)->q);
        sf_json_real(&json, "strength", item_at(f, i)->strength);
        sf_json_real(&json, "p_first", item_at(f, i)->p_first);
        sf_json_real(&json, "p_last", item_at(f, i)->p_last);
        sf_json_string(&json, "not_testable", sf_not_testable_text(item_at(f, i)->not_testable));
        app_details_episode_json(&json, &f->details, i);
        sf_json_end_object(&json);
    }
    sf_json_end_array(&json);
    app_details_json(&json, &f->details);
    app_significance_json(&json, &f->significance);
    app_device_json(&json, f->result->ran.note);
    sf_json_uint(&json, "device_memory", f->result->ran.memory);
    app_provenance_json(&json, f->call);
    sf_json_end_object(&json);
}

static void print_csv(sf_text *text, const finding *f)
{
    sf_text_printf(text, "id,size,episode,count,expected,p,q,strength,not_testable");
    for (size_t i = 0; i < f->shown_count; i++) {
        char id[SF_EPISODE_ID_SIZE];
        sf_episode_id(id, &f->episodes[i], &f->recording->units);
        sf_text spelt = app_episode_text(&f->episodes[i], &f->recording->units);
        sf_text_printf(text, "\n%s,%" PRIu32 ",", id, f->episodes[i].size);
        app_csv_quote(text, spelt.data != NULL ? spelt.data : "");
        const sf_mine_item *item = item_at(f, i);
        const double columns[] = {item->expected, item->p, item->q, item->strength};
        sf_text_printf(text, ",%" PRIu32, item->count);
        for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
            sf_text_printf(text, isfinite(columns[c]) ? ",%.6g" : ",", columns[c]);
        const char *reason = sf_not_testable_text(item->not_testable);
        sf_text_printf(text, ",%s", reason != NULL ? reason : "");
        text->failed = text->failed || spelt.data == NULL;
        sf_text_free(&spelt);
    }
}

static void print_levels(sf_text *text, const sf_mine_result *result)
{
    app_table table = {0};
    bool culls = false;
    for (uint32_t i = 0; i < result->level_count; i++)
        culls = culls || result->levels[i].culled > 0;
    app_table_cell(&table, "size");
    app_table_cell(&table, "candidates");
    if (culls)
        app_table_cell(&table, "culled");
    app_table_cell(&table, "frequent");
    app_table_cell(&table, "seconds");
    for (uint32_t i = 0; i < result->level_count; i++) {
        app_table_cell(&table, "%" PRIu32, result->levels[i].size);
        app_table_cell(&table, "%" PRIu64, result->levels[i].candidates);
        if (culls)
            app_table_cell(&table, result->levels[i].culled < 0 ? "-" : "%" PRId64, result->levels[i].culled);
        app_table_cell(&table, "%" PRIu64, result->levels[i].frequent);
        app_table_cell(&table, "%.3g", result->levels[i].seconds);
    }
    app_table_print(&table, text, culls ? 5 : 4);
}

/* How many of what is shown are folded under each, directly or by way of others. Parts come before what they
 * are folded under, being shorter. */
static int count_parts(const finding *f, size_t **parts)
{
    *parts = sf_alloc(f->shown_count, sizeof **parts);
    for (size_t i = 0; *parts != NULL && i < f->shown_count; i++)
        if (f->details.parents[i] != SIZE_MAX)
            (*parts)[f->details.parents[i]] += 1 + (*parts)[i];
    return *parts != NULL ? SF_OK : SF_NO_MEMORY;
}

static void print_head(app_table *table, const finding *f)
{
    static const char *const first[] = {"episode", "count", "expected", "count/expected", "strength"};
    static const char *const last[] = {APP_DETAIL_HEADS, "parts"};
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        app_table_cell(table, "%s", first[i]);
    if (f->significance.asked) {
        app_table_cell(table, "p");
        app_table_cell(table, "q");
    }
    for (size_t i = 0; i < sizeof last / sizeof *last; i++)
        app_table_cell(table, "%s", last[i]);
}

static void print_row(app_table *table, const finding *f, size_t i, size_t parts)
{
    const sf_mine_item *item = item_at(f, i);
    sf_text spelt = app_episode_text(&f->episodes[i], &f->recording->units);
    app_table_cell(table, "%s", spelt.data != NULL ? spelt.data : "");
    app_table_cell(table, "%" PRIu32, item->count);
    app_table_cell(table, isfinite(item->expected) ? "%.4g" : "-", item->expected);
    app_table_cell(table, item->expected > 0 ? "%.3g" : "-", item->count / item->expected);
    app_table_cell(table, isfinite(item->strength) ? "%.3f" : "-", item->strength);
    if (f->significance.asked) {
        const char *reason = sf_not_testable_text(item->not_testable);
        app_table_cell(table, isfinite(item->p) ? "%.2g" : "-", item->p);
        if (reason != NULL)
            app_table_cell(table, "%s", reason);
        else
            app_table_cell(table, isfinite(item->q) ? "%.2g" : "-", item->q);
    }
    app_details_cells(table, &f->details, i);
    app_table_cell(table, "%zu", parts);
    sf_text_free(&spelt);
}

/* What a longer episode accounts for is folded under it: listed with --verbose only, or where a test finds it
 * worth showing. */
static void print_episodes(sf_text *text, const finding *f, bool unfolded)
{
    app_table table = {0};
    size_t *parts, *listed = sf_resize(NULL, f->shown_count, sizeof *listed), listed_count = 0;
    if (count_parts(f, &parts) != SF_OK || listed == NULL) {
        text->failed = true;
    } else {
        print_head(&table, f);
        for (size_t i = 0; i < f->shown_count; i++)
            if (unfolded || f->details.parents[i] == SIZE_MAX || is_worth_showing(f, f->shown[i])) {
                print_row(&table, f, i, parts[i]);
                listed[listed_count++] = i;
            }
        app_table_print(&table, text, f->significance.asked ? 11 : 9);
        if (listed_count < f->shown_count)
            sf_text_printf(
                text,
                "%zu parts of these are folded, which count no more beyond them than chance gives: "
                "--verbose lists them\n",
                f->shown_count - listed_count);
        app_details_print_below(text, &f->details, listed, listed_count);
    }
    sf_free(parts);
    sf_free(listed);
}

/* Of those, the ones that do not come from a few bursts or epochs: known of what is shown. */
static void print_stretches(sf_text *text, const finding *f)
{
    size_t worth = 0, wide = 0;
    for (size_t i = 0; i < f->shown_count; i++)
        if (is_worth_showing(f, f->shown[i])) {
            worth++;
            wide += app_details_stretches(&f->details, i) >= WORTH_STRETCHES;
        }
    sf_text_printf(text, "; of the %zu of them among the %zu shown, %zu are in %d bursts or epochs or more",
                   worth, f->shown_count, wide, WORTH_STRETCHES);
}

/* How many episodes are worth a closer look, where a test said so. */
static void print_verdict(sf_text *text, const finding *f)
{
    if (!f->significance.asked || f->significance.options.kind == SF_SIGNIFICANCE_ANALYTIC)
        return;
    size_t worth = 0, returning = 0;
    for (size_t i = 0; i < f->result->count; i++) {
        worth += is_worth_showing(f, i);
        returning += f->result->items[i].not_testable == SF_UNIT_RETURNS;
    }
    if (f->significance.told.not_testable != SF_TESTABLE) {
        sf_text_printf(text, "\nNone of %zu episodes could be tested: ", f->result->count);
        app_not_testable_print(text, &f->significance, f->recording);
        sf_text_printf(text, "\n");
        return;
    }
    sf_text_printf(text,
                   "\n%zu of %zu episodes count 20 or more and 1.2 times what is expected, with q below 0.05 "
                   "and units over 0.1 Hz",
                   worth, f->result->count - returning);
    if (worth > 0 && app_details_know_stretches(&f->details))
        print_stretches(text, f);
    sf_text_printf(text, "\n");
    if (returning > 0)
        sf_text_printf(
            text,
            "%zu more cannot be tested: a unit returns, as in A -> B -> A. Look at their links, A -> "
            "B and B -> A\n",
            returning);
}

static void print_units(sf_text *text, const sf_selected *selected)
{
    if (selected->units != NULL)
        sf_text_printf(text, "%zu of ", selected->unit_count);
    sf_text_printf(text, "%zu units", selected->units_in_file);
}

static void print_tables(sf_text *text, const finding *f, bool unfolded)
{
    const sf_recording *recording = f->recording;
    sf_text_printf(text, "%s: ", recording->path);
    print_units(text, &f->call->provenance->selected);
    sf_text_printf(text, ", %zu spikes, %.6g s recorded\ndelays ", recording->spike_count,
                   (double)sf_recording_duration_ns(recording) * 1e-9);
    app_delays_print(text, f->mining);
    sf_text_printf(text,
                   " ms, frequent from a count of %.6g, engine %s on %s, %.3g s; %zu bursts of the array\n\n",
                   f->result->threshold, f->result->ran.engine, f->result->ran.device, f->result->ran.seconds,
                   f->details.bursts.count);
    print_levels(text, f->result);
    if (f->shown_count > 0) {
        sf_text_printf(text, "\n");
        print_episodes(text, f, unfolded);
    }
    if (f->shown_count < f->result->count)
        sf_text_printf(text, "\n%zu more: --top, --csv and --json show them\n",
                       f->result->count - f->shown_count);
    print_verdict(text, f);
    sf_text_printf(text, "\n");
    app_methods(text, &f->significance, f->result, f->mining, f->call);
}

/* ---- occurrences ---- */

static int write_occurrences(const char *path, const finding *f, sf_error *error)
{
    sf_text settings = {0}, provenance = app_provenance_text(f->call);
    app_mining_yaml(&settings, f->mining, f->result->threshold);
    int status = settings.failed || provenance.failed
                     ? sf_fail_memory(error)
                     : app_occurrences_write(path, f->recording, f->episodes, f->expected, f->shown_count,
                                             settings.data, provenance.data, error);
    sf_text_free(&provenance);
    sf_text_free(&settings);
    return status;
}

/* ---- the command ---- */

static void hint_where_nothing_is_frequent(const app_call *call, const sf_recording *recording,
                                           const sf_mine_result *result)
{
    if (recording->spike_count == 0)
        app_warn(call, "%s: no spikes are left to look at", recording->path);
    else if (result->level_count > 0 && result->levels[0].frequent == 0)
        app_warn(call, "no unit has %.6g spikes: lower the threshold", result->threshold);
    else if (result->count == 0)
        app_warn(call, "no pair of units reaches a count of %.6g: lower the threshold or widen --delay",
                 result->threshold);
}

static int report(const app_call *call, finding *f, uint64_t top, uint64_t worth, sf_error *error)
{
    int status = choose(f, top, worth, error);
    if (status == SF_OK)
        status = spell_out(f, error);
    if (status == SF_OK && !app_has(call, "csv"))
        status = app_details_make(&f->details, call, f->recording, f->episodes, f->counts, f->expected,
                                  f->shown_count, error);
    const char *occurrences = app_value(call, "occurrences", NULL);
    if (status == SF_OK && occurrences != NULL)
        status = write_occurrences(occurrences, f, error);
    if (status != SF_OK)
        return status;
    hint_where_nothing_is_frequent(call, f->recording, f->result);
    sf_text text = {0};
    if (call->json || app_has(call, "csv")) /* tables say it at their end */
        app_not_testable_warn(call, &f->significance, f->recording);
    if (call->json)
        print_json(&text, f);
    else if (app_has(call, "csv"))
        print_csv(&text, f);
    else
        print_tables(&text, f, call->verbose);
    return app_print(&text, error);
}

static int mine(const app_call *call, const sf_recording *recording, sf_error *error)
{
    app_mining mining;
    uint64_t max_size = 4, top = call->json || app_has(call, "csv") ? UINT64_MAX : TABLE_TOP;
    int status = app_mining_parse(&mining, call, recording, error);
    if (status == SF_OK)
        status = app_uint(call, "max-size", 2, SF_EPISODE_MAX_SIZE, &max_size, error);
    if (status == SF_OK)
        status = app_uint(call, "top", 1, UINT64_MAX, &top, error);
    if (status != SF_OK)
        return status;
    mining.options.max_size = (uint32_t)max_size;
    mining.options.closed = app_has(call, "closed");
    finding f = {.call = call, .recording = recording, .mining = &mining};
    status = app_significance_parse(&f.significance, call, error);
    if (status == SF_OK)
        status = app_mining_run(&f.result, &mining, call, recording, error);
    if (status == SF_OK)
        status = app_significance_run(&f.significance, f.result, &mining, call, recording, error);
    if (status == SF_OK)
        status = report(call, &f, top, app_has(call, "top") ? 0 : TABLE_TOP, error);
    free_finding(&f);
    return status;
}

static int run(app_call *call, sf_error *error)
{
    if (call->json && app_has(call, "csv"))
        return sf_fail(error, SF_USAGE, "--csv", "does not go with --json: choose one");
    sf_recording *recording;
    int status = app_load(call, call->arguments[0], &recording, error);
    if (status != SF_OK)
        return status;
    status = mine(call, recording, error);
    sf_recording_free(recording);
    return status;
}

const app_command app_command_mine = {
    .name = "mine",
    .group = "find",
    .summary = "frequent episodes: which firing chains recur, how often, and how often by chance",
    .arguments = "REC",
    .least_arguments = 1,
    .most_arguments = 1,
    .example = "synfire mine demo.h5 --delay 4:6 --min-count 60",
    .notes =
        "An episode is a chain of units, each firing within a delay of the one before; other spikes may come "
        "in between. Its count is the largest number of occurrences of which no two overlap. Delays are open "
        "below: spikes at the same instant make no episode.\n"
        "`expected` is the count that independent units with constant rates would give: bursts that units "
        "share make almost every count exceed it, so it ranks and does not decide. With --significance it is "
        "the mean count in surrogates, p compares the count with them, and q corrects for all candidates. "
        "What "
        "surrogates cannot tell has no p and q but a reason: a unit returns, delays too long, bursts too "
        "sharp "
        "(`synfire info` tells how sharp). "
        "strength is the probability of a link at which the count would be expected.\n"
        "bursts are those of the whole array that an occurrence begins in, reverse is the count of B -> A, "
        "and "
        "parts are episodes that this one and chance account for: folded, unless --verbose. With --epochs "
        "every "
        "epoch's own count is told too.\n"
        "docs/episodes.md says what the tests assume and when not to trust them.",
    .options = {options, app_mining_options, app_significance_options, app_surrogate_options,
                app_engine_options, app_selection_options},
    .run = run,
};
