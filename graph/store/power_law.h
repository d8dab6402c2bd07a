/* SPDX-License-Identifier: Apache-2.0 */
/** Graphs with hubs, as lists of edges. */
#ifndef SF_GRAPH_STORE_POWER_LAW_H
#define SF_GRAPH_STORE_POWER_LAW_H

#include "graph/store/edge_list.h"

typedef struct sf_power_law {
    uint32_t vertices;
    uint64_t edges;  /**< drawn; loops are not, repeated ones may be */
    double exponent; /**< 0 < exponent < 1 */
    double offset;   /**< at least 1: the greater, the smaller the largest hub */
    uint32_t labels; /**< 0: none; else each vertex has one of 0 .. labels - 1 by chance */
    uint64_t seed;
} sf_power_law;

/**
 * Draws the edges of an undirected graph: either end of each is vertex v with a chance that falls like
 * (v + offset)^-exponent (Chung and Lu, Annals of Combinatorics 6, 2002), so that degrees have a power law
 * with exponent 1 + 1 / exponent. SF_NO_MEMORY.
 */
int sf_power_law_edges(sf_edge_list *list, const sf_power_law *graph, sf_error *error);

#endif
