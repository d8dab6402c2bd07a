/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The jobs of extending a level, an (episode, delay, tile of units) each, and the bound that rules most of
 * them out: what `bound` leaves, and `merge` has counted, goes on to `extend` (episodes.cu).
 */
#ifndef SF_GPU_MINE_BOUND_CUH
#define SF_GPU_MINE_BOUND_CUH

#include "gpu/mine/occurrences.cuh"

#define WARP SF_GPU_WARP
#define FULL SF_GPU_FULL

#define MERGE_COST 16u /* an end that looks for a unit's spike, in spikes that a walk visits */
#define SHARED_COST 1u /* the same where a warp for each unit does it, and a walk has but one */
#define BOUND_WARPS 8u /* a block */
#define BOUND_BLOCKS 8 /* at once, as registers go */
#define HELD_A_JOB 16u /* units that `bound` lists, on average at most, */
#define DEAR_SHARE 2u  /* and the first half of them where merging costs more than it saves, too */
#define MOST_HELD (1u << 24)
#define LEAST_BOUND_UNITS 1024u /* in a tile: with fewer, `extend` runs as many warps */

namespace
{

typedef struct counters {
    uint32_t ticket;          /* the next job of `extend` */
    uint32_t bound_ticket;    /* and of `bound` */
    uint32_t open;            /* jobs that `bound` has left */
    uint32_t held;            /* units that it has listed for them */
    unsigned long long found; /* frequent episodes, also those that had no room */
} counters;

/* A job that `bound` has left, and the units that its windows hold enough spikes of. */
typedef struct open_job {
    uint32_t number, first_held, held; /* NOT_LISTED: all units of the tile may be frequent */
} open_job;

/* A unit that may be frequent in a job; its count, by `merge`. */
typedef struct held_unit {
    uint32_t job, unit, count;
} held_unit;

#define NOT_LISTED UINT32_MAX

/* What `bound` leaves, and the number of units that there is room for. */
typedef struct left_view {
    open_job *open; /* NULL: all jobs are, and no unit is listed */
    held_unit *held;
    uint32_t room;
} left_view;

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

__device__ bool may_follow(const job_view *v, uint32_t from, uint32_t to)
{
    if (from == to && !v->self) return false;
    return v->forbidden == NULL ||
           (v->forbidden[(size_t)from * ((v->unit_count + 31) / 32) + to / 32] >> (to & 31) & 1) == 0;
}

__device__ uint32_t last_unit(const job_view *v, sf_gpu_level_view from, uint32_t node)
{
    return from.nodes == NULL ? node : from.nodes[node].step % v->unit_count;
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

/* Whether merging the list with the spikes of `units` units costs less than walking its windows, 32 units at
 * a time. Windows of a crowded list are cut short by the next spike. */
__device__ bool merging_pays(job j, uint32_t units, uint32_t cost, uint32_t lane)
{
    uint32_t start, sample = min(j.length, WARP);
    uint32_t k = lane < sample ? (uint32_t)((uint64_t)j.length * lane / sample) : j.length;
    uint2 window = sf_gpu_window(j.list, j.length, j.reaches, k, &start);
    uint32_t visits = sf_gpu_inclusive_sum(window.y - window.x, lane);
    visits = __shfl_sync(FULL, visits, WARP - 1);
    return (uint64_t)units * cost * sample <= visits;
}

/* Whether that pays for the units that may follow. */
__device__ bool merges(const job_view *v, job j, uint32_t last, following *own, uint32_t lane)
{
    if (v->pairs == NULL) return false;
    const uint32_t *first = v->pair_first + last * v->delay_count + j.delay;
    *own = following{first[0], first[1]};
    own->first = pairs_before(v, *own, j.delay * v->unit_count + j.tile_begin);
    own->last = pairs_before(v, *own, j.delay * v->unit_count + j.tile_end);
    return merging_pays(j, own->last - own->first, MERGE_COST, lane);
}

__device__ uint32_t merge_unit(const job_view *v, job j, uint32_t unit, uint32_t lane)
{
    uint32_t first = v->unit_first[unit];
    return sf_gpu_count_extension(j.reaches, j.list, j.length, v->unit_ends + first,
                                  v->unit_first[unit + 1] - first, lane);
}

/* Eight owners are read at once: the windows of all units together are read by far more than anything else.
 */
#define AT_ONCE 8u

/* Counts those of the positions at .. at + 7 that lie in a window. All owners that are read are counted, so
 * that no lane waits for another: those outside, or of other tiles, behind the counters of the tile. */
template <bool in_tiles>
__device__ void count_owners(uint32_t *counts, const uint16_t *owner, uint32_t at, uint2 window, job j)
{
    const uint32_t units = j.tile_end - j.tile_begin;
    uint4 read = *(const uint4 *)(owner + at);
    const uint32_t owners[AT_ONCE / 2] = {read.x, read.y, read.z, read.w};
    uint32_t inside = (1u << AT_ONCE) - 1;
    if (at < window.x) inside &= inside << (window.x - at);
    if (at + AT_ONCE > window.y) inside &= ((1u << AT_ONCE) - 1) >> (at + AT_ONCE - window.y);
#pragma unroll
    for (uint32_t i = 0; i < AT_ONCE; i++) {
        uint32_t unit = owners[i / 2] >> 16 * (i & 1) & 0xffff;
        bool counts_here = (inside & 1u << i) != 0;
        if (in_tiles) {
            unit -= j.tile_begin;
            counts_here = counts_here && unit < units;
        }
        atomicAdd(&counts[counts_here ? unit : units], 1u);
    }
}

/* Counts the spikes of each unit of the tile that lie in windows. The warps of a block take turns; in a warp
 * as many lanes share a window as the longest of 32 needs. */
template <bool in_tiles> __device__ void count_within(uint32_t *counts, const uint16_t *owner, job j)
{
    uint32_t lane = threadIdx.x % WARP;
    for (uint32_t base = threadIdx.x - lane; base < j.length; base += blockDim.x) {
        uint32_t start, sharing = 1;
        uint2 window = sf_gpu_window(j.list, j.length, j.reaches, base + lane, &start);
        uint32_t most = sf_gpu_warp_max((window.y + AT_ONCE - 1) / AT_ONCE - window.x / AT_ONCE);
        while (sharing < most && sharing < WARP)
            sharing *= 2;
        for (uint32_t k = lane / sharing; k < WARP; k += WARP / sharing) {
            uint2 own = make_uint2(__shfl_sync(FULL, window.x, k), __shfl_sync(FULL, window.y, k));
            for (uint32_t at = (own.x / AT_ONCE + lane % sharing) * AT_ONCE; at < own.y;
                 at += AT_ONCE * sharing)
                count_owners<in_tiles>(counts, owner, at, own, j);
        }
    }
}

/* Whether the windows of a job hold enough spikes of a unit of its tile for it to be frequent. */
__device__ bool is_held(const job_view *v, const uint32_t *counts, job j, uint32_t last, uint32_t unit)
{
    return unit < j.tile_end - j.tile_begin && counts[unit] >= v->least &&
           may_follow(v, last, j.tile_begin + unit);
}

/* How many units are held: the whole block's answer. */
__device__ uint32_t count_held(const job_view *v, uint32_t *counts, job j, uint32_t last)
{
    uint32_t units = j.tile_end - j.tile_begin, count = 0;
    for (uint32_t u = threadIdx.x; u < units; u += blockDim.x)
        counts[u] = 0;
    __syncthreads();
    if (v->tiling.tiles > 1)
        count_within<true>(counts, v->owner, j);
    else
        count_within<false>(counts, v->owner, j);
    __syncthreads();
    for (uint32_t u = threadIdx.x; u < units + threadIdx.x; u += blockDim.x)
        count += (uint32_t)__syncthreads_count(is_held(v, counts, j, last, u));
    return count;
}

/* Reserves `count` places in the list of held units: returns the first, or NOT_LISTED where there is no room.
 */
__device__ uint32_t reserve_held(counters *shared, uint32_t count, uint32_t room)
{
    uint32_t begin = 0, seen;
    while (begin <= room && count <= room - begin) {
        if ((seen = atomicCAS(&shared->held, begin, begin + count)) == begin) return begin;
        begin = seen;
    }
    return NOT_LISTED;
}

/* Lists the units that are held in a job, in whatever order, where all that are listed stay below `room`.
 * `begin` and `placed` are the block's. */
__device__ open_job list_held(const job_view *v, const uint32_t *counts, job j, uint32_t number,
                              uint32_t last, uint32_t count, held_unit *held, uint32_t room, counters *shared,
                              uint32_t *begin, uint32_t *placed)
{
    if (threadIdx.x == 0) {
        *begin = reserve_held(shared, count, room);
        *placed = 0;
    }
    __syncthreads();
    open_job own = {number, *begin, *begin != NOT_LISTED ? count : NOT_LISTED};
    for (uint32_t u = threadIdx.x; own.held != NOT_LISTED && u < j.tile_end - j.tile_begin; u += blockDim.x)
        if (is_held(v, counts, j, last, u))
            held[own.first_held + atomicAdd(placed, 1u)] = held_unit{number, j.tile_begin + u, 0};
    return own;
}

/* Lists the jobs in which a unit may be frequent. A block does a job: its warps share the counters, so that
 * more of them have room, and a list is walked in an eighth of the time, however few there are. Units are
 * listed where merging pays, and beyond that while there are few: where only some jobs are left, a warp that
 * walks one would take as long as its list. */
__global__ void __launch_bounds__(BOUND_WARPS *WARP, BOUND_BLOCKS)
    bound(job_view v, sf_gpu_level_view from, left_view left, counters *shared)
{
    extern __shared__ uint32_t counts[];
    __shared__ uint32_t ticket, begin, placed;
    uint32_t jobs = from.count * v.delay_count * v.tiling.tiles, number, lane = threadIdx.x % WARP;
    for (;;) {
        if (threadIdx.x == 0) ticket = atomicAdd(&shared->bound_ticket, 1u);
        __syncthreads();
        number = ticket;
        __syncthreads(); /* the next one may be written */
        if (number >= jobs) return;
        job j = job_of(&v, from, number);
        uint32_t last = last_unit(&v, from, j.parent), held, room;
        following own;
        open_job one = {number, 0, NOT_LISTED};
        if (merges(&v, j, last, &own, lane))
            held = own.last - own.first;
        else if ((held = count_held(&v, counts, j, last)) > 0) {
            room = merging_pays(j, held, SHARED_COST, lane) ? left.room : left.room / DEAR_SHARE;
            one = list_held(&v, counts, j, number, last, held, left.held, room, shared, &begin, &placed);
        }
        if (held > 0 && threadIdx.x == 0) left.open[atomicAdd(&shared->open, 1u)] = one;
    }
}

/* Counts what `bound` has listed, a warp each. */
__global__ void merge(job_view v, sf_gpu_level_view from, held_unit *held, const counters *shared)
{
    uint32_t lane = threadIdx.x % WARP, warps = gridDim.x * (blockDim.x / WARP);
    for (uint32_t i = (blockIdx.x * blockDim.x + threadIdx.x) / WARP; i < shared->held; i += warps) {
        uint32_t count = merge_unit(&v, job_of(&v, from, held[i].job), held[i].unit, lane);
        if (lane == 0) held[i].count = count;
    }
}

} // namespace

#endif
