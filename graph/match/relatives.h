/* SPDX-License-Identifier: Apache-2.0 */
/** Data vertices that are alike: what holds for one holds for another. `by_kinds` tells neighbours apart by
 * the labels of the edges too, and needs kinds that were found (graph/match/kinds.h). */
#ifndef SF_GRAPH_MATCH_RELATIVES_H
#define SF_GRAPH_MATCH_RELATIVES_H

#include "graph/match/index.h"

/** Makes index->relatives[by_kinds].twins, unless they are there. SF_NO_MEMORY. */
int sf_twins_find(const sf_match_index *index, bool by_kinds, unsigned threads, sf_error *error);

/**
 * The same with implied[u] = v where v has the label of u and all its neighbours: what u has around it v has
 * too, so if v lacks neighbours for something, u does. SF_NO_VERTEX where none was found; only a few vertices
 * are tried for each.
 */
int sf_implied_find(const sf_match_index *index, bool by_kinds, unsigned threads, sf_error *error);

#endif
