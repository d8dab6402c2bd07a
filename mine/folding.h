/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Which episodes are parts of longer ones that account for them, and how many chains what is significant
 * makes: one rule for a recording and for a live window. Any thread.
 */
#ifndef SF_MINE_FOLDING_H
#define SF_MINE_FOLDING_H

#include <stdbool.h>
#include <synfire/mine.h>

/** Where in a list an episode without its last, and without its first unit is; SIZE_MAX: not in it. */
typedef size_t sf_parts[2];

/** What decides whether a part is folded, an entry for each episode of the list. */
typedef struct sf_foldable {
    const uint64_t *counts;
    const double *expected; /**< counts expected by rates */
    const double *q;        /**< NULL: nothing was tested; NaN: that one was not */
    const bool *told;       /**< nothing is folded under one that is not told of; NULL: all are */
} sf_foldable;

/** Finds the parts of `count` different episodes, in any order. It takes their order of the list alone, and
 * so holds while the list does. SF_NO_MEMORY. */
int sf_fold_find(sf_parts *parts, const sf_episode *episodes, size_t count, sf_error *error);

/**
 * Which episodes a longer one accounts for. parents[i] is the episode with one unit more, at either end, that
 * episode i is folded under, of several the one with the highest count; SIZE_MAX: none. It is folded where
 * what it counts beyond that one is within chance: at most expected + 2 sqrt(count). A significant one is
 * folded under a significant one only, so that nothing significant is hidden by what chance may have made
 * longer.
 */
void sf_fold_by(size_t *parents, const sf_parts *parts, const sf_foldable *of, size_t count);

/** Both, for a list that is folded once. SF_NO_MEMORY. */
int sf_fold(size_t *parents, const sf_episode *episodes, const uint64_t *counts, const double *expected,
            const double *q, size_t count, sf_error *error);

/** What is significant: `chains` are part of no other, `parts` are folded under one. */
typedef struct sf_chain_count {
    size_t chains, parts;
} sf_chain_count;

/** q NULL: nothing was tested. */
sf_chain_count sf_count_chains(const size_t *parents, const double *q, size_t count);

#endif
