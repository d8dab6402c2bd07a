/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kronecker graphs made on the device. Every edge is a counter of the random numbers, so edges need no memory
 * until they are sorted: the vertices are cut into parts of equal size, and for each part all edges are drawn
 * again and those that start in it are kept as keys (from, to), sorted, and freed of repeats. Memory is what
 * the lists take and two arrays of keys of one part.
 */
#include "gpu/families.cuh"
#include "gpu/keys.cuh"
#include "gpu/search/graph.cuh"

#include <cub/block/block_scan.cuh>

extern "C" {
#include "core/backend/kronecker.h"
}

#define MOST_KEYS ((uint64_t)1 << 29) /* of a part, on average: 4 GiB */
#define MOST_PARTS 256u
#define BLOCK 512

namespace
{

typedef struct part {
    sf_kronecker kind;
    uint64_t drawn; /* edges of the whole graph, before loops and repeats are left out */
    unsigned shift; /* vertex v is in part v >> shift */
    uint32_t index;
} part;

__global__ void count_keys(unsigned long long *counts, part p)
{
    __shared__ unsigned long long own[MOST_PARTS];
    for (uint32_t i = threadIdx.x; i < MOST_PARTS; i += blockDim.x)
        own[i] = 0;
    __syncthreads();
    for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < p.drawn;
         i += (uint64_t)gridDim.x * blockDim.x) {
        sf_edge edge = sf_kronecker_edge(&p.kind, i);
        if (edge.from == edge.to) continue;
        atomicAdd(&own[edge.from >> p.shift], 1ull);
        atomicAdd(&own[edge.to >> p.shift], 1ull);
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < MOST_PARTS; i += blockDim.x)
        if (own[i] > 0) atomicAdd(&counts[i], own[i]);
}

__device__ uint64_t key_of(const part *p, uint32_t from, uint32_t to)
{
    return (uint64_t)(from & ((1u << p->shift) - 1)) << p->kind.scale | to;
}

/* Both directions of each edge, in whatever order blocks come; *end is where the next keys go. */
__global__ void collect_keys(uint64_t *keys, unsigned long long *end, part p)
{
    typedef cub::BlockScan<uint32_t, BLOCK> scan;
    __shared__ scan::TempStorage scratch;
    __shared__ unsigned long long base;
    for (uint64_t first = blockIdx.x * (uint64_t)BLOCK; first < p.drawn;
         first += (uint64_t)gridDim.x * BLOCK) {
        bool forth = false, back = false;
        sf_edge edge = {0, 0};
        if (first + threadIdx.x < p.drawn) {
            edge = sf_kronecker_edge(&p.kind, first + threadIdx.x);
            forth = edge.from != edge.to && edge.from >> p.shift == p.index;
            back = edge.from != edge.to && edge.to >> p.shift == p.index;
        }
        uint32_t place, total;
        scan(scratch).ExclusiveSum((uint32_t)forth + back, place, total);
        if (threadIdx.x == 0) base = atomicAdd(end, (unsigned long long)total);
        __syncthreads();
        if (forth) keys[base + place++] = key_of(&p, edge.from, edge.to);
        if (back) keys[base + place] = key_of(&p, edge.to, edge.from);
        __syncthreads();
    }
}

/* The part's lists from its sorted keys; its first list begins at `base`. */
__global__ void write_lists(uint64_t *offsets, uint32_t *targets, const uint64_t *keys, uint64_t count,
                            uint64_t base, part p)
{
    uint64_t thread = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    uint64_t threads = (uint64_t)gridDim.x * blockDim.x;
    uint64_t mask = ((uint64_t)1 << p.kind.scale) - 1, rows = (uint64_t)1 << p.shift;
    for (uint64_t i = thread; i < count; i += threads)
        targets[base + i] = (uint32_t)(keys[i] & mask);
    for (uint64_t row = thread; row < rows; row += threads)
        offsets[p.index * rows + row] = base + sf_gpu_lower_bound(keys, count, row << p.kind.scale);
    if (thread == 0) offsets[(p.index + 1) * rows] = base + count;
}

typedef struct generation {
    sf_backend_graph *graph;
    part part;
    uint32_t parts;
    unsigned long long counts[MOST_PARTS]; /* keys of each part */
    sf_gpu_array keys[2], counters;
} generation;

} // namespace

static int grid(const sf_backend_device *device)
{
    return device->properties.multiProcessorCount * 4;
}

static int count_parts(generation *g, sf_error *error)
{
    sf_backend_device *device = g->graph->device;
    int status = sf_gpu_array_open(device, &g->counters, sizeof g->counts, error);
    if (status != SF_OK) return status;
    SF_GPU_TRY(cudaMemsetAsync(g->counters.data, 0, sizeof g->counts, device->work));
    count_keys<<<grid(device), BLOCK, 0, device->work>>>((unsigned long long *)g->counters.data, g->part);
    SF_GPU_LAUNCHED();
    return sf_gpu_download(device, g->counts, g->counters.data, sizeof g->counts, error);
}

static int open_arrays(generation *g, sf_error *error)
{
    sf_backend_device *device = g->graph->device;
    uint64_t total = 0, most = 0;
    for (uint32_t i = 0; i < g->parts; i++) {
        total += g->counts[i];
        most = g->counts[i] > most ? g->counts[i] : most;
    }
    sf_gpu_array *memory = g->graph->memory;
    int status = sf_gpu_array_open(device, &memory[0],
                                   (((size_t)1 << g->part.kind.scale) + 1) * sizeof(uint64_t), error);
    if (status == SF_OK) status = sf_gpu_array_open(device, &memory[1], total * sizeof(uint32_t), error);
    for (int i = 0; i < 2 && status == SF_OK; i++)
        status = sf_gpu_array_open(device, &g->keys[i], most * sizeof(uint64_t), error);
    return status;
}

static int make_part(generation *g, uint32_t index, sf_error *error)
{
    sf_backend_device *device = g->graph->device;
    uint64_t count = g->counts[index], kept = 0;
    g->part.index = index;
    SF_GPU_TRY(cudaMemsetAsync(g->counters.data, 0, sizeof(unsigned long long), device->work));
    collect_keys<<<grid(device), BLOCK, 0, device->work>>>((uint64_t *)g->keys[0].data,
                                                           (unsigned long long *)g->counters.data, g->part);
    SF_GPU_LAUNCHED();
    int status = SF_OK;
    if (count > 0)
        status = sf_gpu_sort_keys(device, g->keys, count, (int)(g->part.shift + g->part.kind.scale), error);
    if (status == SF_OK && count > 0) status = sf_gpu_unique_keys(device, g->keys, count, &kept, error);
    if (status != SF_OK) return status;
    sf_backend_graph *graph = g->graph;
    write_lists<<<grid(device), BLOCK, 0, device->work>>>(
        (uint64_t *)graph->memory[0].data, (uint32_t *)graph->memory[1].data,
        (const uint64_t *)g->keys[1].data, kept, graph->edge_count, g->part);
    SF_GPU_LAUNCHED();
    graph->edge_count += kept;
    return SF_OK;
}

static int make_lists(generation *g, sf_error *error)
{
    int status = count_parts(g, error);
    if (status == SF_OK) status = open_arrays(g, error);
    for (uint32_t i = 0; i < g->parts && status == SF_OK; i++)
        status = make_part(g, i, error);
    sf_backend_graph *graph = g->graph;
    graph->out = graph->in =
        sf_gpu_lists{(const uint64_t *)graph->memory[0].data, (const uint32_t *)graph->memory[1].data};
    return status;
}

int sf_gpu_generate(sf_backend_graph **generated, sf_backend_device *device, const sf_kronecker *kind,
                    sf_error *error)
{
    *generated = NULL;
    SF_GPU_TRY(cudaSetDevice(device->ordinal));
    generation g = {};
    g.part.kind = *kind;
    g.part.drawn = kind->edge_factor << kind->scale;
    g.part.shift = kind->scale;
    for (g.parts = 1; 2 * g.part.drawn / g.parts > MOST_KEYS && g.parts < MOST_PARTS && g.part.shift > 1;
         g.parts *= 2)
        g.part.shift--;
    g.graph = (sf_backend_graph *)sf_alloc(1, sizeof *g.graph);
    if (g.graph == NULL) return sf_fail_memory(error);
    g.graph->device = device;
    g.graph->vertex_count = (uint32_t)1 << kind->scale;
    int status = make_lists(&g, error);
    for (sf_gpu_array &keys : g.keys)
        sf_gpu_array_close(device, &keys);
    sf_gpu_array_close(device, &g.counters);
    if (status == SF_OK)
        *generated = g.graph;
    else
        sf_gpu_graphs.close(g.graph);
    return status;
}
