/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A graph in compressed sparse rows: the neighbours of vertex v are targets[offsets[v] .. offsets[v + 1]) in
 * ascending order. Offsets are 64-bit, ids 32-bit. An undirected graph stores every edge in both directions
 * (a loop once), so "directed edges" is what every count here means.
 */
#ifndef SF_GRAPH_STORE_CSR_H
#define SF_GRAPH_STORE_CSR_H

#include "core/progress.h"
#include "graph/store/edge_list.h"

#define SF_NO_VERTEX UINT32_MAX

/** Zero-initialise. Read-only once built, and then safe to share between threads. */
typedef struct sf_csr {
    uint32_t vertex_count; /**< under SF_NO_VERTEX */
    bool directed;
    uint64_t *offsets; /**< vertex_count + 1; the first need not be 0 */
    uint32_t *targets;
    uint32_t *vertex_labels; /**< from the column "label" where it holds numbers, or NULL */
    uint32_t *edge_labels;   /**< likewise; from offsets[0] as edge_columns */
    char **names;            /**< of vertices, or NULL */
    sf_columns vertex_columns;
    sf_columns edge_columns; /**< rows in the order of targets, from offsets[0] */
    char *provenance;        /**< JSON on one line (core/provenance.h) that is written with it, or NULL */
} sf_csr;

typedef enum sf_csr_flags {
    SF_CSR_DROP_LOOPS = 1,
    SF_CSR_DROP_DUPLICATES = 2, /**< the first of several edges with the same ends is kept */
    SF_CSR_SIMPLE = SF_CSR_DROP_LOOPS | SF_CSR_DROP_DUPLICATES
} sf_csr_flags;

/**
 * Builds the graph of a list in O(vertices + edges): group the edges by head, then transpose, which sorts
 * every neighbour list. Names and columns are copied. SF_DATA where an edge ends outside the vertices or a
 * label is no integer; SF_CANCELLED.
 */
int sf_csr_build_told(sf_csr *csr, const sf_edge_list *list, unsigned flags, const sf_progress *progress,
                      sf_error *error);

static inline int sf_csr_build(sf_csr *csr, const sf_edge_list *list, unsigned flags, sf_error *error)
{
    return sf_csr_build_told(csr, list, flags, NULL, error);
}

/** The graph with every edge turned round; topology and vertex count only. progress may be NULL.
 * SF_CANCELLED. */
int sf_csr_transpose_told(sf_csr *transposed, const sf_csr *csr, const sf_progress *progress,
                          sf_error *error);

static inline int sf_csr_transpose(sf_csr *transposed, const sf_csr *csr, sf_error *error)
{
    return sf_csr_transpose_told(transposed, csr, NULL, error);
}

/**
 * The same with the neighbours of every vertex in falling order of their degree in `csr` instead of
 * ascending: a search that looks for any visited neighbour then mostly finds one at once. O(vertices + edges
 * + greatest degree). Of an undirected graph it is the graph itself, rearranged; sf_csr_find does not work in
 * it.
 */
int sf_csr_transpose_by_degree(sf_csr *transposed, const sf_csr *csr, const sf_progress *progress,
                               sf_error *error);

void sf_csr_free(sf_csr *csr);

static inline uint64_t sf_csr_edge_count(const sf_csr *csr)
{
    return csr->offsets[csr->vertex_count] - csr->offsets[0];
}

static inline uint64_t sf_csr_degree(const sf_csr *csr, uint32_t vertex)
{
    return csr->offsets[vertex + 1] - csr->offsets[vertex];
}

/** False for the second of the two places where an undirected edge stands, so that each is met once. */
static inline bool sf_csr_is_first(const sf_csr *csr, uint32_t from, uint64_t edge)
{
    return csr->directed || csr->targets[edge] >= from;
}

/**
 * Reads a vertex as people write it: by its name, or `#2` for index 2 (core/named.h); of a graph without
 * names a number is the index. SF_USAGE, also where several vertices have the name.
 */
int sf_csr_resolve(const sf_csr *csr, const char *text, uint32_t *vertex, sf_error *error);

/** Index into targets of the first edge between the two, or UINT64_MAX. */
uint64_t sf_csr_find(const sf_csr *csr, uint32_t from, uint32_t to);

#endif
