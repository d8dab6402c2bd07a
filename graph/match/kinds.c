/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/match/kinds.h"

#include "graph/match/sorted.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/thread.h"

#include <stdlib.h>

enum { BLOCK = 4096 }; /* vertices that a thread takes at a time */

/* One direction while it is listed. A key is a kind and, below it, a neighbour. */
typedef struct listing {
    const sf_csr *graph;
    sf_label_lists *lists;
    uint64_t *keys; /* of each vertex, from where its neighbours are */
} listing;

static uint32_t kind_of(uint64_t key)
{
    return (uint32_t)(key >> 32);
}

static int compare_keys(const void *first, const void *second)
{
    uint64_t a = *(const uint64_t *)first, b = *(const uint64_t *)second;
    return (a > b) - (a < b);
}

static uint64_t key_of(const sf_match_index *index, size_t row, uint32_t neighbour)
{
    uint64_t kind = (uint64_t)index->out->edge_labels[row] * index->label_count;
    return (kind + sf_match_label(index, neighbour)) << 32 | neighbour;
}

static uint64_t row_of(const sf_csr *graph, uint32_t v)
{
    return graph->offsets[v] - graph->offsets[0];
}

static size_t blocks_of(const sf_csr *graph)
{
    return ((size_t)graph->vertex_count + BLOCK - 1) / BLOCK;
}

/* ---- keys ---- */

static void key_out(const sf_match_index *index, uint64_t *keys)
{
    const sf_csr *graph = index->out;
    for (uint64_t row = 0; row < sf_csr_edge_count(graph); row++)
        keys[row] = key_of(index, row, graph->targets[graph->offsets[0] + row]);
}

/* Labels are known where an edge begins. `next` is room for a number a vertex. */
static void key_in(const sf_match_index *index, uint64_t *keys, uint64_t *next)
{
    const sf_csr *graph = index->out;
    for (uint32_t v = 0; v < graph->vertex_count; v++)
        next[v] = row_of(index->in, v);
    for (uint32_t v = 0; v < graph->vertex_count; v++)
        for (uint64_t row = row_of(graph, v); row < row_of(graph, v + 1); row++)
            keys[next[graph->targets[graph->offsets[0] + row]]++] = key_of(index, row, v);
}

/* ---- lists ---- */

/* Leaves the entries of each vertex one place further in the directory, where their sums will be. */
static int sort_block(void *context, unsigned worker, size_t block)
{
    (void)worker;
    const listing *l = context;
    for (size_t v = block * BLOCK; v < (block + 1) * BLOCK && v < l->graph->vertex_count; v++) {
        uint64_t first = row_of(l->graph, (uint32_t)v), end = row_of(l->graph, (uint32_t)v + 1), entries = 0;
        qsort(l->keys + first, end - first, sizeof *l->keys, compare_keys);
        for (uint64_t row = first; row < end; row++)
            entries += row == first || kind_of(l->keys[row]) != kind_of(l->keys[row - 1]);
        l->lists->directory[v + 1] = entries;
    }
    return 0;
}

static int write_block(void *context, unsigned worker, size_t block)
{
    (void)worker;
    const listing *l = context;
    for (size_t v = block * BLOCK; v < (block + 1) * BLOCK && v < l->graph->vertex_count; v++) {
        uint64_t first = row_of(l->graph, (uint32_t)v), end = row_of(l->graph, (uint32_t)v + 1);
        uint64_t entry = l->lists->directory[v];
        for (uint64_t row = first; row < end; row++) {
            uint64_t key = l->keys[row];
            l->lists->targets[row] = (uint32_t)key;
            if (row > first && kind_of(key) == kind_of(l->keys[row - 1])) continue;
            l->lists->labels[entry] = kind_of(key);
            l->lists->starts[entry++] = row;
        }
    }
    return 0;
}

static int write_lists(const listing *l, unsigned threads)
{
    uint32_t vertices = l->graph->vertex_count;
    uint64_t *directory = l->lists->directory;
    sf_parallel_for(threads, blocks_of(l->graph), sort_block, (void *)l);
    for (uint32_t v = 0; v < vertices; v++)
        directory[v + 1] += directory[v];
    l->lists->labels = sf_resize(NULL, directory[vertices], sizeof *l->lists->labels);
    l->lists->starts = sf_resize(NULL, directory[vertices] + 1, sizeof *l->lists->starts);
    if (l->lists->labels == NULL || l->lists->starts == NULL) return SF_NO_MEMORY;
    l->lists->starts[directory[vertices]] = sf_csr_edge_count(l->graph);
    sf_parallel_for(threads, blocks_of(l->graph), write_block, (void *)l);
    return SF_OK;
}

static int list_direction(const sf_match_index *index, bool out, unsigned threads)
{
    listing l = {out ? index->out : index->in, out ? &index->kinds->out : &index->kinds->in, NULL};
    uint64_t edges = sf_csr_edge_count(l.graph), *next = NULL;
    uint32_t vertices = l.graph->vertex_count;
    l.keys = sf_resize(NULL, edges, sizeof *l.keys);
    l.lists->targets = sf_resize(NULL, edges, sizeof *l.lists->targets);
    l.lists->directory = sf_alloc((size_t)vertices + 1, sizeof *l.lists->directory);
    next = out ? NULL : sf_resize(NULL, vertices, sizeof *next);
    int status = SF_NO_MEMORY;
    if (l.keys != NULL && l.lists->targets != NULL && l.lists->directory != NULL && (out || next != NULL)) {
        if (out)
            key_out(index, l.keys);
        else
            key_in(index, l.keys, next);
        status = write_lists(&l, threads);
    }
    sf_free(l.keys);
    sf_free(next);
    return status;
}

int sf_kinds_find(const sf_match_index *index, unsigned threads, sf_error *error)
{
    const sf_csr *graph = index->out;
    sf_edge_kinds *kinds = index->kinds;
    if (kinds->out.directory != NULL) return SF_OK;
    for (uint64_t row = 0; row < sf_csr_edge_count(graph); row++)
        kinds->greatest =
            graph->edge_labels[row] > kinds->greatest ? graph->edge_labels[row] : kinds->greatest;
    if (((uint64_t)kinds->greatest + 2) * index->label_count > UINT32_MAX) /* one label is no edge's */
        return SF_OK;
    int status = list_direction(index, true, threads);
    if (status == SF_OK && index->in != index->out) status = list_direction(index, false, threads);
    if (status == SF_OK) return SF_OK;
    sf_label_lists_free(&kinds->out);
    sf_label_lists_free(&kinds->in);
    return sf_fail_memory(error);
}

uint32_t sf_kinds_label(const sf_match_index *index, uint32_t value)
{
    uint32_t greatest = index->kinds->greatest;
    return value <= greatest ? value : greatest + 1;
}

const uint32_t *sf_kinds_neighbours(const sf_match_index *index, bool out, uint32_t vertex, uint32_t edge,
                                    uint32_t label, size_t *count)
{
    if (edge == SF_ANY_LABEL) return sf_match_neighbours(index, out, vertex, label, count);
    const sf_label_lists *lists = out || index->in == index->out ? &index->kinds->out : &index->kinds->in;
    bool any = label == SF_ANY_LABEL;
    uint32_t kind = edge * index->label_count + (any ? 0 : label), kinds = any ? index->label_count : 1;
    uint64_t first = lists->directory[vertex], end = lists->directory[vertex + 1];
    first += sf_sorted_lower_bound(lists->labels + first, (uint32_t)(end - first), kind);
    uint64_t last =
        first + sf_sorted_lower_bound(lists->labels + first, (uint32_t)(end - first), kind + kinds);
    *count = lists->starts[last] - lists->starts[first];
    return lists->targets + lists->starts[first];
}
