/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Modules: groups of vertices with more edges, or weight, among them than their degrees, or strengths, make
 * by chance.
 *
 * Modularity (Newman and Girvan 2004; of directed graphs Leicht and Newman 2008) is the sum over ordered
 * pairs of one module of A[i][j] / m - resolution * out[i] in[j] / m^2, m being the sum of A. Modules are
 * looked for as Blondel et al. 2008 do (Louvain), a module that falls apart being split (Traag et al. 2019
 * say why that is needed), from several orders of the vertices, of which the best is kept.
 */
#ifndef SF_GRAPH_MEASURE_MODULES_H
#define SF_GRAPH_MEASURE_MODULES_H

#include "graph/measure/net.h"

#define SF_MODULE_ORDERS 10

/**
 * Finds the modules: module[v] becomes the number of v's, from 0, the largest first, and among those as large
 * the one of the lower vertex. By weights, or with every edge alike. The same seed gives the same ones on
 * every machine. Of a graph without edges every vertex is one of its own, and modularity is NaN.
 * SF_NO_MEMORY.
 */
int sf_modules_find(uint32_t *module, double *modularity, const sf_net *net, bool weighted, double resolution,
                    uint32_t orders, uint64_t seed, sf_error *error);

#endif
