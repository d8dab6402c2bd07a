/* SPDX-License-Identifier: Apache-2.0 */
/** The triad census: how many of all sets of three vertices are joined in each of the 16 possible ways. */
#ifndef SF_GRAPH_MOTIF_CENSUS_H
#define SF_GRAPH_MOTIF_CENSUS_H

#include "core/progress.h"
#include "graph/store/csr.h"

#include <synfire/graph.h>

#define SF_FIRST_CONNECTED 3 /**< triads before this one leave a vertex without an edge */

#define SF_TRIAD_CODES 64 /**< sets of edges among three vertices */

/** In the usual order, from 003 to 300. */
extern const sf_triad sf_triads[SF_TRIADS];

/**
 * Counts every set of three vertices under its triad, loops and parallel edges left out; an undirected edge
 * is a mutual one. O(edges * greatest degree) by the algorithm of Batagelj and Mrvar (Social Networks 23,
 * 2001), on up to `threads` threads. The counts of all triads together are n (n - 1) (n - 2) / 6; where that
 * does not fit in 64 bits 003 is UINT64_MAX. SF_CANCELLED, SF_NO_MEMORY.
 */
int sf_triad_census(uint64_t census[SF_TRIADS], const sf_csr *graph, unsigned threads,
                    const sf_progress *progress, sf_error *error);

/** For who counts elsewhere: the triad of each set of edges, and the count of 003 from all others, given how
 * many vertices there are. */
void sf_triad_classes(uint8_t classes[SF_TRIAD_CODES]);
void sf_triad_complete(uint64_t census[SF_TRIADS], uint32_t vertex_count);

#endif
