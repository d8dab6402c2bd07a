/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/match/relatives.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/thread.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK = 4096 }; /* vertices that a thread takes at a time */

/* ---- neighbours ---- */

/* Neighbours in one direction: all together, or by kinds. */
typedef struct around {
    const sf_csr *graph;
    const sf_label_lists *kinds; /* or NULL */
} around;

/* What is compared. */
typedef struct relation {
    const sf_match_index *index;
    around out, in; /* the same where the graph is undirected */
} relation;

static relation relation_of(const sf_match_index *index, bool by_kinds)
{
    relation r = {index, {index->out, by_kinds ? &index->kinds->out : NULL}, {0}};
    r.in = r.out;
    if (index->in != index->out) r.in = (around){index->in, by_kinds ? &index->kinds->in : NULL};
    return r;
}

/* Neighbours of one kind, ascending. */
typedef struct part {
    uint32_t kind;
    const uint32_t *targets;
    uint64_t count;
} part;

static uint64_t parts_of(const around *a, uint32_t v)
{
    return a->kinds != NULL ? a->kinds->directory[v + 1] - a->kinds->directory[v] : 1;
}

static part part_of(const around *a, uint32_t v, uint64_t i)
{
    if (a->kinds == NULL)
        return (part){0, a->graph->targets + a->graph->offsets[v], sf_csr_degree(a->graph, v)};
    uint64_t entry = a->kinds->directory[v] + i, start = a->kinds->starts[entry];
    return (part){a->kinds->labels[entry], a->kinds->targets + start, a->kinds->starts[entry + 1] - start};
}

/* ---- twins ---- */

typedef struct signature {
    uint64_t hash;
    uint32_t vertex;
} signature;

static int compare_signatures(const void *first, const void *second)
{
    const signature *a = first, *b = second;
    if (a->hash != b->hash) return a->hash < b->hash ? -1 : 1;
    return (a->vertex > b->vertex) - (a->vertex < b->vertex);
}

static uint64_t add_to_hash(uint64_t hash, uint32_t value)
{
    return (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15) + 1;
}

static uint64_t hash_neighbours(const around *a, uint32_t v, uint64_t hash)
{
    for (uint64_t i = 0; i < parts_of(a, v); i++) {
        part p = part_of(a, v, i);
        hash = add_to_hash(hash, p.kind);
        for (uint64_t k = 0; k < p.count; k++)
            hash = add_to_hash(hash, p.targets[k]);
    }
    return hash ^ hash >> 32;
}

static bool same_part(part p, part q)
{
    return p.kind == q.kind && p.count == q.count &&
           (p.count == 0 || memcmp(p.targets, q.targets, p.count * sizeof *p.targets) == 0);
}

static bool same_neighbours(const around *a, uint32_t v, uint32_t w)
{
    uint64_t parts = parts_of(a, v);
    if (parts != parts_of(a, w)) return false;
    for (uint64_t i = 0; i < parts; i++)
        if (!same_part(part_of(a, v, i), part_of(a, w, i))) return false;
    return true;
}

static bool are_twins(const relation *r, uint32_t v, uint32_t w)
{
    return sf_match_label(r->index, v) == sf_match_label(r->index, w) && same_neighbours(&r->out, v, w) &&
           same_neighbours(&r->in, v, w) && sf_csr_find(r->index->out, v, v) == UINT64_MAX;
}

/* Vertices of equal hash stand side by side; each joins the first twin among them. */
static void join_twins(sf_twins *twins, const relation *r, const signature *sorted)
{
    uint32_t n = r->index->out->vertex_count;
    for (uint32_t i = 0, start = 0; i < n; i++) {
        uint32_t v = sorted[i].vertex;
        start = sorted[i].hash == sorted[start].hash ? start : i;
        twins->first[v] = v;
        for (uint32_t j = start; j < i && twins->first[v] == v; j++)
            if (twins->first[sorted[j].vertex] == sorted[j].vertex && are_twins(r, sorted[j].vertex, v))
                twins->first[v] = sorted[j].vertex;
        twins->size[twins->first[v]]++;
        twins->merged += twins->first[v] != v;
    }
}

typedef struct hashing {
    relation relation;
    signature *signatures;
} hashing;

static int hash_block(void *context, unsigned worker, size_t block)
{
    (void)worker;
    const hashing *h = context;
    const sf_match_index *index = h->relation.index;
    for (size_t i = block * BLOCK; i < (block + 1) * BLOCK && i < index->out->vertex_count; i++) {
        uint32_t v = (uint32_t)i;
        uint64_t hash = hash_neighbours(&h->relation.out, v, sf_match_label(index, v));
        h->signatures[v] = (signature){hash_neighbours(&h->relation.in, v, hash), v};
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

int sf_twins_find(const sf_match_index *index, bool by_kinds, unsigned threads, sf_error *error)
{
    sf_twins *twins = &index->relatives[by_kinds].twins;
    uint32_t n = index->out->vertex_count;
    if (twins->first != NULL) return SF_OK;
    hashing h = {relation_of(index, by_kinds), sf_resize(NULL, n, sizeof *h.signatures)};
    *twins = (sf_twins){.first = sf_resize(NULL, n, sizeof *twins->first),
                        .size = sf_alloc(n, sizeof *twins->size)};
    bool failed = h.signatures == NULL || twins->first == NULL || twins->size == NULL;
    if (failed) {
        free_twins(twins);
    } else {
        sf_parallel_for(threads, blocks_of(index), hash_block, &h);
        qsort(h.signatures, n, sizeof *h.signatures, compare_signatures);
        join_twins(twins, &h.relation, h.signatures);
    }
    sf_free(h.signatures);
    return failed ? sf_fail_memory(error) : SF_OK;
}

/* ---- implication ---- */

static bool is_part_subset(part p, part q)
{
    uint64_t j = 0;
    for (uint64_t i = 0; i < p.count; i++) {
        while (j < q.count && q.targets[j] < p.targets[i])
            j++;
        if (j == q.count || q.targets[j] != p.targets[i]) return false;
    }
    return true;
}

/* Every part of u is in that of the same kind of v. */
static bool is_subset(const around *a, uint32_t u, uint32_t v)
{
    uint64_t parts = parts_of(a, v), j = 0;
    if (sf_csr_degree(a->graph, u) > sf_csr_degree(a->graph, v)) return false;
    for (uint64_t i = 0; i < parts_of(a, u); i++) {
        part p = part_of(a, u, i);
        while (j < parts && part_of(a, v, j).kind < p.kind)
            j++;
        if (j == parts || part_of(a, v, j).kind != p.kind || !is_part_subset(p, part_of(a, v, j)))
            return false;
    }
    return true;
}

/* A vertex with all neighbours of u is a neighbour of each of them, so only those of the least connected one
 * are examined. */
static uint32_t find_implied(const relation *r, uint32_t u)
{
    enum { TRIES = 16 };
    const sf_match_index *index = r->index;
    bool out = sf_csr_degree(index->out, u) > 0;
    const sf_csr *graph = out ? index->out : index->in, *back = out ? index->in : index->out;
    uint32_t pivot = SF_NO_VERTEX;
    for (uint64_t e = graph->offsets[u]; e < graph->offsets[u + 1]; e++)
        if (pivot == SF_NO_VERTEX || sf_csr_degree(back, graph->targets[e]) < sf_csr_degree(back, pivot))
            pivot = graph->targets[e];
    if (pivot == SF_NO_VERTEX) return SF_NO_VERTEX;
    int tries = 0;
    for (uint64_t e = back->offsets[pivot]; e < back->offsets[pivot + 1] && tries < TRIES; e++) {
        uint32_t v = back->targets[e];
        if (v == u || sf_match_label(index, v) != sf_match_label(index, u)) continue;
        tries++;
        if (is_subset(&r->out, u, v) && is_subset(&r->in, u, v)) return v;
    }
    return SF_NO_VERTEX;
}

typedef struct implying {
    relation relation;
    uint32_t *implied;
} implying;

static int imply_block(void *context, unsigned worker, size_t block)
{
    (void)worker;
    const implying *m = context;
    const sf_match_index *index = m->relation.index;
    for (size_t i = block * BLOCK; i < (block + 1) * BLOCK && i < index->out->vertex_count; i++)
        m->implied[i] = find_implied(&m->relation, (uint32_t)i);
    return 0;
}

int sf_implied_find(const sf_match_index *index, bool by_kinds, unsigned threads, sf_error *error)
{
    sf_relatives *r = &index->relatives[by_kinds];
    if (r->implied != NULL) return SF_OK;
    r->implied = sf_resize(NULL, index->out->vertex_count, sizeof *r->implied);
    if (r->implied == NULL) return sf_fail_memory(error);
    implying m = {relation_of(index, by_kinds), r->implied};
    sf_parallel_for(threads, blocks_of(index), imply_block, &m);
    return SF_OK;
}
