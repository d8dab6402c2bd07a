/* SPDX-License-Identifier: Apache-2.0 */
/* Subgraph matching, engine auto: depth-first search over sorted lists of candidates, by warps.
 *
 * A warp holds at most 32 partial embeddings of each size, one level of the search above the other, entries
 * that point to the level before as in a prefix tree. It takes the candidates of the next step of all of them
 * as one sequence, so that every lane has one to try, and fills the next level with those that fit: lists are
 * never stored, memory does not depend on the graph, and lanes idle only where a level does not fill up. What
 * comes after the core is not searched but counted for 32 embeddings at once.
 *
 * Work is shared out in rounds of one cooperative kernel. A round has a list of tasks, partial embeddings
 * with the candidates that are left of one step, or embeddings of the core, which warps take in batches. Once
 * all are taken, a warp that still searches hands out what it has left, in pieces, as tasks of the next
 * round. So no warp waits for a subtree that others could help with, and the list is bounded by what all
 * warps hold. */
#include "gpu/match/match_groups.cuh"

#include <cooperative_groups.h>

namespace
{

enum {
    PIECES = LANES, /* the approximate number of tasks that a level is handed out in */
    REPORTING = 64  /* such times at most between two reports where there is a limit */
};

/* ---- a level of the core ---- */

/* Adds what the warp found to what all have found, and stops them beyond the limit. */
__device__ void report(warp &w)
{
    unsigned long long found = w.found, tried = w.tried;
    w.found = w.tried = 0;
    for (unsigned k = LANES / 2; k > 0; k /= 2) {
        found = sf_gpu_add(found, __shfl_down_sync(ALL_LANES, found, k));
        tried += __shfl_down_sync(ALL_LANES, tried, k);
    }
    if (w.lane > 0) return;
    sf_gpu_match_control *shared = w.s.shared;
    atomicAdd(&shared->tried, tried);
    unsigned long long before = found > 0 ? atomicAdd(&shared->found, found) : 0;
    if (before + found < before || found == ~0ull) atomicExch(&shared->overflow, 1u);
    if (w.s.most != ~0ull && sf_gpu_add(before, found) > w.s.most) {
        atomicExch(&shared->beyond, 1u);
        atomicExch(&shared->stop, 1u);
    }
}

/* Where there is a limit, tells now and then what the warp has found: more often in the beginning, since all
 * warps together may pass the limit at once. */
__device__ void look_at_limit(warp &w)
{
    w.trials++;
    if (w.s.most != ~0ull && ((w.trials & (w.trials - 1)) == 0 || w.trials % REPORTING == 0)) report(w);
}

/* What others do, asked for before a candidate is tried and looked at after that, so that nobody waits for
 * the answer. */
struct glance {
    uint32_t taken, stop;
};

__device__ glance ask(const warp &w)
{
    return {__ldcg(&w.s.shared->queues[w.round % 3].taken), __ldcg(&w.s.shared->stop)};
}

/* Whether to hand out what is left, since no task is left for others, or leave it. At once: to try more
 * candidates first was slower on nearly every search, since those with nothing to do are most of the machine.
 */
__device__ bool must_share(warp &w, const glance &others)
{
    look_at_limit(w);
    w.stops = __any_sync(ALL_LANES, others.stop != 0);
    w.shares = w.stops || __any_sync(ALL_LANES, others.taken >= w.batches);
    return w.shares;
}

/* Goes through the candidates of a level until 32 that fit fill the next one, none is left, or others have
 * nothing to do. */
__device__ uint32_t fill_next(warp &w, int depth)
{
    const step &t = w.s.steps[depth + 1];
    level &l = w.levels[depth], &next = w.levels[depth + 1];
    uint32_t filled = 0, cursor = l.cursor, total = l.end[LANES - 1];
    bool goes_on = true;
    while (filled < LANES && cursor < total && goes_on) {
        glance others = ask(w);
        trial c = try_next(w, depth, t, cursor);
        uint32_t fitting = __ballot_sync(ALL_LANES, c.fits);
        uint32_t to = filled + __popc(fitting & ((1u << w.lane) - 1));
        if (c.fits && to < LANES) {
            next.place[to] = c.place;
            next.vertex[to] = c.vertex;
            next.parent[to] = (uint8_t)c.entry;
        }
        uint32_t over = __ballot_sync(ALL_LANES, c.fits && to == LANES); /* the first that has no room */
        cursor += over != 0 ? __ffs(over) - 1 : min(LANES, total - cursor);
        filled = min(LANES, filled + __popc(fitting));
        goes_on = !must_share(w, others);
    }
    __syncwarp();
    if (w.lane == 0) {
        l.cursor = cursor;
        next.count = filled;
    }
    __syncwarp();
    return filled;
}

/* A row for one more embedding: what an entry has matched. NULL where there is no room. */
__device__ uint32_t *list_entry(warp &w, int depth, uint32_t e)
{
    unsigned long long row = atomicAdd(&w.s.shared->listed, 1ull);
    if (row >= w.s.most) return NULL;
    uint32_t *out = w.s.rows + row * w.s.step_count;
    for (int d = depth; d >= 0; e = w.levels[d].parent[e], d--)
        out[d] = w.levels[d].vertex[e];
    return out;
}

/* The last step, with nothing after the core: what fits is an embedding. Until none is left, or others have
 * nothing to do. */
__device__ void count_last(warp &w, int depth)
{
    level &l = w.levels[depth];
    uint32_t cursor = l.cursor, total = l.end[LANES - 1];
    bool goes_on = true;
    for (; cursor < total && goes_on; cursor += min(LANES, total - cursor)) {
        glance others = ask(w);
        trial c = try_next(w, depth, w.s.steps[depth + 1], cursor);
        w.found += c.fits;
        uint32_t *row = c.fits && w.s.rows != NULL ? list_entry(w, depth, c.entry) : NULL;
        if (row != NULL) row[depth + 1] = c.vertex;
        goes_on = !must_share(w, others);
    }
    __syncwarp();
    if (w.lane == 0) l.cursor = cursor;
    __syncwarp();
}

/* ---- behind it ---- */

__device__ void finish(warp &w, int depth)
{
    unsigned long long ways = w.lane < w.levels[depth].count;
    if (w.s.rows != NULL && ways != 0) /* only a pattern of one vertex is listed from here */
        list_entry(w, depth, w.lane);
    for (uint32_t g = 0; g < w.s.group_count && __any_sync(ALL_LANES, ways != 0); g++)
        ways = sf_gpu_multiply(ways, count_group(w, depth, w.s.groups[g], (w.s.alike >> g & 1) != 0));
    w.found = sf_gpu_add(w.found, ways);
    __syncwarp();
}

/* ---- tasks ---- */

/* A task of a depth is a column of words: the places of its steps, and what is left of the candidates of the
 * next one: where they begin, how many they are, and whose list they are. Those of the last depth are
 * embeddings of the core; no candidates are left. */
__device__ uint32_t *task_words(const search &s, unsigned round, int depth)
{
    return s.tasks[round & 1] + (size_t)s.room * (4 * depth + depth * (depth - 1) / 2);
}

/* Makes tasks the entries of a level. Those of the first round are the candidates of the first step. */
__device__ void load(warp &w, int depth, uint32_t first, uint32_t count)
{
    const search &s = w.s;
    const uint32_t *words = task_words(s, w.round, depth) + first + w.lane;
    for (int d = 0; d <= depth && w.lane < count; d++) {
        uint32_t place = w.round == 0 ? s.steps[0].first + first + w.lane : words[(size_t)d * s.room];
        w.levels[d].place[w.lane] = place;
        w.levels[d].vertex[w.lane] = s.candidates[s.steps[d].set + place];
        w.levels[d].parent[w.lane] = (uint8_t)w.lane;
    }
    if (w.lane == 0) w.levels[depth].count = count;
    __syncwarp();
    w.shares = false;
    if (depth + 1 == (int)s.core) return;
    if (w.round == 0) {
        begin_level(w, 0, s.steps[1]);
        return;
    }
    bool is_mine = w.lane < count;
    lay_out(w, w.levels[depth], is_mine ? words[(size_t)(depth + 1) * s.room] : 0,
            is_mine ? words[(size_t)(depth + 2) * s.room] : 0,
            is_mine ? words[(size_t)(depth + 3) * s.room] : NOT_JOINED);
}

/* Takes a batch of tasks of one depth; -1 where none is left. */
__device__ int take(warp &w)
{
    sf_gpu_match_control *shared = w.s.shared;
    sf_gpu_match_queue &q = shared->queues[w.round % 3];
    uint32_t tasks = w.lane < MOST ? __ldcg(&q.count[w.lane]) : 0;
    uint32_t total = __shfl_sync(ALL_LANES, running_sum(tasks, w.lane), LANES - 1);
    uint32_t batch = min(max(total / (2 * gridDim.x * WARPS), 1), (uint32_t)LANES);
    uint32_t batches = (tasks + batch - 1) / batch, end = running_sum(batches, w.lane), mine = 0;
    if (w.lane == 0) mine = __ldcg(&shared->stop) != 0 ? ~0u : atomicAdd(&q.taken, 1u);
    mine = __shfl_sync(ALL_LANES, mine, 0);
    w.batches = __shfl_sync(ALL_LANES, end, LANES - 1);
    if (mine >= w.batches) return -1;
    int depth = __ffs(__ballot_sync(ALL_LANES, mine < end)) - 1;
    uint32_t first = (mine - __shfl_sync(ALL_LANES, end - batches, depth)) * batch;
    load(w, depth, first, min(batch, __shfl_sync(ALL_LANES, tasks, depth) - first));
    return depth;
}

/* What is left of a level, in pieces of entries, as tasks of the next round. A warp does this once a round,
 * so there is room. */
__device__ void hand_out_level(warp &w, int depth)
{
    const search &s = w.s;
    const level &l = w.levels[depth];
    bool is_last = depth + 1 == (int)s.core; /* an embedding of the core is one piece */
    uint32_t total = l.end[LANES - 1], before = w.lane > 0 ? l.end[w.lane - 1] : 0;
    uint32_t begin = max(before, l.cursor), left = l.end[w.lane] > begin ? l.end[w.lane] - begin : 0;
    uint32_t piece = max((total - l.cursor + PIECES - 1) / PIECES, 1u), pieces = (left + piece - 1) / piece;
    if (is_last) pieces = w.lane < l.count;
    uint32_t end = running_sum(pieces, w.lane), first = 0;
    if (w.lane == LANES - 1) first = atomicAdd(&s.shared->queues[(w.round + 1) % 3].count[depth], end);
    first = __shfl_sync(ALL_LANES, first, LANES - 1) + end - pieces;
    for (uint32_t i = 0; i < pieces; i++) {
        uint32_t *words = task_words(s, w.round + 1, depth) + first + i, e = w.lane;
        for (int d = depth; d >= 0; e = w.levels[d].parent[e], d--)
            words[(size_t)d * s.room] = w.levels[d].place[e];
        if (is_last) continue;
        words[(size_t)(depth + 1) * s.room] = l.base[w.lane] + begin - before + i * piece;
        words[(size_t)(depth + 2) * s.room] = min(piece, left - i * piece);
        words[(size_t)(depth + 3) * s.room] = l.join[w.lane];
    }
}

/* ---- the search ---- */

/* Everything below the entries of the level at `top`, or what is left of it as tasks. */
__device__ void search_below(warp &w, int top)
{
    int depth = top, last = (int)w.s.core - 1;
    if (top == last) {
        finish(w, top);
        look_at_limit(w);
        return;
    }
    for (;;) {
        while (w.levels[depth].cursor >= w.levels[depth].end[LANES - 1])
            if (depth-- == top) return;
        if (depth + 1 == last && w.s.group_count == 0) {
            count_last(w, depth);
        } else if (fill_next(w, depth) > 0) {
            depth++;
            if (depth < last) begin_level(w, depth, w.s.steps[depth + 1]);
        }
        if (w.shares) {
            for (int d = top; d <= depth && !w.stops; d++)
                hand_out_level(w, d);
            return;
        }
        if (depth == last) {
            finish(w, depth);
            depth--;
        }
    }
}

__global__ void __launch_bounds__(WARPS *LANES, 5) search_all(const __grid_constant__ search s)
{
    extern __shared__ uint32_t room[];
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    unsigned own = threadIdx.x / LANES;
    level *levels = (level *)room;
    uint32_t(*members)[LANES] = (uint32_t(*)[LANES])(levels + (size_t)WARPS * s.core);
    warp w = {s, levels + (size_t)own * s.core, members + (size_t)own * (1 << CLASSES), threadIdx.x % LANES};
    for (w.round = 0;; w.round++) {
        if (blockIdx.x == 0 && threadIdx.x <= MOST) /* nobody looks at it in this round */
            (threadIdx.x < MOST ? s.shared->queues[(w.round + 2) % 3].count[threadIdx.x]
                                : s.shared->queues[(w.round + 2) % 3].taken) = 0;
        for (int depth = take(w); depth >= 0; depth = take(w))
            search_below(w, depth);
        grid.sync();
        uint32_t next = w.lane < MOST ? __ldcg(&s.shared->queues[(w.round + 1) % 3].count[w.lane]) : 0;
        if (!__any_sync(ALL_LANES, next != 0)) break;
    }
    report(w);
}

} // namespace

/* As many blocks as run at once, since they wait for one another. */
int sf_gpu_match_shape_of(sf_gpu_match_shape *shape, sf_backend_device *device, search *s, sf_error *error)
{
    size_t members = s->has_classes ? sizeof(uint32_t[1 << CLASSES][LANES]) : 0, depths = s->core;
    int of_each = 0;
    shape->shared_bytes = WARPS * (s->core * sizeof(level) + members);
    if (shape->shared_bytes > device->properties.sharedMemPerBlockOptin ||
        !device->properties.cooperativeLaunch)
        return sf_fail(error, SF_UNAVAILABLE, NULL, "the device does not match patterns of %u vertices",
                       s->core);
    SF_GPU_TRY(cudaFuncSetAttribute(search_all, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    (int)shape->shared_bytes));
    SF_GPU_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&of_each, search_all, WARPS * LANES,
                                                             shape->shared_bytes));
    shape->blocks = (uint32_t)(of_each * device->properties.multiProcessorCount);
    s->room = shape->blocks * WARPS * 2 * LANES;
    shape->task_words = s->room * (4 * depths + depths * (depths - 1) / 2);
    return SF_OK;
}

int sf_gpu_match_start(sf_backend_device *device, const sf_gpu_match_shape *shape, const search *s,
                       sf_error *error)
{
    void *arguments[] = {(void *)s};
    SF_GPU_TRY(cudaEventRecord(device->timed[0], device->work));
    SF_GPU_TRY(cudaLaunchCooperativeKernel((void *)search_all, shape->blocks, WARPS * LANES, arguments,
                                           shape->shared_bytes, device->work));
    SF_GPU_TRY(cudaEventRecord(device->timed[1], device->work));
    return SF_OK;
}
