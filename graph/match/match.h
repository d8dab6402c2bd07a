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
#include "graph/match/pattern.h"

#include <synfire/device.h>
#include <synfire/graph.h>

typedef struct sf_match_result {
    uint64_t count;        /**< of embeddings, or of distinct ones; UINT64_MAX where it does not fit */
    bool truncated;        /**< a limit stopped the search: count is a lower bound */
    sf_ran ran;            /**< seconds: matching alone, without the index */
    double device_s;       /**< of them: searching on the device */
    double estimate_s;     /**< that the CPU was expected to take; 0: too short to ask for a device */
    uint32_t vertex_count; /**< of the pattern */
    uint32_t order[SF_PATTERN_MOST];      /**< in which pattern vertices are matched */
    uint64_t candidates[SF_PATTERN_MOST]; /**< data vertices left for each pattern vertex after pruning */
    uint64_t labelled[SF_PATTERN_MOST];   /**< those with its label */
    uint64_t
        automorphisms; /**< that the count was divided by, or that were used to divide the work; at least 1 */
    uint64_t steps;    /**< data vertices tried */
    uint64_t shared;   /**< auto: parts of the search that a thread took from another */
    uint64_t implied;  /**< gvsm: local tests that another vertex's failure saved */
    uint64_t merged;   /**< gvsm: data vertices that share the branch of a twin */
    uint64_t pieces;   /**< gvsm on a device: of layers that were expanded there and joined here */
    uint64_t stayed;   /**< layers that were joined there too */
    uint64_t twigs, kernels; /**< to which these belong, and the kernels that grew them */
    uint64_t blacklisted;    /**< data vertices that can match no pattern vertex */
    uint32_t *embeddings;    /**< kept * vertex_count: the data vertex of every pattern vertex */
    size_t kept;
} sf_match_result;

/** A data graph prepared for many patterns: its transpose, and vertices and neighbours by label. The graph
 * must outlive it. One search at a time. */
typedef struct sf_match_index sf_match_index;

int sf_match_open(sf_match_index **index, const sf_csr *data, sf_error *error);
void sf_match_close(sf_match_index *index);

/**
 * Counts or lists the embeddings of a pattern. An undirected pattern needs an undirected graph. SF_USAGE
 * where pattern, graph and options do not go together (the message says why), SF_UNAVAILABLE where a named
 * device is missing, SF_CANCELLED. Counts are the same on every device; a job that a device refuses or fails
#include <synfire/device.h>
 * at is done on the CPU, and device_note says so. The size of the options is not looked at.
 */
int sf_match_run(sf_match_index *index, const sf_pattern *pattern, const sf_match_options *options,
                 sf_match_result *result, const sf_progress *progress, sf_error *error);

void sf_match_result_free(sf_match_result *result);

#endif
