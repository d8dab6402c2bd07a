/* SPDX-License-Identifier: Apache-2.0 */
/* synfire graph: the functional connectivity graph of a recording. */
#include "app/connect.h"
#include "app/document.h"
#include "app/electrodes.h"
#include "app/epochs.h"
#include "app/load.h"
#include "app/measures.h"
#include "app/mining.h"
#include "app/nwb.h"
#include "app/significance.h"

#include "analysis/tables.h"
#include "core/describe/column.h"
#include "core/memory.h"
#include "io/file.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE_TOP = 20 };

static const app_option options[] = {
    {"csv", NULL, "print CSV; docs/formats.md has the columns"},
    {"sort", "q|ratio|weight|count",
     "which edges the table has first: q (default; then, and without a test, as ratio), ratio "
     "(count/expected, by the lower end of its interval), weight, count"},
    {"out", "G", "write the graph: .graphml .dot .mtx .el .h5, or .json (what --json prints)"},
    APP_NWB_OPTION,
    APP_MEASURES_OPTIONS,
    {NULL, NULL, NULL},
};

typedef struct drawing {
    const app_call *call;
    const sf_graph *graph;
    sf_graph_columns g; /**< of it */
    sf_table edges;     /**< its links */
    sf_column_list names;
    const sf_recording *recording;
    app_epochs epochs;
    int order; /**< of the table: the place of --sort among its words */
    app_stop stop;
} drawing;

static bool is_json(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot != NULL && strcmp(dot, ".json") == 0;
}

/* ---- epochs: the edges of a graph in each alone ---- */

static sf_episode pair_of(const sf_graph_columns *g, size_t link)
{
    return (sf_episode){
        .size = 2, .units = {g->from[link], g->to[link]}, .delays = {{g->low_ns[link], g->high_ns[link]}}};
}

#define STOPPED_TELLING "stopped: all edges are here, but not what epochs have of them"

static int tile_epochs(drawing *d, sf_error *error)
{
    app_epochs *epochs = &d->epochs;
    int status = SF_OK;
    for (size_t k = 0; k < epochs->count && status == SF_OK; k++) {
        sf_recording *part;
        if (app_stop_requested()) return sf_fail(error, SF_CANCELLED, NULL, STOPPED_TELLING);
        status = sf_recording_part(&part, d->recording, epochs->spans[k], error);
        if (status != SF_OK) return status;
        status = sf_graph_tiling_in(epochs->values + k * epochs->item_count, d->graph, part, error);
        sf_recording_free(part);
    }
    return status;
}

static int count_epochs(drawing *d, sf_error *error)
{
    app_epochs *epochs = &d->epochs;
    sf_counting_options how = sf_counting_options_default();
    const sf_progress progress = app_progress(d->call);
    sf_episodes *counted = NULL;
    size_t links = d->g.link_count;
    sf_episode *pairs = sf_resize(NULL, links, sizeof *pairs);
    if (pairs == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < links; i++)
        pairs[i] = pair_of(&d->g, i);
    how.spans = epochs->spans;
    how.span_count = epochs->count;
    int status = sf_count(&counted, d->recording, pairs, links, &how, &progress, error);
    if (status == SF_CANCELLED) sf_fail(error, status, NULL, STOPPED_TELLING);
    if (status == SF_OK) {
        sf_episodes_columns columns = {.size = sizeof columns};
        sf_episodes_get_columns(counted, &columns);
        status = app_epochs_take(epochs, columns.span_counts, links, error);
    }
    sf_episodes_free(counted);
    sf_free(pairs);
    return status;
}

static int look_at_epochs(drawing *d, sf_error *error)
{
    if (d->stop.where != NULL) return SF_OK;
    int status = app_epochs_open(&d->epochs, d->call, d->recording, d->g.link_count, error);
    if (status != SF_OK || d->epochs.items == NULL || d->g.link_count == 0) return status;
    status = d->g.is_tiling ? tile_epochs(d, error) : count_epochs(d, error);
    if (status == SF_CANCELLED) app_epochs_free(&d->epochs);
    return app_stop_take(&d->stop, status, "telling", error);
}

/* ---- output ---- */

SF_GETTER(get_edge)
{
    sf_value_set_record(value, ((const drawing *)of)->edges.of, row);
}

SF_GETTER(get_epochs_with)
{
    const app_epochs *epochs = &((const drawing *)of)->epochs;
    if (epochs->counts != NULL) sf_value_set_count(value, app_epochs_with(epochs, row));
}

/* Counts of episodes, or coefficients. */
SF_LENGTH(count_epoch_values)
{
    const app_epochs *epochs = &((const drawing *)of)->epochs;
    *length = epochs->count;
    return epochs->items != NULL && (epochs->counts != NULL) == (column->is.type == SF_COLUMN_COUNT);
}

SF_GETTER(get_epoch_value)
{
    const app_epochs *epochs = &((const drawing *)of)->epochs;
    size_t at = item * epochs->item_count + row;
    if (column->is.type == SF_COLUMN_COUNT)
        sf_value_set_count(value, epochs->counts[at]);
    else
        sf_value_set_real(value, epochs->values[at]);
}

static const sf_column_row edge_rows[] = {
    SF_COLUMNS_BY(get_edge, &sf_edges_columns_table),
    SF_GOT_BY(COUNT, "epochs", get_epochs_with, "epochs in which it occurs", .null = "without --epochs"),
    SF_LIST_BY(COUNT, "epoch_counts", get_epoch_value, count_epoch_values, "the count in each epoch alone",
               .null = "without --epochs"),
    SF_LIST_BY(REAL, "epoch_coefficients", get_epoch_value, count_epoch_values,
               "the coefficient in each epoch alone", .null = "of episodes and without --epochs",
               .item_null = "it has none there"),
};

SF_LENGTH(count_edges)
{
    *length = ((const drawing *)of)->g.link_count;
    return true;
}

SF_GETTER(get_pairs)
{
    if (((const drawing *)of)->g.is_signed) sf_column_value(column, of, row, item, value);
}

SF_GETTER(get_pairs_tested)
{
    if (((const drawing *)of)->g.pairs_tested > 0) sf_column_value(column, of, row, item, value);
}

#define ROW drawing
#define PAIRS(getter, column, ...)                                                                           \
    {                                                                                                        \
        .is = SF_WHAT_IS(COUNT, #column, __VA_ARGS__), .get = (getter), SF_ROW_ELEMENT(g.column)             \
    }
static const sf_column_row document_rows[] = {
    SF_FIELD_IS(COUNT, "vertices", g.vertex_count, "units"),
    SF_FIELD_IS(COUNT, "edges", g.link_count, "edges"),
    SF_RECORDS_BY("edge_detail", sf_column_own_row, count_edges, edge_rows, "by from, to and delay"),
    SF_FIELD_IS(COUNT, "edges_found", g.links_found, "edges before --max-p and --max-q left some out"),
    APP_ROW_THRESHOLD(g.threshold),
    APP_ROW_THRESHOLD_WHY(g.threshold_why),
    APP_ROW_EDGES_TESTED(g),
    PAIRS(get_pairs_tested, pairs_tested, "pairs whose coefficients were compared with surrogates",
          .null = "of episodes and with --surrogates 0"),
    SF_FIELD_IS(REAL, "pairs_by_chance", g.pairs_by_chance,
                "of these, so many would be edges on average if no two units had anything to do with each "
                "other",
                .null = "where pairs_tested is, and with --max-q, which bounds the chance of any"),
    PAIRS(get_pairs, pairs_compared, "of edges with a sign: ordered pairs of units that both fire",
          .null = "edges have no sign"),
    PAIRS(get_pairs, troughs_hidden,
          "of these with fewer than 16 coincidences expected by rates, so that none at all would be no sure "
          "inhibition",
          .null = "edges have no sign"),
    APP_ROW_EPOCHS(epochs),
    APP_ROW_SIGNIFICANCE(g.significance),
    SF_LIST_IS(TEXT, names, "of all units"),
    APP_ROW_STOPPED(stop.where),
};
#undef ROW

static const sf_table document = {.name = "connected",
                                  .about = "the graph of a recording, as its --out FILE.json",
                                  SF_TABLE_OF(document_rows)};

static int write_out(const drawing *d, const char *path, sf_error *error)
{
    sf_text text = {0};
    if (is_json(path)) {
        app_document_json(&text, d->call, &document, d);
        sf_text_append(&text, "\n", 1);
    } else {
        text = app_provenance_text(d->call);
    }
    int status = text.failed     ? sf_fail_memory(error)
                 : is_json(path) ? sf_file_write(&text, path, error)
                                 : sf_graph_save(d->graph, path, text.data, error);
    sf_text_free(&text);
    return status;
}

/* ---- CSV ---- */

static void print_csv(sf_text *text, const drawing *d)
{
    app_stop_print(text, &d->stop, "# ");
    app_csv csv = app_csv_start_table(text, &d->edges);
    app_epochs_csv_heads(&csv, &d->epochs);
    for (size_t i = 0; i < d->edges.row_count; i++) {
        app_csv_row(&csv);
        app_csv_cells(&csv, &d->edges, i);
        app_epochs_csv_cells(&csv, &d->epochs, i);
    }
}

/* ---- the table ---- */

typedef struct ranked {
    double first, second; /* ascending, NaN last */
    size_t link;
} ranked;

static int compare_reals(double a, double b)
{
    if (isnan(a) || isnan(b)) return isnan(a) - isnan(b);
    return (a > b) - (a < b);
}

static int compare_ranks(const void *first, const void *second)
{
    const ranked *a = first, *b = second;
    int order = compare_reals(a->first, b->first);
    order = order != 0 ? order : compare_reals(a->second, b->second);
    return order != 0 ? order : (a->link > b->link) - (a->link < b->link);
}

/* Coefficients take the place of ratios; they have no count. */
static ranked rank_of(const drawing *d, size_t i)
{
    const sf_graph_columns *g = &d->g;
    double ratio = g->is_signed ? fabs(g->score[i]) : g->is_tiling ? g->weight[i] : g->ratio_low[i];
    if (g->is_signed && d->order < 2)
        return (ranked){d->order == 0 && !isnan(g->q[i]) ? g->q[i] : -ratio, -ratio, i};
    const double by[] = {g->q[i], -ratio, -g->weight[i], g->is_tiling ? -ratio : -(double)g->count[i]};
    return (ranked){by[d->order], -ratio, i};
}

/* Whether all edges have one delay, which is then stated once above the table. */
static bool has_one_delay(const drawing *d)
{
    const sf_graph_columns *g = &d->g;
    for (size_t i = 1; i < g->link_count; i++)
        if (g->low_ns[i] != g->low_ns[0] || g->high_ns[i] != g->high_ns[0]) return false;
    return g->link_count > 0 && !d->call->verbose;
}

static void print_episode_row(app_table *table, const drawing *d, size_t i)
{
    const sf_graph_columns *g = &d->g;
    app_table_cell(table, "%s", g->names[g->from[i]]);
    app_table_cell(table, "%s", g->names[g->to[i]]);
    if (!has_one_delay(d))
        app_table_cell(table, "(%g,%g]", (double)g->low_ns[i] * 1e-6, (double)g->high_ns[i] * 1e-6);
    app_table_cell(table, "%" PRIu64, g->count[i]);
    app_table_cell(table, g->expected[i] < 1 ? "%.2g" : "%.1f", g->expected[i]);
    app_table_cell(table, "%.2f", (double)g->count[i] / g->expected[i]);
    app_table_cell(table, "%.2f-%.2f", g->ratio_low[i], g->ratio_high[i]);
    app_table_cell(table, isnan(g->asymmetry[i]) ? "-" : "%+.2f", g->asymmetry[i]);
    if (g->significance != NULL) {
        app_table_cell(table, isnan(g->expected_given_rest[i]) ? "-" : "%.4g", g->expected_given_rest[i]);
        app_table_cell(table, isnan(g->p[i]) ? "-" : "%.2g", g->p[i]);
        if (g->not_tested[i] != NULL)
            app_table_cell(table, "%s", g->not_tested[i]);
        else
            app_table_cell(table, isnan(g->q[i]) ? "-" : "%.2g", g->q[i]);
    }
    app_epochs_cells(table, &d->epochs, i);
}

static void print_signed_row(app_table *table, const drawing *d, size_t i)
{
    const sf_graph_columns *g = &d->g;
    app_table_cell(table, "%s", g->names[g->from[i]]);
    app_table_cell(table, "%s", g->names[g->to[i]]);
    app_table_cell(table, "%s", g->sign[i] < 0 ? "inhibits" : "excites");
    app_table_cell(table, "(%g,%g]", (double)g->low_ns[i] * 1e-6, (double)g->high_ns[i] * 1e-6);
    app_table_cell(table, "%" PRIu64, g->count[i]);
    app_table_cell(table, g->expected[i] < 1 ? "%.2g" : "%.1f", g->expected[i]);
    app_table_cell(table, "%.3g", g->weight[i]);
    app_table_cell(table, "%.1f", g->score[i]);
    if (g->not_tested[i] != NULL)
        app_table_cell(table, "%s", g->not_tested[i]);
    else
        app_table_cell(table, "%.4f", g->confidence[i]);
    if (g->tested == SF_EDGES_UNTESTED) return;
    app_table_cell(table, isnan(g->p[i]) ? "-" : "%.2g", g->p[i]);
    app_table_cell(table, isnan(g->q[i]) ? "-" : "%.2g", g->q[i]);
}

static void print_tiling_row(app_table *table, const drawing *d, size_t i)
{
    const sf_graph_columns *g = &d->g;
    app_table_cell(table, "%s", g->names[g->from[i]]);
    app_table_cell(table, "%s", g->names[g->to[i]]);
    app_table_cell(table, "%.3f", g->weight[i]);
    app_table_cell(table, isnan(g->p[i]) ? "-" : "%.3g", g->p[i]);
    app_table_cell(table, isnan(g->q[i]) ? "-" : "%.3g", g->q[i]);
}

#define DELAY_COLUMN 2

static void print_rows(sf_text *text, const drawing *d, const size_t *links, size_t shown)
{
    const sf_graph_columns *g = &d->g;
    static const char *const episodes[] = {"from", "to",        "delay ms",   "count", "expected", "ratio",
                                           "95 %", "asymmetry", "given rest", "p",     "q"};
    static const char *const tiling[] = {"unit", "unit", "sttc", "p", "q"};
    static const char *const with_sign[] = {"from",   "to",    "sign",       "delay ms", "count", "expected",
                                            "weight", "score", "confidence", "p",        "q"};
    static const char *const drop[] = {"asymmetry", "95 %", "given rest", "p", NULL};
    const char *const *head = g->is_signed ? with_sign : g->is_tiling ? tiling : episodes;
    size_t heads = g->is_tiling ? 5 : g->significance != NULL ? 11 : 8, columns = 0;
    if (g->is_signed) heads = g->tested == SF_EDGES_UNTESTED ? 9 : 11;
    bool one = !g->is_tiling && !g->is_signed && has_one_delay(d);
    app_table table = {0};
    if (one)
        sf_text_printf(text, "delays of (%g,%g] ms\n", (double)g->low_ns[0] * 1e-6,
                       (double)g->high_ns[0] * 1e-6);
    for (size_t c = 0; c < heads; c++)
        if (!one || c != DELAY_COLUMN) {
            app_table_cell(&table, "%s", head[c]);
            columns++;
        }
    columns += app_epochs_heads(&table, &d->epochs);
    for (size_t i = 0; i < shown; i++)
        (g->is_signed   ? print_signed_row
         : g->is_tiling ? print_tiling_row
                        : print_episode_row)(&table, d, links[i]);
    app_table_fit(&table, text, columns, drop, d->call->verbose);
}

static void print_electrodes(sf_text *text, const sf_graph_columns *g, const size_t *links, size_t shown)
{
    app_electrodes electrodes = {0};
    for (size_t i = 0; i < shown; i++) {
        uint32_t from = g->from[links[i]], to = g->to[links[i]];
        if (g->one_electrode[links[i]])
            app_electrodes_see(&electrodes, from, to, g->names[from], g->names[to]);
    }
    app_electrodes_print(text, &electrodes);
}

/* The name of an edge in the table of epochs. */
static sf_text name_edge(const void *context, size_t link)
{
    const sf_graph_columns *g = &((const drawing *)context)->g;
    sf_text text = {0};
    sf_text_printf(&text, "%s %s", g->names[g->from[link]], g->names[g->to[link]]);
    return text;
}

static void print_shown(sf_text *text, const drawing *d, const size_t *links, size_t shown)
{
    sf_text_printf(text, "\n");
    print_rows(text, d, links, shown);
    print_electrodes(text, &d->g, links, shown);
    if (d->g.is_tiling)
        app_epochs_print_values(text, &d->epochs, "sttc", name_edge, d, links, shown);
    else
        app_epochs_print(text, &d->epochs);
}

/* Prints how many pairs of a tiling graph are edges by chance. */
static void print_by_chance(sf_text *text, const drawing *d)
{
    if (d->g.pairs_tested == 0) return;
    sf_text_printf(text, "; of %zu pairs tested chance passes ", d->g.pairs_tested);
    if (isnan(d->g.pairs_by_chance))
        sf_text_printf(text, "one or more in at most %s of recordings", app_value(d->call, "max-q", ""));
    else
        sf_text_printf(text, "about %.3g", d->g.pairs_by_chance);
}

/* Prints how many pairs could not have shown inhibition, and the number of edges of each sign. */
static void print_signs(sf_text *text, const drawing *d)
{
    size_t inhibiting = 0;
    for (size_t i = 0; d->g.is_signed && i < d->g.link_count; i++)
        inhibiting += d->g.sign[i] < 0;
    if (!d->g.is_signed) return;
    if (d->g.pairs_compared == 0) {
        sf_text_printf(text, ": there is no pair of units");
        return;
    }
    sf_text_printf(text, ", %zu of which inhibit%s; of %zu ordered pairs ", inhibiting,
                   inhibiting == 1 ? "s" : "", d->g.pairs_compared);
    if (d->g.troughs_hidden == 0)
        sf_text_printf(text, "all have spikes enough for a trough to be seen");
    else
        sf_text_printf(text, "%zu ha%s too few spikes for a trough to be seen", d->g.troughs_hidden,
                       d->g.troughs_hidden == 1 ? "s" : "ve");
}

static int print_table(sf_text *text, const drawing *d, sf_error *error)
{
    size_t count = d->g.link_count, shown = count < TABLE_TOP ? count : TABLE_TOP, links[TABLE_TOP];
    ranked *rows = sf_resize(NULL, count, sizeof *rows);
    if (rows == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < count; i++)
        rows[i] = rank_of(d, i);
    if (count > 0) qsort(rows, count, sizeof *rows, compare_ranks);
    for (size_t i = 0; i < shown; i++)
        links[i] = rows[i].link;
    sf_free(rows);
    sf_text_printf(text, "%u unit%s, %zu edge%s", d->g.vertex_count, d->g.vertex_count == 1 ? "" : "s", count,
                   count == 1 ? "" : "s");
    if (count < d->g.links_found)
        sf_text_printf(text, " of %zu: the others have a larger p or q, or none", d->g.links_found);
    if (isfinite(d->g.threshold)) {
        sf_text_printf(text, "; an edge is a pair from ");
        app_threshold_print(text, d->g.threshold, d->g.threshold_why);
        sf_text_printf(text, " on");
    }
    print_by_chance(text, d);
    print_signs(text, d);
    sf_text_printf(text, "\n");
    app_stop_print(text, &d->stop, "");
    app_edges_print(text, &d->g, true);
    if (shown > 0) print_shown(text, d, links, shown);
    if (shown < count) sf_text_printf(text, "... and %zu more: --json or --out G gives all\n", count - shown);
    app_doubts_print(text, d->call);
    sf_text_printf(text,
                   "\nEdges are functional: a shared input or a burst makes one where there is no synapse.");
    return SF_OK;
}

/* ---- the command ---- */

static int report(const drawing *d, const sf_table *network, const sf_table *units, sf_error *error)
{
    const char *out = app_value(d->call, "out", NULL);
    bool spared = app_stop_spares(&d->stop, d->call, out);
    int status = out != NULL && !spared ? write_out(d, out, error) : SF_OK;
    if (status == SF_OK && !app_stop_spares(&d->stop, d->call, app_value(d->call, "nwb", NULL)))
        status = app_nwb_edges(d->call, d->recording, d->graph, network != NULL ? units : NULL, error);
    if (status == SF_OK && network != NULL)
        return app_measures_print(network, units, d->graph, d->call, &d->stop, error);
    sf_text text = {0};
    if (status == SF_OK && d->call->json)
        app_document_json(&text, d->call, &document, d);
    else if (status == SF_OK && app_has(d->call, "csv"))
        print_csv(&text, d);
    else if (status == SF_OK)
        status = print_table(&text, d, error);
    if (status == SF_OK) return app_print(&text, error);
    sf_text_free(&text);
    return status;
}

/* Before the work: the formats of graphs, and what --json prints. */
static int check_ending(const char *path, sf_error *error)
{
    sf_error reason;
    if (path == NULL || is_json(path) || sf_graph_save(NULL, path, NULL, &reason) == SF_OK) return SF_OK;
    return sf_fail(error, SF_USAGE, path, "%s .json", reason.text);
}

static int draw(const app_call *call, const sf_recording *recording, sf_error *error)
{
    drawing d = {.call = call, .g = {.size = sizeof d.g}, .recording = recording};
    const sf_graph_options as = sf_graph_options_default();
    sf_graph *graph;
    int status = app_word(call, "sort", &d.order, error);
    if (status == SF_OK) status = app_connect(&graph, call, recording, &as, &d.stop, error);
    if (status != SF_OK) return status;
    d.graph = graph;
    sf_graph_get_columns(graph, &d.g);
    sf_graph_get_table(graph, &d.edges);
    d.names = (sf_column_list){d.g.names, d.g.vertex_count};
    if (d.g.link_count == 0 && d.g.links_found > 0 && d.g.is_tiling)
        app_warn(call, "no edge has a p and q that small: without --max-q and --max-p all are shown");
    else if (d.g.link_count == 0 && d.g.links_found > 0)
        app_warn(call, "no edge has a p and q that small: --significance without --max-q shows what they "
                       "have");
    else if (d.g.link_count == 0 && d.g.is_tiling && d.stop.where == NULL)
        app_warn(call, "there is no edge: try a wider --delay, or --surrogates 0 for all pairs");
    sf_table network, units;
    const bool measured = app_has(call, "measures");
    status = measured ? app_measures_take(&network, &units, graph, call, error) : look_at_epochs(&d, error);
    if (status == SF_OK)
        status = app_stop_report(
            &d.stop, report(&d, measured ? &network : NULL, measured ? &units : NULL, error), error);
    app_epochs_free(&d.epochs);
    sf_graph_free(graph);
    return status;
}

/* Measures the network of a graph file. */
static int measure_file(const app_call *call, const char *path, sf_error *error)
{
    const app_stop not_stopped = {0};
    sf_graph *graph;
    sf_table network, units;
    int status = app_measures_open(&graph, call, path, error);
    if (status != SF_OK) return status;
    status = app_measures_take(&network, &units, graph, call, error);
    if (status == SF_OK) status = app_measures_print(&network, &units, graph, call, &not_stopped, error);
    sf_graph_free(graph);
    return status;
}

static int run(app_call *call, sf_error *error)
{
    const char *path = call->arguments[0];
    int status = app_measures_check(call, error);
    if (status == SF_OK && app_has(call, "measures") && !app_is_recording(call, path))
        return measure_file(call, path, error);
    if (status == SF_OK) status = check_ending(app_value(call, "out", NULL), error);
    sf_recording *recording;
    if (status == SF_OK) status = app_nwb_check(call, error);
    if (status == SF_OK && app_has(call, "nwb") && app_has(call, "epochs"))
        status = sf_fail(error, SF_USAGE, "--nwb",
                         "has no room for what single epochs have: without --epochs, or "
                         "with --from and --to");
    if (status == SF_OK && sf_graph_file_kind(path) == SF_GRAPH_FILE_READ)
        status =
            sf_fail(error, SF_DATA, path,
                    "is a graph already, expected a recording; --measures tells what its network is like");
    if (status == SF_OK) status = app_load(call, path, &recording, error);
    if (status != SF_OK) return status;
    status = draw(call, recording, error);
    sf_recording_free(recording);
    return status;
}

const app_command app_command_graph = {
    .name = "graph",
    .group = "connect",
    .summary = "the functional connectivity graph of a recording",
    .arguments = "REC...",
    .least_arguments = 1,
    .most_arguments = 1,
    .takes_several = true,
    .example = "synfire graph demo.h5 --delay 4:6 --min-count 60 --out demo.graphml",
    .notes =
        "The weight of an edge is its count less what independent units would give, or the tiling "
        "coefficient, which is tested by shifts within each epoch. With --significance the expectation is "
        "the mean count in surrogates, and p compares "
        "the "
        "count with them. "
        "asymmetry compares the count with that of the reverse edge: +1 all one way, 0 both ways alike.\n"
        "docs/connectivity.md says what an edge means and when not to trust it, docs/network.md what "
        "measures "
        "of networks are.",
    .options = {options, app_connect_options, app_mining_options, app_significance_options,
                app_engine_options, app_selection_options},
    .rows = {&sf_mining_table, &sf_significance_table, &sf_graph_table, &sf_drive_table,
             &sf_network_options_table},
    .documents = {&document, &app_network_document},
    .run = run,
};
