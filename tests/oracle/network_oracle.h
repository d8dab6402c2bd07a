/* SPDX-License-Identifier: Apache-2.0 */
/** Measures of networks by their definitions, on matrices of few vertices. */
#ifndef SF_TESTS_NETWORK_ORACLE_H
#define SF_TESTS_NETWORK_ORACLE_H

#include "graph/measure/measure.h"

enum { SLOW_NETWORK_MOST = 12 };

/** weights[i][j] > 0: an edge i -> j, symmetric where there are no directions; 0 on the diagonal. */
typedef struct slow_net {
    size_t count;
    bool directed;
    double weights[SLOW_NETWORK_MOST][SLOW_NETWORK_MOST];
} slow_net;

/** Every measure of vertices but names, modules, participation, module_degree_z and hubs; of the network
 * those but modules and what is beside rewired graphs. */
void slow_network_measure(sf_network *network, sf_vertex_measures *vertices, const slow_net *net);

/** Of given modules; `weighted` or every edge alike. */
double slow_modularity(const slow_net *net, const uint64_t *module, bool weighted, double resolution);
double slow_participation(const slow_net *net, const uint64_t *module, bool weighted, size_t v);
double slow_module_degree_z(const slow_net *net, const uint64_t *module, size_t v);

/** The greatest modularity of any partition: of up to 8 vertices. */
double slow_best_modularity(const slow_net *net, bool weighted, double resolution);

/** Share of the pairs of vertices with more than k edges that are joined; NaN of fewer than two. */
double slow_rich_club(const slow_net *net, size_t k);

#endif
