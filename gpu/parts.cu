/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Breadth-first search on several devices by 1-D partition: each holds the lists of as many vertices, and the
 * bitmap of all. In a level each looks along the edges of its own vertices, top-down from those of the
 * frontier, bottom-up from the unvisited, and marks what it finds in a bitmap, bottom-up by one ballot for 32
 * vertices. These bitmaps are exchanged, and every device joins them to the next frontier; a parent stays
 * with whoever found the vertex until the end. This is for graphs that one device does not hold: on smaller
 * ones the exchange costs more than the others save.
 */
#include "gpu/search.cuh"

extern "C" {
#include "core/clock.h"
}

#define WARP 32u
#define FULL 0xffffffffu
#define NONE 0xffffffffu
#define BLOCK 256u

typedef struct totals {
    unsigned long long found, edges; /* of the vertices of this part: all that this level found, and theirs */
} totals;

/* A part as its kernels see it. */
typedef struct view {
    uint32_t vertex_count, first, last; /* of the whole graph; the vertices of this part: first in a word */
    uint32_t words;                     /* of a bitmap */
    sf_gpu_lists out, in;               /* by vertex less `first` */
    uint32_t *visited, *frontier, *found;
    uint32_t *levels;  /* by vertex less `first` */
    uint32_t *parents; /* of all vertices, where this part found them */
    totals *sums;
} view;

struct sf_backend_part {
    sf_backend_device *device;
    view view;
    sf_gpu_array lists[4], visited, frontier, found, levels, parents, sums;
    sf_gpu_array
        others; /* a bitmap, or the parents of this part's vertices, on their way from another part */
    cudaEvent_t ready;
};

#define FOR_EACH(i, count)                                                                                   \
    for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < (count);                          \
         i += (uint64_t)gridDim.x * blockDim.x)

static __device__ bool has(const uint32_t *bitmap, uint32_t v)
{
    return bitmap[v / WARP] >> v % WARP & 1;
}

static __global__ void begin(view w, uint32_t source)
{
    FOR_EACH(i, w.words)
    {
        w.visited[i] = w.frontier[i] = i == source / WARP ? 1u << source % WARP : 0;
        w.found[i] = 0;
    }
    FOR_EACH(v, w.vertex_count)
    w.parents[v] = v == source ? source : NONE;
    FOR_EACH(v, w.last - w.first)
    w.levels[v] = v + w.first == source ? 0 : NONE;
}

/* A warp a vertex of the frontier. */
static __global__ void search_down(view w)
{
    uint32_t lane = threadIdx.x % WARP, warps = gridDim.x * (BLOCK / WARP);
    for (uint32_t own = (blockIdx.x * BLOCK + threadIdx.x) / WARP; own < w.last - w.first; own += warps) {
        uint32_t v = w.first + own;
        if (!has(w.frontier, v))
            continue;
        for (uint64_t e = w.out.offsets[own] + lane, end = w.out.offsets[own + 1]; e < end; e += WARP) {
            uint32_t neighbour = w.out.targets[e], bit = 1u << neighbour % WARP;
            if (has(w.visited, neighbour) || has(w.found, neighbour))
                continue;
            if ((atomicOr(&w.found[neighbour / WARP], bit) & bit) == 0)
                w.parents[neighbour] = v;
        }
    }
}

/* A warp 32 vertices, which are a word of the bitmap. */
static __global__ void search_up(view w)
{
    uint32_t lane = threadIdx.x % WARP, warps = gridDim.x * (BLOCK / WARP), count = w.last - w.first;
    uint32_t words = (count + WARP - 1) / WARP;
    for (uint32_t word = (blockIdx.x * BLOCK + threadIdx.x) / WARP; word < words; word += warps) {
        uint32_t own = word * WARP + lane, v = w.first + own, parent = NONE;
        if (own < count && !has(w.visited, v))
            for (uint64_t e = w.in.offsets[own], end = w.in.offsets[own + 1]; e < end && parent == NONE; e++)
                parent = has(w.frontier, w.in.targets[e]) ? w.in.targets[e] : NONE;
        if (parent != NONE)
            w.parents[v] = parent;
        uint32_t found = __ballot_sync(FULL, parent != NONE);
        if (lane == 0)
            w.found[v / WARP] = found;
    }
}

static __global__ void join(uint32_t *found, const uint32_t *other, uint32_t words)
{
    FOR_EACH(i, words)
    found[i] |= other[i];
}

/* What all have found becomes the frontier; the part's own vertices get their level. */
static __global__ void advance(view w, uint32_t level)
{
    uint32_t lane = threadIdx.x % WARP;
    unsigned long long found = 0, edges = 0;
    uint64_t threads = (uint64_t)((w.words + WARP - 1) / WARP) * WARP * WARP;
    FOR_EACH(i, threads)
    { /* a warp a word */
        uint32_t word = (uint32_t)(i / WARP);
        if (word >= w.words)
            continue;
        uint32_t fresh = w.found[word] & ~w.visited[word], v = word * WARP + lane;
        __syncwarp();
        if (lane == 0) {
            w.frontier[word] = fresh;
            w.visited[word] |= fresh;
            w.found[word] = 0;
        }
        if ((fresh >> lane & 1) == 0 || v < w.first || v >= w.last)
            continue;
        w.levels[v - w.first] = level;
        found++;
        edges += w.out.offsets[v - w.first + 1] - w.out.offsets[v - w.first];
    }
    if (found > 0) {
        atomicAdd(&w.sums->found, found);
        atomicAdd(&w.sums->edges, edges);
    }
}

static __global__ void join_parents(uint32_t *parents, const uint32_t *other, uint32_t count)
{
    FOR_EACH(i, count)
    parents[i] = min(parents[i], other[i]);
}

/* ---- a part ---- */

void sf_gpu_part_close(sf_backend_part *part)
{
    if (part == NULL)
        return;
    cudaSetDevice(part->device->ordinal);
    cudaStreamSynchronize(part->device->work);
    sf_gpu_array *arrays[] = {&part->lists[0], &part->lists[1], &part->lists[2], &part->lists[3],
                              &part->visited,  &part->frontier, &part->found,    &part->levels,
                              &part->parents,  &part->sums,     &part->others};
    for (sf_gpu_array *array : arrays)
        sf_gpu_array_close(part->device, array);
    if (part->ready != NULL)
        cudaEventDestroy(part->ready);
    sf_free(part);
}

static int open_bitmaps(sf_backend_part *part, sf_error *error)
{
    view *w = &part->view;
    size_t n = w->vertex_count, own = w->last - w->first;
    size_t bitmap = w->words * sizeof(uint32_t);
    struct {
        sf_gpu_array *array;
        size_t bytes;
    } wanted[] = {{&part->visited, bitmap},
                  {&part->frontier, bitmap},
                  {&part->found, bitmap},
                  {&part->levels, own * sizeof(uint32_t)},
                  {&part->parents, n * sizeof(uint32_t)},
                  {&part->sums, sizeof(totals)},
                  {&part->others, bitmap > own * sizeof(uint32_t) ? bitmap : own * sizeof(uint32_t)}};
    for (auto &want : wanted) {
        int status = sf_gpu_array_open(part->device, want.array, want.bytes, error);
        if (status != SF_OK)
            return status;
    }
    w->visited = (uint32_t *)part->visited.data;
    w->frontier = (uint32_t *)part->frontier.data;
    w->found = (uint32_t *)part->found.data;
    w->levels = (uint32_t *)part->levels.data;
    w->parents = (uint32_t *)part->parents.data;
    w->sums = (totals *)part->sums.data;
    SF_GPU_TRY(cudaEventCreateWithFlags(&part->ready, cudaEventDisableTiming));
    return SF_OK;
}

int sf_gpu_part_open(sf_backend_part **opened, sf_backend_device *device, const sf_backend_arrays *arrays,
                     uint32_t first, uint32_t last, sf_error *error)
{
    *opened = NULL;
    if (first % WARP != 0)
        return sf_fail(error, SF_INTERNAL, NULL, "a part begins at vertex %u, expected a multiple of %u",
                       first, WARP);
    SF_GPU_TRY(cudaSetDevice(device->ordinal));
    sf_backend_part *part = (sf_backend_part *)sf_alloc(1, sizeof *part);
    if (part == NULL)
        return sf_fail_memory(error);
    part->device = device;
    part->view.vertex_count = arrays->vertex_count;
    part->view.first = first;
    part->view.last = last;
    part->view.words = (arrays->vertex_count + WARP - 1) / WARP;
    sf_backend_lists out = {arrays->out.offsets + first, arrays->out.targets};
    int status = sf_gpu_upload_lists(device, &part->view.out, part->lists, &out, last - first, error);
    part->view.in = part->view.out;
    if (status == SF_OK && arrays->directed) {
        sf_backend_lists in = {arrays->in.offsets + first, arrays->in.targets};
        status = sf_gpu_upload_lists(device, &part->view.in, part->lists + 2, &in, last - first, error);
    }
    if (status == SF_OK)
        status = open_bitmaps(part, error);
    if (status == SF_OK)
        *opened = part;
    else
        sf_gpu_part_close(part);
    return status;
}

/* ---- the search ---- */

static unsigned grid(const sf_backend_part *part)
{
    return (unsigned)part->device->properties.multiProcessorCount * 8;
}

/* Marks where this part's stream is; the other parts' streams wait for that before they go on. */
static int wait_for_all(sf_backend_part *const *parts, uint32_t count, sf_error *error)
{
    for (uint32_t i = 0; i < count; i++) {
        SF_GPU_TRY(cudaSetDevice(parts[i]->device->ordinal));
        SF_GPU_TRY(cudaEventRecord(parts[i]->ready, parts[i]->device->work));
    }
    for (uint32_t i = 0; i < count; i++) {
        SF_GPU_TRY(cudaSetDevice(parts[i]->device->ordinal));
        for (uint32_t j = 0; j < count; j++)
            SF_GPU_TRY(cudaStreamWaitEvent(parts[i]->device->work, parts[j]->ready, 0));
    }
    return SF_OK;
}

static int look_along_edges(sf_backend_part *const *parts, uint32_t count, bool up, sf_error *error)
{
    for (uint32_t i = 0; i < count; i++) {
        sf_backend_part *part = parts[i];
        SF_GPU_TRY(cudaSetDevice(part->device->ordinal));
        if (up)
            search_up<<<grid(part), BLOCK, 0, part->device->work>>>(part->view);
        else
            search_down<<<grid(part), BLOCK, 0, part->device->work>>>(part->view);
        SF_GPU_LAUNCHED();
    }
    return SF_OK;
}

/* Part i fetches from part j what lies at `from` there and is for i. */
static int fetch(sf_backend_part *part, const sf_backend_part *other, const void *from, size_t bytes,
                 sf_error *error)
{
    SF_GPU_TRY(cudaMemcpyPeerAsync(part->others.data, part->device->ordinal, from, other->device->ordinal,
                                   bytes, part->device->work));
    return SF_OK;
}

/* Every part joins the bitmaps of all. No part may join into its own before the others have fetched it: the
 * joined words go to the frontier's place, which is free until the level ends. */
static int exchange(sf_backend_part *const *parts, uint32_t count, sf_error *error)
{
    for (uint32_t i = 0; i < count; i++) {
        sf_backend_part *part = parts[i];
        size_t bytes = part->view.words * sizeof(uint32_t);
        SF_GPU_TRY(cudaSetDevice(part->device->ordinal));
        SF_GPU_TRY(cudaMemsetAsync(part->view.frontier, 0, bytes, part->device->work));
        for (uint32_t j = 0; j < count; j++) {
            int status = fetch(part, parts[j], parts[j]->view.found, bytes, error);
            if (status != SF_OK)
                return status;
            join<<<grid(part), BLOCK, 0, part->device->work>>>(
                part->view.frontier, (const uint32_t *)part->others.data, part->view.words);
            SF_GPU_LAUNCHED();
        }
    }
    return wait_for_all(parts, count, error);
}

static int finish_level(sf_backend_part *const *parts, uint32_t count, uint32_t level, totals *sums,
                        sf_error *error)
{
    for (uint32_t i = 0; i < count; i++) {
        sf_backend_part *part = parts[i];
        SF_GPU_TRY(cudaSetDevice(part->device->ordinal));
        SF_GPU_TRY(cudaMemsetAsync(part->view.sums, 0, sizeof(totals), part->device->work));
        SF_GPU_TRY(cudaMemcpyAsync(part->view.found, part->view.frontier, part->view.words * sizeof(uint32_t),
                                   cudaMemcpyDeviceToDevice, part->device->work));
        advance<<<grid(part), BLOCK, 0, part->device->work>>>(part->view, level);
        SF_GPU_LAUNCHED();
    }
    *sums = totals{};
    for (uint32_t i = 0; i < count; i++) {
        totals own;
        SF_GPU_TRY(cudaSetDevice(parts[i]->device->ordinal));
        int status = sf_gpu_download(parts[i]->device, &own, parts[i]->view.sums, sizeof own, error);
        if (status != SF_OK)
            return status;
        sums->found += own.found;
        sums->edges += own.edges;
    }
    return SF_OK;
}

/* Every part fetches the parents that others have found for its vertices. */
static int join_all_parents(sf_backend_part *const *parts, uint32_t count, sf_error *error)
{
    int status = wait_for_all(parts, count, error);
    for (uint32_t i = 0; i < count && status == SF_OK; i++) {
        sf_backend_part *part = parts[i];
        uint32_t first = part->view.first, own = part->view.last - first;
        SF_GPU_TRY(cudaSetDevice(part->device->ordinal));
        for (uint32_t j = 0; j < count && status == SF_OK; j++) {
            if (j == i)
                continue;
            status = fetch(part, parts[j], parts[j]->view.parents + first, own * sizeof(uint32_t), error);
            if (status != SF_OK)
                return status;
            join_parents<<<grid(part), BLOCK, 0, part->device->work>>>(
                part->view.parents + first, (const uint32_t *)part->others.data, own);
            SF_GPU_LAUNCHED();
        }
    }
    return status == SF_OK ? wait_for_all(parts, count, error) : status;
}

static int start(sf_backend_part *const *parts, uint32_t count, uint32_t source, unsigned long long *edges,
                 sf_error *error)
{
    for (uint32_t i = 0; i < count; i++) {
        sf_backend_part *part = parts[i];
        SF_GPU_TRY(cudaSetDevice(part->device->ordinal));
        begin<<<grid(part), BLOCK, 0, part->device->work>>>(part->view, source);
        SF_GPU_LAUNCHED();
        if (source < part->view.first || source >= part->view.last)
            continue;
        uint64_t ends[2];
        int status = sf_gpu_download(part->device, ends, part->view.out.offsets + (source - part->view.first),
                                     sizeof ends, error);
        if (status != SF_OK)
            return status;
        *edges = ends[1] - ends[0];
    }
    return SF_OK;
}

static void note(sf_backend_bfs_job *job, uint32_t level, uint64_t found, double seconds, bool up)
{
    if (level < job->log_room)
        job->log[level] = sf_backend_level{found, seconds, up};
}

static int search_levels(sf_backend_part *const *parts, uint32_t count, sf_bfs_direction direction,
                         sf_backend_bfs_job *job, sf_error *error)
{
    totals last = {1, 0};
    uint64_t left = parts[0]->view.vertex_count;
    double stamp = sf_clock_seconds();
    int status = start(parts, count, job->source, &last.edges, error);
    if (status == SF_OK)
        status = wait_for_all(parts, count, error);
    bool up = false;
    job->reached = job->edges = 0;
    for (uint32_t level = 1; status == SF_OK; level++) {
        double now = sf_clock_seconds();
        note(job, level - 1, last.found, now - stamp, up);
        stamp = now;
        job->reached += last.found;
        job->edges += last.edges;
        job->depth = level - 1;
        left -= last.found;
        up = direction == SF_BFS_AUTO ? last.edges > left : direction == SF_BFS_BOTTOM_UP;
        status = look_along_edges(parts, count, up, error);
        if (status == SF_OK)
            status = wait_for_all(parts, count, error);
        if (status == SF_OK)
            status = exchange(parts, count, error);
        if (status == SF_OK)
            status = finish_level(parts, count, level, &last, error);
        if (status == SF_OK && last.found == 0)
            break;
    }
    return status;
}

static int read_part(sf_backend_part *part, sf_backend_bfs_job *job, sf_error *error)
{
    uint32_t first = part->view.first;
    size_t bytes = (part->view.last - first) * sizeof(uint32_t);
    int status = SF_OK;
    SF_GPU_TRY(cudaSetDevice(part->device->ordinal));
    if (job->levels != NULL)
        status = sf_gpu_download(part->device, job->levels + first, part->view.levels, bytes, error);
    if (status == SF_OK && job->parents != NULL)
        status =
            sf_gpu_download(part->device, job->parents + first, part->view.parents + first, bytes, error);
    return status;
}

/* Lets each device read the memory of the others where they are joined; where not, copies go by the host. */
static int share_memory(sf_backend_part *const *parts, uint32_t count, sf_error *error)
{
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t j = 0; j < count; j++) {
            const sf_backend_device *own = parts[i]->device, *other = parts[j]->device;
            int joined = 0;
            if (own->ordinal != other->ordinal)
                SF_GPU_TRY(cudaDeviceCanAccessPeer(&joined, other->ordinal, own->ordinal));
            cudaMemAccessDesc access = {};
            access.location.type = cudaMemLocationTypeDevice;
            access.location.id = other->ordinal;
            access.flags = cudaMemAccessFlagsProtReadWrite;
            if (joined)
                SF_GPU_TRY(cudaMemPoolSetAccess(own->pool, &access, 1));
        }
    }
    return SF_OK;
}

int sf_gpu_run_parts(sf_backend_part *const *parts, uint32_t count, sf_bfs_direction direction,
                     sf_backend_bfs_job *job, sf_error *error)
{
    int status = share_memory(parts, count, error);
    double begun = sf_clock_seconds();
    if (status == SF_OK)
        status = search_levels(parts, count, direction, job, error);
    if (status == SF_OK)
        status = join_all_parents(parts, count, error);
    for (uint32_t i = 0; i < count && status == SF_OK; i++) {
        SF_GPU_TRY(cudaSetDevice(parts[i]->device->ordinal));
        SF_GPU_TRY(cudaStreamSynchronize(parts[i]->device->work));
    }
    job->seconds = sf_clock_seconds() - begun;
    for (uint32_t i = 0; i < count && status == SF_OK; i++)
        status = read_part(parts[i], job, error);
    return status;
}
