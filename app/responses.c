/* SPDX-License-Identifier: Apache-2.0 */
/* What units and chains do after each marker. */
#include "app/responses.h"
#include "app/csv.h"
#include "app/load.h"
#include "app/mining.h"
#include "app/nwb.h"

#include "core/describe/column.h"
#include "core/error.h"
#include "core/marker.h"
#include "core/memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- finding ---- */

int app_responses_parse(sf_response_options *options, const app_call *call, sf_error *error)
{
    *options = SF_RESPONSE_OPTIONS;
    int status = app_options_read(call, &sf_response_table, options, error);
    return status == SF_OK ? sf_response_check(options, error) : status;
}

int app_responses_find(sf_response_report *report, const app_call *call, const sf_recording *recording,
                       const sf_response_options *options, const char *episodes, sf_error *error)
{
    const sf_progress progress = app_progress(call);
    sf_episode *given = NULL;
    size_t count = 0;
    *report = (sf_response_report){0};
    int status = episodes == NULL ? SF_OK : app_episodes_read(&given, &count, episodes, recording, error);
    if (status == SF_OK)
        status = sf_response_report_find(report, recording, options, given, count, &progress, error);
    sf_free(given);
    return status;
}

/* ---- which markers there are ---- */

#define MOST_NAMES 64
#define MOST_TOLD 8

bool app_responses_tell_others(sf_text *text, const app_call *call, const sf_recording *recording,
                               const char *marker)
{
    sf_marker_name names[MOST_NAMES];
    size_t told = 0, count = sf_marker_names(names, MOST_NAMES, recording->markers, recording->marker_count);
    if (count < 2) return false;
    sf_text_printf(text, "%sMarkers of other names (--marker): ",
                   app_has(call, "marker") ? "" : "No marker comes more often. ");
    for (size_t i = 0; i < count && told <= MOST_TOLD; i++)
        if (strcmp(names[i].name, marker) == 0)
            continue;
        else if (told++ == MOST_TOLD)
            sf_text_printf(text, ", ...");
        else
            sf_text_printf(text, "%s'%s' (%zu)", told > 1 ? ", " : "", names[i].name, names[i].count);
    sf_text_printf(text, "%s", told > MOST_TOLD ? "" : ".");
    return true;
}

/* ---- measures ---- */

static double per(double part, double whole)
{
    return whole > 0 ? part / whole : NAN;
}

void app_responses_measure(const sf_response_report *r, const sf_activity *activity,
                           double values[SF_MEASURES], double chance[SF_MEASURES])
{
    double active = 0, standing = 0, evoked = 0, reliable = 0, by_chance = 0, latency = 0, timed = 0;
    for (size_t u = 0; u < r->units.item_count; u++) {
        const sf_response_row row = sf_response_report_row(r, u);
        if (!activity->units[u].active) continue;
        bool stands = sf_response_stands(&row), times = stands && row.evoked > 0 && isfinite(row.latency_ms);
        active++;
        standing += stands;
        evoked += row.evoked;
        reliable += row.reliability;
        by_chance += row.baseline_reliability;
        latency += times ? row.latency_ms : 0;
        timed += times;
    }
    values[SF_MEASURE_RESPONDING] = per(standing, active);
    values[SF_MEASURE_EVOKED] = per(evoked, active);
    values[SF_MEASURE_RELIABILITY] = per(reliable, active);
    values[SF_MEASURE_LATENCY] = per(latency, timed);
    chance[SF_MEASURE_RELIABILITY] = per(by_chance, active);
}

/* ---- what makes it less sure ---- */

/* The earliest time after the marker that any trial observed. */
static double seen_from_ms(const sf_responses *r)
{
    int64_t first = INT64_MAX;
    for (size_t t = 0; t < r->trial_count; t++) {
        int64_t start = r->parts[r->trials[t].first_part].start_ns;
        first = start < first ? start : first;
    }
    return (double)(r->options.from_ns + first) * 1e-6;
}

#define FEW_STEPS 10 /* of the clock in a bin: one more or less is seen */

void app_responses_warn(const app_call *call, const sf_recording *recording, const sf_responses *r)
{
    const int64_t bin_ns = r->options.bin_ns, tick_ns = recording->tick_ns;
    if (tick_ns > 0 && bin_ns < FEW_STEPS * tick_ns && bin_ns % tick_ns != 0)
        app_doubt(call,
                  "bins of %.4g ms hold different numbers of the clock's steps of %.4g ms: take a multiple "
                  "(--bin)",
                  (double)bin_ns * 1e-6, (double)tick_ns * 1e-6);
    if (r->least_p > SF_SIGNIFICANT_Q)
        app_doubt(call, "%zu trial%s too few for a verdict: no p can be below %.3g", r->trial_count,
                  r->trial_count == 1 ? " is" : "s are", r->least_p);
    if (r->overlapping > 0)
        app_doubt(
            call,
            "%zu of %zu trials %s the baseline before the response window of the trial before has "
            "ended: what is evoked counts as baseline, too. Fewer windows before (--baseline) or shorter "
            "ones (--response) part them",
            r->overlapping, r->trial_count, r->overlapping == 1 ? "begins" : "begin");
    if (seen_from_ms(r) > (double)r->options.from_ns * 1e-6)
        app_doubt(call,
                  "the first %.4g ms of the response window are blanked in every trial: earlier spikes are "
                  "not seen, "
                  "and latencies are of those that are",
                  seen_from_ms(r) - (double)r->options.from_ns * 1e-6);
}

/* ---- the command ---- */

typedef struct respond {
    const app_call *call;
    const sf_recording *recording;
    sf_response_options options;
    int table; /* of --csv */
    sf_response_report found;
} respond;

static const app_option options[] = {
    APP_RESPONSE_OPTIONS,
    {"episodes", "FILE",
     "chains whose occurrences are looked at, too, in a file or one as it is, as in `count`"},
    {"csv", NULL, "print a table as CSV, which --table names; docs/formats.md has the columns"},
    {"table", "responses|histogram|trials", "which table --csv has (default responses)"},
    APP_NWB_OPTION,
    {.name = "seed"},
    {NULL, NULL, NULL},
};

static int parse(respond *c, sf_error *error)
{
    int status = app_responses_parse(&c->options, c->call, error);
    if (status == SF_OK) status = app_table_asked(c->call, &c->table, error);
    return status;
}

#define ROW respond
static const sf_column_row document_rows[] = {
    SF_FIELD_IS(TEXT, "recording", found.of.path, "the file"),
    SF_COLUMNS_OF(found, &sf_response_report_document),
};
#undef ROW

static const sf_table document = {
    .name = "responses", .about = "what units and chains do after each marker", SF_TABLE_OF(document_rows)};

static sf_table table_of(const void *what, size_t which)
{
    return sf_response_report_table(&((const respond *)what)->found, which);
}

/* ---- lines ---- */

#define LISTED 20

/* By p, and then by how much is evoked. */
static int by_verdict(const void *a, const void *b)
{
    const sf_response_row *x = a, *y = b;
    double px = isnan(x->p) ? 2 : x->p, py = isnan(y->p) ? 2 : y->p;
    if (px != py) return px < py ? -1 : 1;
    if (fabs(x->evoked) != fabs(y->evoked)) return fabs(x->evoked) > fabs(y->evoked) ? -1 : 1;
    return (x->unit > y->unit) - (x->unit < y->unit);
}

static int print_rows(sf_text *text, const respond *c, sf_error *error)
{
    size_t count = sf_response_report_count(&c->found),
           listed = c->call->verbose || count < LISTED ? count : LISTED;
    sf_response_row *rows = sf_alloc(count, sizeof *rows);
    app_table table = {0};
    static const char *const heads[] = {"unit",      "name",     "Hz before", "Hz after",
                                        "evoked",    "reliable", "by chance", "latency ms",
                                        "jitter ms", "p",        "q"};
    if (rows == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < count; i++)
        rows[i] = sf_response_report_row(&c->found, i);
    qsort(rows, count, sizeof *rows, by_verdict);
    app_table_heads(&table, heads, sizeof heads / sizeof *heads);
    for (size_t i = 0; i < listed; i++) {
        const sf_response_row *row = &rows[i];
        if (row->unit != UINT32_MAX)
            app_table_cell(&table, "#%" PRIu32, row->unit);
        else
            app_table_cell(&table, "chain");
        app_table_cell(&table, "%s", row->name);
        const double cells[] = {row->baseline_hz,
                                row->response_hz,
                                row->evoked,
                                row->reliability,
                                row->baseline_reliability,
                                row->latency_ms,
                                row->jitter_ms,
                                row->p,
                                row->q};
        for (size_t k = 0; k < sizeof cells / sizeof *cells; k++)
            app_table_real(&table, 4, cells[k]);
    }
    app_table_print(&table, text, sizeof heads / sizeof *heads);
    if (listed < count)
        sf_text_printf(text, "the first %zu of %zu by p; --verbose, --csv and --json list all\n", listed,
                       count);
    sf_free(rows);
    return SF_OK;
}

static int print_text(sf_text *text, const void *what, sf_error *error)
{
    const respond *c = what;
    const sf_responses *units = &c->found.units;
    size_t more, fewer;
    sf_response_report_standing(&c->found, &more, &fewer);
    sf_text_printf(text, "%zu trial%s of '%s'", units->trial_count, units->trial_count == 1 ? "" : "s",
                   units->options.marker);
    if (units->markers > units->trial_count)
        sf_text_printf(text, " (of %zu more nothing was recorded in any window)",
                       units->markers - units->trial_count);
    if (isfinite(units->interval_s)) sf_text_printf(text, ", one in %.4g s", units->interval_s);
    if (sf_responses_exposed(units) < 1)
        sf_text_printf(text, ", %.3g %% of their windows recorded", 100 * sf_responses_exposed(units));
    sf_text_printf(text,
                   "; %g to %g ms after %s %zu of %zu unit%s fire%s more and %zu fire%s less than in %" PRIu64
                   " window%s before (q of 0.05 or less)\n\n",
                   (double)units->options.from_ns * 1e-6, (double)units->options.to_ns * 1e-6,
                   units->trial_count == 1 ? "it" : "them", more, units->item_count,
                   units->item_count == 1 ? "" : "s", more == 1 ? "s" : "", fewer, fewer == 1 ? "s" : "",
                   units->options.baseline, units->options.baseline == 1 ? "" : "s");
    int status = print_rows(text, c, error);
    if (sf_responses_regular(units))
        sf_text_printf(text,
                       "The markers are regular: a unit whose own rhythm is near %.4g Hz, or near a multiple "
                       "of it, looks as if it responded.\n",
                       1 / units->interval_s);
    if (app_responses_tell_others(text, c->call, c->recording, units->options.marker))
        sf_text_printf(text, "\n");
    return status;
}

static const app_telling telling = {&document, SF_RESPONSE_TABLES, table_of, print_text};

static int run(app_call *call, sf_error *error)
{
    sf_recording *recording;
    respond c = {.call = call};
    int status = parse(&c, error);
    app_catch_signals();
    if (status == SF_OK) status = app_nwb_check(call, error);
    if (status == SF_OK) status = app_load(call, call->arguments[0], &recording, error);
    if (status != SF_OK) return status;
    c.recording = recording;
    app_tell_seed(call, c.options.seed);
    status =
        app_responses_find(&c.found, call, recording, &c.options, app_value(call, "episodes", NULL), error);
    if (status == SF_OK) {
        app_responses_warn(call, recording, &c.found.units);
        status = app_nwb_tables(call, recording, &telling, &c, error,
                                "What units and chains do after each '%s', beside what they do before it.",
                                c.found.units.options.marker);
    }
    if (status == SF_OK) status = app_tell(call, &telling, &c, c.table, error);
    sf_response_report_free(&c.found);
    sf_recording_free(recording);
    return status;
}

const app_command app_command_responses = {
    .name = "responses",
    .group = "look",
    .summary = "what units and chains do after each stimulus, beside what they do before it",
    .arguments = "REC...",
    .least_arguments = 1,
    .most_arguments = 1,
    .takes_several = true,
    .example = "synfire simulate demo.h5 --preset sym26 --marker-every 0.5 && synfire responses demo.h5 "
               "--marker ttl0 "
               "--response 0:50",
    .notes =
        "The response window of each trial is held against windows of the same length before the marker, by "
        "permutations of which of them is called the response; q corrects for all units. What --blank leaves "
        "out of one window is left out of all windows of the trial. docs/responses.md says what misleads.",
    .options = {options, app_selection_options},
    .rows = {&sf_response_table},
    .documents = {&document},
    .run = run,
};
