/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Shortest paths between all vertices, counted in edges or by the lengths of edges: what measures make of
 * them. Sums come out the same on any number of threads.
 */
#ifndef SF_GRAPH_MEASURE_PATHS_H
#define SF_GRAPH_MEASURE_PATHS_H

#include "core/progress.h"
#include "graph/measure/net.h"

/** Over the other vertices that a vertex reaches along edges. */
typedef struct sf_path_sums {
    uint64_t reached; /**< how many they are */
    double length;    /**< the sum of the distances to them, */
    double inverse;   /**< and of 1 / distance */
} sf_path_sums;

/** In edges: searches from 64 vertices at once, each a bit of a word. sums has room for every vertex.
 * SF_NO_MEMORY. */
int sf_hop_sums(sf_path_sums *sums, const sf_net *net, sf_error *error);

/**
 * Betweenness of every vertex (Brandes, J. Math. Sociol. 25, 2001), by lengths or in edges: the sum over
 * ordered pairs of other vertices of the share of their shortest paths that pass through it, over (n - 1)
 * (n - 2); 0 where that is 0. By lengths `sums` are those of such paths; else it may be NULL. Paths are
 * equally short if their lengths, added up from their beginning, are the same number. O(vertices * edges), by
 * lengths times the log of vertices. SF_CANCELLED, SF_NO_MEMORY.
 */
int sf_betweenness(double *betweenness, sf_path_sums *sums, const sf_net *net, bool by_length,
                   unsigned threads, const sf_progress *progress, sf_error *error);

/**
 * Local efficiency of every vertex: the mean over ordered pairs of its neighbours, in whichever direction, of
 * 1 / distance in the graph of these neighbours alone (Latora and Marchiori 2001); 0 with fewer than two. In
 * edges, or by lengths. SF_CANCELLED, SF_NO_MEMORY.
 */
int sf_local_efficiency(double *efficiency, const sf_net *net, bool by_length, unsigned threads,
                        const sf_progress *progress, sf_error *error);

#endif
