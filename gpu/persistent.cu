/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Breadth-first search in one kernel whose blocks meet after every level, so that nothing waits for the host.
 *
 * Top-down, a warp takes up to 128 edges of a vertex at a time, and the whole grid a list that is very long;
 * whoever sets a vertex's bit in the bitmap of visited ones has found it. Bottom-up, a lane takes an
 * unvisited vertex and looks at its hub first: one 16-bit number of a sequential array, and one bit in shared
 * memory. Most vertices of the wide levels are found so. The others are collected, so that whole warps read
 * the heads of their lists, which are the four neighbours of greatest degree; and what these leave is
 * collected again.
 *
 * A bottom-up level reads one bitmap and writes another. What it reads is the set of all visited vertices: a
 * visited neighbour of an unvisited vertex cannot be older than the last level, or the vertex would have been
 * found then. So there is no bitmap of the frontier.
 *
 * What is found is kept by inner number and written out by vertex at the end, once and in order.
 */
#include "gpu/search.cuh"

#define WARP 32u
#define FULL 0xffffffffu
#define NONE 0xffffffffu
#define BLOCK 1024
#define WARPS (BLOCK / WARP)
#define RING 4u            /* levels whose tallies are in use at a time */
#define PIECES_AN_ITEM 32u /* of four edges each: what a warp reads at a time */
#define MOST_ITEMS 64u     /* of a vertex; a list that would take more is for the whole grid */
#define PIECES_ALONE 8u    /* a lane reads by itself before its warp helps */
#define AT_ONCE 4u         /* words whose vertices ask their hubs together */
#define WAITING 256u       /* vertices of a warp that wait to read the heads of their lists */
#define RESTING 96u        /* and that wait to read the rest */
#define OUT 8u             /* vertices a thread writes out at a time */
#define HUB_WORDS ((SF_GPU_MOST_HUBS + WARP - 1) / WARP)

/* What a level found. */
struct alignas(128) tally {
    unsigned long long edges; /* out of it; top-down only, rounded up to pieces */
    uint32_t found;
    uint32_t items, large;
};

/* Part of a vertex's out-list: pieces first .. last - 1. */
struct alignas(16) item {
    uint32_t vertex, first, last, padding;
};

typedef struct state {
    sf_gpu_arranged graph;
    uint32_t words; /* of a bitmap */
    int direction;
    uint32_t parent_bits; /* of an entry of `found`; the others hold the level, all ones: it is in `deep` */
    uint32_t *visited[2];
    uint32_t *found;   /* by inner number, of visited ones: level and inner number of the parent */
    uint32_t *deep;    /* by inner number: levels that `found` has no room for */
    item *queue[2];    /* the frontier of even and odd levels */
    item *large[2];    /* and those of its vertices that the whole grid shares, with all of their lists */
    tally *tallies;    /* RING */
    uint32_t *meeting; /* blocks that came to meet, and that have gone home */
    uint32_t *levels, *parents;
    sf_gpu_level *log;
    sf_gpu_summary *summary;
} state;

typedef struct room {
    uint32_t hubs[HUB_WORDS];
    uint32_t found[WARPS][WARP];
    uint16_t waiting[WARPS][WAITING];
    uint16_t resting[WARPS][RESTING];
    uint32_t found_count;
    unsigned long long edge_count;
    tally last;
} room;

static __device__ uint32_t lane_of()
{
    return threadIdx.x % WARP;
}

static __device__ uint32_t below(uint32_t lane)
{
    return (1u << lane) - 1;
}

/* Neighbouring warps are on different multiprocessors, so that little work is spread over all. */
static __device__ uint32_t warp_of()
{
    return threadIdx.x / WARP * gridDim.x + blockIdx.x;
}

static __device__ uint32_t sum_of_warp(uint32_t value)
{
    for (int distance = 16; distance > 0; distance /= 2)
        value += __shfl_xor_sync(FULL, value, distance);
    return value;
}

static __device__ unsigned long long now()
{
    unsigned long long time;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
    return time;
}

static __device__ void keep(const state *s, uint32_t v, uint32_t level, uint32_t parent)
{
    uint32_t most = FULL >> s->parent_bits;
    s->found[v] = min(level, most) << s->parent_bits | parent;
    if (level >= most)
        s->deep[v] = level;
}

/* Adds what this thread found to the tally, waits until all blocks have, and leaves the sums in r->last. */
static __device__ void meet(const state *s, room *r, uint32_t *round, tally *t, uint32_t found,
                            unsigned long long edges)
{
    found = sum_of_warp(found);
    if (lane_of() == 0 && found > 0)
        atomicAdd(&r->found_count, found);
    if (edges > 0)
        atomicAdd(&r->edge_count, edges);
    __syncthreads();
    if (threadIdx.x == 0) {
        if (r->found_count > 0) {
            atomicAdd(&t->found, r->found_count);
            atomicAdd(&t->edges, r->edge_count);
            r->found_count = 0;
            r->edge_count = 0;
        }
        *round += gridDim.x;
        __threadfence();
        atomicAdd(s->meeting, 1);
        while ((int)(*(volatile uint32_t *)s->meeting - *round) < 0)
            ;
        __threadfence();
        r->last.found = __ldcg(&t->found);
        r->last.edges = __ldcg(&t->edges);
        r->last.items = __ldcg(&t->items);
        r->last.large = __ldcg(&t->large);
    }
    __syncthreads();
}

/* The last block to go leaves the counters as the next search needs them. */
static __device__ void go_home(const state *s)
{
    if (threadIdx.x != 0 || atomicAdd(s->meeting + 1, 1) != gridDim.x - 1)
        return;
    s->meeting[0] = 0;
    s->meeting[1] = 0;
}

/* ---- top-down ---- */

/* Appends the out-lists of up to four vertices of each lane: those with a bit in `mine`. By whole warps.
 * Returns the edges of this lane's. */
static __device__ uint32_t enqueue(const state *s, tally *t, uint32_t level, uint32_t mine,
                                   const uint32_t ids[4])
{
    uint32_t lane = lane_of(), first[4], last[4], count[4], sum = 0, edges = 0;
    item *queue = s->queue[level % 2];
#pragma unroll
    for (uint32_t j = 0; j < 4; j++) {
        first[j] = mine >> j & 1 ? __ldg(s->graph.out.starts + ids[j]) : 0;
        last[j] = mine >> j & 1 ? __ldg(s->graph.out.starts + ids[j] + 1) : 0;
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
    uint32_t own = sum;
    for (uint32_t distance = 1; distance < WARP; distance *= 2) {
        uint32_t before = __shfl_up_sync(FULL, sum, distance);
        sum += lane >= distance ? before : 0;
    }
    uint32_t place = 0;
    if (lane == WARP - 1 && sum > 0)
        place = atomicAdd(&t->items, sum);
    place = __shfl_sync(FULL, place, WARP - 1) + sum - own;
#pragma unroll
    for (uint32_t j = 0; j < 4; j++)
        for (uint32_t i = 0, from = first[j]; i < count[j]; i++, from += PIECES_AN_ITEM)
            queue[place++] = item{ids[j], from, min(last[j], from + PIECES_AN_ITEM), 0};
    return edges;
}

/* A vertex of each lane for which `mine` holds. */
static __device__ uint32_t enqueue_one(const state *s, tally *t, uint32_t level, bool mine, uint32_t v)
{
    uint32_t ids[4] = {v, 0, 0, 0};
    return enqueue(s, t, level, mine, ids);
}

static __device__ bool claim(uint32_t *visited, uint32_t v, uint32_t seen)
{
    uint32_t bit = 1u << v % WARP;
    return (seen & bit) == 0 && (atomicOr(visited + v / WARP, bit) & bit) == 0;
}

/* Looks along the edges of up to 32 pieces of v's list. */
static __device__ uint32_t look_down(const state *s, tally *t, uint32_t *visited, uint32_t level, uint32_t v,
                                     uint32_t piece, uint32_t last, unsigned long long *edges)
{
    bool there = piece + lane_of() < last;
    uint4 targets = there ? __ldg(s->graph.out.targets + piece + lane_of()) : make_uint4(0, 0, 0, 0);
    uint32_t ids[4] = {targets.x, targets.y, targets.z, targets.w}, seen[4], mine = 0;
#pragma unroll
    for (uint32_t j = 0; j < 4; j++)
        seen[j] = there ? __ldcg(visited + ids[j] / WARP) : FULL;
#pragma unroll
    for (uint32_t j = 0; j < 4; j++)
        mine |= (uint32_t)claim(visited, ids[j], seen[j]) << j;
#pragma unroll
    for (uint32_t j = 0; j < 4; j++)
        if (mine >> j & 1)
            keep(s, ids[j], level, v);
    if (__any_sync(FULL, mine != 0))
        *edges += enqueue(s, t, level, mine, ids);
    return __popc(mine);
}

static __device__ uint32_t search_down(const state *s, const room *r, tally *t, uint32_t *visited,
                                       uint32_t level, unsigned long long *edges)
{
    uint32_t found = 0, warps = gridDim.x * WARPS;
    const uint4 *items = (const uint4 *)s->queue[(level - 1) % 2]; /* vertex, first, last */
    const uint4 *large = (const uint4 *)s->large[(level - 1) % 2];
    for (uint32_t i = warp_of(); i < r->last.items; i += warps) {
        uint4 own = __ldcg(items + i);
        found += look_down(s, t, visited, level, own.x, own.y, own.z, edges);
    }
    for (uint32_t i = 0; i < r->last.large; i++) { /* each begins with another warp */
        uint4 own = __ldcg(large + i);
        uint32_t first = own.y + (warp_of() + i * 97) % warps * PIECES_AN_ITEM;
        for (uint32_t piece = first; piece < own.z; piece += warps * PIECES_AN_ITEM)
            found += look_down(s, t, visited, level, own.x, piece, own.z, edges);
    }
    return found;
}

/* The queue of a level that was searched bottom-up: what one bitmap has and the other has not. */
static __device__ void enqueue_difference(const state *s, tally *t, uint32_t level, const uint32_t *before,
                                          const uint32_t *after)
{
    uint32_t lane = lane_of();
    for (uint32_t base = warp_of() * WARP; base < s->words; base += gridDim.x * WARPS * WARP) {
        uint32_t word = base + lane, fresh = 0;
        if (word < s->words)
            fresh = __ldcg(before + word) ^ __ldcg(after + word);
        for (uint32_t some = __ballot_sync(FULL, fresh != 0); some != 0; some &= some - 1) {
            int of = __ffs(some) - 1;
            uint32_t bits = __shfl_sync(FULL, fresh, of);
            enqueue_one(s, t, level, bits >> lane & 1, (base + of) * WARP + lane);
        }
    }
}

/* ---- bottom-up ---- */

static __device__ bool is_visited(const state *s, const room *r, const uint32_t *visited, uint32_t v)
{
    uint32_t word = v < s->graph.hub_count ? r->hubs[v / WARP] : visited[v / WARP];
    return word >> v % WARP & 1;
}

/* A visited one of four neighbours, or NONE. The first is asked alone: it nearly always is one. */
static __device__ uint32_t visited_of(const state *s, const room *r, const uint32_t *visited, uint4 four)
{
    if (is_visited(s, r, visited, four.x))
        return four.x;
    bool y = is_visited(s, r, visited, four.y), z = is_visited(s, r, visited, four.z);
    bool w = is_visited(s, r, visited, four.w);
    return y ? four.y : z ? four.z : w ? four.w : NONE;
}

/* The same of the pieces after the first of the list of each lane that has a vertex. By whole warps. */
static __device__ uint32_t read_rest(const state *s, const room *r, const uint32_t *visited, bool there,
                                     uint32_t v)
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

static __device__ void settle(const state *s, room *r, uint32_t base, uint32_t offset, uint32_t level,
                              uint32_t parent)
{
    if (parent == NONE)
        return;
    keep(s, base * WARP + offset, level, parent);
    atomicOr(&r->found[threadIdx.x / WARP][offset / WARP], 1u << offset % WARP);
}

/* Up to 64 of those that wait, the last ones, read the heads of their lists, two a lane together. Whoever has
 * found nobody, and has a longer list, goes to r->resting. Returns how many still wait. */
static __device__ uint32_t ask_heads(const state *s, room *r, const uint32_t *visited, uint32_t base,
                                     uint32_t level, uint32_t waiting, uint32_t *resting)
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
        uint32_t parent = there[k] ? visited_of(s, r, visited, head[k]) : NONE;
        bool rests = more && parent == NONE;
        uint32_t rest = __ballot_sync(FULL, rests);
        if (rests)
            r->resting[warp][*resting + __popc(rest & below(lane))] = (uint16_t)offset[k];
        *resting += __popc(rest);
        settle(s, r, base, offset[k], level, parent);
    }
    __syncwarp();
    return first;
}

/* Up to 32 of those that rest read on. Returns how many are left. */
static __device__ uint32_t ask_on(const state *s, room *r, const uint32_t *visited, uint32_t base,
                                  uint32_t level, uint32_t resting)
{
    uint32_t first = resting > WARP ? resting - WARP : 0, i = first + lane_of();
    bool there = i < resting;
    uint32_t offset = there ? r->resting[threadIdx.x / WARP][i] : 0;
    settle(s, r, base, offset, level, read_rest(s, r, visited, there, base * WARP + offset));
    __syncwarp();
    return first;
}

/* The hubs of the vertices of up to four words of the warp's 32. Whoever has no visited hub waits in
 * r->waiting. Returns the bits of those found in the word of this lane. */
static __device__ uint32_t ask_hubs(const state *s, room *r, uint32_t base, uint32_t seen, uint32_t which,
                                    uint32_t level, uint32_t *waiting)
{
    uint32_t lane = lane_of(), warp = threadIdx.x / WARP, own = 0, hub[AT_ONCE], place[AT_ONCE];
#pragma unroll
    for (uint32_t j = 0; j < AT_ONCE; j++) {
        place[j] = which != 0 ? __ffs(which) - 1 : NONE;
        which &= which - 1;
        bool done = place[j] == NONE || (__shfl_sync(FULL, seen, place[j] % WARP) >> lane & 1);
        hub[j] = done ? SF_GPU_ALONE : __ldg(s->graph.first + (base + place[j]) * WARP + lane);
    }
#pragma unroll
    for (uint32_t j = 0; j < AT_ONCE; j++) {
        bool hit = hub[j] < s->graph.hub_count && (r->hubs[hub[j] / WARP] >> hub[j] % WARP & 1);
        bool later = !hit && hub[j] != SF_GPU_ALONE;
        if (hit)
            keep(s, (base + place[j]) * WARP + lane, level, hub[j]);
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
static __device__ uint32_t search_words(const state *s, room *r, const uint32_t *visited, uint32_t base,
                                        uint32_t seen, uint32_t level)
{
    uint32_t warp = threadIdx.x / WARP, own = 0, waiting = 0, resting = 0;
    uint32_t open = __ballot_sync(FULL, seen != FULL);
    if (open == 0)
        return 0;
    r->found[warp][lane_of()] = 0;
    __syncwarp();
    while (open != 0 || waiting > 0) {
        if (open != 0)
            own |= ask_hubs(s, r, base, seen, open, level, &waiting);
        for (uint32_t j = 0; j < AT_ONCE; j++)
            open &= open - 1;
        while (waiting >= 2 * WARP || (open == 0 && waiting > 0)) {
            waiting = ask_heads(s, r, visited, base, level, waiting, &resting);
            while (resting >= WARP)
                resting = ask_on(s, r, visited, base, level, resting);
        }
    }
    if (resting > 0)
        ask_on(s, r, visited, base, level, resting);
    return own | r->found[warp][lane_of()];
}

/* Every warp takes a stretch of the bitmap, so that all have as much. */
static __device__ uint32_t search_up(const state *s, room *r, const uint32_t *visited, uint32_t *fresh,
                                     uint32_t level)
{
    uint32_t lane = lane_of(), found = 0, warps = gridDim.x * WARPS;
    for (uint32_t i = threadIdx.x; i < HUB_WORDS && i < s->words; i += BLOCK)
        r->hubs[i] = __ldcg(visited + i);
    __syncthreads();
    uint32_t first = (uint32_t)((uint64_t)s->words * warp_of() / warps);
    uint32_t last = (uint32_t)((uint64_t)s->words * (warp_of() + 1) / warps);
    for (uint32_t base = first; base < last; base += WARP) {
        uint32_t word = base + lane, before = FULL, past = 0;
        if (word < last)
            before = __ldcg(visited + word);
        if (word == s->words - 1 && s->graph.inner_count % WARP != 0)
            past = FULL << s->graph.inner_count % WARP;
        uint32_t bits = search_words(s, r, visited, base, before | past, level);
        if (word < last)
            fresh[word] = before | bits;
        found += __popc(bits);
        __syncwarp();
    }
    return found;
}

/* ---- the search ---- */

/* The levels and parents of eight vertices in a row, as the user counts them. */
static __device__ void look_up(const state *s, const uint32_t *visited, uint32_t eight, uint32_t source,
                               uint32_t level[OUT], uint32_t parent[OUT])
{
    const sf_gpu_arranged *g = &s->graph;
    uint4 raw = __ldg((const uint4 *)g->places + eight / (WARP / OUT)); /* ordinary, hubs, base */
    uint32_t inner[OUT], most = FULL >> s->parent_bits;
#pragma unroll
    for (uint32_t j = 0; j < OUT; j++) {
        uint32_t bit = eight % (WARP / OUT) * OUT + j;
        inner[j] = raw.z + __popc(raw.x & below(bit));
        if (raw.y >> bit & 1)
            inner[j] = __ldg(g->inner + eight * OUT + j);
        else if ((raw.x >> bit & 1) == 0)
            inner[j] = SF_GPU_OUTSIDE;
    }
#pragma unroll
    for (uint32_t j = 0; j < OUT; j++) {
        if (inner[j] != SF_GPU_OUTSIDE && (visited[inner[j] / WARP] >> inner[j] % WARP & 1) == 0)
            inner[j] = SF_GPU_OUTSIDE;
        parent[j] = inner[j] != SF_GPU_OUTSIDE ? __ldcg(s->found + inner[j]) : NONE;
    }
#pragma unroll
    for (uint32_t j = 0; j < OUT; j++) {
        level[j] = NONE;
        if (inner[j] != SF_GPU_OUTSIDE) {
            level[j] = parent[j] >> s->parent_bits;
            parent[j] = __ldg(g->original + (parent[j] & ((1u << s->parent_bits) - 1)));
            if (level[j] == most)
                level[j] = __ldcg(s->deep + inner[j]);
        } else if (eight * OUT + j == source) { /* has no edge */
            level[j] = 0;
            parent[j] = source;
        }
    }
}

static __device__ void write_out(const state *s, const uint32_t *visited, uint32_t source)
{
    uint32_t count = s->graph.vertex_count, eights = (count + OUT - 1) / OUT, level[OUT], parent[OUT];
    for (uint32_t eight = blockIdx.x * BLOCK + threadIdx.x; eight < eights; eight += gridDim.x * BLOCK) {
        look_up(s, visited, eight, source, level, parent);
        uint32_t first = eight * OUT;
        if (first + OUT <= count) {
#pragma unroll
            for (uint32_t j = 0; j < OUT; j += 4) {
                __stcs((uint4 *)(s->levels + first + j),
                       make_uint4(level[j], level[j + 1], level[j + 2], level[j + 3]));
                __stcs((uint4 *)(s->parents + first + j),
                       make_uint4(parent[j], parent[j + 1], parent[j + 2], parent[j + 3]));
            }
            continue;
        }
#pragma unroll
        for (uint32_t j = 0; j < OUT; j++) {
            if (first + j < count) {
                s->levels[first + j] = level[j];
                s->parents[first + j] = parent[j];
            }
        }
    }
}

static __device__ void start(const state *s, uint32_t root)
{
    uint32_t thread = blockIdx.x * BLOCK + threadIdx.x;
    for (uint32_t i = thread; i < s->words; i += gridDim.x * BLOCK)
        s->visited[0][i] = i == root / WARP ? 1u << root % WARP : 0;
    if (thread >= WARP)
        return;
    if (thread < RING)
        s->tallies[thread] = tally{0, 0, 0, 0};
    __threadfence();
    __syncwarp();
    bool mine = thread == 0 && root != SF_GPU_OUTSIDE;
    uint32_t edges = enqueue_one(s, s->tallies, 0, mine, root);
    if (thread == 0) {
        s->summary->begin = now();
        s->tallies[0].edges = edges;
        s->tallies[0].found = 1;
    }
    if (mine)
        keep(s, root, 0, root);
}

/* Bottom-up pays when the frontier has more edges than twice the vertices that are left to find; back again
 * when it has become a small part of those. */
static __device__ bool choose_up(const state *s, const tally *last, bool up, uint32_t left)
{
    if (s->direction != SF_BFS_AUTO)
        return s->direction == SF_BFS_BOTTOM_UP;
    if (!up)
        return last->edges > 2ull * left + s->words;
    return last->found > left / 32;
}

static __device__ void record(const state *s, const tally *last, uint32_t level, bool up)
{
    if (blockIdx.x != 0 || threadIdx.x != 0)
        return;
    if (level < SF_GPU_LOG)
        s->log[level] = sf_gpu_level{last->found, up, now()};
    s->summary->depth = level;
    s->summary->logged = level < SF_GPU_LOG ? level + 1 : SF_GPU_LOG;
}

static __global__ void __launch_bounds__(BLOCK, 1) search(const __grid_constant__ state all, uint32_t source)
{
    __shared__ room r;
    const state *s = &all;
    uint32_t root = __ldg(s->graph.inner + source), round = 0, current = 0;
    if (threadIdx.x == 0) {
        r.found_count = 0;
        r.edge_count = 0;
    }
    start(s, root);
    meet(s, &r, &round, s->tallies, 0, 0);
    uint32_t left = s->graph.inner_count - (root != SF_GPU_OUTSIDE);
    bool up = false;
    for (uint32_t level = 1;; level++) {
        record(s, &r.last, level - 1, up);
        if (left == 0 || root == SF_GPU_OUTSIDE)
            break;
        bool was_up = up;
        up = choose_up(s, &r.last, up, left);
        tally *before = s->tallies + (level - 1) % RING, *t = s->tallies + level % RING;
        if (was_up && !up) {
            enqueue_difference(s, before, level - 1, s->visited[current ^ 1], s->visited[current]);
            meet(s, &r, &round, before, 0, 0);
        }
        if (blockIdx.x == 0 && threadIdx.x == 0)
            s->tallies[(level + 1) % RING] = tally{0, 0, 0, 0};
        uint32_t found;
        unsigned long long edges = 0;
        if (up) {
            found = search_up(s, &r, s->visited[current], s->visited[current ^ 1], level);
            current ^= 1;
        } else {
            found = search_down(s, &r, t, s->visited[current], level, &edges);
        }
        meet(s, &r, &round, t, found, edges);
        left -= r.last.found;
        if (r.last.found == 0)
            break;
    }
    write_out(s, s->visited[current], source);
    go_home(s);
}

struct sf_gpu_persistent {
    sf_backend_device *device;
    sf_gpu_arrangement arrangement;
    sf_gpu_array visited[2], found, deep, queue[2], large[2], tallies, meeting;
    state state;
    int blocks;
};

static uint32_t pieces_of(const sf_gpu_array *targets)
{
    return (uint32_t)(targets->bytes / sizeof(uint4));
}

static int open_state(sf_gpu_persistent *p, sf_error *error)
{
    const sf_gpu_arranged *g = &p->arrangement.view;
    const sf_gpu_arrangement *a = &p->arrangement;
    uint32_t pieces = pieces_of(a->out_targets.data != NULL ? &a->out_targets : &a->in_targets);
    size_t items = (size_t)g->inner_count + pieces / PIECES_AN_ITEM + 1;
    size_t large = pieces / (PIECES_AN_ITEM * MOST_ITEMS) + 1;
    p->state.words = (g->inner_count + WARP - 1) / WARP;
    struct {
        sf_gpu_array *array;
        size_t bytes;
    } wanted[] = {{&p->visited[0], p->state.words * sizeof(uint32_t)},
                  {&p->visited[1], p->state.words * sizeof(uint32_t)},
                  {&p->found, g->inner_count * sizeof(uint32_t)},
                  {&p->deep, g->inner_count * sizeof(uint32_t)},
                  {&p->queue[0], items * sizeof(item)},
                  {&p->queue[1], items * sizeof(item)},
                  {&p->large[0], large * sizeof(item)},
                  {&p->large[1], large * sizeof(item)},
                  {&p->tallies, RING * sizeof(tally)},
                  {&p->meeting, 2 * sizeof(uint32_t)}};
    for (auto &want : wanted) {
        int status = sf_gpu_array_open(p->device, want.array, want.bytes, error);
        if (status != SF_OK)
            return status;
    }
    SF_GPU_TRY(cudaMemsetAsync(p->meeting.data, 0, p->meeting.bytes, p->device->work));
    for (int i = 0; i < 2; i++) {
        p->state.visited[i] = (uint32_t *)p->visited[i].data;
        p->state.queue[i] = (item *)p->queue[i].data;
        p->state.large[i] = (item *)p->large[i].data;
    }
    p->state.graph = *g;
    p->state.found = (uint32_t *)p->found.data;
    p->state.deep = (uint32_t *)p->deep.data;
    p->state.parent_bits = (uint32_t)sf_gpu_bits_for(g->inner_count);
    p->state.tallies = (tally *)p->tallies.data;
    p->state.meeting = (uint32_t *)p->meeting.data;
    return SF_OK;
}

/* As many blocks as can meet, fewer where there is less than a word of vertices for each of their warps. */
static int plan_launch(sf_gpu_persistent *p, sf_error *error)
{
    int each = 0, multiprocessors = p->device->properties.multiProcessorCount;
    SF_GPU_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, search, BLOCK, 0));
    int needed = (int)(p->state.words / WARPS) + 1;
    p->blocks = needed < each * multiprocessors ? needed : each * multiprocessors;
    return SF_OK;
}

int sf_gpu_persistent_open(sf_gpu_persistent **opened, const sf_backend_graph *graph,
                           sf_bfs_direction direction, sf_error *error)
{
    *opened = NULL;
    sf_gpu_persistent *p = (sf_gpu_persistent *)sf_alloc(1, sizeof *p);
    if (p == NULL)
        return sf_fail_memory(error);
    p->device = graph->device;
    p->state.direction = direction;
    int status = sf_gpu_arrange(&p->arrangement, graph, error);
    if (status == SF_OK)
        status = open_state(p, error);
    if (status == SF_OK)
        status = plan_launch(p, error);
    if (status == SF_OK)
        *opened = p;
    else
        sf_gpu_persistent_close(p);
    return status;
}

void sf_gpu_persistent_close(sf_gpu_persistent *p)
{
    if (p == NULL)
        return;
    sf_gpu_array *arrays[] = {&p->visited[0], &p->visited[1], &p->found,    &p->deep,    &p->queue[0],
                              &p->queue[1],   &p->large[0],   &p->large[1], &p->tallies, &p->meeting};
    for (sf_gpu_array *array : arrays)
        sf_gpu_array_close(p->device, array);
    sf_gpu_arrangement_close(p->device, &p->arrangement);
    sf_free(p);
}

int sf_gpu_persistent_run(sf_gpu_persistent *p, uint32_t source, uint32_t *levels, uint32_t *parents,
                          sf_gpu_level *log, sf_gpu_summary *summary, sf_error *error)
{
    p->state.levels = levels;
    p->state.parents = parents;
    p->state.log = log;
    p->state.summary = summary;
    void *arguments[] = {&p->state, &source};
    SF_GPU_TRY(cudaLaunchCooperativeKernel((const void *)search, dim3((unsigned)p->blocks), dim3(BLOCK),
                                           arguments, 0, p->device->work));
    return SF_OK;
}
