/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes are read as every text format of graphs that is written by hand, or refused with a sentence. */
#include "core/memory.h"
#include "graph/file.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_as(const sf_graph_format *format, const uint8_t *data, size_t size)
{
    sf_edge_list list = {0};
    sf_csr graph;
    sf_error error = {0};
    int status = format->parse(&list, "fuzz", (const char *)data, size, &error);
    if (status != SF_OK && error.text[0] == '\0')
        abort();
    if (status == SF_OK && list.vertex_count < 100000 &&
        sf_csr_build(&graph, &list, SF_CSR_SIMPLE, &error) == SF_OK)
        sf_csr_free(&graph);
    sf_edge_list_free(&list);
    if (sf_memory_live() != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_as(&sf_graph_matrix_market, data, size);
    read_as(&sf_graph_edge_list, data, size);
    read_as(&sf_graph_labelled, data, size);
    return 0;
}
