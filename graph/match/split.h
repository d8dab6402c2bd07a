/* SPDX-License-Identifier: Apache-2.0 */
/** Counts by terms (graph/match/terms.h): from tables (graph/match/tables.h) where these take least; else
 * sets of candidates are bitmaps, and what a component came to is remembered by the matched vertices that
 * bear on it. */
#ifndef SF_GRAPH_MATCH_SPLIT_H
#define SF_GRAPH_MATCH_SPLIT_H

#include "graph/match/engine.h"
#include "graph/match/terms.h"

/**
 * Fills count, terms, recalled, truncated and automorphisms of the job's result, and adds to its steps.
 * *is_done becomes false where a sum is too large, or half of the time that is left does not do: part of a
 * sum of terms says nothing about the count, so a search is to go on that has a lower bound. SF_CANCELLED,
 * SF_NO_MEMORY.
 */
int sf_split_run(const sf_match_job *job, const sf_space *space, const sf_terms *terms, bool *is_done,
                 sf_error *error);

#endif
