/* SPDX-License-Identifier: Apache-2.0 */
/** What the fuzz targets of graph files share: bytes are read in a format and built, or refused with a
 * sentence. */
#ifndef SF_TESTS_FUZZ_GRAPH_INPUT_H
#define SF_TESTS_FUZZ_GRAPH_INPUT_H

#include "core/memory.h"
#include "io/graph/file.h"

#include <stdlib.h>

/** Takes what a reader made of the input, and frees it. */
static inline void build(sf_edge_list *list, int status, sf_error *error)
{
    sf_csr graph;
    if (status != SF_OK && error->text[0] == '\0') abort();
    if (status == SF_OK && list->vertex_count < 100000 &&
        sf_csr_build(&graph, list, SF_CSR_SIMPLE, error) == SF_OK)
        sf_csr_free(&graph);
    sf_edge_list_free(list);
    if (sf_memory_live() != 0) abort();
}

static inline void read_as(const sf_graph_format *format, const uint8_t *data, size_t size)
{
    sf_edge_list list = {0};
    sf_error error = {0};
    int status = format->parse(&list, "fuzz", (const char *)data, size, &error);
    build(&list, status, &error);
}

#endif
