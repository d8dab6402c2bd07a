/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What the kernels share that search all levels of a graph, or of a part of it, in one launch: their memory,
 * and the writing of what they found.
 *
 * Their blocks meet after every level, so that nothing waits for the host. Top-down, a warp takes up to 128
 * edges of a vertex at a time, and the whole grid a list that is very long; whoever sets a vertex's bit in
 * the bitmap of visited ones has found it (top_down.cuh). Bottom-up, a lane takes an unvisited vertex and
 * looks at its greatest neighbour first: one number of a sequential array, and one bit, in shared memory if
 * that is a hub. Nearly all vertices of the wide levels are found so, and those that have no other neighbour
 * need not look further. What is left is collected, so that whole warps read the heads of their lists, which
 * are the four neighbours of greatest degree; and what these leave is collected again (bottom_up.cuh).
 *
 * A bottom-up level reads one bitmap and writes another. What it reads is the set of all visited vertices: a
 * visited neighbour of an unvisited vertex cannot be older than the last level, or the vertex would have been
 * found then. So there is no bitmap of the frontier.
 *
 * What is found is kept by local number (arranged.cuh), a byte for each vertex whose parent is its greatest
 * neighbour, and written out by vertex at the end, once and in order.
 */
#ifndef SF_GPU_SEARCH_SEARCHING_CUH
#define SF_GPU_SEARCH_SEARCHING_CUH

#include "gpu/search/search.cuh"

#include <cuda/atomic>

#define WARP 32u
#define FULL 0xffffffffu
#define NONE 0xffffffffu
#define BLOCK 1024
#define WARPS (BLOCK / WARP)
#define RING 4u            /* levels whose tallies are in use at a time */
#define SMALL_LEVELS 3u    /* the same of levels that one block searches */
#define PIECES_AN_ITEM 32u /* of four edges each: what a warp reads at a time */
#define MOST_ITEMS 64u     /* of a vertex; a list that would take more is for the whole grid */
#define PIECES_ALONE 8u    /* a lane reads by itself before its warp helps */
#define AT_ONCE 8u         /* words whose vertices ask their greatest neighbours together */
#define WAITING 320u       /* vertices of a warp that wait to read the heads of their lists */
#define RESTING 96u        /* and that wait to read the rest */
#define OUT 8u             /* words of vertices that a warp writes out at a time */
#define DEEP 0x7fu         /* of a mark: the level, if it is less than this; else that is in `deep` */
#define OTHER 0x80u        /* of a mark: the parent is not the greatest neighbour, and in `parent` */
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
    unsigned long long crew[2]; /* the same of those that search for the last vertices */
    uint32_t parted;            /* blocks that came to the meetings of all parts */
    uint32_t home;              /* blocks that are done */
    uint32_t turn;              /* the bitmap, clear, that the next search of a whole graph begins with */
    uint32_t component;         /* vertices that hub 0 reaches and is reached from; 0: it is not known */
};

typedef struct sf_gpu_search_state {
    sf_gpu_arranged graph;
    uint32_t words; /* of a bitmap */
    int direction;
    uint32_t *visited[2];
    uint8_t *marks;               /* by local number, of visited ones: the level, and OTHER */
    uint32_t *parent;             /* by local number, where the mark says so: the vertex */
    uint32_t *deep;               /* by local number: levels that marks have no room for */
    sf_gpu_search_item *queue[2]; /* the frontier of even and odd levels */
    /* and those of its vertices that the whole grid shares, with all of their lists */
    sf_gpu_search_item *large[2];
    /* of a part: what it found in a level, inner numbers, each with the vertex of its parent */
    uint2 *outbox;
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

typedef cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> meeting_word;

/* What a block knows of the meetings that it was at. */
typedef struct meetings_seen {
    unsigned long long came[2]; /* what the last even and odd ones left */
    uint32_t count;
} meetings_seen;

typedef struct room {
    uint32_t hubs[HUB_WORDS];
    uint32_t found[WARPS][WARP];
    uint16_t waiting[WARPS][WAITING];
    uint16_t resting[WARPS][RESTING];
    uint32_t found_count;
    unsigned long long edge_count;
    meetings_seen all, crew;
    uint32_t left, fresh; /* of the last vertices: in the list of this block, and found in this level */
    bool hub_visited;     /* hub 0, when the last level bottom-up began */
    tally last;
    tally small[SMALL_LEVELS]; /* of levels that this block searches alone */
} room;

} // namespace

/** The memory of a state, as the host sees it. Zero-initialise. */
typedef struct sf_gpu_search_memory {
    sf_gpu_array visited[2], marks, parent, deep, queue[2], large[2], outbox, tallies, meeting;
} sf_gpu_search_memory;

/** persistent.cu: everything in `state` but what a job brings; with an outbox for a part of several. */
int sf_gpu_search_memory_open(sf_gpu_search_memory *memory, sf_gpu_search_state *state,
                              sf_backend_device *device, const sf_gpu_arrangement *arrangement,
                              sf_bfs_direction direction, bool parted, sf_error *error);
void sf_gpu_search_memory_close(sf_gpu_search_memory *memory, sf_backend_device *device);

/** The number of blocks for this search: those of `kernel` that run at once where `sharing` parts share the
 * device, and fewer where there is less than one word of vertices per warp. */
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
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(FULL, value);
#else
    for (int distance = 16; distance > 0; distance /= 2)
        value += __shfl_xor_sync(FULL, value, distance);
    return value;
#endif
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

/* v is a local number; its parent is its greatest neighbour, or with OTHER another one. */
__device__ void keep(const state *s, uint32_t v, uint32_t level, uint32_t other = 0)
{
    s->marks[v] = (uint8_t)(min(level, DEEP) | other);
    if (level >= DEEP) s->deep[v] = level;
}

/* The same with another parent, a vertex. */
__device__ void keep_other(const state *s, uint32_t v, uint32_t level, uint32_t parent)
{
    s->parent[v] = parent;
    keep(s, v, level, OTHER);
}

/* By a block that begins. */
__device__ void enter(room *r)
{
    if (threadIdx.x == 0) {
        r->found_count = 0;
        r->edge_count = 0;
        r->all = r->crew = meetings_seen{{0, 0}, 0};
        r->hub_visited = false;
    }
    __syncthreads();
}

/* What the threads of this block found; its first thread has the sums on return. */
__device__ void sum_of_block(room *r, uint32_t *found, unsigned long long *edges)
{
    if (__any_sync(FULL, *found > 0 || *edges > 0)) {
        uint32_t sum = sum_of_warp(*found);
        for (int distance = 16; distance > 0; distance /= 2)
            *edges += __shfl_xor_sync(FULL, *edges, distance);
        if (lane_of() == 0 && sum > 0) atomicAdd(&r->found_count, sum);
        if (lane_of() == 0 && *edges > 0) atomicAdd(&r->edge_count, *edges);
    }
    __syncthreads();
    if (threadIdx.x != 0) return;
    *found =
        atomicExch(&r->found_count, 0); /* an ordinary load may be done by all threads, and race the store */
    *edges = atomicExch(&r->edge_count, 0ull);
}

/* By one thread of each of some blocks: goes on when all are here. Returns what they found together. The
 * count of blocks and the sum are one word, so that one trip to memory brings both; the next meeting is at
 * the other word, so that nobody adds to this one before all have read it. */
__device__ uint32_t come_and_wait(unsigned long long came[2], meetings_seen *seen, uint32_t blocks,
                                  uint32_t found)
{
    uint32_t which = seen->count++ % 2;
    unsigned long long before = seen->came[which], after;
    meeting_word word(came[which]);
    word.fetch_add(1ull << CAME_SHIFT | found, cuda::memory_order_release);
    do
        after = word.load(cuda::memory_order_acquire);
    while ((after - before) >> CAME_SHIFT != blocks);
    seen->came[which] = after;
    return (uint32_t)(after - before);
}

/* Waits until all blocks have come, and leaves what they found in r->last; with `queued` also the edges of
 * that and the queue, which the tally has. */
__device__ void meet(const state *s, room *r, tally *t, uint32_t found, unsigned long long edges, bool queued)
{
    sum_of_block(r, &found, &edges);
    if (threadIdx.x == 0) {
        if (edges > 0) atomicAdd(&t->edges, edges);
        r->last.found = come_and_wait(s->meeting->came, &r->all, gridDim.x, found);
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
    if (s->direction != SF_BFS_AUTO) return s->direction == SF_BFS_BOTTOM_UP;
    if (!up) return last->edges > 2ull * left + s->words;
    return last->found > left / 32;
}

/* By one thread of the search. */
__device__ void record(const state *s, const tally *last, uint32_t level, bool up)
{
    if (level < SF_GPU_LOG) s->log[level] = sf_gpu_level{level > 0 ? last->found : 1, up, now()};
    s->summary->depth = level;
    s->summary->logged = level < SF_GPU_LOG ? level + 1 : SF_GPU_LOG;
}

/* ---- writing out ---- */

/* The inner numbers of this lane's vertices in some words of 32 in a row; lane j has the place of word j. */
__device__ void number_words(const state *s, uint4 place, uint32_t first, uint32_t inner[OUT])
{
    uint32_t lane = lane_of();
#pragma unroll
    for (uint32_t j = 0; j < OUT; j++) {
        uint32_t ordinary = __shfl_sync(FULL, place.x, j), hubs = __shfl_sync(FULL, place.y, j);
        uint32_t base = __shfl_sync(FULL, place.z, j);
        inner[j] = ordinary >> lane & 1 ? base + __popc(ordinary & below(lane)) : SF_GPU_OUTSIDE;
        if (hubs >> lane & 1) inner[j] = __ldg(s->graph.inner + (first + j) * WARP + lane);
    }
}

/* Writes out some words of vertices; those not visited only with `all`. Called by whole warps. */
template <bool parted>
__device__ void write_words(const state *s, const uint32_t *visited, uint32_t source, uint4 place,
                            uint32_t first, bool all)
{
    const sf_gpu_arranged *g = &s->graph;
    uint32_t inner[OUT], mark[OUT], parent[OUT], seen[OUT];
    number_words(s, place, first, inner);
#pragma unroll
    for (uint32_t j = 0; j < OUT; j++) {
        bool there = inner[j] != SF_GPU_OUTSIDE;
        seen[j] = there ? visited[inner[j] / WARP] >> inner[j] % WARP & 1 : 0;
        mark[j] = there ? __ldcg(s->marks + local_of<parted>(s, inner[j])) : 0;
        parent[j] = there ? __ldg(g->greatest_vertex + local_of<parted>(s, inner[j])) : NONE;
    }
#pragma unroll
    for (uint32_t j = 0; j < OUT; j++)
        if (seen[j] != 0 && (mark[j] & OTHER) != 0)
            parent[j] = __ldcg(s->parent + local_of<parted>(s, inner[j]));
#pragma unroll
    for (uint32_t j = 0; j < OUT; j++) {
        uint32_t v = (first + j) * WARP + lane_of(), level = mark[j] & DEEP;
        if (inner[j] == SF_GPU_OUTSIDE && v == source) { /* has no edge */
            level = 0;
            parent[j] = source;
        } else if (seen[j] == 0) {
            level = parent[j] = NONE;
        } else if (level == DEEP) {
            level = __ldcg(s->deep + local_of<parted>(s, inner[j]));
        }
        if (v < g->last_vertex && (all || seen[j] != 0 || inner[j] == SF_GPU_OUTSIDE)) {
            __stcs(s->levels + (v - g->first_vertex), level);
            __stcs(s->parents + (v - g->first_vertex), parent[j]);
        }
    }
}

/* By `blocks` blocks, of which this is one. While a warp writes, the places of what comes next are on their
 * way. */
template <bool parted>
__device__ void write_out(const state *s, const uint32_t *visited, uint32_t source, uint32_t block,
                          uint32_t blocks, bool all)
{
    const uint4 *places = (const uint4 *)s->graph.places; /* ordinary, hubs, base */
    uint32_t lane = lane_of(), step = blocks * WARPS * OUT;
    uint32_t word = s->graph.first_vertex / WARP + (threadIdx.x / WARP * blocks + block) * OUT;
    uint32_t words = (s->graph.last_vertex + WARP - 1) / WARP;
    uint4 place, next = make_uint4(0, 0, 0, 0);
    if (lane < OUT && word + lane < words) next = __ldg(places + word + lane);
    for (; word < words; word += step) {
        place = next;
        next = make_uint4(0, 0, 0, 0);
        if (lane < OUT && word + step + lane < words) next = __ldg(places + word + step + lane);
        write_words<parted>(s, visited, source, place, word, all);
    }
}

/* The last block to go leaves the counters as the next search needs them. True for that block's first thread.
 */
__device__ bool go_home(const state *s)
{
    sf_gpu_search_meeting *m = s->meeting;
    if (threadIdx.x != 0 || atomicAdd(&m->home, 1) != gridDim.x - 1) return false;
    m->came[0] = m->came[1] = m->crew[0] = m->crew[1] = 0;
    m->parted = m->home = 0;
    return true;
}

} // namespace

#endif
