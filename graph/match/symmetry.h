/* SPDX-License-Identifier: Apache-2.0 */
/** Automorphisms of a pattern: which vertices may be exchanged without changing what it says. */
#ifndef SF_GRAPH_MATCH_SYMMETRY_H
#define SF_GRAPH_MATCH_SYMMETRY_H

#include "graph/match/pattern.h"

typedef struct sf_symmetry {
    uint32_t count;
    uint64_t colors[SF_PATTERN_MOST]; /**< vertices of different colour are not exchanged */
    uint64_t near[SF_PATTERN_MOST];   /**< vertices of which it says something together with this one */
    uint64_t *pairs;                  /**< what it says of (u, w), at u * count + w; 0: nothing */
} sf_symmetry;

/**
 * What the pattern says of every vertex and pair, as colours. With exchanges in the pattern only those
 * vertices move, each within its class of exchangeable ones. SF_NO_MEMORY. sf_symmetry_close either way.
 */
int sf_symmetry_open(sf_symmetry *symmetry, const sf_pattern *pattern, sf_error *error);
void sf_symmetry_close(sf_symmetry *symmetry);

/**
 * The orbit of `vertex` under the automorphisms that leave every vertex in `fixed` where it is, as a set of
 * bits. False where the pattern is too regular for the search.
 */
bool sf_symmetry_orbit(const sf_symmetry *symmetry, uint64_t fixed, uint32_t vertex, uint64_t *orbit);

/**
 * Conditions that leave one of all embeddings that differ by automorphisms only (Grochow and Kellis, RECOMB
 * 2007): along the first `count` vertices of an order, the first of every orbit under what still moves has
 * the smallest data vertex. greater[u] becomes the set of vertices whose data vertex must be smaller than
 * that of u; all of them come before u in the order. Returns how many embeddings each that is left stands
 * for.
 */
uint64_t sf_symmetry_break(const sf_symmetry *symmetry, const uint32_t *order, uint32_t count,
                           uint64_t *greater);

/** Number of automorphisms (UINT64_MAX where it does not fit), or 0 where the pattern is too regular. */
uint64_t sf_symmetry_order(const sf_symmetry *symmetry);

#endif
