/* SPDX-License-Identifier: Apache-2.0 */
#include "app/measures.h"

#include "app/connect.h"
#include "app/csv.h"
#include "app/document.h"
#include "app/significance.h"

#include "analysis/tables.h"
#include "core/describe/table.h"
#include "core/memory.h"
#include "core/reals.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { TABLE_TOP = 20 };

/* ---- options ---- */

int app_measures_check(const app_call *call, sf_error *error)
{
    static const char *const own[] = {"threshold", "edge-density", "linked", "resolution", "rewired", NULL};
    static const char *const of_edges[] = {"sort", "epochs", NULL};
    return app_has(call, "measures") ? app_refuse(call, of_edges, "is of edges, not of --measures", error)
                                     : app_refuse(call, own, "goes with --measures", error);
}

int app_measures_open(sf_graph **graph, const app_call *call, const char *path, sf_error *error)
{
    static const char *const own[] = {"threads", "seed", "max-p", "max-q", NULL};
    static const char *const of_recordings[] = {"out", "nwb", NULL};
    const sf_progress progress = app_progress(call);
    sf_graph_options as = sf_graph_options_default();
    int status = app_refuse_recording_options(call, own, error);
    if (status == SF_OK)
        status = app_refuse(call, of_recordings, "is for recordings, and this is a graph", error);
    if (status == SF_OK) status = app_options_read(call, &sf_graph_table, &as, error);
    if (status == SF_OK)
        status = app_name_option(call, sf_graph_open(graph, path, &as, &progress, error), error);
    if (status == SF_OK) {
        app_limits_warn(call);
        app_tell_pairs(call, path);
    }
    return status;
}

int app_measures_take(sf_table *network, sf_table *units, sf_graph *graph, const app_call *call,
                      sf_error *error)
{
    const sf_progress progress = app_progress(call);
    sf_network_options options = sf_network_options_default();
    int status = app_options_read(call, &sf_network_options_table, &options, error);
    if (status != SF_OK) return status;
    app_tell_seed(call, options.seed > 0 ? options.seed : 1);
    app_catch_signals();
    return app_name_option(call, sf_graph_measure(graph, &options, network, units, &progress, error), error);
}

/* ---- lines ---- */

double app_measures_number(const sf_table *table, const char *column, size_t row)
{
    sf_value value = {0};
    size_t at = sf_table_find_column(table, column);
    sf_table_get(table, at, row, 0, &value);
    if (!value.known) return NAN;
    switch (sf_table_column(table, at)->type) {
    case SF_COLUMN_REAL:
        return value.real;
    case SF_COLUMN_COUNT:
    case SF_COLUMN_UNIT:
        return (double)value.count;
    case SF_COLUMN_FLAG:
        return value.flag;
    default:
        return NAN;
    }
}

static void print_number(sf_text *text, const sf_table *network, const char *column)
{
    double number = app_measures_number(network, column, 0);
    if (isnan(number))
        sf_text_printf(text, "-");
    else
        sf_text_printf(text, "%.4g", number);
}

/* A line of network measures: columns of the unweighted, the weighted and the rewired value; NULL: none. */
typedef struct line {
    const char *what, *column, *weighted, *beside;
} line;

static const line lines[] = {
    {"density", "density", NULL, NULL},
    {"mean degree; strength", "degree", "strength", NULL},
    {"reciprocity", "reciprocity", NULL, NULL},
    {"clustering", "clustering_directed", "clustering_weighted", "clustering"},
    {"path length", "path_length", "path_length_weighted", "path_length"},
    {"global efficiency", "efficiency", "efficiency_weighted", "efficiency"},
    {"local efficiency", "local_efficiency", "local_efficiency_weighted", NULL},
    {"greatest betweenness", "betweenness", "betweenness_weighted", NULL},
    {"modularity", "modularity", "modularity_weighted", "modularity"},
    {"modules", "modules", "modules_weighted", NULL},
    {"mean participation", "participation", "participation_weighted", NULL},
};

static void number_cell(app_table *table, const sf_table *of, const char *column, size_t row)
{
    double number = column != NULL ? app_measures_number(of, column, row) : NAN;
    if (isnan(number))
        app_table_cell(table, "-");
    else
        app_table_cell(table, "%.4g", number);
}

static void print_network(sf_text *text, const sf_table *network)
{
    const bool rewired = app_measures_number(network, "rewired", 0) > 0;
    static const char *const head[] = {"", "edges alike", "by weight", "rewired", "z"};
    app_table table = {0};
    for (size_t c = 0; c < (rewired ? 5 : 3); c++)
        app_table_cell(&table, "%s", head[c]);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        app_table_cell(&table, "%s", lines[i].what);
        number_cell(&table, network, lines[i].column, 0);
        number_cell(&table, network, lines[i].weighted, 0);
        if (!rewired) continue;
        char mean[40] = "", z[40] = "";
        if (lines[i].beside != NULL) {
            snprintf(mean, sizeof mean, "%s_rewired", lines[i].beside);
            snprintf(z, sizeof z, "%s_z", lines[i].beside);
        }
        number_cell(&table, network, lines[i].beside != NULL ? mean : NULL, 0);
        number_cell(&table, network, lines[i].beside != NULL ? z : NULL, 0);
    }
    app_table_print(&table, text, rewired ? 5 : 3);
    if (rewired) {
        sf_text_printf(text, "small-worldness ");
        print_number(text, network, "small_world");
        sf_text_printf(text, " beside ");
        print_number(text, network, "rewired");
        sf_text_printf(text, " graphs with the same degrees\n");
    }
}

/* Prints the strongest units, or without weights those with most edges. */
static int print_units(sf_text *text, const sf_table *units, bool wide, sf_error *error)
{
    static const char *const columns[] = {"degree",      "strength", "clustering",    "path_length",
                                          "betweenness", "module",   "participation", "hub_score"};
    sf_rank *ranks = sf_alloc(units->row_count, sizeof *ranks);
    app_table table = {0};
    if (ranks == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < units->row_count; i++) {
        double strength = app_measures_number(units, "strength", i),
               degree = app_measures_number(units, "degree", i);
        ranks[i] = (sf_rank){-(isnan(strength) ? degree : strength), i};
    }
    sf_ranks_sort(ranks, units->row_count);
    app_table_cell(&table, "unit");
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
        app_table_cell(&table, "%s", columns[c]);
    size_t shown = units->row_count < TABLE_TOP ? units->row_count : TABLE_TOP;
    for (size_t i = 0; i < shown; i++) {
        sf_value name = {0};
        size_t row = ranks[i].index;
        sf_table_get(units, sf_table_find_column(units, "name"), row, 0, &name);
        if (name.known)
            app_table_cell(&table, "%s", name.text);
        else
            app_table_cell(&table, "#%.0f", app_measures_number(units, "unit", row));
        for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
            number_cell(&table, units, columns[c], row);
    }
    sf_free(ranks);
    sf_text_printf(text, "\n");
    static const char *const drop[] = {"hub_score", "participation", "path_length", NULL};
    app_table_fit(&table, text, 1 + sizeof columns / sizeof *columns, drop, wide);
    if (shown < units->row_count)
        sf_text_printf(text, "... and %zu more: --json or --csv gives all\n", units->row_count - shown);
    return SF_OK;
}

static int print_text(sf_text *text, const sf_table *network, const sf_table *units, const sf_graph *graph,
                      const app_call *call, const app_stop *stop, sf_error *error)
{
    sf_graph_columns g = {.size = sizeof g};
    sf_graph_get_columns(graph, &g);
    app_stop_print(text, stop, "");
    sf_text_printf(text, "%.0f units, %.0f without an edge, %.0f edges",
                   app_measures_number(network, "vertices", 0), app_measures_number(network, "isolated", 0),
                   app_measures_number(network, "edges", 0));
    if (app_measures_number(network, "edges_left_out", 0) > 0)
        sf_text_printf(text, " (%.0f left out)", app_measures_number(network, "edges_left_out", 0));
    double components = app_measures_number(network, "components", 0),
           hubs = app_measures_number(network, "hubs", 0);
    sf_text_printf(text, ", %.0f component%s, the largest of %.0f; %.0f hub%s\n", components,
                   components == 1 ? "" : "s", app_measures_number(network, "largest_component", 0), hubs,
                   hubs == 1 ? "" : "s");
    app_edges_print(text, &g, false);
    sf_text_printf(text, "\n");
    print_network(text, network);
    int status = print_units(text, units, call->verbose, error);
    app_doubts_print(text, call);
    sf_text_printf(text,
                   "\nAlmost all of these follow from how many edges there are: compare networks of one "
                   "density (--edge-density), or with rewired ones (--rewired).");
    return status;
}

/* ---- JSON ---- */

typedef struct measured {
    sf_table network, units;
    sf_graph_columns g;
    app_stop stop;
} measured;

#define ROW measured
static const sf_column_row document_rows[] = {
    SF_FIRST_ROW_IS("network", network, &sf_network_table, "what the network is like in all"),
    SF_TABLE_IS("network_units", units, &sf_network_units_table,
                "what every unit that takes part is like in it"),
    APP_ROW_EDGES_TESTED(g),
    APP_ROW_STOPPED(stop.where),
};
#undef ROW

const sf_table app_network_document = {
    .name = "network", .about = "what a network is like, by --measures", SF_TABLE_OF(document_rows)};

int app_measures_print(const sf_table *network, const sf_table *units, const sf_graph *graph,
                       const app_call *call, const app_stop *stop, sf_error *error)
{
    sf_text text = {0};
    int status = SF_OK;
    if (call->json) {
        measured of = {*network, *units, {.size = sizeof of.g}, *stop};
        sf_graph_get_columns(graph, &of.g);
        app_document_json(&text, call, &app_network_document, &of);
    } else if (app_has(call, "csv")) {
        app_stop_print(&text, stop, "# ");
        app_csv_table(&text, units);
    } else {
        status = print_text(&text, network, units, graph, call, stop, error);
    }
    if (status == SF_OK) return app_print(&text, error);
    sf_text_free(&text);
    return status;
}
