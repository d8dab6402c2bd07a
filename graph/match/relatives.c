/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/match/relatives.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/thread.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK = 4096 }; /* vertices that a thread takes at a time */

/* ---- twins ---- */

typedef struct signature {
    uint64_t hash;
    uint32_t vertex;
} signature;

static int compare_signatures(const void *first, const void *second)
{
    const signature *a = first, *b = second;
    if (a->hash != b->hash)
        return a->hash < b->hash ? -1 : 1;
    return (a->vertex > b->vertex) - (a->vertex < b->vertex);
}

static uint64_t hash_list(const sf_csr *graph, uint32_t v, uint64_t hash)
{
    for (uint64_t e = graph->offsets[v]; e < graph->offsets[v + 1]; e++)
        hash = (hash ^ graph->targets[e]) * UINT64_C(0x9e3779b97f4a7c15) + 1;
    return hash ^ hash >> 32;
}

static bool same_list(const sf_csr *graph, uint32_t v, uint32_t w)
{
    uint64_t degree = sf_csr_degree(graph, v);
    return degree == sf_csr_degree(graph, w) &&
           (degree == 0 || memcmp(graph->targets + graph->offsets[v], graph->targets + graph->offsets[w],
                                  degree * sizeof *graph->targets) == 0);
}

static bool are_twins(const sf_match_index *index, uint32_t v, uint32_t w)
{
    return sf_match_label(index, v) == sf_match_label(index, w) && same_list(index->out, v, w) &&
           same_list(index->in, v, w) && sf_csr_find(index->out, v, v) == UINT64_MAX;
}

/* Vertices of equal hash stand side by side; each joins the first twin among them. */
static void join_twins(sf_twins *twins, const sf_match_index *index, const signature *sorted)
{
    uint32_t n = index->out->vertex_count;
    for (uint32_t i = 0, start = 0; i < n; i++) {
        uint32_t v = sorted[i].vertex;
        start = sorted[i].hash == sorted[start].hash ? start : i;
        twins->first[v] = v;
        for (uint32_t j = start; j < i && twins->first[v] == v; j++)
            if (twins->first[sorted[j].vertex] == sorted[j].vertex && are_twins(index, sorted[j].vertex, v))
                twins->first[v] = sorted[j].vertex;
        twins->size[twins->first[v]]++;
        twins->merged += twins->first[v] != v;
    }
}

typedef struct hashing {
    const sf_match_index *index;
    signature *signatures;
} hashing;

static int hash_block(void *context, unsigned worker, size_t block)
{
    (void)worker;
    const hashing *h = context;
    const sf_match_index *index = h->index;
    for (size_t i = block * BLOCK; i < (block + 1) * BLOCK && i < index->out->vertex_count; i++) {
        uint32_t v = (uint32_t)i;
        uint64_t hash = hash_list(index->out, v, sf_match_label(index, v));
        h->signatures[v] = (signature){hash_list(index->in, v, hash), v};
    }
    return 0;
}

static size_t blocks_of(const sf_match_index *index)
{
    return ((size_t)index->out->vertex_count + BLOCK - 1) / BLOCK;
}

static void free_twins(sf_twins *twins)
{
    sf_free(twins->first);
    sf_free(twins->size);
    *twins = (sf_twins){0};
}

int sf_twins_find(const sf_match_index *index, unsigned threads, sf_error *error)
{
    sf_twins *twins = &index->relatives->twins;
    uint32_t n = index->out->vertex_count;
    if (twins->first != NULL)
        return SF_OK;
    hashing h = {index, sf_resize(NULL, n, sizeof *h.signatures)};
    *twins = (sf_twins){.first = sf_resize(NULL, n, sizeof *twins->first),
                        .size = sf_alloc(n, sizeof *twins->size)};
    bool failed = h.signatures == NULL || twins->first == NULL || twins->size == NULL;
    if (failed) {
        free_twins(twins);
    } else {
        sf_parallel_for(threads, blocks_of(index), hash_block, &h);
        qsort(h.signatures, n, sizeof *h.signatures, compare_signatures);
        join_twins(twins, index, h.signatures);
    }
    sf_free(h.signatures);
    return failed ? sf_fail_memory(error) : SF_OK;
}

/* ---- implication ---- */

static bool is_subset(const sf_csr *graph, uint32_t u, uint32_t v)
{
    uint64_t j = graph->offsets[v], end = graph->offsets[v + 1];
    if (sf_csr_degree(graph, u) > end - j)
        return false;
    for (uint64_t i = graph->offsets[u]; i < graph->offsets[u + 1]; i++) {
        while (j < end && graph->targets[j] < graph->targets[i])
            j++;
        if (j == end || graph->targets[j] != graph->targets[i])
            return false;
    }
    return true;
}

/* Whoever has all neighbours of u is a neighbour of each of them: look at those of the least connected one.
 */
static uint32_t find_implied(const sf_match_index *index, uint32_t u)
{
    enum { TRIES = 16 };
    bool out = sf_csr_degree(index->out, u) > 0;
    const sf_csr *graph = out ? index->out : index->in, *back = out ? index->in : index->out;
    uint32_t pivot = SF_NO_VERTEX;
    for (uint64_t e = graph->offsets[u]; e < graph->offsets[u + 1]; e++)
        if (pivot == SF_NO_VERTEX || sf_csr_degree(back, graph->targets[e]) < sf_csr_degree(back, pivot))
            pivot = graph->targets[e];
    if (pivot == SF_NO_VERTEX)
        return SF_NO_VERTEX;
    int tries = 0;
    for (uint64_t e = back->offsets[pivot]; e < back->offsets[pivot + 1] && tries < TRIES; e++) {
        uint32_t v = back->targets[e];
        if (v == u || sf_match_label(index, v) != sf_match_label(index, u))
            continue;
        tries++;
        if (is_subset(index->out, u, v) && is_subset(index->in, u, v))
            return v;
    }
    return SF_NO_VERTEX;
}

static int imply_block(void *context, unsigned worker, size_t block)
{
    (void)worker;
    const sf_match_index *index = context;
    for (size_t i = block * BLOCK; i < (block + 1) * BLOCK && i < index->out->vertex_count; i++)
        index->relatives->implied[i] = find_implied(index, (uint32_t)i);
    return 0;
}

int sf_implied_find(const sf_match_index *index, unsigned threads, sf_error *error)
{
    sf_relatives *r = index->relatives;
    if (r->implied != NULL)
        return SF_OK;
    r->implied = sf_resize(NULL, index->out->vertex_count, sizeof *r->implied);
    if (r->implied == NULL)
        return sf_fail_memory(error);
    sf_parallel_for(threads, blocks_of(index), imply_block, (void *)index);
    return SF_OK;
}
