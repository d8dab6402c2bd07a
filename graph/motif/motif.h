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
#ifndef SF_GRAPH_MOTIF_MOTIF_H
#define SF_GRAPH_MOTIF_MOTIF_H

#include "core/text.h"
#include "graph/match/pattern.h"

/** Reads a text; *pattern is directed. path is for messages, whose place is PATH:LINE:COLUMN. SF_DATA. */
int sf_motif_parse(sf_pattern *pattern, const char *path, const char *text, size_t size, sf_error *error);

/**
 * Appends, in the language, a pattern that has a name of its own: `feed-forward-loop`, `reciprocal-pair`,
 * `chain-N` (N vertices), `diverging-N` and `converging-N` (one vertex to N others, or from them). Vertices
 * that can be exchanged count once. False where nothing has this name; N is 2 to 16.
 */
bool sf_motif_named(sf_text *text, const char *name);

/** The pattern with this name, or written in the language. SF_USAGE if it is neither, SF_DATA. */
int sf_motif_of_text(sf_pattern *pattern, const char *given, sf_error *error);

#endif
