/* SPDX-License-Identifier: Apache-2.0 */
/** What one thread of the search by sorted lists works with; estimates go down the same tree. */
#ifndef SF_GRAPH_MATCH_LISTS_H
#define SF_GRAPH_MATCH_LISTS_H

#include "graph/match/search.h"

typedef struct sf_lists {
    sf_searcher base;
    uint32_t vertex[SF_PATTERN_MOST]; /**< data vertex of a pattern vertex */
    const uint32_t *list[SF_PATTERN_MOST];
    uint32_t length[SF_PATTERN_MOST];
    uint32_t *buffer[SF_PATTERN_MOST]; /**< room for its candidates */
    uint32_t *all;                     /**< 0, 1, 2, ...: every candidate of a vertex that nothing joins */
    uint32_t *scratch;                 /**< room for the lists of a group and their intersections */
    uint8_t *user; /**< of a data vertex: one more than the pattern vertex it stands for; the calling thread's
                      is the index's */
} sf_lists;

/** SF_NO_MEMORY; to be closed either way. */
int sf_lists_open(sf_searcher *searcher);
void sf_lists_close(sf_searcher *searcher);

/** Fills list and length of a step's vertex, by what is matched before it. */
void sf_lists_find(sf_lists *lists, const sf_order_step *step);

/** The first matched vertex of `checked` with which v in the place of u breaks a condition, or SF_NO_VERTEX.
 */
uint32_t sf_lists_broken(const sf_lists *lists, uint32_t u, uint64_t checked, uint32_t v);

#endif
