/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/motif/rewire.h"

#include "core/backend/rewire.h"
#include "core/error.h"
#include "core/memory.h"

#include <string.h>

/* ---- a set of edges ---- */

/* A bit for each pair of vertices, or, where those would not fit into a cache, a table with linear probing,
 * at most half full, in which 0 is a loop and stands for nothing. */

#define MOST_IN_MATRIX 8192u /* vertices: 8 MB */

typedef struct edge_set {
    uint64_t *slots; /* of the table, or words of the matrix */
    uint32_t vertex_count;
    unsigned bits; /* of a slot's number; 0: it is a matrix */
} edge_set;

static int open_set(edge_set *set, uint32_t vertices, uint32_t edges, sf_error *error)
{
    *set = (edge_set){.vertex_count = vertices};
    uint64_t words = ((uint64_t)vertices * vertices + 63) / 64;
    if (vertices > MOST_IN_MATRIX) {
        set->bits = 4;
        while (UINT64_C(1) << set->bits < 2 * (uint64_t)edges)
            set->bits++;
        words = UINT64_C(1) << set->bits;
    }
    set->slots = sf_alloc(words, sizeof *set->slots);
    return set->slots != NULL ? SF_OK : sf_fail_memory(error);
}

static uint64_t key_of(const edge_set *set, sf_edge edge, bool directed)
{
    if (!directed && edge.from > edge.to) edge = (sf_edge){edge.to, edge.from};
    uint64_t row = set->bits == 0 ? set->vertex_count : UINT64_C(1) << 32;
    return edge.from * row + edge.to;
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
    if (set->bits == 0) return (set->slots[key / 64] >> key % 64 & 1) != 0;
    return set->slots[slot_of(set, key)] != 0;
}

static void add(edge_set *set, uint64_t key)
{
    if (set->bits == 0)
        set->slots[key / 64] |= UINT64_C(1) << key % 64;
    else
        set->slots[slot_of(set, key)] = key;
}

/* Keys behind the hole that would no longer be found move up into it. */
static void empty_slot(edge_set *set, uint64_t hole)
{
    uint64_t mask = (UINT64_C(1) << set->bits) - 1;
    for (uint64_t next = (hole + 1) & mask; set->slots[next] != 0; next = (next + 1) & mask) {
        uint64_t home = home_of(set, set->slots[next]);
        if (((next - home) & mask) < ((next - hole) & mask)) continue;
        set->slots[hole] = set->slots[next];
        hole = next;
    }
    set->slots[hole] = 0;
}

static void take_out(edge_set *set, uint64_t key)
{
    if (set->bits == 0)
        set->slots[key / 64] &= ~(UINT64_C(1) << key % 64);
    else
        empty_slot(set, slot_of(set, key));
}

/* ---- the graph as bundles ---- */

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
            if (!graph->directed && edge.to < v) continue;
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

static int pick_moving(sf_rewiring *rewiring, sf_error *error)
{
    size_t bundles = rewiring->bundle_count;
    if (bundles > UINT32_MAX)
        return sf_fail(error, SF_UNAVAILABLE, NULL, "rewires up to %u edges, found %zu", UINT32_MAX, bundles);
    rewiring->ends = sf_resize(NULL, bundles, sizeof *rewiring->ends);
    rewiring->bundles = sf_resize(NULL, bundles, sizeof *rewiring->bundles);
    if (rewiring->ends == NULL || rewiring->bundles == NULL) return sf_fail_memory(error);
    for (size_t b = 0; b < bundles; b++) {
        sf_edge edge = rewiring->list.edges[rewiring->starts[b]];
        if (edge.from == edge.to) continue;
        rewiring->ends[rewiring->moving] = edge;
        rewiring->bundles[rewiring->moving++] = (uint32_t)b;
    }
    return SF_OK;
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
    if (status == SF_OK) status = pick_moving(rewiring, error);
    if (status != SF_OK) sf_rewiring_close(rewiring);
    return status;
}

void sf_rewiring_close(sf_rewiring *rewiring)
{
    sf_edge_list_free(&rewiring->list);
    sf_free(rewiring->starts);
    sf_free(rewiring->ends);
    sf_free(rewiring->bundles);
    *rewiring = (sf_rewiring){0};
}

/* ---- swapping ---- */

/* Trades the heads of two edges where that leaves the graph without loops and repeated edges. */
static void swap_heads(edge_set *set, sf_edge *one, sf_edge *other, bool turned, bool directed)
{
    sf_edge next = turned ? (sf_edge){other->to, other->from} : *other;
    sf_edge first = {one->from, next.to}, second = {next.from, one->to};
    if (first.from == first.to || second.from == second.to || has(set, key_of(set, first, directed)) ||
        has(set, key_of(set, second, directed)))
        return;
    take_out(set, key_of(set, *one, directed));
    take_out(set, key_of(set, *other, directed));
    add(set, key_of(set, first, directed));
    add(set, key_of(set, second, directed));
    *one = first;
    *other = second;
}

uint64_t sf_rewiring_tries(const sf_rewiring *rewiring)
{
    return (uint64_t)SF_REWIRE_TRIES * rewiring->moving;
}

int sf_rewire_ends(sf_edge *ends, const sf_rewiring *rewiring, uint64_t seed, uint32_t number,
                   sf_error *error)
{
    bool directed = rewiring->list.directed;
    uint32_t count = rewiring->moving;
    edge_set set;
    int status = open_set(&set, rewiring->list.vertex_count, count, error);
    if (status != SF_OK) return status;
    for (uint32_t i = 0; i < count; i++) {
        ends[i] = rewiring->ends[i];
        add(&set, key_of(&set, ends[i], directed));
    }
    uint64_t tries = sf_rewiring_tries(rewiring);
    for (uint64_t i = 0; i < tries; i++) {
        sf_rewire_draw draw = sf_rewire_drawn(seed, number, i, count);
        if (draw.one != draw.other)
            swap_heads(&set, &ends[draw.one], &ends[draw.other], draw.turned && !directed, directed);
    }
    sf_free(set.slots);
    return SF_OK;
}

int sf_rewire_build(sf_csr *rewired, const sf_rewiring *rewiring, const sf_edge *ends, sf_error *error)
{
    sf_edge_list list = rewiring->list;
    *rewired = (sf_csr){0};
    list.edges = sf_resize(NULL, list.edge_count, sizeof *list.edges);
    if (list.edges == NULL) return sf_fail_memory(error);
    if (list.edge_count > 0) memcpy(list.edges, rewiring->list.edges, list.edge_count * sizeof *list.edges);
    for (uint32_t i = 0; i < rewiring->moving; i++) {
        const uint64_t *start = &rewiring->starts[rewiring->bundles[i]];
        for (uint64_t e = start[0]; e < start[1]; e++)
            list.edges[e] = ends[i];
    }
    int status = sf_csr_build(rewired, &list, 0, error);
    sf_free(list.edges);
    return status;
}

int sf_rewire(sf_csr *rewired, const sf_rewiring *rewiring, uint64_t seed, uint32_t number, sf_error *error)
{
    *rewired = (sf_csr){0};
    sf_edge *ends = sf_resize(NULL, rewiring->moving, sizeof *ends);
    int status = ends != NULL ? sf_rewire_ends(ends, rewiring, seed, number, error) : sf_fail_memory(error);
    if (status == SF_OK) status = sf_rewire_build(rewired, rewiring, ends, error);
    sf_free(ends);
    return status;
}

/* ---- choosing ---- */

#define TRIES_A_SECOND 2e7 /* with what is counted in the graphs */

double sf_rewiring_seconds(const sf_rewiring *rewiring, uint32_t graphs)
{
    return (double)graphs * (double)sf_rewiring_tries(rewiring) / TRIES_A_SECOND;
}
