/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The motif language: patterns as connectome people write them.
 *
 *   # strong feed-forward loop, no edge back; a statement ends with its line or with ;
 *   A -> B [count >= 10]
 *   B -> C [count >= 10, delay < 8]
 *   A -> C
 *   C !> A                      an edge that must be absent (~> is the same)
 *   A.class = "excitatory"      of a vertex; operators = != < <= > >=
 *   A.rate > C.rate             of two vertices
 *   B === C                     the two are interchangeable, and the pair counts once
 *   chain(x, y, z) { x -> y; y -> z }       a macro, of parameters only
 *   chain(A, B, C)
 *   030T(A, B, C)               an induced triad by its name; alone, the pattern is that triad of A, B and C
 *
 * The attribute `label` compared with an integer by = is the label that matching compares.
 */
#ifndef SF_GRAPH_MOTIF_H
#define SF_GRAPH_MOTIF_H

#include "graph/pattern.h"

/** Reads a text; *pattern is directed. path is for messages, whose place is PATH:LINE:COLUMN. SF_DATA. */
int sf_motif_parse(sf_pattern *pattern, const char *path, const char *text, size_t size, sf_error *error);

/** The 13 connected triads of three vertices 0, 1, 2 in the notation of Holland and Leinhardt. */
#define SF_TRIADS 13
typedef struct sf_triad {
    const char *name;
    uint8_t edges; /**< bits 0 to 5: 0->1, 1->0, 1->2, 2->1, 0->2, 2->0 */
} sf_triad;

extern const sf_triad sf_triads[SF_TRIADS];

#endif
