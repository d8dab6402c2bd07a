/* SPDX-License-Identifier: Apache-2.0 */
/* How near a network is to criticality: its branching ratio and its avalanches. */
#include "app/csv.h"
#include "app/load.h"
#include "app/nwb.h"

#include "core/describe/column.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/row_macros.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

typedef struct criticality {
    const app_call *call;
    int table; /* of --csv */
    sf_criticality_options options;
    sf_recording_columns of;
    sf_criticality found;
} criticality;

static const app_option options[] = {
    {"csv", NULL, "print a table as CSV, which --table names; docs/formats.md has the columns"},
    {"table", "measures|fits|avalanches|shapes|autocorrelation|cautions",
     "which table --csv has (default measures)"},
    APP_NWB_OPTION,
    {.name = "avalanche-bin"},
    {.name = "branching-bin"},
    {.name = "lags"},
    {.name = "rounds"},
    {.name = "seed"},
    {NULL, NULL, NULL},
};

static int parse(criticality *c, sf_error *error)
{
    const app_call *call = c->call;
    int status = app_options_read(call, &sf_criticality_options_table, &c->options, error);
    if (status == SF_OK) status = app_table_asked(call, &c->table, error);
    return status;
}

/* ---- telling ---- */

SF_GETTER(get_bin)
{
    const int64_t bin_ns = *(const int64_t *)((const char *)of + column->member);
    sf_value_set_real(value, bin_ns > 0 ? (double)bin_ns * 1e-6 : NAN);
}

#define ROW criticality
static const sf_column_row document_rows[] = {
    SF_FIELD_IS(TEXT, "recording", of.path, "the file"),
    SF_FIELD_IS(COUNT, "spikes", found.spikes, "spikes"),
    SF_FIELD_IS(COUNT, "units", of.unit_count, "units"),
    SF_FIELD_IS(REAL, "duration_s", found.duration_s, "recorded", .unit = "s"),
    SF_GOT_FROM(REAL, "avalanche_bin_ms", get_bin, found.avalanches.bin_ns, "the bin of avalanches",
                .unit = "ms", .null = "there are no two spikes to take it from"),
    SF_GOT_FROM(REAL, "branching_bin_ms", get_bin, found.branching.bin_ns, "the bin of the branching ratio",
                .unit = "ms"),
    SF_FIELD_IS(COUNT, "lags", found.branching.lags, "lags that it is fitted to, in these bins"),
    SF_FIELD_IS(COUNT, "blocks", found.branching.blocks, "blocks that its interval is drawn from"),
    SF_COLUMNS_OF(found, &sf_criticality_document),
};
#undef ROW

static const sf_table document = {
    .name = "criticality", .about = "how near a network is to criticality", SF_TABLE_OF(document_rows)};

static sf_table table_of(const void *what, size_t which)
{
    return sf_criticality_table(&((const criticality *)what)->found, which);
}

static void print_measures(sf_text *text, const criticality *c)
{
    app_table table = {0};
    static const char *const heads[] = {"measure", "value", "95 % from", "to", "by chance", "unit"};
    app_table_heads(&table, heads, 6);
    for (size_t m = 0; m < SF_CRITICAL_MEASURES; m++) {
        const sf_criticality_measure *row = &c->found.measures[m];
        app_table_cell(&table, "%s", row->measure);
        app_table_real(&table, 4, row->value);
        app_table_real(&table, 4, row->low);
        app_table_real(&table, 4, row->high);
        app_table_real(&table, 4, row->chance);
        app_table_cell(&table, "%s", row->unit);
    }
    app_table_print(&table, text, 6);
}

static void print_fits(sf_text *text, const criticality *c)
{
    app_table table = {0};
    static const char *const heads[] = {"power law of", "from", "avalanches",  "exponent", "p",
                                        "lognormal",    "p",    "exponential", "p"};
    app_table_heads(&table, heads, 9);
    for (size_t i = 0; i < 2; i++) {
        const sf_power_fit *law = &c->found.fits[i].law;
        app_table_cell(&table, "%s", c->found.fits[i].of);
        app_table_cell(&table, "%" PRIu64, law->xmin);
        app_table_cell(&table, "%" PRIu64, law->tail);
        app_table_real(&table, 4, law->exponent);
        app_table_real(&table, 2, law->p);
        app_table_real(&table, 4, law->lognormal.ratio);
        app_table_real(&table, 2, law->lognormal.p);
        app_table_real(&table, 4, law->exponential.ratio);
        app_table_real(&table, 2, law->exponential.p);
    }
    static const char *const drop[] = {"avalanches", NULL};
    app_table_fit(&table, text, 9, drop, c->call->verbose);
}

static int print_text(sf_text *text, const void *what, sf_error *error)
{
    const criticality *c = what;
    const sf_criticality *found = &c->found;
    (void)error;
    sf_text_printf(text,
                   "%zu avalanche%s in bins of %.4g ms, branching ratio in bins of %.4g ms; %" PRIu64
                   " spike%s, %.4g s\n\n",
                   found->avalanches.count, found->avalanches.count == 1 ? "" : "s",
                   (double)found->avalanches.bin_ns * 1e-6, (double)found->branching.bin_ns * 1e-6,
                   found->spikes, found->spikes == 1 ? "" : "s", found->duration_s);
    print_measures(text, c);
    sf_text_printf(text, "\n");
    print_fits(text, c);
    return SF_OK;
}

static const app_telling telling = {&document, SF_CRITICALITY_TABLES, table_of, print_text};

static int run(app_call *call, sf_error *error)
{
    sf_recording *recording;
    criticality c = {.call = call, .options = SF_CRITICALITY_OPTIONS, .of = {.size = sizeof c.of}};
    const sf_progress progress = app_progress(call);
    int status = parse(&c, error);
    if (status == SF_OK) status = app_nwb_check(call, error);
    if (status == SF_OK) status = app_load(call, call->arguments[0], &recording, error);
    if (status != SF_OK) return status;
    sf_recording_get_columns(recording, &c.of);
    app_tell_seed(call, c.options.seed);
    status = sf_criticality_find(&c.found, recording, &c.options, &progress, error);
    if (status == SF_OK) {
        for (size_t i = 0; i < c.found.caution_count; i++)
            app_doubt(call, "%s: %s", c.found.cautions[i].of, c.found.cautions[i].text);
        status =
            app_nwb_tables(call, recording, &telling, &c, error, "How near the network is to criticality.");
    }
    if (status == SF_OK) {
        status = app_tell(call, &telling, &c, c.table, error);
        app_tell_undeclared(call);
    }
    sf_criticality_free(&c.found);
    sf_recording_free(recording);
    return status;
}

const app_command app_command_criticality = {
    .name = "criticality",
    .group = "look",
    .summary = "branching ratio and avalanches: how near the network is to criticality",
    .arguments = "REC...",
    .least_arguments = 1,
    .most_arguments = 1,
    .takes_several = true,
    .example = "synfire simulate demo.h5 --preset sym26 && synfire criticality demo.h5",
    .notes =
        "The branching ratio by multistep regression (Wilting and Priesemann 2018), which does not depend on "
        "how many of the units are recorded. Avalanches of Beggs and Plenz (2003), power laws of their sizes "
        "and durations as Clauset et al. (2009) fit and test them, and whether size grows with duration as "
        "both exponents have it. Lines say what of it not to believe, and docs/criticality.md why.",
    .options = {options, app_selection_options},
    .rows = {&sf_criticality_options_table},
    .documents = {&document},
    .run = run,
};
