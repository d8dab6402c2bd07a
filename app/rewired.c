/* SPDX-License-Identifier: Apache-2.0 */
#include "app/rewired.h"

#include "app/significance.h"

#include "core/clock.h"

#include <inttypes.h>
#include <math.h>

int app_rewired_parse(app_rewired *rewired, const app_call *call, sf_error *error)
{
    *rewired = (app_rewired){.asked = app_has(call, "rewired"), .options = sf_rewired_options_default()};
    uint64_t graphs = rewired->options.graphs;
    int status = app_uint(call, "rewired", 2, 1000000, &graphs, error);
    if (status == SF_OK)
        status = app_options_read(call, &sf_rewired_table, &rewired->options, error);
    if (status == SF_OK)
        status = app_device(&rewired->options.device, call, error);
    if (rewired->asked)
        app_tell_seed(call, rewired->options.seed);
    rewired->options.graphs = (uint32_t)graphs;
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
    if (status == SF_OK)
        app_device_warn(call, "rewired", rewired->ran.device, rewired->ran.note);
    return status;
}

void app_rewired_json(sf_json *json, const sf_spread *spread, const app_rewired *rewired)
{
    if (rewired->made == 0) {
        sf_json_null(json, "rewired");
        return;
    }
    sf_json_object(json, "rewired");
    sf_json_uint(json, "graphs", rewired->made);
    sf_json_string(json, "device", rewired->ran.device);
    app_device_json(json, rewired->ran.note);
    sf_json_real(json, "mean", spread->mean);
    sf_json_real(json, "sd", spread->sd);
    sf_json_real(json, "z", spread->z);
    sf_json_end_object(json);
}

/* ---- the census ---- */

typedef struct census {
    const app_call *call;
    sf_graph_columns graph;
    uint64_t counts[SF_TRIADS];
    const app_rewired *rewired; /**< without graphs the spreads mean nothing */
    app_stop stop;
    sf_spread spreads[SF_TRIADS];
    double seconds; /**< of the census alone */
} census;

static void print_json(sf_text *text, const census *c)
{
    sf_json json = sf_json_start(text);
    sf_json_object(&json, NULL);
    sf_json_uint(&json, "vertices", c->graph.vertex_count);
    sf_json_uint(&json, "edges", c->graph.edge_count);
    sf_json_real(&json, "seconds", c->seconds);
    sf_json_array(&json, "triads");
    for (int t = 0; t < SF_TRIADS; t++) {
        sf_json_object(&json, NULL);
        sf_json_string(&json, "name", sf_triad_list()[t].name);
        sf_json_uint(&json, "count", c->counts[t]);
        app_rewired_json(&json, &c->spreads[t], c->rewired);
        sf_json_end_object(&json);
    }
    sf_json_end_array(&json);
    app_edges_json(&json, &c->graph);
    app_stop_json(&json, &c->stop);
    app_provenance_json(&json, c->call);
    sf_json_end_object(&json);
}

#define EDGES_SIZE 32

static void spell_edges(char text[EDGES_SIZE], uint8_t edges)
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

static void print_csv(sf_text *text, const census *c)
{
    app_stop_print(text, &c->stop, "# ");
    app_csv csv = app_csv_start(text, APP_CENSUS_COLUMNS);
    for (int t = 0; t < SF_TRIADS; t++) {
        char edges[EDGES_SIZE];
        const sf_spread *spread = &c->spreads[t];
        spell_edges(edges, sf_triad_list()[t].edges);
        app_csv_row(&csv);
        app_csv_string(&csv, sf_triad_list()[t].name);
        app_csv_string(&csv, edges);
        app_csv_uint(&csv, c->counts[t]);
        app_csv_real(&csv, c->rewired->made > 0 ? spread->mean : NAN);
        app_csv_real(&csv, c->rewired->made > 0 ? spread->sd : NAN);
        app_csv_real(&csv, c->rewired->made > 0 ? spread->z : NAN);
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
        app_table_cell(&table, "%s", sf_triad_list()[t].name);
        char edges[EDGES_SIZE];
        spell_edges(edges, sf_triad_list()[t].edges);
        app_table_cell(&table, "%s", edges);
        app_table_cell(&table, "%" PRIu64, c->counts[t]);
        if (c->rewired->made == 0)
            continue;
        number_cell(&table, c->spreads[t].mean);
        number_cell(&table, c->spreads[t].sd);
        number_cell(&table, c->spreads[t].z);
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
    const sf_progress progress = app_progress(call);
    double start = sf_clock_seconds();
    sf_graph_get_columns(graph, &c.graph);
    int status = sf_graph_census(c.counts, graph, rewired->options.threads, &progress, error);
    c.seconds = sf_clock_seconds() - start;
    if (status == SF_OK && rewired->asked)
        status = app_rewired_find(c.spreads, c.counts, graph, NULL, NULL, rewired, &c.stop, call, error);
    if (status != SF_OK)
        return status;
    sf_text text = {0};
    if (call->json)
        print_json(&text, &c);
    else if (app_has(call, "csv"))
        print_csv(&text, &c);
    else
        print_table(&text, &c);
    return app_stop_report(&c.stop, app_print(&text, error), error);
}
