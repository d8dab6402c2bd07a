/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What the kernels share that search all levels of a graph, or of a part of it, in one launch: their memory,
 * and the writing of what they found.
 *
 * Their blocks meet after every level, so that nothing waits for the host. Top-down, a warp takes up to 128
 * edges of a vertex at a time, and the whole grid a list that is very long; whoever sets a vertex's bit in
 * the bitmap of visited ones has found it (top_down.cuh). Bottom-up, a lane takes an unvisited vertex and
 * looks at its hub first: one 16-bit number of a sequential array, and one bit in shared memory. Most
 * vertices of the wide levels are found so. The others are collected, so that whole warps read the heads of
 * their lists, which are the four neighbours of greatest degree; and what these leave is collected again
 * (bottom_up.cuh).
 *
 * A bottom-up level reads one bitmap and writes another. What it reads is the set of all visited vertices: a
 * visited neighbour of an unvisited vertex cannot be older than the last level, or the vertex would have been
 * found then. So there is no bitmap of the frontier.
 *
 * What is found is kept by local number (arranged.cuh) and written out by vertex at the end, once and in
 * order.
 */
#ifndef SF_GPU_SEARCH_SEARCHING_CUH
#define SF_GPU_SEARCH_SEARCHING_CUH

#include "gpu/search/search.cuh"

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
#define CAME_SHIFT 40u     /* of a count of meeting blocks; below it is what they have found */
#define HUB_WORDS ((SF_GPU_MOST_HUBS + WARP - 1) / WARP)

/** What a level found. */
struct alignas(128) sf_gpu_search_tally {
    unsigned long long edges; /* out of it; top-down only, rounded up to pieces */
    uint32_t found;
    uint32_t items, large, sent;
};

/** Part of a vertex's out-list: pieces first .. last - 1. */
struct alignas(16) sf_gpu_search_item {
    uint32_t vertex, first, last, padding; /* vertex: its inner number */
};

/** Where blocks meet, and what a search leaves for the next. */
struct alignas(128) sf_gpu_search_meeting {
    unsigned long long came[2]; /* at even and odd meetings: blocks above CAME_SHIFT, what they found below */
    uint32_t parted;            /* blocks that came to the meetings of all parts */
    uint32_t home;              /* blocks that are done */
    uint32_t turn;              /* the bitmap, clear, that the next search of a whole graph begins with */
    uint32_t component;         /* vertices that hub 0 reaches and is reached from; 0: it is not known */
};

typedef struct sf_gpu_search_state {
    sf_gpu_arranged graph;
    uint32_t words; /* of a bitmap */
    int direction;
    uint32_t parent_bits; /* of an entry of `found`; the others hold the level, all ones: it is in `deep` */
    uint32_t *visited[2];
    uint32_t *found;              /* by local number, of visited ones: level and inner number of the parent */
    uint32_t *deep;               /* by local number: levels that `found` has no room for */
    sf_gpu_search_item *queue[2]; /* the frontier of even and odd levels */
    sf_gpu_search_item
        *large[2]; /* and those of its vertices that the whole grid shares, with all of their lists */
    uint2 *outbox; /* of a part: (vertex, parent), inner numbers, of all that it found in a level */
    sf_gpu_search_tally *tallies; /* RING */
    sf_gpu_search_meeting *meeting;
    uint32_t *levels, *parents; /* by vertex less first_vertex; NULL: they are not wanted */
    sf_gpu_level *log;
    sf_gpu_summary *summary;
} sf_gpu_search_state;

namespace
{

using tally = sf_gpu_search_tally;
using item = sf_gpu_search_item;
using state = sf_gpu_search_state;

typedef struct room {
    uint32_t hubs[HUB_WORDS];
    uint32_t found[WARPS][WARP];
    uint16_t waiting[WARPS][WAITING];
    uint16_t resting[WARPS][RESTING];
    uint32_t found_count;
    unsigned long long edge_count;
    unsigned long long came[2]; /* what the last even and odd meetings left */
    uint32_t meetings;
    bool hub_visited; /* hub 0, when the last level bottom-up began */
    tally last;
} room;

} // namespace

/** The memory of a state, as the host sees it. Zero-initialise. */
typedef struct sf_gpu_search_memory {
    sf_gpu_array visited[2], found, deep, queue[2], large[2], outbox, tallies, meeting;
} sf_gpu_search_memory;

/** persistent.cu: everything in `state` but what a job brings; with an outbox for a part of several. */
int sf_gpu_search_memory_open(sf_gpu_search_memory *memory, sf_gpu_search_state *state,
                              sf_backend_device *device, const sf_gpu_arrangement *arrangement,
                              sf_bfs_direction direction, bool parted, sf_error *error);
void sf_gpu_search_memory_close(sf_gpu_search_memory *memory, sf_backend_device *device);

/** Blocks that search this: as many as can meet of `kernel` where `sharing` parts share the device, fewer
 * where there is less than a word of vertices for each of their warps. */
int sf_gpu_search_blocks(int *blocks, sf_backend_device *device, const sf_gpu_search_state *state,
                         const void *kernel, uint32_t sharing, sf_error *error);

namespace
{

__device__ uint32_t lane_of()
{
    return threadIdx.x % WARP;
}

__device__ uint32_t below(uint32_t lane)
{
    return (1u << lane) - 1;
}

/* Neighbouring warps are on different multiprocessors, so that little work is spread over all. */
__device__ uint32_t warp_of()
{
    return threadIdx.x / WARP * gridDim.x + blockIdx.x;
}

__device__ uint32_t sum_of_warp(uint32_t value)
{
    for (int distance = 16; distance > 0; distance /= 2)
        value += __shfl_xor_sync(FULL, value, distance);
    return value;
}

__device__ unsigned long long now()
{
    unsigned long long time;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
    return time;
}

/* Local of inner number. Only where the vertex is here. */
template <bool parted> __device__ uint32_t local_of(const state *s, uint32_t inner)
{
    return parted && inner >= s->graph.hub_room ? inner - s->graph.shift : inner;
}

/* The word of a bitmap that holds 32 local numbers. */
__device__ uint32_t inner_word(const state *s, uint32_t word)
{
    return word < s->graph.hub_room / WARP ? word : word + s->graph.shift / WARP;
}

/* v is a local number, the parent an inner one. */
__device__ void keep(const state *s, uint32_t v, uint32_t level, uint32_t parent)
{
    uint32_t most = FULL >> s->parent_bits;
    s->found[v] = min(level, most) << s->parent_bits | parent;
    if (level >= most)
        s->deep[v] = level;
}

/* By a block that begins. */
__device__ void enter(room *r)
{
    if (threadIdx.x == 0) {
        r->found_count = 0;
        r->edge_count = 0;
        r->came[0] = r->came[1] = 0;
        r->meetings = 0;
        r->hub_visited = false;
    }
    __syncthreads();
}

/* What the threads of this block found; its first thread has the sums on return. */
__device__ void sum_of_block(room *r, uint32_t *found, unsigned long long *edges)
{
    *found = sum_of_warp(*found);
    if (lane_of() == 0 && *found > 0)
        atomicAdd(&r->found_count, *found);
    if (*edges > 0)
        atomicAdd(&r->edge_count, *edges);
    __syncthreads();
    if (threadIdx.x != 0)
        return;
    *found =
        atomicExch(&r->found_count, 0); /* an ordinary load may be done by all threads, and race the store */
    *edges = atomicExch(&r->edge_count, 0ull);
}

/* By one thread of every block: goes on when all are here. Returns what they found together. The count of
 * blocks and the sum are one word, so that one trip to memory brings both; the next meeting is at the other
 * word, so that nobody adds to this one before all have read it. */
__device__ uint32_t come_and_wait(const state *s, room *r, uint32_t found)
{
    uint32_t which = r->meetings++ % 2;
    unsigned long long *came = s->meeting->came + which, before = r->came[which], after;
    __threadfence();
    atomicAdd(came, 1ull << CAME_SHIFT | found);
    do
        after = *(volatile unsigned long long *)came;
    while ((after - before) >> CAME_SHIFT != gridDim.x);
    __threadfence();
    r->came[which] = after;
    return (uint32_t)(after - before);
}

/* Waits until all blocks have come, and leaves what they found in r->last; with `queued` also the edges of
 * that and the queue, which the tally has. */
__device__ void meet(const state *s, room *r, tally *t, uint32_t found, unsigned long long edges, bool queued)
{
    sum_of_block(r, &found, &edges);
    if (threadIdx.x == 0) {
        if (edges > 0)
            atomicAdd(&t->edges, edges);
        r->last.found = come_and_wait(s, r, found);
        if (queued) {
            r->last.edges = __ldcg(&t->edges);
            r->last.items = __ldcg(&t->items);
            r->last.large = __ldcg(&t->large);
        }
    }
    __syncthreads();
}

/* Bottom-up pays when the frontier has more edges than twice the vertices that are left to find; back again
 * when it has become a small part of those. */
__device__ bool choose_up(const state *s, const tally *last, bool up, uint32_t left)
{
    if (s->direction != SF_BFS_AUTO)
        return s->direction == SF_BFS_BOTTOM_UP;
    if (!up)
        return last->edges > 2ull * left + s->words;
    return last->found > left / 32;
}

/* By one thread of the search. */
__device__ void record(const state *s, const tally *last, uint32_t level, bool up)
{
    if (level < SF_GPU_LOG)
        s->log[level] = sf_gpu_level{level > 0 ? last->found : 1, up, now()};
    s->summary->depth = level;
    s->summary->logged = level < SF_GPU_LOG ? level + 1 : SF_GPU_LOG;
}

/* ---- writing out ---- */

/* The levels and parents of eight vertices in a row, as the user counts them. */
template <bool parted>
__device__ void look_up(const state *s, const uint32_t *visited, uint32_t eight, uint32_t source,
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
        parent[j] = inner[j] != SF_GPU_OUTSIDE ? __ldcg(s->found + local_of<parted>(s, inner[j])) : NONE;
    }
#pragma unroll
    for (uint32_t j = 0; j < OUT; j++) {
        level[j] = NONE;
        if (inner[j] != SF_GPU_OUTSIDE) {
            level[j] = parent[j] >> s->parent_bits;
            parent[j] = __ldg(g->original + (parent[j] & ((1u << s->parent_bits) - 1)));
            if (level[j] == most)
                level[j] = __ldcg(s->deep + local_of<parted>(s, inner[j]));
        } else if (eight * OUT + j == source) { /* has no edge */
            level[j] = 0;
            parent[j] = source;
        }
    }
}

template <bool parted> __device__ void write_out(const state *s, const uint32_t *visited, uint32_t source)
{
    uint32_t begin = s->graph.first_vertex, end = s->graph.last_vertex, level[OUT], parent[OUT];
    uint32_t eights = (end + OUT - 1) / OUT;
    for (uint32_t eight = begin / OUT + blockIdx.x * BLOCK + threadIdx.x; eight < eights;
         eight += gridDim.x * BLOCK) {
        look_up<parted>(s, visited, eight, source, level, parent);
        uint32_t first = eight * OUT - begin, left = end - eight * OUT;
        if (left >= OUT) {
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
            if (j < left) {
                s->levels[first + j] = level[j];
                s->parents[first + j] = parent[j];
            }
        }
    }
}

/* The last block to go leaves the counters as the next search needs them. True for that block's first thread.
 */
__device__ bool go_home(const state *s)
{
    sf_gpu_search_meeting *m = s->meeting;
    if (threadIdx.x != 0 || atomicAdd(&m->home, 1) != gridDim.x - 1)
        return false;
    m->came[0] = m->came[1] = 0;
    m->parted = m->home = 0;
    return true;
}

} // namespace

#endif
