/* SPDX-License-Identifier: Apache-2.0 */
/* Bursts of units and of the network, beside those that chance makes. */
#include "app/bursts.h"
#include "app/csv.h"
#include "app/load.h"

#include "core/describe/table.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/row_macros.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- single bursts ---- */

#define ROW app_burst
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

const sf_table app_bursts_table = {
    .name = "bursts", .row = "burst", .about = "bursts of units and of the network", SF_TABLE_OF(burst_rows)};

void app_bursts_each(const sf_activity *activity, const sf_unit *units,
                     void (*put)(void *user, const app_burst *burst), void *user)
{
    const sf_bursts *network = &activity->network;
    for (size_t b = 0; b < network->count; b++)
        put(user, &(app_burst){.kind = "network",
                               .unit = UINT32_MAX,
                               .start_ns = network->items[b].start_ns,
                               .stop_ns = network->items[b].stop_ns,
                               .spikes = network->members[b].spikes,
                               .units = network->members[b].units});
    for (size_t u = 0; u < activity->unit_count; u++)
        for (size_t b = 0; b < activity->units[u].bursts; b++) {
            const sf_unit_burst *burst = &activity->unit_bursts.items[activity->units[u].first_burst + b];
            put(user, &(app_burst){.kind = "unit",
                                   .unit = (uint32_t)u,
                                   .name = units[u].name,
                                   .start_ns = burst->first_ns,
                                   .stop_ns = burst->last_ns,
                                   .spikes = burst->spikes,
                                   .units = 1});
        }
}

/* ---- units ---- */

typedef struct unit_row {
    uint32_t unit;
    const char *name;
    uint64_t spikes;
    double rate_hz;
    bool active;
    uint64_t bursts;
    double burst_rate, burst_rate_chance, burst_share, burst_share_chance;
    double burst_s, burst_spikes, burst_hz, inter_burst_s;
    double core_ms, extend_ms;
} unit_row;

#define NO_BURST .null = "it has no burst"
#define ROW unit_row
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

static const sf_table units_table = {
    .name = "burst_units", .row = "burst_unit", .about = "bursts of each unit", SF_TABLE_OF(unit_rows)};

/* ---- the network ---- */

typedef struct network_row {
    int64_t start_ns, stop_ns;
    uint64_t spikes, units;
    double participation, inter_burst_s;
} network_row;

#define ROW network_row
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

static const sf_table network_table = {.name = "network_bursts",
                                       .row = "network_burst",
                                       .about = "bursts of the network, in order",
                                       SF_TABLE_OF(network_rows)};

/* ---- the summary ---- */

typedef struct summary_row {
    const char *measure;
    double value, chance;
    const char *unit, *what;
} summary_row;

#define ROW summary_row
static const sf_column_row summary_rows[] = {
    SF_MEMBER_IS(TEXT, measure, "its name"),
    SF_MEMBER_IS(REAL, value, "of this recording", .null = "there is nothing to take it from"),
    SF_MEMBER_IS(REAL, chance, "what chance gives: the mean of 20 drawings", .null = "not drawn"),
    SF_MEMBER_IS(TEXT, unit, "of both, empty of a plain number"),
    SF_MEMBER_IS(TEXT, what, "what it is"),
};
#undef ROW

static const sf_table summary_table = {.name = "burst_summary",
                                       .row = "burst_measure",
                                       .about = "what bursts of a recording are like",
                                       SF_TABLE_OF(summary_rows)};

/* ---- what is asked, and found ---- */

enum { MEASURES = SF_MEASURE_NETWORK_UNITS - SF_MEASURE_BURST_RATE + 1, OWN = 3 };

enum { TABLE_UNITS, TABLE_NETWORK, TABLE_BURSTS, TABLE_SUMMARY };

typedef struct bursts {
    const app_call *call;
    sf_activity_options options;
    uint64_t seed;
    int table; /* of --csv */
    const sf_recording *recording;
    sf_recording_columns of;
    sf_activity activity;
    sf_unit_chance *chance; /* by unit */
    double measured[SF_MEASURES], by_chance[SF_MEASURES];
    summary_row summary[MEASURES + OWN];
} bursts;

static const bursts usual = {.seed = 1};

#define ROW bursts
static const sf_key rows[] = {
    {SF_ROW_SEED, AT(seed), .what = "of what chance gives"},
    {0},
};
#undef ROW

static const sf_key_table bursts_table = SF_KEY_TABLE(rows, usual);

static const app_option options[] = {
    {"csv", NULL, "print a table as CSV, which --table names; docs/formats.md has the columns"},
    {"table", "units|network|bursts|summary",
     "which table --csv has, bursts being single ones of both (default units)"},
    {.name = "burst-method"},
    {.name = "burst-begin"},
    {.name = "burst-within"},
    {.name = "burst-apart"},
    {.name = "burst-least"},
    {.name = "burst-spikes"},
    {.name = "burst-surprise"},
    {.name = "network-method"},
    {.name = "active"},
    {.name = "network-share"},
    {.name = "network-spikes"},
    {.name = "network-within"},
    {.name = "seed"},
    {NULL, NULL, NULL},
};

static int parse(bursts *b, sf_error *error)
{
    const app_call *call = b->call;
    b->options = SF_ACTIVITY_OPTIONS;
    int status = app_options_read(call, &sf_activity_table, &b->options, error);
    if (status == SF_OK)
        status = app_options_read(call, &bursts_table, b, error);
    if (status == SF_OK)
        status = sf_activity_check(&b->options, error);
    if (status == SF_OK)
        status = app_table_asked(call, &b->table, error);
    return status;
}

/* ---- figures ---- */

static double per(double part, double whole)
{
    return whole > 0 ? part / whole : NAN;
}

/* Whether all of the time between the two was recorded. */
static bool is_recorded(const bursts *b, int64_t from_ns, int64_t to_ns)
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

/* The pause between two, s; NaN where some of it was not recorded. */
static double pause_s(const bursts *b, int64_t end_ns, int64_t next_ns)
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

static mean pauses_of_unit(const bursts *b, const sf_unit_activity *unit)
{
    mean pauses = {0};
    const sf_unit_burst *items = b->activity.unit_bursts.items + unit->first_burst;
    for (size_t i = 1; i < unit->bursts; i++)
        add(&pauses, pause_s(b, items[i - 1].last_ns, items[i].first_ns));
    return pauses;
}

static double limit_ms(int64_t limit_ns, const bursts *b)
{
    bool adaptive =
        b->options.bursts.method == SF_BURSTS_LOG_ISI || b->options.bursts.method == SF_BURSTS_CMA;
    return adaptive && limit_ns >= 0 ? (double)limit_ns * 1e-6 : NAN;
}

static unit_row row_of_unit(const bursts *b, size_t u)
{
    const sf_unit_activity *unit = &b->activity.units[u];
    const sf_unit_chance *chance = &b->chance[u];
    const sf_unit_burst *items = b->activity.unit_bursts.items;
    double seconds = 0, minutes = b->activity.duration_s / 60, count = (double)unit->bursts;
    const mean pauses = pauses_of_unit(b, unit);
    for (size_t i = unit->first_burst; i < unit->first_burst + unit->bursts; i++)
        seconds += (double)(items[i].last_ns - items[i].first_ns) * 1e-9;
    bool drawn = b->activity.active_units > 0;
    return (unit_row){.unit = (uint32_t)u,
                      .name = b->of.units[u].name,
                      .spikes = unit->spikes,
                      .rate_hz = unit->rate_hz,
                      .active = unit->active,
                      .bursts = unit->bursts,
                      .burst_rate = per(count, minutes),
                      .burst_rate_chance = drawn ? per(chance->bursts, minutes) : NAN,
                      .burst_share = per((double)unit->in_bursts, (double)unit->spikes),
                      .burst_share_chance = drawn ? per(chance->in_bursts, (double)unit->spikes) : NAN,
                      .burst_s = per(seconds, count),
                      .burst_spikes = per((double)unit->in_bursts, count),
                      .burst_hz = per((double)unit->in_bursts - count, seconds),
                      .inter_burst_s = per(pauses.sum, pauses.count),
                      .core_ms = limit_ms(unit->limits.intervals.core_ns, b),
                      .extend_ms = limit_ms(unit->limits.intervals.extend_ns, b)};
}

static network_row row_of_network(const bursts *b, size_t i)
{
    const sf_bursts *network = &b->activity.network;
    const sf_span *at = &network->items[i];
    return (network_row){.start_ns = at->start_ns,
                         .stop_ns = at->stop_ns,
                         .spikes = network->members[i].spikes,
                         .units = network->members[i].units,
                         .participation =
                             per((double)network->members[i].units, (double)b->activity.active_units),
                         .inter_burst_s = i > 0 ? pause_s(b, at[-1].stop_ns, at->start_ns) : NAN};
}

static void summarise(bursts *b)
{
    mean of_units = {0}, of_network = {0}, bursting = {0};
    for (size_t u = 0; u < b->activity.unit_count; u++) {
        const sf_unit_activity *unit = &b->activity.units[u];
        if (!unit->active)
            continue;
        const mean pauses = pauses_of_unit(b, unit);
        of_units.sum += pauses.sum;
        of_units.count += pauses.count;
        add(&bursting, unit->bursts > 0);
    }
    for (size_t i = 1; i < b->activity.network.count; i++)
        add(&of_network, row_of_network(b, i).inter_burst_s);
    for (int m = 0; m < MEASURES; m++) {
        sf_measured measure = (sf_measured)(SF_MEASURE_BURST_RATE + m);
        const sf_measure_kind *kind = sf_measure_about(measure);
        b->summary[m] =
            (summary_row){kind->name, b->measured[measure], b->by_chance[measure], kind->unit, kind->what};
    }
    b->summary[MEASURES] = (summary_row){"bursting_units", per(bursting.sum, bursting.count), NAN, "",
                                         "share of the active units that have a burst"};
    b->summary[MEASURES + 1] =
        (summary_row){"inter_burst_s", per(of_units.sum, of_units.count), NAN, "s",
                      "from the end of a burst of an active unit to its next, mean over bursts"};
    b->summary[MEASURES + 2] = (summary_row){"network_inter_burst_s", per(of_network.sum, of_network.count),
                                             NAN, "s", "from the end of a network burst to the next, mean"};
}

static int find(bursts *b, sf_error *error)
{
    b->of = (sf_recording_columns){.size = sizeof b->of};
    sf_recording_get_columns(b->recording, &b->of);
    b->chance = sf_alloc(b->of.unit_count, sizeof *b->chance);
    if (b->chance == NULL)
        return sf_fail_memory(error);
    int status = sf_activity_find(&b->activity, b->recording, &b->options, error);
    if (status == SF_OK)
        status = sf_activity_chance(b->by_chance, b->chance, b->recording, &b->options, b->seed, error);
    if (status != SF_OK)
        return status;
    sf_activity_measure(&b->activity, b->measured);
    summarise(b);
    return SF_OK;
}

/* ---- telling ---- */

static void write_burst(void *user, const app_burst *burst)
{
    sf_table_json_struct(user, &app_bursts_table, burst);
}

static void write_json(sf_text *text, const void *what)
{
    const bursts *b = what;
    sf_json json = sf_json_start(text);
    sf_table summary = summary_table;
    summary.of = b->summary;
    summary.row_count = MEASURES + OWN;
    sf_json_object(&json, NULL);
    sf_json_string(&json, "recording", b->of.path);
    sf_json_string(&json, "burst_method", sf_burst_method_names[b->options.bursts.method]);
    sf_json_string(&json, "network_method", sf_network_method_names[b->options.network.method]);
    sf_json_real(&json, "network_within_ms",
                 b->activity.network.within_ns > 0 ? (double)b->activity.network.within_ns * 1e-6 : NAN);
    sf_json_bool(&json, "network_from_silence", b->activity.network.from_silence);
    sf_json_uint(&json, "spikes", b->activity.spikes);
    sf_json_uint(&json, "units", b->activity.unit_count);
    sf_json_uint(&json, "active_units", b->activity.active_units);
    sf_json_real(&json, "duration_s", b->activity.duration_s);
    sf_table_json_rows(&json, "summary", &summary);
    sf_json_array(&json, "unit_detail");
    for (size_t u = 0; u < b->activity.unit_count; u++) {
        const unit_row row = row_of_unit(b, u);
        sf_table_json_struct(&json, &units_table, &row);
    }
    sf_json_end_array(&json);
    sf_json_array(&json, "network_bursts");
    for (size_t i = 0; i < b->activity.network.count; i++) {
        const network_row row = row_of_network(b, i);
        sf_table_json_struct(&json, &network_table, &row);
    }
    sf_json_end_array(&json);
    sf_json_array(&json, "bursts");
    app_bursts_each(&b->activity, b->of.units, write_burst, &json);
    sf_json_end_array(&json);
    app_provenance_json(&json, b->call);
    sf_json_end_object(&json);
}

typedef struct csv_of {
    app_csv csv;
    const sf_table *table;
} csv_of;

static void write_cells(void *user, const app_burst *burst)
{
    csv_of *to = user;
    app_csv_struct(&to->csv, to->table, burst);
}

static void write_csv(sf_text *text, const void *what)
{
    const bursts *b = what;
    static const sf_table *const of[] = {&units_table, &network_table, &app_bursts_table, &summary_table};
    csv_of to = {app_csv_start_table(text, of[b->table]), of[b->table]};
    for (size_t u = 0; b->table == TABLE_UNITS && u < b->activity.unit_count; u++) {
        const unit_row row = row_of_unit(b, u);
        app_csv_struct(&to.csv, to.table, &row);
    }
    for (size_t i = 0; b->table == TABLE_NETWORK && i < b->activity.network.count; i++) {
        const network_row row = row_of_network(b, i);
        app_csv_struct(&to.csv, to.table, &row);
    }
    for (size_t m = 0; b->table == TABLE_SUMMARY && m < MEASURES + OWN; m++)
        app_csv_struct(&to.csv, to.table, &b->summary[m]);
    if (b->table == TABLE_BURSTS)
        app_bursts_each(&b->activity, b->of.units, write_cells, &to);
}

static void print_summary(sf_text *text, const bursts *b)
{
    app_table table = {0};
    static const char *const heads[] = {"measure", "value", "by chance", "unit"};
    app_table_heads(&table, heads, 4);
    for (size_t m = 0; m < MEASURES + OWN; m++) {
        const summary_row *row = &b->summary[m];
        app_table_cell(&table, "%s", row->measure);
        app_table_real(&table, 4, row->value);
        app_table_real(&table, 4, row->chance);
        app_table_cell(&table, "%s", row->unit);
    }
    app_table_print(&table, text, 4);
}

#define LISTED 10

/* The busiest units, by spikes and then by index. */
static int print_units(sf_text *text, const bursts *b, sf_error *error)
{
    size_t count = b->activity.unit_count, listed = b->call->verbose || count < LISTED ? count : LISTED;
    bool *shown = sf_alloc(count, sizeof *shown);
    app_table table = {0};
    static const char *const heads[] = {"unit",      "name",  "Hz",        "bursts",  "a minute",
                                        "by chance", "share", "by chance", "lasts s", "spikes"};
    if (shown == NULL)
        return sf_fail_memory(error);
    app_table_heads(&table, heads, 10);
    for (size_t k = 0; k < listed; k++) {
        size_t best = SIZE_MAX;
        for (size_t u = 0; u < count; u++)
            if (!shown[u] &&
                (best == SIZE_MAX || b->activity.units[u].spikes > b->activity.units[best].spikes))
                best = u;
        shown[best] = true;
        const unit_row row = row_of_unit(b, best);
        app_table_cell(&table, "#%zu", best);
        app_table_cell(&table, "%s", row.name);
        app_table_real(&table, 4, row.rate_hz);
        app_table_cell(&table, "%" PRIu64, row.bursts);
        app_table_real(&table, 4, row.burst_rate);
        app_table_real(&table, 4, row.burst_rate_chance);
        app_table_real(&table, 4, row.burst_share);
        app_table_real(&table, 4, row.burst_share_chance);
        app_table_real(&table, 4, row.burst_s);
        app_table_real(&table, 4, row.burst_spikes);
    }
    app_table_print(&table, text, 10);
    if (listed < count)
        sf_text_printf(text, "the busiest %zu of %zu units; --verbose, --csv and --json list all\n", listed,
                       count);
    sf_free(shown);
    return SF_OK;
}

static int print_text(sf_text *text, const void *what, sf_error *error)
{
    const bursts *b = what;
    const sf_bursts *network = &b->activity.network;
    size_t of_units = b->activity.unit_bursts.count;
    sf_text_printf(text, "%zu burst%s of units by %s, %zu of the network by %s", of_units,
                   of_units == 1 ? "" : "s", sf_burst_method_names[b->options.bursts.method], network->count,
                   sf_network_method_names[b->options.network.method]);
    if (b->options.network.method == SF_NETWORK_ISI_N && network->within_ns > 0)
        sf_text_printf(text, " (%" PRIu64 " spikes within %.4g ms)", b->options.network.spikes,
                       (double)network->within_ns * 1e-6);
    else if (b->options.network.method == SF_NETWORK_ISI_N)
        sf_text_printf(text, " (the times of %" PRIu64 " spikes have no valley: --network-within sets one)",
                       b->options.network.spikes);
    sf_text_printf(text, "; %zu of %zu unit%s %s active, %.4g s\n\n", b->activity.active_units,
                   b->activity.unit_count, b->activity.unit_count == 1 ? "" : "s",
                   b->activity.active_units == 1 ? "is" : "are", b->activity.duration_s);
    print_summary(text, b);
    sf_text_printf(text, "\n");
    int status = print_units(text, b, error);
    return status;
}

static const app_telling telling = {write_json, write_csv, print_text};

void app_bursts_warn(const app_call *call, const sf_bursts *network, uint64_t n)
{
    if (network->from_silence)
        app_warn(
            call,
            "the threshold of ISI_N, %.4g ms, parts activity from silence and not network bursts from other "
            "activity: nearly all spikes are in bursts. Set --network-within, or --network-spikes above "
            "%" PRIu64,
            (double)network->within_ns * 1e-6, n);
}

/* Whether most spikes in bursts would be in bursts by chance, too. */
static void warn(const bursts *b)
{
    app_bursts_warn(b->call, &b->activity.network, b->options.network.spikes);
    double share = b->measured[SF_MEASURE_BURST_SHARE], chance = b->by_chance[SF_MEASURE_BURST_SHARE];
    if (isfinite(share) && isfinite(chance) && chance > share / 2 && chance > 0.05)
        app_warn(
            b->call,
            "bursts of units are rate for the most part: a share of %.2g of the spikes lies in them, and "
            "%.2g of Poisson trains as fast",
            share, chance);
}

static int run(app_call *call, sf_error *error)
{
    sf_recording *recording;
    bursts b = usual;
    b.call = call;
    int status = parse(&b, error);
    if (status == SF_OK)
        status = app_load(call, call->arguments[0], &recording, error);
    if (status != SF_OK)
        return status;
    b.recording = recording;
    app_tell_seed(call, b.seed);
    status = find(&b, error);
    if (status == SF_OK) {
        warn(&b);
        status = app_tell(call, &telling, &b, error);
        app_tell_undeclared(call);
    }
    sf_activity_free(&b.activity);
    sf_free(b.chance);
    sf_recording_free(recording);
    return status;
}

const app_command app_command_bursts = {
    .name = "bursts",
    .group = "look",
    .summary = "bursts of units and of the network, beside those that chance makes",
    .arguments = "REC...",
    .least_arguments = 1,
    .most_arguments = 1,
    .takes_several = true,
    .example = "synfire simulate demo.h5 --preset sym26 && synfire bursts demo.h5 --burst-method logisi",
    .notes =
        "Of units: the maximum interval of NeuroExplorer, logISI (Pasquale et al. 2010), the cumulative "
        "moving average (Kapucu et al. 2012) or Poisson surprise (Legendy and Salcman 1985). Of the network: "
        "a rate above what is usual within 30 s, in which a share of the units takes part, or ISI_N (Bakkum "
        "et al. 2014). `chance` is of Poisson trains with the spikes of the unit in every 10 s and its "
        "shortest interval, and for the network of its own trains shifted against each other: fast units "
        "burst by chance. docs/bursts.md says what misleads.",
    .options = {options, app_selection_options},
    .rows = {&sf_activity_table, &bursts_table},
    .tables = {&units_table, &network_table, &app_bursts_table, &summary_table},
    .run = run,
};
