/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A candidate space as bitmaps. Candidates of pattern vertices that can share a data vertex have their places
 * in one common list, ascending, so that sets of them can be compared. What matching a vertex leaves of
 * another's candidates is then one intersection with a row that is known beforehand: the candidates next to
 * it, less those that something absent rules out, or that are not greater where a symmetry is broken, or that
 * the two would share.
 *
 * Memory: a bit for every pair of candidates of two vertices, for each different kind of row; what takes more
 * than it gains is left to the search by lists.
 */
#ifndef SF_GRAPH_MATCH_ROWS_H
#define SF_GRAPH_MATCH_ROWS_H

#include "graph/match/bitmap.h"
#include "graph/match/plan.h"

/** What matching a vertex does to the candidates of a later one. */
typedef struct sf_effect {
    uint32_t vertex;      /**< the later one */
    const uint64_t *rows; /**< of each place a row of what is left; NULL: all */
    bool apart;           /**< without rows: the two have different data vertices */
} sf_effect;

typedef struct sf_rows {
    bool is_open; /**< false: the space is not for bitmaps */
    uint32_t list_of[SF_PATTERN_MOST];
    uint32_t *lists[SF_PATTERN_MOST];      /**< data vertices, ascending */
    uint32_t counts[SF_PATTERN_MOST];      /**< of a list */
    uint32_t *places[SF_PATTERN_MOST];     /**< of a vertex: places of its candidates in its list */
    uint64_t *starts[SF_PATTERN_MOST];     /**< of a vertex: its candidates as a set */
    sf_effect (*effects)[SF_PATTERN_MOST]; /**< of the steps of the core, on what comes later */
    uint32_t effect_counts[SF_PATTERN_MOST];
    const uint64_t *(*between)[SF_PATTERN_MOST]; /**< of sf_rows_open_pairs: [w][u], as rows of an effect;
                                                    NULL: nothing is said */
    uint64_t **tables;
    size_t table_count;
} sf_rows;

enum { SF_ROWS_WORTH, SF_ROWS_ALWAYS, SF_ROWS_NEVER };

/** Tests: bitmaps always where they can be, or never, also not of pairs, so that small searches reach both.
 */
void sf_rows_when(int when);

/** Along a plan. SF_NO_MEMORY. The space and the plan must outlive it. */
int sf_rows_open(sf_rows *rows, const sf_space *space, const sf_plan *plan, sf_error *error);

/** Whether rows of every pair can say all and have room, by the numbers of candidates alone: as far as those
 * that share a list are not the same, fewer than it says may do. */
bool sf_rows_can_be_pairs(const sf_space *space);

/** Rows for every pair that something is said about, whichever of both is matched first. Not open if rows
 * would take too much memory or cannot express all. SF_NO_MEMORY. */
int sf_rows_open_pairs(sf_rows *rows, const sf_space *space, sf_error *error);
void sf_rows_close(sf_rows *rows);

/** Words of the sets of a pattern vertex. */
static inline uint32_t sf_rows_words(const sf_rows *rows, uint32_t u)
{
    return sf_bitmap_words(rows->counts[rows->list_of[u]]);
}

#endif
