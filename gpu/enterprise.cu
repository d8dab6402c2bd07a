/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Breadth-first search as Enterprise does it (Liu and Huang, SC 2015), each technique to be left out:
 *
 *   TS     the frontier is a queue without duplicates, made by scanning the status array into one bin a
 * thread and joining the bins by a prefix sum. Top-down levels scan interleaved, the level of the switch in
 *          blocks, so that the queue is sorted, and bottom-up levels filter the queue before. Without it
 * every level looks at every vertex. WB     vertices of under 32 edges go to a thread, up to 256 to a warp,
 * up to 65,536 to a block, others to the grid, by four kernels at a time. Without it each goes to a warp. HC
 * bottom-up, the hubs of the last level lie in shared memory by a hash of their number. gamma  the switch
 * comes with 30 % of all hubs in the frontier; without it, or without hubs, when the frontier has a
 * fourteenth of the edges that are left (Beamer, Asanovic, Patterson, SC 2012).
 *
 * Cost: a scan of the status array or the queue a level, and the edges that are looked at: 0.65 % top-down
 * and 4.8 % bottom-up on Kronecker graphs, by the paper.
 *
 * The status array is the array of levels. Threads that find the same vertex in one level write the same
 * level, and a parent each of which is right.
 */
#include "gpu/keys.cuh"
#include "gpu/search.cuh"

extern "C" {
#include "core/clock.h"
}

#define WARP 32u
#define FULL 0xffffffffu
#define UNREACHED 0xffffffffu
#define BLOCK 256u
#define CACHE 1024u /* hubs in shared memory */
#define ALPHA 14u

enum { BY_THREAD, BY_WARP, BY_BLOCK, BY_GRID, CLASSES };

/* A level, as its kernels see it. */
typedef struct view {
    sf_gpu_lists lists; /* out-lists top-down, in-lists bottom-up */
    uint32_t *status, *parents;
    uint32_t level; /* of what is found */
    bool up, balanced;
    const uint32_t *cache; /* or NULL: hubs of the last level, each at its hash */
} view;

/* Vertices to look at: a queue, or without one all of them. */
typedef struct vertices {
    const uint32_t *queue;
    uint32_t count;
} vertices;

/* What the host learns of a level. */
typedef struct measure {
    unsigned long long edges;
    uint32_t found, hubs;
    uint32_t starts[CLASSES + 1]; /* of the classes in the queue */
} measure;

struct sf_gpu_enterprise {
    sf_backend_device *device;
    const sf_backend_graph *graph;
    sf_bfs_direction direction;
    unsigned features;
    cudaStream_t streams[CLASSES];
    cudaEvent_t fork, join[CLASSES];
    uint32_t bins; /* threads of a scan */
    sf_gpu_array bin_items, bin_counts, bin_sums, queue[2], hubs, cache, measured;
    uint32_t hub_count;
    int current; /* the queue in use */
};

static __device__ uint64_t degree(sf_gpu_lists lists, uint32_t v)
{
    return lists.offsets[v + 1] - lists.offsets[v];
}

static __device__ uint32_t class_of(const view *w, uint32_t v)
{
    uint64_t edges = degree(w->lists, v);
    if (!w->balanced)
        return BY_WARP;
    return edges < 32 ? BY_THREAD : edges <= 256 ? BY_WARP : edges <= 65536 ? BY_BLOCK : BY_GRID;
}

/* Whether v has work in this level: it was found in the last one, or it is still to be found. */
static __device__ bool is_due(const view *w, uint32_t v)
{
    return w->up ? w->status[v] == UNREACHED && degree(w->lists, v) > 0 : w->status[v] == w->level - 1;
}

/* ---- searching a level ---- */

static __device__ uint32_t slot_of(uint32_t hub)
{
    return hub * 0x9e3779b1u >> 22; /* the upper 10 bits: CACHE slots */
}

/* All threads of the block. */
static __device__ void load_cache(uint32_t *cache, const view *w)
{
    if (w->cache == NULL)
        return;
    for (uint32_t i = threadIdx.x; i < CACHE; i += blockDim.x)
        cache[i] = w->cache[i];
    __syncthreads();
}

/* Looks along one edge; true where it ends the search of this vertex. */
static __device__ bool look(const view *w, const uint32_t *cache, uint32_t v, uint32_t neighbour)
{
    if (!w->up) {
        if (w->status[neighbour] == UNREACHED) {
            w->status[neighbour] = w->level;
            w->parents[neighbour] = v;
        }
        return false;
    }
    bool cached = w->cache != NULL && cache[slot_of(neighbour)] == neighbour;
    if (!cached && w->status[neighbour] != w->level - 1)
        return false;
    w->status[v] = w->level;
    w->parents[v] = neighbour;
    return true;
}

/* Vertex i of the list if it is for this class, else UNREACHED. */
static __device__ uint32_t pick(const view *w, vertices list, uint32_t i, uint32_t own_class)
{
    if (list.queue != NULL)
        return list.queue[i];
    return is_due(w, i) && class_of(w, i) == own_class ? i : UNREACHED;
}

static __global__ void by_thread(view w, vertices list)
{
    __shared__ uint32_t cache[CACHE];
    load_cache(cache, &w);
    for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < list.count;
         i += (uint64_t)gridDim.x * blockDim.x) {
        uint32_t v = pick(&w, list, (uint32_t)i, BY_THREAD);
        if (v == UNREACHED)
            continue;
        for (uint64_t e = w.lists.offsets[v], end = w.lists.offsets[v + 1]; e < end; e++)
            if (look(&w, cache, v, w.lists.targets[e]))
                break;
    }
}

static __global__ void by_warp(view w, vertices list)
{
    __shared__ uint32_t cache[CACHE];
    load_cache(cache, &w);
    uint32_t lane = threadIdx.x % WARP;
    for (uint64_t i = (blockIdx.x * (uint64_t)blockDim.x + threadIdx.x) / WARP; i < list.count;
         i += (uint64_t)gridDim.x * (blockDim.x / WARP)) {
        uint32_t v = pick(&w, list, (uint32_t)i, BY_WARP);
        v = __shfl_sync(FULL, v, 0); /* lanes may see a status that another warp is just writing */
        if (v == UNREACHED)
            continue;
        uint64_t end = w.lists.offsets[v + 1];
        bool done = false;
        for (uint64_t e = w.lists.offsets[v]; e < end && !done; e += WARP) {
            bool hit = e + lane < end && look(&w, cache, v, w.lists.targets[e + lane]);
            done = __any_sync(FULL, hit);
        }
    }
}

static __global__ void by_block(view w, vertices list)
{
    __shared__ uint32_t cache[CACHE];
    __shared__ uint32_t own;
    load_cache(cache, &w);
    for (uint64_t i = blockIdx.x; i < list.count; i += gridDim.x) {
        if (threadIdx.x == 0)
            own = pick(&w, list, (uint32_t)i, BY_BLOCK);
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

static __global__ void by_grid(view w, vertices list)
{
    __shared__ uint32_t cache[CACHE];
    load_cache(cache, &w);
    uint64_t thread = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    uint64_t threads = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t i = 0; i < list.count; i++) {
        uint32_t v = pick(&w, list, (uint32_t)i, BY_GRID);
        if (v == UNREACHED)
            continue;
        uint64_t end = w.lists.offsets[v + 1];
        for (uint64_t e = w.lists.offsets[v] + thread; e < end; e += threads)
            if (look(&w, cache, v, w.lists.targets[e]))
                break;
    }
}

/* ---- frontier queues ---- */

/* The k-th element that a thread scans: interleaved, neighbouring threads read neighbouring elements; in
 * blocks, each reads its own stretch, and the queue is in their order. */
static __device__ uint64_t element(uint32_t k, uint32_t thread, uint32_t bins, uint32_t share, bool in_blocks)
{
    return in_blocks ? (uint64_t)thread * share + k : (uint64_t)k * bins + thread;
}

/* Each thread puts the due vertices of its share into its bin and counts them by class. */
static __global__ void fill_bins(uint32_t *items, uint32_t *counts, measure *result, view w, vertices list,
                                 uint32_t bins, bool in_blocks)
{
    uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x, share = (list.count + bins - 1) / bins;
    uint32_t own[CLASSES] = {0, 0, 0, 0}, held = 0;
    unsigned long long edges = 0;
    if (thread >= bins)
        return;
    for (uint32_t k = 0; k < share; k++) {
        uint64_t i = element(k, thread, bins, share, in_blocks);
        if (i >= list.count)
            break;
        uint32_t v = list.queue != NULL ? list.queue[i] : (uint32_t)i;
        if (!is_due(&w, v))
            continue;
        items[(uint64_t)held++ * bins + thread] = v;
        edges += degree(w.lists, v);
        uint32_t its = class_of(&w, v);
        for (uint32_t c = 0; c < CLASSES; c++)
            own[c] += c == its;
    }
    for (uint32_t c = 0; c < CLASSES; c++)
        counts[c * bins + thread] = own[c];
    if (thread == 0)
        counts[CLASSES * bins] = 0;
    if (edges > 0)
        atomicAdd(&result->edges, edges);
}

static __global__ void join_bins(uint32_t *queue, measure *result, const uint32_t *items,
                                 const uint32_t *counts, const uint32_t *sums, view w, uint32_t bins)
{
    uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (thread <= CLASSES)
        result->starts[thread] = sums[thread * bins];
    if (thread >= bins)
        return;
    uint32_t places[CLASSES], held = 0;
    for (uint32_t c = 0; c < CLASSES; c++) {
        places[c] = sums[c * bins + thread];
        held += counts[c * bins + thread];
    }
    for (uint32_t k = 0; k < held; k++) {
        uint32_t v = items[(uint64_t)k * bins + thread], its = class_of(&w, v);
        for (uint32_t c = 0; c < CLASSES; c++)
            if (c == its)
                queue[places[c]++] = v;
    }
}

/* ---- counting ---- */

static __global__ void begin(uint32_t *status, uint32_t *parents, uint32_t count, uint32_t source)
{
    for (uint64_t v = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; v < count;
         v += (uint64_t)gridDim.x * blockDim.x) {
        status[v] = v == source ? 0 : UNREACHED;
        parents[v] = v == source ? source : UNREACHED;
    }
}

/* The vertices of the level, and their edges. */
static __global__ void count_found(measure *result, const uint32_t *status, sf_gpu_lists out, uint32_t count,
                                   uint32_t level)
{
    uint32_t found = 0;
    unsigned long long edges = 0;
    for (uint64_t v = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; v < count;
         v += (uint64_t)gridDim.x * blockDim.x) {
        if (status[v] != level)
            continue;
        found++;
        edges += degree(out, (uint32_t)v);
    }
    if (found > 0) {
        atomicAdd(&result->found, found);
        atomicAdd(&result->edges, edges);
    }
}

/* Counts the hubs of the level and writes them to their slots of the cache; of several in one, any. */
static __global__ void cache_hubs(measure *result, uint32_t *cache, const uint32_t *hubs, uint32_t count,
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

static __global__ void degree_keys(uint32_t *keys, uint32_t *ids, sf_gpu_lists out, uint32_t count)
{
    for (uint64_t v = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; v < count;
         v += (uint64_t)gridDim.x * blockDim.x) {
        keys[v] = ~(uint32_t)degree(out, (uint32_t)v);
        ids[v] = (uint32_t)v;
    }
}

/* Hubs have more edges than the vertex at place CACHE by falling degree: at most CACHE are there. */
static __global__ void count_hubs(uint32_t *result, const uint32_t *sorted, uint32_t count)
{
    uint32_t tau = count > CACHE ? sorted[CACHE] : FULL;
    *result = (uint32_t)sf_gpu_lower_bound(sorted, count, tau);
}

static int find_hubs(sf_gpu_enterprise *e, sf_error *error)
{
    sf_backend_device *device = e->device;
    uint32_t n = e->graph->vertex_count;
    sf_gpu_array keys = {}, ids = {}, sorted = {}, result = {};
    size_t bytes = (size_t)n * sizeof(uint32_t);
    int status = sf_gpu_array_open(device, &result, sizeof(uint32_t), error);
    sf_gpu_array *arrays[] = {&keys, &ids, &sorted, &e->hubs};
    for (size_t i = 0; i < 4 && status == SF_OK; i++)
        status = sf_gpu_array_open(device, arrays[i], bytes, error);
    if (status == SF_OK) {
        degree_keys<<<device->properties.multiProcessorCount * 8, BLOCK, 0, device->work>>>(
            (uint32_t *)keys.data, (uint32_t *)ids.data, e->graph->out, n);
        status = sf_gpu_check(cudaGetLastError(), "degree_keys", error);
    }
    if (status == SF_OK)
        status = sf_gpu_sort_pairs(device, (uint32_t *)sorted.data, (const uint32_t *)keys.data,
                                   (uint32_t *)e->hubs.data, (const uint32_t *)ids.data, n, error);
    if (status == SF_OK) {
        count_hubs<<<1, 1, 0, device->work>>>((uint32_t *)result.data, (const uint32_t *)sorted.data, n);
        status = sf_gpu_check(cudaGetLastError(), "count_hubs", error);
    }
    if (status == SF_OK)
        status = sf_gpu_download(device, &e->hub_count, result.data, sizeof e->hub_count, error);
    sf_gpu_array *scratch[] = {&keys, &ids, &sorted, &result};
    for (sf_gpu_array *array : scratch)
        sf_gpu_array_close(device, array);
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

static unsigned blocks_for(const sf_gpu_enterprise *e, uint64_t threads)
{
    uint64_t blocks = (threads + BLOCK - 1) / BLOCK;
    uint64_t most = (uint64_t)e->device->properties.multiProcessorCount * 64;
    return (unsigned)(blocks < 1 ? 1 : blocks < most ? blocks : most);
}

static void launch_class(const sf_gpu_enterprise *e, int c, const view *w, vertices list)
{
    cudaStream_t stream = e->streams[c];
    if (c == BY_THREAD)
        by_thread<<<blocks_for(e, list.count), BLOCK, 0, stream>>>(*w, list);
    else if (c == BY_WARP)
        by_warp<<<blocks_for(e, (uint64_t)list.count * WARP), BLOCK, 0, stream>>>(*w, list);
    else if (c == BY_BLOCK)
        by_block<<<blocks_for(e, (uint64_t)list.count * BLOCK), BLOCK, 0, stream>>>(*w, list);
    else
        by_grid<<<e->device->properties.multiProcessorCount * 4, BLOCK, 0, stream>>>(*w, list);
}

/* The kernels of the level, side by side. */
static int search_level(sf_gpu_enterprise *e, const view *w, const measure *m, sf_error *error)
{
    const uint32_t *queue = (const uint32_t *)e->queue[e->current].data;
    bool queued = (e->features & SF_BFS_TS) != 0;
    SF_GPU_TRY(cudaEventRecord(e->fork, e->device->work));
    for (int c = 0; c < CLASSES; c++) {
        vertices list = {NULL, c == BY_WARP || w->balanced ? e->graph->vertex_count : 0};
        if (queued)
            list = vertices{queue + m->starts[c], m->starts[c + 1] - m->starts[c]};
        if (list.count == 0)
            continue;
        SF_GPU_TRY(cudaStreamWaitEvent(e->streams[c], e->fork, 0));
        launch_class(e, c, w, list);
        SF_GPU_LAUNCHED();
        SF_GPU_TRY(cudaEventRecord(e->join[c], e->streams[c]));
        SF_GPU_TRY(cudaStreamWaitEvent(e->device->work, e->join[c], 0));
    }
    return SF_OK;
}

/* The queue of the vertices that are due in the level `w`; `from` has them among others. */
static int make_queue(sf_gpu_enterprise *e, const view *w, vertices from, bool in_blocks, sf_error *error)
{
    sf_backend_device *device = e->device;
    uint32_t blocks = (e->bins + BLOCK - 1) / BLOCK, *counts = (uint32_t *)e->bin_counts.data;
    uint32_t *items = (uint32_t *)e->bin_items.data, *sums = (uint32_t *)e->bin_sums.data;
    measure *result = (measure *)e->measured.data;
    fill_bins<<<blocks, BLOCK, 0, device->work>>>(items, counts, result, *w, from, e->bins, in_blocks);
    SF_GPU_LAUNCHED();
    int status = sf_gpu_sum(device, sums, counts, CLASSES * e->bins + 1, error);
    if (status != SF_OK)
        return status;
    join_bins<<<blocks, BLOCK, 0, device->work>>>((uint32_t *)e->queue[e->current ^ 1].data, result, items,
                                                  counts, sums, *w, e->bins);
    SF_GPU_LAUNCHED();
    e->current ^= 1;
    return SF_OK;
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
        count_found<<<blocks_for(e, n), BLOCK, 0, device->work>>>(result, w->status, e->graph->out, n,
                                                                  w->level - 1);
        SF_GPU_LAUNCHED();
    } else if (w->up) {
        const uint32_t *queue = (const uint32_t *)e->queue[e->current].data;
        status = make_queue(e, w, vertices{queue, before}, true, error);
    } else {
        status = make_queue(e, w, vertices{NULL, n}, false, error);
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
        return m->hubs * 10 > e->hub_count * 3;
    return m->edges > edges_left / ALPHA;
}

/* The level turns bottom-up: its queue is all that is unvisited. */
static int turn_up(sf_gpu_enterprise *e, const view *w, measure *m, sf_error *error)
{
    if ((e->features & SF_BFS_TS) == 0)
        return SF_OK;
    int status = make_queue(e, w, vertices{NULL, e->graph->vertex_count}, true, error);
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
                          sf_gpu_level *log, sf_gpu_summary *summary, sf_error *error)
{
    uint64_t left = e->graph->edge_count;
    bool up = false;
    *summary = sf_gpu_summary{};
    summary->begin = (unsigned long long)(sf_clock_seconds() * 1e9);
    begin<<<blocks_for(e, e->graph->vertex_count), BLOCK, 0, e->device->work>>>(
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
        record(log, summary, level - 1, m.found, up);
        if (!up && choose_up(e, &m, left)) {
            up = true;
            w = view_of(e, levels, parents, level, up);
            status = turn_up(e, &w, &m, error);
        }
        left -= up || m.edges > left ? 0 : m.edges;
        before = m.starts[CLASSES];
        if (status == SF_OK)
            status = search_level(e, &w, &m, error);
        if (status != SF_OK)
            return status;
    }
}
