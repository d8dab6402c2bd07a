/* SPDX-License-Identifier: Apache-2.0 */
/** The connectivity graph after the changes of all messages so far. One thread. */
#ifndef SF_SINKS_WEB_EDGES_H
#define SF_SINKS_WEB_EDGES_H

#include "core/message.h"

#define SF_WEB_EDGES_MOST 4000 /* maximum number in a frame */

/** Zero-initialise. */
typedef struct sf_web_edges {
    sf_edge_change *items; /* by units, then delays */
    size_t count;
} sf_web_edges;

/** Applies a message's changes. SF_NO_MEMORY: the graph stays as it was. */
int sf_web_edges_apply(sf_web_edges *edges, const sf_graph_message *graph, sf_error *error);

/** Appends the number of edges (uint32), the number written (uint32), and for each of these eight floats:
 * from, to, low and high delay in ms, count (NaN: none), weight, p, q. Ordered by lowest q, then by largest
 * weight. */
void sf_web_edges_encode(const sf_web_edges *edges, sf_text *frame);

void sf_web_edges_free(sf_web_edges *edges);

#endif
