/* SPDX-License-Identifier: Apache-2.0 */
/** The connectivity graph as the changes of all its messages leave it. One thread. */
#ifndef SF_SINKS_WEB_EDGES_H
#define SF_SINKS_WEB_EDGES_H

#include "core/message.h"

#define SF_WEB_EDGES_MOST 4000 /* of a frame */

/** Zero-initialise. */
typedef struct sf_web_edges {
    sf_edge_change *items; /* by units, then delays */
    size_t count;
} sf_web_edges;

/** SF_NO_MEMORY: the graph stays as it was. */
int sf_web_edges_apply(sf_web_edges *edges, const sf_graph_message *graph, sf_error *error);

/** Appends how many edges there are (uint32), how many are told (uint32), and of each eight float: from, to,
 * low and high delay in ms, count (NaN: none), weight, p, q. Those of the lowest q come first, then those of
 * the largest weight. */
void sf_web_edges_encode(const sf_web_edges *edges, sf_text *frame);

void sf_web_edges_free(sf_web_edges *edges);

#endif
