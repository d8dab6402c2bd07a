/* SPDX-License-Identifier: Apache-2.0 */
/* The order of units within network bursts, and which of them keep their place. */
#include "app/csv.h"
#include "app/load.h"
#include "app/mining.h"
#include "app/nwb.h"

#include "core/describe/column.h"
#include "core/error.h"
#include "core/memory.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { TABLE_CHAINS = 4 }; /* of --table */

typedef struct sequences {
    const app_call *call;
    sf_activity_options activity;
    sf_sequence_options options;
    int table; /* of --csv */
    sf_sequence_report report;
} sequences;

static const app_option options[] = {
    {"csv", NULL, "print a table as CSV, which --table names; docs/formats.md has the columns"},
    {"table", "units|bursts|latencies|similarity|chains|summary", "which table --csv has (default units)"},
    APP_NWB_OPTION,
    {.name = "order-by"},
    {.name = "backbone"},
    {.name = "least-spikes"},
    {.name = "window"},
    {"episodes", "FILE",
     "chains whose place in the bursts is told, or one chain itself, as `count` has them"},
    {.name = "least-similarity"},
    {.name = "network-method"},
    {.name = "active"},
    {.name = "network-share"},
    {.name = "network-spikes"},
    {.name = "network-within"},
    {.name = "surrogates"},
    {.name = "alpha"},
    {.name = "seed"},
    {NULL, NULL, NULL},
};

static int parse(sequences *s, sf_error *error)
{
    const app_call *call = s->call;
    s->activity = SF_ACTIVITY_OPTIONS;
    s->options = SF_SEQUENCE_OPTIONS;
    int status = app_options_read(call, &sf_activity_table, &s->activity, error);
    if (status == SF_OK) status = app_options_read(call, &sf_sequence_table, &s->options, error);
    if (status == SF_OK) status = app_table_asked(call, &s->table, error);
    if (status == SF_OK && s->table == TABLE_CHAINS && !app_has(call, "episodes"))
        status = sf_fail(error, SF_USAGE, "--table", "chains are those of --episodes");
    return status;
}

static int find(sequences *s, const sf_recording *recording, sf_error *error)
{
    const sf_progress progress = app_progress(s->call);
    const char *path = app_value(s->call, "episodes", NULL);
    sf_episode *episodes = NULL;
    size_t count = 0;
    int status = path == NULL ? SF_OK : app_episodes_read(&episodes, &count, path, recording, error);
    if (status == SF_OK)
        status = sf_sequence_report_find(&s->report, recording, &s->activity, &s->options, episodes, count,
                                         &progress, error);
    sf_free(episodes);
    return status;
}

/* ---- telling ---- */

#define ROW sequences
static const sf_column_row document_rows[] = {
    SF_FIELD_IS(TEXT, "recording", report.of.path, "the file"),
    SF_COLUMNS_OF(report, &sf_sequence_report_document),
};
#undef ROW

static const sf_table document = {
    .name = "sequences", .about = "in which order units fire in network bursts", SF_TABLE_OF(document_rows)};

static sf_table table_of(const void *what, size_t which)
{
    return sf_sequence_report_table(&((const sequences *)what)->report, which);
}

static const char *const order_words[] = {"first and last spikes", "first spikes", "rate peaks"};

static void print_order(sf_text *text, const sequences *s)
{
    const sf_sequences *f = &s->report.found;
    sf_text_printf(text,
                   "%zu network burst%s by %s, %zu with an order; %zu of %zu unit%s take%s part in %.3g of "
                   "them or more\n",
                   f->burst_count, f->burst_count == 1 ? "" : "s",
                   sf_network_method_names[s->activity.network.method], f->ordered, f->backbone,
                   f->unit_count, f->unit_count == 1 ? "" : "s", f->backbone == 1 ? "s" : "",
                   s->options.backbone);
    if (isnan(f->p)) {
        sf_text_printf(text, "fewer than two bursts have an order, so nothing can be said of sequences\n");
        return;
    }
    sf_text_printf(
        text, "order     by %s two bursts are similar by %.3g in the mean; p %.3g, bursts played either way",
        order_words[s->options.order_by], f->mean_similarity, f->p);
    sf_text_printf(text, f->counted ? ", all counted\n" : "\n");
    sf_text_printf(text, "places    %zu unit%s keep%s %s within %.3g ms (q of %.3g or less)", f->placed,
                   f->placed == 1 ? "" : "s", f->placed == 1 ? "s" : "",
                   f->placed == 1 ? "its own" : "theirs", (double)f->window_ns * 1e-6, s->options.alpha);
    if (!isnan(f->placed_p))
        sf_text_printf(text, "; among themselves bursts are similar by %.3g, p %.3g", f->placed_similarity,
                       f->placed_p);
    if (!isnan(f->without_one))
        sf_text_printf(text, ", without any one of them by %.3g or more", f->without_one);
    if (!isnan(f->dealt_p)) sf_text_printf(text, ", p %.3g with their spikes dealt among them", f->dealt_p);
    sf_text_printf(text, "\n");
    if (!f->sequence) {
        sf_text_printf(text, "sequence  none\n");
        return;
    }
    sf_text_printf(text, "sequence ");
    for (uint64_t order = 1; order <= f->members; order++)
        for (size_t u = 0; u < f->unit_count; u++)
            if (f->units[u].order == order)
                sf_text_printf(text, "%s%s", order > 1 ? " > " : " ", s->report.of.units[u].name);
    sf_text_printf(text, "\n");
}

#define LISTED 10

/* Backbone units by their place: those of a sequence, or the best kept. */
static size_t next_unit(const sequences *s, const bool *shown)
{
    const sf_sequences *f = &s->report.found;
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < f->backbone; i++) {
        size_t u = f->backbone_units[i];
        const sf_sequence_unit *unit = &f->units[u], *than = best < SIZE_MAX ? &f->units[best] : NULL;
        if (shown[u]) continue;
        if (than == NULL || (unit->member && !than->member) ||
            (unit->member == than->member &&
             (unit->member ? unit->order < than->order : unit->place.p < than->place.p)))
            best = u;
    }
    return best;
}

static int print_units(sf_text *text, const sequences *s, sf_error *error)
{
    static const char *const heads[] = {"#",        "unit",     "name",      "share",  "spikes",
                                        "position", "place ms", "jitter ms", "bursts", "by chance",
                                        "q",        "alike",    "moved"};
    const int columns = sizeof heads / sizeof heads[0];
    size_t listed = s->report.found.members > LISTED ? s->report.found.members : LISTED;
    bool *shown = sf_alloc(s->report.found.unit_count, sizeof *shown);
    app_table table = {0};
    if (shown == NULL) return sf_fail_memory(error);
    listed = s->call->verbose || s->report.found.backbone < listed ? s->report.found.backbone : listed;
    if (listed > 0) app_table_heads(&table, heads, columns);
    for (size_t k = 0; k < listed; k++) {
        size_t u = next_unit(s, shown);
        const sf_sequence_unit_row *row = &s->report.units[u];
        shown[u] = true;
        if (row->member)
            app_table_cell(&table, "%" PRIu64, row->order);
        else
            app_table_cell(&table, "-");
        app_table_cell(&table, "#%zu", u);
        app_table_cell(&table, "%s", row->name);
        app_table_real(&table, 3, row->share);
        app_table_real(&table, 3, row->spikes);
        app_table_real(&table, 3, row->position);
        app_table_real(&table, 4, row->place_ms);
        app_table_real(&table, 4, row->jitter_ms);
        app_table_cell(&table, "%" PRIu64, row->kept);
        app_table_real(&table, 3, row->kept_chance);
        app_table_real(&table, 3, row->q);
        app_table_real(&table, 3, row->shape);
        app_table_real(&table, 3, row->shape_chance);
    }
    static const char *const drop[] = {"spikes", "share", "position", "moved", "alike", NULL};
    if (listed > 0) app_table_fit(&table, text, columns, drop, s->call->verbose);
    if (listed < s->report.found.backbone)
        sf_text_printf(text, "%zu of %zu backbone units; --verbose, --csv and --json list all\n", listed,
                       s->report.found.backbone);
    sf_free(shown);
    return SF_OK;
}

static void print_chains(sf_text *text, const sequences *s)
{
    static const char *const heads[] = {"chain",  "count",     "place ms", "jitter ms",
                                        "bursts", "by chance", "q",        "place"};
    app_table table = {0};
    app_table_heads(&table, heads, 8);
    for (size_t i = 0; i < s->report.chain_count; i++) {
        const sf_sequence_chain_row *row = &s->report.chains[i];
        app_table_cell(&table, "%s", row->episode);
        app_table_cell(&table, "%" PRIu64, row->count);
        app_table_real(&table, 4, row->place.place_ms);
        app_table_real(&table, 4, row->place.jitter_ms);
        app_table_cell(&table, "%" PRIu64, row->place.kept);
        app_table_real(&table, 3, row->place.kept_chance);
        app_table_real(&table, 3, row->place.q);
        app_table_cell(&table, "%s", row->fixed ? "fixed" : "-");
    }
    sf_text_printf(text, "\n");
    app_table_print(&table, text, 8);
}

static int print_text(sf_text *text, const void *what, sf_error *error)
{
    const sequences *s = what;
    print_order(text, s);
    sf_text_printf(text, "\n");
    int status = print_units(text, s, error);
    if (s->report.chain_count > 0) print_chains(text, s);
    return status;
}

static const app_telling telling = {&document, SF_SEQUENCE_TABLES, table_of, print_text};

static int run(app_call *call, sf_error *error)
{
    sf_recording *recording;
    sequences s = {.call = call};
    int status = parse(&s, error);
    if (status == SF_OK) status = app_nwb_check(call, error);
    if (status == SF_OK) status = app_load(call, call->arguments[0], &recording, error);
    if (status != SF_OK) return status;
    app_tell_seed(call, s.options.seed);
    status = find(&s, recording, error);
    if (status == SF_OK)
        status =
            app_nwb_tables(call, recording, &telling, &s, error,
                           "The order of units within network bursts, and which of them keep their place.");
    if (status == SF_OK) status = app_tell(call, &telling, &s, s.table, error);
    sf_sequence_report_free(&s.report);
    sf_recording_free(recording);
    return status;
}

const app_command app_command_sequences = {
    .name = "sequences",
    .group = "look",
    .summary = "the order of units within network bursts, and which of them keep their place",
    .arguments = "REC...",
    .least_arguments = 1,
    .most_arguments = 1,
    .takes_several = true,
    .example = "synfire simulate demo.h5 --preset sym26 --burst-rate 0.2 && synfire sequences demo.h5",
    .notes =
        "A unit's place in the order of a burst is that of its first and of its last spike together, so that "
        "a "
        "fast unit, which fires first and last, is not early. p: of so similar bursts if each were played "
        "forwards or backwards. A unit keeps its place where it fires within --window in more bursts than "
        "its "
        "own train does that begins anywhere in the burst. There is a sequence where both say so, and where "
        "the units that keep their place are in order among themselves. docs/sequences.md says what "
        "misleads.",
    .options = {options, app_selection_options},
    .rows = {&sf_activity_table, &sf_sequence_table},
    .documents = {&document},
    .run = run,
};
