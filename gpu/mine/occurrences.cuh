/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The interval engine on the device: lists of occurrences, and the walk that extends a list by all units.
 *
 * An episode has a list of (end, start): every spike that can end an occurrence, with the latest spike that
 * can start one ending there; both ascend. A spike reached from several ends belongs to the last of them, so
 * end k owns the positions [from(k), min(to(k), from(k + 1))), and one walk over these windows meets every
 * spike at most once and counts the extensions by all units together.
 */
#ifndef SF_GPU_MINE_OCCURRENCES_CUH
#define SF_GPU_MINE_OCCURRENCES_CUH

#include "gpu/mine/stream.cuh"

#define SF_GPU_WARP 32u
#define SF_GPU_FULL 0xffffffffu

/** The episodes of one size on the device, with their lists. */
typedef struct sf_gpu_episode_lists {
    uint32_t size, first, count; /**< its episodes are first <= i < first + count; 0 beyond size 1 */
    sf_gpu_array nodes;          /**< sf_found, count of them; none at size 1, where node u is unit u */
    sf_gpu_array offsets;        /**< uint64_t, count + 1: where each episode's list begins */
    sf_gpu_array lengths;        /**< uint32_t, count + 1: how long it is */
    sf_gpu_array entries;        /**< uint2 (end, start); none at size 1, where they are the stream's own */
} sf_gpu_episode_lists;

/** The same for kernels. */
typedef struct sf_gpu_level_view {
    uint32_t first, count;
    const sf_found *nodes;
    const uint64_t *offsets;
    const uint32_t *lengths;
    const uint2 *entries;
} sf_gpu_level_view;

sf_gpu_level_view sf_gpu_view_level(const sf_backend_stream *stream, const sf_gpu_episode_lists *level);
void sf_gpu_level_close(sf_backend_device *device, sf_gpu_episode_lists *level);

/**
 * reaches[delay * spikes + p] = (from, to): the positions from <= q < to that follow position p by the delay.
 * Returns before it is done, as all that follow.
 */
int sf_gpu_find_reaches(sf_gpu_array *reaches, sf_backend_stream *stream, const sf_delay *delays,
                        uint32_t delay_count, sf_error *error);

/** Units first <= u < last, as episodes of size 1. */
int sf_gpu_list_units(sf_gpu_episode_lists *level, sf_backend_stream *stream, uint32_t first, uint32_t last,
                      sf_error *error);

/**
 * The lists of a level whose size, count and nodes are set, from the level before. Exactly: no byte more than
 * they need, for which the host waits once; else as it fits.
 */
int sf_gpu_list_level(sf_gpu_episode_lists *level, const sf_gpu_episode_lists *before,
                      sf_backend_stream *stream, const uint2 *reaches, bool exactly, sf_error *error);

/** offsets[i] = sum of lengths before i, for i <= count. */
int sf_gpu_sum_up(sf_backend_device *device, uint64_t *offsets, const uint32_t *lengths, uint32_t count,
                  sf_error *error);

/* ---- the walk, by one warp ---- */

/** Units are counted in tiles, whose cells fit into the shared memory of a warp; and how to launch that. */
typedef struct sf_gpu_tiling {
    uint32_t tiles, tile_units;
    uint32_t warps; /**< a block */
    size_t bytes;   /**< of shared memory, a block */
} sf_gpu_tiling;

sf_gpu_tiling sf_gpu_tile(uint32_t unit_count);

/** As many blocks of a kernel that walks as the device runs at once. */
int sf_gpu_fill(uint32_t *blocks, sf_backend_device *device, const void *kernel, const sf_gpu_tiling *tiling,
                sf_error *error);

/** What a unit's extension is at: the first position that its next occurrence may start at, and its count. */
typedef uint2 sf_gpu_cell;

/** Where the spikes lie that extend lists: the stream itself, or an image of it in which spikes have moved.
 */
typedef struct sf_gpu_image {
    const uint16_t *owner; /**< by position in the image: the unit */
    const uint32_t *after; /**< likewise: after it, an occurrence may start at this position of the stream;
                                NULL: the image is the stream, and it is the next */
} sf_gpu_image;

static __device__ inline uint32_t sf_gpu_inclusive_sum(uint32_t value, uint32_t lane)
{
    for (uint32_t distance = 1; distance < SF_GPU_WARP; distance *= 2) {
        uint32_t other = __shfl_up_sync(SF_GPU_FULL, value, distance);
        if (lane >= distance) value += other;
    }
    return value;
}

/* The largest value of the warp; before Ampere there is no instruction for it. */
static __device__ inline uint32_t sf_gpu_warp_max(uint32_t value)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_max_sync(SF_GPU_FULL, value);
#else
    for (uint32_t distance = SF_GPU_WARP / 2; distance > 0; distance /= 2)
        value = max(value, __shfl_xor_sync(SF_GPU_FULL, value, distance));
    return value;
#endif
}

/* The first place low <= p <= count of a train, or of any list that ascends, that is not before a position.
 */
static __device__ inline uint32_t sf_gpu_place_from(const uint2 *train, uint32_t low, uint32_t count,
                                                    uint32_t position)
{
    uint32_t high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (train[middle].x < position)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Takes, in order, every occurrence (end, start) of the warp that starts at `restart` or later. */
static __device__ inline void sf_gpu_take(bool is_end, uint2 own, uint32_t *restart, uint32_t *count)
{
    uint32_t mask = __ballot_sync(SF_GPU_FULL, is_end && own.y >= *restart);
    while (mask != 0) {
        uint32_t lane = (uint32_t)__ffs((int)mask) - 1;
        *restart = __shfl_sync(SF_GPU_FULL, own.x, lane) + 1;
        ++*count;
        uint32_t later = lane == SF_GPU_WARP - 1 ? 0 : SF_GPU_FULL << (lane + 1);
        mask = __ballot_sync(SF_GPU_FULL, is_end && own.y >= *restart) & later;
    }
}

/* A spike on its way to be counted; not live: of no unit at hand. */
typedef struct sf_gpu_visit {
    uint32_t unit, after, start;
    bool live;
} sf_gpu_visit;

static __device__ inline sf_gpu_visit sf_gpu_look(sf_gpu_image image, bool live, uint32_t position,
                                                  uint32_t start, uint32_t tile_begin, uint32_t tile_end)
{
    sf_gpu_visit v = {0, position + 1, start, live};
    if (live) {
        v.unit = image.owner[position];
        if (image.after != NULL) v.after = image.after[position];
    }
    v.live = live && v.unit >= tile_begin && v.unit < tile_end;
    v.unit -= tile_begin;
    return v;
}

/* One spike a lane: counts it for its unit. Lanes with the same unit take turns, in the order of the stream.
 */
static __device__ inline void sf_gpu_count_spikes(sf_gpu_cell *cells, sf_gpu_visit v, uint32_t lane)
{
    uint32_t same = __match_any_sync(SF_GPU_FULL, v.live ? v.unit : SF_GPU_FULL - lane);
    uint32_t rank = __popc(same & ((1u << lane) - 1));
    uint32_t turns = sf_gpu_warp_max(rank);
    for (uint32_t turn = 0; turn <= turns; turn++) {
        if (v.live && rank == turn) {
            sf_gpu_cell own = cells[v.unit];
            if (v.start >= own.x) cells[v.unit] = make_uint2(v.after, own.y + 1);
        }
        __syncwarp();
    }
}

/* The same where all lanes have the same start: of lanes with the same unit the first alone can count, and
 * its `after` is the least. All see the cell as it was, and each replaces that, or what a later lane has put
 * there. */
static __device__ inline void sf_gpu_count_window(sf_gpu_cell *cells, sf_gpu_visit v)
{
    sf_gpu_cell own = v.live ? cells[v.unit] : make_uint2(SF_GPU_FULL, 0);
    __syncwarp();
    if (v.live && v.start >= own.x) {
        unsigned long long *cell = (unsigned long long *)&cells[v.unit];
        unsigned long long before = (unsigned long long)own.y << 32 | own.x, seen;
        unsigned long long mine = (unsigned long long)(own.y + 1) << 32 | v.after;
        while ((seen = atomicCAS(cell, before, mine)) != before && (uint32_t)seen > v.after)
            before = seen;
    }
    __syncwarp();
}

/* The windows of 32 ends, one a lane, one after the other: for long ones. Four reads are on their way at a
 * time. */
static __device__ inline void sf_gpu_walk_each(sf_gpu_cell *cells, sf_gpu_image image, uint2 window,
                                               uint32_t start, uint32_t tile_begin, uint32_t tile_end,
                                               uint32_t lane)
{
    const uint32_t ahead = 4;
    for (uint32_t k = 0; k < SF_GPU_WARP; k++) {
        uint32_t from = __shfl_sync(SF_GPU_FULL, window.x, k), to = __shfl_sync(SF_GPU_FULL, window.y, k);
        uint32_t own_start = __shfl_sync(SF_GPU_FULL, start, k);
        for (; from < to; from += ahead * SF_GPU_WARP) {
            sf_gpu_visit visits[ahead];
#pragma unroll
            for (uint32_t i = 0; i < ahead; i++) {
                uint32_t position = from + i * SF_GPU_WARP + lane;
                visits[i] = sf_gpu_look(image, position < to, position, own_start, tile_begin, tile_end);
            }
#pragma unroll
            for (uint32_t i = 0; i < ahead; i++)
                if (from + i * SF_GPU_WARP < to) sf_gpu_count_window(cells, visits[i]);
        }
    }
}

/* The visit at a place of the windows of 32 ends laid end to end; sum is the inclusive sum of lengths. */
static __device__ inline sf_gpu_visit sf_gpu_find_visit(sf_gpu_image image, uint32_t place, uint32_t total,
                                                        uint32_t sum, uint2 window, uint32_t start,
                                                        uint32_t tile_begin, uint32_t tile_end)
{
    uint32_t of = 0; /* the window that holds it: the first whose sum exceeds the place */
    for (uint32_t half = SF_GPU_WARP / 2; half > 0; half /= 2) {
        uint32_t value = __shfl_sync(SF_GPU_FULL, sum, of + half - 1);
        if (value <= place) of += half;
    }
    uint32_t of_sum = __shfl_sync(SF_GPU_FULL, sum, of), of_to = __shfl_sync(SF_GPU_FULL, window.y, of);
    uint32_t of_start = __shfl_sync(SF_GPU_FULL, start, of);
    return sf_gpu_look(image, place < total, of_to - (of_sum - place), of_start, tile_begin, tile_end);
}

/** Counts what lies in the windows of 32 ends, one a lane, with their starts, for the units of a tile:
 * cells[unit - tile_begin]. window.x <= window.y. */
static __device__ inline void sf_gpu_walk(sf_gpu_cell *cells, sf_gpu_image image, uint2 window,
                                          uint32_t start, uint32_t tile_begin, uint32_t tile_end,
                                          uint32_t lane)
{
    uint32_t sum = sf_gpu_inclusive_sum(window.y - window.x, lane);
    uint32_t total = __shfl_sync(SF_GPU_FULL, sum, SF_GPU_WARP - 1);
    if (total >= SF_GPU_WARP * SF_GPU_WARP) {
        sf_gpu_walk_each(cells, image, window, start, tile_begin, tile_end, lane);
        return;
    }
    sf_gpu_visit next = sf_gpu_find_visit(image, lane, total, sum, window, start, tile_begin, tile_end);
    for (uint32_t done = 0; done < total; done += SF_GPU_WARP) {
        sf_gpu_visit own = next; /* the next is on its way while this one is counted */
        if (done + SF_GPU_WARP < total)
            next = sf_gpu_find_visit(image, done + SF_GPU_WARP + lane, total, sum, window, start, tile_begin,
                                     tile_end);
        sf_gpu_count_spikes(cells, own, lane);
    }
}

/* The positions that an end owns, and its start. */
static __device__ inline uint2 sf_gpu_window(const uint2 *list, uint32_t length, const uint2 *reaches,
                                             uint32_t k, uint32_t *start)
{
    uint2 window = make_uint2(0, 0);
    *start = 0;
    if (k < length) {
        *start = list[k].y;
        window = reaches[list[k].x];
    }
    if (k + 1 < length) window.y = min(window.y, reaches[list[k + 1].x].x);
    window.y = max(window.y, window.x);
    return window;
}

/* ---- finding the spikes of a train, by one warp ---- */

#define SF_GPU_HELD 4u  /* spikes a lane */
#define SF_GPU_LOOKS 2u /* at spikes that lie side by side, before each lane searches for itself */

/** A train whose spikes are looked for at positions that ascend. Where they lie close, some spikes are held,
 * a few in each lane: they are found in them by shuffles, where a search of the train waits for one read
 * after the other. */
typedef struct sf_gpu_held {
    const uint2 *train;
    uint32_t count, at; /* spikes of the train; the first that is held, or that was not passed */
    bool close;
    uint32_t positions[SF_GPU_HELD]; /* SF_GPU_FULL beyond the last */
} sf_gpu_held;

static __device__ inline void sf_gpu_hold(sf_gpu_held *h, uint32_t at, uint32_t lane)
{
    h->at = at;
#pragma unroll
    for (uint32_t i = 0; i < SF_GPU_HELD; i++) {
        uint32_t place = at + lane * SF_GPU_HELD + i;
        h->positions[i] = place < h->count ? h->train[place].x : SF_GPU_FULL;
    }
}

/** For so many positions in all. */
static __device__ inline sf_gpu_held sf_gpu_hold_train(const uint2 *train, uint32_t count, uint32_t wanted,
                                                       uint32_t lane)
{
    sf_gpu_held held = {train, count, 0, count / SF_GPU_HELD <= wanted};
    if (held.close) sf_gpu_hold(&held, 0, lane);
    return held;
}

/* Looks among the spikes that are held; false where they all are before the position. */
static __device__ inline bool sf_gpu_look_held(const sf_gpu_held *h, uint32_t position, uint32_t *place,
                                               uint32_t *there)
{
    uint32_t of = 0, before = 0, found = SF_GPU_FULL; /* the first lane whose last spike is not before it */
#pragma unroll
    for (uint32_t half = SF_GPU_WARP / 2; half > 0; half /= 2)
        if (__shfl_sync(SF_GPU_FULL, h->positions[SF_GPU_HELD - 1], of + half - 1) < position) of += half;
#pragma unroll
    for (uint32_t i = SF_GPU_HELD; i-- > 0;) {
        uint32_t other = __shfl_sync(SF_GPU_FULL, h->positions[i], of);
        found = other >= position ? other : found;
        before += other < position;
    }
    if (before == SF_GPU_HELD) return false;
    *place = h->at + of * SF_GPU_HELD + before;
    *there = found;
    return true;
}

/**
 * The first place of the train whose spike is not before a lane's position, and that spike's position, or the
 * number of spikes and SF_GPU_FULL. Positions that are wanted ascend by lane and from call to call.
 */
static __device__ inline uint32_t sf_gpu_find(sf_gpu_held *h, bool wanted, uint32_t position, uint32_t *there,
                                              uint32_t lane)
{
    uint32_t place = h->count, found_place, found;
    *there = SF_GPU_FULL;
    for (uint32_t look = 0; h->close && __any_sync(SF_GPU_FULL, wanted) && look < SF_GPU_LOOKS; look++) {
        if (look > 0) sf_gpu_hold(h, min(h->at + SF_GPU_WARP * SF_GPU_HELD, h->count), lane);
        if (sf_gpu_look_held(h, position, &found_place, &found) && wanted) {
            place = found_place;
            *there = found;
            wanted = false;
        }
    }
    uint32_t open = __ballot_sync(SF_GPU_FULL, wanted);
    if (open == 0) return place;
    if (wanted) {
        place = sf_gpu_place_from(h->train, h->at, h->count, position);
        *there = place < h->count ? h->train[place].x : SF_GPU_FULL;
    }
    h->at = __shfl_sync(SF_GPU_FULL, place, SF_GPU_WARP - 1 - __clz((int)open));
    if (h->close) sf_gpu_hold(h, h->at, lane);
    return place;
}

/** The count of a list's extension by one unit: its ends are merged with the unit's spikes. Of the spikes
 * that an end owns the first alone can count, since all have its start. */
static __device__ inline uint32_t sf_gpu_count_extension(const uint2 *reaches, const uint2 *list,
                                                         uint32_t length, const uint2 *train, uint32_t count,
                                                         uint32_t lane)
{
    sf_gpu_held held = sf_gpu_hold_train(train, count, length, lane);
    uint32_t restart = 0, taken = 0, end, next_start;
    uint2 next = sf_gpu_window(list, length, reaches, lane, &next_start);
    for (uint32_t base = 0; base < length; base += SF_GPU_WARP) {
        uint32_t start = next_start;
        uint2 window = next; /* the next ones are on their way while these are looked for */
        next = sf_gpu_window(list, length, reaches, base + SF_GPU_WARP + lane, &next_start);
        sf_gpu_find(&held, base + lane < length, window.x, &end, lane);
        sf_gpu_take(end < window.y, make_uint2(end, start), &restart, &taken);
    }
    return taken;
}

/** Counts all extensions of a list by one delay, for the units of a tile, whose cells are cleared first. */
static __device__ inline void sf_gpu_extend_list(sf_gpu_cell *cells, sf_gpu_image image, const uint2 *reaches,
                                                 const uint2 *list, uint32_t length, uint32_t tile_begin,
                                                 uint32_t tile_end, uint32_t lane)
{
    for (uint32_t u = lane; u < tile_end - tile_begin; u += SF_GPU_WARP)
        cells[u] = make_uint2(0, 0);
    __syncwarp();
    for (uint32_t base = 0; base < length; base += SF_GPU_WARP) {
        uint32_t start;
        uint2 window = sf_gpu_window(list, length, reaches, base + lane, &start);
        sf_gpu_walk(cells, image, window, start, tile_begin, tile_end, lane);
    }
}

#endif
