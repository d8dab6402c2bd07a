/* SPDX-License-Identifier: Apache-2.0 */
/** A term (graph/match/terms.h) as it is counted: of its blocks the candidates as bitmaps, and of each pair
 * what matching one leaves of the other. */
#ifndef SF_GRAPH_MATCH_OUTLINE_H
#define SF_GRAPH_MATCH_OUTLINE_H

#include "graph/match/rows.h"
#include "graph/match/terms.h"

/** What matching one block leaves of another: what all rows leave of it, less the same place. */
typedef struct sf_joint {
    const uint64_t *rows[SF_TERM_MOST * SF_TERM_MOST];
    uint32_t count;
    bool apart;
} sf_joint;

typedef struct sf_outline {
    const sf_summand *term;
    uint32_t places[SF_TERM_MOST];  /**< of a block: in its list */
    uint32_t words[SF_TERM_MOST];   /**< of its sets */
    uint64_t *starts[SF_TERM_MOST]; /**< its candidates, aligned to vectors */
    sf_joint joints[SF_TERM_MOST][SF_TERM_MOST];
    void *memory;
} sf_outline;

/** The term and the rows, of sf_rows_open_pairs, must outlive it. SF_NO_MEMORY. sf_outline_close either way.
 */
int sf_outline_open(sf_outline *outline, const sf_summand *term, const sf_rows *rows);
void sf_outline_close(sf_outline *outline);

/** Allocates `words` words, aligned to vectors; free *memory. NULL: no memory. */
uint64_t *sf_outline_room(void **memory, size_t words);

#endif
