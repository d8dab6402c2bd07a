/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Breadth-first search. Levels are hops from the source; the parent of a vertex is a vertex one level up with
 * an edge to it (any such vertex is right). TEPS means directed edges of the reached component over seconds.
 */
#ifndef SF_GRAPH_SEARCH_BFS_H
#define SF_GRAPH_SEARCH_BFS_H

#include "core/backend/bfs.h"
#include "core/progress.h"
#include "graph/store/csr.h"

typedef struct sf_bfs_result {
    uint32_t *levels;      /**< per vertex; SF_UNREACHED where no path leads */
    uint32_t *parents;     /**< per vertex; the source is its own parent, SF_NO_VERTEX where no path leads */
    uint64_t reached;      /**< vertices, the source included */
    uint64_t edges;        /**< directed edges that leave reached vertices */
    uint32_t depth;        /**< the greatest level */
    uint64_t *level_sizes; /**< depth + 1 */
    double seconds;        /**< of the search alone */
} sf_bfs_result;

/**
 * Searches from `source` along the direction of edges, no further than `most_levels` hops (UINT32_MAX: all).
 * One thread, a queue. SF_USAGE where the graph has no such vertex.
 */
int sf_bfs(sf_bfs_result *result, const sf_csr *graph, uint32_t source, uint32_t most_levels,
           sf_error *error);

void sf_bfs_result_free(sf_bfs_result *result);

/* ---- searching large graphs on all cores ---- */

typedef struct sf_bfs_options {
    sf_bfs_direction direction;
    unsigned threads; /**< 0: all cores, or one for a small graph */
    bool sorted;      /**< bottom-up levels read neighbours by falling degree, in a copy of the lists */
    const sf_progress *progress; /**< or NULL: asked while a search is prepared and before its every level */
} sf_bfs_options;

/** What repeated searches of one graph share; the graph must outlive it. */
typedef struct sf_bfs_search sf_bfs_search;

/**
 * Prepares searches in O(vertices + edges): threads, bitmaps, the transpose of a directed graph, and the
 * neighbour of greatest degree of every vertex, which bottom-up levels try first. SF_NO_MEMORY, SF_CANCELLED.
 */
int sf_bfs_open(sf_bfs_search **search, const sf_csr *graph, const sf_bfs_options *options, sf_error *error);
void sf_bfs_close(sf_bfs_search *search);

/** Seconds that sf_bfs_open took. */
double sf_bfs_preparation(const sf_bfs_search *search);

/** The levels 0 .. depth of the last search that succeeded, and the time that each took. */
const sf_backend_level *sf_bfs_levels(const sf_bfs_search *search);

/**
 * Searches the whole graph from `source`. `result` is zeroed or that of a search before, whose memory is used
 * again; after a failure it is empty, after SF_CANCELLED it has the levels that are complete. SF_USAGE where
 * the graph has no such vertex.
 */
int sf_bfs_run(sf_bfs_search *search, uint32_t source, sf_bfs_result *result, sf_error *error);

/**
 * Searches from many vertices at once, 64 in a word of bits, on up to `threads` threads: the row
 * levels[i * vertex_count ..] belongs to sources[i]. parents may be NULL. SF_USAGE where a source is no
 * vertex; SF_CANCELLED, when rows of searches that are not complete are SF_UNREACHED throughout.
 */
int sf_bfs_many(const sf_csr *graph, const uint32_t *sources, size_t count, unsigned threads,
                uint32_t *levels, uint32_t *parents, const sf_progress *progress, sf_error *error);

/**
 * Searches from every vertex at once, no further than `most_levels` hops: how many vertices each reaches,
 * itself included, and how many hops away the farthest of them is.
 */
int sf_bfs_count(const sf_csr *graph, uint32_t most_levels, unsigned threads, uint32_t *reached,
                 uint32_t *depth, const sf_progress *progress, sf_error *error);

/** Weakly connected components: component[v] becomes the smallest vertex of v's component. Returns how many.
 */
uint32_t sf_components(const sf_csr *graph, uint32_t *component);

#endif
