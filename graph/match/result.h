/* SPDX-License-Identifier: Apache-2.0 */
/** What a search for a pattern found, and how it went. */
#ifndef SF_GRAPH_MATCH_RESULT_H
#define SF_GRAPH_MATCH_RESULT_H

#include "graph/match/pattern.h"

#include <synfire/graph.h>

typedef struct sf_match_result {
    uint64_t count;        /**< of embeddings, or of distinct ones; UINT64_MAX where it does not fit */
    bool truncated;        /**< a limit stopped the search: count is a lower bound */
    sf_ran ran;            /**< seconds: matching alone, without the index */
    double space_s;        /**< auto: of them: making candidate spaces */
    bool made_there;       /**< auto: a device made them */
    double device_s;       /**< of them: searching on the device */
    double estimate_s;     /**< that the CPU was expected to take; 0: too short to ask for a device */
    double there_s;        /**< auto: and a device, for searching alone; 0: not looked at */
    uint32_t vertex_count; /**< of the pattern */
    uint32_t order[SF_PATTERN_MOST];      /**< in which pattern vertices are matched */
    uint64_t candidates[SF_PATTERN_MOST]; /**< data vertices left for each pattern vertex after pruning */
    uint64_t labelled[SF_PATTERN_MOST];   /**< those with its label */
    uint64_t tested; /**< auto, on the CPU: data vertices that were looked at for being candidates */
    /** that the count was divided by, or that were used to divide the work; at least 1 */
    uint64_t automorphisms;
    uint64_t steps;  /**< data vertices tried */
    bool by_bitmaps; /**< auto, on the CPU: sets of candidates were bitmaps, not lists */
    uint64_t terms;  /**< auto, on the CPU: of inclusion and exclusion, whose sum is the count; 0: searched */
    uint64_t tables; /**< of these: of components, by what bears on them */
    uint64_t recalled;       /**< of these: counts of components that were known already */
    uint64_t shared;         /**< auto: parts of the search that a thread took from another */
    uint64_t given;          /**< auto: of these, parts that one without work had asked for */
    uint64_t implied;        /**< gvsm: local tests that another vertex's failure saved */
    uint64_t merged;         /**< gvsm: data vertices that share the branch of a twin */
    uint64_t pieces;         /**< gvsm on a device: of layers that were expanded there and joined here */
    uint64_t stayed;         /**< layers that were joined there too */
    uint64_t twigs, kernels; /**< to which these belong, and the kernels that grew them */
    uint64_t blacklisted;    /**< data vertices that can match no pattern vertex */
    uint32_t *embeddings;    /**< kept * vertex_count: the data vertex of every pattern vertex */
    size_t kept;
} sf_match_result;

void sf_match_result_free(sf_match_result *result);

#endif
