/* SPDX-License-Identifier: Apache-2.0 */
/** Parts of a depth-first search that threads take from one another: one that has nothing left says so, and
 * the next that looks hands over half of what it has at its shallowest step. */
#ifndef SF_GRAPH_MATCH_SHARE_H
#define SF_GRAPH_MATCH_SHARE_H

#include "graph/match/pattern.h"

#include <stdatomic.h>

/** Some candidates of a step, below what was chosen for the steps before. */
typedef struct sf_share_part {
    uint32_t depth;                   /**< the step */
    uint32_t places[SF_PATTERN_MOST]; /**< of the candidates of the vertices matched before it, by vertex */
    uint32_t first, last;             /**< of the step's candidates: first .. last - 1 */
} sf_share_part;

typedef struct sf_share sf_share;

/** For up to `threads` threads. SF_NO_MEMORY. */
int sf_share_open(sf_share **share, unsigned threads, sf_error *error);
void sf_share_close(sf_share *share);

/** How many threads wait for a part that is not there yet: to be looked at often. */
unsigned sf_share_wanted(const sf_share *share);

/** A thread begins to search what is its own; it takes parts afterwards. */
void sf_share_enter(sf_share *share);

/** Leaves a part, before others have begun: at most SF_PATTERN_MOST of them. */
void sf_share_leave(sf_share *share, const sf_share_part *part);

/** Hands a part over; false where nobody wants it any more. */
bool sf_share_give(sf_share *share, const sf_share_part *part);

/** Waits for a part, when the caller has none left of its own. False when nobody has: the search is done. */
bool sf_share_take(sf_share *share, sf_share_part *part);

/** Parts left or handed over so far, and those of them that a thread without work had asked for. */
uint64_t sf_share_count(const sf_share *share);
uint64_t sf_share_given(const sf_share *share);

#endif
