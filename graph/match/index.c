/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/match/index.h"

#include "core/error.h"
#include "core/memory.h"

#include <stdlib.h>
#include <string.h>

enum { ROOM = 32 << 10 }; /* bytes: enough for the spaces of small searches */

static int compare_labels(const void *first, const void *second)
{
    uint32_t a = *(const uint32_t *)first, b = *(const uint32_t *)second;
    return (a > b) - (a < b);
}

/* Distinct labels, ascending. */
static int list_labels(sf_match_index *index, sf_error *error)
{
    uint32_t n = index->out->vertex_count;
    index->label_values = sf_resize(NULL, n, sizeof *index->label_values);
    if (index->label_values == NULL) return sf_fail_memory(error);
    memcpy(index->label_values, index->out->vertex_labels, n * sizeof *index->label_values);
    qsort(index->label_values, n, sizeof *index->label_values, compare_labels);
    for (uint32_t v = 0; v < n; v++)
        if (v == 0 || index->label_values[v] != index->label_values[index->label_count - 1])
            index->label_values[index->label_count++] = index->label_values[v];
    return SF_OK;
}

uint32_t sf_match_dense_label(const sf_match_index *index, uint32_t value)
{
    const uint32_t *found = index->label_values == NULL
                                ? NULL
                                : bsearch(&value, index->label_values, index->label_count,
                                          sizeof *index->label_values, compare_labels);
    return found != NULL ? (uint32_t)(found - index->label_values) : SF_ANY_LABEL;
}

static int label_vertices(sf_match_index *index, sf_error *error)
{
    uint32_t n = index->out->vertex_count;
    index->label_count = 0;
    if (index->out->vertex_labels != NULL && n > 0 && list_labels(index, error) != SF_OK) return SF_NO_MEMORY;
    if (index->label_count > 1) {
        index->labels = sf_resize(NULL, n, sizeof *index->labels);
        if (index->labels == NULL) return sf_fail_memory(error);
        for (uint32_t v = 0; v < n; v++)
            index->labels[v] = sf_match_dense_label(index, index->out->vertex_labels[v]);
    }
    index->label_count = index->label_count > 0 ? index->label_count : 1;
    index->by_label = sf_alloc((size_t)index->label_count + 1, sizeof *index->by_label);
    index->members = sf_resize(NULL, n, sizeof *index->members);
    if (index->by_label == NULL || index->members == NULL) return sf_fail_memory(error);
    for (uint32_t v = 0; v < n; v++)
        index->by_label[sf_match_label(index, v) + 1]++;
    for (uint32_t l = 0; l < index->label_count; l++)
        index->by_label[l + 1] += index->by_label[l];
    for (uint32_t v = 0; v < n; v++)
        index->members[index->by_label[sf_match_label(index, v)]++] = v;
    memmove(index->by_label + 1, index->by_label, index->label_count * sizeof *index->by_label);
    index->by_label[0] = 0;
    return SF_OK;
}

/* Sorts every neighbour list by label: visiting vertices label by label and appending each to the lists of
 * those it is a neighbour of leaves the lists in the order wanted. `turned` is the graph with its edges
 * turned round. */
static void sort_by_label(const sf_match_index *index, sf_label_lists *lists, const sf_csr *graph,
                          const sf_csr *turned, uint64_t *next)
{
    for (uint32_t v = 0; v < graph->vertex_count; v++)
        next[v] = graph->offsets[v] - graph->offsets[0];
    for (uint32_t i = 0; i < graph->vertex_count; i++) {
        uint32_t w = index->members[i];
        for (uint64_t e = turned->offsets[w]; e < turned->offsets[w + 1]; e++)
            lists->targets[next[turned->targets[e]]++] = w;
    }
}

static uint64_t fill_directory(const sf_match_index *index, sf_label_lists *lists, const sf_csr *graph)
{
    uint64_t entries = 0;
    for (uint32_t v = 0; v < graph->vertex_count; v++) {
        uint64_t start = graph->offsets[v] - graph->offsets[0], stop = start + sf_csr_degree(graph, v);
        lists->directory[v] = entries;
        for (uint64_t e = start; e < stop; e++) {
            uint32_t label = index->labels[lists->targets[e]];
            if (e > start && label == index->labels[lists->targets[e - 1]]) continue;
            if (lists->labels != NULL) {
                lists->labels[entries] = label;
                lists->starts[entries] = e;
            }
            entries++;
        }
    }
    lists->directory[graph->vertex_count] = entries;
    if (lists->labels != NULL) lists->starts[entries] = sf_csr_edge_count(graph);
    return entries;
}

static int build_lists(const sf_match_index *index, sf_label_lists *lists, const sf_csr *graph,
                       const sf_csr *turned, sf_error *error)
{
    uint64_t *next = sf_resize(NULL, graph->vertex_count, sizeof *next);
    lists->targets = sf_resize(NULL, sf_csr_edge_count(graph), sizeof *lists->targets);
    lists->directory = sf_resize(NULL, (size_t)graph->vertex_count + 1, sizeof *lists->directory);
    int status = SF_NO_MEMORY;
    if (next != NULL && lists->targets != NULL && lists->directory != NULL) {
        sort_by_label(index, lists, graph, turned, next);
        uint64_t entries = fill_directory(index, lists, graph);
        lists->labels = sf_resize(NULL, entries, sizeof *lists->labels);
        lists->starts = sf_resize(NULL, entries + 1, sizeof *lists->starts);
        status = lists->labels != NULL && lists->starts != NULL ? SF_OK : SF_NO_MEMORY;
    }
    if (status == SF_OK) fill_directory(index, lists, graph);
    sf_free(next);
    return status == SF_OK ? SF_OK : sf_fail_memory(error);
}

const uint32_t *sf_match_neighbours(const sf_match_index *index, bool out, uint32_t vertex, uint32_t label,
                                    size_t *count)
{
    const sf_csr *graph = out ? index->out : index->in;
    const sf_label_lists *lists = out || index->in == index->out ? &index->out_lists : &index->in_lists;
    if (label == SF_ANY_LABEL || lists->directory == NULL) {
        *count = sf_csr_degree(graph, vertex);
        return graph->targets + graph->offsets[vertex];
    }
    uint64_t low = lists->directory[vertex], left = lists->directory[vertex + 1] - low;
    const bool any = left > 0;
    while (left > 1) { /* the last entry whose label is no greater, without branches on labels */
        uint64_t half = left / 2;
        low += lists->labels[low + half] <= label ? half : 0;
        left -= half;
    }
    if (!any || lists->labels[low] != label) {
        *count = 0;
        return NULL;
    }
    *count = lists->starts[low + 1] - lists->starts[low];
    return lists->targets + lists->starts[low];
}

static int note_kinds(sf_match_index *index, uint64_t **kinds, uint64_t **edges, const sf_csr *graph,
                      sf_error *error)
{
    *kinds = sf_alloc(graph->vertex_count, sizeof **kinds);
    *edges = sf_alloc(index->label_count, sizeof **edges);
    if (*kinds == NULL || *edges == NULL) return sf_fail_memory(error);
    for (uint32_t v = 0; v < graph->vertex_count; v++) {
        (*edges)[sf_match_label(index, v)] += sf_csr_degree(graph, v);
        for (uint64_t e = graph->offsets[v]; e < graph->offsets[v + 1]; e++) {
            (*kinds)[v] |= UINT64_C(1) << sf_match_label(index, graph->targets[e]) % 64;
            index->has_loops |= graph->targets[e] == v;
        }
    }
    return SF_OK;
}

static int list_neighbours(sf_match_index *index, sf_error *error)
{
    int status = note_kinds(index, &index->out_kinds, &index->out_edges, index->out, error);
    if (status == SF_OK && index->label_count > 1)
        status = build_lists(index, &index->out_lists, index->out, index->in, error);
    if (status != SF_OK || index->in == index->out) {
        index->in_kinds = index->out_kinds;
        index->in_edges = index->out_edges;
        return status;
    }
    status = note_kinds(index, &index->in_kinds, &index->in_edges, index->in, error);
    if (status == SF_OK && index->label_count > 1)
        status = build_lists(index, &index->in_lists, index->in, index->out, error);
    return status;
}

static int open_room(sf_match_index *index, sf_error *error)
{
    uint32_t vertices = index->out->vertex_count;
    index->masks = sf_alloc(vertices, sizeof *index->masks);
    index->places = sf_alloc(vertices, sizeof *index->places);
    index->users = sf_alloc(vertices, sizeof *index->users);
    index->kinds = sf_alloc(1, sizeof *index->kinds);
    index->relatives = sf_alloc(2, sizeof *index->relatives);
    index->there = sf_alloc(1, sizeof *index->there);
    index->room = sf_alloc(1, sizeof *index->room);
    if (index->masks == NULL || index->places == NULL || index->users == NULL || index->kinds == NULL ||
        index->relatives == NULL || index->there == NULL || index->room == NULL ||
        sf_arena_open(index->room, ROOM) != SF_OK)
        return sf_fail_memory(error);
    return SF_OK;
}

int sf_match_open(sf_match_index **out, const sf_csr *data, sf_error *error)
{
    *out = NULL;
    sf_match_index *index = sf_alloc(1, sizeof *index);
    if (index == NULL) return sf_fail_memory(error);
    index->out = index->in = data;
    int status = SF_OK;
    if (data->directed) {
        status = sf_csr_transpose(&index->turned, data, error);
        index->in = &index->turned;
    }
    if (status == SF_OK) status = label_vertices(index, error);
    if (status == SF_OK) status = list_neighbours(index, error);
    if (status == SF_OK) status = open_room(index, error);
    if (status == SF_OK)
        *out = index;
    else
        sf_match_close(index);
    return status;
}

void sf_label_lists_free(sf_label_lists *lists)
{
    sf_free(lists->targets);
    sf_free(lists->directory);
    sf_free(lists->labels);
    sf_free(lists->starts);
    *lists = (sf_label_lists){0};
}

static void free_relatives(sf_relatives *relatives)
{
    sf_free(relatives->twins.first);
    sf_free(relatives->twins.size);
    sf_free(relatives->implied);
}

void sf_match_close(sf_match_index *index)
{
    if (index == NULL) return;
    if (index->there != NULL) /* borrows what follows */
        sf_match_there_close(index->there);
    sf_free(index->there);
    sf_csr_free(&index->turned);
    sf_free(index->label_values);
    sf_free(index->labels);
    sf_free(index->by_label);
    sf_free(index->members);
    sf_label_lists_free(&index->out_lists);
    sf_label_lists_free(&index->in_lists);
    if (index->in_kinds != index->out_kinds) sf_free(index->in_kinds);
    if (index->in_edges != index->out_edges) sf_free(index->in_edges);
    sf_free(index->out_kinds);
    sf_free(index->out_edges);
    sf_free(index->masks);
    sf_free(index->places);
    sf_free(index->users);
    if (index->room != NULL) sf_arena_free(index->room);
    sf_free(index->room);
    if (index->kinds != NULL) {
        sf_label_lists_free(&index->kinds->out);
        sf_label_lists_free(&index->kinds->in);
    }
    sf_free(index->kinds);
    for (int by_kinds = 0; by_kinds < 2 && index->relatives != NULL; by_kinds++)
        free_relatives(&index->relatives[by_kinds]);
    sf_free(index->relatives);
    sf_free(index);
}
