/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/activity.h"
#include "analysis/graph.h"

#include "core/error.h"
#include "core/memory.h"

#include <math.h>

/* The graph with neither loops, nor a second edge of the same ends, nor what touches others. */
static int simplify(sf_csr *simple, const sf_csr *csr, const bool *takes_part, bool directed, sf_error *error)
{
    sf_edge_list list = {.directed = directed};
    int status = sf_edge_list_set_vertices(&list, csr->vertex_count, error);
    for (uint32_t v = 0; status == SF_OK && v < csr->vertex_count; v++)
        for (uint64_t e = csr->offsets[v]; status == SF_OK && e < csr->offsets[v + 1]; e++)
            if (sf_csr_is_first(csr, v, e) &&
                (takes_part == NULL || (takes_part[v] && takes_part[csr->targets[e]])))
                status = sf_edge_list_add(&list, v, csr->targets[e], error);
    if (status == SF_OK)
        status = sf_csr_build(simple, &list, SF_CSR_SIMPLE, error);
    sf_edge_list_free(&list);
    return status;
}

/* How many members two ascending lists share. */
static uint64_t count_common(const uint32_t *a, uint64_t a_count, const uint32_t *b, uint64_t b_count)
{
    uint64_t common = 0;
    for (uint64_t i = 0, k = 0; i < a_count && k < b_count;) {
        common += a[i] == b[k];
        uint32_t low = a[i] < b[k] ? a[i] : b[k];
        i += a[i] == low;
        k += b[k] == low;
    }
    return common;
}

/* Of pairs of neighbours of v the share that are neighbours. */
static double clustering_of(const sf_csr *simple, uint32_t v)
{
    uint64_t degree = sf_csr_degree(simple, v), ends = 0; /* each edge between neighbours from both ends */
    const uint32_t *neighbours = simple->targets + simple->offsets[v];
    for (uint64_t i = 0; i < degree; i++)
        ends += count_common(neighbours, degree, simple->targets + simple->offsets[neighbours[i]],
                             sf_csr_degree(simple, neighbours[i]));
    return degree < 2 ? 0 : (double)ends / ((double)degree * (double)(degree - 1));
}

static double reciprocity_of(const sf_csr *simple)
{
    uint64_t both = 0, edges = sf_csr_edge_count(simple);
    if (!simple->directed || edges == 0)
        return NAN;
    for (uint32_t v = 0; v < simple->vertex_count; v++)
        for (uint64_t e = simple->offsets[v]; e < simple->offsets[v + 1]; e++)
            both += sf_csr_find(simple, simple->targets[e], v) != UINT64_MAX;
    return (double)both / (double)edges;
}

int sf_network_measure(sf_network *network, const sf_graph *graph, const bool *takes_part, sf_error *error)
{
    const sf_csr *csr = &graph->csr;
    sf_csr simple = {0}, undirected = {0};
    *network = (sf_network){.density = NAN, .degree = NAN, .clustering = NAN, .reciprocity = NAN};
    int status = simplify(&simple, csr, takes_part, csr->directed, error);
    if (status == SF_OK)
        status = simplify(&undirected, &simple, NULL, false, error);
    double clustering = 0;
    for (uint32_t v = 0; status == SF_OK && v < csr->vertex_count; v++)
        if (takes_part == NULL || takes_part[v]) {
            network->vertices++;
            clustering += clustering_of(&undirected, v);
        }
    if (status == SF_OK && network->vertices > 0) {
        double n = (double)network->vertices;
        uint64_t ends = sf_csr_edge_count(&simple);
        network->edges = csr->directed ? ends : ends / 2;
        network->density = n > 1 ? (double)ends / (n * (n - 1)) : NAN;
        network->degree = (double)sf_csr_edge_count(&undirected) / n;
        network->clustering = clustering / n;
        network->reciprocity = reciprocity_of(&simple);
    }
    sf_csr_free(&simple);
    sf_csr_free(&undirected);
    return status;
}
