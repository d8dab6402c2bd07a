/* SPDX-License-Identifier: Apache-2.0 */
/** Kronecker graphs with the parameters of Graph500 (A = 0.57, B = C = 0.19, D = 0.05). */
#ifndef SF_GRAPH_KRONECKER_H
#define SF_GRAPH_KRONECKER_H

#include "core/edge_list.h"

typedef struct sf_kronecker {
    unsigned scale;       /**< 2^scale vertices, 1..31 */
    uint64_t edge_factor; /**< edge_factor * 2^scale edges are drawn, loops and repeats among them */
    uint64_t seed;
} sf_kronecker;

/** Reads `SCALE:EDGEFACTOR:SEED`. SF_USAGE. */
int sf_kronecker_parse(sf_kronecker *graph, const char *text, sf_error *error);

/**
 * Draws the edges of an undirected graph on up to `threads` threads. Edge i comes from the counter i of
 * Philox under the seed, and vertices are scrambled by a bijection of the seed: the same graph on every
 * machine and device.
 */
int sf_kronecker_edges(sf_edge_list *list, const sf_kronecker *graph, unsigned threads, sf_error *error);

#endif
