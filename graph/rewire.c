/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/rewire.h"

#include "core/error.h"
#include "core/memory.h"

#include <Random123/philox.h>
#include <string.h>

/* ---- a set of edges: linear probing, at most half full; 0 is a loop and stands for nothing
 * --------------------------------------------------------------------------------------------------- */

typedef struct edge_set {
    uint64_t *slots;
    unsigned bits;
} edge_set;

static uint64_t key_of(sf_edge edge, bool directed)
{
    if (!directed && edge.from > edge.to)
        edge = (sf_edge){edge.to, edge.from};
    return (uint64_t)edge.from << 32 | edge.to;
}

static uint64_t home_of(const edge_set *set, uint64_t key)
{
    return key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - set->bits);
}

/* The slot that holds the key, or the empty one where it belongs. */
static uint64_t slot_of(const edge_set *set, uint64_t key)
{
    uint64_t mask = (UINT64_C(1) << set->bits) - 1, slot = home_of(set, key);
    while (set->slots[slot] != 0 && set->slots[slot] != key)
        slot = (slot + 1) & mask;
    return slot;
}

static bool has(const edge_set *set, uint64_t key)
{
    return set->slots[slot_of(set, key)] != 0;
}

static void add(edge_set *set, uint64_t key)
{
    set->slots[slot_of(set, key)] = key;
}

/* Keys behind the hole that would no longer be found move up into it. */
static void take_out(edge_set *set, uint64_t key)
{
    uint64_t mask = (UINT64_C(1) << set->bits) - 1, hole = slot_of(set, key);
    for (uint64_t next = (hole + 1) & mask; set->slots[next] != 0; next = (next + 1) & mask) {
        uint64_t home = home_of(set, set->slots[next]);
        if (((next - home) & mask) < ((next - hole) & mask))
            continue;
        set->slots[hole] = set->slots[next];
        hole = next;
    }
    set->slots[hole] = 0;
}

/* ---- the graph as bundles
 * ------------------------------------------------------------------------------------------------ */

static bool is_parallel(sf_edge one, sf_edge other)
{
    return one.from == other.from && one.to == other.to;
}

static int list_edges(sf_rewiring *rewiring, const sf_csr *graph, uint64_t *rows, sf_error *error)
{
    sf_edge_list *list = &rewiring->list;
    for (uint32_t v = 0; v < graph->vertex_count; v++) {
        for (uint64_t e = graph->offsets[v]; e < graph->offsets[v + 1]; e++) {
            sf_edge edge = {v, graph->targets[e]};
            if (!graph->directed && edge.to < v)
                continue;
            if (list->edge_count == 0 || !is_parallel(list->edges[list->edge_count - 1], edge))
                rewiring->starts[rewiring->bundle_count++] = list->edge_count;
            rows[list->edge_count] = e - graph->offsets[0];
            list->edges[list->edge_count++] = edge;
        }
    }
    rewiring->starts[rewiring->bundle_count] = list->edge_count;
    int status =
        sf_columns_pick(&list->vertex_columns, &graph->vertex_columns, NULL, graph->vertex_count, error);
    if (status == SF_OK)
        status = sf_columns_pick(&list->edge_columns, &graph->edge_columns, rows, list->edge_count, error);
    return status;
}

int sf_rewiring_open(sf_rewiring *rewiring, const sf_csr *graph, sf_error *error)
{
    uint64_t edges = sf_csr_edge_count(graph);
    uint64_t *rows = sf_resize(NULL, edges, sizeof *rows);
    *rewiring = (sf_rewiring){.list = {.vertex_count = graph->vertex_count,
                                       .directed = graph->directed,
                                       .edges = sf_resize(NULL, edges, sizeof *rewiring->list.edges),
                                       .edge_capacity = edges},
                              .starts = sf_resize(NULL, edges + 1, sizeof *rewiring->starts)};
    int status = SF_NO_MEMORY;
    if (rows != NULL && rewiring->list.edges != NULL && rewiring->starts != NULL)
        status = list_edges(rewiring, graph, rows, error);
    else
        sf_fail_memory(error);
    sf_free(rows);
    if (status != SF_OK)
        sf_rewiring_close(rewiring);
    return status;
}

void sf_rewiring_close(sf_rewiring *rewiring)
{
    sf_edge_list_free(&rewiring->list);
    sf_free(rewiring->starts);
    *rewiring = (sf_rewiring){0};
}

/* ---- swapping
 * ------------------------------------------------------------------------------------------------------------
 */

/* Trades the heads of two edges where that leaves the graph without loops and repeated edges. */
static void swap_heads(edge_set *set, sf_edge *one, sf_edge *other, bool directed)
{
    sf_edge first = {one->from, other->to}, second = {other->from, one->to};
    if (first.from == first.to || second.from == second.to || has(set, key_of(first, directed)) ||
        has(set, key_of(second, directed)))
        return;
    take_out(set, key_of(*one, directed));
    take_out(set, key_of(*other, directed));
    add(set, key_of(first, directed));
    add(set, key_of(second, directed));
    *one = first;
    *other = second;
}

static void shuffle(edge_set *set, sf_edge *edges, size_t count, bool directed, uint64_t seed,
                    uint32_t number)
{
    philox4x32_key_t key = {{(uint32_t)seed, (uint32_t)(seed >> 32)}};
    uint64_t tries = (uint64_t)SF_REWIRE_TRIES * count;
    for (size_t i = 0; i < count; i++)
        add(set, key_of(edges[i], directed));
    for (uint64_t i = 0; i < tries; i++) {
        philox4x32_ctr_t counter = {{(uint32_t)i, (uint32_t)(i >> 32), number, 0x3e317e}};
        philox4x32_ctr_t random = philox4x32(counter, key);
        sf_edge *one = &edges[(uint64_t)random.v[0] * count >> 32];
        sf_edge *other = &edges[(uint64_t)random.v[1] * count >> 32];
        if (!directed && (random.v[2] & 1) != 0)
            *other = (sf_edge){other->to, other->from};
        if (one != other)
            swap_heads(set, one, other, directed);
    }
}

/* The bundles that can move, one edge for each, and in `which` their numbers; returns how many. */
static size_t pick_bundles(sf_edge *ends, size_t *which, const sf_rewiring *rewiring)
{
    size_t count = 0;
    for (size_t b = 0; b < rewiring->bundle_count; b++) {
        sf_edge edge = rewiring->list.edges[rewiring->starts[b]];
        if (edge.from == edge.to)
            continue;
        ends[count] = edge;
        which[count++] = b;
    }
    return count;
}

static int build(sf_csr *rewired, const sf_rewiring *rewiring, sf_edge *edges, const sf_edge *ends,
                 const size_t *which, size_t count, sf_error *error)
{
    sf_edge_list list = rewiring->list;
    list.edges = edges;
    if (list.edge_count > 0)
        memcpy(edges, rewiring->list.edges, list.edge_count * sizeof *edges);
    for (size_t i = 0; i < count; i++)
        for (uint64_t e = rewiring->starts[which[i]]; e < rewiring->starts[which[i] + 1]; e++)
            edges[e] = ends[i];
    return sf_csr_build(rewired, &list, 0, error);
}

int sf_rewire(sf_csr *rewired, const sf_rewiring *rewiring, uint64_t seed, uint32_t number, sf_error *error)
{
    size_t bundles = rewiring->bundle_count;
    edge_set set = {.bits = 4};
    while (UINT64_C(1) << set.bits < 2 * (uint64_t)bundles)
        set.bits++;
    set.slots = sf_alloc(UINT64_C(1) << set.bits, sizeof *set.slots);
    sf_edge *ends = sf_resize(NULL, bundles, sizeof *ends);
    sf_edge *edges = sf_resize(NULL, rewiring->list.edge_count, sizeof *edges);
    size_t *which = sf_resize(NULL, bundles, sizeof *which);
    int status = SF_NO_MEMORY;
    *rewired = (sf_csr){0};
    if (set.slots != NULL && ends != NULL && edges != NULL && which != NULL) {
        size_t count = pick_bundles(ends, which, rewiring);
        shuffle(&set, ends, count, rewiring->list.directed, seed, number);
        status = build(rewired, rewiring, edges, ends, which, count, error);
    } else {
        sf_fail_memory(error);
    }
    sf_free(set.slots);
    sf_free(ends);
    sf_free(edges);
    sf_free(which);
    return status;
}
