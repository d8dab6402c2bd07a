/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs in HDF5 with other contents are read and built, or refused with a sentence. */
#include "fuzz/graph_input.h"
#include "fuzz/hdf_image.h"
#include "io/graph/hdf5_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const images[] = {"graph_h5/named.h5", "graph_h5/signed.h5", "graph_h5/many.h5", NULL};
static const char *const objects[] = {"/edges",
                                      "/edges/from",
                                      "/edges/to",
                                      "/edges/columns",
                                      "/vertices",
                                      "/edges/columns/weight",
                                      "/vertices/name",
                                      "/edges/columns/kind",
                                      "/vertices/columns",
                                      "/edges/columns/label",
                                      "/vertices/columns/rate",
                                      "/vertices/columns/label",
                                      NULL};
static const char *const attributes[] = {"synfire", "layout", "directed", "count", NULL};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const fuzz_layout layout = {images, objects, attributes};
    hid_t file = fuzz_make_file(&layout, data, size);
    sf_edge_list list = {0};
    sf_error error = {0};
    int status = sf_graph_hdf5_read(&list, file, "fuzz", &error);
    sf_hdf_close(file);
    build(&list, status, &error);
    return 0;
}
