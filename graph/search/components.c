/* SPDX-License-Identifier: Apache-2.0 */
/* Weakly connected components by union-find with path halving; the smaller root wins, so a component's root
 * is its smallest vertex. */
#include "graph/search/bfs.h"

static uint32_t find_root(uint32_t *parent, uint32_t vertex)
{
    while (parent[vertex] != vertex) {
        parent[vertex] = parent[parent[vertex]];
        vertex = parent[vertex];
    }
    return vertex;
}

uint32_t sf_components(const sf_csr *graph, uint32_t *component)
{
    for (uint32_t v = 0; v < graph->vertex_count; v++)
        component[v] = v;
    for (uint32_t v = 0; v < graph->vertex_count; v++) {
        for (uint64_t e = graph->offsets[v]; e < graph->offsets[v + 1]; e++) {
            uint32_t a = find_root(component, v), b = find_root(component, graph->targets[e]);
            component[a < b ? b : a] = a < b ? a : b;
        }
    }
    uint32_t count = 0;
    for (uint32_t v = 0; v < graph->vertex_count; v++) {
        component[v] = find_root(component, v);
        count += component[v] == v;
    }
    return count;
}
