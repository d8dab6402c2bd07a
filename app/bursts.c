/* SPDX-License-Identifier: Apache-2.0 */
/* Bursts of units and of the network, beside those that chance makes. */
#include "app/bursts.h"
#include "app/csv.h"
#include "app/load.h"
#include "app/nwb.h"

#include "core/describe/column.h"
#include "core/error.h"
#include "core/memory.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

typedef struct bursts {
    const app_call *call;
    sf_burst_report_options options;
    int table; /* of --csv */
    sf_burst_report found;
} bursts;

static const app_option options[] = {
    {"csv", NULL, "print a table as CSV, which --table names; docs/formats.md has the columns"},
    {"table", "units|network|bursts|summary",
     "which table --csv has, bursts being single ones of both (default units)"},
    APP_NWB_OPTION,
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
    b->options = SF_BURST_REPORT_OPTIONS;
    int status = app_options_read(call, &sf_activity_table, &b->options.activity, error);
    if (status == SF_OK) status = app_options_read(call, &sf_burst_report_options_table, &b->options, error);
    if (status == SF_OK) status = sf_activity_check(&b->options.activity, error);
    if (status == SF_OK) status = app_table_asked(call, &b->table, error);
    return status;
}

/* ---- telling ---- */

#define ROW bursts
static const sf_column_row document_rows[] = {
    SF_FIELD_IS(TEXT, "recording", found.of.path, "the file"),
    SF_COLUMNS_OF(found, &sf_burst_report_document),
};
#undef ROW

static const sf_table document = {
    .name = "bursts", .about = "bursts of units and of the network", SF_TABLE_OF(document_rows)};

static sf_table table_of(const void *what, size_t which)
{
    return sf_burst_report_table(&((const bursts *)what)->found, which);
}

static void print_summary(sf_text *text, const bursts *b)
{
    app_table table = {0};
    static const char *const heads[] = {"measure", "value", "by chance", "unit"};
    app_table_heads(&table, heads, 4);
    for (size_t m = 0; m < SF_BURST_SUMMARY; m++) {
        const sf_burst_summary_row *row = &b->found.summary[m];
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
    size_t count = b->found.activity.unit_count, listed = b->call->verbose || count < LISTED ? count : LISTED;
    bool *shown = sf_alloc(count, sizeof *shown);
    app_table table = {0};
    static const char *const heads[] = {"unit",      "name",  "Hz",        "bursts",  "a minute",
                                        "by chance", "share", "by chance", "lasts s", "spikes"};
    if (shown == NULL) return sf_fail_memory(error);
    app_table_heads(&table, heads, 10);
    for (size_t k = 0; k < listed; k++) {
        size_t best = SIZE_MAX;
        for (size_t u = 0; u < count; u++)
            if (!shown[u] && (best == SIZE_MAX ||
                              b->found.activity.units[u].spikes > b->found.activity.units[best].spikes))
                best = u;
        shown[best] = true;
        const sf_burst_unit_row *row = &b->found.units[best];
        app_table_cell(&table, "#%zu", best);
        app_table_cell(&table, "%s", row->name);
        app_table_real(&table, 4, row->rate_hz);
        app_table_cell(&table, "%" PRIu64, row->bursts);
        app_table_real(&table, 4, row->burst_rate);
        app_table_real(&table, 4, row->burst_rate_chance);
        app_table_real(&table, 4, row->burst_share);
        app_table_real(&table, 4, row->burst_share_chance);
        app_table_real(&table, 4, row->burst_s);
        app_table_real(&table, 4, row->burst_spikes);
    }
    static const char *const drop[] = {"spikes", "lasts s", "Hz", NULL};
    app_table_fit(&table, text, 10, drop, b->call->verbose);
    if (listed < count)
        sf_text_printf(text, "the busiest %zu of %zu units; --verbose, --csv and --json list all\n", listed,
                       count);
    sf_free(shown);
    return SF_OK;
}

static int print_text(sf_text *text, const void *what, sf_error *error)
{
    const bursts *b = what;
    const sf_bursts *network = &b->found.activity.network;
    size_t of_units = b->found.activity.unit_bursts.count;
    sf_text_printf(text, "%zu burst%s of units by %s, %zu of the network by %s", of_units,
                   of_units == 1 ? "" : "s", sf_burst_method_names[b->options.activity.bursts.method],
                   network->count, sf_network_method_names[b->options.activity.network.method]);
    if (b->options.activity.network.method == SF_NETWORK_ISI_N && network->within_ns > 0)
        sf_text_printf(text, " (%" PRIu64 " spikes within %.4g ms)", b->options.activity.network.spikes,
                       (double)network->within_ns * 1e-6);
    else if (b->options.activity.network.method == SF_NETWORK_ISI_N)
        sf_text_printf(text, " (the times of %" PRIu64 " spikes have no valley: --network-within sets one)",
                       b->options.activity.network.spikes);
    sf_text_printf(text, "; %zu of %zu unit%s %s active, %.4g s\n\n", b->found.activity.active_units,
                   b->found.activity.unit_count, b->found.activity.unit_count == 1 ? "" : "s",
                   b->found.activity.active_units == 1 ? "is" : "are", b->found.activity.duration_s);
    print_summary(text, b);
    sf_text_printf(text, "\n");
    int status = print_units(text, b, error);
    return status;
}

static const app_telling telling = {&document, SF_BURST_TABLES, table_of, print_text};

void app_bursts_warn(const app_call *call, const sf_bursts *network, uint64_t n)
{
    if (network->from_silence)
        app_doubt(
            call,
            "the threshold of ISI_N, %.4g ms, parts activity from silence and not network bursts from other "
            "activity: nearly all spikes are in bursts. Set --network-within, or --network-spikes above "
            "%" PRIu64,
            (double)network->within_ns * 1e-6, n);
}

/* Warns if most spikes in bursts would be in bursts by chance, too. */
static void warn(const bursts *b)
{
    app_bursts_warn(b->call, &b->found.activity.network, b->options.activity.network.spikes);
    const sf_activity *activity = &b->found.activity;
    if (activity->active_units == 0)
        app_doubt(b->call,
                  "no unit fires at %g Hz or more, so nothing is told of all and nothing beside chance; "
                  "--active takes a lower rate",
                  b->options.activity.network.active_hz);
    double share = b->found.measured[SF_MEASURE_BURST_SHARE],
           chance = b->found.by_chance[SF_MEASURE_BURST_SHARE];
    if (isfinite(share) && isfinite(chance) && chance > share / 2 && chance > 0.05)
        app_doubt(
            b->call,
            "bursts of units are rate for the most part: a share of %.2g of the spikes lies in them, and "
            "%.2g of Poisson trains as fast",
            share, chance);
}

static int run(app_call *call, sf_error *error)
{
    sf_recording *recording;
    bursts b = {.call = call};
    int status = parse(&b, error);
    if (status == SF_OK) status = app_nwb_check(call, error);
    if (status == SF_OK) status = app_load(call, call->arguments[0], &recording, error);
    if (status != SF_OK) return status;
    app_tell_seed(call, b.options.seed);
    status = sf_burst_report_find(&b.found, recording, &b.options, error);
    if (status == SF_OK) {
        warn(&b);
        status = app_nwb_tables(call, recording, &telling, &b, error,
                                "Bursts of units by %s, and of the network by %s.",
                                sf_burst_method_names[b.options.activity.bursts.method],
                                sf_network_method_names[b.options.activity.network.method]);
    }
    if (status == SF_OK) {
        status = app_tell(call, &telling, &b, b.table, error);
        app_tell_undeclared(call);
    }
    sf_burst_report_free(&b.found);
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
    .rows = {&sf_activity_table, &sf_burst_report_options_table},
    .documents = {&document},
    .run = run,
};
