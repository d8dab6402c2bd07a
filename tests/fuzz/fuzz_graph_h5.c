/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as an HDF5 file in memory are read as a graph, or refused with a sentence. */
#include "fuzz/graph_input.h"
#include "fuzz/hdf_image.h"
#include "graph/hdf5_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sf_hdf_begin();
    sf_edge_list list = {0};
    sf_error error = {0};
    hid_t file = open_image(data, size);
    if (file < 0)
        return 0;
    int status = sf_graph_hdf5_read(&list, file, "fuzz", &error);
    sf_hdf_close(file);
    build(&list, status, &error);
    return 0;
}
