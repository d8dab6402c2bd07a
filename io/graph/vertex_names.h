/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Vertex names in text formats that can only hold them in comments: `% name 1 A` or `# name 0 A`, one for
 * every vertex in order; otherwise the comments are not taken for names.
 */
#ifndef SF_IO_GRAPH_VERTEX_NAMES_H
#define SF_IO_GRAPH_VERTEX_NAMES_H

#include "core/text.h"
#include "graph/store/csr.h"
#include "io/graph/scan.h"

/** Those found so far; zero-initialise. */
typedef struct sf_vertex_names {
    sf_edge_list named;
    bool broken; /**< a number was out of order: these are not synfire's names */
} sf_vertex_names;

/** Takes a name from a comment, if it holds one. The scan is positioned after the comment sign; `first` is
 * the number of the first vertex in this format. */
int sf_vertex_names_read(sf_vertex_names *names, sf_scan comment, uint64_t first, sf_error *error);

/** Moves the names to the list if they name all of its vertices; frees them otherwise. */
void sf_vertex_names_give(sf_vertex_names *names, sf_edge_list *list);

/** Appends the comments of a graph: its provenance and, if vertices have names, those, with control
 * characters as spaces. */
void sf_vertex_names_print(sf_text *out, const sf_csr *csr, char sign, uint64_t first);

#endif
