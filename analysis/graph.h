/* SPDX-License-Identifier: Apache-2.0 */
/** What is behind sf_graph (synfire/graph.h), for its makers: those here and, of files, in io. */
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
    bool of_units;         /**< its vertices are a recording's units; else there are no links */
    sf_connectivity links; /**< as they were found, whatever the options made of them in `csr` */
    sf_graph_columns columns;
    void *link_columns;           /**< where those of links lie */
    sf_significance significance; /**< where columns.significance is not NULL */
    sf_network_measures measures; /**< once it was measured */
};

struct sf_motif {
    sf_pattern pattern;
};

/** The ways of searching from one vertex, in search.c; NULL-terminated. */
extern const sf_way *const sf_bfs_ways[];

/** The caller's options, which may be NULL. SF_USAGE. */
int sf_graph_options_read(sf_graph_options *own, const sf_graph_options *options, sf_error *error);

/** The graph of a list, which is emptied. SF_DATA, SF_NO_MEMORY; SF_USAGE for limits that it has no values
 * of.
 */
int sf_graph_of_list(sf_graph **graph, sf_edge_list *list, const sf_graph_options *options,
                     const sf_progress *progress, sf_error *error);

/** The graph of a recording's links, which are taken over whether or not it succeeds. SF_NO_MEMORY. */
int sf_graph_of_links(sf_graph **graph, sf_connectivity *links, const sf_recording *recording,
                      const sf_graph_options *options, sf_error *error);

#endif
