/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/connectivity.h"

#include "graph/search/bfs.h"
#include "graph/search/device.h"

#include "core/error.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare_links(const void *first, const void *second)
{
    const sf_link *a = first, *b = second;
    if (a->from != b->from) return a->from < b->from ? -1 : 1;
    if (a->to != b->to) return a->to < b->to ? -1 : 1;
    if (a->delay.low_ns != b->delay.low_ns) return a->delay.low_ns < b->delay.low_ns ? -1 : 1;
    return (a->delay.high_ns > b->delay.high_ns) - (a->delay.high_ns < b->delay.high_ns);
}

static int check_links(const sf_connectivity *graph, sf_error *error)
{
    for (size_t i = 0; i < graph->count; i++) {
        const sf_link *link = &graph->links[i];
        if (link->from >= graph->unit_count || link->to >= graph->unit_count)
            return sf_fail(error, SF_DATA, NULL, "an edge joins units #%u and #%u, but there are %u units",
                           link->from, link->to, graph->unit_count);
        if (i > 0 && compare_links(link - 1, link) == 0)
            return sf_fail(error, SF_DATA, NULL, "two edges join units #%u and #%u with the same delay",
                           link->from, link->to);
    }
    return SF_OK;
}

static bool is_ordered(const sf_link *links, size_t count)
{
    size_t i = 1;
    while (i < count && compare_links(&links[i - 1], &links[i]) <= 0)
        i++;
    return i >= count;
}

int sf_connectivity_take(sf_connectivity *graph, uint32_t unit_count, sf_link *links, size_t count,
                         sf_error *error)
{
    *graph = (sf_connectivity){.unit_count = unit_count, .links = links, .count = count};
    if (!is_ordered(links, count)) qsort(links, count, sizeof *links, compare_links);
    int status = check_links(graph, error);
    if (status != SF_OK) sf_connectivity_free(graph);
    return status;
}

int sf_connectivity_build(sf_connectivity *graph, uint32_t unit_count, const sf_link *links, size_t count,
                          sf_error *error)
{
    sf_link *copy = sf_resize(NULL, count, sizeof *copy);
    *graph = (sf_connectivity){0};
    if (copy == NULL) return sf_fail_memory(error);
    if (count > 0) memcpy(copy, links, count * sizeof *copy);
    return sf_connectivity_take(graph, unit_count, copy, count, error);
}

void sf_connectivity_free(sf_connectivity *graph)
{
    sf_free(graph->links);
    sf_free(graph->rates_hz);
    *graph = (sf_connectivity){0};
}

void sf_connectivity_keep(sf_connectivity *graph, sf_limits limits)
{
    size_t kept = 0;
    if (limits.max_p <= 0 && limits.max_q <= 0) return;
    for (size_t i = 0; i < graph->count; i++) {
        sf_link link = graph->links[i];
        if (!sf_within_limits(limits, link.p, link.q)) continue;
        graph->links[i] = graph->links[kept];
        graph->links[kept++] = link;
    }
    graph->left_out += graph->count - kept;
    graph->count = kept;
}

double sf_connectivity_by_chance(const sf_connectivity *graph, sf_limits limits)
{
    if (limits.max_q > 0 || graph->surrogates == 0) return NAN;
    double values = graph->surrogates + 1.0; /* that p has */
    double p = limits.max_p > 0 ? floor(limits.max_p * values + 1e-9) / values : 1;
    return (double)graph->pairs * fmin(p, graph->chance_p);
}

int sf_connectivity_set_rates(sf_connectivity *graph, const uint64_t *unit_spikes, int64_t duration_ns,
                              sf_error *error)
{
    double seconds = (double)duration_ns * 1e-9;
    double *rates_hz = sf_resize(graph->rates_hz, graph->unit_count, sizeof *rates_hz);
    if (rates_hz == NULL) return sf_fail_memory(error);
    for (uint32_t u = 0; u < graph->unit_count; u++)
        rates_hz[u] = seconds > 0 ? (double)unit_spikes[u] / seconds : 0;
    graph->rates_hz = rates_hz;
    return SF_OK;
}

double sf_connectivity_weight(const sf_connectivity *graph, const sf_link *link)
{
    if (graph->is_tiling || graph->is_signed) return link->coefficient;
    return (double)link->count - (isnan(link->expected) ? 0 : link->expected);
}

static bool differs(double a, double b)
{
    return a != b && !(isnan(a) && isnan(b));
}

static sf_edge_change change_of(const sf_connectivity *graph, const sf_link *link, bool removed)
{
    return (sf_edge_change){.from = link->from,
                            .to = link->to,
                            .delay = link->delay,
                            .count = link->count,
                            .expected = link->expected,
                            .p = link->p,
                            .q = link->q,
                            .p_age_s = NAN,
                            .least_q = graph->is_tiling ? NAN : link->least_q,
                            .not_tested = link->not_tested,
                            .weight = sf_connectivity_weight(graph, link),
                            .removed = removed};
}

static bool has_changed(const sf_link *old, const sf_link *new, bool is_tiling)
{
    return old->count != new->count || differs(old->expected, new->expected) || differs(old->p, new->p) ||
           differs(old->q, new->q) || (!is_tiling && differs(old->least_q, new->least_q)) ||
           old->not_tested != new->not_tested || (is_tiling && differs(old->coefficient, new->coefficient));
}

int sf_connectivity_diff(const sf_connectivity *before, const sf_connectivity *after,
                         sf_edge_change **changes, size_t *count, sf_error *error)
{
    *count = 0;
    *changes = sf_resize(NULL, before->count + after->count, sizeof **changes);
    if (*changes == NULL) return sf_fail_memory(error);
    size_t i = 0, j = 0;
    while (i < before->count || j < after->count) {
        const sf_link *old = i < before->count ? &before->links[i] : NULL;
        const sf_link *new = j < after->count ? &after->links[j] : NULL;
        int order = old == NULL ? 1 : new == NULL ? -1 : compare_links(old, new);
        if (order < 0)
            (*changes)[(*count)++] = change_of(before, old, true);
        else if (order > 0 || has_changed(old, new, after->is_tiling))
            (*changes)[(*count)++] = change_of(after, new, false);
        i += order <= 0;
        j += order >= 0;
    }
    return SF_OK;
}

/* The columns of a graph's edges, in their order. */
typedef struct edge_value {
    const char *name;
    double (*value)(const sf_connectivity *graph, const sf_link *link);
    bool of_tiling; /* tiling graphs have it too */
} edge_value;

static double count_of(const sf_connectivity *graph, const sf_link *link)
{
    (void)graph;
    return (double)link->count;
}

static double expected_of(const sf_connectivity *graph, const sf_link *link)
{
    (void)graph;
    return link->expected;
}

static double low_of(const sf_connectivity *graph, const sf_link *link)
{
    (void)graph;
    return (double)link->delay.low_ns / 1e6;
}

static double high_of(const sf_connectivity *graph, const sf_link *link)
{
    (void)graph;
    return (double)link->delay.high_ns / 1e6;
}

static double p_of(const sf_connectivity *graph, const sf_link *link)
{
    (void)graph;
    return link->p;
}

static double q_of(const sf_connectivity *graph, const sf_link *link)
{
    (void)graph;
    return link->q;
}

static double given_rest_of(const sf_connectivity *graph, const sf_link *link)
{
    (void)graph;
    return link->expected_given_rest;
}

static double sign_of(const sf_connectivity *graph, const sf_link *link)
{
    (void)graph;
    return link->sign;
}

static double confidence_of(const sf_connectivity *graph, const sf_link *link)
{
    (void)graph;
    return link->confidence;
}

static const edge_value edge_values[] = {
    {"weight", sf_connectivity_weight, true},
    {"count", count_of, false},
    {"expected", expected_of, false},
    {"low_ms", low_of, false},
    {"high_ms", high_of, true},
    {"p", p_of, true},
    {"q", q_of, true},
    {"expected_given_rest", given_rest_of, false},
    {"sign", sign_of, false},
    {"confidence", confidence_of, false},
};

/* A test column without values is not offered, since patterns could ask for it and find nothing. */
static bool is_given(const sf_connectivity *graph, const edge_value *column)
{
    bool of_test = column->value == p_of || column->value == q_of || column->value == given_rest_of;
    if (column->value == sign_of || column->value == confidence_of) return graph->is_signed;
    if (graph->is_tiling) return column->of_tiling && (!of_test || graph->surrogates > 0);
    if (!of_test) return true;
    size_t i = 0;
    while (i < graph->count && isnan(column->value(graph, &graph->links[i])))
        i++;
    return i < graph->count;
}

static int fill_columns(sf_columns *columns, const sf_connectivity *graph, sf_error *error)
{
    int status = sf_columns_grow(columns, graph->count, error);
    for (size_t c = 0; status == SF_OK && c < sizeof edge_values / sizeof edge_values[0]; c++) {
        size_t index;
        if (!is_given(graph, &edge_values[c])) continue;
        status = sf_columns_add(columns, edge_values[c].name, &index, error);
        for (size_t i = 0; status == SF_OK && i < graph->count; i++)
            columns->items[index].values[i] = edge_values[c].value(graph, &graph->links[i]);
    }
    return status;
}

static int add_positions(sf_columns *columns, const sf_units *units, sf_error *error)
{
    size_t x, y;
    if (sf_columns_add(columns, "x_um", &x, error) != SF_OK ||
        sf_columns_add(columns, "y_um", &y, error) != SF_OK)
        return SF_NO_MEMORY;
    for (size_t u = 0; u < units->count; u++) {
        columns->items[x].values[u] = units->items[u].x_um;
        columns->items[y].values[u] = units->items[u].y_um;
    }
    return SF_OK;
}

static int describe_units(sf_columns *columns, const sf_connectivity *graph, const sf_units *units,
                          sf_error *error)
{
    size_t rate;
    int status = sf_columns_grow(columns, graph->unit_count, error);
    if (status == SF_OK && graph->rates_hz != NULL) {
        status = sf_columns_add(columns, "rate", &rate, error);
        for (uint32_t u = 0; status == SF_OK && u < graph->unit_count; u++)
            columns->items[rate].values[u] = graph->rates_hz[u];
    }
    if (status == SF_OK && units != NULL && sf_units_have_geometry(units))
        status = add_positions(columns, units, error);
    return status;
}

static int list_edges(sf_edge_list *list, const sf_connectivity *graph, const sf_units *units,
                      sf_error *error)
{
    int status = SF_OK;
    *list = (sf_edge_list){.directed = !graph->is_tiling};
    if (units == NULL) status = sf_edge_list_set_vertices(list, graph->unit_count, error);
    for (uint32_t u = 0; units != NULL && status == SF_OK && u < graph->unit_count; u++)
        status = sf_edge_list_add_named(list, units->items[u].name, error);
    for (size_t i = 0; status == SF_OK && i < graph->count; i++)
        status = sf_edge_list_add(list, graph->links[i].from, graph->links[i].to, error);
    return status;
}

int sf_connectivity_list(sf_edge_list *list, const sf_connectivity *graph, const sf_units *units,
                         sf_error *error)
{
    int status = list_edges(list, graph, units, error);
    if (status == SF_OK) status = fill_columns(&list->edge_columns, graph, error);
    if (status == SF_OK) status = describe_units(&list->vertex_columns, graph, units, error);
    if (status != SF_OK) sf_edge_list_free(list);
    return status;
}

int sf_connectivity_shape(sf_csr *csr, const sf_connectivity *graph, sf_error *error)
{
    *csr = (sf_csr){0};
    sf_edge_list list;
    int status = list_edges(&list, graph, NULL, error);
    if (status == SF_OK) status = sf_csr_build(csr, &list, 0, error);
    sf_edge_list_free(&list);
    return status;
}

int sf_connectivity_csr(sf_csr *csr, const sf_connectivity *graph, const sf_units *units, sf_error *error)
{
    *csr = (sf_csr){0};
    sf_edge_list list;
    int status = sf_connectivity_list(&list, graph, units, error);
    if (status == SF_OK) status = sf_csr_build(csr, &list, 0, error);
    sf_edge_list_free(&list);
    return status;
}

/* Orders vertices by level and index, with a counting sort over the levels. */
static void list_reached(sf_reach_result *reach, const sf_bfs_result *search, uint32_t vertices,
                         uint64_t *starts)
{
    uint64_t next = 0;
    for (uint32_t level = 0; level <= search->depth; level++) {
        starts[level] = next;
        next += search->level_sizes[level];
    }
    for (uint32_t v = 0; v < vertices; v++) {
        if (search->levels[v] == SF_UNREACHED) continue;
        uint64_t place = starts[search->levels[v]]++;
        reach->units[place] = v;
        reach->levels[place] = search->levels[v];
    }
}

static bool is_shorter(sf_delay one, sf_delay other)
{
    return one.high_ns != other.high_ns ? one.high_ns < other.high_ns : one.low_ns < other.low_ns;
}

/* Edges of a directed graph are links in their order; those of a tiling graph all have the same delay. */
static sf_delay delay_of(const sf_connectivity *graph, uint64_t edge)
{
    return graph->links[graph->is_tiling ? 0 : edge].delay;
}

/* Proceeds level by level: paths[v] is final before the first edge from v is visited. */
static void find_delays(sf_reach_result *reach, sf_delay *paths, sf_bfs_result *search,
                        const sf_connectivity *graph, const sf_csr *csr)
{
    for (uint32_t v = 0; v < csr->vertex_count; v++)
        paths[v] = (sf_delay){INT64_MAX, INT64_MAX};
    paths[reach->source] = (sf_delay){0, 0};
    for (size_t i = 0; i < reach->count; i++) {
        uint32_t v = reach->units[i];
        for (uint64_t e = csr->offsets[v]; e < csr->offsets[v + 1]; e++) {
            uint32_t to = csr->targets[e];
            sf_delay edge = delay_of(graph, e);
            sf_delay path = {paths[v].low_ns + edge.low_ns, paths[v].high_ns + edge.high_ns};
            if (search->levels[to] != search->levels[v] + 1 || !is_shorter(path, paths[to])) continue;
            paths[to] = path;
            search->parents[to] = v;
        }
    }
    for (size_t i = 0; i < reach->count; i++) {
        uint32_t v = reach->units[i];
        reach->parents[i] = v == reach->source ? SF_NO_UNIT : search->parents[v];
        reach->delays[i] = paths[v];
    }
}

int sf_connectivity_reach(sf_reach_result *reach, const sf_connectivity *graph, const sf_csr *csr,
                          uint32_t source, uint32_t most_hops, sf_error *error)
{
    *reach = (sf_reach_result){.source = source};
    sf_bfs_result search;
    int status = sf_bfs(&search, csr, source, most_hops, error);
    if (status != SF_OK) return status;
    reach->count = search.reached;
    reach->units = sf_resize(NULL, reach->count, sizeof *reach->units);
    reach->levels = sf_resize(NULL, reach->count, sizeof *reach->levels);
    reach->parents = sf_resize(NULL, reach->count, sizeof *reach->parents);
    reach->delays = sf_resize(NULL, reach->count, sizeof *reach->delays);
    uint64_t *starts = sf_resize(NULL, (size_t)search.depth + 1, sizeof *starts);
    sf_delay *paths = sf_resize(NULL, csr->vertex_count, sizeof *paths);
    if (reach->units != NULL && reach->levels != NULL && reach->parents != NULL && reach->delays != NULL &&
        starts != NULL && paths != NULL) {
        list_reached(reach, &search, csr->vertex_count, starts);
        find_delays(reach, paths, &search, graph, csr);
    } else {
        sf_reach_result_free(reach);
        status = sf_fail_memory(error);
    }
    sf_free(starts);
    sf_free(paths);
    sf_bfs_result_free(&search);
    return status;
}

/* ---- queries on every unit ---- */

void sf_reach_counts_free(sf_reach_counts *counts)
{
    sf_free(counts->reached);
    sf_free(counts->depth);
    *counts = (sf_reach_counts){0};
}

int sf_connectivity_reach_all(sf_reach_counts *counts, const sf_csr *csr, uint32_t most_hops,
                              sf_device *device, sf_error *error)
{
    *counts = (sf_reach_counts){.reached = sf_resize(NULL, csr->vertex_count, sizeof *counts->reached),
                                .depth = sf_resize(NULL, csr->vertex_count, sizeof *counts->depth)};
    int status;
    if (counts->reached == NULL || counts->depth == NULL)
        status = sf_fail_memory(error);
    else if (device != NULL)
        status = sf_device_bfs_count(device, csr, most_hops, counts->reached, counts->depth, NULL, error);
    else
        status = sf_bfs_count(csr, most_hops, 1, counts->reached, counts->depth, NULL, error);
    if (status != SF_OK) sf_reach_counts_free(counts);
    return status;
}

int sf_connectivity_components(sf_components_result *components, const sf_csr *csr, sf_error *error)
{
    uint32_t n = csr->vertex_count;
    uint32_t *sizes = sf_alloc(n, sizeof *sizes);
    *components = (sf_components_result){.of_unit = sf_resize(NULL, n, sizeof *components->of_unit)};
    int status = sizes != NULL && components->of_unit != NULL ? SF_OK : sf_fail_memory(error);
    if (status == SF_OK) {
        components->count = sf_components(csr, components->of_unit);
        for (uint32_t v = 0; v < n; v++) {
            uint32_t size = ++sizes[components->of_unit[v]];
            components->largest = size > components->largest ? size : components->largest;
        }
    } else {
        sf_free(components->of_unit);
        *components = (sf_components_result){0};
    }
    sf_free(sizes);
    return status;
}
