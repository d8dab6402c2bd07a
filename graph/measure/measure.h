/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a graph is like as papers on networks describe it, of every vertex and in all, beside rewired graphs
 * with the same degrees. docs/network.md has each definition with its source.
 *
 * "Binary" measures take every edge alike, weighted ones by its weight. Measures of single vertices are those
 * of networkx where it has them, at 1e-9, on graphs without loops and parallel edges.
 */
#ifndef SF_GRAPH_MEASURE_MEASURE_H
#define SF_GRAPH_MEASURE_MEASURE_H

#include "graph/measure/shape.h"
#include "graph/motif/spread.h"

/** The names of vertices may be NULL; they are borrowed, as are its own. */
typedef struct sf_vertex_measures {
    uint32_t unit;
    const char *unit_name;
    uint64_t degree, in_degree, out_degree; /**< in, out: SF_NO_COUNT of an undirected graph */
    double strength, in_strength, out_strength;
    double clustering, clustering_directed, clustering_weighted;
    double path_length, path_length_weighted; /**< NaN of a vertex that reaches none */
    double local_efficiency, local_efficiency_weighted;
    double betweenness, betweenness_weighted;
    uint64_t module, module_weighted; /**< SF_NO_COUNT of a vertex without edges */
    double participation, participation_weighted;
    double module_degree_z;
    uint64_t hub_score;
    bool hub;
} sf_vertex_measures;

/** A number of the network beside rewired graphs. */
typedef enum sf_compared_measure {
    SF_COMPARED_CLUSTERING,
    SF_COMPARED_PATH_LENGTH,
    SF_COMPARED_EFFICIENCY,
    SF_COMPARED_MODULARITY,
    SF_COMPARED_MEASURES
} sf_compared_measure;

typedef struct sf_network {
    uint64_t vertices, isolated, edges, left_out;
    double density, degree, strength, reciprocity;
    uint64_t components, largest_component;
    double clustering, clustering_directed, clustering_weighted;
    double reachable, path_length, path_length_weighted;
    double efficiency, efficiency_weighted;
    double local_efficiency, local_efficiency_weighted;
    double betweenness, betweenness_weighted; /**< the greatest */
    double modularity, modularity_weighted;
    uint64_t modules, modules_weighted;
    double participation, participation_weighted;
    uint64_t hubs;
    uint64_t rewired;                       /**< graphs */
    sf_spread beside[SF_COMPARED_MEASURES]; /**< NaN without them */
    double small_world;
    sf_club *clubs;
    size_t club_count;
} sf_network;

/** All of it. Zero-initialise. */
typedef struct sf_network_measures {
    sf_network network;
    sf_vertex_measures *vertices;
    size_t vertex_count;
} sf_network_measures;

/** What is measured, and how. */
typedef struct sf_measuring {
    sf_net_rule rule;
    double resolution; /**< of modularity */
    uint64_t seed;     /**< of modules and of rewired graphs */
    uint32_t rewired;  /**< graphs; 0: none */
    unsigned threads;  /**< 0: all cores; the numbers do not depend on it */
    const sf_progress *progress;
} sf_measuring;

/** SF_CANCELLED, SF_UNAVAILABLE of too large a graph, SF_NO_MEMORY. sf_network_measures_free whatever
 * happened. */
int sf_network_measures_find(sf_network_measures *measures, const sf_csr *graph, const sf_measuring *how,
                             sf_error *error);
void sf_network_measures_free(sf_network_measures *measures);

/** A unit is a hub from this hub score on. */
#define SF_HUB_SCORE 2

#endif
