/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mining by the interval engine, level by level, on the device, with the lists of occurrences.cuh.
 *
 *   bound    with many units, where a warp's share of shared memory allows few warps: how many spikes of
 *            each unit the windows hold, which the count does not exceed. It needs 4 bytes a unit and no
 *            order, and leaves to `extend` those (episode, delay, tile) in which a unit may be frequent;
 *            where these units are few it lists them, too
 *   merge    a warp for each of them merges the episode's list with its spikes: a walk by one warp would
 *            take as long as the longest list, whatever else there is to do
 *   extend   a warp for each (episode, delay, tile of units) counts all extensions. It walks the windows of
 *            the episode's list, with a restart and a count for each unit in shared memory; or, from size 3
 *            on, where few units may follow and windows hold many spikes, merges the list with the spikes
 *            of each of these units. What is frequent is appended where there is room, in whatever order
 *            warps finish. What `merge` has counted it only takes over
 *   collect  puts a level in order: a prefix sum over the warps' numbers gives each its place
 *   build    makes the lists of the new level (occurrences.cu)
 *
 * Nothing but frequent episodes comes back. The host learns two numbers a level, how many episodes and how
 * many list entries it has, because memory is taken as needed and bounded.
 *
 * The floor is the walk of the pairs: spikes x spikes within a delay, 2 bytes each from the L2 cache.
 */
#include "gpu/mine/bound.cuh"

extern "C" {
#include "core/clock.h"
#include "core/progress.h"
}

#include <string.h>

namespace
{

/* Where one warp put its frequent episodes. */
typedef struct place {
    uint32_t begin, count;
} place;

typedef struct mining {
    sf_backend_stream *stream;
    sf_backend_device *device;
    const sf_backend_mine *job;
    job_view view;
    sf_gpu_array reaches, forbidden, counters, found, places, jobs, open, held;
    sf_gpu_array pairs, pair_first; /* pairs: once their level is closed */
    uint32_t found_capacity;
    sf_gpu_episode_lists before, after;
    uint32_t host_count, host_size; /* of the level on its way to the caller; size 0: none is */
    double host_seconds, stamp;
    uint64_t total;
} mining;

/* ---- kernels ---- */

/* Appends what is frequent in a warp's tile; returns where. */
__device__ place keep_frequent(const job_view *v, const sf_gpu_cell *cells, sf_found *found,
                               uint32_t capacity, counters *shared, uint32_t last, uint32_t parent,
                               uint32_t first_step, uint32_t tile_begin, uint32_t tile_end, uint32_t lane)
{
    uint32_t units = tile_end - tile_begin, rounded = (units + WARP - 1) / WARP * WARP, count = 0;
    for (uint32_t u = lane; u < rounded; u += WARP) {
        bool keep = u < units && cells[u].y >= v->least && may_follow(v, last, tile_begin + u);
        count += __popc(__ballot_sync(FULL, keep));
    }
    unsigned long long begin = 0;
    if (count > 0 && lane == 0) begin = atomicAdd(&shared->found, (unsigned long long)count);
    begin = __shfl_sync(FULL, begin, 0);
    place own = {(uint32_t)begin, count};
    if (count == 0 || begin + count > capacity) return own;
    for (uint32_t u = lane; u < rounded; u += WARP) {
        bool keep = u < units && cells[u].y >= v->least && may_follow(v, last, tile_begin + u);
        uint32_t mask = __ballot_sync(FULL, keep);
        if (keep)
            found[begin + __popc(mask & ((1u << lane) - 1))] = sf_found{parent, first_step + u, cells[u].y};
        begin += __popc(mask);
    }
    return own;
}

/* The counts of a tile's units by merging. */
__device__ void merge_list(const job_view *v, sf_gpu_cell *cells, job j, following own, uint32_t lane)
{
    for (uint32_t u = lane; u < j.tile_end - j.tile_begin; u += WARP)
        cells[u] = make_uint2(0, 0);
    __syncwarp();
    for (uint32_t p = own.first; p < own.last; p++) {
        uint32_t unit = v->pairs[p].step % v->unit_count, count = merge_unit(v, j, unit, lane);
        if (lane == 0) cells[unit - j.tile_begin].y = count;
    }
    __syncwarp();
}

/* The counts of those units that `merge` has counted; the others are not frequent. */
__device__ void take_counts(sf_gpu_cell *cells, job j, const held_unit *held, uint32_t count, uint32_t lane)
{
    for (uint32_t u = lane; u < j.tile_end - j.tile_begin; u += WARP)
        cells[u] = make_uint2(0, 0);
    __syncwarp();
    for (uint32_t i = lane; i < count; i += WARP)
        cells[held[i].unit - j.tile_begin].y = held[i].count;
    __syncwarp();
}

/* A number of its own for each warp that asks. */
__device__ uint32_t next_job(uint32_t *ticket, uint32_t lane)
{
    uint32_t number = lane == 0 ? atomicAdd(ticket, 1u) : 0;
    return __shfl_sync(FULL, number, 0);
}

__global__ void extend(job_view v, sf_gpu_level_view from, left_view left, sf_found *found, uint32_t capacity,
                       place *places, counters *shared)
{
    extern __shared__ sf_gpu_cell all_cells[];
    uint32_t lane = threadIdx.x % WARP, next;
    sf_gpu_cell *cells = all_cells + threadIdx.x / WARP * v.tiling.tile_units;
    uint32_t jobs = left.open != NULL ? shared->open : from.count * v.delay_count * v.tiling.tiles;
    while ((next = next_job(&shared->ticket, lane)) < jobs) {
        open_job one = left.open != NULL ? left.open[next] : open_job{next, 0, NOT_LISTED};
        job j = job_of(&v, from, one.number);
        uint32_t last = last_unit(&v, from, j.parent);
        following own;
        if (one.held != NOT_LISTED)
            take_counts(cells, j, left.held + one.first_held, one.held, lane);
        else if (merges(&v, j, last, &own, lane))
            merge_list(&v, cells, j, own, lane);
        else
            sf_gpu_extend_list(cells, sf_gpu_image{v.owner, NULL}, j.reaches, j.list, j.length, j.tile_begin,
                               j.tile_end, lane);
        place kept = keep_frequent(&v, cells, found, capacity, shared, last, j.parent,
                                   j.delay * v.unit_count + j.tile_begin, j.tile_begin, j.tile_end, lane);
        if (lane == 0) places[one.number] = kept;
        __syncwarp();
    }
}

__global__ void job_lengths(uint32_t *lengths, const place *places, uint32_t jobs)
{
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i <= jobs; i += gridDim.x * blockDim.x)
        lengths[i] = i < jobs ? places[i].count : 0;
}

/* Puts the frequent episodes in the order of their jobs. */
__global__ void collect(sf_found *nodes, job_view v, const sf_found *found, uint32_t count,
                        uint32_t first_parent, const place *places, const uint64_t *offsets)
{
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        sf_found node = found[i];
        uint32_t delay = node.step / v.unit_count, tile = node.step % v.unit_count / v.tiling.tile_units;
        uint32_t job = ((node.parent - first_parent) * v.delay_count + delay) * v.tiling.tiles + tile;
        nodes[offsets[job] + (i - places[job].begin)] = node;
    }
}

/* Where the pairs of each unit and delay begin; they are in order. */
__global__ void index_pairs(uint32_t *pair_first, const sf_found *pairs, uint32_t count, uint32_t unit_count,
                            uint32_t delay_count)
{
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i <= unit_count * delay_count;
         i += gridDim.x * blockDim.x) {
        uint32_t low = 0, high = count;
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            if (pairs[middle].parent * delay_count + pairs[middle].step / unit_count < i)
                low = middle + 1;
            else
                high = middle;
        }
        pair_first[i] = low;
    }
}

} // namespace

/* ---- steps ---- */

static void release_all(mining *m)
{
    sf_gpu_array *arrays[] = {&m->reaches, &m->forbidden, &m->counters, &m->found, &m->places,
                              &m->jobs,    &m->open,      &m->held,     &m->pairs, &m->pair_first};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sf_gpu_array_close(m->device, arrays[i]);
    sf_gpu_level_close(m->device, &m->before);
    sf_gpu_level_close(m->device, &m->after);
    cudaStreamSynchronize(m->device->work); /* a copy to the host may be on its way */
}

static int reserve(mining *m, sf_gpu_array *array, size_t bytes, sf_error *error)
{
    return sf_gpu_array_reserve(m->device, array, bytes, error);
}

static int grid(const mining *m)
{
    return m->device->properties.multiProcessorCount * 8;
}

static int upload_rules(mining *m, sf_error *error)
{
    const sf_backend_mine *job = m->job;
    job_view *v = &m->view;
    if (job->forbidden == NULL) return SF_OK;
    size_t bytes = (size_t)v->unit_count * ((v->unit_count + 31) / 32) * sizeof *job->forbidden;
    int status = sf_gpu_array_send(m->device, &m->forbidden, job->forbidden, bytes, error);
    v->forbidden = (const uint32_t *)m->forbidden.data;
    return status;
}

static int prepare(mining *m, sf_error *error)
{
    sf_backend_stream *s = m->stream;
    const sf_backend_mine *job = m->job;
    m->view = (job_view){.unit_count = s->unit_count,
                         .spike_count = s->count,
                         .delay_count = job->delay_count,
                         .tiling = sf_gpu_tile(s->unit_count),
                         .owner = s->owner,
                         .least = job->least,
                         .self = job->self,
                         .unit_first = s->first,
                         .unit_ends = s->ends};
    int status = upload_rules(m, error);
    if (status == SF_OK) status = sf_gpu_find_reaches(&m->reaches, s, job->delays, job->delay_count, error);
    if (status == SF_OK) status = sf_gpu_list_units(&m->before, s, job->first_unit, job->last_unit, error);
    if (status == SF_OK) status = reserve(m, &m->counters, sizeof(counters), error);
    m->view.reaches = (const uint2 *)m->reaches.data;
    return status;
}

/* Where it pays; left->open stays NULL elsewhere. */
static int launch_bound(mining *m, uint32_t jobs, left_view *left, sf_error *error)
{
    sf_gpu_tiling tiling = m->view.tiling;
    if (tiling.tile_units < LEAST_BOUND_UNITS) return SF_OK;
    tiling.warps = BOUND_WARPS;
    tiling.bytes = (tiling.tile_units + 1) * sizeof(uint32_t);
    uint32_t blocks, room = jobs < MOST_HELD / HELD_A_JOB ? jobs * HELD_A_JOB : MOST_HELD;
    int status = reserve(m, &m->open, jobs * sizeof(open_job), error);
    if (status == SF_OK) status = reserve(m, &m->held, room * sizeof(held_unit), error);
    if (status == SF_OK) status = sf_gpu_fill(&blocks, m->device, (const void *)bound, &tiling, error);
    if (status != SF_OK) return status;
    SF_GPU_TRY(cudaMemsetAsync(m->places.data, 0, jobs * sizeof(place), m->device->work));
    *left = left_view{(open_job *)m->open.data, (held_unit *)m->held.data, room};
    sf_gpu_level_view from = sf_gpu_view_level(m->stream, &m->before);
    bound<<<blocks, tiling.warps * WARP, tiling.bytes, m->device->work>>>(m->view, from, *left,
                                                                          (counters *)m->counters.data);
    SF_GPU_LAUNCHED();
    merge<<<grid(m), 256, 0, m->device->work>>>(m->view, from, left->held,
                                                (const counters *)m->counters.data);
    SF_GPU_LAUNCHED();
    return SF_OK;
}

static int launch_extend(mining *m, uint32_t jobs, sf_error *error)
{
    const sf_gpu_tiling *tiling = &m->view.tiling;
    left_view left = {};
    uint32_t blocks;
    SF_GPU_TRY(cudaMemsetAsync(m->counters.data, 0, sizeof(counters), m->device->work));
    int status = launch_bound(m, jobs, &left, error);
    if (status == SF_OK) status = sf_gpu_fill(&blocks, m->device, (const void *)extend, tiling, error);
    if (status != SF_OK) return status;
    extend<<<blocks, tiling->warps * WARP, tiling->bytes, m->device->work>>>(
        m->view, sf_gpu_view_level(m->stream, &m->before), left, (sf_found *)m->found.data, m->found_capacity,
        (place *)m->places.data, (counters *)m->counters.data);
    SF_GPU_LAUNCHED();
    return SF_OK;
}

/* Hands the level that was copied to the host over; the device works on the next one meanwhile. */
static int deliver(mining *m, sf_error *error)
{
    if (m->host_size == 0) return SF_OK;
    uint32_t size = m->host_size;
    m->host_size = 0;
    if (m->host_count > 0) SF_GPU_TRY(cudaEventSynchronize(m->device->landed));
    return m->job->take(m->job->user, size, (const sf_found *)m->device->landing, m->host_count,
                        m->host_seconds);
}

/* Counts all extensions of the level before. A level that has no room is counted again with enough. */
static int count_extensions(mining *m, uint64_t *found, sf_error *error)
{
    uint64_t jobs = (uint64_t)m->before.count * m->view.delay_count * m->view.tiling.tiles;
    if (jobs > INT32_MAX)
        return sf_fail(error, SF_UNAVAILABLE, NULL, "a level of %u episodes is more than the device extends",
                       m->before.count);
    int status = reserve(m, &m->places, jobs * sizeof(place), error);
    for (uint64_t room = m->found_capacity > 0 ? m->found_capacity : 1u << 16; status == SF_OK;
         room = *found) {
        m->found_capacity = (uint32_t)room;
        status = reserve(m, &m->found, room * sizeof(sf_found), error);
        if (status == SF_OK) status = launch_extend(m, (uint32_t)jobs, error);
        if (status == SF_OK) status = deliver(m, error);
        counters read;
        if (status == SF_OK) status = sf_gpu_download(m->device, &read, m->counters.data, sizeof read, error);
        if (status != SF_OK) break;
        *found = read.found;
        if (*found <= room) return SF_OK;
        if (*found > m->job->most)
            return sf_fail(error, SF_DATA, NULL, "more than %llu episodes are frequent",
                           (unsigned long long)m->job->most);
        if (*found > INT32_MAX)
            return sf_fail(error, SF_UNAVAILABLE, NULL,
                           "%llu episodes of a size are more than the device keeps",
                           (unsigned long long)*found);
    }
    return status;
}

static int order_level(mining *m, uint32_t count, sf_error *error)
{
    uint32_t jobs = m->before.count * m->view.delay_count * m->view.tiling.tiles;
    sf_gpu_array offsets = {};
    int status = reserve(m, &m->jobs, ((size_t)jobs + 1) * sizeof(uint32_t), error);
    if (status == SF_OK) status = reserve(m, &offsets, ((size_t)jobs + 1) * sizeof(uint64_t), error);
    if (status == SF_OK) status = reserve(m, &m->after.nodes, (size_t)count * sizeof(sf_found), error);
    if (status == SF_OK) status = sf_gpu_landing(m->device, (size_t)count * sizeof(sf_found), error);
    if (status == SF_OK) {
        job_lengths<<<grid(m), 256, 0, m->device->work>>>((uint32_t *)m->jobs.data,
                                                          (const place *)m->places.data, jobs);
        status =
            sf_gpu_sum_up(m->device, (uint64_t *)offsets.data, (const uint32_t *)m->jobs.data, jobs, error);
    }
    if (status == SF_OK) {
        collect<<<grid(m), 256, 0, m->device->work>>>(
            (sf_found *)m->after.nodes.data, m->view, (const sf_found *)m->found.data, count, m->before.first,
            (const place *)m->places.data, (const uint64_t *)offsets.data);
        status = sf_gpu_check(cudaGetLastError(), "collect(", error);
    }
    sf_gpu_array_close(m->device, &offsets);
    if (status != SF_OK) return status;
    SF_GPU_TRY(cudaMemcpyAsync(m->device->landing, m->after.nodes.data, (size_t)count * sizeof(sf_found),
                               cudaMemcpyDeviceToHost, m->device->work));
    SF_GPU_TRY(cudaEventRecord(m->device->landed, m->device->work));
    return SF_OK;
}

/* From size 3 on only what follows a unit in a frequent pair can follow it. */
static int index_all_pairs(mining *m, const sf_gpu_array *pairs, uint32_t count, sf_error *error)
{
    job_view *v = &m->view;
    size_t places = (size_t)v->unit_count * v->delay_count + 1;
    int status = reserve(m, &m->pair_first, places * sizeof(uint32_t), error);
    if (status != SF_OK) return status;
    v->pairs = (const sf_found *)pairs->data;
    v->pair_first = (const uint32_t *)m->pair_first.data;
    index_pairs<<<grid(m), 256, 0, m->device->work>>>((uint32_t *)m->pair_first.data, v->pairs, count,
                                                      v->unit_count, v->delay_count);
    SF_GPU_LAUNCHED();
    return SF_OK;
}

/* Pairs that were found; those that begin with units of other shares are not known. */
static int keep_pairs(mining *m, sf_error *error)
{
    bool are_all = m->job->first_unit == 0 && m->job->last_unit == m->view.unit_count;
    return are_all ? index_all_pairs(m, &m->after.nodes, m->after.count, error) : SF_OK;
}

/* The level after becomes the one before, of which the pairs are needed on. */
static void go_up(mining *m)
{
    if (m->before.size == 2 && m->job->pairs == NULL) {
        m->pairs = m->before.nodes;
        m->before.nodes = (sf_gpu_array){};
    }
    sf_gpu_level_close(m->device, &m->before);
    m->before = m->after;
    m->after = (sf_gpu_episode_lists){};
}

/* The first pair from there on that begins with this unit or a later one. */
static size_t first_pair(const sf_backend_mine *job, uint32_t unit)
{
    size_t low = 0, high = job->pair_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (job->pairs[middle].parent < unit)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Pairs that are known: those of this share are the first level. */
static int take_pairs(mining *m, sf_error *error)
{
    const sf_backend_mine *job = m->job;
    size_t first = first_pair(job, job->first_unit), own = first_pair(job, job->last_unit) - first;
    if (job->pair_count > INT32_MAX)
        return sf_fail(error, SF_UNAVAILABLE, NULL, "%zu pairs are more than the device keeps",
                       job->pair_count);
    m->after = (sf_gpu_episode_lists){.size = 2, .count = (uint32_t)own};
    m->total = own;
    int status =
        sf_gpu_array_send(m->device, &m->pairs, job->pairs, job->pair_count * sizeof *job->pairs, error);
    if (status == SF_OK) status = index_all_pairs(m, &m->pairs, (uint32_t)job->pair_count, error);
    if (status == SF_OK)
        status = sf_gpu_array_send(m->device, &m->after.nodes, job->pairs + first, own * sizeof *job->pairs,
                                   error);
    if (status == SF_OK)
        status = sf_gpu_list_level(&m->after, &m->before, m->stream, m->view.reaches, false, error);
    if (status == SF_OK) go_up(m);
    return status;
}

/* One level: *more says whether another may follow. */
static int grow(mining *m, bool *more, sf_error *error)
{
    uint32_t size = m->before.size + 1;
    uint64_t found = 0;
    double begin = sf_clock_seconds();
    int status = count_extensions(m, &found, error);
    if (status != SF_OK) return status;
    m->after = (sf_gpu_episode_lists){.size = size, .count = (uint32_t)found};
    m->total += found;
    *more = found > 0 && size < m->job->max_size && m->total <= m->job->most;
    if (found > 0) status = order_level(m, (uint32_t)found, error);
    if (status == SF_OK && *more)
        status = sf_gpu_list_level(&m->after, &m->before, m->stream, m->view.reaches, false, error);
    if (status == SF_OK && *more && size == 2) status = keep_pairs(m, error);
    if (status != SF_OK) return status;
    go_up(m);
    m->host_size = size;
    m->host_count = (uint32_t)found;
    m->host_seconds = sf_clock_seconds() - begin;
    return SF_OK;
}

static int mine_levels(mining *m, sf_error *error)
{
    if (m->stream->count == 0 || m->job->first_unit >= m->job->last_unit) return SF_OK;
    int status = prepare(m, error);
    if (status == SF_OK && m->job->pairs != NULL) status = take_pairs(m, error);
    bool more = m->before.size < m->job->max_size;
    while (status == SF_OK && more) {
        status = grow(m, &more, error);
        if (status == SF_OK &&
            !sf_progress_update(m->job->progress, "growing episodes", m->before.size, m->job->max_size))
            status = sf_fail(error, SF_CANCELLED, NULL, "stopped while growing episodes");
    }
    if (status != SF_OK) return status;
    SF_GPU_TRY(cudaStreamSynchronize(m->device->work));
    return deliver(m, error);
}

int sf_gpu_mine(sf_backend_stream *stream, const sf_backend_mine *job, sf_error *error)
{
    SF_GPU_TRY(cudaSetDevice(stream->device->ordinal));
    mining m = {.stream = stream, .device = stream->device, .job = job};
    int status = mine_levels(&m, error);
    release_all(&m);
    return status;
}
