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
 * level, and a parent each of which is right. Several devices search their own vertices each (exchange.cu).
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
__global__ void count_found(measure *result, const uint32_t *status, sf_gpu_lists out, vertices list,
                            uint32_t level)
{
    uint32_t found = 0;
    unsigned long long edges = 0;
    for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < list.count;
         i += (uint64_t)gridDim.x * blockDim.x) {
        uint32_t v = list.first + (uint32_t)i;
        if (status[v] != level) continue;
        found++;
        edges += sf_gpu_degree(out, v);
    }
    if (found > 0) {
        atomicAdd(&result->found, found);
        atomicAdd(&result->edges, edges);
    }
}

/* Counts the hubs of the level and writes them to their slots of the cache; where several share a slot, any
 * one stays. */
__global__ void cache_hubs(measure *result, uint32_t *cache, const uint32_t *hubs, uint32_t count,
                           const uint32_t *status, uint32_t level)
{
    for (uint32_t i = threadIdx.x; i < CACHE; i += blockDim.x)
        cache[i] = UNREACHED;
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
        if (status[hubs[i]] != level) continue;
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
    uint32_t n = e->own > 0 ? e->own : 1, most = (uint32_t)e->device->properties.multiProcessorCount * 2048;
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
        if (status != SF_OK) return status;
    }
    return SF_OK;
}

int sf_gpu_enterprise_open(sf_gpu_enterprise **opened, const sf_backend_graph *graph, uint32_t first,
                           uint32_t last, const sf_backend_search_options *options, uint32_t *levels,
                           uint32_t *parents, sf_error *error)
{
    *opened = NULL;
    sf_gpu_enterprise *e = (sf_gpu_enterprise *)sf_alloc(1, sizeof *e);
    if (e == NULL) return sf_fail_memory(error);
    e->device = graph->device;
    e->graph = graph;
    e->first = first;
    e->own = last - first;
    e->levels = levels;
    e->parents = parents;
    e->direction = options->direction;
    e->features = options->features;
    int status = open_streams(e, error);
    if (status == SF_OK) status = open_arrays(e, error);
    if (status == SF_OK) status = find_hubs(e, error);
    if (status == SF_OK)
        *opened = e;
    else
        sf_gpu_enterprise_close(e);
    return status;
}

void sf_gpu_enterprise_close(sf_gpu_enterprise *e)
{
    if (e == NULL) return;
    for (int c = 0; c < CLASSES; c++) {
        if (e->join[c] != NULL) cudaEventDestroy(e->join[c]);
        if (e->streams[c] != NULL) cudaStreamDestroy(e->streams[c]);
    }
    for (cudaEvent_t event : {e->fork, e->told})
        if (event != NULL) cudaEventDestroy(event);
    sf_gpu_array *arrays[] = {&e->bin_items, &e->bin_counts, &e->bin_sums, &e->queue[0], &e->queue[1],
                              &e->hubs,      &e->cache,      &e->measured, &e->bits,     &e->heard};
    for (sf_gpu_array *array : arrays)
        sf_gpu_array_close(e->device, array);
    sf_free(e);
}

/* ---- the search ---- */

static view view_of(const sf_gpu_enterprise *e, uint32_t level, bool up)
{
    bool cached = up && (e->features & SF_BFS_HC) != 0 && e->hub_count > 0;
    return view{up ? e->graph->in : e->graph->out,
                e->levels,
                e->parents,
                level,
                up,
                (e->features & SF_BFS_WB) != 0,
                cached ? (const uint32_t *)e->cache.data : NULL};
}

/* Queues the counting of what level - 1 has found; with TS and top-down also the making of the queue of it.
 */
static int start_measure(sf_gpu_enterprise *e, const view *w, sf_error *error)
{
    sf_backend_device *device = e->device;
    measure *result = (measure *)e->measured.data;
    vertices own = {NULL, e->first, e->own};
    SF_GPU_TRY(cudaSetDevice(device->ordinal));
    SF_GPU_TRY(cudaMemsetAsync(result, 0, sizeof *result, device->work));
    if ((e->features & (SF_BFS_HC | SF_BFS_GAMMA)) != 0 && e->hub_count > 0) {
        cache_hubs<<<1, 1024, 0, device->work>>>(result, (uint32_t *)e->cache.data,
                                                 (const uint32_t *)e->hubs.data, e->hub_count, w->status,
                                                 w->level - 1);
        SF_GPU_LAUNCHED();
    }
    if ((e->features & SF_BFS_TS) == 0) {
        count_found<<<sf_gpu_enterprise_blocks(e, own.count), BLOCK, 0, device->work>>>(
            result, w->status, e->graph->out, own, w->level - 1);
        SF_GPU_LAUNCHED();
        return SF_OK;
    }
    if (!w->up) return sf_gpu_enterprise_queue(e, w, own, false, error);
    const uint32_t *queue = (const uint32_t *)e->queue[e->current].data;
    return sf_gpu_enterprise_queue(e, w, vertices{queue, 0, e->queued}, true, error);
}

static int read_measure(sf_gpu_enterprise *e, sf_error *error)
{
    SF_GPU_TRY(cudaSetDevice(e->device->ordinal));
    return sf_gpu_download(e->device, &e->last, e->measured.data, sizeof e->last, error);
}

/* What level - 1 has found, in all parts; the hubs of all are known to each. */
static int measure_level(sf_gpu_enterprise *const *parts, uint32_t count, uint32_t level, bool up,
                         measure *all, sf_error *error)
{
    int status = SF_OK;
    for (uint32_t i = 0; i < count && status == SF_OK; i++) {
        view w = view_of(parts[i], level, up);
        status = start_measure(parts[i], &w, error);
    }
    *all = measure{};
    for (uint32_t i = 0; i < count && status == SF_OK; i++) {
        sf_gpu_enterprise *e = parts[i];
        status = read_measure(e, error);
        if ((e->features & SF_BFS_TS) != 0)
            e->last.found = up ? e->queued - e->last.starts[CLASSES] : e->last.starts[CLASSES];
        all->found += e->last.found;
        all->edges += e->last.edges;
        all->hubs = e->last.hubs;
    }
    return status;
}

static bool choose_up(const sf_gpu_enterprise *e, const measure *all, uint64_t edges_left)
{
    if (e->direction != SF_BFS_AUTO) return e->direction == SF_BFS_BOTTOM_UP;
    if ((e->features & SF_BFS_GAMMA) != 0 && e->hub_count > 0) return sf_bfs_gamma(all->hubs, e->hub_count);
    return all->edges > edges_left / ALPHA;
}

/* The level turns bottom-up: the queue of each part is all that is unvisited of it. */
static int turn_up(sf_gpu_enterprise *const *parts, uint32_t count, uint32_t level, sf_error *error)
{
    int status = SF_OK;
    if ((parts[0]->features & SF_BFS_TS) == 0) return SF_OK;
    for (uint32_t i = 0; i < count && status == SF_OK; i++) {
        sf_gpu_enterprise *e = parts[i];
        view w = view_of(e, level, true);
        SF_GPU_TRY(cudaSetDevice(e->device->ordinal));
        status = sf_gpu_enterprise_queue(e, &w, vertices{NULL, e->first, e->own}, true, error);
    }
    for (uint32_t i = 0; i < count && status == SF_OK; i++)
        status = read_measure(parts[i], error);
    return status;
}

static int search_level(sf_gpu_enterprise *const *parts, uint32_t count, uint32_t level, bool up,
                        sf_error *error)
{
    int status = SF_OK;
    for (uint32_t i = 0; i < count && status == SF_OK; i++) {
        sf_gpu_enterprise *e = parts[i];
        view w = view_of(e, level, up);
        e->queued = e->last.starts[CLASSES];
        SF_GPU_TRY(cudaSetDevice(e->device->ordinal));
        status = sf_gpu_enterprise_level(e, &w, error);
    }
    return status == SF_OK && count > 1 ? sf_gpu_enterprise_exchange(parts, count, level, up, error) : status;
}

static int begin_search(sf_gpu_enterprise *const *parts, uint32_t count, uint32_t source, sf_error *error)
{
    for (uint32_t i = 0; i < count; i++) {
        sf_gpu_enterprise *e = parts[i];
        uint32_t n = e->graph->vertex_count;
        SF_GPU_TRY(cudaSetDevice(e->device->ordinal));
        begin<<<sf_gpu_enterprise_blocks(e, n), BLOCK, 0, e->device->work>>>(e->levels, e->parents, n,
                                                                             source);
        SF_GPU_LAUNCHED();
    }
    return SF_OK;
}

static void record(sf_gpu_level *log, sf_gpu_summary *summary, uint32_t level, uint32_t found, bool up)
{
    summary->depth = level;
    if (level >= SF_GPU_LOG) return;
    log[level] = sf_gpu_level{found, up, (unsigned long long)(sf_clock_seconds() * 1e9)};
    summary->logged = level + 1;
}

int sf_gpu_enterprise_run(sf_gpu_enterprise *const *parts, uint32_t count, uint32_t source, sf_gpu_level *log,
                          sf_gpu_summary *summary, const sf_progress *progress, sf_error *error)
{
    const double edges = (double)parts[0]->graph->edge_count;
    uint64_t left = parts[0]->graph->edge_count;
    bool up = false;
    *summary = sf_gpu_summary{};
    summary->begin = (unsigned long long)(sf_clock_seconds() * 1e9);
    int status = begin_search(parts, count, source, error);
    for (uint32_t level = 1; status == SF_OK; level++) {
        measure all;
        status = measure_level(parts, count, level, up, &all, error);
        if (status != SF_OK || all.found == 0) break;
        if (!sf_progress_update(progress, "searching", edges - (double)left, edges))
            return sf_fail(error, SF_CANCELLED, NULL, "was stopped at level %u", level - 1);
        record(log, summary, level - 1, all.found, up);
        if (!up && choose_up(parts[0], &all, left)) {
            up = true;
            status = turn_up(parts, count, level, error);
        }
        left -= up || all.edges > left ? 0 : all.edges;
        if (status == SF_OK) status = search_level(parts, count, level, up, error);
    }
    return status == SF_OK && count > 1 ? sf_gpu_enterprise_exchange_parents(parts, count, error) : status;
}
