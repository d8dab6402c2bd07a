/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counting given episodes by the interval engine on the device: a warp an episode. The list of each prefix is
 * made from the one before in one of two ways, by what they cost:
 *
 *   merge  32 spikes of the next unit at a time, each looking for its end by its time;
 *   walk   32 ends of the list at a time, each looking for the spikes that follow it: for lists that have
 *          become much shorter than trains.
 *
 * A merge counts the last node as it goes. Two lists as long as the longest train wait in device memory for
 * each warp. Cost: the spikes of the episode's units or its ends, times the logarithm of how far apart ends
 * and spikes lie.
 */
#include "gpu/mine/occurrences.cuh"

#include <string.h>

#define WARP SF_GPU_WARP
#define FULL SF_GPU_FULL
#define WARPS_A_BLOCK 8u
#define WALK_COST 3u /* an end that looks for spikes, in spikes that look for their end */

namespace
{

typedef struct count_view {
    const int64_t *times;
    const uint32_t *unit_first; /* by unit: its places in unit_ends */
    const uint2 *unit_ends;
    uint32_t first, last; /* positions */
    uint32_t size;
    uint32_t count;
    const uint32_t *units, *delays;
    const sf_delay *intervals;
    uint32_t least;
    uint2 *lists; /* [warp][2][room] */
    uint32_t room;
    uint32_t *counts;
} count_view;

/* A part of the device's list of one unit. */
typedef struct train {
    const uint2 *ends;
    uint32_t count;
} train;

__device__ train train_of(const count_view *v, uint32_t unit)
{
    const uint2 *ends = v->unit_ends + v->unit_first[unit];
    uint32_t count = v->unit_first[unit + 1] - v->unit_first[unit];
    uint32_t begin = sf_gpu_place_from(ends, 0, count, v->first);
    return train{ends + begin, sf_gpu_place_from(ends, begin, count, v->last) - begin};
}

/* How many ends of the list, after the first `low`, of which all do, lie more than `by` before the time. */
__device__ uint32_t ends_before(const int64_t *times, train list, uint32_t low, int64_t time, int64_t by)
{
    uint32_t step = 1;
    while (step <= list.count - low && time - times[list.ends[low + step - 1].x] > by) {
        low += step;
        step *= 2;
    }
    uint32_t high = step <= list.count - low ? low + step - 1 : list.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (time - times[list.ends[middle].x] > by)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The first of the unit's spikes, after the first `low`, of which none does, that lies more than `by` after
 * the time. */
__device__ uint32_t first_later(const int64_t *times, train unit, uint32_t low, int64_t time, int64_t by)
{
    uint32_t step = 1;
    while (step <= unit.count - low && times[unit.ends[low + step - 1].x] - time <= by) {
        low += step;
        step *= 2;
    }
    uint32_t high = step <= unit.count - low ? low + step - 1 : unit.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (times[unit.ends[middle].x] - time <= by)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The list of an episode by one node more, into `to`; to NULL only counts. Returns its length or count. */
__device__ uint32_t merge(const count_view *v, uint2 *to, train list, train unit, sf_delay delay,
                          uint32_t lane)
{
    uint32_t low = 0, length = 0, restart = 0, count = 0;
    for (uint32_t base = 0; base < unit.count; base += WARP) {
        uint32_t k = min(base + lane, unit.count - 1), position = unit.ends[k].x;
        int64_t time = v->times[position];
        low = ends_before(v->times, list, low, time, delay.low_ns);
        uint2 last = low > 0 ? list.ends[low - 1] : make_uint2(0, 0);
        bool is_end = base + lane < unit.count && low > 0 && time - v->times[last.x] <= delay.high_ns;
        if (to == NULL) {
            sf_gpu_take(is_end, make_uint2(position, last.y), &restart, &count);
        } else {
            uint32_t mask = __ballot_sync(FULL, is_end);
            if (is_end) to[length + __popc(mask & ((1u << lane) - 1))] = make_uint2(position, last.y);
            length += __popc(mask);
        }
        low = __shfl_sync(FULL, low, WARP - 1);
    }
    __syncwarp();
    return to == NULL ? count : length;
}

/* The same by the ends of the list, always into `to`. A spike belongs to the last end that it follows, so
 * each end owns the spikes up to the first of the next. */
__device__ uint32_t walk(const count_view *v, uint2 *to, train list, train unit, sf_delay delay,
                         uint32_t lane)
{
    uint32_t low = 0, length = 0;
    for (uint32_t base = 0; base < list.count; base += WARP) {
        uint32_t k = min(base + lane, list.count - 1);
        bool has_next = k + 1 < list.count;
        int64_t time = v->times[list.ends[k].x];
        uint32_t from = first_later(v->times, unit, low, time, delay.low_ns);
        uint32_t until = first_later(v->times, unit, from, time, delay.high_ns);
        uint32_t next = __shfl_down_sync(FULL, from, 1);
        if (lane == WARP - 1 && has_next)
            next = first_later(v->times, unit, from, v->times[list.ends[k + 1].x], delay.low_ns);
        until = has_next ? min(until, next) : until;
        uint32_t own = base + lane < list.count ? until - from : 0, sum = own;
        for (uint32_t distance = 1; distance < WARP; distance *= 2) {
            uint32_t other = __shfl_up_sync(FULL, sum, distance);
            sum += lane >= distance ? other : 0;
        }
        for (uint32_t i = 0; i < own; i++)
            to[length + sum - own + i] = make_uint2(unit.ends[from + i].x, list.ends[k].y);
        length += __shfl_sync(FULL, sum, WARP - 1);
        low = __shfl_sync(FULL, from, WARP - 1);
    }
    __syncwarp();
    return length;
}

__device__ uint32_t count_list(train list, uint32_t lane)
{
    uint32_t restart = 0, count = 0;
    for (uint32_t base = 0; base < list.count; base += WARP) {
        bool there = base + lane < list.count;
        sf_gpu_take(there, there ? list.ends[base + lane] : make_uint2(0, 0), &restart, &count);
    }
    return count;
}

/* Stops where a list is too short for the least count: none is longer afterwards. */
__device__ uint32_t count_one(const count_view *v, const uint32_t *units, const uint32_t *delays,
                              uint2 *lists, uint32_t lane)
{
    train list = train_of(v, units[0]);
    if (v->size == 1) return list.count;
    for (uint32_t node = 1; node < v->size && list.count >= v->least; node++) {
        train unit = train_of(v, units[node]);
        sf_delay delay = v->intervals[delays[node - 1]];
        uint2 *to = lists + (node & 1) * (size_t)v->room;
        if (v->room > 0 && (uint64_t)list.count * WALK_COST < unit.count)
            list = train{to, walk(v, to, list, unit, delay, lane)};
        else if (node + 1 < v->size)
            list = train{to, merge(v, to, list, unit, delay, lane)};
        else
            return merge(v, NULL, list, unit, delay, lane);
    }
    return list.count >= v->least ? count_list(list, lane) : list.count;
}

__global__ void count_all(count_view v)
{
    uint32_t lane = threadIdx.x % WARP, warp = (blockIdx.x * blockDim.x + threadIdx.x) / WARP;
    uint2 *lists = v.lists + (size_t)warp * 2 * v.room;
    for (uint32_t c = warp; c < v.count; c += gridDim.x * (blockDim.x / WARP)) {
        const uint32_t *units = v.units + (size_t)c * v.size, *delays = v.delays + (size_t)c * (v.size - 1);
        uint32_t count = count_one(&v, units, delays, lists, lane);
        if (lane == 0) v.counts[c] = count;
    }
}

/* ---- launching ---- */

typedef struct counting {
    sf_backend_device *device;
    count_view view;
    sf_gpu_candidates candidates;
    sf_gpu_array lists;
} counting;

} // namespace

static int prepare(counting *c, const sf_candidates *candidates, uint32_t warps, sf_error *error)
{
    count_view *v = &c->view;
    int status = sf_gpu_candidates_send(&c->candidates, c->device, candidates, error);
    if (status == SF_OK)
        status =
            sf_gpu_array_open(c->device, &c->lists, (size_t)warps * 2 * v->room * sizeof *v->lists, error);
    v->units = (const uint32_t *)c->candidates.units.data;
    v->delays = (const uint32_t *)c->candidates.delays.data;
    v->intervals = (const sf_delay *)c->candidates.intervals.data;
    v->counts = (uint32_t *)c->candidates.counts.data;
    v->lists = (uint2 *)c->lists.data;
    return status;
}

/* As many warps as the device runs at once, as there are episodes, and as a quarter of the memory has lists
 * for. */
static uint32_t choose_warps(const counting *c)
{
    const cudaDeviceProp *p = &c->device->properties;
    uint64_t warps = (uint64_t)p->multiProcessorCount * (uint32_t)p->maxThreadsPerMultiProcessor / WARP;
    warps = warps < c->view.count ? warps : c->view.count;
    uint64_t a_warp = 2 * (uint64_t)c->view.room * sizeof(uint2);
    uint64_t fit = a_warp > 0 ? (c->device->memory_limit - c->device->memory_used) / 4 / a_warp : warps;
    warps = warps < fit ? warps : fit;
    return (uint32_t)(warps + WARPS_A_BLOCK - 1) / WARPS_A_BLOCK * WARPS_A_BLOCK;
}

static int run(counting *c, const sf_backend_count *job, sf_error *error)
{
    uint32_t warps = choose_warps(c);
    int status = warps > 0
                     ? prepare(c, job->candidates, warps, error)
                     : sf_fail(error, SF_UNAVAILABLE, NULL, "the trains are too long for the device memory");
    if (status != SF_OK) return status;
    count_all<<<warps / WARPS_A_BLOCK, WARPS_A_BLOCK * WARP, 0, c->device->work>>>(c->view);
    SF_GPU_LAUNCHED();
    return sf_gpu_download(c->device, job->counts, c->view.counts, c->view.count * sizeof *job->counts,
                           error);
}

int sf_gpu_count(sf_backend_stream *stream, const sf_backend_count *job, sf_error *error)
{
    const sf_candidates *candidates = job->candidates;
    if (candidates->count > INT32_MAX)
        return sf_fail(error, SF_UNAVAILABLE, NULL, "%zu episodes are more than the device counts at once",
                       candidates->count);
    if (candidates->count == 0) return SF_OK;
    if (strcmp(job->engine, "interval") != 0) return sf_gpu_count_by_machines(stream, job, error);
    SF_GPU_TRY(cudaSetDevice(stream->device->ordinal));
    counting c = {.device = stream->device};
    c.view = (count_view){.times = stream->times,
                          .unit_first = stream->first,
                          .unit_ends = stream->ends,
                          .first = job->first,
                          .last = job->last,
                          .size = candidates->size,
                          .count = (uint32_t)candidates->count,
                          .least = job->least,
                          .room = candidates->size > 2 ? stream->longest_train : 0};
    int status = run(&c, job, error);
    sf_gpu_array_close(c.device, &c.lists);
    sf_gpu_candidates_close(c.device, &c.candidates);
    return status;
}
