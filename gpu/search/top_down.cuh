/* SPDX-License-Identifier: Apache-2.0 */
/** Levels in which the vertices of the frontier look for unvisited neighbours. */
#ifndef SF_GPU_SEARCH_TOP_DOWN_CUH
#define SF_GPU_SEARCH_TOP_DOWN_CUH

#include "gpu/search/searching.cuh"

namespace
{

/* Where each lane puts its `own` entries in a list of *count, which grows. Called by whole warps. */
__device__ uint32_t place_of(uint32_t *count, uint32_t own)
{
    uint32_t lane = lane_of(), some = __ballot_sync(FULL, own > 0), sum = own, place = 0;
    if (__any_sync(FULL, own > 1)) {
        for (uint32_t distance = 1; distance < WARP; distance *= 2) {
            uint32_t before = __shfl_up_sync(FULL, sum, distance);
            sum += lane >= distance ? before : 0;
        }
        sum -= own;
    } else {
        sum = __popc(some & below(lane));
    }
    if (some == 0) return 0;
    uint32_t of = 31 - __clz(some); /* the last with any */
    if (lane == of) place = atomicAdd(count, sum + own);
    return __shfl_sync(FULL, place, of) + sum;
}

/* Appends the out-lists of up to four vertices of each lane: those with a bit in `mine`. By whole warps.
 * Returns the edges of this lane's. */
template <bool parted>
__device__ uint32_t enqueue(const state *s, tally *t, uint32_t level, uint32_t mine, const uint32_t ids[4])
{
    uint32_t first[4], last[4], count[4], sum = 0, edges = 0;
    item *queue = s->queue[level % 2];
#pragma unroll
    for (uint32_t j = 0; j < 4; j++) {
        uint32_t local = local_of<parted>(s, ids[j]);
        first[j] = mine >> j & 1 ? __ldg(s->graph.out.starts + local) : 0;
        last[j] = mine >> j & 1 ? __ldg(s->graph.out.starts + local + 1) : 0;
    }
#pragma unroll
    for (uint32_t j = 0; j < 4; j++) {
        count[j] = (last[j] - first[j] + PIECES_AN_ITEM - 1) / PIECES_AN_ITEM;
        edges += (last[j] - first[j]) * 4;
        if (count[j] > MOST_ITEMS) {
            s->large[level % 2][atomicAdd(&t->large, 1)] = item{ids[j], first[j], last[j], 0};
            count[j] = 0;
        }
        sum += count[j];
    }
    uint32_t place = place_of(&t->items, sum);
#pragma unroll
    for (uint32_t j = 0; j < 4; j++)
        for (uint32_t i = 0, from = first[j]; i < count[j]; i++, from += PIECES_AN_ITEM)
            queue[place++] = item{ids[j], from, min(last[j], from + PIECES_AN_ITEM), 0};
    return edges;
}

/* A vertex of each lane for which `mine` holds. */
template <bool parted>
__device__ uint32_t enqueue_one(const state *s, tally *t, uint32_t level, bool mine, uint32_t v)
{
    uint32_t ids[4] = {v, 0, 0, 0};
    return enqueue<parted>(s, t, level, mine, ids);
}

__device__ bool claim(uint32_t *visited, uint32_t v, uint32_t seen)
{
    uint32_t bit = 1u << v % WARP;
    return (seen & bit) == 0 && (atomicOr(visited + v / WARP, bit) & bit) == 0;
}

/* Whether the lists of a vertex are here. */
template <bool parted> __device__ bool is_here(const state *s, uint32_t inner)
{
    const sf_gpu_arranged *g = &s->graph;
    if (!parted) return true;
    if (inner >= g->hub_room) return inner - g->shift - g->hub_room < g->local_count - g->hub_room;
    uint32_t v = __ldg(g->original + inner);
    return v >= g->first_vertex && v < g->last_vertex;
}

/* Tells the other parts of those of up to four vertices of each lane with a bit in `mine`. By whole warps. */
__device__ void send(const state *s, tally *t, uint32_t mine, const uint32_t ids[4], uint32_t parent)
{
    uint32_t place = place_of(&t->sent, __popc(mine));
#pragma unroll
    for (uint32_t j = 0; j < 4; j++)
        if (mine >> j & 1) s->outbox[place++] = make_uint2(ids[j], parent);
}

/* The bits of those of four vertices of this lane that were still unvisited when it set their bits. All are
 * asked, and all are set, at once: where neighbours are near each other most are visited, and share words. */
__device__ uint32_t claim_four(uint32_t *visited, bool there, const uint32_t ids[4], uint32_t v)
{
    uint32_t seen[4], mine = 0;
#pragma unroll
    for (uint32_t j = 0; j < 4; j++)
        seen[j] = there && ids[j] != v ? __ldcg(visited + ids[j] / WARP) : FULL;
#pragma unroll
    for (uint32_t j = 0; j < 4; j++)
        if ((seen[j] >> ids[j] % WARP & 1) == 0)
            seen[j] = atomicOr(visited + ids[j] / WARP, 1u << ids[j] % WARP);
#pragma unroll
    for (uint32_t j = 0; j < 4; j++)
        mine |= (~seen[j] >> ids[j] % WARP & 1) << j;
    return mine;
}

/* Looks along the edges of a piece of each lane's v. By whole warps. Returns what this lane found. */
template <bool parted>
__device__ uint32_t look_down(const state *s, tally *t, uint32_t *visited, uint32_t level, bool there,
                              uint32_t v, uint32_t piece, unsigned long long *edges)
{
    uint4 targets = there ? __ldg(s->graph.out.targets + piece) : make_uint4(0, 0, 0, 0);
    uint32_t ids[4] = {targets.x, targets.y, targets.z, targets.w};
    uint32_t mine = claim_four(visited, there, ids, v);
    if (__all_sync(FULL, mine == 0)) return 0;
    uint32_t parent = __ldg(s->graph.original + v); /* on its way while the lists are looked up */
    if (parted) {
        send(s, t, mine, ids, parent);
        for (uint32_t j = 0; j < 4; j++)
            mine &= is_here<parted>(s, ids[j]) ? FULL : ~(1u << j);
    }
    *edges += enqueue<parted>(s, t, level, mine, ids);
#pragma unroll
    for (uint32_t j = 0; j < 4; j++)
        if (mine >> j & 1) keep_other(s, local_of<parted>(s, ids[j]), level, parent);
    return __popc(mine);
}

/* Up to 32 pieces in a row of one list. */
template <bool parted>
__device__ uint32_t look_along(const state *s, tally *t, uint32_t *visited, uint32_t level, uint32_t v,
                               uint32_t piece, uint32_t last, unsigned long long *edges)
{
    piece += lane_of();
    return look_down<parted>(s, t, visited, level, piece < last, v, piece, edges);
}

/* The pieces of an item of each lane, 32 at a time, so that short lists fill a warp. */
template <bool parted>
__device__ uint32_t look_along_all(const state *s, tally *t, uint32_t *visited, uint32_t level, uint4 own,
                                   unsigned long long *edges)
{
    uint32_t lane = lane_of(), end = own.z - own.y, found = 0;
    if (__all_sync(FULL, own.z - own.y <= 1))
        return look_down<parted>(s, t, visited, level, own.z > own.y, own.x, own.y, edges);
    for (uint32_t distance = 1; distance < WARP; distance *= 2) {
        uint32_t before = __shfl_up_sync(FULL, end, distance);
        end += lane >= distance ? before : 0;
    }
    uint32_t offset = own.z - end; /* of a piece's number in the list, less its number among all */
    for (uint32_t done = 0, all = __shfl_sync(FULL, end, WARP - 1); done < all; done += WARP) {
        uint32_t i = done + lane, of = 0; /* the first lane whose pieces end after i */
#pragma unroll
        for (uint32_t half = WARP / 2; half > 0; half /= 2)
            of += __shfl_sync(FULL, end, of + half - 1) <= i ? half : 0;
        uint32_t v = __shfl_sync(FULL, own.x, of);
        uint32_t piece = i + __shfl_sync(FULL, offset, of);
        found += look_down<parted>(s, t, visited, level, i < all, v, piece, edges);
    }
    return found;
}

/* By `warps` warps, of which this is number `warp`: the lists of the frontier that `last` tells of, as many
 * items to each. */
template <bool parted>
__device__ uint32_t search_down(const state *s, const tally *last, tally *t, uint32_t *visited,
                                uint32_t level, uint32_t warp, uint32_t warps, unsigned long long *edges)
{
    uint32_t found = 0, count = last->items, large = last->large, lane = lane_of();
    const uint4 *items = (const uint4 *)s->queue[(level - 1) % 2]; /* vertex, first, last */
    const uint4 *lists = (const uint4 *)s->large[(level - 1) % 2];
    if (warp < count && count <= warps) {
        uint4 own = __ldcg(items + warp);
        found += look_along<parted>(s, t, visited, level, own.x, own.y, own.z, edges);
    } else if (warp < count) {
        uint32_t each = (count + warps - 1) / warps, first = warp * each, end = min(count, first + each);
        for (uint32_t i = first; i < end; i += WARP) {
            uint4 own = i + lane < end ? __ldcg(items + i + lane) : make_uint4(0, 0, 0, 0);
            found += look_along_all<parted>(s, t, visited, level, own, edges);
        }
    }
    for (uint32_t i = 0; i < large; i++) { /* each begins with another warp */
        uint4 own = __ldcg(lists + i);
        uint32_t begin = own.y + (warp + i * 97) % warps * PIECES_AN_ITEM;
        for (uint32_t piece = begin; piece < own.z; piece += warps * PIECES_AN_ITEM)
            found += look_along<parted>(s, t, visited, level, own.x, piece, own.z, edges);
    }
    return found;
}

/* The queue of a level that was searched bottom-up: what one bitmap has and the other has not. */
template <bool parted>
__device__ void enqueue_difference(const state *s, tally *t, uint32_t level, const uint32_t *before,
                                   const uint32_t *after)
{
    uint32_t lane = lane_of(), words = s->graph.local_count / WARP;
    for (uint32_t base = warp_of() * WARP; base < words; base += gridDim.x * WARPS * WARP) { /* local */
        uint32_t word = inner_word(s, base + lane), fresh = 0;
        if (base + lane < words) fresh = __ldcg(before + word) ^ __ldcg(after + word);
        for (uint32_t some = __ballot_sync(FULL, fresh != 0); some != 0; some &= some - 1) {
            int of = __ffs(some) - 1;
            uint32_t bits = __shfl_sync(FULL, fresh, of);
            uint32_t v = __shfl_sync(FULL, word, of) * WARP + lane;
            bool mine = (bits >> lane & 1) && is_here<parted>(s, v);
            enqueue_one<parted>(s, t, level, mine, v);
        }
    }
}

} // namespace

#endif
