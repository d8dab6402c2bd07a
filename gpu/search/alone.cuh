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
#define ALONE_FROM 512u   /* edges out of the frontier: one block begins with so many at most */
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

/* Whether there is no level for all blocks after the one that r->last tells of. */
__device__ bool is_over(const state *s, const room *r, progress *p)
{
    p->left = reach_of(s, r, p->component) - p->total;
    p->few = r->last.found > 0 && p->left > 0 && few_are_left(s, r->last.found, p->left);
    return r->last.found == 0 || p->left == 0 || p->few;
}

/* By the block that searches alone: top-down, to the level after which the frontier is not for one block. */
__device__ void search_small(const state *s, room *r, uint32_t *visited, progress *p)
{
    do {
        unsigned long long edges = 0;
        if (threadIdx.x == 0)
            r->own = tally{0, 0, 0, 0, 0};
        __syncthreads();
        uint32_t found =
            search_down<false>(s, r, &r->own, visited, ++p->level, threadIdx.x / WARP, WARPS, &edges);
        sum_of_block(r, &found, &edges);
        if (threadIdx.x == 0) {
            r->last = tally{edges, found, r->own.items, r->own.large, 0};
            if (found > 0)
                record(s, &r->last, p->level, false);
        }
        __syncthreads();
        p->total += r->last.found;
    } while (!is_over(s, r, p) && r->last.edges <= ALONE_UP_TO && !choose_up(s, &r->last, false, p->left));
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
    if (blockIdx.x == 0)
        search_small(s, r, visited, p);
    __syncthreads();
    if (threadIdx.x == 0) {
        if (blockIdx.x == 0)
            *t = tally{r->last.edges, r->last.found, r->last.items, r->last.large, p->level};
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
