/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Searches from every vertex, of which only is asked how many vertices each reaches, and how far away the
 * farthest is. A block has 64 sources, bit i of a vertex's word stands for source i, and goes through all
 * levels by itself; blocks do not wait for each other.
 */
#include "gpu/search/search.cuh"

#include "core/progress.h"

#include <algorithm>

#define WARP 32u
#define BLOCK 1024u
#define WORD 64u
#define EVERYONE 0xffffffffu
#define BLOCKS_EACH 2u                 /* per multiprocessor: as many as fit */
#define MOST_BYTES ((size_t)256 << 20) /* of the blocks' words */

namespace
{

typedef unsigned long long bits;

typedef struct counting {
    sf_gpu_lists out;
    uint32_t vertex_count, most_levels;
    uint32_t first_word;       /* of this launch: block b has word first_word + b */
    bits *words;               /* per block and vertex: seen, frontier, next */
    uint32_t *reached, *depth; /* by source */
} counting;

typedef struct own {
    bits *seen, *frontier, *next;
} own;

/* A warp a vertex of the frontier. */
__device__ void expand(const counting &c, const own &o)
{
    uint32_t lane = threadIdx.x % WARP;
    for (uint32_t v = threadIdx.x / WARP; v < c.vertex_count; v += BLOCK / WARP) {
        bits frontier = o.frontier[v];
        if (frontier == 0) continue;
        for (uint64_t e = c.out.offsets[v] + lane, end = c.out.offsets[v + 1]; e < end; e += WARP) {
            uint32_t neighbour = c.out.targets[e];
            bits fresh = frontier & ~o.seen[neighbour];
            if (fresh != 0) atomicOr(&o.next[neighbour], fresh);
        }
    }
}

/* What was found becomes the frontier. A lane returns how many vertices sources `lane` and `lane` + 32 found
 * among those of its warp. */
__device__ uint2 advance(const counting &c, const own &o)
{
    uint32_t lane = threadIdx.x % WARP;
    uint2 found = make_uint2(0, 0);
    for (uint64_t begin = threadIdx.x - lane; begin < c.vertex_count; begin += BLOCK) {
        uint64_t v = begin + lane;
        bits next = 0;
        if (v < c.vertex_count) {
            next = o.next[v];
            o.frontier[v] = next;
            o.seen[v] |= next;
            o.next[v] = 0;
        }
        if (!__any_sync(EVERYONE, next != 0)) continue;
        for (uint32_t i = 0; i < WARP; i++) {
            uint32_t low = (uint32_t)__popc(__ballot_sync(EVERYONE, (next >> i & 1) != 0));
            uint32_t high = (uint32_t)__popc(__ballot_sync(EVERYONE, (next >> (i + WARP) & 1) != 0));
            if (lane == i) {
                found.x += low;
                found.y += high;
            }
        }
    }
    return found;
}

__global__ void __launch_bounds__(BLOCK) search_word(counting c)
{
    __shared__ uint32_t reached[WORD], depth[WORD];
    __shared__ uint32_t any;
    size_t n = c.vertex_count;
    own o;
    o.seen = c.words + 3 * n * blockIdx.x;
    o.frontier = o.seen + n;
    o.next = o.frontier + n;
    uint32_t lane = threadIdx.x % WARP;
    uint64_t source = (uint64_t)(c.first_word + blockIdx.x) * WORD + threadIdx.x;
    bool has_source = threadIdx.x < WORD && source < n;
    for (size_t v = threadIdx.x; v < n; v += BLOCK)
        o.seen[v] = o.frontier[v] = o.next[v] = 0;
    __syncthreads();
    if (has_source) o.seen[source] = o.frontier[source] = (bits)1 << threadIdx.x;
    if (threadIdx.x < WORD) {
        reached[threadIdx.x] = 1;
        depth[threadIdx.x] = 0;
    }
    for (uint32_t level = 1; level <= c.most_levels; level++) {
        if (threadIdx.x == 0) any = 0;
        __syncthreads();
        expand(c, o);
        __syncthreads();
        uint2 found = advance(c, o);
        if (found.x != 0) {
            atomicAdd(&reached[lane], found.x);
            atomicMax(&depth[lane], level);
            atomicOr(&any, 1u);
        }
        if (found.y != 0) {
            atomicAdd(&reached[lane + WARP], found.y);
            atomicMax(&depth[lane + WARP], level);
            atomicOr(&any, 1u);
        }
        __syncthreads();
        bool goes_on = any != 0;
        __syncthreads(); /* before thread 0 wipes it */
        if (!goes_on) break;
    }
    __syncthreads();
    if (has_source) {
        c.reached[source] = reached[threadIdx.x];
        c.depth[source] = depth[threadIdx.x];
    }
}

typedef struct arrays {
    sf_gpu_array lists[2], words, reached, depth;
} arrays;

uint32_t blocks_of(const sf_backend_device *device, uint32_t vertex_count)
{
    uint32_t words = (uint32_t)(((uint64_t)vertex_count + WORD - 1) / WORD);
    uint32_t most = (uint32_t)device->properties.multiProcessorCount * BLOCKS_EACH;
    uint64_t fit = MOST_BYTES / (3 * sizeof(bits) * (uint64_t)vertex_count);
    if (fit < most) most = fit > 0 ? (uint32_t)fit : 1;
    return words < most ? words : most;
}

int open_arrays(counting *c, arrays *a, sf_backend_device *device, const sf_backend_lists *out,
                uint32_t blocks, sf_error *error)
{
    uint32_t n = c->vertex_count;
    int status = sf_gpu_upload_lists(device, &c->out, a->lists, out, n, 0, n, error);
    if (status == SF_OK)
        status = sf_gpu_array_open(device, &a->words, 3 * sizeof(bits) * (size_t)n * blocks, error);
    if (status == SF_OK) status = sf_gpu_array_open(device, &a->reached, n * sizeof(uint32_t), error);
    if (status == SF_OK) status = sf_gpu_array_open(device, &a->depth, n * sizeof(uint32_t), error);
    c->words = (bits *)a->words.data;
    c->reached = (uint32_t *)a->reached.data;
    c->depth = (uint32_t *)a->depth.data;
    return status;
}

/* Words after words, as many at a time as there are blocks. */
int search_all(counting *c, sf_backend_device *device, uint32_t blocks, const sf_progress *progress,
               sf_error *error)
{
    uint32_t words = (uint32_t)(((uint64_t)c->vertex_count + WORD - 1) / WORD);
    for (uint32_t first = 0; first < words; first += blocks) {
        if (!sf_progress_update(progress, "searching", (double)first, (double)words))
            return sf_fail(error, SF_CANCELLED, NULL, "stopped before all were searched");
        uint32_t at_once = std::min(blocks, words - first);
        c->first_word = first;
        search_word<<<at_once, BLOCK, 0, device->work>>>(*c);
        SF_GPU_LAUNCHED();
        if (progress != NULL) SF_GPU_TRY(cudaStreamSynchronize(device->work));
    }
    return SF_OK;
}

} // namespace

int sf_gpu_search_count(sf_backend_device *device, const sf_backend_lists *out, uint32_t vertex_count,
                        uint32_t most_levels, uint32_t *reached, uint32_t *depth, const sf_progress *progress,
                        sf_error *error)
{
    if (vertex_count == 0) return SF_OK;
    SF_GPU_TRY(cudaSetDevice(device->ordinal));
    counting c = {};
    c.vertex_count = vertex_count;
    c.most_levels = most_levels;
    arrays a = {};
    uint32_t blocks = blocks_of(device, vertex_count);
    size_t bytes = vertex_count * sizeof(uint32_t);
    int status = open_arrays(&c, &a, device, out, blocks, error);
    if (status == SF_OK) status = search_all(&c, device, blocks, progress, error);
    if (status == SF_OK) status = sf_gpu_download(device, reached, c.reached, bytes, error);
    if (status == SF_OK) status = sf_gpu_download(device, depth, c.depth, bytes, error);
    sf_gpu_array *all[] = {&a.lists[0], &a.lists[1], &a.words, &a.reached, &a.depth};
    for (sf_gpu_array *array : all)
        sf_gpu_array_close(device, array);
    return status;
}
