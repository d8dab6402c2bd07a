/* SPDX-License-Identifier: Apache-2.0 */
/* What units and chains do after each marker. */
#include "app/responses.h"
#include "app/csv.h"
#include "app/load.h"
#include "app/mining.h"

#include "core/describe/table.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/reals.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- rows ---- */

#define NO_SPIKE .null = "there is no spike in any"
#define FEW_SPIKES .null = "of fewer than two trials with a spike"
#define ALIKE .null = "the windows of every trial count the same: there is nothing to test"
#define ROW app_response
static const sf_column_row response_rows[] = {
    SF_MEMBER_IS(TEXT, kind, "unit or chain: whose response it is"),
    SF_MEMBER_IS(UNIT, unit, "0-based index of the unit", .null = "of a chain"),
    SF_MEMBER_IS(TEXT, name, "its name, or the chain as people write it"),
    SF_MEMBER_IS(REAL, response_hz, "rate in the response windows", .unit = "Hz"),
    SF_MEMBER_IS(REAL, baseline_hz, "rate in the windows before the marker", .unit = "Hz"),
    SF_MEMBER_IS(
        REAL, evoked,
        "spikes (of a chain occurrences) a trial in the response window beyond those of a window before"),
    SF_MEMBER_IS(COUNT, spikes, "spikes in the response windows"),
    SF_MEMBER_IS(COUNT, baseline_spikes, "spikes in all windows before the markers"),
    SF_MEMBER_IS(REAL, reliability, "share of trials with a spike in the response window",
                 .unit = "probability"),
    SF_MEMBER_IS(REAL, baseline_reliability, "share of the windows before with a spike: what chance gives",
                 .unit = "probability"),
    SF_MEMBER_IS(REAL, latency_ms,
                 "first spike of the response window after the marker, median over trials with one",
                 .unit = "ms", NO_SPIKE),
    SF_MEMBER_IS(REAL, baseline_latency_ms,
                 "the same of the windows before, as if each were the response window", .unit = "ms",
                 NO_SPIKE),
    SF_MEMBER_IS(REAL, jitter_ms, "standard deviation of these first spikes", .unit = "ms", FEW_SPIKES),
    SF_MEMBER_IS(REAL, baseline_jitter_ms, "the same of the windows before", .unit = "ms", FEW_SPIKES),
    SF_MEMBER_IS(REAL, p,
                 "share of permutations of the windows of trials in which it departs from baseline as far",
                 .unit = "probability", ALIKE),
    SF_MEMBER_IS(REAL, q, "the same of the furthest of all units, or of all chains", .unit = "probability",
                 ALIKE),
};
#undef ROW

const sf_table app_responses_table = {.name = "responses",
                                      .row = "response",
                                      .about = "what each unit, or each chain, does after a marker",
                                      SF_TABLE_OF(response_rows)};

typedef struct bin_row {
    const char *kind;
    uint32_t unit;
    const char *name;
    int64_t from_ns, to_ns;
    uint64_t spikes;
    double exposed_s, rate_hz;
} bin_row;

#define ROW bin_row
static const sf_column_row bin_rows[] = {
    SF_MEMBER_IS(TEXT, kind, "unit or chain: whose response it is"),
    SF_MEMBER_IS(UNIT, unit, "0-based index of the unit", .null = "of a chain"),
    SF_MEMBER_IS(TEXT, name, "its name, or the chain as people write it"),
    SF_FIELD_IS(TIME, "from_ms", from_ns, "start of the bin, after the marker", .unit = "ms"),
    SF_FIELD_IS(TIME, "to_ms", to_ns, "its end, excluded", .unit = "ms"),
    SF_MEMBER_IS(COUNT, spikes, "spikes, or occurrences that begin, of all trials"),
    SF_MEMBER_IS(REAL, exposed_s, "what was recorded of it, of all trials", .unit = "s"),
    SF_MEMBER_IS(REAL, rate_hz, "the former over the latter", .unit = "Hz", .null = "nothing was recorded"),
};
#undef ROW

static const sf_table bins_table = {.name = "response_histogram",
                                    .row = "response_bin",
                                    .about = "peri-stimulus time histograms",
                                    SF_TABLE_OF(bin_rows)};

typedef struct trial_row {
    uint64_t trial;
    int64_t time_ns;
    double exposed;
    uint64_t spikes, baseline_spikes, answers;
} trial_row;

#define ROW trial_row
static const sf_column_row trial_rows[] = {
    SF_MEMBER_IS(COUNT, trial, "its number, from 0"),
    SF_FIELD_IS(TIME, "time_s", time_ns, "of the marker", .unit = "s"),
    SF_MEMBER_IS(REAL, exposed, "share of its windows that was recorded and not blanked",
                 .unit = "probability"),
    SF_MEMBER_IS(COUNT, spikes, "spikes of all units in the response window"),
    SF_MEMBER_IS(COUNT, baseline_spikes, "spikes of all units in all windows before the marker"),
    SF_MEMBER_IS(COUNT, answers, "units with a spike in the response window"),
};
#undef ROW

static const sf_table trials_table = {.name = "response_trials",
                                      .row = "response_trial",
                                      .about = "trials, of all units together",
                                      SF_TABLE_OF(trial_rows)};

/* ---- finding ---- */

int app_responses_parse(sf_response_options *options, const app_call *call, bool needed, sf_error *error)
{
    *options = SF_RESPONSE_OPTIONS;
    int status = app_options_read(call, &sf_response_table, options, error);
    if (status == SF_OK && needed && options->marker == NULL)
        status =
            sf_fail(error, SF_USAGE, "--marker", "is needed: the stimulus by its text, or ttl3 for a line");
    if (status == SF_OK && !needed && options->marker == NULL) {
        static const char *const others[] = {"response", "baseline", "around", "bin", NULL};
        status = app_refuse(call, others, "goes with --marker", error);
    }
    return status == SF_OK ? sf_response_check(options, error) : status;
}

static int list_begins(app_responses *r, const sf_occurrences_columns *listed, const sf_recording *recording,
                       sf_error *error)
{
    r->chain_count = listed->count;
    r->begins = sf_alloc(listed->count, sizeof *r->begins);
    r->names = sf_alloc(listed->count, sizeof *r->names);
    if (r->begins == NULL || r->names == NULL)
        return sf_fail_memory(error);
    for (size_t k = 0; k < listed->count; k++) {
        size_t count = (size_t)listed->counts[k], size = listed->episodes[k].size;
        int64_t *times = sf_alloc(count, sizeof *times);
        sf_text name = app_episode_text(recording, &listed->episodes[k]);
        r->begins[k].times_ns = times;
        r->names[k] = name.data != NULL ? sf_copy_string(name.data) : NULL;
        sf_text_free(&name);
        if (times == NULL || r->names[k] == NULL)
            return sf_fail_memory(error);
        for (size_t n = 0; n < count; n++)
            times[n] = listed->times_ns[k][n * size];
        sf_times_sort(times, count);
        r->begins[k].count = count;
    }
    return SF_OK;
}

static int find_chains(app_responses *r, const app_call *call, const sf_recording *recording,
                       const sf_response_options *options, const char *path, sf_error *error)
{
    const sf_progress progress = app_progress(call);
    sf_occurrences_columns listed = {.size = sizeof listed};
    sf_episode *episodes = NULL;
    size_t count;
    int status = app_episodes_read(&episodes, &count, path, recording, error);
    if (status == SF_OK)
        status = sf_occurrences_list(&r->occurrences, recording, episodes, NULL, count, &progress, error);
    if (status == SF_OK) {
        sf_occurrences_get_columns(r->occurrences, &listed);
        status = list_begins(r, &listed, recording, error);
    }
    if (status == SF_OK)
        status = sf_responses_open(&r->chains, recording, options, error);
    if (status == SF_OK)
        status = sf_responses_take(&r->chains, r->begins, count, 0, error);
    sf_free(episodes);
    return status;
}

int app_responses_find(app_responses *r, const app_call *call, const sf_recording *recording,
                       const sf_response_options *options, const char *episodes, sf_error *error)
{
    *r = (app_responses){.of = {.size = sizeof r->of}};
    sf_recording_get_columns(recording, &r->of);
    int status = sf_responses_open(&r->units, recording, options, error);
    if (status == SF_OK)
        status = sf_responses_take_units(&r->units, recording, 0, error);
    if (status == SF_OK && episodes != NULL)
        status = find_chains(r, call, recording, options, episodes, error);
    if (status == SF_DATA && error->place[0] == '\0' && r->of.path != NULL)
        snprintf(error->place, sizeof error->place, "%s", r->of.path);
    return status;
}

void app_responses_free(app_responses *r)
{
    for (size_t k = 0; k < r->chain_count; k++) {
        if (r->begins != NULL)
            sf_free((void *)(uintptr_t)r->begins[k].times_ns);
        if (r->names != NULL)
            sf_free(r->names[k]);
    }
    sf_free(r->begins);
    sf_free(r->names);
    sf_responses_free(&r->units);
    sf_responses_free(&r->chains);
    sf_occurrences_free(r->occurrences);
}

/* ---- what was found ---- */

size_t app_responses_count(const app_responses *r)
{
    return r->units.item_count + r->chains.item_count;
}

const sf_responses *app_responses_of(const app_responses *r, size_t i, size_t *at)
{
    bool chain = i >= r->units.item_count;
    *at = chain ? i - r->units.item_count : i;
    return chain ? &r->chains : &r->units;
}

app_response app_responses_row(const app_responses *r, size_t i)
{
    size_t at;
    const sf_responses *of = app_responses_of(r, i, &at);
    const sf_response *item = &of->items[at];
    bool chain = of == &r->chains;
    double trials = (double)of->trial_count, windows = (double)of->options.baseline;
    return (app_response){
        .kind = chain ? "chain" : "unit",
        .unit = chain ? UINT32_MAX : (uint32_t)at,
        .name = chain ? r->names[at] : r->of.units[at].name,
        .response_hz = sf_response_rate(item->spikes, of->exposed_ns),
        .baseline_hz = sf_response_rate(item->spikes_before, (int64_t)of->options.baseline * of->exposed_ns),
        .evoked = ((double)item->spikes - (double)item->spikes_before / windows) / trials,
        .spikes = item->spikes,
        .baseline_spikes = item->spikes_before,
        .reliability = (double)item->answers / trials,
        .baseline_reliability = (double)item->answers_before / (trials * windows),
        .latency_ms = item->latency_ns * 1e-6,
        .baseline_latency_ms = item->latency_before_ns * 1e-6,
        .jitter_ms = item->jitter_ns * 1e-6,
        .baseline_jitter_ms = item->jitter_before_ns * 1e-6,
        .p = item->p,
        .q = item->q,
    };
}

bool app_response_stands(const app_response *row)
{
    return row->q <= SF_SIGNIFICANT_Q;
}

void app_responses_standing(const app_responses *r, size_t *more, size_t *fewer)
{
    *more = *fewer = 0;
    for (size_t u = 0; u < r->units.item_count; u++) {
        const app_response row = app_responses_row(r, u);
        *more += app_response_stands(&row) && row.evoked > 0;
        *fewer += app_response_stands(&row) && row.evoked < 0;
    }
}

static double per(double part, double whole)
{
    return whole > 0 ? part / whole : NAN;
}

void app_responses_measure(const app_responses *r, const sf_activity *activity, double values[SF_MEASURES],
                           double chance[SF_MEASURES])
{
    double active = 0, standing = 0, evoked = 0, reliable = 0, by_chance = 0, latency = 0, timed = 0;
    for (size_t u = 0; u < r->units.item_count; u++) {
        const app_response row = app_responses_row(r, u);
        if (!activity->units[u].active)
            continue;
        bool stands = app_response_stands(&row), times = stands && row.evoked > 0 && isfinite(row.latency_ms);
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

#define REGULAR_CV 0.05

static bool is_regular(const sf_responses *r)
{
    return r->interval_cv < REGULAR_CV;
}

/* The share of the windows that was recorded and not blanked. */
static double exposed_share(const sf_responses *r)
{
    double whole = (double)(r->options.to_ns - r->options.from_ns) * (double)r->trial_count;
    return (double)r->exposed_ns / whole;
}

/* From when on, after the marker, a response is seen in most trials. */
static double seen_from_ms(const sf_responses *r)
{
    int64_t first = INT64_MAX;
    for (size_t t = 0; t < r->trial_count; t++) {
        int64_t start = r->parts[r->trials[t].first_part].start_ns;
        first = start < first ? start : first;
    }
    return (double)(r->options.from_ns + first) * 1e-6;
}

void app_responses_warn(const app_call *call, const sf_responses *r)
{
    if (r->least_p > SF_SIGNIFICANT_Q)
        app_warn(call, "%zu trial%s too few for a verdict: no p can be below %.3g", r->trial_count,
                 r->trial_count == 1 ? " is" : "s are", r->least_p);
    if (r->overlapping > 0)
        app_warn(
            call,
            "%zu of %zu trials %s the baseline before the response window of the trial before has "
            "ended: what is evoked counts as baseline, too. Fewer windows before (--baseline) or shorter "
            "ones (--response) part them",
            r->overlapping, r->trial_count, r->overlapping == 1 ? "begins" : "begin");
    if (seen_from_ms(r) > (double)r->options.from_ns * 1e-6)
        app_warn(call,
                 "the first %.4g ms of the response window are blanked in every trial: earlier spikes are "
                 "not seen, "
                 "and latencies are of those that are",
                 seen_from_ms(r) - (double)r->options.from_ns * 1e-6);
}

/* ---- the command ---- */

enum { TABLE_RESPONSES, TABLE_HISTOGRAM, TABLE_TRIALS };

typedef struct respond {
    const app_call *call;
    sf_response_options options;
    int table; /* of --csv */
    app_responses found;
} respond;

static const app_option options[] = {
    APP_RESPONSE_OPTIONS,
    {"episodes", "FILE",
     "chains whose occurrences are looked at, too, in a file or one as it is, as in `count`"},
    {"csv", NULL, "print a table as CSV, which --table names; docs/formats.md has the columns"},
    {"table", "responses|histogram|trials", "which table --csv has (default responses)"},
    {.name = "seed"},
    {NULL, NULL, NULL},
};

static int parse(respond *c, sf_error *error)
{
    int status = app_responses_parse(&c->options, c->call, true, error);
    if (status == SF_OK)
        status = app_table_asked(c->call, &c->table, error);
    return status;
}

static bin_row row_of_bin(const app_responses *r, size_t i, size_t bin)
{
    size_t at;
    const sf_responses *of = app_responses_of(r, i, &at);
    const app_response row = app_responses_row(r, i);
    uint64_t spikes = of->histogram[at * of->bin_count + bin];
    int64_t from_ns = of->first_ns + (int64_t)bin * of->options.bin_ns;
    return (bin_row){.kind = row.kind,
                     .unit = row.unit,
                     .name = row.name,
                     .from_ns = from_ns,
                     .to_ns = from_ns + of->options.bin_ns,
                     .spikes = spikes,
                     .exposed_s = (double)of->bin_exposed_ns[bin] * 1e-9,
                     .rate_hz = sf_response_rate(spikes, of->bin_exposed_ns[bin])};
}

static trial_row row_of_trial(const sf_responses *r, size_t t)
{
    const sf_trial *trial = &r->trials[t];
    return (trial_row){.trial = t,
                       .time_ns = trial->time_ns,
                       .exposed = (double)trial->exposed_ns / (double)(r->options.to_ns - r->options.from_ns),
                       .spikes = trial->spikes,
                       .baseline_spikes = trial->spikes_before,
                       .answers = trial->answers};
}

static void write_json(sf_text *text, const void *what)
{
    const respond *c = what;
    const sf_responses *units = &c->found.units;
    size_t more, fewer;
    sf_json json = sf_json_start(text);
    app_responses_standing(&c->found, &more, &fewer);
    sf_json_object(&json, NULL);
    sf_json_string(&json, "recording", c->found.of.path);
    sf_json_string(&json, "marker", units->options.marker);
    sf_json_uint(&json, "markers", units->markers);
    sf_json_uint(&json, "trial_count", units->trial_count);
    sf_json_real(&json, "exposed", exposed_share(units));
    sf_json_milliseconds(&json, "from_ms", units->options.from_ns);
    sf_json_milliseconds(&json, "to_ms", units->options.to_ns);
    sf_json_uint(&json, "baseline_windows", units->options.baseline);
    sf_json_uint(&json, "units", units->item_count);
    sf_json_uint(&json, "units_more", more);
    sf_json_uint(&json, "units_fewer", fewer);
    sf_json_real(&json, "interval_s", units->interval_s);
    sf_json_real(&json, "interval_cv", units->interval_cv);
    sf_json_bool(&json, "regular", is_regular(units));
    sf_json_uint(&json, "overlapping", units->overlapping);
    sf_json_uint(&json, "permutations", units->options.permutations);
    sf_json_uint(&json, "longest_block", units->longest_block);
    sf_json_real(&json, "least_p", units->least_p);
    sf_json_array(&json, "responses");
    for (size_t i = 0; i < app_responses_count(&c->found); i++) {
        const app_response row = app_responses_row(&c->found, i);
        sf_table_json_struct(&json, &app_responses_table, &row);
    }
    sf_json_end_array(&json);
    sf_json_array(&json, "histogram");
    for (size_t i = 0; i < app_responses_count(&c->found); i++)
        for (size_t b = 0; b < units->bin_count; b++) {
            const bin_row row = row_of_bin(&c->found, i, b);
            sf_table_json_struct(&json, &bins_table, &row);
        }
    sf_json_end_array(&json);
    sf_json_array(&json, "trials");
    for (size_t t = 0; t < units->trial_count; t++) {
        const trial_row row = row_of_trial(units, t);
        sf_table_json_struct(&json, &trials_table, &row);
    }
    sf_json_end_array(&json);
    app_provenance_json(&json, c->call);
    sf_json_end_object(&json);
}

static void write_csv(sf_text *text, const void *what)
{
    const respond *c = what;
    static const sf_table *const of[] = {&app_responses_table, &bins_table, &trials_table};
    const sf_table *table = of[c->table];
    const sf_responses *units = &c->found.units;
    app_csv csv = app_csv_start_table(text, table);
    for (size_t i = 0; c->table != TABLE_TRIALS && i < app_responses_count(&c->found); i++) {
        const app_response row = app_responses_row(&c->found, i);
        if (c->table == TABLE_RESPONSES)
            app_csv_struct(&csv, table, &row);
        for (size_t b = 0; c->table == TABLE_HISTOGRAM && b < units->bin_count; b++) {
            const bin_row bin = row_of_bin(&c->found, i, b);
            app_csv_struct(&csv, table, &bin);
        }
    }
    for (size_t t = 0; c->table == TABLE_TRIALS && t < units->trial_count; t++) {
        const trial_row row = row_of_trial(units, t);
        app_csv_struct(&csv, table, &row);
    }
}

/* ---- lines ---- */

#define LISTED 20

/* By p, and then by how much is evoked. */
static int by_verdict(const void *a, const void *b)
{
    const app_response *x = a, *y = b;
    double px = isnan(x->p) ? 2 : x->p, py = isnan(y->p) ? 2 : y->p;
    if (px != py)
        return px < py ? -1 : 1;
    if (fabs(x->evoked) != fabs(y->evoked))
        return fabs(x->evoked) > fabs(y->evoked) ? -1 : 1;
    return (x->unit > y->unit) - (x->unit < y->unit);
}

static int print_rows(sf_text *text, const respond *c, sf_error *error)
{
    size_t count = app_responses_count(&c->found),
           listed = c->call->verbose || count < LISTED ? count : LISTED;
    app_response *rows = sf_alloc(count, sizeof *rows);
    app_table table = {0};
    static const char *const heads[] = {"unit",      "name",     "Hz before", "Hz after",
                                        "evoked",    "reliable", "by chance", "latency ms",
                                        "jitter ms", "p",        "q"};
    if (rows == NULL)
        return sf_fail_memory(error);
    for (size_t i = 0; i < count; i++)
        rows[i] = app_responses_row(&c->found, i);
    qsort(rows, count, sizeof *rows, by_verdict);
    app_table_heads(&table, heads, sizeof heads / sizeof *heads);
    for (size_t i = 0; i < listed; i++) {
        const app_response *row = &rows[i];
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
    app_responses_standing(&c->found, &more, &fewer);
    sf_text_printf(text, "%zu trial%s of '%s'", units->trial_count, units->trial_count == 1 ? "" : "s",
                   units->options.marker);
    if (units->markers > units->trial_count)
        sf_text_printf(text, " (of %zu more nothing was recorded in any window)",
                       units->markers - units->trial_count);
    if (isfinite(units->interval_s))
        sf_text_printf(text, ", one in %.4g s", units->interval_s);
    if (exposed_share(units) < 1)
        sf_text_printf(text, ", %.3g %% of their windows recorded", 100 * exposed_share(units));
    sf_text_printf(text,
                   "; %g to %g ms after %s %zu of %zu unit%s fire%s more and %zu fire%s less than in %" PRIu64
                   " window%s before (q of 0.05 or less)\n\n",
                   (double)units->options.from_ns * 1e-6, (double)units->options.to_ns * 1e-6,
                   units->trial_count == 1 ? "it" : "them", more, units->item_count,
                   units->item_count == 1 ? "" : "s", more == 1 ? "s" : "", fewer, fewer == 1 ? "s" : "",
                   units->options.baseline, units->options.baseline == 1 ? "" : "s");
    int status = print_rows(text, c, error);
    if (is_regular(units))
        sf_text_printf(text,
                       "The markers are regular: a unit whose own rhythm is near %.4g Hz, or near a multiple "
                       "of it, looks as if it responded.\n",
                       1 / units->interval_s);
    return status;
}

static const app_telling telling = {write_json, write_csv, print_text};

static int run(app_call *call, sf_error *error)
{
    sf_recording *recording;
    respond c = {.call = call};
    int status = parse(&c, error);
    app_catch_signals();
    if (status == SF_OK)
        status = app_load(call, call->arguments[0], &recording, error);
    if (status != SF_OK)
        return status;
    app_tell_seed(call, c.options.seed);
    status =
        app_responses_find(&c.found, call, recording, &c.options, app_value(call, "episodes", NULL), error);
    if (status == SF_OK) {
        app_responses_warn(call, &c.found.units);
        status = app_tell(call, &telling, &c, error);
    }
    app_responses_free(&c.found);
    sf_recording_free(recording);
    return status;
}

const app_command app_command_responses = {
    .name = "responses",
    .group = "look",
    .summary = "what units and chains do after each stimulus, beside what they do before it",
    .arguments = "REC... --marker MARKER",
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
    .tables = {&app_responses_table, &bins_table, &trials_table},
    .run = run,
};
