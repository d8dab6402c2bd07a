/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes are read as GraphML, or refused with a sentence. */
#include "fuzz/graph_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_as(&sf_graph_graphml, data, size);
    return 0;
}
