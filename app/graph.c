/* SPDX-License-Identifier: Apache-2.0 */
/* synfire graph: the functional connectivity graph of a recording. */
#include "app/connect.h"
#include "app/electrodes.h"
#include "app/epochs.h"
#include "app/load.h"
#include "app/mining.h"
#include "app/significance.h"

#include "analysis/sttc.h"
#include "core/file.h"
#include "core/memory.h"
#include "io/graph/file.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE_TOP = 20 };

static const app_option options[] = {
    {"out", "G", "write the graph: .graphml .dot .mtx .el .h5, or .json (what --json prints)"},
    {NULL, NULL, NULL},
};

/* ---- output ---- */

static bool is_json(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot != NULL && strcmp(dot, ".json") == 0;
}

/* ---- epochs: the edges of a graph in each alone ---- */

static sf_episode pair_of(const sf_link *link)
{
    return (sf_episode){.size = 2, .units = {link->from, link->to}, .delays = {link->delay}};
}

static int tile_epoch(double *coefficients, const sf_connectivity *graph, const sf_recording *recording,
                      const app_epoch *epoch, sf_error *error)
{
    sf_recording view;
    sf_trains trains = {0};
    int status = app_epoch_view(&view, recording, epoch, error);
    if (status != SF_OK)
        return status;
    const sf_sttc_options how = {.dt_ns = graph->links[0].delay.high_ns, /* of all links */
                                 .recorded = {view.recorded.start_ns, view.recorded.stop_ns},
                                 .threads = 1};
    if (view.spike_count > 0)
        status = sf_trains_split(&trains, view.spikes, view.spike_count, view.units.count, error);
    if (status == SF_OK && view.spike_count > 0)
        status = sf_sttc_of_links(coefficients, graph, &trains, &how, error);
    sf_trains_free(&trains);
    sf_free(view.observed);
    return status;
}

static int tile_epochs(app_epochs *epochs, const app_call *call, const sf_connectivity *graph,
                       const sf_recording *recording, sf_error *error)
{
    int status = app_epochs_open(epochs, call, recording, graph->count, error);
    for (size_t k = 0; k < epochs->count && graph->count > 0 && status == SF_OK; k++)
        status = tile_epoch(epochs->values + k * graph->count, graph, recording, &epochs->items[k], error);
    return status;
}

static int count_epochs(app_epochs *epochs, const app_call *call, const sf_connectivity *graph,
                        const sf_recording *recording, sf_error *error)
{
    *epochs = (app_epochs){0};
    if (!app_has(call, "epochs"))
        return SF_OK;
    if (graph->is_tiling)
        return tile_epochs(epochs, call, graph, recording, error);
    sf_episode *pairs = sf_resize(NULL, graph->count, sizeof *pairs);
    sf_counter *counter = NULL;
    int status = pairs != NULL ? SF_OK : sf_fail_memory(error);
    for (size_t i = 0; i < graph->count && status == SF_OK; i++)
        pairs[i] = pair_of(&graph->links[i]);
    if (status == SF_OK)
        status = sf_counter_open(&counter, recording->spikes, recording->spike_count, recording->units.count,
                                 pairs, graph->count, NULL, 0, error);
    if (status == SF_OK)
        status = app_epochs_count(epochs, call, recording, counter, graph->count, error);
    sf_counter_close(counter);
    sf_free(pairs);
    return status;
}

/* What the document says beside the graph. */
typedef struct document {
    const app_call *call;
    const sf_units *units;
    const app_epochs *epochs;
} document;

static void add_edge(const void *context, sf_json *json, size_t link)
{
    const app_epochs *epochs = ((const document *)context)->epochs;
    if (epochs->counts != NULL)
        app_epochs_item_json(json, epochs, link);
    else
        app_epochs_values_json(json, "epoch_coefficients", epochs, link);
}

static void add_document(const void *context, sf_json *json)
{
    const document *d = context;
    app_epochs_json(json, d->epochs);
    sf_json_array(json, "names");
    for (size_t u = 0; u < d->units->count; u++)
        sf_json_string(json, NULL, d->units->items[u].name);
    sf_json_end_array(json);
    app_provenance_json(json, d->call);
}

static void print_json(sf_text *text, const sf_connectivity *graph, const document *d)
{
    sf_json json = sf_json_start(text);
    sf_connectivity_more more = {add_edge, add_document, d};
    sf_connectivity_json(&json, graph, &more);
}

static int write_out(const sf_connectivity *graph, const document *d, const char *path, sf_error *error)
{
    if (is_json(path)) {
        sf_text text = {0};
        print_json(&text, graph, d);
        sf_text_append(&text, "\n", 1);
        int status = sf_file_write(&text, path, error);
        sf_text_free(&text);
        return status;
    }
    sf_csr csr;
    int status = sf_connectivity_csr(&csr, graph, d->units, error);
    if (status != SF_OK)
        return status;
    sf_text provenance = app_provenance_text(d->call);
    csr.provenance = provenance.data; /* goes with it */
    status = provenance.failed ? sf_fail_memory(error) : sf_graph_write(&csr, path, error);
    sf_csr_free(&csr);
    return status;
}

/* ---- the table ---- */

typedef struct ranked {
    double weight;
    const sf_link *link;
} ranked;

static int by_weight(const void *first, const void *second)
{
    const ranked *a = first, *b = second;
    if (a->weight != b->weight)
        return a->weight < b->weight ? 1 : -1;
    return (a->link > b->link) - (a->link < b->link);
}

static const sf_link *find_reverse(const sf_connectivity *graph, const sf_link *link)
{
    for (size_t i = 0; i < graph->count; i++) {
        const sf_link *other = &graph->links[i];
        if (other->from == link->to && other->to == link->from && other->delay.low_ns == link->delay.low_ns &&
            other->delay.high_ns == link->delay.high_ns)
            return other;
    }
    return NULL;
}

static void print_episode_row(app_table *table, const sf_connectivity *graph, const sf_units *units,
                              const sf_link *link)
{
    const sf_link *reverse = find_reverse(graph, link);
    app_table_cell(table, "%s", units->items[link->from].name);
    app_table_cell(table, "%s", units->items[link->to].name);
    app_table_cell(table, "(%g,%g]", (double)link->delay.low_ns * 1e-6, (double)link->delay.high_ns * 1e-6);
    app_table_cell(table, "%" PRIu64, link->count);
    app_table_cell(table, "%.1f", link->expected);
    app_table_cell(table, "%.2f", (double)link->count / link->expected);
    if (reverse != NULL)
        app_table_cell(table, "%+.2f",
                       ((double)link->count - (double)reverse->count) /
                           (double)(link->count + reverse->count));
    else
        app_table_cell(table, "-");
    if (link->not_testable != NULL)
        app_table_cell(table, "%s", link->not_testable);
    else if (!isnan(link->p))
        app_table_cell(table, "%.2g", link->p);
}

/* Every edge was asked about, or none was. */
static bool is_tested(const sf_connectivity *graph)
{
    return graph->count > 0 && (!isnan(graph->links[0].p) || graph->links[0].not_testable != NULL);
}

static void print_tiling_row(app_table *table, const sf_units *units, const sf_link *link)
{
    app_table_cell(table, "%s", units->items[link->from].name);
    app_table_cell(table, "%s", units->items[link->to].name);
    app_table_cell(table, "%.3f", link->coefficient);
    if (isnan(link->p))
        app_table_cell(table, "-");
    else
        app_table_cell(table, "%.3g", link->p);
}

static void print_rows(sf_text *text, const sf_connectivity *graph, const sf_units *units, const ranked *rows,
                       size_t shown)
{
    static const char *const episodes[] = {"from",     "to",      "delay ms",  "count",
                                           "expected", "obs/exp", "asymmetry", "p"};
    static const char *const tiling[] = {"unit", "unit", "sttc", "p"};
    const char *const *head = graph->is_tiling ? tiling : episodes;
    size_t columns = graph->is_tiling ? 4 : is_tested(graph) ? 8 : 7;
    app_table table = {0};
    for (size_t c = 0; c < columns; c++)
        app_table_cell(&table, "%s", head[c]);
    for (size_t i = 0; i < shown; i++) {
        if (graph->is_tiling)
            print_tiling_row(&table, units, rows[i].link);
        else
            print_episode_row(&table, graph, units, rows[i].link);
    }
    app_table_print(&table, text, columns);
}

static void print_electrodes(sf_text *text, const sf_units *units, const ranked *rows, size_t shown)
{
    app_electrodes electrodes = {.units = units};
    for (size_t i = 0; i < shown; i++)
        app_electrodes_see(&electrodes, rows[i].link->from, rows[i].link->to);
    app_electrodes_print(text, &electrodes);
}

/* What names an edge in the table of epochs. */
typedef struct naming {
    const sf_connectivity *graph;
    const sf_units *units;
} naming;

static sf_text name_edge(const void *context, size_t link)
{
    const naming *names = context;
    sf_episode pair = pair_of(&names->graph->links[link]);
    if (!names->graph->is_tiling)
        return app_episode_text(&pair, names->units);
    sf_text text = {0};
    sf_text_printf(&text, "%s %s", names->units->items[pair.units[0]].name,
                   names->units->items[pair.units[1]].name);
    return text;
}

static void print_epochs(sf_text *text, const sf_connectivity *graph, const sf_units *units,
                         const app_epochs *epochs, const ranked *rows, size_t shown)
{
    naming names = {graph, units};
    size_t links[TABLE_TOP];
    for (size_t i = 0; i < shown; i++)
        links[i] = (size_t)(rows[i].link - graph->links);
    if (graph->is_tiling)
        app_epochs_print_values(text, epochs, "sttc", name_edge, &names, links, shown);
    else
        app_epochs_print(text, epochs, name_edge, &names, links, shown);
}

static int print_table(sf_text *text, const sf_connectivity *graph, const sf_units *units,
                       const app_epochs *epochs, sf_error *error)
{
    ranked *rows = sf_resize(NULL, graph->count, sizeof *rows);
    if (rows == NULL)
        return sf_fail_memory(error);
    for (size_t i = 0; i < graph->count; i++)
        rows[i] = (ranked){sf_connectivity_weight(graph, &graph->links[i]), &graph->links[i]};
    if (graph->count > 0)
        qsort(rows, graph->count, sizeof *rows, by_weight);
    sf_text_printf(text, "%u units, %zu edges\n", graph->unit_count, graph->count);
    size_t shown = graph->count < TABLE_TOP ? graph->count : TABLE_TOP;
    if (shown > 0) {
        sf_text_printf(text, "\n");
        print_rows(text, graph, units, rows, shown);
        print_electrodes(text, units, rows, shown);
        print_epochs(text, graph, units, epochs, rows, shown);
    }
    if (shown < graph->count)
        sf_text_printf(text, "... and %zu weaker ones: --json or --out G gives all\n", graph->count - shown);
    sf_text_printf(text,
                   "\nEdges are functional: a shared input or a burst makes one where there is no synapse.");
    sf_free(rows);
    return SF_OK;
}

/* ---- the command ---- */

static int report(const app_call *call, const sf_connectivity *graph, const document *d, sf_error *error)
{
    const char *out = app_value(call, "out", NULL);
    int status = out != NULL ? write_out(graph, d, out, error) : SF_OK;
    sf_text text = {0};
    if (status == SF_OK && call->json)
        print_json(&text, graph, d);
    else if (status == SF_OK)
        status = print_table(&text, graph, d->units, d->epochs, error);
    if (status == SF_OK)
        return app_print(&text, error);
    sf_text_free(&text);
    return status;
}

/* Before the work: the formats of graphs, and what --json prints. */
static int check_ending(const char *path, sf_error *error)
{
    sf_error reason;
    if (path == NULL || is_json(path) || sf_graph_check_ending(path, &reason) == SF_OK)
        return SF_OK;
    return sf_fail(error, SF_USAGE, path, "%s .json", reason.text);
}

static int run(app_call *call, sf_error *error)
{
    int status = check_ending(app_value(call, "out", NULL), error);
    sf_recording recording;
    if (status == SF_OK && sf_graph_file_format(call->arguments[0]) != NULL)
        status = sf_fail(error, SF_DATA, call->arguments[0], "is a graph already, expected a recording");
    if (status == SF_OK)
        status = app_load(call, call->arguments[0], &recording, error);
    if (status != SF_OK)
        return status;
    sf_connectivity graph;
    status = app_connect(&graph, call, &recording, error);
    if (status == SF_OK) {
        if (graph.count == 0)
            app_warn(call, "there is no edge: lower the threshold or widen --delay");
        app_epochs epochs;
        status = count_epochs(&epochs, call, &graph, &recording, error);
        const document d = {call, &recording.units, &epochs};
        if (status == SF_OK)
            status = report(call, &graph, &d, error);
        app_epochs_free(&epochs);
        sf_connectivity_free(&graph);
    }
    sf_recording_free(&recording);
    return status;
}

const app_command app_command_graph = {
    .name = "graph",
    .group = "connect",
    .summary = "the functional connectivity graph of a recording",
    .arguments = "REC",
    .least_arguments = 1,
    .most_arguments = 1,
    .example = "synfire graph demo.h5 --delay 4:6 --min-count 60 --out demo.graphml",
    .notes =
        "The weight of an edge is its count less what independent units would give, or the tiling "
        "coefficient. With --significance the expectation is the mean count in surrogates, and p compares "
        "the "
        "count with them. "
        "asymmetry compares the count with that of the reverse edge: +1 all one way, 0 both ways alike.\n"
        "docs/connectivity.md says what an edge means and when not to trust it.",
    .options = {options, app_connect_options, app_mining_options, app_significance_options,
                app_engine_options, app_selection_options},
    .run = run,
};
