/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/measure/net.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/reals.h"

#include <math.h>
#include <string.h>

/* The edges of the graph, simple, both directions of an undirected one. */
typedef struct arcs {
    uint32_t *from, *to;
    double *weights;
    size_t count;
} arcs;

static void free_arcs(arcs *a)
{
    sf_free(a->from);
    sf_free(a->to);
    sf_free(a->weights);
}

static const double *weights_of(const sf_csr *graph)
{
    size_t column = sf_columns_find(&graph->edge_columns, "weight");
    return column != SF_NO_COLUMN && !sf_attribute_is_text(&graph->edge_columns.items[column])
               ? graph->edge_columns.items[column].values
               : NULL;
}

/* Adds up parallel edges. Loops, and edges of vertices that take no part, are none. */
static int take_arcs(arcs *a, const sf_csr *graph, const double *weights, const bool *takes_part,
                     sf_error *error)
{
    size_t most = sf_csr_edge_count(graph);
    *a = (arcs){.from = sf_resize(NULL, most, sizeof *a->from),
                .to = sf_resize(NULL, most, sizeof *a->to),
                .weights = sf_resize(NULL, most, sizeof *a->weights)};
    if (a->from == NULL || a->to == NULL || a->weights == NULL) return sf_fail_memory(error);
    for (uint32_t v = 0; v < graph->vertex_count; v++) {
        size_t before = a->count;
        for (uint64_t e = graph->offsets[v]; e < graph->offsets[v + 1]; e++) {
            uint32_t w = graph->targets[e];
            double weight = weights != NULL ? weights[e - graph->offsets[0]] : 1;
            if (w == v || (takes_part != NULL && !(takes_part[v] && takes_part[w]))) continue;
            if (a->count > before && a->to[a->count - 1] == w) {
                if (weights != NULL) a->weights[a->count - 1] += weight;
                continue;
            }
            a->from[a->count] = v;
            a->to[a->count] = w;
            a->weights[a->count++] = weight;
        }
    }
    return SF_OK;
}

/* The weight from which on edges are among the strongest `density` of all pairs of `count` vertices. */
static int find_bar(double *bar, const arcs *a, double threshold, double density, uint32_t count,
                    sf_error *error)
{
    *bar = threshold;
    if (density <= 0) return SF_OK;
    double *sorted = sf_resize(NULL, a->count, sizeof *sorted);
    if (sorted == NULL) return sf_fail_memory(error);
    size_t known = 0;
    for (size_t i = 0; i < a->count; i++)
        if (a->weights[i] > 0) sorted[known++] = a->weights[i];
    sf_reals_sort(sorted, known);
    double most = floor(density * (double)count * ((double)count - 1) + 0.5);
    if (most < (double)known) *bar = fmax(threshold, most >= 1 ? sorted[known - (size_t)most] : INFINITY);
    sf_free(sorted);
    return SF_OK;
}

static void keep_strong(arcs *a, double bar)
{
    size_t kept = 0;
    for (size_t i = 0; i < a->count; i++)
        if (a->weights[i] > 0 && a->weights[i] >= bar) {
            a->from[kept] = a->from[i];
            a->to[kept] = a->to[i];
            a->weights[kept++] = a->weights[i];
        }
    a->count = kept;
}

/* Numbers those that take part, and renames the ends of edges by these numbers. */
static int number_vertices(sf_net *net, arcs *a, uint32_t vertex_count, const sf_net_rule *rule,
                           sf_error *error)
{
    uint32_t *number = sf_alloc(vertex_count, sizeof *number);
    net->vertices = sf_resize(NULL, vertex_count, sizeof *net->vertices);
    if (number == NULL || net->vertices == NULL) {
        sf_free(number);
        return sf_fail_memory(error);
    }
    for (size_t i = 0; i < a->count; i++)
        number[a->from[i]] = number[a->to[i]] = 1;
    for (uint32_t v = 0; v < vertex_count; v++)
        if ((rule->takes_part == NULL || rule->takes_part[v]) && (number[v] != 0 || !rule->linked)) {
            number[v] = net->count;
            net->vertices[net->count++] = v;
        }
    for (size_t i = 0; i < a->count; i++) {
        a->from[i] = number[a->from[i]];
        a->to[i] = number[a->to[i]];
    }
    sf_free(number);
    return SF_OK;
}

static int open_neighbours(sf_neighbours *n, uint32_t vertices, size_t edges, bool lengths, sf_error *error)
{
    *n = (sf_neighbours){.first = sf_alloc((size_t)vertices + 2, sizeof *n->first),
                         .ids = sf_resize(NULL, edges, sizeof *n->ids),
                         .weights = sf_resize(NULL, edges, sizeof *n->weights),
                         .lengths = lengths ? sf_resize(NULL, edges, sizeof *n->lengths) : NULL};
    bool held = n->first != NULL && n->ids != NULL && n->weights != NULL && (n->lengths != NULL || !lengths);
    return held ? SF_OK : sf_fail_memory(error);
}

/* Edges by `keys`, whose order among equal keys stays. */
static int group(sf_neighbours *n, const uint32_t *keys, const uint32_t *ids, const arcs *a,
                 const sf_net *net, sf_error *error)
{
    int status = open_neighbours(n, net->count, a->count, true, error);
    if (status != SF_OK) return status;
    for (size_t i = 0; i < a->count; i++)
        n->first[keys[i] + 2]++;
    for (uint32_t v = 0; v < net->count; v++)
        n->first[v + 2] += n->first[v + 1];
    for (size_t i = 0; i < a->count; i++) {
        uint32_t at = n->first[keys[i] + 1]++;
        n->ids[at] = ids[i];
        n->weights[at] = a->weights[i] / net->greatest;
        n->lengths[at] = net->greatest / a->weights[i];
    }
    return SF_OK;
}

/* Appends a neighbour of both lists, or of one. */
static uint32_t join(sf_net *net, uint32_t at, uint32_t id, double out, double in)
{
    net->both.ids[at] = id;
    net->both.weights[at] = out + in;
    net->ways[at] = (uint8_t)((out > 0) + (in > 0));
    net->roots[at] = cbrt(out) + cbrt(in);
    return at + 1;
}

static int join_directions(sf_net *net, sf_error *error)
{
    size_t edges = net->out.first[net->count] * (size_t)(net->directed ? 2 : 1);
    int status = open_neighbours(&net->both, net->count, edges, false, error);
    net->ways = sf_resize(NULL, edges, sizeof *net->ways);
    net->roots = sf_resize(NULL, edges, sizeof *net->roots);
    if (status != SF_OK || net->ways == NULL || net->roots == NULL) return sf_fail_memory(error);
    const sf_neighbours *out = &net->out, *in = &net->in;
    uint32_t at = 0;
    for (uint32_t v = 0; v < net->count; v++) {
        uint32_t i = out->first[v], k = in->first[v];
        while (i < out->first[v + 1] || k < in->first[v + 1]) {
            uint32_t a = i < out->first[v + 1] ? out->ids[i] : UINT32_MAX;
            uint32_t b = k < in->first[v + 1] ? in->ids[k] : UINT32_MAX;
            at = join(net, at, a < b ? a : b, a <= b ? out->weights[i] : 0, b <= a ? in->weights[k] : 0);
            i += a <= b;
            k += b <= a;
        }
        net->both.first[v + 1] = at;
    }
    return SF_OK;
}

static int connect(sf_net *net, const arcs *a, sf_error *error)
{
    for (size_t i = 0; i < a->count; i++)
        net->greatest = fmax(net->greatest, a->weights[i]);
    net->greatest = net->greatest > 0 ? net->greatest : 1;
    net->edges = net->directed ? a->count : a->count / 2;
    int status = group(&net->out, a->from, a->to, a, net, error);
    if (status == SF_OK && net->directed) status = group(&net->in, a->to, a->from, a, net, error);
    if (!net->directed) net->in = net->out;
    return status == SF_OK ? join_directions(net, error) : status;
}

int sf_net_build(sf_net *net, const sf_csr *graph, const sf_net_rule *rule, sf_error *error)
{
    arcs a = {0};
    double bar = 0;
    *net = (sf_net){.directed = graph->directed};
    if (sf_csr_edge_count(graph) > INT32_MAX)
        return sf_fail(error, SF_UNAVAILABLE, NULL, "the graph has more than 2^31 edges");
    uint32_t count = 0;
    for (uint32_t v = 0; v < graph->vertex_count; v++)
        count += rule->takes_part == NULL || rule->takes_part[v];
    const double *weights = rule->alike ? NULL : weights_of(graph);
    net->weighted = weights != NULL;
    int status = take_arcs(&a, graph, weights, rule->takes_part, error);
    size_t found = a.count;
    if (status == SF_OK) status = find_bar(&bar, &a, rule->threshold, rule->density, count, error);
    if (status == SF_OK) {
        keep_strong(&a, bar);
        net->left_out = (found - a.count) / (graph->directed ? 1 : 2);
        status = number_vertices(net, &a, graph->vertex_count, rule, error);
    }
    if (status == SF_OK) status = connect(net, &a, error);
    free_arcs(&a);
    return status;
}

static void free_neighbours(sf_neighbours *n)
{
    sf_free(n->first);
    sf_free(n->ids);
    sf_free(n->weights);
    sf_free(n->lengths);
}

void sf_net_free(sf_net *net)
{
    free_neighbours(&net->out);
    if (net->directed) free_neighbours(&net->in);
    free_neighbours(&net->both);
    sf_free(net->vertices);
    sf_free(net->ways);
    sf_free(net->roots);
    *net = (sf_net){0};
}

double sf_net_strength(const sf_net *net, uint32_t v)
{
    double sum = 0;
    for (uint32_t e = net->both.first[v]; e < net->both.first[v + 1]; e++)
        sum += net->both.weights[e];
    return sum * net->greatest / (net->directed ? 1 : 2); /* both: its weight from either end */
}

int sf_net_topology(sf_csr *graph, const sf_net *net, sf_error *error)
{
    sf_edge_list list = {.directed = net->directed};
    *graph = (sf_csr){0};
    int status = sf_edge_list_set_vertices(&list, net->count, error);
    for (uint32_t v = 0; v < net->count; v++)
        for (uint32_t i = net->out.first[v]; i < net->out.first[v + 1] && status == SF_OK; i++)
            if (net->directed || net->out.ids[i] > v)
                status = sf_edge_list_add(&list, v, net->out.ids[i], error);
    if (status == SF_OK) status = sf_csr_build(graph, &list, SF_CSR_SIMPLE, error);
    sf_edge_list_free(&list);
    return status;
}
