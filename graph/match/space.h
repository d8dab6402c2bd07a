/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The candidate space of a query: for every pattern vertex the data vertices that can still stand for it, and
 * for every pair that an edge must join the candidates of one next to each candidate of the other. A search
 * then only intersects short sorted lists and never looks at the graph again, except for pairs that no edge
 * joins. Memory: at most 4 bytes for every data edge and pattern edge, shared by pattern vertices with the
 * same candidates.
 */
#ifndef SF_GRAPH_MATCH_SPACE_H
#define SF_GRAPH_MATCH_SPACE_H

#include "core/arena.h"
#include "graph/match/query.h"

/** For every candidate of one vertex the places of the adjacent candidates of another, ascending. */
typedef struct sf_links {
    uint64_t *offsets;
    uint32_t *places;
    uint64_t count;
    uint8_t from, to; /**< pattern vertices */
} sf_links;

typedef struct sf_space {
    const sf_query *query;
    unsigned threads;                      /**< to build it with, where it is large */
    uint32_t *candidates[SF_PATTERN_MOST]; /**< data vertices, ascending */
    uint32_t counts[SF_PATTERN_MOST];
    uint32_t twin[SF_PATTERN_MOST]; /**< the first pattern vertex with the same candidates */
    uint32_t labelled[SF_PATTERN_MOST];
    sf_links *links;
    size_t links_count;
    bool is_empty;    /**< some vertex has no candidate: nothing matches */
    uint32_t useless; /**< data vertices that are a candidate of nothing; where it is empty, all */
    uint64_t tested;  /**< data vertices that were looked at */

    /* Made on a device (graph/match/made_space.h): then only counts are here, no candidates and no places. */
    struct sf_device *device;
    struct sf_backend_space *made; /**< or NULL */

    sf_arena room; /**< of candidates and links */
    /** Index into links, from the row's candidates to the column's; of the first query->count of both, the
     * rest is not set. */
    uint16_t links_of[SF_PATTERN_MOST][SF_PATTERN_MOST];
} sf_space;

/** Without candidates, of nothing. */
void sf_space_begin(sf_space *space, const sf_query *query, unsigned threads);

/** On up to `threads` threads. SF_NO_MEMORY. */
int sf_space_open(sf_space *space, const sf_query *query, unsigned threads, sf_error *error);
void sf_space_close(sf_space *space);

/** Fills links_of, and links with their ends, once twins are known. SF_NO_MEMORY. */
int sf_space_name_links(sf_space *space);

/**
 * For every candidate of w the places of those candidates of u that what must be absent between the two rules
 * out. Nothing else may be said of the pair. SF_NO_MEMORY; links are freed by sf_links_free either way.
 */
int sf_space_exclude(const sf_space *space, sf_links *links, uint32_t w, uint32_t u);
void sf_links_free(sf_links *links);

/** Places of u's candidates next to candidate `place` of w. */
static inline const uint32_t *sf_space_adjacent(const sf_space *space, uint32_t w, uint32_t u, uint32_t place,
                                                uint32_t *count)
{
    const sf_links *links = &space->links[space->links_of[w][u]];
    *count = (uint32_t)(links->offsets[place + 1] - links->offsets[place]);
    return links->places + links->offsets[place];
}

#endif
