/* SPDX-License-Identifier: Apache-2.0 */
/** Data vertices that are alike: what holds for one holds for another. */
#ifndef SF_GRAPH_MATCH_RELATIVES_H
#define SF_GRAPH_MATCH_RELATIVES_H

#include "graph/match_index.h"

/** Twins have the same label and the same neighbours (and none has a loop, so none is the other's neighbour).
 */
typedef struct sf_twins {
    uint32_t *first; /**< of every vertex: its smallest twin, itself where it has none */
    uint32_t *size;  /**< of a first one: how many twins there are */
    uint64_t merged; /**< vertices that are not first */
} sf_twins;

int sf_twins_open(sf_twins *twins, const sf_match_index *index, sf_error *error);
void sf_twins_close(sf_twins *twins);

/**
 * implied[u] = v where v has the label of u and all its neighbours: what u has around it v has too, so if v
 * lacks neighbours for something, u does. SF_NO_VERTEX where none was found; only a few vertices are tried
 * for each. *implied comes from sf_alloc.
 */
int sf_implied_open(uint32_t **implied, const sf_match_index *index, sf_error *error);

#endif
