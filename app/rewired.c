/* SPDX-License-Identifier: Apache-2.0 */
#include "app/rewired.h"

#include "app/significance.h"

#include "core/clock.h"
#include "core/describe/table.h"

#include <inttypes.h>
#include <math.h>

int app_rewired_parse(app_rewired *rewired, const app_call *call, sf_error *error)
{
    *rewired = (app_rewired){.asked = app_has(call, "rewired"), .options = sf_rewired_options_default()};
    int status = app_options_read(call, &sf_rewired_table, &rewired->options, error);
    if (status == SF_OK) status = app_device(&rewired->options.device, call, error);
    if (rewired->asked) app_tell_seed(call, rewired->options.seed);
    return status;
}

int app_rewired_find(sf_spread *spreads, const uint64_t *counts, const sf_graph *graph, const sf_motif *motif,
                     const sf_match_options *match, app_rewired *rewired, app_stop *stop,
                     const app_call *call, sf_error *error)
{
    const sf_progress progress = app_progress(call);
    rewired->options.made = &rewired->made;
    int status = sf_graph_rewire(spreads, counts, graph, motif != NULL ? &motif : NULL, 1, match,
                                 &rewired->options, &rewired->ran, &progress, error);
    status = app_stop_take(stop, status, "testing", error);
    if (status == SF_OK) app_device_warn(call, "rewired", rewired->ran.device, rewired->ran.note);
    return status;
}

/* ---- the census ---- */

#define EDGES_SIZE 32

typedef struct triad {
    const char *name;
    char edges[EDGES_SIZE];
    uint64_t count;
    sf_spread spread;
} triad;

typedef struct census {
    const app_call *call;
    sf_graph_columns graph;
    triad triads[SF_TRIADS];
    sf_table table; /**< of these */
    const app_rewired *rewired;
    app_stop stop;
    double seconds; /**< of the census alone */
} census;

static const char *spell_edges(const void *edges)
{
    return edges;
}

#define ROW triad
#define NOT_REWIRED "without --rewired"
static const sf_column_row triad_rows[] = {
    SF_MEMBER_IS(TEXT, name, "after Holland and Leinhardt, as 030T"),
    SF_WORD_IS("edges", edges, spell_edges, "between its vertices A, B and C"),
    SF_MEMBER_IS(COUNT, count, "sets of three vertices joined so"),
    SF_FIELD_IS(REAL, "mean", spread.mean, "of the count in rewired graphs", .null = NOT_REWIRED),
    SF_FIELD_IS(REAL, "sd", spread.sd, "its standard deviation there", .null = NOT_REWIRED),
    SF_FIELD_IS(REAL, "z", spread.z, "(count - mean) / sd", .null = NOT_REWIRED ", or sd is 0"),
};
#undef ROW

const sf_table app_triads_table = {.name = "triads",
                                   .row = "triad",
                                   .about = "sets of three vertices by how they are joined",
                                   .row_count = SF_TRIADS,
                                   SF_TABLE_OF(triad_rows)};

#define ROW app_rewired
static const sf_column_row rewired_rows[] = {APP_ROWS_REWIRED()};
#undef ROW

SF_GETTER(get_rewired)
{
    const app_rewired *rewired = ((const census *)of)->rewired;
    sf_value_set_record(value, rewired->made > 0 ? rewired : NULL, 0);
}

#define ROW census
static const sf_column_row document_rows[] = {
    SF_FIELD_IS(COUNT, "vertices", graph.vertex_count, "of the graph"),
    SF_FIELD_IS(COUNT, "edges", graph.edge_count, "directed edges"),
    APP_ROW_SECONDS(seconds),
    SF_TABLE_IS("triads", table, &app_triads_table, "all of them"),
    SF_RECORD_BY("rewired", get_rewired, rewired_rows, "of --rewired", APP_NO_REWIRED),
    APP_ROW_EDGES_TESTED(graph),
    APP_ROW_STOPPED(stop.where),
};
#undef ROW

const sf_table app_census_document = {
    .name = "census", .about = "triads of a graph", SF_TABLE_OF(document_rows)};

static void name_edges(char text[EDGES_SIZE], uint8_t edges)
{
    static const char *const one_way[6] = {"A->B", "B->A", "B->C", "C->B", "A->C", "C->A"};
    static const char *const both_ways[3] = {"A<->B", "B<->C", "A<->C"};
    size_t length = 0;
    text[0] = '\0';
    for (int pair = 0; pair < 3; pair++) {
        int bits = edges >> 2 * pair & 3;
        if (bits != 0)
            length += (size_t)snprintf(text + length, EDGES_SIZE - length, "%s%s", length > 0 ? " " : "",
                                       bits == 3 ? both_ways[pair] : one_way[2 * pair + bits - 1]);
    }
}

static void number_cell(app_table *table, double value)
{
    if (isnan(value))
        app_table_cell(table, "-");
    else
        app_table_cell(table, "%.4g", value);
}

static void print_table(sf_text *text, const census *c)
{
    static const char *const head[] = {"triad", "edges", "count", "mean", "sd", "z"};
    size_t columns = c->rewired->made > 0 ? 6 : 3;
    app_table table = {0};
    app_stop_print(text, &c->stop, "");
    sf_text_printf(text, "%u vertices, %" PRIu64 " directed edges, %.3g s\n", c->graph.vertex_count,
                   c->graph.edge_count, c->seconds);
    app_edges_print(text, &c->graph, false);
    sf_text_printf(text, "\n");
    for (size_t i = 0; i < columns; i++)
        app_table_cell(&table, "%s", head[i]);
    for (int t = 0; t < SF_TRIADS; t++) {
        const triad *of = &c->triads[t];
        app_table_cell(&table, "%s", of->name);
        app_table_cell(&table, "%s", of->edges);
        app_table_cell(&table, "%" PRIu64, of->count);
        if (c->rewired->made == 0) continue;
        number_cell(&table, of->spread.mean);
        number_cell(&table, of->spread.sd);
        number_cell(&table, of->spread.z);
    }
    app_table_print(&table, text, columns);
    if (c->rewired->made > 0)
        sf_text_printf(text,
                       "\nmean, sd and z of %u graphs with the same degrees, rewired at random on %s%s\n",
                       c->rewired->made, c->rewired->ran.device, app_edges_remark(&c->graph));
    while (text->length > 0 && text->data[text->length - 1] == '\n')
        text->length--; /* app_print ends the last line */
}

int app_census(const app_call *call, const sf_graph *graph, app_rewired *rewired, sf_error *error)
{
    census c = {.call = call, .graph = {.size = sizeof c.graph}, .rewired = rewired};
    uint64_t counts[SF_TRIADS];
    sf_spread spreads[SF_TRIADS];
    const sf_progress progress = app_progress(call);
    double start = sf_clock_seconds();
    sf_graph_get_columns(graph, &c.graph);
    int status = sf_graph_census(counts, graph, rewired->options.threads, &progress, error);
    c.seconds = sf_clock_seconds() - start;
    if (status == SF_OK && rewired->asked)
        status = app_rewired_find(spreads, counts, graph, NULL, NULL, rewired, &c.stop, call, error);
    if (status != SF_OK) return status;
    for (int t = 0; t < SF_TRIADS; t++) {
        c.triads[t] = (triad){.name = sf_triad_list()[t].name,
                              .count = counts[t],
                              .spread = rewired->made > 0 ? spreads[t] : (sf_spread){NAN, NAN, NAN}};
        name_edges(c.triads[t].edges, sf_triad_list()[t].edges);
    }
    sf_text text = {0};
    c.table = app_triads_table;
    c.table.of = c.triads;
    if (call->json) {
        app_document_json(&text, call, &app_census_document, &c);
    } else if (app_has(call, "csv")) {
        app_stop_print(&text, &c.stop, "# ");
        app_csv_table(&text, &c.table);
    } else {
        print_table(&text, &c);
    }
    return app_stop_report(&c.stop, app_print(&text, error), error);
}
