/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Levels of small frontiers, which cost what meeting costs: one block searches them, as long as they stay
 * small, while all others wait for the next that is not. A path or a grid has thousands of them in a row.
 */
#ifndef SF_GPU_SEARCH_ALONE_CUH
#define SF_GPU_SEARCH_ALONE_CUH

#include "gpu/search/last.cuh"
#include "gpu/search/top_down.cuh"

#ifndef ALONE_FROM
#define ALONE_FROM 512u   /* edges out of the frontier: the most that one block begins with */
#define ALONE_UP_TO 1024u /* and goes on with so many */
#endif

namespace
{

/* Where a search has come to. */
typedef struct progress {
    uint32_t level;       /* the last that was searched */
    uint32_t total, left; /* vertices found, and that may still be found */
    uint32_t component;   /* as of the meeting */
    bool few;             /* are left, and for the crew */
} progress;

/* How many vertices a search can reach at most. */
__device__ uint32_t reach_of(const state *s, const room *r, uint32_t component)
{
    return r->hub_visited && component != 0 ? component : s->graph.with_edges;
}

/* Whether there is no level for all blocks after the one that `last` tells of. */
__device__ bool is_over(const state *s, const room *r, const tally *last, progress *p)
{
    p->left = reach_of(s, r, p->component) - p->total;
    p->few = last->found > 0 && p->left > 0 && few_are_left(s, last->found, p->left);
    return last->found == 0 || p->left == 0 || p->few;
}

/* What a warp found, and the edges of that, into a tally of this block. By whole warps. */
__device__ void add(tally *t, uint32_t found, unsigned long long edges)
{
    if (!__any_sync(FULL, found > 0)) return;
    found = sum_of_warp(found);
    uint32_t pieces = sum_of_warp((uint32_t)(edges / 4)); /* of different lists: fewer than 2^32 */
    if (lane_of() == 0) {
        atomicAdd(&t->found, found);
        atomicAdd(&t->edges, 4ull * pieces);
    }
}

/* By the block that searches alone: top-down, to the level after which the frontier is not for one block.
 * Returns what that level found. The block meets once a level, so that a tally is cleared while nobody needs
 * it, and the thread that records a level is of the warp that has work last. */
__device__ const tally *search_small(const state *s, room *r, uint32_t *visited, progress *p)
{
    const tally *last = &r->last;
    bool keeps = threadIdx.x == BLOCK - 1;
    if (keeps) r->small[(p->level + 1) % SMALL_LEVELS] = tally{0, 0, 0, 0, 0};
    __syncthreads();
    do {
        uint32_t level = ++p->level;
        tally *t = &r->small[level % SMALL_LEVELS];
        if (keeps) r->small[(level + 1) % SMALL_LEVELS] = tally{0, 0, 0, 0, 0};
        unsigned long long edges = 0;
        uint32_t found = search_down<false>(s, last, t, visited, level, threadIdx.x / WARP, WARPS, &edges);
        add(t, found, edges);
        __syncthreads();
        last = t;
        if (keeps && last->found > 0) record(s, last, level, false);
        p->total += last->found;
    } while (!is_over(s, r, last, p) && last->edges <= ALONE_UP_TO && !choose_up(s, last, false, p->left));
    return last;
}

/* Whether the frontier in `last` is for one block. */
__device__ bool is_small(const tally *last)
{
    return last->edges <= ALONE_FROM;
}

/* By all blocks: the small levels from the next on, and a meeting. `t` is clear; it tells of the last one. */
__device__ void search_alone(const state *s, room *r, tally *t, uint32_t *visited, progress *p)
{
    uint32_t before = p->total;
    if (blockIdx.x == 0) {
        const tally *last = search_small(s, r, visited, p);
        if (threadIdx.x == 0) *t = tally{last->edges, last->found, last->items, last->large, p->level};
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        r->fresh = come_and_wait(s->meeting->came, &r->all, gridDim.x, p->total - before);
        r->last = tally{__ldcg(&t->edges), __ldcg(&t->found), __ldcg(&t->items), __ldcg(&t->large), 0};
        r->left = __ldcg(&t->sent);
    }
    __syncthreads();
    p->total = before + r->fresh;
    p->level = r->left;
}

} // namespace

#endif
