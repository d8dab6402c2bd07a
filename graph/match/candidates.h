/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Candidates of the vertices of a query: data vertices with enough neighbours, of which none can go because
 * it has no candidate of a neighbour next to it.
 *
 * The vertex that fewest data vertices have the label of comes first; what is joined with it is looked for
 * among the neighbours of its candidates, as long as these are fewer than what has the label, and so on: of a
 * graph of many labels little more is looked at than what can match. (An order of growth as in Han et al.,
 * SIGMOD 2019, but each vertex grows from one of all that are known and is held against the others.)
 */
#ifndef SF_GRAPH_MATCH_CANDIDATES_H
#define SF_GRAPH_MATCH_CANDIDATES_H

#include "core/arena.h"
#include "graph/match/query.h"

/** The maximum number of rounds in which candidates without support are removed. */
enum { SF_CANDIDATES_ROUNDS = 6 };

typedef struct sf_candidate_lists {
    uint32_t *lists[SF_PATTERN_MOST]; /**< data vertices, ascending */
    uint32_t counts[SF_PATTERN_MOST];
    uint32_t labelled[SF_PATTERN_MOST]; /**< data vertices with the label */
    bool is_empty;                      /**< some vertex has no candidate: nothing matches */
    uint32_t useful;                    /**< data vertices that are a candidate of something */
    uint64_t tested;                    /**< data vertices that were looked at */
} sf_candidate_lists;

enum { SF_CANDIDATES_WORTH, SF_CANDIDATES_GROWN, SF_CANDIDATES_FILTERED };

/**
 * Tests: candidates are always looked for among neighbours of others where they can be; or never, and in the
 * order in which a device does it (core/backend/match.h), so that candidates are also the same where rounds
 * do not suffice.
 */
void sf_candidates_when(int when);

/** On up to `threads` threads. Lists lie in the room, beside what else it takes to find them. SF_NO_MEMORY.
 */
int sf_candidates_find(sf_candidate_lists *found, const sf_query *query, unsigned threads, sf_arena *room);

#endif
