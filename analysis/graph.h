/* SPDX-License-Identifier: Apache-2.0 */
/** Definition of sf_graph (synfire/graph.h) for the code that builds graphs: analysis/ and, for files, io/.
 */
#ifndef SF_ANALYSIS_GRAPH_H
#define SF_ANALYSIS_GRAPH_H

#include "analysis/connectivity.h"
#include "core/backend/ways.h"
#include "core/recording.h"
#include "graph/match/pattern.h"
#include "graph/measure/measure.h"

#include <synfire/graph.h>

struct sf_graph {
    sf_csr csr;
    bool of_units;         /**< vertices are the units of a recording; otherwise there are no links */
    sf_connectivity links; /**< as found, independent of how the options filtered them into `csr` */
    sf_graph_columns columns;
    void *link_columns;           /**< where those of links lie */
    sf_significance significance; /**< where columns.significance is not NULL */
    sf_network_measures measures; /**< once it was measured */
};

struct sf_motif {
    sf_pattern pattern;
};

/** Implementations of search from one vertex, in search.c; NULL-terminated. */
extern const sf_way *const sf_bfs_ways[];

/** Copies and checks the caller's options (NULL: defaults). SF_USAGE. */
int sf_graph_options_read(sf_graph_options *own, const sf_graph_options *options, sf_error *error);

/** Builds a graph from an edge list, and empties the list. SF_DATA, SF_NO_MEMORY; SF_USAGE for limits on
 * values that the list does not have. */
int sf_graph_of_list(sf_graph **graph, sf_edge_list *list, const sf_graph_options *options,
                     const sf_progress *progress, sf_error *error);

/** Builds the graph of a recording's links; takes ownership of the links, also on failure. SF_NO_MEMORY. */
int sf_graph_of_links(sf_graph **graph, sf_connectivity *links, const sf_recording *recording,
                      const sf_graph_options *options, sf_error *error);

#endif
