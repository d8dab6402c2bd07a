/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a search that switches once from top-down to bottom-up would read, counted from its levels alone: the
 * same on every machine, whatever it takes there. Reads are of neighbours' levels, as in Enterprise (Liu and
 * Huang, SC 2015): all those of the frontier top-down; bottom-up those of every vertex that is not visited,
 * in the order of its list, up to the first in the frontier.
 */
#ifndef SF_BENCH_COMMAND_BFS_RULES_H
#define SF_BENCH_COMMAND_BFS_RULES_H

#include "graph/search/bfs.h"

/** Hubs that lie in fast memory: those of more edges than the vertex at this place by falling degree. */
#define APP_BFS_HUBS 1024

/** Beamer's: bottom-up once the frontier has more than 1 / ALPHA of the edges that are left. */
#define APP_BFS_ALPHA 14

/** Bottom-up from this level's frontier on; the depth + 1 where it never comes. */
typedef struct app_bfs_switch {
    uint32_t level;
    uint64_t reads;     /**< of the whole search */
    uint64_t bottom_up; /**< of these, in bottom-up levels, */
    uint64_t saved;     /**< and of those the ones that ended at a hub of the level before, in fast memory */
} app_bfs_switch;

typedef struct app_bfs_rules {
    uint64_t edges;    /**< directed, of the whole graph */
    uint32_t hubs;     /**< of the graph; 0: gamma never switches */
    double gamma_most; /**< the greatest share of the hubs in a frontier */
    app_bfs_switch gamma, alpha, best, never;
} app_bfs_rules;

/** Edges that a vertex must have more of to be a hub; UINT64_MAX where the graph has too few vertices.
 * SF_NO_MEMORY. */
int app_bfs_tau(uint64_t *tau, const sf_csr *graph, sf_error *error);

/** Of an undirected graph and a search of all of it. tau: of app_bfs_tau. SF_NO_MEMORY. */
int app_bfs_rules_count(app_bfs_rules *rules, const sf_csr *graph, const sf_bfs_result *result, uint64_t tau,
                        sf_error *error);

#endif
