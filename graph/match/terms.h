/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How embeddings are counted without going through them: what is left of a pattern after some vertices are
 * matched falls apart, and its components are counted each by itself and multiplied. Two vertices that lie in
 * different components and yet must not share a data vertex would hold them together: such a condition is
 * left out, and what it forbids is taken away again, which is the count of the pattern with the two merged
 * (inclusion and exclusion). So a count becomes a sum of terms, each of a pattern with some vertices merged
 * into blocks, and each along a tree of its own: a block is matched, then every component that is left.
 */
#ifndef SF_GRAPH_MATCH_TERMS_H
#define SF_GRAPH_MATCH_TERMS_H

#include "graph/match/plan.h"

/** Vertices of a pattern; sets of blocks are numbers, by which trees are looked up. */
enum { SF_TERM_MOST = 12 };

typedef struct sf_summand {
    int64_t factor;                  /**< the count of the term goes into the sum so often */
    uint32_t count;                  /**< of blocks */
    uint64_t members[SF_TERM_MOST];  /**< of a block: pattern vertices */
    uint32_t near[SF_TERM_MOST];     /**< of a block: those of which something is said together with it */
    uint32_t apart[SF_TERM_MOST];    /**< of these: must have another data vertex, which no edge says */
    uint32_t roots;                  /**< blocks that come first, one for each component of the whole */
    uint32_t below[SF_TERM_MOST];    /**< the component that a block splits, with itself */
    uint32_t above[SF_TERM_MOST];    /**< what is matched before */
    uint32_t bearing[SF_TERM_MOST];  /**< of these: what the count of the component depends on */
    uint32_t children[SF_TERM_MOST]; /**< what splits the components that it leaves */
    double reached[SF_TERM_MOST];    /**< estimated ways to match what bears on it */
    uint32_t tabled;                 /**< those whose components have tables (graph/match/tables.h) */
    uint32_t rows[SF_TERM_MOST];     /**< of a table on which two blocks bear: whose places its rows are */
    double effort[SF_TERM_MOST];     /**< of a table: steps that making it is worth */
    double work;                     /**< estimated data vertices tried */
} sf_summand;

/** Blocks that tables cover: what is left of them is looked for by no search. */
static inline uint32_t sf_summand_covered(const sf_summand *term)
{
    uint32_t covered = 0;
    for (uint32_t left = term->tabled; left != 0; left &= left - 1)
        covered |= term->below[sf_lowest(left)];
    return covered;
}

typedef struct sf_terms {
    sf_summand *items; /**< NULL: not worth it */
    size_t count;
    double work;
} sf_terms;

enum { SF_TERMS_WORTH, SF_TERMS_ALWAYS, SF_TERMS_TABLED, SF_TERMS_NEVER };

/** Tests: terms always where they can be, their components in tables where these can be, or never. */
void sf_terms_when(int when);

/**
 * Which conditions to leave out, and the terms, where these take less than the search along `plan` and the
 * bitmaps that they are counted by have room. SF_NO_MEMORY. sf_terms_close either way.
 */
int sf_terms_open(sf_terms *terms, const sf_space *space, const sf_plan *plan, sf_error *error);
void sf_terms_close(sf_terms *terms);

#endif
