/* SPDX-License-Identifier: Apache-2.0 */
/** What the tests of graph files share: one odd graph, refusals, and round trips. */
#ifndef SF_TESTS_GRAPHS_H
#define SF_TESTS_GRAPHS_H

#include "io/graph/file.h"
#include "support/support.h"

/** Reads a text by a format; errors name it `file`. */
int test_graph_parse(sf_edge_list *list, const sf_graph_format *format, const char *text, sf_error *error);

typedef struct test_refusal {
    const char *text;
    const char *place; /**< "file:LINE", or NULL: any */
    const char *words;
} test_refusal;

/** Asserts that the format refuses each text at its place. */
void test_graph_refusals(const sf_graph_format *format, const test_refusal *cases, size_t count);

/** Four vertices, a loop, parallel edges, odd names, a column of text with a gap. */
sf_csr test_graph_make(bool directed);

/** Writes to a temporary file by its ending and reads that back. */
sf_csr test_graph_round_trip(const sf_csr *graph, const char *ending);

/** Fails every allocation of reading and writing a file with this ending. */
void test_graph_fail_allocations(const char *ending);

#endif
