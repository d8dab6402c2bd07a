/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/burst_report.h"

#include "analysis/tables.h"
#include "core/describe/table.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/row_macros.h"

#include <math.h>

/* ---- options ---- */

static const sf_burst_report_options usual = {.seed = 1};

#define ROW sf_burst_report_options
static const sf_key option_rows[] = {
    {SF_ROW_SEED, AT(seed), .what = "of what chance gives"},
    {0},
};
#undef ROW

const sf_key_table sf_burst_report_options_table = SF_KEY_TABLE(option_rows, usual);

/* ---- columns ---- */

#define ROW sf_burst_row
static const sf_column_row burst_rows[] = {
    SF_MEMBER_IS(TEXT, kind, "unit or network: what bursts"),
    SF_MEMBER_IS(UNIT, unit, "0-based index of the unit", .null = "of the network"),
    SF_MEMBER_IS(TEXT, name, "its name", .null = "of the network"),
    SF_FIELD_IS(TIME, "start_s", start_ns, "its first spike", .unit = "s"),
    SF_FIELD_IS(TIME, "stop_s", stop_ns, "its last spike", .unit = "s"),
    SF_MEMBER_IS(COUNT, spikes, "spikes in it"),
    SF_MEMBER_IS(COUNT, units, "units that fire in it"),
};
#undef ROW

const sf_table sf_bursts_table = {
    .name = "bursts", .row = "burst", .about = "bursts of units and of the network", SF_TABLE_OF(burst_rows)};

#define NO_BURST .null = "it has no burst"
#define ROW sf_burst_unit_row
static const sf_column_row unit_rows[] = {
    SF_MEMBER_IS(UNIT, unit, "0-based index of the unit"),
    SF_MEMBER_IS(TEXT, name, "its name"),
    SF_MEMBER_IS(COUNT, spikes, "number of its spikes"),
    SF_MEMBER_IS(REAL, rate_hz, "spikes over the recorded duration", .unit = "Hz", .null = "that is 0"),
    SF_MEMBER_IS(FLAG, active, "it fires at the rate of --active or more"),
    SF_MEMBER_IS(COUNT, bursts, "its bursts"),
    SF_MEMBER_IS(REAL, burst_rate, "bursts a minute", .unit = "1/min", .null = "the recorded duration is 0"),
    SF_MEMBER_IS(REAL, burst_rate_chance, "the same of Poisson trains with its spikes in every 10 s",
                 .unit = "1/min", .null = "no unit is active"),
    SF_MEMBER_IS(REAL, burst_share, "share of its spikes that lie in bursts", .unit = "probability",
                 .null = "it has no spikes"),
    SF_MEMBER_IS(REAL, burst_share_chance, "the same of Poisson trains with its spikes in every 10 s",
                 .unit = "probability", .null = "it has no spikes, or no unit is active"),
    SF_MEMBER_IS(REAL, burst_s, "duration of a burst, mean", .unit = "s", NO_BURST),
    SF_MEMBER_IS(REAL, burst_spikes, "spikes in a burst, mean", NO_BURST),
    SF_MEMBER_IS(REAL, burst_hz, "intervals in bursts over their time", .unit = "Hz",
                 .null = "it has no burst, or they last no time"),
    SF_MEMBER_IS(REAL, inter_burst_s, "from the end of a burst to the next within recorded time, mean",
                 .unit = "s", .null = "no burst follows another"),
    SF_MEMBER_IS(REAL, core_ms, "logisi, cma: the longest interval in the core of a burst", .unit = "ms",
                 .null = "another definition, or no limit was found"),
    SF_MEMBER_IS(REAL, extend_ms, "logisi, cma: the longest interval around a core", .unit = "ms",
                 .null = "another definition, or no limit was found"),
};
#undef ROW

const sf_table sf_burst_units_table = {
    .name = "burst_units", .row = "burst_unit", .about = "bursts of each unit", SF_TABLE_OF(unit_rows)};

#define ROW sf_network_burst_row
static const sf_column_row network_rows[] = {
    SF_FIELD_IS(TIME, "start_s", start_ns, "start of the burst", .unit = "s"),
    SF_FIELD_IS(TIME, "stop_s", stop_ns, "its end", .unit = "s"),
    SF_MEMBER_IS(COUNT, spikes, "spikes in it"),
    SF_MEMBER_IS(COUNT, units, "active units that fire in it"),
    SF_MEMBER_IS(REAL, participation, "share of the active units that fire in it", .unit = "probability",
                 .null = "no unit is active"),
    SF_MEMBER_IS(REAL, inter_burst_s, "from the end of the one before, within recorded time", .unit = "s",
                 .null = "there is none"),
};
#undef ROW

const sf_table sf_network_bursts_table = {.name = "network_bursts",
                                          .row = "network_burst",
                                          .about = "bursts of the network, in order",
                                          SF_TABLE_OF(network_rows)};

#define ROW sf_burst_summary_row
static const sf_column_row summary_rows[] = {
    SF_MEMBER_IS(TEXT, measure, "its name"),
    SF_MEMBER_IS(REAL, value, "of this recording", .null = "there is nothing to take it from"),
    SF_MEMBER_IS(REAL, chance, "what chance gives: the mean of 20 drawings", .null = "not drawn"),
    SF_MEMBER_IS(TEXT, unit, "of both, empty of a plain number"),
    SF_MEMBER_IS(TEXT, what, "what it is"),
};
#undef ROW

const sf_table sf_burst_summary_table = {.name = "burst_summary",
                                         .row = "burst_measure",
                                         .about = "what bursts of a recording are like",
                                         SF_TABLE_OF(summary_rows)};

/* ---- single bursts ---- */

int sf_burst_rows_list(sf_burst_row **rows, size_t *count, const sf_activity *activity, const sf_unit *units,
                       sf_error *error)
{
    const sf_bursts *network = &activity->network;
    sf_burst_row *row = *rows = sf_alloc(network->count + activity->unit_bursts.count, sizeof **rows);
    *count = 0;
    if (row == NULL) return sf_fail_memory(error);
    for (size_t b = 0; b < network->count; b++)
        *row++ = (sf_burst_row){.kind = "network",
                                .unit = UINT32_MAX,
                                .start_ns = network->items[b].start_ns,
                                .stop_ns = network->items[b].stop_ns,
                                .spikes = network->members[b].spikes,
                                .units = network->members[b].units};
    for (size_t u = 0; u < activity->unit_count; u++)
        for (size_t b = 0; b < activity->units[u].bursts; b++) {
            const sf_unit_burst *burst = &activity->unit_bursts.items[activity->units[u].first_burst + b];
            *row++ = (sf_burst_row){.kind = "unit",
                                    .unit = (uint32_t)u,
                                    .name = units[u].name,
                                    .start_ns = burst->first_ns,
                                    .stop_ns = burst->last_ns,
                                    .spikes = burst->spikes,
                                    .units = 1};
        }
    *count = (size_t)(row - *rows);
    return SF_OK;
}

/* ---- figures ---- */

static double per(double part, double whole)
{
    return whole > 0 ? part / whole : NAN;
}

/* Whether all of the time between the two was recorded. */
static bool is_recorded(const sf_burst_report *b, int64_t from_ns, int64_t to_ns)
{
    size_t low = 0, high = b->of.observed_count; /* the first interval that ends after `from` */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (b->of.observed[middle].stop_ns <= from_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return b->of.observed_count == 0 || (low < b->of.observed_count && b->of.observed[low].stop_ns >= to_ns);
}

/* Pause between two bursts in s; NaN if part of it was not recorded. */
static double pause_s(const sf_burst_report *b, int64_t end_ns, int64_t next_ns)
{
    return is_recorded(b, end_ns, next_ns) ? (double)(next_ns - end_ns) * 1e-9 : NAN;
}

typedef struct mean {
    double sum, count;
} mean;

static void add(mean *m, double value)
{
    m->sum += isnan(value) ? 0 : value;
    m->count += !isnan(value);
}

static mean pauses_of_unit(const sf_burst_report *b, const sf_unit_activity *unit)
{
    mean pauses = {0};
    const sf_unit_burst *items = b->activity.unit_bursts.items + unit->first_burst;
    for (size_t i = 1; i < unit->bursts; i++)
        add(&pauses, pause_s(b, items[i - 1].last_ns, items[i].first_ns));
    return pauses;
}

static double limit_ms(int64_t limit_ns, const sf_burst_report *b)
{
    bool adaptive = b->options.activity.bursts.method == SF_BURSTS_LOG_ISI ||
                    b->options.activity.bursts.method == SF_BURSTS_CMA;
    return adaptive && limit_ns >= 0 ? (double)limit_ns * 1e-6 : NAN;
}

static sf_burst_unit_row row_of_unit(const sf_burst_report *b, size_t u, const sf_unit_chance *chance)
{
    const sf_unit_activity *unit = &b->activity.units[u];
    const sf_unit_burst *items = b->activity.unit_bursts.items;
    double seconds = 0, minutes = b->activity.duration_s / 60, count = (double)unit->bursts;
    const mean pauses = pauses_of_unit(b, unit);
    for (size_t i = unit->first_burst; i < unit->first_burst + unit->bursts; i++)
        seconds += (double)(items[i].last_ns - items[i].first_ns) * 1e-9;
    bool drawn = b->activity.active_units > 0;
    return (sf_burst_unit_row){.unit = (uint32_t)u,
                               .name = b->of.units[u].name,
                               .spikes = unit->spikes,
                               .rate_hz = unit->rate_hz,
                               .active = unit->active,
                               .bursts = unit->bursts,
                               .burst_rate = per(count, minutes),
                               .burst_rate_chance = drawn ? per(chance->bursts, minutes) : NAN,
                               .burst_share = per((double)unit->in_bursts, (double)unit->spikes),
                               .burst_share_chance =
                                   drawn ? per(chance->in_bursts, (double)unit->spikes) : NAN,
                               .burst_s = per(seconds, count),
                               .burst_spikes = per((double)unit->in_bursts, count),
                               .burst_hz = per((double)unit->in_bursts - count, seconds),
                               .inter_burst_s = per(pauses.sum, pauses.count),
                               .core_ms = limit_ms(unit->limits.intervals.core_ns, b),
                               .extend_ms = limit_ms(unit->limits.intervals.extend_ns, b)};
}

static sf_network_burst_row row_of_network(const sf_burst_report *b, size_t i)
{
    const sf_bursts *network = &b->activity.network;
    const sf_span *at = &network->items[i];
    return (sf_network_burst_row){
        .start_ns = at->start_ns,
        .stop_ns = at->stop_ns,
        .spikes = network->members[i].spikes,
        .units = network->members[i].units,
        .participation = per((double)network->members[i].units, (double)b->activity.active_units),
        .inter_burst_s = i > 0 ? pause_s(b, at[-1].stop_ns, at->start_ns) : NAN};
}

static void summarise(sf_burst_report *b)
{
    mean of_units = {0}, of_network = {0}, bursting = {0};
    for (size_t u = 0; u < b->activity.unit_count; u++) {
        const sf_unit_activity *unit = &b->activity.units[u];
        if (!unit->active) continue;
        const mean pauses = pauses_of_unit(b, unit);
        of_units.sum += pauses.sum;
        of_units.count += pauses.count;
        add(&bursting, unit->bursts > 0);
    }
    for (size_t i = 1; i < b->activity.network.count; i++)
        add(&of_network, b->network[i].inter_burst_s);
    for (int m = 0; m < SF_BURST_MEASURES; m++) {
        sf_measured measure = (sf_measured)(SF_MEASURE_BURST_RATE + m);
        const sf_measure_kind *kind = sf_measure_about(measure);
        b->summary[m] = (sf_burst_summary_row){kind->name, b->measured[measure], b->by_chance[measure],
                                               kind->unit, kind->what};
    }
    b->summary[SF_BURST_MEASURES] =
        (sf_burst_summary_row){"bursting_units", per(bursting.sum, bursting.count), NAN, "",
                               "share of the active units that have a burst"};
    b->summary[SF_BURST_MEASURES + 1] =
        (sf_burst_summary_row){"inter_burst_s", per(of_units.sum, of_units.count), NAN, "s",
                               "from the end of a burst of an active unit to its next, mean over bursts"};
    b->summary[SF_BURST_MEASURES + 2] =
        (sf_burst_summary_row){"network_inter_burst_s", per(of_network.sum, of_network.count), NAN, "s",
                               "from the end of a network burst to the next, mean"};
}

static int list_rows(sf_burst_report *b, const sf_unit_chance *chance, sf_error *error)
{
    b->units = sf_alloc(b->of.unit_count, sizeof *b->units);
    b->network = sf_alloc(b->activity.network.count, sizeof *b->network);
    if (b->units == NULL || b->network == NULL) return sf_fail_memory(error);
    for (size_t u = 0; u < b->of.unit_count; u++)
        b->units[u] = row_of_unit(b, u, &chance[u]);
    for (size_t i = 0; i < b->activity.network.count; i++)
        b->network[i] = row_of_network(b, i);
    return sf_burst_rows_list(&b->bursts, &b->burst_count, &b->activity, b->of.units, error);
}

int sf_burst_report_find(sf_burst_report *report, const sf_recording *recording,
                         const sf_burst_report_options *options, sf_error *error)
{
    *report = (sf_burst_report){.options = *options, .of = {.size = sizeof report->of}};
    sf_recording_get_columns(recording, &report->of);
    sf_unit_chance *chance = sf_alloc(report->of.unit_count, sizeof *chance);
    int status = chance == NULL ? sf_fail_memory(error)
                                : sf_activity_find(&report->activity, recording, &options->activity, error);
    if (status == SF_OK)
        status = sf_activity_chance(report->by_chance, chance, recording, &options->activity, options->seed,
                                    error);
    if (status == SF_OK) {
        sf_activity_measure(&report->activity, report->measured);
        status = list_rows(report, chance, error);
    }
    if (status == SF_OK) summarise(report);
    sf_free(chance);
    return status;
}

void sf_burst_report_free(sf_burst_report *report)
{
    sf_activity_free(&report->activity);
    sf_free(report->units);
    sf_free(report->network);
    sf_free(report->bursts);
    *report = (sf_burst_report){0};
}

/* ---- what was found ---- */

sf_table sf_burst_report_table(const sf_burst_report *report, size_t which)
{
    const sf_table_rows parts[SF_BURST_TABLES] = {
        {&sf_burst_units_table, report->units, report->of.unit_count},
        {&sf_network_bursts_table, report->network, report->activity.network.count},
        {&sf_bursts_table, report->bursts, report->burst_count},
        {&sf_burst_summary_table, report->summary, SF_BURST_SUMMARY}};
    return sf_table_with(&parts[which]);
}

static const char *word_of_bursts(const void *method)
{
    return sf_burst_method_names[*(const sf_burst_method *)method];
}

SF_GETTER(get_within)
{
    const int64_t within_ns = ((const sf_burst_report *)of)->activity.network.within_ns;
    if (within_ns > 0) sf_value_set_time(value, &column->is, within_ns);
}

SF_LENGTH(count_summary)
{
    *length = SF_BURST_SUMMARY;
    return true;
}

SF_GETTER(get_summary)
{
    sf_value_set_record(value, ((const sf_burst_report *)of)->summary, item);
}

#define ROW sf_burst_report
static const sf_column_row document_rows[] = {
    SF_WORD_IS("burst_method", options.activity.bursts.method, word_of_bursts, "--burst-method",
               .words = sf_burst_method_names),
    SF_WORD_IS("network_method", options.activity.network.method, sf_network_method_word, "--network-method",
               .words = sf_network_method_names),
    SF_GOT_BY(TIME, "network_within_ms", get_within, "the threshold of ISI_N", .unit = "ms",
              .null = "another method, or no valley"),
    SF_FIELD_IS(FLAG, "network_from_silence", activity.network.from_silence,
                "the threshold that ISI_N took parts activity from silence: it is 1 s or more, and bursts "
                "hold 95 % of the spikes or more"),
    SF_FIELD_IS(COUNT, "spikes", activity.spikes, "spikes"),
    SF_FIELD_IS(COUNT, "units", activity.unit_count, "units"),
    SF_FIELD_IS(COUNT, "active_units", activity.active_units, "units at the rate of --active or more"),
    SF_FIELD_IS(REAL, "duration_s", activity.duration_s, "recorded", .unit = "s"),
    SF_TABLE_BY("summary", get_summary, count_summary, &sf_burst_summary_table,
                "what bursts are like, beside chance"),
    SF_STRUCTS_ARE("unit_detail", units, of.unit_count, &sf_burst_units_table, "every unit"),
    SF_STRUCTS_ARE("network_bursts", network, activity.network.count, &sf_network_bursts_table,
                   "bursts of the network, in order"),
    SF_STRUCTS_ARE("bursts", bursts, burst_count, &sf_bursts_table,
                   "bursts of the network, then of each unit"),
};
#undef ROW

const sf_table sf_burst_report_document = {
    .name = "bursts", .about = "bursts of units and of the network", SF_TABLE_OF(document_rows)};
