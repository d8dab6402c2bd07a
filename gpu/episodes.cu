/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mining by the interval engine, level by level, on the device.
 *
 * An episode has a list of (end, start): every spike that can end an occurrence, with the latest spike that
 * can start one ending there; both ascend. A spike reached from several ends belongs to the last of them, so
 * end k owns the positions [from(k), min(to(k), from(k + 1))), and one walk over these windows meets every
 * spike at most once and counts the extensions by all units together.
 *
 *   extend   one warp for each (episode, delay, tile of units) walks the windows 32 positions at a time; a
 *            restart and a count for each unit lie in shared memory. What is frequent is appended where there
 * is room, in whatever order warps finish. collect  puts a level in order: a prefix sum over the warps'
 * numbers gives each its place. build    makes the lists of the new level: each spike of the last unit looks
 * for its end in the parent's list. Twice: lengths, a prefix sum, then entries.
 *
 * Nothing but frequent episodes comes back. The host learns two numbers a level, how many episodes and how
 * many list entries it has, because memory is taken as needed and bounded.
 *
 * The floor is the walk of the pairs: spikes x spikes within a delay, 2 bytes each from the L2 cache.
 */
#include "gpu/device.cuh"

extern "C" {
#include "core/clock.h"
}

#include <cub/device/device_scan.cuh>
#include <string.h>

#define WARP 32u
#define FULL 0xffffffffu
#define TILE_UNITS 4096u /* 32 KiB of shared memory a warp */

/* What a unit's extension is at: the first position that its next occurrence may start at, and its count. */
typedef uint2 cell;

/* Where one warp put its frequent episodes. */
typedef struct place {
    uint32_t begin, count;
} place;

typedef struct counters {
    uint32_t ticket;          /* the next job of `extend` */
    unsigned long long found; /* frequent episodes, also those that had no room */
} counters;

/* A device array and its size in bytes. */
typedef struct block {
    void *data;
    size_t bytes;
} block;

/* A level on the device. */
typedef struct level {
    uint32_t size, first, count; /* its episodes are first <= i < first + count; first is 0 beyond size 1 */
    block nodes;   /* sf_found, count of them; none at size 1, where node u is unit u */
    block offsets; /* uint64_t, count + 1: where each episode's list begins */
    block lengths; /* uint32_t, count + 1: how long it is */
    block entries; /* uint2 (end, start); at size 1 the stream's own */
} level;

/* The same for kernels. */
typedef struct level_view {
    uint32_t first, count; /* the episodes to extend: first <= i < first + count */
    const sf_found *nodes;
    const uint64_t *offsets;
    const uint32_t *lengths;
    const uint2 *entries;
} level_view;

/* What all kernels know of the job. */
typedef struct job_view {
    uint32_t unit_count, spike_count, delay_count;
    uint32_t tiles, tile_units;
    const uint16_t *owner;
    const uint32_t *first;
    const uint2 *unit_ends;
    const uint2 *reaches; /* [delay][position]: the positions from <= p < to that follow it by the delay */
    const uint32_t *forbidden;
    uint32_t least;
    bool self;
} job_view;

typedef struct mining {
    sf_backend_stream *stream;
    sf_backend_device *device;
    const sf_backend_mine *job;
    job_view view;
    block delays, reaches, forbidden, counters, found, places, jobs, scan;
    uint32_t found_capacity;
    level before, after;
    uint32_t host_count, host_size; /* of the level on its way to the caller; size 0: none is */
    double host_seconds, stamp;
    uint64_t total;
} mining;

/* ---- kernels ---- */

/* The first position after p whose time is beyond the limit: gallops, since delays are short. */
static __device__ uint32_t beyond(const int64_t *times, uint32_t count, uint32_t p, int64_t limit)
{
    uint32_t low = p + 1, step = 1;
    while (step < count - low && times[low + step - 1] <= limit) {
        low += step;
        step *= 2;
    }
    uint32_t high = step < count - low ? low + step - 1 : count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (times[middle] <= limit)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static __global__ void find_reaches(uint2 *reaches, const int64_t *times, uint32_t count,
                                    const sf_delay *delays, uint32_t delay_count)
{
    uint64_t total = (uint64_t)count * delay_count;
    for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < total;
         i += (uint64_t)gridDim.x * blockDim.x) {
        sf_delay delay = delays[i / count];
        uint32_t p = (uint32_t)(i % count);
        /* Saturated: times are never negative, and no spike is later than the largest. */
        int64_t low = times[p] > INT64_MAX - delay.low_ns ? INT64_MAX : times[p] + delay.low_ns;
        int64_t high = times[p] > INT64_MAX - delay.high_ns ? INT64_MAX : times[p] + delay.high_ns;
        uint32_t from = beyond(times, count, p, low);
        reaches[i] = make_uint2(from, beyond(times, count, from - 1, high));
    }
}

/* The lists of the units are the stream's own. */
static __global__ void list_units(uint64_t *offsets, uint32_t *lengths, const uint32_t *first, uint32_t units)
{
    for (uint32_t u = blockIdx.x * blockDim.x + threadIdx.x; u < units; u += gridDim.x * blockDim.x) {
        offsets[u] = first[u];
        lengths[u] = first[u + 1] - first[u];
    }
}

static __device__ bool may_follow(const job_view *v, uint32_t from, uint32_t to)
{
    if (from == to && !v->self)
        return false;
    return v->forbidden == NULL ||
           (v->forbidden[(size_t)from * ((v->unit_count + 31) / 32) + to / 32] >> (to & 31) & 1) == 0;
}

static __device__ uint32_t last_unit(const job_view *v, level_view from, uint32_t node)
{
    return from.nodes == NULL ? node : from.nodes[node].step % v->unit_count;
}

static __device__ uint32_t inclusive_sum(uint32_t value, uint32_t lane)
{
    for (uint32_t distance = 1; distance < WARP; distance *= 2) {
        uint32_t other = __shfl_up_sync(FULL, value, distance);
        if (lane >= distance)
            value += other;
    }
    return value;
}

/* The largest value of the warp; before Ampere there is no instruction for it. */
static __device__ uint32_t warp_max(uint32_t value)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_max_sync(FULL, value);
#else
    for (uint32_t distance = WARP / 2; distance > 0; distance /= 2)
        value = max(value, __shfl_xor_sync(FULL, value, distance));
    return value;
#endif
}

/* One spike a lane: counts it for its unit. Lanes with the same unit take turns, in the order of the stream.
 */
static __device__ void count_spikes(cell *cells, bool live, uint32_t unit, uint32_t position, uint32_t start,
                                    uint32_t lane)
{
    uint32_t same = __match_any_sync(FULL, live ? unit : FULL - lane);
    uint32_t rank = __popc(same & ((1u << lane) - 1));
    uint32_t turns = warp_max(rank);
    for (uint32_t turn = 0; turn <= turns; turn++) {
        if (live && rank == turn) {
            cell own = cells[unit];
            if (start >= own.x)
                cells[unit] = make_uint2(position + 1, own.y + 1);
        }
        __syncwarp();
    }
}

/* Walks the windows of 32 list entries, one a lane, their positions flattened over the lanes. */
static __device__ void walk(cell *cells, const job_view *v, uint2 window, uint32_t start, uint32_t tile_begin,
                            uint32_t tile_end, uint32_t lane)
{
    uint32_t length = window.y - window.x, sum = inclusive_sum(length, lane);
    uint32_t total = __shfl_sync(FULL, sum, WARP - 1);
    for (uint32_t done = 0; done < total; done += WARP) {
        uint32_t place = done + lane, of = 0; /* the window that holds it: the first whose sum exceeds it */
        for (uint32_t half = WARP / 2; half > 0; half /= 2) {
            uint32_t value = __shfl_sync(FULL, sum, of + half - 1);
            if (value <= place)
                of += half;
        }
        uint32_t of_sum = __shfl_sync(FULL, sum, of), of_length = __shfl_sync(FULL, length, of);
        uint32_t of_from = __shfl_sync(FULL, window.x, of), of_start = __shfl_sync(FULL, start, of);
        uint32_t position = of_from + (place - (of_sum - of_length));
        uint32_t unit = place < total ? v->owner[position] : 0;
        bool live = place < total && unit >= tile_begin && unit < tile_end;
        count_spikes(cells, live, unit - tile_begin, position, of_start, lane);
    }
}

/* Appends what is frequent in a warp's tile; returns where. */
static __device__ place keep_frequent(const job_view *v, const cell *cells, sf_found *found,
                                      uint32_t capacity, counters *shared, uint32_t last, uint32_t parent,
                                      uint32_t first_step, uint32_t tile_begin, uint32_t tile_end,
                                      uint32_t lane)
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

/* One job is (episode, delay, tile), in this order, which is the order of the level to be. */
static __global__ void extend(job_view v, level_view from, sf_found *found, uint32_t capacity, place *places,
                              counters *shared)
{
    extern __shared__ cell all_cells[];
    uint32_t lane = threadIdx.x % WARP;
    cell *cells = all_cells + threadIdx.x / WARP * v.tile_units;
    uint32_t jobs = from.count * v.delay_count * v.tiles;
    for (;;) {
        uint32_t job = 0;
        if (lane == 0)
            job = atomicAdd(&shared->ticket, 1u);
        job = __shfl_sync(FULL, job, 0);
        if (job >= jobs)
            break;
        uint32_t tile_begin = job % v.tiles * v.tile_units;
        uint32_t tile_end = min(tile_begin + v.tile_units, v.unit_count);
        uint32_t delay = job / v.tiles % v.delay_count;
        uint32_t parent = from.first + job / v.tiles / v.delay_count;
        const uint2 *reaches = v.reaches + (size_t)delay * v.spike_count;
        const uint2 *list = from.entries + from.offsets[parent];
        uint32_t length = from.lengths[parent];
        for (uint32_t u = lane; u < v.tile_units; u += WARP)
            cells[u] = make_uint2(0, 0);
        __syncwarp();
        for (uint32_t base = 0; base < length; base += WARP) {
            uint32_t k = base + lane;
            uint2 entry = make_uint2(0, 0), window = make_uint2(0, 0);
            if (k < length) {
                entry = list[k];
                window = reaches[entry.x];
            }
            if (k + 1 < length)
                window.y = min(window.y, reaches[list[k + 1].x].x);
            window.y = max(window.y, window.x);
            walk(cells, &v, window, entry.y, tile_begin, tile_end, lane);
        }
        place own = keep_frequent(&v, cells, found, capacity, shared, last_unit(&v, from, parent), parent,
                                  delay * v.unit_count + tile_begin, tile_begin, tile_end, lane);
        if (lane == 0)
            places[job] = own;
        __syncwarp();
    }
}

static __global__ void job_lengths(uint32_t *lengths, const place *places, uint32_t jobs)
{
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i <= jobs; i += gridDim.x * blockDim.x)
        lengths[i] = i < jobs ? places[i].count : 0;
}

/* Puts the frequent episodes in the order of their jobs. */
static __global__ void collect(sf_found *nodes, job_view v, const sf_found *found, uint32_t count,
                               uint32_t first_parent, const place *places, const uint64_t *offsets)
{
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        sf_found node = found[i];
        uint32_t delay = node.step / v.unit_count, tile = node.step % v.unit_count / v.tile_units;
        uint32_t job = ((node.parent - first_parent) * v.delay_count + delay) * v.tiles + tile;
        nodes[offsets[job] + (i - places[job].begin)] = node;
    }
}

/* How many ends of a list, after the first `low`, of which all do, reach no further than this position. */
static __device__ uint32_t ends_before(const uint2 *list, uint32_t length, const uint2 *reaches, uint32_t low,
                                       uint32_t position)
{
    uint32_t step = 1;
    while (step <= length - low && reaches[list[low + step - 1].x].x <= position) {
        low += step;
        step *= 2;
    }
    uint32_t high = step <= length - low ? low + step - 1 : length;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (reaches[list[middle].x].x <= position)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/*
 * The lists of a level, a warp each, and their lengths; entries NULL finds only these. The spikes of the last
 * unit ascend, so each lane gallops from where the last lane of the round before ended.
 */
static __global__ void build(uint2 *entries, uint32_t *lengths, const uint64_t *offsets, job_view v,
                             level_view from, const sf_found *nodes, uint32_t count)
{
    uint32_t lane = threadIdx.x % WARP, warps = gridDim.x * (blockDim.x / WARP);
    for (uint32_t i = (blockIdx.x * blockDim.x + threadIdx.x) / WARP; i < count; i += warps) {
        sf_found node = nodes[i];
        uint32_t unit = node.step % v.unit_count;
        const uint2 *reaches = v.reaches + (size_t)(node.step / v.unit_count) * v.spike_count;
        const uint2 *list = from.entries + from.offsets[node.parent];
        uint32_t length = from.lengths[node.parent];
        uint32_t begin = v.first[unit], end = v.first[unit + 1], low = 0, done = 0;
        for (uint32_t base = begin; base < end; base += WARP) {
            uint32_t k = base + lane < end ? base + lane : end - 1, position = v.unit_ends[k].x;
            low = ends_before(list, length, reaches, low, position);
            uint2 last = low > 0 ? list[low - 1] : make_uint2(0, 0);
            bool is_end = base + lane < end && low > 0 && position < reaches[last.x].y;
            uint32_t mask = __ballot_sync(FULL, is_end);
            if (is_end && entries != NULL)
                entries[offsets[i] + done + __popc(mask & ((1u << lane) - 1))] = make_uint2(position, last.y);
            done += __popc(mask);
            low = __shfl_sync(FULL, low, WARP - 1);
        }
        if (lane == 0)
            lengths[i] = done;
    }
    if (blockIdx.x == 0 && threadIdx.x == 0)
        lengths[count] = 0; /* so that the sum of all is the last offset */
}

/* Room for a list as long as the longest train for each episode. */
static __global__ void space_out(uint64_t *offsets, uint32_t count, uint64_t room)
{
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        offsets[i] = i * room;
}

/* ---- memory ---- */

/* Room for at least `bytes`; what was there is lost. */
static int reserve(mining *m, block *b, size_t bytes, sf_error *error)
{
    if (b->data != NULL && b->bytes >= bytes)
        return SF_OK;
    sf_gpu_free(m->device, b->data, b->bytes);
    *b = (block){NULL, 0};
    int status = sf_gpu_alloc(m->device, &b->data, bytes, error);
    b->bytes = status == SF_OK ? bytes : 0;
    return status;
}

static void release(mining *m, block *b)
{
    sf_gpu_free(m->device, b->data, b->bytes);
    *b = (block){NULL, 0};
}

static void release_level(mining *m, level *l)
{
    release(m, &l->nodes);
    release(m, &l->offsets);
    release(m, &l->lengths);
    release(m, &l->entries);
    *l = (level){};
}

static void release_all(mining *m)
{
    block *blocks[] = {&m->delays, &m->reaches, &m->forbidden, &m->counters,
                       &m->found,  &m->places,  &m->jobs,      &m->scan};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
        release(m, blocks[i]);
    release_level(m, &m->before);
    release_level(m, &m->after);
    cudaStreamSynchronize(m->device->work); /* a copy to the host may be on its way */
}

/* ---- steps ---- */

static int grid(const mining *m)
{
    return m->device->properties.multiProcessorCount * 8;
}

static level_view view_of(const mining *m, const level *l)
{
    return (level_view){l->first, l->count, (const sf_found *)l->nodes.data, (const uint64_t *)l->offsets.data,
                        (const uint32_t *)l->lengths.data,
                        l->size == 1 ? m->stream->ends : (const uint2 *)l->entries.data};
}

/* offsets[i] = sum of lengths before i, for i <= count. */
static int sum_up(mining *m, uint64_t *offsets, const uint32_t *lengths, uint32_t count, sf_error *error)
{
    size_t bytes = 0;
    SF_GPU_TRY(cub::DeviceScan::ExclusiveScan(NULL, bytes, lengths, offsets, cuda::std::plus<>{}, uint64_t{0},
                                              (int64_t)count + 1, m->device->work));
    int status = reserve(m, &m->scan, bytes, error);
    if (status != SF_OK)
        return status;
    SF_GPU_TRY(cub::DeviceScan::ExclusiveScan(m->scan.data, bytes, lengths, offsets, cuda::std::plus<>{},
                                              uint64_t{0}, (int64_t)count + 1, m->device->work));
    return SF_OK;
}

static int choose_tiles(mining *m, sf_error *error)
{
    job_view *v = &m->view;
    v->tile_units = v->unit_count < TILE_UNITS ? v->unit_count : TILE_UNITS;
    v->tiles = (v->unit_count + v->tile_units - 1) / v->tile_units;
    SF_GPU_TRY(cudaFuncSetAttribute(extend, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    (int)(TILE_UNITS * sizeof(cell))));
    return SF_OK;
}

static int upload_rules(mining *m, sf_error *error)
{
    const sf_backend_mine *job = m->job;
    job_view *v = &m->view;
    size_t bytes = job->delay_count * sizeof *job->delays;
    int status = reserve(m, &m->delays, bytes, error);
    if (status == SF_OK)
        status = sf_gpu_upload(m->device, m->delays.data, job->delays, bytes, error);
    if (status != SF_OK || job->forbidden == NULL)
        return status;
    bytes = (size_t)v->unit_count * ((v->unit_count + 31) / 32) * sizeof *job->forbidden;
    status = reserve(m, &m->forbidden, bytes, error);
    v->forbidden = (const uint32_t *)m->forbidden.data;
    return status == SF_OK ? sf_gpu_upload(m->device, m->forbidden.data, job->forbidden, bytes, error)
                           : status;
}

static int prepare(mining *m, sf_error *error)
{
    sf_backend_stream *s = m->stream;
    m->view = (job_view){.unit_count = s->unit_count,
                         .spike_count = s->count,
                         .delay_count = m->job->delay_count,
                         .owner = s->owner,
                         .first = s->first,
                         .unit_ends = s->ends,
                         .least = m->job->least,
                         .self = m->job->self};
    m->before = (level){
        .size = 1, .first = m->job->first_unit, .count = m->job->last_unit - m->job->first_unit};
    int status = choose_tiles(m, error);
    if (status == SF_OK)
        status = upload_rules(m, error);
    if (status == SF_OK)
        status = reserve(m, &m->reaches, (size_t)s->count * m->job->delay_count * sizeof(uint2), error);
    if (status == SF_OK)
        status = reserve(m, &m->before.offsets, ((size_t)s->unit_count + 1) * sizeof(uint64_t), error);
    if (status == SF_OK)
        status = reserve(m, &m->before.lengths, ((size_t)s->unit_count + 1) * sizeof(uint32_t), error);
    if (status == SF_OK)
        status = reserve(m, &m->counters, sizeof(counters), error);
    if (status != SF_OK)
        return status;
    m->view.reaches = (const uint2 *)m->reaches.data;
    find_reaches<<<grid(m), 256, 0, m->device->work>>>((uint2 *)m->reaches.data, s->times, s->count,
                                                       (const sf_delay *)m->delays.data, m->job->delay_count);
    SF_GPU_LAUNCHED();
    list_units<<<grid(m), 256, 0, m->device->work>>>(
        (uint64_t *)m->before.offsets.data, (uint32_t *)m->before.lengths.data, s->first, s->unit_count);
    SF_GPU_LAUNCHED();
    return SF_OK;
}

static int launch_extend(mining *m, sf_error *error)
{
    size_t own = m->view.tile_units * sizeof(cell);
    uint32_t warps = (uint32_t)(TILE_UNITS * sizeof(cell) / own);
    warps = warps > 8 ? 8 : warps;
    int blocks = 0;
    SF_GPU_TRY(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, extend, (int)(warps * WARP), warps * own));
    blocks = (blocks > 0 ? blocks : 1) * m->device->properties.multiProcessorCount;
    SF_GPU_TRY(cudaMemsetAsync(m->counters.data, 0, sizeof(counters), m->device->work));
    extend<<<blocks, warps * WARP, warps * own, m->device->work>>>(
        m->view, view_of(m, &m->before), (sf_found *)m->found.data, m->found_capacity,
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
    uint64_t jobs = (uint64_t)m->before.count * m->view.delay_count * m->view.tiles;
    if (jobs > INT32_MAX)
        return sf_fail(error, SF_UNAVAILABLE, NULL, "a level of %u episodes is more than the device extends",
                       m->before.count);
    int status = reserve(m, &m->places, jobs * sizeof(place), error);
    for (uint64_t room = m->found_capacity > 0 ? m->found_capacity : 1u << 16; status == SF_OK;
         room = *found) {
        m->found_capacity = (uint32_t)room;
        status = reserve(m, &m->found, room * sizeof(sf_found), error);
        if (status == SF_OK)
            status = launch_extend(m, error);
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
    uint32_t jobs = m->before.count * m->view.delay_count * m->view.tiles;
    block offsets = {};
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
        status = sum_up(m, (uint64_t *)offsets.data, (const uint32_t *)m->jobs.data, jobs, error);
    }
    if (status == SF_OK) {
        collect<<<grid(m), 256, 0, m->device->work>>>(
            (sf_found *)m->after.nodes.data, m->view, (const sf_found *)m->found.data, count, m->before.first,
            (const place *)m->places.data, (const uint64_t *)offsets.data);
        status = sf_gpu_check(cudaGetLastError(), "collect(", error);
    }
    release(m, &offsets);
    if (status != SF_OK)
        return status;
    SF_GPU_TRY(cudaMemcpyAsync(m->device->landing, m->after.nodes.data, (size_t)count * sizeof(sf_found),
                               cudaMemcpyDeviceToHost, m->device->work));
    SF_GPU_TRY(cudaEventRecord(m->device->landed, m->device->work));
    return SF_OK;
}

static int launch_build(mining *m, uint2 *entries, sf_error *error)
{
    level *after = &m->after;
    build<<<grid(m), 256, 0, m->device->work>>>(
        entries, (uint32_t *)after->lengths.data, (const uint64_t *)after->offsets.data, m->view,
        view_of(m, &m->before), (const sf_found *)after->nodes.data, after->count);
    SF_GPU_LAUNCHED();
    return SF_OK;
}

/* In two steps, for lists that fill memory: lengths first, which say how much is needed. */
static int build_exactly(mining *m, sf_error *error)
{
    level *after = &m->after;
    uint64_t *offsets = (uint64_t *)after->offsets.data, entries;
    int status = launch_build(m, NULL, error);
    if (status == SF_OK)
        status = sum_up(m, offsets, (const uint32_t *)after->lengths.data, after->count, error);
    if (status == SF_OK)
        status = sf_gpu_download(m->device, &entries, offsets + after->count, sizeof entries, error);
    if (status == SF_OK)
        status = reserve(m, &after->entries, entries * sizeof(uint2), error);
    return status == SF_OK ? launch_build(m, (uint2 *)after->entries.data, error) : status;
}

static int build_lists(mining *m, sf_error *error)
{
    level *after = &m->after;
    uint64_t room = m->stream->longest_train, bytes = after->count * room * sizeof(uint2);
    int status = reserve(m, &after->lengths, ((size_t)after->count + 1) * sizeof(uint32_t), error);
    if (status == SF_OK)
        status = reserve(m, &after->offsets, ((size_t)after->count + 1) * sizeof(uint64_t), error);
    if (status != SF_OK)
        return status;
    if (bytes > (m->device->memory_limit - m->device->memory_used) / 8)
        return build_exactly(m, error);
    status = reserve(m, &after->entries, bytes, error);
    if (status != SF_OK)
        return status;
    space_out<<<grid(m), 256, 0, m->device->work>>>((uint64_t *)after->offsets.data, after->count, room);
    SF_GPU_LAUNCHED();
    return launch_build(m, (uint2 *)after->entries.data, error);
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
    m->after = (level){.size = size, .count = (uint32_t)found};
    m->total += found;
    *more = found > 0 && size < m->job->max_size && m->total <= m->job->most;
    if (found > 0)
        status = order_level(m, (uint32_t)found, error);
    if (status == SF_OK && *more)
        status = build_lists(m, error);
    if (status != SF_OK)
        return status;
    release_level(m, &m->before);
    m->before = m->after;
    m->after = (level){};
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
