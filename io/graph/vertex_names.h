/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Names of vertices in texts that have no room for them but comments: `% name 1 A`, `# name 0 A`, one for
 * every vertex in order, or they are none.
 */
#ifndef SF_IO_GRAPH_VERTEX_NAMES_H
#define SF_IO_GRAPH_VERTEX_NAMES_H

#include "core/text.h"
#include "graph/store/csr.h"
#include "io/graph/scan.h"

/** Those found so far; zero-initialise. */
typedef struct sf_vertex_names {
    sf_edge_list named;
    bool broken; /**< one was out of order: no names of synfire's */
} sf_vertex_names;

/** Takes the name that the comment holds, if it holds one; the scan stands behind the sign of the comment,
 * and `first` is the first vertex's number in this format. */
int sf_vertex_names_read(sf_vertex_names *names, sf_scan comment, uint64_t first, sf_error *error);

/** Moves the names to a list whose vertices are all named by them, and frees them otherwise. */
void sf_vertex_names_give(sf_vertex_names *names, sf_edge_list *list);

/** Appends the comments of a graph: its provenance, and where it has names these, control characters as
 * spaces. */
void sf_vertex_names_print(sf_text *out, const sf_csr *csr, char sign, uint64_t first);

#endif
