/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Breadth-first search. Levels are hops from the source; the parent of a vertex is a vertex one level up with
 * an edge to it (any such vertex is right). TEPS means directed edges of the reached component over seconds.
 */
#ifndef SF_GRAPH_BFS_H
#define SF_GRAPH_BFS_H

#include "core/csr.h"

#define SF_UNREACHED UINT32_MAX

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

/** Weakly connected components: component[v] becomes the smallest vertex of v's component. Returns how many.
 */
uint32_t sf_components(const sf_csr *graph, uint32_t *component);

#endif
