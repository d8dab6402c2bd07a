/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs in HDF5, byte by byte, as a whole and cut off: read, or refused with a sentence. */
#include "fuzz/graph_input.h"
#include "fuzz/hdf_image.h"
#include "io/graph/hdf5_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sf_hdf_begin();
    sf_edge_list list = {0};
    sf_error error = {0};
    hid_t file = size > 0 ? fuzz_open_image(data, size) : H5I_INVALID_HID;
    if (file < 0) return 0;
    int status = sf_graph_hdf5_read(&list, file, "fuzz", &error);
    sf_hdf_close(file);
    build(&list, status, &error);
    return 0;
}
