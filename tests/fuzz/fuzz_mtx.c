/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes are read as every text format of graphs that is written by hand, or refused with a sentence. */
#include "fuzz/graph_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_as(&sf_graph_matrix_market, data, size);
    read_as(&sf_graph_edge_list, data, size);
    read_as(&sf_graph_labelled, data, size);
    return 0;
}
