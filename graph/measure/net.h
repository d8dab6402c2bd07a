/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A graph as network measures take it: simple, with positive weights, of the vertices that take part.
 *
 * Loops are left out, and the weights of parallel edges are added up. An edge whose weight is not above 0, or
 * is not known, is no edge; of a graph without weights every weight is 1. Weights are divided by the
 * greatest, and the length of an edge is the greatest weight over its own, so that lengths begin at 1 and
 * measures of weighted graphs do not depend on the unit of weights.
 */
#ifndef SF_GRAPH_MEASURE_NET_H
#define SF_GRAPH_MEASURE_NET_H

#include "graph/store/csr.h"

/** Neighbours of vertex v, ascending: ids[first[v] .. first[v + 1]). */
typedef struct sf_neighbours {
    uint32_t *first, *ids;
    double *weights; /**< relative to the largest; where both directions stand for one edge, their sum */
    double *lengths; /**< greatest weight / weight; NULL of sf_net.both */
} sf_neighbours;

/** Read-only once built. */
typedef struct sf_net {
    uint32_t count;          /**< vertices */
    bool directed, weighted; /**< weighted: there were weights, and the rule takes them */
    uint32_t *vertices;      /**< of each its number in the graph, ascending */
    sf_neighbours out, in;   /**< the same arrays of an undirected graph */
    sf_neighbours both;      /**< whoever is joined in either direction */
    uint8_t *ways;     /**< beside both.ids: 2 where edges go both ways, or the graph is undirected; else 1 */
    double *roots;     /**< beside both.ids: the sum over directions of the cube roots of the weights */
    uint64_t edges;    /**< an undirected one once */
    uint64_t left_out; /**< edges that the rule leaves out, loops and parallel ones not counted */
    double greatest;   /**< weight; 1 without edges */
} sf_net;

/** Which vertices and edges take part. */
typedef struct sf_net_rule {
    const bool *takes_part; /**< by vertex; NULL: all do */
    double threshold;       /**< edges of this weight or more; 0: of any above 0 */
    double density;         /**< of these the strongest, up to this share of all pairs; 0: all. Where several
                               share the last place none of them is left out */
    bool linked;            /**< only vertices that have an edge by then */
    bool alike;             /**< every edge has the weight 1 */
} sf_net_rule;

/** SF_UNAVAILABLE from 2^31 directed edges on, SF_NO_MEMORY. sf_net_free whatever happened. */
int sf_net_build(sf_net *net, const sf_csr *graph, const sf_net_rule *rule, sf_error *error);
void sf_net_free(sf_net *net);

/** The weight of a vertex's edges, to and from it, in the unit of weights. */
double sf_net_strength(const sf_net *net, uint32_t v);

/** The graph without weights, as other parts of graph/ take it. SF_NO_MEMORY. */
int sf_net_topology(sf_csr *graph, const sf_net *net, sf_error *error);

#endif
