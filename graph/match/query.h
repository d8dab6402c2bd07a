/* SPDX-License-Identifier: Apache-2.0 */
/** A pattern bound to a data graph: labels dense, attributes found, conditions sorted by the pair they
 * concern. Under induced semantics what a pattern leaves out is a condition too. */
#ifndef SF_GRAPH_MATCH_QUERY_H
#define SF_GRAPH_MATCH_QUERY_H

#include "graph/match/index.h"

#include <synfire/graph.h>

#define SF_NO_PAIR UINT16_MAX

/** A term bound to the column it speaks of; a word is the value that stands for it, -1 where no row has it.
 */
typedef struct sf_bound_term {
    const double *values;
    sf_comparison comparison;
    double number;
} sf_bound_term;

typedef struct sf_bound_edge {
    uint32_t from, to, label;
    bool absent;
    size_t first_term, term_count;
} sf_bound_edge;

typedef struct sf_bound_relation {
    uint32_t left, right;
    const double *left_values, *right_values;
    sf_comparison comparison;
} sf_bound_relation;

/** Everything that is said of two vertices a < b. */
typedef struct sf_pair {
    uint32_t a, b;
    bool forward, backward;       /**< an edge from a to b is required, or from b to a */
    bool no_forward, no_backward; /**< none may exist, whatever its label */
    bool plain;                   /**< one required direction and nothing else */
    size_t first_edge, edge_count;
    size_t first_relation, relation_count;
} sf_pair;

typedef struct sf_query {
    const sf_match_index *index;
    sf_semantics semantics;
    uint32_t count;
    bool impossible; /**< a label that no vertex has, or conditions that contradict each other */
    uint32_t labels[SF_PATTERN_MOST];
    size_t first_term[SF_PATTERN_MOST], term_count[SF_PATTERN_MOST];
    size_t first_loop[SF_PATTERN_MOST], loop_count[SF_PATTERN_MOST];
    uint64_t required[SF_PATTERN_MOST];    /**< vertices that an edge must join it with */
    uint64_t constrained[SF_PATTERN_MOST]; /**< vertices that anything is said about together with it */
    sf_pair *pairs;
    size_t pair_count;
    sf_bound_edge *edges; /**< by pair; loops by vertex at the end */
    size_t edge_count;
    sf_bound_term *terms;
    size_t term_total, term_capacity;
    sf_bound_relation *relations; /**< by pair */
    size_t relation_count;
    uint16_t pair_of[SF_PATTERN_MOST][SF_PATTERN_MOST]; /**< of the first `count`; the rest is not set */
} sf_query;

int sf_query_open(sf_query *query, const sf_match_index *index, const sf_pattern *pattern,
                  sf_semantics semantics, sf_error *error);
void sf_query_close(sf_query *query);

/** Terms and loops of pattern vertex u (not its label) hold for data vertex v. */
bool sf_query_vertex_fits(const sf_query *query, uint32_t u, uint32_t v);

/**
 * The data vertices that fit so, of those that have the label: *allowed gets their bits, 32 to a word, which
 * the caller frees; NULL where terms and loops say nothing. SF_NO_MEMORY.
 */
int sf_query_allow(const sf_query *query, uint32_t u, unsigned threads, uint32_t **allowed);

/** All that is said of the pair holds for va in the place of a and vb in that of b. */
bool sf_query_pair_fits(const sf_query *query, const sf_pair *pair, uint32_t va, uint32_t vb);

/** The same of u and w, in whatever order; NULL pair: nothing is said. */
static inline const sf_pair *sf_query_pair(const sf_query *query, uint32_t u, uint32_t w)
{
    uint16_t place = query->pair_of[u][w];
    return place != SF_NO_PAIR ? &query->pairs[place] : NULL;
}

/** Two vertices can share a data vertex unless both have labels and these differ. */
static inline bool sf_query_can_share(const sf_query *query, uint32_t u, uint32_t w)
{
    uint32_t a = query->labels[u], b = query->labels[w];
    return a == SF_ANY_LABEL || b == SF_ANY_LABEL || a == b;
}

#endif
