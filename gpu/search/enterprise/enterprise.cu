/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Breadth-first search as Enterprise does it (Liu and Huang, SC 2015), each technique to be left out:
 *
 * - TS: the frontier is a queue without duplicates, made by scanning the status array into one bin a thread
 * and joining the bins by a prefix sum. Top-down levels scan interleaved, the level of the switch in blocks,
 * so that the queue is sorted, and bottom-up levels filter the queue before. Without it every level looks at
 *   every vertex.
 * - WB: vertices of under 32 edges go to a thread, up to 256 to a warp, up to 65,536 to a block, others to
 * the grid, by four kernels at a time. Without it each goes to a warp.
 * - HC: bottom-up, the hubs of the last level lie in shared memory by a hash of their number.
 * - gamma: the switch comes with 30 % of all hubs in the frontier; without it, or without hubs, when the
 *   frontier has a fourteenth of the edges that are left (Beamer, Asanovic, Patterson, SC 2012).
 *
 * Cost: a scan of the status array or the queue a level, and the edges that are looked at: 0.65 % top-down
 * and 4.8 % bottom-up on Kronecker graphs, by the paper.
 *
 * The status array is the array of levels. Threads that find the same vertex in one level write the same
 * level, and a parent each of which is right.
 */
#include "gpu/keys.cuh"
#include "gpu/search/enterprise/enterprise.cuh"

extern "C" {
#include "core/clock.h"
#include "core/progress.h"
}

#define ALPHA 14u

/* ---- counting ---- */

namespace
{

__global__ void begin(uint32_t *status, uint32_t *parents, uint32_t count, uint32_t source)
{
    for (uint64_t v = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; v < count;
         v += (uint64_t)gridDim.x * blockDim.x) {
        status[v] = v == source ? 0 : UNREACHED;
        parents[v] = v == source ? source : UNREACHED;
    }
}

/* The vertices of the level, and their edges. */
__global__ void count_found(measure *result, const uint32_t *status, sf_gpu_lists out, uint32_t count,
                            uint32_t level)
{
    uint32_t found = 0;
    unsigned long long edges = 0;
    for (uint64_t v = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; v < count;
         v += (uint64_t)gridDim.x * blockDim.x) {
        if (status[v] != level)
            continue;
        found++;
        edges += sf_gpu_degree(out, (uint32_t)v);
    }
    if (found > 0) {
        atomicAdd(&result->found, found);
        atomicAdd(&result->edges, edges);
    }
}

/* Counts the hubs of the level and writes them to their slots of the cache; of several in one, any. */
__global__ void cache_hubs(measure *result, uint32_t *cache, const uint32_t *hubs, uint32_t count,
                           const uint32_t *status, uint32_t level)
{
    for (uint32_t i = threadIdx.x; i < CACHE; i += blockDim.x)
        cache[i] = UNREACHED;
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
        if (status[hubs[i]] != level)
            continue;
        cache[slot_of(hubs[i])] = hubs[i];
        atomicAdd(&result->hubs, 1);
    }
}

/* ---- preparation ---- */

/* Hubs have more edges than the vertex at place CACHE by falling degree: at most CACHE are there. */
__global__ void count_hubs(uint32_t *result, const uint32_t *sorted, uint32_t count)
{
    uint32_t tau = count > CACHE ? sorted[CACHE] : FULL;
    *result = (uint32_t)sf_gpu_lower_bound(sorted, count, tau);
}

} // namespace

static int find_hubs(sf_gpu_enterprise *e, sf_error *error)
{
    sf_backend_device *device = e->device;
    uint32_t n = e->graph->vertex_count;
    sf_gpu_array sorted = {}, result = {};
    int status = sf_gpu_array_open(device, &result, sizeof(uint32_t), error);
    if (status == SF_OK)
        status = sf_gpu_sort_by_degree(device, &sorted, &e->hubs, e->graph->out.offsets, n, error);
    if (status == SF_OK) {
        count_hubs<<<1, 1, 0, device->work>>>((uint32_t *)result.data, (const uint32_t *)sorted.data, n);
        status = sf_gpu_check(cudaGetLastError(), "count_hubs", error);
    }
    if (status == SF_OK)
        status = sf_gpu_download(device, &e->hub_count, result.data, sizeof e->hub_count, error);
    sf_gpu_array_close(device, &sorted);
    sf_gpu_array_close(device, &result);
    return status;
}

static int open_streams(sf_gpu_enterprise *e, sf_error *error)
{
    SF_GPU_TRY(cudaEventCreateWithFlags(&e->fork, cudaEventDisableTiming));
    for (int c = 0; c < CLASSES; c++) {
        SF_GPU_TRY(cudaStreamCreateWithFlags(&e->streams[c], cudaStreamNonBlocking));
        SF_GPU_TRY(cudaEventCreateWithFlags(&e->join[c], cudaEventDisableTiming));
    }
    return SF_OK;
}

static int open_arrays(sf_gpu_enterprise *e, sf_error *error)
{
    uint32_t n = e->graph->vertex_count, most = (uint32_t)e->device->properties.multiProcessorCount * 2048;
    e->bins = n < most ? n : most;
    size_t share = (n + e->bins - 1) / e->bins, counts = (size_t)CLASSES * e->bins + 1;
    struct {
        sf_gpu_array *array;
        size_t bytes;
    } wanted[] = {{&e->bin_items, share * e->bins * sizeof(uint32_t)},
                  {&e->bin_counts, counts * sizeof(uint32_t)},
                  {&e->bin_sums, counts * sizeof(uint32_t)},
                  {&e->queue[0], (size_t)n * sizeof(uint32_t)},
                  {&e->queue[1], (size_t)n * sizeof(uint32_t)},
                  {&e->cache, CACHE * sizeof(uint32_t)},
                  {&e->measured, sizeof(measure)}};
    for (auto &want : wanted) {
        int status = sf_gpu_array_open(e->device, want.array, want.bytes, error);
        if (status != SF_OK)
            return status;
    }
    return SF_OK;
}

int sf_gpu_enterprise_open(sf_gpu_enterprise **opened, const sf_backend_graph *graph,
                           sf_bfs_direction direction, unsigned features, sf_error *error)
{
    *opened = NULL;
    sf_gpu_enterprise *e = (sf_gpu_enterprise *)sf_alloc(1, sizeof *e);
    if (e == NULL)
        return sf_fail_memory(error);
    e->device = graph->device;
    e->graph = graph;
    e->direction = direction;
    e->features = features;
    int status = open_streams(e, error);
    if (status == SF_OK)
        status = open_arrays(e, error);
    if (status == SF_OK)
        status = find_hubs(e, error);
    if (status == SF_OK)
        *opened = e;
    else
        sf_gpu_enterprise_close(e);
    return status;
}

void sf_gpu_enterprise_close(sf_gpu_enterprise *e)
{
    if (e == NULL)
        return;
    for (int c = 0; c < CLASSES; c++) {
        if (e->join[c] != NULL)
            cudaEventDestroy(e->join[c]);
        if (e->streams[c] != NULL)
            cudaStreamDestroy(e->streams[c]);
    }
    if (e->fork != NULL)
        cudaEventDestroy(e->fork);
    sf_gpu_array *arrays[] = {&e->bin_items, &e->bin_counts, &e->bin_sums, &e->queue[0],
                              &e->queue[1],  &e->hubs,       &e->cache,    &e->measured};
    for (sf_gpu_array *array : arrays)
        sf_gpu_array_close(e->device, array);
    sf_free(e);
}

/* ---- the search ---- */

unsigned sf_gpu_enterprise_blocks(const sf_gpu_enterprise *e, uint64_t threads)
{
    uint64_t blocks = (threads + BLOCK - 1) / BLOCK;
    uint64_t most = (uint64_t)e->device->properties.multiProcessorCount * 64;
    return (unsigned)(blocks < 1 ? 1 : blocks < most ? blocks : most);
}

static int read_measure(sf_gpu_enterprise *e, measure *m, sf_error *error)
{
    return sf_gpu_download(e->device, m, e->measured.data, sizeof *m, error);
}

static view view_of(const sf_gpu_enterprise *e, uint32_t *levels, uint32_t *parents, uint32_t level, bool up)
{
    bool cached = up && (e->features & SF_BFS_HC) != 0 && e->hub_count > 0;
    return view{up ? e->graph->in : e->graph->out,
                levels,
                parents,
                level,
                up,
                (e->features & SF_BFS_WB) != 0,
                cached ? (const uint32_t *)e->cache.data : NULL};
}

/* The sizes of what level - 1 has found; with TS and top-down also the queue of it. */
static int measure_level(sf_gpu_enterprise *e, const view *w, measure *m, uint32_t before, sf_error *error)
{
    sf_backend_device *device = e->device;
    measure *result = (measure *)e->measured.data;
    uint32_t n = e->graph->vertex_count;
    SF_GPU_TRY(cudaMemsetAsync(result, 0, sizeof *result, device->work));
    if ((e->features & (SF_BFS_HC | SF_BFS_GAMMA)) != 0 && e->hub_count > 0) {
        cache_hubs<<<1, 1024, 0, device->work>>>(result, (uint32_t *)e->cache.data,
                                                 (const uint32_t *)e->hubs.data, e->hub_count, w->status,
                                                 w->level - 1);
        SF_GPU_LAUNCHED();
    }
    int status = SF_OK;
    if ((e->features & SF_BFS_TS) == 0) {
        count_found<<<sf_gpu_enterprise_blocks(e, n), BLOCK, 0, device->work>>>(
            result, w->status, e->graph->out, n, w->level - 1);
        SF_GPU_LAUNCHED();
    } else if (w->up) {
        const uint32_t *queue = (const uint32_t *)e->queue[e->current].data;
        status = sf_gpu_enterprise_queue(e, w, vertices{queue, before}, true, error);
    } else {
        status = sf_gpu_enterprise_queue(e, w, vertices{NULL, n}, false, error);
    }
    if (status == SF_OK)
        status = read_measure(e, m, error);
    if (status == SF_OK && (e->features & SF_BFS_TS) != 0)
        m->found = w->up ? before - m->starts[CLASSES] : m->starts[CLASSES];
    return status;
}

static bool choose_up(const sf_gpu_enterprise *e, const measure *m, uint64_t edges_left)
{
    if (e->direction != SF_BFS_AUTO)
        return e->direction == SF_BFS_BOTTOM_UP;
    if ((e->features & SF_BFS_GAMMA) != 0 && e->hub_count > 0)
        return sf_bfs_gamma(m->hubs, e->hub_count);
    return m->edges > edges_left / ALPHA;
}

/* The level turns bottom-up: its queue is all that is unvisited. */
static int turn_up(sf_gpu_enterprise *e, const view *w, measure *m, sf_error *error)
{
    if ((e->features & SF_BFS_TS) == 0)
        return SF_OK;
    int status = sf_gpu_enterprise_queue(e, w, vertices{NULL, e->graph->vertex_count}, true, error);
    return status == SF_OK ? read_measure(e, m, error) : status;
}

static void record(sf_gpu_level *log, sf_gpu_summary *summary, uint32_t level, uint32_t found, bool up)
{
    summary->depth = level;
    if (level >= SF_GPU_LOG)
        return;
    log[level] = sf_gpu_level{found, up, (unsigned long long)(sf_clock_seconds() * 1e9)};
    summary->logged = level + 1;
}

int sf_gpu_enterprise_run(sf_gpu_enterprise *e, uint32_t source, uint32_t *levels, uint32_t *parents,
                          sf_gpu_level *log, sf_gpu_summary *summary, const sf_progress *progress,
                          sf_error *error)
{
    const double all = (double)e->graph->edge_count;
    uint64_t left = e->graph->edge_count;
    bool up = false;
    *summary = sf_gpu_summary{};
    summary->begin = (unsigned long long)(sf_clock_seconds() * 1e9);
    begin<<<sf_gpu_enterprise_blocks(e, e->graph->vertex_count), BLOCK, 0, e->device->work>>>(
        levels, parents, e->graph->vertex_count, source);
    SF_GPU_LAUNCHED();
    for (uint32_t level = 1, before = 0;; level++) {
        view w = view_of(e, levels, parents, level, up);
        measure m;
        int status = measure_level(e, &w, &m, before, error);
        if (status != SF_OK)
            return status;
        if (m.found == 0)
            return SF_OK;
        if (!sf_progress_update(progress, "searching", all - (double)left, all))
            return sf_fail(error, SF_CANCELLED, NULL, "was stopped at level %u", level - 1);
        record(log, summary, level - 1, m.found, up);
        if (!up && choose_up(e, &m, left)) {
            up = true;
            w = view_of(e, levels, parents, level, up);
            status = turn_up(e, &w, &m, error);
        }
        left -= up || m.edges > left ? 0 : m.edges;
        before = m.starts[CLASSES];
        if (status == SF_OK)
            status = sf_gpu_enterprise_level(e, &w, &m, error);
        if (status != SF_OK)
            return status;
    }
}
