/* SPDX-License-Identifier: Apache-2.0 */
/** Small random graphs and patterns of every kind, for whatever matches. */
#ifndef SF_TESTS_MATCH_CASES_H
#define SF_TESTS_MATCH_CASES_H

#include "graph/match/pattern.h"
#include "support/support.h"

typedef struct match_kind {
    bool directed, labelled, edge_labelled, attributed;
    uint32_t labels;
} match_kind;

/** A kind by chance. */
match_kind match_draw_kind(test_random *random);

/** Up to 12 vertices, with loops and parallel edges. */
sf_csr match_draw_graph(test_random *random, const match_kind *kind);

/** Larger, with hubs: the chance of vertex v to end an edge falls like v^-1/2. Labels are 0, 3, 6, ... */
sf_csr match_draw_hubs(test_random *random, const match_kind *kind, uint32_t vertices, uint32_t edges);

/** Up to `most` vertices, of which most hang together. */
sf_pattern match_draw_pattern(test_random *random, const match_kind *kind, uint32_t most);

#endif
