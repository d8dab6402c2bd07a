/* SPDX-License-Identifier: Apache-2.0 */
/** Graphs on the device, for the kernels that search them. */
#ifndef SF_GPU_SEARCH_GRAPH_CUH
#define SF_GPU_SEARCH_GRAPH_CUH

#include "gpu/device.cuh"

#include <Random123/philox.h>
#include <math.h>

extern "C" {
#include "core/backend/graph.h"
}

/** So that kernels count vertices in 32 bits, and an id leaves a bit free. */
#define SF_GPU_MOST_VERTICES (1u << 31)

/** Offsets begin at 0. `in` is `out` for an undirected graph. */
typedef struct sf_gpu_lists {
    const uint64_t *offsets; /**< vertex_count + 1 */
    const uint32_t *targets;
} sf_gpu_lists;

static inline __host__ __device__ uint64_t sf_gpu_degree(sf_gpu_lists lists, uint32_t v)
{
    return lists.offsets[v + 1] - lists.offsets[v];
}

/** Copies the lists of the vertices first .. last - 1, and all of vertex_count + 1 offsets, to the device;
 * memory[0] and [1] hold offsets and targets. Targets of other vertices are not there. */
int sf_gpu_upload_lists(sf_backend_device *device, sf_gpu_lists *lists, sf_gpu_array memory[2],
                        const sf_backend_lists *from, uint32_t vertex_count, uint32_t first, uint32_t last,
                        sf_error *error);

struct sf_backend_graph {
    sf_backend_device *device;
    uint32_t vertex_count;
    bool directed;
    uint64_t edge_count; /**< directed edges */
    sf_gpu_lists out, in;
    sf_gpu_array memory[4]; /**< offsets and targets of both */
};

/** Copies the lists of the vertices first .. last - 1, of a directed graph both ways. */
int sf_gpu_graph_open(sf_backend_graph **graph, sf_backend_device *device, const sf_backend_arrays *arrays,
                      uint32_t first, uint32_t last, sf_error *error);

/** The same of a graph that lies on the device. */
int sf_gpu_graph_cut(sf_backend_graph **part, const sf_backend_graph *graph, uint32_t first, uint32_t last,
                     sf_error *error);

/** kronecker.cu */
int sf_gpu_generate(sf_backend_graph **graph, sf_backend_device *device, const sf_kronecker *kind,
                    sf_error *error);

#endif
