/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Searches from many vertices at once: bit i of a vertex's word stands for source i, so that one pass over an
 * edge serves all searches that have it in their frontier. 64 sources make a pass over the graph; more follow
 * one after the other.
 */
#include "gpu/search/search.cuh"

#include "core/progress.h"

#define WARP 32u
#define BLOCK 256u
#define NONE 0xffffffffu
#define WORD 64u

namespace
{

typedef unsigned long long bits;

typedef struct many {
    sf_gpu_lists out;
    uint32_t vertex_count, count; /* sources of this pass */
    bits *seen, *frontier, *next;
    uint32_t *levels, *parents; /* rows of the sources; parents may be NULL */
    uint32_t *found_any;
} many;

#define FOR_EACH(i, count)                                                                                   \
    for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < (count);                          \
         i += (uint64_t)gridDim.x * blockDim.x)

__global__ void clear(many m)
{
    FOR_EACH(v, m.vertex_count)
    m.seen[v] = m.frontier[v] = m.next[v] = 0;
    FOR_EACH(i, (uint64_t)m.vertex_count * m.count)
    {
        m.levels[i] = NONE;
        if (m.parents != NULL) m.parents[i] = NONE;
    }
}

__device__ void record(const many *m, bits found, uint32_t v, uint32_t level, uint32_t parent)
{
    for (; found != 0; found &= found - 1) {
        uint64_t place = (uint64_t)(__ffsll((long long)found) - 1) * m->vertex_count + v;
        m->levels[place] = level;
        if (m->parents != NULL) m->parents[place] = parent;
    }
}

__global__ void start(many m, const uint32_t *sources)
{
    uint32_t i = threadIdx.x;
    if (i >= m.count) return;
    bits bit = (bits)1 << i;
    atomicOr(&m.seen[sources[i]], bit);
    atomicOr(&m.frontier[sources[i]], bit);
    record(&m, bit, sources[i], 0, sources[i]);
}

/* A warp a vertex of the frontier. What a warp's atomic sets first in `next` it has found. */
__global__ void search_level(many m, uint32_t level)
{
    uint32_t lane = threadIdx.x % WARP, warps = gridDim.x * (BLOCK / WARP);
    for (uint32_t v = (blockIdx.x * BLOCK + threadIdx.x) / WARP; v < m.vertex_count; v += warps) {
        bits own = m.frontier[v];
        if (own == 0) continue;
        for (uint64_t e = m.out.offsets[v] + lane, end = m.out.offsets[v + 1]; e < end; e += WARP) {
            uint32_t neighbour = m.out.targets[e];
            bits fresh = own & ~m.seen[neighbour];
            if (fresh == 0) continue;
            fresh &= ~atomicOr(&m.next[neighbour], fresh);
            if (fresh == 0) continue;
            record(&m, fresh, neighbour, level, v);
            *m.found_any = 1;
        }
    }
}

__global__ void advance(many m)
{
    FOR_EACH(v, m.vertex_count)
    {
        bits next = m.next[v];
        m.frontier[v] = next;
        m.seen[v] |= next;
        m.next[v] = 0;
    }
}

int search_word(sf_backend_device *device, const many *m, const uint32_t *sources, sf_error *error)
{
    unsigned grid = (unsigned)device->properties.multiProcessorCount * 8;
    clear<<<grid, BLOCK, 0, device->work>>>(*m);
    start<<<1, WORD, 0, device->work>>>(*m, sources);
    SF_GPU_LAUNCHED();
    uint32_t any = 1;
    for (uint32_t level = 1; any != 0; level++) {
        SF_GPU_TRY(cudaMemsetAsync(m->found_any, 0, sizeof *m->found_any, device->work));
        search_level<<<grid, BLOCK, 0, device->work>>>(*m, level);
        advance<<<grid, BLOCK, 0, device->work>>>(*m);
        SF_GPU_LAUNCHED();
        int status = sf_gpu_download(device, &any, m->found_any, sizeof any, error);
        if (status != SF_OK) return status;
    }
    return SF_OK;
}

typedef struct arrays {
    sf_gpu_array seen, frontier, next, levels, parents, sources, found_any;
} arrays;

} // namespace

static int open_arrays(many *m, arrays *a, sf_backend_device *device, bool parents, sf_error *error)
{
    size_t n = m->vertex_count, rows = n * WORD * sizeof(uint32_t);
    struct {
        sf_gpu_array *array;
        size_t bytes;
    } wanted[] = {{&a->seen, n * sizeof(bits)},      {&a->frontier, n * sizeof(bits)},
                  {&a->next, n * sizeof(bits)},      {&a->levels, rows},
                  {&a->parents, parents ? rows : 0}, {&a->sources, WORD * sizeof(uint32_t)},
                  {&a->found_any, sizeof(uint32_t)}};
    for (auto &want : wanted) {
        int status = sf_gpu_array_open(device, want.array, want.bytes, error);
        if (status != SF_OK) return status;
    }
    m->seen = (bits *)a->seen.data;
    m->frontier = (bits *)a->frontier.data;
    m->next = (bits *)a->next.data;
    m->levels = (uint32_t *)a->levels.data;
    m->parents = parents ? (uint32_t *)a->parents.data : NULL;
    m->found_any = (uint32_t *)a->found_any.data;
    return SF_OK;
}

int sf_gpu_search_many(sf_backend_graph *graph, const uint32_t *sources, size_t count, uint32_t *levels,
                       uint32_t *parents, const sf_progress *progress, sf_error *error)
{
    sf_backend_device *device = graph->device;
    SF_GPU_TRY(cudaSetDevice(device->ordinal));
    many m = {};
    m.out = graph->out;
    m.vertex_count = graph->vertex_count;
    arrays a = {};
    int status = open_arrays(&m, &a, device, parents != NULL, error);
    for (size_t first = 0; first < count && status == SF_OK; first += WORD) {
        if (!sf_progress_update(progress, "searching", (double)first, (double)count)) {
            status = sf_fail(error, SF_CANCELLED, NULL, "was stopped after %zu searches", first);
            break;
        }
        m.count = (uint32_t)(count - first < WORD ? count - first : WORD);
        size_t place = first * m.vertex_count, bytes = (size_t)m.count * m.vertex_count * sizeof *levels;
        status = sf_gpu_upload(device, a.sources.data, sources + first, m.count * sizeof *sources, error);
        if (status == SF_OK) status = search_word(device, &m, (const uint32_t *)a.sources.data, error);
        if (status == SF_OK) status = sf_gpu_download(device, levels + place, m.levels, bytes, error);
        if (status == SF_OK && parents != NULL)
            status = sf_gpu_download(device, parents + place, m.parents, bytes, error);
    }
    sf_gpu_array *all[] = {&a.seen, &a.frontier, &a.next, &a.levels, &a.parents, &a.sources, &a.found_any};
    for (sf_gpu_array *array : all)
        sf_gpu_array_close(device, array);
    return status;
}
