/* SPDX-License-Identifier: Apache-2.0 */
/* Enterprise's kernels: the frontier queues, and the search of a level by four classes of vertices. */
#include "gpu/keys.cuh"
#include "gpu/search/enterprise/enterprise.cuh"

namespace
{

__device__ uint32_t class_of(const view *w, uint32_t v)
{
    uint64_t edges = sf_gpu_degree(w->lists, v);
    if (!w->balanced) return BY_WARP;
    return edges < 32 ? BY_THREAD : edges <= 256 ? BY_WARP : edges <= 65536 ? BY_BLOCK : BY_GRID;
}

/* Whether v has work in this level: it was found in the last one, or it is still to be found. */
__device__ bool is_due(const view *w, uint32_t v)
{
    return w->up ? w->status[v] == UNREACHED && sf_gpu_degree(w->lists, v) > 0 : w->status[v] == w->level - 1;
}

/* ---- searching a level ---- */

/* All threads of the block. */
__device__ void load_cache(uint32_t *cache, const view *w)
{
    if (w->cache == NULL) return;
    for (uint32_t i = threadIdx.x; i < CACHE; i += blockDim.x)
        cache[i] = w->cache[i];
    __syncthreads();
}

/* Looks along one edge; true where it ends the search of this vertex. */
__device__ bool look(const view *w, const uint32_t *cache, uint32_t v, uint32_t neighbour)
{
    if (!w->up) {
        if (w->status[neighbour] == UNREACHED) {
            w->status[neighbour] = w->level;
            w->parents[neighbour] = v;
        }
        return false;
    }
    bool cached = w->cache != NULL && cache[slot_of(neighbour)] == neighbour;
    if (!cached && w->status[neighbour] != w->level - 1) return false;
    w->status[v] = w->level;
    w->parents[v] = neighbour;
    return true;
}

/* Vertex i of the list if it is for this class, else UNREACHED. */
__device__ uint32_t pick(const view *w, vertices list, uint32_t i, uint32_t own_class)
{
    if (list.queue != NULL) return list.queue[i];
    uint32_t v = list.first + i;
    return is_due(w, v) && class_of(w, v) == own_class ? v : UNREACHED;
}

__global__ void by_thread(view w, vertices list)
{
    __shared__ uint32_t cache[CACHE];
    load_cache(cache, &w);
    for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < list.count;
         i += (uint64_t)gridDim.x * blockDim.x) {
        uint32_t v = pick(&w, list, (uint32_t)i, BY_THREAD);
        if (v == UNREACHED) continue;
        for (uint64_t e = w.lists.offsets[v], end = w.lists.offsets[v + 1]; e < end; e++)
            if (look(&w, cache, v, w.lists.targets[e])) break;
    }
}

__global__ void by_warp(view w, vertices list)
{
    __shared__ uint32_t cache[CACHE];
    load_cache(cache, &w);
    uint32_t lane = threadIdx.x % WARP;
    for (uint64_t i = (blockIdx.x * (uint64_t)blockDim.x + threadIdx.x) / WARP; i < list.count;
         i += (uint64_t)gridDim.x * (blockDim.x / WARP)) {
        uint32_t v = pick(&w, list, (uint32_t)i, BY_WARP);
        v = __shfl_sync(FULL, v, 0); /* lanes may see a status that another warp is just writing */
        if (v == UNREACHED) continue;
        uint64_t end = w.lists.offsets[v + 1];
        bool done = false;
        for (uint64_t e = w.lists.offsets[v]; e < end && !done; e += WARP) {
            bool hit = e + lane < end && look(&w, cache, v, w.lists.targets[e + lane]);
            done = __any_sync(FULL, hit);
        }
    }
}

__global__ void by_block(view w, vertices list)
{
    __shared__ uint32_t cache[CACHE];
    __shared__ uint32_t own;
    load_cache(cache, &w);
    for (uint64_t i = blockIdx.x; i < list.count; i += gridDim.x) {
        if (threadIdx.x == 0) own = pick(&w, list, (uint32_t)i, BY_BLOCK);
        __syncthreads();
        uint32_t v = own;
        uint64_t begin = v != UNREACHED ? w.lists.offsets[v] : 0;
        uint64_t end = v != UNREACHED ? w.lists.offsets[v + 1] : 0;
        int done = 0;
        for (uint64_t e = begin; e < end && !done; e += blockDim.x) {
            bool hit = e + threadIdx.x < end && look(&w, cache, v, w.lists.targets[e + threadIdx.x]);
            done = __syncthreads_or(hit);
        }
        __syncthreads();
    }
}

__global__ void by_grid(view w, vertices list)
{
    __shared__ uint32_t cache[CACHE];
    load_cache(cache, &w);
    uint64_t thread = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    uint64_t threads = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t i = 0; i < list.count; i++) {
        uint32_t v = pick(&w, list, (uint32_t)i, BY_GRID);
        if (v == UNREACHED) continue;
        uint64_t end = w.lists.offsets[v + 1];
        for (uint64_t e = w.lists.offsets[v] + thread; e < end; e += threads)
            if (look(&w, cache, v, w.lists.targets[e])) break;
    }
}

} // namespace

static void launch_class(const sf_gpu_enterprise *e, int c, const view *w, vertices list)
{
    cudaStream_t stream = e->streams[c];
    if (c == BY_THREAD)
        by_thread<<<sf_gpu_enterprise_blocks(e, list.count), BLOCK, 0, stream>>>(*w, list);
    else if (c == BY_WARP)
        by_warp<<<sf_gpu_enterprise_blocks(e, (uint64_t)list.count * WARP), BLOCK, 0, stream>>>(*w, list);
    else if (c == BY_BLOCK)
        by_block<<<sf_gpu_enterprise_blocks(e, (uint64_t)list.count * BLOCK), BLOCK, 0, stream>>>(*w, list);
    else
        by_grid<<<e->device->properties.multiProcessorCount * 4, BLOCK, 0, stream>>>(*w, list);
}

/* The kernels of the level, side by side. */
int sf_gpu_enterprise_level(sf_gpu_enterprise *e, const view *w, sf_error *error)
{
    const uint32_t *starts = e->last.starts;
    const uint32_t *queue = (const uint32_t *)e->queue[e->current].data;
    bool queued = (e->features & SF_BFS_TS) != 0;
    SF_GPU_TRY(cudaEventRecord(e->fork, e->device->work));
    for (int c = 0; c < CLASSES; c++) {
        vertices list = {NULL, e->first, c == BY_WARP || w->balanced ? e->own : 0};
        if (queued) list = vertices{queue + starts[c], 0, starts[c + 1] - starts[c]};
        if (list.count == 0) continue;
        SF_GPU_TRY(cudaStreamWaitEvent(e->streams[c], e->fork, 0));
        launch_class(e, c, w, list);
        SF_GPU_LAUNCHED();
        SF_GPU_TRY(cudaEventRecord(e->join[c], e->streams[c]));
        SF_GPU_TRY(cudaStreamWaitEvent(e->device->work, e->join[c], 0));
    }
    return SF_OK;
}

/* ---- frontier queues ---- */

namespace
{

/* The k-th element that a thread scans: interleaved, neighbouring threads read neighbouring elements; in
 * blocks, each reads its own stretch, and the queue is in their order. */
__device__ uint64_t element(uint32_t k, uint32_t thread, uint32_t bins, uint32_t share, bool in_blocks)
{
    return in_blocks ? (uint64_t)thread * share + k : (uint64_t)k * bins + thread;
}

/* Each thread puts the due vertices of its share into its bin and counts them by class. */
__global__ void fill_bins(uint32_t *items, uint32_t *counts, measure *result, view w, vertices list,
                          uint32_t bins, bool in_blocks)
{
    uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x, share = (list.count + bins - 1) / bins;
    uint32_t own[CLASSES] = {0, 0, 0, 0}, held = 0;
    unsigned long long edges = 0;
    if (thread >= bins) return;
    for (uint32_t k = 0; k < share; k++) {
        uint64_t i = element(k, thread, bins, share, in_blocks);
        if (i >= list.count) break;
        uint32_t v = list.queue != NULL ? list.queue[i] : list.first + (uint32_t)i;
        if (!is_due(&w, v)) continue;
        items[(uint64_t)held++ * bins + thread] = v;
        edges += sf_gpu_degree(w.lists, v);
        uint32_t its = class_of(&w, v);
        for (uint32_t c = 0; c < CLASSES; c++)
            own[c] += c == its;
    }
    for (uint32_t c = 0; c < CLASSES; c++)
        counts[c * bins + thread] = own[c];
    if (thread == 0) counts[CLASSES * bins] = 0;
    if (edges > 0) atomicAdd(&result->edges, edges);
}

__global__ void join_bins(uint32_t *queue, measure *result, const uint32_t *items, const uint32_t *counts,
                          const uint32_t *sums, view w, uint32_t bins)
{
    uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (thread <= CLASSES) result->starts[thread] = sums[thread * bins];
    if (thread >= bins) return;
    uint32_t places[CLASSES], held = 0;
    for (uint32_t c = 0; c < CLASSES; c++) {
        places[c] = sums[c * bins + thread];
        held += counts[c * bins + thread];
    }
    for (uint32_t k = 0; k < held; k++) {
        uint32_t v = items[(uint64_t)k * bins + thread], its = class_of(&w, v);
        for (uint32_t c = 0; c < CLASSES; c++)
            if (c == its) queue[places[c]++] = v;
    }
}

} // namespace

/* The queue of the vertices that are due in the level `w`; `from` has them among others. */
int sf_gpu_enterprise_queue(sf_gpu_enterprise *e, const view *w, vertices from, bool in_blocks,
                            sf_error *error)
{
    sf_backend_device *device = e->device;
    uint32_t blocks = (e->bins + BLOCK - 1) / BLOCK, *counts = (uint32_t *)e->bin_counts.data;
    uint32_t *items = (uint32_t *)e->bin_items.data, *sums = (uint32_t *)e->bin_sums.data;
    measure *result = (measure *)e->measured.data;
    fill_bins<<<blocks, BLOCK, 0, device->work>>>(items, counts, result, *w, from, e->bins, in_blocks);
    SF_GPU_LAUNCHED();
    int status = sf_gpu_sum(device, sums, counts, CLASSES * e->bins + 1, error);
    if (status != SF_OK) return status;
    join_bins<<<blocks, BLOCK, 0, device->work>>>((uint32_t *)e->queue[e->current ^ 1].data, result, items,
                                                  counts, sums, *w, e->bins);
    SF_GPU_LAUNCHED();
    e->current ^= 1;
    return SF_OK;
}
