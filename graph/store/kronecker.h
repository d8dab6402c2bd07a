/* SPDX-License-Identifier: Apache-2.0 */
/** Kronecker graphs as lists of edges. */
#ifndef SF_GRAPH_STORE_KRONECKER_H
#define SF_GRAPH_STORE_KRONECKER_H

#include "core/backend/kronecker.h"
#include "core/progress.h"
#include "graph/store/edge_list.h"

/** Reads `SCALE:EDGEFACTOR:SEED`, or `SCALE:EDGEFACTOR:SEED:A,B,C` with other chances than those of Graph500.
 * SF_USAGE. */
int sf_kronecker_parse(sf_kronecker *graph, const char *text, sf_error *error);

/** Draws the edges of an undirected graph on up to `threads` threads, the same with any number of them.
 * SF_CANCELLED. */
int sf_kronecker_edges(sf_edge_list *list, const sf_kronecker *graph, unsigned threads,
                       const sf_progress *progress, sf_error *error);

#endif
