/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Counts of components of a term for all that may bear on them at once: a component that two matched blocks
 * bear on has a table of a count for each pair of their places, and it is made from the tables of what its
 * first block leaves of it, as a product of matrices is. Links make most of these matrices sparse.
 */
#ifndef SF_GRAPH_MATCH_TABLES_H
#define SF_GRAPH_MATCH_TABLES_H

#include "graph/match/engine.h"
#include "graph/match/outline.h"

/** The count of a component by the places of what bears on it: at place[row] * down + place[column] * across.
 * A block of fewer than two takes no part: its stride is 0. */
typedef struct sf_counts {
    uint64_t *values; /**< NULL: there is no table */
    uint32_t row, column;
    size_t down, across;
    uint64_t most; /**< the largest */
    void *memory;
} sf_counts;

static inline uint64_t sf_counts_at(const sf_counts *table, const uint32_t *place)
{
    return table->values[place[table->row] * table->down + place[table->column] * table->across];
}

/**
 * Tables of the blocks of term->tabled; others' are left as they are. *is_done false: counts do not fit, or
 * the watch says to stop. Steps are added to the tallies, one for each thread. SF_NO_MEMORY. sf_tables_free
 * either way.
 */
int sf_tables_make(sf_counts *tables, const sf_outline *outline, sf_match_tally *const *tallies,
                   unsigned threads, bool *is_done);
void sf_tables_free(sf_counts *tables);

#endif
