/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mining by the interval engine, level by level, on the device, with the lists of occurrences.cuh.
 *
 *   bound    with many units, where a warp's share of shared memory allows few warps: how many spikes of
 *            each unit the windows hold, which the count does not exceed. It needs 2 bytes a unit and no
 *            order, and leaves to `extend` those (episode, delay, tile) in which a unit may be frequent
 *   extend   a warp for each (episode, delay, tile of units) counts all extensions. It walks the windows of
 *            the episode's list, with a restart and a count for each unit in shared memory; or, from size 3
 *            on, where few units may follow and windows hold many spikes, merges the list with the spikes
 *            of each of these units. What is frequent is appended where there is room, in whatever order
 *            warps finish
 *   collect  puts a level in order: a prefix sum over the warps' numbers gives each its place
 *   build    makes the lists of the new level (occurrences.cu)
 *
 * Nothing but frequent episodes comes back. The host learns two numbers a level, how many episodes and how
 * many list entries it has, because memory is taken as needed and bounded.
 *
 * The floor is the walk of the pairs: spikes x spikes within a delay, 2 bytes each from the L2 cache.
 */
#include "gpu/mine/occurrences.cuh"

extern "C" {
#include "core/clock.h"
#include "core/progress.h"
}

#include <string.h>

#define WARP SF_GPU_WARP
#define FULL SF_GPU_FULL

namespace
{

/* Where one warp put its frequent episodes. */
typedef struct place {
    uint32_t begin, count;
} place;

#define MERGE_COST 16u          /* an end that looks for a unit's spike, in spikes that a walk visits */
#define BOUND_WARPS 8u          /* a block */
#define LEAST_BOUND_UNITS 1024u /* in a tile: with fewer, `extend` runs as many warps */

typedef struct counters {
    uint32_t ticket;          /* the next job of `extend` */
    uint32_t bound_ticket;    /* and of `bound` */
    uint32_t open;            /* jobs that `bound` has left */
    unsigned long long found; /* frequent episodes, also those that had no room */
} counters;

/* What all kernels know of the job. */
typedef struct job_view {
    uint32_t unit_count, spike_count, delay_count;
    sf_gpu_tiling tiling;
    const uint16_t *owner;
    const uint2 *reaches; /* [delay][position]: the positions from <= p < to that follow it by the delay */
    const uint32_t *forbidden;
    uint32_t least;
    bool self;
    const uint32_t *unit_first; /* the spikes of each unit, as the stream has them */
    const uint2 *unit_ends;
    const sf_found *pairs;      /* those that are frequent, in order; NULL: not all are known */
    const uint32_t *pair_first; /* by unit * delay_count + delay: the first of its pairs; and one more */
} job_view;

typedef struct mining {
    sf_backend_stream *stream;
    sf_backend_device *device;
    const sf_backend_mine *job;
    job_view view;
    sf_gpu_array reaches, forbidden, counters, found, places, jobs, open;
    sf_gpu_array pairs, pair_first; /* pairs: once their level is closed */
    uint32_t found_capacity;
    sf_gpu_episode_lists before, after;
    uint32_t host_count, host_size; /* of the level on its way to the caller; size 0: none is */
    double host_seconds, stamp;
    uint64_t total;
} mining;

/* ---- kernels ---- */

__device__ bool may_follow(const job_view *v, uint32_t from, uint32_t to)
{
    if (from == to && !v->self)
        return false;
    return v->forbidden == NULL ||
           (v->forbidden[(size_t)from * ((v->unit_count + 31) / 32) + to / 32] >> (to & 31) & 1) == 0;
}

__device__ uint32_t last_unit(const job_view *v, sf_gpu_level_view from, uint32_t node)
{
    return from.nodes == NULL ? node : from.nodes[node].step % v->unit_count;
}

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
    if (count > 0 && lane == 0)
        begin = atomicAdd(&shared->found, (unsigned long long)count);
    begin = __shfl_sync(FULL, begin, 0);
    place own = {(uint32_t)begin, count};
    if (count == 0 || begin + count > capacity)
        return own;
    for (uint32_t u = lane; u < rounded; u += WARP) {
        bool keep = u < units && cells[u].y >= v->least && may_follow(v, last, tile_begin + u);
        uint32_t mask = __ballot_sync(FULL, keep);
        if (keep)
            found[begin + __popc(mask & ((1u << lane) - 1))] = sf_found{parent, first_step + u, cells[u].y};
        begin += __popc(mask);
    }
    return own;
}

/* A job is (episode, delay, tile), numbered in this order, which is the order of the level to be. */
typedef struct job {
    uint32_t parent, delay, tile_begin, tile_end;
    const uint2 *reaches, *list;
    uint32_t length;
} job;

__device__ job job_of(const job_view *v, sf_gpu_level_view from, uint32_t number)
{
    job j;
    j.tile_begin = number % v->tiling.tiles * v->tiling.tile_units;
    j.tile_end = min(j.tile_begin + v->tiling.tile_units, v->unit_count);
    j.delay = number / v->tiling.tiles % v->delay_count;
    j.parent = from.first + number / v->tiling.tiles / v->delay_count;
    j.reaches = v->reaches + (size_t)j.delay * v->spike_count;
    j.list = from.entries + from.offsets[j.parent];
    j.length = from.lengths[j.parent];
    return j;
}

/* The pairs first <= p < last tell which units of a job's tile may follow. */
typedef struct following {
    uint32_t first, last;
} following;

__device__ uint32_t pairs_before(const job_view *v, following all, uint32_t step)
{
    while (all.first < all.last) {
        uint32_t middle = all.first + (all.last - all.first) / 2;
        if (v->pairs[middle].step < step)
            all.first = middle + 1;
        else
            all.last = middle;
    }
    return all.first;
}

/* Whether merging the list with the spikes of each unit that may follow costs less than walking its windows,
 * by 32 of them. Those of a crowded list are cut short by the next. */
__device__ bool merges(const job_view *v, job j, uint32_t last, following *own, uint32_t lane)
{
    if (v->pairs == NULL)
        return false;
    const uint32_t *first = v->pair_first + last * v->delay_count + j.delay;
    *own = following{first[0], first[1]};
    own->first = pairs_before(v, *own, j.delay * v->unit_count + j.tile_begin);
    own->last = pairs_before(v, *own, j.delay * v->unit_count + j.tile_end);
    uint32_t start, sample = min(j.length, WARP);
    uint32_t k = lane < sample ? (uint32_t)((uint64_t)j.length * lane / sample) : j.length;
    uint2 window = sf_gpu_window(j.list, j.length, j.reaches, k, &start);
    uint32_t visits = sf_gpu_inclusive_sum(window.y - window.x, lane);
    visits = __shfl_sync(FULL, visits, WARP - 1);
    return (uint64_t)(own->last - own->first) * MERGE_COST * sample <= visits;
}

/* The counts of a tile's units by merging. */
__device__ void merge_list(const job_view *v, sf_gpu_cell *cells, job j, following own, uint32_t lane)
{
    for (uint32_t u = lane; u < j.tile_end - j.tile_begin; u += WARP)
        cells[u] = make_uint2(0, 0);
    __syncwarp();
    for (uint32_t p = own.first; p < own.last; p++) {
        uint32_t unit = v->pairs[p].step % v->unit_count, first = v->unit_first[unit];
        uint32_t count = sf_gpu_count_extension(j.reaches, j.list, j.length, v->unit_ends + first,
                                                v->unit_first[unit + 1] - first, lane);
        if (lane == 0)
            cells[unit - j.tile_begin].y = count;
    }
    __syncwarp();
}

/* A number of its own for each warp that asks. */
__device__ uint32_t next_job(uint32_t *ticket, uint32_t lane)
{
    uint32_t number = lane == 0 ? atomicAdd(ticket, 1u) : 0;
    return __shfl_sync(FULL, number, 0);
}

/* Adds the spikes that lie in windows to 16-bit counters, two in a word. The warps of a block take turns. */
__device__ void count_within(uint32_t *halves, const uint16_t *owner, job j)
{
    const uint32_t ahead = 4; /* reads on their way at a time */
    uint32_t lane = threadIdx.x % WARP;
    for (uint32_t base = threadIdx.x - lane; base < j.length; base += blockDim.x) {
        uint32_t start;
        uint2 window = sf_gpu_window(j.list, j.length, j.reaches, base + lane, &start);
        for (uint32_t k = 0; k < min(WARP, j.length - base); k++) {
            uint32_t from = __shfl_sync(FULL, window.x, k), to = __shfl_sync(FULL, window.y, k);
            for (; from < to; from += ahead * WARP) {
                uint32_t units[ahead];
#pragma unroll
                for (uint32_t i = 0; i < ahead; i++) {
                    uint32_t position = from + i * WARP + lane;
                    units[i] = position < to ? owner[position] : FULL;
                }
#pragma unroll
                for (uint32_t i = 0; i < ahead; i++)
                    if (units[i] >= j.tile_begin && units[i] < j.tile_end) {
                        uint32_t unit = units[i] - j.tile_begin;
                        atomicAdd(&halves[unit / 2], 1u << 16 * (unit & 1));
                    }
            }
        }
    }
}

/* Whether the windows hold enough spikes of a unit for it to be frequent: the whole block's answer. */
__device__ bool may_hold(const job_view *v, uint32_t *halves, job j, uint32_t last)
{
    uint32_t units = j.tile_end - j.tile_begin;
    for (uint32_t w = threadIdx.x; w < (units + 1) / 2; w += blockDim.x)
        halves[w] = 0;
    __syncthreads();
    count_within(halves, v->owner, j);
    __syncthreads();
    bool any = false;
    for (uint32_t u = threadIdx.x; u < units; u += blockDim.x)
        any = any ||
              ((halves[u / 2] >> 16 * (u & 1) & 0xffff) >= v->least && may_follow(v, last, j.tile_begin + u));
    return __syncthreads_or(any);
}

/* Lists the jobs in which a unit may be frequent. Trains are shorter than 2^16 spikes. A block does a job:
 * its warps share the counters, so that more of them have room, and a list is walked in an eighth of the
 * time, however few there are. */
__global__ void bound(job_view v, sf_gpu_level_view from, uint32_t *open, counters *shared)
{
    extern __shared__ uint32_t halves[];
    __shared__ uint32_t ticket;
    uint32_t jobs = from.count * v.delay_count * v.tiling.tiles, number;
    for (;;) {
        if (threadIdx.x == 0)
            ticket = atomicAdd(&shared->bound_ticket, 1u);
        __syncthreads();
        number = ticket;
        __syncthreads(); /* the next one may be written */
        if (number >= jobs)
            return;
        job j = job_of(&v, from, number);
        uint32_t last = last_unit(&v, from, j.parent);
        following own;
        bool may = merges(&v, j, last, &own, threadIdx.x % WARP) ? own.first < own.last
                                                                 : may_hold(&v, halves, j, last);
        if (may && threadIdx.x == 0)
            open[atomicAdd(&shared->open, 1u)] = number;
    }
}

/* `open` NULL: all jobs, else those that it lists. */
__global__ void extend(job_view v, sf_gpu_level_view from, const uint32_t *open, sf_found *found,
                       uint32_t capacity, place *places, counters *shared)
{
    extern __shared__ sf_gpu_cell all_cells[];
    uint32_t lane = threadIdx.x % WARP, next;
    sf_gpu_cell *cells = all_cells + threadIdx.x / WARP * v.tiling.tile_units;
    uint32_t jobs = open != NULL ? shared->open : from.count * v.delay_count * v.tiling.tiles;
    while ((next = next_job(&shared->ticket, lane)) < jobs) {
        uint32_t number = open != NULL ? open[next] : next;
        job j = job_of(&v, from, number);
        uint32_t last = last_unit(&v, from, j.parent);
        following own;
        if (merges(&v, j, last, &own, lane))
            merge_list(&v, cells, j, own, lane);
        else
            sf_gpu_extend_list(cells, sf_gpu_image{v.owner, NULL}, j.reaches, j.list, j.length, j.tile_begin,
                               j.tile_end, lane);
        place kept = keep_frequent(&v, cells, found, capacity, shared, last, j.parent,
                                   j.delay * v.unit_count + j.tile_begin, j.tile_begin, j.tile_end, lane);
        if (lane == 0)
            places[number] = kept;
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
    sf_gpu_array *arrays[] = {&m->reaches, &m->forbidden, &m->counters, &m->found,     &m->places,
                              &m->jobs,    &m->open,      &m->pairs,    &m->pair_first};
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
    if (job->forbidden == NULL)
        return SF_OK;
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
    if (status == SF_OK)
        status = sf_gpu_find_reaches(&m->reaches, s, job->delays, job->delay_count, error);
    if (status == SF_OK)
        status = sf_gpu_list_units(&m->before, s, job->first_unit, job->last_unit, error);
    if (status == SF_OK)
        status = reserve(m, &m->counters, sizeof(counters), error);
    m->view.reaches = (const uint2 *)m->reaches.data;
    return status;
}

/* Where it pays; *open stays NULL elsewhere. */
static int launch_bound(mining *m, uint32_t jobs, const uint32_t **open, sf_error *error)
{
    sf_gpu_tiling tiling = m->view.tiling;
    if (tiling.tile_units < LEAST_BOUND_UNITS || m->stream->longest_train > UINT16_MAX)
        return SF_OK;
    tiling.warps = BOUND_WARPS;
    tiling.bytes = (tiling.tile_units + 1) / 2 * sizeof(uint32_t);
    uint32_t blocks;
    int status = reserve(m, &m->open, jobs * sizeof(uint32_t), error);
    if (status == SF_OK)
        status = sf_gpu_fill(&blocks, m->device, (const void *)bound, &tiling, error);
    if (status != SF_OK)
        return status;
    SF_GPU_TRY(cudaMemsetAsync(m->places.data, 0, jobs * sizeof(place), m->device->work));
    bound<<<blocks, tiling.warps * WARP, tiling.bytes, m->device->work>>>(
        m->view, sf_gpu_view_level(m->stream, &m->before), (uint32_t *)m->open.data,
        (counters *)m->counters.data);
    SF_GPU_LAUNCHED();
    *open = (const uint32_t *)m->open.data;
    return SF_OK;
}

static int launch_extend(mining *m, uint32_t jobs, sf_error *error)
{
    const sf_gpu_tiling *tiling = &m->view.tiling;
    const uint32_t *open = NULL;
    uint32_t blocks;
    SF_GPU_TRY(cudaMemsetAsync(m->counters.data, 0, sizeof(counters), m->device->work));
    int status = launch_bound(m, jobs, &open, error);
    if (status == SF_OK)
        status = sf_gpu_fill(&blocks, m->device, (const void *)extend, tiling, error);
    if (status != SF_OK)
        return status;
    extend<<<blocks, tiling->warps * WARP, tiling->bytes, m->device->work>>>(
        m->view, sf_gpu_view_level(m->stream, &m->before), open, (sf_found *)m->found.data, m->found_capacity,
        (place *)m->places.data, (counters *)m->counters.data);
    SF_GPU_LAUNCHED();
    return SF_OK;
}

/* Hands the level that was copied to the host over; the device works on the next one meanwhile. */
static int deliver(mining *m, sf_error *error)
{
    if (m->host_size == 0)
        return SF_OK;
    uint32_t size = m->host_size;
    m->host_size = 0;
    if (m->host_count > 0)
        SF_GPU_TRY(cudaEventSynchronize(m->device->landed));
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
        if (status == SF_OK)
            status = launch_extend(m, (uint32_t)jobs, error);
        if (status == SF_OK)
            status = deliver(m, error);
        counters read;
        if (status == SF_OK)
            status = sf_gpu_download(m->device, &read, m->counters.data, sizeof read, error);
        if (status != SF_OK)
            break;
        *found = read.found;
        if (*found <= room)
            return SF_OK;
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
    if (status == SF_OK)
        status = reserve(m, &offsets, ((size_t)jobs + 1) * sizeof(uint64_t), error);
    if (status == SF_OK)
        status = reserve(m, &m->after.nodes, (size_t)count * sizeof(sf_found), error);
    if (status == SF_OK)
        status = sf_gpu_landing(m->device, (size_t)count * sizeof(sf_found), error);
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
    if (status != SF_OK)
        return status;
    SF_GPU_TRY(cudaMemcpyAsync(m->device->landing, m->after.nodes.data, (size_t)count * sizeof(sf_found),
                               cudaMemcpyDeviceToHost, m->device->work));
    SF_GPU_TRY(cudaEventRecord(m->device->landed, m->device->work));
    return SF_OK;
}

/* From size 3 on only what follows a unit in a frequent pair can follow it. Pairs that begin with units of
 * other shares are not known. */
static int keep_pairs(mining *m, sf_error *error)
{
    job_view *v = &m->view;
    if (m->job->first_unit > 0 || m->job->last_unit < v->unit_count)
        return SF_OK;
    size_t places = (size_t)v->unit_count * v->delay_count + 1;
    int status = reserve(m, &m->pair_first, places * sizeof(uint32_t), error);
    if (status != SF_OK)
        return status;
    v->pairs = (const sf_found *)m->after.nodes.data;
    v->pair_first = (const uint32_t *)m->pair_first.data;
    index_pairs<<<grid(m), 256, 0, m->device->work>>>((uint32_t *)m->pair_first.data, v->pairs,
                                                      m->after.count, v->unit_count, v->delay_count);
    SF_GPU_LAUNCHED();
    return SF_OK;
}

/* The level after becomes the one before, of which the pairs are needed on. */
static void go_up(mining *m)
{
    if (m->before.size == 2) {
        m->pairs = m->before.nodes;
        m->before.nodes = (sf_gpu_array){};
    }
    sf_gpu_level_close(m->device, &m->before);
    m->before = m->after;
    m->after = (sf_gpu_episode_lists){};
}

/* One level: *more says whether another may follow. */
static int grow(mining *m, bool *more, sf_error *error)
{
    uint32_t size = m->before.size + 1;
    uint64_t found = 0;
    double begin = sf_clock_seconds();
    int status = count_extensions(m, &found, error);
    if (status != SF_OK)
        return status;
    m->after = (sf_gpu_episode_lists){.size = size, .count = (uint32_t)found};
    m->total += found;
    *more = found > 0 && size < m->job->max_size && m->total <= m->job->most;
    if (found > 0)
        status = order_level(m, (uint32_t)found, error);
    if (status == SF_OK && *more)
        status = sf_gpu_list_level(&m->after, &m->before, m->stream, m->view.reaches, false, error);
    if (status == SF_OK && *more && size == 2)
        status = keep_pairs(m, error);
    if (status != SF_OK)
        return status;
    go_up(m);
    m->host_size = size;
    m->host_count = (uint32_t)found;
    m->host_seconds = sf_clock_seconds() - begin;
    return SF_OK;
}

static int mine_levels(mining *m, sf_error *error)
{
    if (m->stream->count == 0 || m->job->first_unit >= m->job->last_unit)
        return SF_OK;
    int status = prepare(m, error);
    bool more = true;
    while (status == SF_OK && more) {
        status = grow(m, &more, error);
        if (status == SF_OK &&
            !sf_progress_update(m->job->progress, "growing episodes", m->before.size, m->job->max_size))
            status = sf_fail(error, SF_CANCELLED, NULL, "stopped while growing episodes");
    }
    if (status != SF_OK)
        return status;
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
