/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/response_report.h"

#include "analysis/tables.h"
#include "core/describe/table.h"
#include "core/episode.h"
#include "core/error.h"
#include "core/marker.h"
#include "core/memory.h"
#include "mine/occurrences.h"

#include <math.h>
#include <stdio.h>

/* ---- columns ---- */

#define NO_SPIKE .null = "there is no spike in any"
#define FEW_SPIKES .null = "of fewer than two trials with a spike"
#define ALIKE .null = "the windows of every trial count the same: there is nothing to test"
#define ROW sf_response_row
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

const sf_table sf_responses_table = {.name = "responses",
                                     .row = "response",
                                     .about = "what each unit, or each chain, does after a marker",
                                     SF_TABLE_OF(response_rows)};

#define ROW sf_response_bin
SF_GETTER(get_bin);

#define BIN(kind, column, member_of, ...)                                                                    \
    {                                                                                                        \
        .is = {.bytes = SF_BYTES_IN(member_of),                                                              \
               .name = column,                                                                               \
               .type = SF_COLUMN_##kind,                                                                     \
               .about = __VA_ARGS__},                                                                        \
        .get = get_bin, .form = SF_FORM_IN(member_of), SF_ROW_ELEMENT(member_of)                             \
    }
static const sf_column_row bin_rows[] = {
    BIN(TEXT, "kind", kind, "unit or chain: whose response it is"),
    BIN(UNIT, "unit", unit, "0-based index of the unit", .null = "of a chain"),
    BIN(TEXT, "name", name, "its name, or the chain as people write it"),
    BIN(TIME, "from_ms", from_ns, "start of the bin, after the marker", .unit = "ms"),
    BIN(TIME, "to_ms", to_ns, "its end, excluded", .unit = "ms"),
    BIN(COUNT, "spikes", spikes, "spikes, or occurrences that begin, of all trials"),
    BIN(REAL, "exposed_s", exposed_s, "what was recorded of it, of all trials", .unit = "s"),
    BIN(REAL, "rate_hz", rate_hz, "the former over the latter", .unit = "Hz", .null = "nothing was recorded"),
};
#undef ROW

const sf_table sf_response_histogram_table = {.name = "response_histogram",
                                              .row = "response_bin",
                                              .about = "peri-stimulus time histograms",
                                              SF_TABLE_OF(bin_rows)};

#define ROW sf_response_trial
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

const sf_table sf_response_trials_table = {.name = "response_trials",
                                           .row = "response_trial",
                                           .about = "trials, of all units together",
                                           SF_TABLE_OF(trial_rows)};

/* ---- finding ---- */

static int list_begins(sf_response_report *r, const sf_occurrences_columns *listed,
                       const sf_recording *recording, sf_error *error)
{
    r->chain_count = listed->count;
    r->begins = sf_alloc(listed->count, sizeof *r->begins);
    r->names = sf_alloc(listed->count, sizeof *r->names);
    if (r->begins == NULL || r->names == NULL) return sf_fail_memory(error);
    for (size_t k = 0; k < listed->count; k++) {
        sf_text name = {0};
        r->begins[k] = (sf_event_train){sf_occurrences_begins(listed, k), (size_t)listed->counts[k]};
        sf_episode_print(&name, &listed->episodes[k], &recording->units);
        r->names[k] = name.data != NULL ? sf_copy_string(name.data) : NULL;
        sf_text_free(&name);
        if (r->begins[k].times_ns == NULL || r->names[k] == NULL) return sf_fail_memory(error);
    }
    return SF_OK;
}

static int find_chains(sf_response_report *r, const sf_recording *recording,
                       const sf_response_options *options, const sf_episode *episodes, size_t count,
                       const sf_progress *progress, sf_error *error)
{
    sf_occurrences_columns listed = {.size = sizeof listed};
    int status = sf_occurrences_list(&r->occurrences, recording, episodes, NULL, count, progress, error);
    if (status == SF_OK) {
        sf_occurrences_get_columns(r->occurrences, &listed);
        status = list_begins(r, &listed, recording, error);
    }
    if (status == SF_OK) status = sf_responses_open(&r->chains, recording, options, error);
    if (status == SF_OK) status = sf_responses_take(&r->chains, r->begins, count, 0, error);
    return status;
}

static sf_response_trial row_of_trial(const sf_responses *r, size_t t)
{
    const sf_trial *trial = &r->trials[t];
    return (sf_response_trial){.trial = t,
                               .time_ns = trial->time_ns,
                               .exposed = (double)trial->exposed_ns /
                                          (double)(r->options.to_ns - r->options.from_ns),
                               .spikes = trial->spikes,
                               .baseline_spikes = trial->spikes_before,
                               .answers = trial->answers};
}

static int list_rows(sf_response_report *r, sf_error *error)
{
    size_t count = sf_response_report_count(r);
    r->rows = sf_alloc(count, sizeof *r->rows);
    r->trials = sf_alloc(r->units.trial_count, sizeof *r->trials);
    if (r->rows == NULL || r->trials == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < count; i++)
        r->rows[i] = sf_response_report_row(r, i);
    for (size_t t = 0; t < r->units.trial_count; t++)
        r->trials[t] = row_of_trial(&r->units, t);
    return SF_OK;
}

int sf_response_report_find(sf_response_report *report, const sf_recording *recording,
                            const sf_response_options *options, const sf_episode *episodes, size_t count,
                            const sf_progress *progress, sf_error *error)
{
    *report = (sf_response_report){.of = {.size = sizeof report->of}};
    sf_recording_get_columns(recording, &report->of);
    sf_response_options how = *options;
    int status = SF_OK;
    if (how.marker == NULL) {
        status = sf_marker_commonest(report->commonest, recording->markers, recording->marker_count, error);
        how.marker = report->commonest;
    }
    if (status == SF_OK) status = sf_responses_open(&report->units, recording, &how, error);
    if (status == SF_OK) status = sf_responses_take_units(&report->units, recording, 0, error);
    if (status == SF_OK && count > 0)
        status = find_chains(report, recording, &how, episodes, count, progress, error);
    if (status == SF_OK) status = list_rows(report, error);
    if (status == SF_DATA && error->place[0] == '\0' && report->of.path != NULL)
        snprintf(error->place, sizeof error->place, "%s", report->of.path);
    return status;
}

void sf_response_report_free(sf_response_report *r)
{
    for (size_t k = 0; k < r->chain_count; k++) {
        if (r->begins != NULL) sf_free((void *)(uintptr_t)r->begins[k].times_ns);
        if (r->names != NULL) sf_free(r->names[k]);
    }
    sf_free(r->begins);
    sf_free(r->names);
    sf_free(r->rows);
    sf_free(r->trials);
    sf_responses_free(&r->units);
    sf_responses_free(&r->chains);
    sf_occurrences_free(r->occurrences);
}

/* ---- what was found ---- */

size_t sf_response_report_count(const sf_response_report *r)
{
    return r->units.item_count + r->chains.item_count;
}

const sf_responses *sf_response_report_of(const sf_response_report *r, size_t i, size_t *at)
{
    bool chain = i >= r->units.item_count;
    *at = chain ? i - r->units.item_count : i;
    return chain ? &r->chains : &r->units;
}

sf_response_row sf_response_report_row(const sf_response_report *r, size_t i)
{
    size_t at;
    const sf_responses *of = sf_response_report_of(r, i, &at);
    const sf_response *item = &of->items[at];
    bool chain = of == &r->chains;
    double trials = (double)of->trial_count, windows = (double)of->options.baseline;
    return (sf_response_row){
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

bool sf_response_stands(const sf_response_row *row)
{
    return row->q <= SF_SIGNIFICANT_Q;
}

void sf_response_report_standing(const sf_response_report *r, size_t *more, size_t *fewer)
{
    *more = *fewer = 0;
    for (size_t u = 0; u < r->units.item_count; u++) {
        const sf_response_row row = sf_response_report_row(r, u);
        *more += sf_response_stands(&row) && row.evoked > 0;
        *fewer += sf_response_stands(&row) && row.evoked < 0;
    }
}

#define REGULAR_CV 0.05

bool sf_responses_regular(const sf_responses *r)
{
    return r->interval_cv < REGULAR_CV;
}

/* The share of the windows that was recorded and not blanked. */
double sf_responses_exposed(const sf_responses *r)
{
    double whole = (double)(r->options.to_ns - r->options.from_ns) * (double)r->trial_count;
    return (double)r->exposed_ns / whole;
}

static sf_response_bin row_of_bin(const sf_response_report *r, size_t i, size_t bin)
{
    size_t at;
    const sf_responses *of = sf_response_report_of(r, i, &at);
    const sf_response_row row = sf_response_report_row(r, i);
    uint64_t spikes = of->histogram[at * of->bin_count + bin];
    int64_t from_ns = of->first_ns + (int64_t)bin * of->options.bin_ns;
    return (sf_response_bin){.kind = row.kind,
                             .unit = row.unit,
                             .name = row.name,
                             .from_ns = from_ns,
                             .to_ns = from_ns + of->options.bin_ns,
                             .spikes = spikes,
                             .exposed_s = (double)of->bin_exposed_ns[bin] * 1e-9,
                             .rate_hz = sf_response_rate(spikes, of->bin_exposed_ns[bin])};
}

/* A row for each bin of each item, created on access. */
SF_GETTER(get_bin)
{
    const sf_response_report *r = of;
    const sf_response_bin bin = row_of_bin(r, row / r->units.bin_count, row % r->units.bin_count);
    sf_column_value(column, &bin, 0, item, value);
}

sf_table sf_response_report_table(const sf_response_report *report, size_t which)
{
    size_t count = sf_response_report_count(report);
    const sf_table_rows parts[SF_RESPONSE_TABLES] = {
        {&sf_responses_table, report->rows, count},
        {&sf_response_histogram_table, report, count * report->units.bin_count},
        {&sf_response_trials_table, report->trials, report->units.trial_count}};
    return sf_table_with(&parts[which]);
}

/* ---- the document ---- */

SF_GETTER(get_exposed)
{
    sf_value_set_real(value, sf_responses_exposed(&((const sf_response_report *)of)->units));
}

SF_GETTER(get_regular)
{
    sf_value_set_flag(value, sf_responses_regular(&((const sf_response_report *)of)->units));
}

/* Number of items with more spikes, or with fewer, as column->member selects. */
SF_GETTER(get_standing)
{
    size_t standing[2];
    sf_response_report_standing(of, &standing[0], &standing[1]);
    sf_value_set_count(value, standing[column->member]);
}

SF_GETTER(get_row)
{
    sf_value_set_record(value, ((const sf_response_report *)of)->rows, item);
}

SF_LENGTH(count_rows)
{
    *length = sf_response_report_count(of);
    return true;
}

SF_LENGTH(count_bins)
{
    *length = sf_response_report_table(of, 1).row_count;
    return true;
}

#define ROW sf_response_report
#define STANDING(column, place, phrase)                                                                      \
    {                                                                                                        \
        .is = SF_WHAT_IS(COUNT, column, phrase), .get = get_standing, .member = (place)                      \
    }
static const sf_column_row document_rows[] = {
    SF_FIELD_IS(TEXT, "marker", units.options.marker, "--marker"),
    SF_FIELD_IS(COUNT, "markers", units.markers, "markers of that name"),
    SF_FIELD_IS(COUNT, "trial_count", units.trial_count,
                "of these, those whose windows were recorded at some offset"),
    SF_GOT_BY(REAL, "exposed", get_exposed,
              "share of the windows of all trials that was recorded and not blanked in any of the trial",
              .unit = "probability"),
    SF_FIELD_IS(TIME, "from_ms", units.options.from_ns,
                "start of the response window after the marker, --response", .unit = "ms"),
    SF_FIELD_IS(TIME, "to_ms", units.options.to_ns, "its end, excluded", .unit = "ms"),
    SF_FIELD_IS(COUNT, "baseline_windows", units.options.baseline,
                "windows of the same length before the marker, --baseline"),
    SF_FIELD_IS(COUNT, "units", units.item_count, "units"),
    STANDING("units_more", 0, "units with a q of 0.05 or less that fire more after the marker"),
    STANDING("units_fewer", 1, "units with a q of 0.05 or less that fire less"),
    SF_FIELD_IS(REAL, "interval_s", units.interval_s, "between trials, mean", .unit = "s",
                .null = "there is one trial"),
    SF_FIELD_IS(REAL, "interval_cv", units.interval_cv, "coefficient of variation of these intervals",
                .null = "there are fewer than three trials"),
    SF_GOT_BY(
        FLAG, "regular", get_regular,
        "it is below 0.05: a rhythm of a unit near the rate of the markers, or a multiple, looks like a "
        "response"),
    SF_FIELD_IS(COUNT, "overlapping", units.overlapping,
                "trials whose baseline begins before the response window of the trial before has ended"),
    SF_FIELD_IS(COUNT, "permutations", units.options.permutations, "--permutations"),
    SF_FIELD_IS(COUNT, "longest_block", units.longest_block, "trials that were permuted together at most"),
    SF_FIELD_IS(REAL, "least_p", units.least_p, "no p can be below it, with so many trials and permutations",
                .unit = "probability"),
    SF_TABLE_BY("responses", get_row, count_rows, &sf_responses_table, "every unit, then every chain"),
    SF_TABLE_BY("histogram", sf_column_own_row, count_bins, &sf_response_histogram_table,
                "bins of every unit, then of every chain"),
    SF_STRUCTS_ARE("trials", trials, units.trial_count, &sf_response_trials_table, "trials in order"),
};
#undef ROW

const sf_table sf_response_report_document = {
    .name = "responses", .about = "what units and chains do after each marker", SF_TABLE_OF(document_rows)};
