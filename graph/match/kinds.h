/* SPDX-License-Identifier: Apache-2.0 */
/** Neighbours by the label of the edge that leads to them and by their own. */
#ifndef SF_GRAPH_MATCH_KINDS_H
#define SF_GRAPH_MATCH_KINDS_H

#include "graph/match/index.h"

/**
 * Makes index->kinds of a graph whose edges have labels, unless they are there; every edge is then listed
 * once more, by its kind. There are none, and directories stay NULL, where kinds are more than 32 bits can
 * number. SF_NO_MEMORY.
 */
int sf_kinds_find(const sf_match_index *index, unsigned threads, sf_error *error);

/** The label by which lists are requested for an edge label, also if no edge has it, once kinds were found.
 */
uint32_t sf_kinds_label(const sf_match_index *index, uint32_t value);

/**
 * sf_match_neighbours along edges with a label of sf_kinds_label; SF_ANY_LABEL: along all. Ascending where
 * they have one label; of several labels a neighbour stands beside itself as often as an edge leads to it.
 */
const uint32_t *sf_kinds_neighbours(const sf_match_index *index, bool out, uint32_t vertex, uint32_t edge,
                                    uint32_t label, size_t *count);

#endif
