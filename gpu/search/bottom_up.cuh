/* SPDX-License-Identifier: Apache-2.0 */
/** Levels in which every unvisited vertex looks for a visited neighbour. */
#ifndef SF_GPU_SEARCH_BOTTOM_UP_CUH
#define SF_GPU_SEARCH_BOTTOM_UP_CUH

#include "gpu/search/searching.cuh"

namespace
{

__device__ bool is_visited(const state *s, const room *r, const uint32_t *visited, uint32_t v)
{
    uint32_t word = v < s->graph.hub_count ? r->hubs[v / WARP] : visited[v / WARP];
    return word >> v % WARP & 1;
}

/* A visited one of three neighbours, or NONE. */
__device__ uint32_t visited_of_three(const state *s, const room *r, const uint32_t *visited, uint4 four)
{
    bool y = is_visited(s, r, visited, four.y), z = is_visited(s, r, visited, four.z);
    bool w = is_visited(s, r, visited, four.w);
    return y ? four.y : z ? four.z : w ? four.w : NONE;
}

/* The same of four. The first is asked alone: it nearly always is one. */
__device__ uint32_t visited_of(const state *s, const room *r, const uint32_t *visited, uint4 four)
{
    return is_visited(s, r, visited, four.x) ? four.x : visited_of_three(s, r, visited, four);
}

/* The same of the pieces after the first of the list of each lane that has a vertex. By whole warps. */
__device__ uint32_t read_rest(const state *s, const room *r, const uint32_t *visited, bool there, uint32_t v)
{
    uint32_t lane = lane_of(), piece = 0, last = 0, parent = NONE;
    const uint4 *targets = s->graph.in.targets;
    if (there) {
        piece = __ldg(s->graph.in.starts + v) + 1;
        last = __ldg(s->graph.in.starts + v + 1);
    }
    for (uint32_t stop = min(last, piece + PIECES_ALONE); piece < stop && parent == NONE; piece += 2) {
        uint4 one = __ldg(targets + piece), two = __ldg(targets + min(piece + 1, last - 1));
        uint32_t first = visited_of(s, r, visited, one), second = visited_of(s, r, visited, two);
        parent = first != NONE ? first : second;
    }
    uint32_t left = __ballot_sync(FULL, parent == NONE && piece < last);
    for (; left != 0; left &= left - 1) {
        int of = __ffs(left) - 1;
        uint32_t begin = __shfl_sync(FULL, piece, of), end = __shfl_sync(FULL, last, of), hits = 0,
                 own = NONE;
        for (; begin < end && hits == 0; begin += WARP) {
            own = begin + lane < end ? visited_of(s, r, visited, __ldg(targets + begin + lane)) : NONE;
            hits = __ballot_sync(FULL, own != NONE);
        }
        own = __shfl_sync(FULL, own, hits != 0 ? __ffs(hits) - 1 : 0);
        parent = (int)lane == of ? own : parent;
    }
    return parent;
}

__device__ void settle(const state *s, room *r, uint32_t base, uint32_t offset, uint32_t level,
                       uint32_t parent)
{
    if (parent == NONE) return;
    keep_other(s, base * WARP + offset, level, __ldg(s->graph.original + parent));
    atomicOr(&r->found[threadIdx.x / WARP][offset / WARP], 1u << offset % WARP);
}

/* The last waiting vertices, up to 64 and two per lane, read the heads of their neighbour lists. The first
 * neighbour is the greatest, which they have asked before. A vertex that found no parent and has a longer
 * list goes to r->resting. Returns the number that still wait. */
__device__ uint32_t ask_heads(const state *s, room *r, const uint32_t *visited, uint32_t base, uint32_t level,
                              uint32_t waiting, uint32_t *resting)
{
    uint32_t lane = lane_of(), warp = threadIdx.x / WARP, offset[2];
    uint32_t first = waiting > 2 * WARP ? waiting - 2 * WARP : 0;
    uint4 head[2];
    bool there[2];
#pragma unroll
    for (int k = 0; k < 2; k++) {
        uint32_t i = first + k * WARP + lane;
        there[k] = i < waiting;
        offset[k] = there[k] ? r->waiting[warp][i] : 0;
        head[k] = there[k] ? __ldg(s->graph.heads + base * WARP + offset[k]) : make_uint4(0, 0, 0, 0);
    }
#pragma unroll
    for (int k = 0; k < 2; k++) {
        bool more = (head[k].w & SF_GPU_MORE) != 0;
        head[k].w &= ~SF_GPU_MORE;
        uint32_t parent = there[k] ? visited_of_three(s, r, visited, head[k]) : NONE;
        bool rests = more && parent == NONE;
        uint32_t rest = __ballot_sync(FULL, rests);
        if (rests) r->resting[warp][*resting + __popc(rest & below(lane))] = (uint16_t)offset[k];
        *resting += __popc(rest);
        settle(s, r, base, offset[k], level, parent);
    }
    __syncwarp();
    return first;
}

/* Up to 32 of those that rest read on. Returns how many are left. */
__device__ uint32_t ask_on(const state *s, room *r, const uint32_t *visited, uint32_t base, uint32_t level,
                           uint32_t resting)
{
    uint32_t first = resting > WARP ? resting - WARP : 0, i = first + lane_of();
    bool there = i < resting;
    uint32_t offset = there ? r->resting[threadIdx.x / WARP][i] : 0;
    settle(s, r, base, offset, level, read_rest(s, r, visited, there, base * WARP + offset));
    __syncwarp();
    return first;
}

/* Asks the greatest neighbour of the vertices in some of the warp's 32 words. A vertex without a parent that
 * has more neighbours goes to r->waiting. Returns the bits of those that found one in the word of this lane.
 */
__device__ uint32_t ask_greatest(const state *s, room *r, const uint32_t *visited, uint32_t base,
                                 uint32_t seen, uint32_t which, uint32_t level, uint32_t *waiting)
{
    uint32_t lane = lane_of(), warp = threadIdx.x / WARP, own = 0;
    uint32_t greatest[AT_ONCE], place[AT_ONCE], word[AT_ONCE];
#pragma unroll
    for (uint32_t j = 0; j < AT_ONCE; j++) {
        place[j] = which != 0 ? __ffs(which) - 1 : NONE;
        which &= which - 1;
        bool done = place[j] == NONE || (__shfl_sync(FULL, seen, place[j] % WARP) >> lane & 1);
        greatest[j] = done ? SF_GPU_ALONE : __ldg(s->graph.greatest + (base + place[j]) * WARP + lane);
    }
#pragma unroll
    for (uint32_t j = 0; j < AT_ONCE; j++) {
        uint32_t v = greatest[j] & ~SF_GPU_ONLY;
        word[j] = 0;
        if (v < s->graph.hub_count)
            word[j] = r->hubs[v / WARP];
        else if (greatest[j] != SF_GPU_ALONE)
            word[j] = visited[v / WARP];
    }
#pragma unroll
    for (uint32_t j = 0; j < AT_ONCE; j++) {
        bool hit = word[j] >> greatest[j] % WARP & 1, later = !hit && (greatest[j] & SF_GPU_ONLY) == 0;
        if (hit) keep(s, (base + place[j]) * WARP + lane, level);
        uint32_t hits = __ballot_sync(FULL, hit), laters = __ballot_sync(FULL, later);
        own = lane == place[j] ? hits : own;
        if (later)
            r->waiting[warp][*waiting + __popc(laters & below(lane))] = (uint16_t)(place[j] * WARP + lane);
        *waiting += __popc(laters);
    }
    __syncwarp();
    return own;
}

/* Up to 32 words of vertices, a word a lane: who is found of the word of this lane. */
__device__ uint32_t search_words(const state *s, room *r, const uint32_t *visited, uint32_t base,
                                 uint32_t seen, uint32_t level)
{
    uint32_t warp = threadIdx.x / WARP, own = 0, waiting = 0, resting = 0;
    uint32_t open = __ballot_sync(FULL, seen != FULL);
    if (open == 0) return 0;
    r->found[warp][lane_of()] = 0;
    __syncwarp();
    while (open != 0 || waiting > 0) {
        if (open != 0) own |= ask_greatest(s, r, visited, base, seen, open, level, &waiting);
        for (uint32_t j = 0; j < AT_ONCE; j++)
            open &= open - 1;
        while (waiting >= 2 * WARP || (open == 0 && waiting > 0)) {
            waiting = ask_heads(s, r, visited, base, level, waiting, &resting);
            while (resting >= WARP)
                resting = ask_on(s, r, visited, base, level, resting);
        }
    }
    if (resting > 0) ask_on(s, r, visited, base, level, resting);
    return own | r->found[warp][lane_of()];
}

/* By whole blocks. */
__device__ void load_hubs(const state *s, room *r, const uint32_t *visited)
{
    for (uint32_t i = threadIdx.x; i < HUB_WORDS && i < s->words; i += BLOCK)
        r->hubs[i] = __ldcg(visited + i);
    __syncthreads();
}

/* Every warp takes a stretch of the vertices that are here, so that all have as much. put(word, before, bits)
 * takes a word of the next bitmap: what was visited, and what was found. */
template <typename putter>
__device__ uint32_t search_up(const state *s, room *r, const uint32_t *visited, uint32_t level, putter put)
{
    uint32_t lane = lane_of(), found = 0, warps = gridDim.x * WARPS, words = s->graph.local_count / WARP;
    load_hubs(s, r, visited);
    uint32_t first = (uint32_t)((uint64_t)words * warp_of() / warps);
    uint32_t last = (uint32_t)((uint64_t)words * (warp_of() + 1) / warps);
    uint32_t rounds = (last - first + WARP - 1) / WARP,
             step = rounds > 0 ? (last - first + rounds - 1) / rounds : 1;
    for (uint32_t base = first; base < last; base += step) {
        uint32_t word = inner_word(s, base + lane), before = FULL;
        bool there = lane < step && base + lane < last;
        if (there) before = __ldcg(visited + word);
        uint32_t bits = search_words(s, r, visited, base, before, level);
        if (there) put(word, before, bits);
        found += __popc(bits);
        __syncwarp();
    }
    return found;
}

} // namespace

#endif
