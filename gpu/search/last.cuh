/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The last vertices of a search. When few are left, their levels cost what waiting costs: a few blocks, the
 * crew, search for them, while all others write out what is found. Each of the crew has a list of what is
 * left in its stretch of the numbers; who is found is written out at once, and nobody else writes it.
 */
#ifndef SF_GPU_SEARCH_LAST_CUH
#define SF_GPU_SEARCH_LAST_CUH

#include "gpu/search/bottom_up.cuh"

#define CREW 8u
#define TOGETHER 4u /* words of the bitmap that a lane of the crew reads */
#define FEW 128u    /* one in so many vertices */

namespace
{

/* The lists of a block of the crew, in memory of the queues of top-down levels. */
typedef struct last_lists {
    uint32_t *left[2];    /* at even and odd levels */
    uint32_t *fresh;      /* found in this level */
    uint32_t *visited;    /* the bitmap of the crew: that of the others stays as it was */
    uint32_t first, last; /* words of the block's stretch */
} last_lists;

/* And the frontier is greater than that, so that bottom-up is the way. */
__device__ bool few_are_left(const state *s, uint32_t found, uint32_t left)
{
    return s->levels != NULL && s->direction != SF_BFS_TOP_DOWN && gridDim.x >= 2 * CREW && found > left &&
           left <= s->graph.with_edges / FEW;
}

/* Appends values of this block's lanes. By whole warps. */
__device__ void append(uint32_t *list, uint32_t *count, bool mine, uint32_t value)
{
    uint32_t some = __ballot_sync(FULL, mine), place = 0;
    if (some == 0) return;
    if (lane_of() == 0) place = atomicAdd(count, __popc(some));
    place = __shfl_sync(FULL, place, 0) + __popc(some & below(lane_of()));
    if (mine) list[place] = value;
}

/* Where the list of a block has room for the `mine` vertices of this lane. Called by whole warps. */
__device__ uint32_t room_for(uint32_t *count, uint32_t mine)
{
    uint32_t sum = mine, lane = lane_of(), first = 0;
    for (uint32_t distance = 1; distance < WARP; distance *= 2) {
        uint32_t before = __shfl_up_sync(FULL, sum, distance);
        sum += lane >= distance ? before : 0;
    }
    if (lane == WARP - 1 && sum > 0) first = atomicAdd(count, sum);
    return __shfl_sync(FULL, first, WARP - 1) + sum - mine;
}

/* Lists the unvisited numbers of the block's stretch, and copies the bitmap. */
__device__ last_lists collect_left(const state *s, room *r, uint32_t current)
{
    uint32_t *memory = (uint32_t *)s->queue[0], n = s->graph.local_count;
    uint32_t first = (uint32_t)((uint64_t)s->words * blockIdx.x / CREW);
    uint32_t last = (uint32_t)((uint64_t)s->words * (blockIdx.x + 1) / CREW);
    uint32_t *left = memory + first * WARP;
    last_lists lists = {{left, left + n}, left + 2 * (size_t)n, s->visited[current ^ 1], first, last};
    if (threadIdx.x == 0) r->left = r->fresh = 0;
    __syncthreads();
    for (uint32_t base = first; base < last; base += BLOCK * TOGETHER) {
        uint32_t open[TOGETHER], count = 0;
#pragma unroll
        for (uint32_t j = 0; j < TOGETHER; j++) {
            uint32_t i = base + j * BLOCK + threadIdx.x;
            open[j] = i < last ? ~__ldcg(s->visited[current] + i) : 0;
        }
#pragma unroll
        for (uint32_t j = 0; j < TOGETHER; j++) {
            uint32_t i = base + j * BLOCK + threadIdx.x;
            if (i < last) lists.visited[i] = ~open[j];
            count += __popc(open[j]);
        }
        uint32_t place = room_for(&r->left, count);
#pragma unroll
        for (uint32_t j = 0; j < TOGETHER; j++)
            for (uint32_t i = base + j * BLOCK + threadIdx.x; open[j] != 0; open[j] &= open[j] - 1)
                left[place++] = i * WARP + __ffs(open[j]) - 1;
    }
    return lists;
}

/* The vertex of the parent of a lane's v, or NONE. By whole warps. */
__device__ uint32_t find_parent(const state *s, const room *r, const uint32_t *visited, bool there,
                                uint32_t v)
{
    uint32_t greatest = there ? __ldg(s->graph.greatest + v) : SF_GPU_ALONE, parent = NONE;
    uint4 head = make_uint4(0, 0, 0, 0);
    if (greatest != SF_GPU_ALONE && is_visited(s, r, visited, greatest & ~SF_GPU_ONLY))
        parent = greatest & ~SF_GPU_ONLY;
    else if ((greatest & SF_GPU_ONLY) == 0)
        head = __ldg(s->graph.heads + v);
    bool more = (head.w & SF_GPU_MORE) != 0;
    head.w &= ~SF_GPU_MORE;
    if (parent == NONE && (greatest & SF_GPU_ONLY) == 0) parent = visited_of_three(s, r, visited, head);
    bool rests = more && parent == NONE;
    if (__any_sync(FULL, rests)) {
        uint32_t found = read_rest(s, r, visited, rests, v);
        parent = rests ? found : parent;
    }
    return parent != NONE ? __ldg(s->graph.original + parent) : NONE;
}

/* A vertex of this lane as the user has it; numbers that are not in use have none. */
__device__ void write_one(const state *s, uint32_t v, uint32_t level, uint32_t parent)
{
    uint32_t vertex = __ldg(s->graph.original + v);
    if (vertex == NONE) return;
    s->levels[vertex - s->graph.first_vertex] = level;
    s->parents[vertex - s->graph.first_vertex] = parent;
}

/* Those of the list that the level finds go to lists->fresh, the others to the next list. Returns how many
 * the crew has found. */
__device__ uint32_t search_left(const state *s, room *r, const last_lists *lists, const uint32_t *visited,
                                uint32_t level)
{
    const uint32_t *from = lists->left[(level - 1) % 2];
    uint32_t count = r->left;
    load_hubs(s, r, visited);
    if (threadIdx.x == 0) r->left = r->fresh = 0;
    __syncthreads();
    for (uint32_t base = 0; base < count; base += BLOCK) {
        bool there = base + threadIdx.x < count;
        uint32_t v = there ? from[base + threadIdx.x] : 0;
        uint32_t parent = find_parent(s, r, visited, there, v);
        if (parent != NONE) write_one(s, v, level, parent);
        append(lists->fresh, &r->fresh, parent != NONE, v);
        append(lists->left[level % 2], &r->left, there && parent == NONE, v);
    }
    __syncthreads();
    if (threadIdx.x == 0) r->last.found = come_and_wait(s->meeting->crew, &r->crew, CREW, r->fresh);
    __syncthreads();
    return r->last.found;
}

/* What the level found becomes visited. */
__device__ void visit_fresh(const state *s, room *r, const last_lists *lists)
{
    for (uint32_t i = threadIdx.x; i < r->fresh; i += BLOCK)
        atomicOr(lists->visited + lists->fresh[i] / WARP, 1u << lists->fresh[i] % WARP);
    __syncthreads();
    if (threadIdx.x == 0) come_and_wait(s->meeting->crew, &r->crew, CREW, 0);
    __syncthreads();
}

/* By the crew: the levels from `level` on; `left` vertices can be found at most. Leaves its bitmap clear. */
__device__ void search_last(const state *s, room *r, uint32_t current, uint32_t level, uint32_t left)
{
    last_lists lists = collect_left(s, r, current);
    if (level % 2 == 0) { /* the list is where level 1 reads */
        uint32_t *other = lists.left[0];
        lists.left[0] = lists.left[1];
        lists.left[1] = other;
    }
    __syncthreads();
    for (const uint32_t *visited = s->visited[current];; visited = lists.visited, level++) {
        uint32_t found = search_left(s, r, &lists, visited, level);
        if (found > 0 && blockIdx.x == 0 && threadIdx.x == 0) record(s, &r->last, level, true);
        left -= found;
        if (found == 0 || left == 0) break;
        visit_fresh(s, r, &lists);
    }
    for (uint32_t i = threadIdx.x; i < r->left; i += BLOCK)
        write_one(s, lists.left[level % 2][i], NONE, NONE);
    for (uint32_t i = lists.first + threadIdx.x; i < lists.last; i += BLOCK)
        lists.visited[i] = 0;
}

} // namespace

#endif
