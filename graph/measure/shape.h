/* SPDX-License-Identifier: Apache-2.0 */
/** Triangles, the rich club, and how the edges of vertices spread over modules. */
#ifndef SF_GRAPH_MEASURE_SHAPE_H
#define SF_GRAPH_MEASURE_SHAPE_H

#include "graph/measure/net.h"

/** Clustering of one vertex; 0 if it can have no triangle. */
typedef struct sf_clustering {
    double binary;   /**< share of its pairs of neighbours that are neighbours, whatever the direction */
    double directed; /**< share of the directed triangles that it could have (Fagiolo 2007) */
    double weighted; /**< the same by the geometric mean of the weights of each (Onnela et al. 2005) */
} sf_clustering;

/** clustering has room for every vertex. SF_NO_MEMORY. */
int sf_clustering_find(sf_clustering *clustering, const sf_net *net, sf_error *error);

/** Edges of a vertex, to and from it where they have a direction. */
static inline uint32_t sf_net_degree(const sf_net *net, uint32_t v)
{
    uint32_t out = net->out.first[v + 1] - net->out.first[v];
    return net->directed ? out + net->in.first[v + 1] - net->in.first[v] : out;
}

/** One degree k of a rich club. */
typedef struct sf_club {
    uint64_t degree, vertices, edges;
    double coefficient;
    double rewired, z; /**< the mean in rewired graphs, and how far from it; NaN without them */
} sf_club;

/**
 * The rich club of every degree k from 0 on, as long as two vertices have more: the share of pairs among
 * those (ordered ones where edges have a direction) that are joined (Colizza et al. 2006). At most `room` of
 * them, how many there are. SF_NO_MEMORY.
 */
int sf_clubs_find(sf_club *clubs, size_t room, size_t *count, const sf_net *net, sf_error *error);

/** Participation (Guimera and Amaral 2005) of every vertex: 1 less the sum over modules of the squared share
 * of its edges, or weight, that goes there; 0 without edges. SF_NO_MEMORY. */
int sf_participation_find(double *participation, const uint32_t *module, const sf_net *net, bool weighted,
                          sf_error *error);

/** By how many standard deviations the degree of every vertex within its module is above the mean of its
 * module; NaN where all have the same. SF_NO_MEMORY. */
int sf_module_degree_find(double *z, const uint32_t *module, const sf_net *net, sf_error *error);

#endif
