/* SPDX-License-Identifier: Apache-2.0 */
/* Building graphs, and reading their options: the part of synfire/graph.h that uses no files. */
#include "analysis/graph.h"

#include "analysis/episodes.h"
#include "analysis/links.h"
#include "analysis/one_neuron.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/options.h"
#include "core/thread.h"
#include "graph/rows.h"
#include "graph/search/bfs.h"
#include "graph/store/kronecker.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int sf_graph_options_read(sf_graph_options *own, const sf_graph_options *options, sf_error *error)
{
    int status = sf_keys_read(&sf_graph_table, own, options, "graph options", error);
    if (status == SF_OK && own->undirected && own->directed)
        status = sf_fail(error, SF_USAGE, "undirected", "excludes directed");
    own->threads = own->threads != 0 ? own->threads : sf_thread_cores();
    return status;
}

/* ---- links as columns ---- */

static int compare_ends(const sf_link *a, const sf_link *b)
{
    const int64_t first[] = {a->from, a->to, a->delay.low_ns, a->delay.high_ns},
                  second[] = {b->from, b->to, b->delay.low_ns, b->delay.high_ns};
    for (int i = 0; i < 4; i++)
        if (first[i] != second[i]) return first[i] < second[i] ? -1 : 1;
    return 0;
}

static int compare_links(const void *first, const void *second)
{
    return compare_ends(first, second);
}

/* Asymmetry of `link` and its reverse with the same delay; NaN if the reverse is no link. */
static double asymmetry_of(const sf_connectivity *graph, const sf_link *link)
{
    const sf_link turned = {.from = link->to, .to = link->from, .delay = link->delay};
    const sf_link *reverse = graph->is_tiling || graph->is_signed
                                 ? NULL
                                 : bsearch(&turned, graph->links, graph->count, sizeof turned, compare_links);
    return reverse != NULL ? sf_asymmetry(link->count, reverse->count) : NAN;
}

/* Compares links with their reverses before some of them are filtered out. */
static void choose_links(sf_connectivity *links, sf_limits limits)
{
    for (size_t i = 0; i < links->count; i++)
        links->links[i].asymmetry = asymmetry_of(links, &links->links[i]);
    sf_connectivity_keep(links, limits);
}

/* One block of memory for all columns of `count` links, the widest first. */
typedef struct link_columns {
    double *weight, *expected, *asymmetry, *p, *q, *ratio_low, *ratio_high, *expected_given_rest, *confidence,
        *score;
    int64_t *low_ns, *high_ns;
    uint64_t *count;
    const char **not_tested;
    uint32_t *from, *to;
    bool *one_electrode;
    int8_t *sign;
} link_columns;

static void *take(char **next, size_t count, size_t size)
{
    void *column = *next;
    *next += count * size;
    return column;
}

static link_columns lay_out(void *block, size_t count)
{
    char *next = block;
    link_columns c;
    double **const reals[] = {&c.weight,    &c.expected,   &c.asymmetry,           &c.p,          &c.q,
                              &c.ratio_low, &c.ratio_high, &c.expected_given_rest, &c.confidence, &c.score};
    for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++)
        *reals[i] = take(&next, count, sizeof(double));
    c.low_ns = take(&next, count, sizeof *c.low_ns);
    c.high_ns = take(&next, count, sizeof *c.high_ns);
    c.count = take(&next, count, sizeof *c.count);
    c.not_tested = take(&next, count, sizeof *c.not_tested);
    c.from = take(&next, count, sizeof *c.from);
    c.to = take(&next, count, sizeof *c.to);
    c.one_electrode = take(&next, count, sizeof *c.one_electrode);
    c.sign = take(&next, count, sizeof *c.sign);
    return c;
}

static int spread_links(sf_graph *graph, const sf_recording *recording, sf_error *error)
{
    const sf_connectivity *links = &graph->links;
    enum {
        ROW = 10 * sizeof(double) + 3 * sizeof(int64_t) + sizeof(char *) + 2 * sizeof(uint32_t) +
              sizeof(bool) + sizeof(int8_t)
    };
    graph->link_columns = sf_resize(NULL, links->count, ROW);
    if (graph->link_columns == NULL) return sf_fail_memory(error);
    sf_neurons trains;
    int status = sf_neurons_lay_out(&trains, recording, error);
    if (status != SF_OK) return status;
    link_columns c = lay_out(graph->link_columns, links->count);
    for (size_t i = 0; i < links->count; i++) {
        const sf_link *link = &links->links[i];
        c.weight[i] = sf_connectivity_weight(links, link);
        c.expected[i] = link->expected;
        c.asymmetry[i] = link->asymmetry;
        c.p[i] = link->p;
        c.q[i] = link->q;
        c.expected_given_rest[i] = link->expected_given_rest;
        sf_ratio_interval interval = sf_ratio_interval_of(link->count, link->expected);
        c.ratio_low[i] = interval.low;
        c.ratio_high[i] = interval.high;
        c.low_ns[i] = link->delay.low_ns;
        c.high_ns[i] = link->delay.high_ns;
        c.count[i] = link->count;
        c.not_tested[i] = link->not_tested;
        c.from[i] = link->from;
        c.to[i] = link->to;
        c.one_electrode[i] = sf_neurons_look_alike(&trains, link->from, link->to);
        c.sign[i] = link->sign;
        c.confidence[i] = links->is_signed ? link->confidence : NAN;
        c.score[i] = links->is_signed ? link->score : NAN;
    }
    sf_neurons_free(&trains);
    sf_graph_columns *columns = &graph->columns;
    columns->is_tiling = links->is_tiling;
    columns->link_count = links->count;
    columns->from = c.from, columns->to = c.to;
    columns->low_ns = c.low_ns, columns->high_ns = c.high_ns;
    columns->weight = c.weight;
    columns->count = c.count;
    columns->expected = c.expected;
    columns->asymmetry = c.asymmetry;
    columns->p = c.p, columns->q = c.q;
    columns->expected_given_rest = c.expected_given_rest;
    columns->ratio_low = c.ratio_low, columns->ratio_high = c.ratio_high;
    columns->not_tested = c.not_tested;
    columns->one_electrode = c.one_electrode;
    columns->is_signed = links->is_signed;
    columns->sign = c.sign;
    columns->confidence = c.confidence;
    columns->score = c.score;
    columns->pairs_compared = links->pairs_compared;
    columns->troughs_hidden = links->troughs_hidden;
    return SF_OK;
}

/* ---- making ---- */

static const double *values_of(const sf_columns *columns, const char *name)
{
    size_t i = sf_columns_find(columns, name);
    return i != SF_NO_COLUMN && !sf_attribute_is_text(&columns->items[i]) ? columns->items[i].values : NULL;
}

/* Identifies the test by the columns that files of counted graphs have, and those of tested tiling graphs. */
static sf_edges_tested what_was_tested(const sf_csr *csr)
{
    const double *p = values_of(&csr->edge_columns, "p"), *q = values_of(&csr->edge_columns, "q");
    bool counted = values_of(&csr->edge_columns, "expected") != NULL;
    bool tiled = values_of(&csr->edge_columns, "high_ms") != NULL && (p != NULL || q != NULL);
    if (!counted && !tiled) return SF_EDGES_NOT_COUNTED;
    uint64_t edge = 0;
    while (q != NULL && edge < csr->edge_columns.rows && q[edge] <= SF_SIGNIFICANT_Q)
        edge++;
    if (q != NULL && edge == csr->edge_columns.rows) return SF_EDGES_SIGNIFICANT;
    return p != NULL || q != NULL ? SF_EDGES_TESTED : SF_EDGES_UNTESTED;
}

static void describe(sf_graph *graph)
{
    const sf_csr *csr = &graph->csr;
    sf_graph_columns *columns = &graph->columns;
    columns->directed = csr->directed;
    columns->threshold = NAN;
    columns->pairs_by_chance = NAN;
    columns->vertex_count = csr->vertex_count;
    columns->edge_count = sf_csr_edge_count(csr);
    columns->offsets = csr->offsets;
    columns->targets = csr->targets;
    columns->names = (const char *const *)csr->names;
    columns->x_um = values_of(&csr->vertex_columns, "x_um");
    columns->y_um = values_of(&csr->vertex_columns, "y_um");
    columns->rates_hz = values_of(&csr->vertex_columns, "rate");
    columns->tested = what_was_tested(csr);
}

static int build(sf_graph *graph, sf_edge_list *list, const sf_graph_options *options,
                 const sf_progress *progress, sf_error *error)
{
    bool drops = options->parallel == SF_PARALLEL_DROP ||
                 (options->parallel == SF_PARALLEL_WITH_VALUES && list->edge_columns.count == 0);
    unsigned flags = (drops ? SF_CSR_DROP_DUPLICATES : 0u) | (options->drop_loops ? SF_CSR_DROP_LOOPS : 0u);
    list->directed = list->directed && !options->undirected;
    int status = sf_csr_build_told(&graph->csr, list, flags, progress, error);
    if (status == SF_OK) describe(graph);
    return status;
}

/* Hands the graph over, or frees it. */
static int finish(sf_graph **out, sf_graph *graph, int status)
{
    if (status == SF_OK)
        *out = graph;
    else
        sf_graph_free(graph);
    return status;
}

static sf_limits limits_of(const sf_graph_options *options)
{
    return (sf_limits){options->max_p, options->max_q};
}

/* Moves the edges within the limits to the front, and stores their numbers in `kept`. */
static size_t choose_edges(sf_edge_list *list, sf_limits limits, uint64_t *kept)
{
    const double *p = values_of(&list->edge_columns, "p"), *q = values_of(&list->edge_columns, "q");
    size_t count = 0;
    for (size_t i = 0; i < list->edge_count; i++)
        if (sf_within_limits(limits, p != NULL ? p[i] : NAN, q != NULL ? q[i] : NAN)) {
            list->edges[count] = list->edges[i];
            kept[count++] = i;
        }
    return count;
}

/* Removes the edges that are not within the limits, by the values in the list. */
static int keep_edges(sf_edge_list *list, sf_limits limits, sf_error *error)
{
    const char *missing = limits.max_p > 0 && values_of(&list->edge_columns, "p") == NULL   ? "p"
                          : limits.max_q > 0 && values_of(&list->edge_columns, "q") == NULL ? "q"
                                                                                            : NULL;
    if (missing != NULL)
        return sf_fail(error, SF_USAGE, missing[0] == 'p' ? "max_p" : "max_q",
                       "the edges of this graph have no %s: it was made without a test", missing);
    if (limits.max_p <= 0 && limits.max_q <= 0) return SF_OK;
    uint64_t *kept = sf_resize(NULL, list->edge_count, sizeof *kept);
    if (kept == NULL) return sf_fail_memory(error);
    sf_columns chosen = {0};
    list->edge_count = choose_edges(list, limits, kept);
    int status = sf_columns_pick(&chosen, &list->edge_columns, kept, list->edge_count, error);
    sf_columns_free(&list->edge_columns);
    list->edge_columns = chosen;
    sf_free(kept);
    return status;
}

int sf_graph_of_list(sf_graph **out, sf_edge_list *list, const sf_graph_options *options,
                     const sf_progress *progress, sf_error *error)
{
    *out = NULL;
    sf_graph *graph = sf_alloc(1, sizeof *graph);
    size_t found = list->edge_count;
    int status = graph != NULL ? keep_edges(list, limits_of(options), error) : sf_fail_memory(error);
    if (status == SF_OK) status = build(graph, list, options, progress, error);
    if (status == SF_OK) graph->columns.links_found = found;
    sf_edge_list_free(list);
    return finish(out, graph, status);
}

int sf_graph_of_links(sf_graph **out, sf_connectivity *links, const sf_recording *recording,
                      const sf_graph_options *options, sf_error *error)
{
    *out = NULL;
    sf_edge_list list = {0};
    sf_graph *graph = sf_alloc(1, sizeof *graph);
    size_t found = links->count;
    choose_links(links, limits_of(options));
    int status =
        graph != NULL ? sf_connectivity_list(&list, links, &recording->units, error) : sf_fail_memory(error);
    if (graph == NULL)
        sf_connectivity_free(links);
    else
        *graph = (sf_graph){.of_units = true, .links = *links};
    if (status == SF_OK) status = build(graph, &list, options, NULL, error); /* of units: small */
    sf_edge_list_free(&list);
    if (status == SF_OK) status = spread_links(graph, recording, error);
    if (status == SF_OK) graph->columns.links_found = found;
    return finish(out, graph, status);
}

static int take_values(sf_columns *columns, const char *name, size_t rows, sf_error *error, double **values)
{
    size_t index;
    int status = sf_columns_grow(columns, rows, error);
    if (status == SF_OK) status = sf_columns_add(columns, name, &index, error);
    if (status == SF_OK) *values = columns->items[index].values;
    return status;
}

static int list_edges(sf_edge_list *list, const sf_graph_edges *edges, sf_error *error)
{
    double *labels, *weights;
    int status = SF_OK;
    list->directed = edges->directed;
    if (edges->names == NULL) status = sf_edge_list_set_vertices(list, edges->vertex_count, error);
    for (uint32_t v = 0; edges->names != NULL && status == SF_OK && v < edges->vertex_count; v++)
        status = sf_edge_list_add_named(list, edges->names[v], error);
    for (size_t i = 0; i < edges->count && status == SF_OK; i++)
        status = sf_edge_list_add(list, edges->from[i], edges->to[i], error);
    if (status == SF_OK && edges->labels != NULL)
        status = take_values(&list->vertex_columns, SF_LABEL_COLUMN, edges->vertex_count, error, &labels);
    for (uint32_t v = 0; edges->labels != NULL && status == SF_OK && v < edges->vertex_count; v++)
        labels[v] = edges->labels[v];
    if (status == SF_OK && edges->weights != NULL)
        status = take_values(&list->edge_columns, "weight", edges->count, error, &weights);
    for (size_t i = 0; edges->weights != NULL && status == SF_OK && i < edges->count; i++)
        weights[i] = edges->weights[i];
    return status;
}

int sf_graph_new(sf_graph **graph, const sf_graph_edges *edges, const sf_graph_options *options,
                 sf_error *error)
{
    *graph = NULL;
    const sf_graph_edges none = {.size = sizeof none};
    sf_graph_edges known;
    sf_graph_options how;
    sf_edge_list list = {0};
    int status = sf_options_read(&known, &none, sizeof none, edges, "edges", error);
    if (status == SF_OK) status = sf_graph_options_read(&how, options, error);
    if (status == SF_OK) status = list_edges(&list, &known, error);
    if (status == SF_OK) return sf_graph_of_list(graph, &list, &how, how.progress, error);
    sf_edge_list_free(&list);
    return status;
}

int sf_graph_kronecker(sf_graph **graph, const char *text, const sf_graph_options *options,
                       const sf_progress *progress, sf_error *error)
{
    *graph = NULL;
    sf_kronecker kind;
    sf_graph_options how;
    sf_edge_list list;
    int status = sf_graph_options_read(&how, options, error);
    if (status == SF_OK) status = sf_kronecker_parse(&kind, text, error);
    if (status == SF_OK) status = sf_kronecker_edges(&list, &kind, how.threads, progress, error);
    return status == SF_OK ? sf_graph_of_list(graph, &list, &how, progress, error) : status;
}

void sf_graph_free(sf_graph *graph)
{
    if (graph == NULL) return;
    sf_csr_free(&graph->csr);
    sf_network_measures_free(&graph->measures);
    sf_connectivity_free(&graph->links);
    sf_free(graph->link_columns);
    sf_free(graph);
}

/* ---- of recordings ---- */

static void tell_test(sf_graph *graph, const sf_episodes *episodes, const sf_graph_options *as)
{
    sf_graph_columns *columns = &graph->columns;
    columns->burst_count = episodes->bursts.count;
    if (episodes->result != NULL) {
        columns->threshold = episodes->result->threshold;
        columns->threshold_why = episodes->threshold_why;
    }
    if (!episodes->is_tested) {
        columns->tested = SF_EDGES_UNTESTED;
        return;
    }
    graph->significance = episodes->significance;
    columns->significance = &graph->significance;
    bool chosen = as->max_q > 0 && as->max_q <= SF_SIGNIFICANT_Q;
    columns->tested = chosen ? SF_EDGES_SIGNIFICANT : SF_EDGES_TESTED;
}

int sf_graph_of_episodes(sf_graph **graph, const sf_episodes *episodes, const sf_graph_options *options,
                         sf_error *error)
{
    *graph = NULL;
    sf_graph_options as;
    sf_connectivity links;
    int status = sf_graph_options_read(&as, options, error);
    if (episodes->stopped == SF_STOPPED_SEARCHING || episodes->stopped == SF_STOPPED_TESTING)
        as.max_p = as.max_q = 0; /* stopped before any p was computed: no filter */
    if (status == SF_OK)
        status = sf_limits_check(limits_of(&as), episodes->is_tested ? &episodes->significance.options : NULL,
                                 error);
    if (status == SF_OK) status = sf_links_of_episodes(&links, episodes, error);
    if (status == SF_OK) status = sf_graph_of_links(graph, &links, episodes->recording, &as, error);
    if (status == SF_OK) tell_test(*graph, episodes, &as);
    return status;
}

static int check_tiling(const sf_tiling_options *how, const sf_graph_options *as, sf_error *error)
{
    if (how->surrogates == 0 && (as->max_p > 0 || as->max_q > 0))
        return sf_fail(error, SF_USAGE, as->max_p > 0 ? "max_p" : "max_q",
                       "needs surrogates, and none are made");
    return SF_OK;
}

/* Reports the test of these coefficients, over all edges. */
static void tell_tiling_test(sf_graph *graph, const sf_graph_options *as)
{
    const sf_connectivity *links = &graph->links;
    sf_graph_columns *columns = &graph->columns;
    bool chosen = as->max_q > 0 && as->max_q <= SF_SIGNIFICANT_Q;
    columns->tested = links->surrogates == 0 ? SF_EDGES_UNTESTED
                      : chosen               ? SF_EDGES_SIGNIFICANT
                                             : SF_EDGES_TESTED;
    columns->pairs_tested = links->surrogates > 0 ? links->pairs : 0;
    columns->pairs_by_chance = sf_connectivity_by_chance(links, limits_of(as));
}

int sf_graph_of_tiling(sf_graph **graph, const sf_recording *recording, const sf_tiling_options *tiling,
                       const sf_graph_options *options, const sf_progress *progress, sf_error *error)
{
    *graph = NULL;
    sf_tiling_options how;
    sf_graph_options as;
    sf_connectivity links;
    int status = sf_keys_read(&sf_tiling_table, &how, tiling, "tiling options", error);
    if (status == SF_OK) status = sf_graph_options_read(&as, options, error);
    if (status == SF_OK) status = sf_recording_check_held(recording, error);
    if (status == SF_OK) status = check_tiling(&how, &as, error);
    if (status != SF_OK) return status;
    bool stopped = false;
    const sf_sttc_options sttc = {.dt_ns = how.half_width_ns,
                                  .least_um = how.min_distance_um,
                                  .surrogates = how.surrogates,
                                  .percentile = how.percentile,
                                  .seed = how.seed,
                                  .threads = how.threads != 0 ? how.threads : sf_thread_cores(),
                                  .progress = progress,
                                  .made = how.made,
                                  .stopped = how.made != NULL ? &stopped : NULL};
    status = sf_links_of_tiled(&links, recording, sttc, error);
    if (stopped) as.max_p = as.max_q = 0; /* no filter by a p from fewer surrogates than requested */
    if (status == SF_OK) status = sf_graph_of_links(graph, &links, recording, &as, error);
    if (status == SF_OK) tell_tiling_test(*graph, &as);
    if (status != SF_OK || !stopped) return status;
    return sf_fail(error, SF_CANCELLED, NULL, "stopped after %u of %u surrogates", *how.made, how.surrogates);
}

int sf_graph_of_drive(sf_graph **graph, const sf_recording *recording, const sf_drive_options *drive,
                      const sf_graph_options *options, const sf_progress *progress, sf_error *error)
{
    *graph = NULL;
    sf_drive_options how;
    sf_graph_options as;
    sf_connectivity links;
    int status = sf_keys_read(&sf_drive_table, &how, drive, "drive options", error);
    if (status == SF_OK) status = sf_graph_options_read(&as, options, error);
    if (status == SF_OK) status = sf_recording_check_held(recording, error);
    if (status == SF_OK && how.surrogates == 0 && (as.max_p > 0 || as.max_q > 0))
        status =
            sf_fail(error, SF_USAGE, as.max_p > 0 ? "max_p" : "max_q", "needs surrogates, and none are made");
    if (status == SF_OK) status = sf_links_of_drive(&links, recording, &how, progress, error);
    if (status == SF_OK) status = sf_graph_of_links(graph, &links, recording, &as, error);
    if (status != SF_OK) return status;
    bool chosen = as.max_q > 0 && as.max_q <= SF_SIGNIFICANT_Q;
    (*graph)->columns.tested = how.surrogates == 0 ? SF_EDGES_UNTESTED
                               : chosen            ? SF_EDGES_SIGNIFICANT
                                                   : SF_EDGES_TESTED;
    return SF_OK;
}

int sf_graph_tiling_in(double *coefficients, const sf_graph *graph, const sf_recording *recording,
                       sf_error *error)
{
    if (!graph->links.is_tiling)
        return sf_fail(error, SF_USAGE, NULL, "the graph is not one of spike-time tiling");
    if (recording->units.count != graph->links.unit_count)
        return sf_fail(error, SF_USAGE, NULL, "the recording has %zu units, and the graph is of %u",
                       recording->units.count, graph->links.unit_count);
    int status = sf_recording_check_held(recording, error);
    return status == SF_OK ? sf_links_tiled_in(coefficients, &graph->links, recording, error) : status;
}

/* ---- reading ---- */

void sf_graph_get_columns(const sf_graph *graph, sf_graph_columns *columns)
{
    sf_columns_fill(columns, &graph->columns, sizeof graph->columns);
}

int sf_graph_find(const sf_graph *graph, const char *text, uint32_t *vertex, sf_error *error)
{
    return sf_csr_resolve(&graph->csr, text, vertex, error);
}
