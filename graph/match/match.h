/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Labelled subgraph matching: the ways to lay a small pattern on a graph.
 *
 * An embedding gives every pattern vertex a data vertex with its label that meets its terms, so that every
 * pattern edge lies on a data edge with its label that meets its terms, no absent edge exists, and all
 * relations hold. Under isomorphism different pattern vertices have different data vertices; induced, two
 * different data vertices have no edge in a direction that the pattern leaves out; homomorphism lets pattern
 * vertices share one.
 */
#ifndef SF_GRAPH_MATCH_MATCH_H
#define SF_GRAPH_MATCH_MATCH_H

#include "core/progress.h"
#include "graph/match/index.h"
#include "graph/match/result.h"

/**
 * Counts or lists the embeddings of a pattern. An undirected pattern needs an undirected graph. SF_USAGE
 * where pattern, graph and options do not go together (the message says why), SF_UNAVAILABLE where a named
 * device is missing, SF_CANCELLED. Counts are the same on every device; a job that a device refuses or fails
 * at is done on the CPU, and the note says so. The size of the options is not looked at.
 */
int sf_match_run(sf_match_index *index, const sf_pattern *pattern, const sf_match_options *options,
                 sf_match_result *result, const sf_progress *progress, sf_error *error);

#endif
