/* SPDX-License-Identifier: Apache-2.0 */
/** What a query asks of the neighbours of a candidate. */
#ifndef SF_GRAPH_MATCH_NEEDS_H
#define SF_GRAPH_MATCH_NEEDS_H

#include "graph/match/query.h"

/** So many neighbours with a label must a candidate have in a direction. */
typedef struct sf_need {
    bool out;
    uint32_t label;
    uint32_t count;
    uint64_t who; /**< pattern vertices that these are to stand for; of two directions, in that out of it */
} sf_need;

/** The needs of one pattern vertex; edges without direction all count as out of it. Labels are dense; a
 * neighbour that may have any label counts in the degrees only. */
typedef struct sf_needs {
    uint64_t out_kinds, in_kinds; /**< bits that out_kinds and in_kinds of the index must have */
    uint64_t out_degree, in_degree;
    uint64_t any_out, any_in; /**< as `who`, of neighbours of any label */
    size_t count;
    sf_need *items;
} sf_needs;

/** `room` is for the items. */
void sf_needs_list(sf_needs *needs, sf_need room[2 * SF_PATTERN_MOST], const sf_query *query,
                   uint32_t vertex);

/** An edge that the query requires of two vertices leads from u to w. */
static inline bool sf_query_leads(const sf_query *query, uint32_t u, uint32_t w)
{
    const sf_pair *pair = sf_query_pair(query, u, w);
    return u == pair->a ? pair->forward : pair->backward;
}

#endif
