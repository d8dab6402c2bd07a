/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rewiring on the device, as core/backend/rewire.h says: one block for each graph, as many at once as fit.
 *
 *   rewire   as many tries in a row at once as the block has threads, each against the graph as it is. Those
 * in front of the first that an earlier one might have changed are done; that one begins the next step. With
 * m edges that is after some sqrt(0.4 m) of them: a block is one warp, and four for many edges. census counts
 * what three vertices are joined like, a word of 32 third vertices at a time.
 *
 * A graph is its edges, head and tail in a word, and a matrix of bits, both in shared memory where they fit.
 * The floor of a chain is the way of a step: random numbers, two edges, two bits, marks, again.
 */
#include "gpu/device.cuh"
#include "gpu/families.cuh"

extern "C" {
#include "core/backend/rewire.h"
#include "core/progress.h"
}

#define LANES 32u
#define ALL_LANES (~0u)
#define MOST_VERTICES 16384u /* tails and heads are half a word; and a matrix takes 32 MiB */
#define MOST_EDGES (1u << 22)
#define SHARED_CENSUS (96u << 10) /* larger matrices for the census lie in global memory: more blocks run */
#define CENSUS_WARPS 8u
#define MARKS 1024u /* a power of two; that vertices share one seldom delays a try, and changes nothing */
#define WIDE_EDGES 8192u
#define WIDE_WARPS 4u

namespace
{

/* What all graphs of a job share. */
typedef struct shape {
    uint32_t vertices, row_words, count, marks;
    bool directed, in_shared;
} shape;

typedef struct rewire_view {
    shape s;
    uint64_t seed, tries;
    uint32_t first; /* number of the first graph */
    const uint32_t *edges;
    uint32_t *rewired;  /* [graph][edge] */
    uint32_t *matrices; /* [graph][vertex][word]; NULL where they are in shared memory */
} rewire_view;

/* A graph in the hands of its block. */
typedef struct chain {
    uint32_t *tails, *heads; /* [mark][warp]: lanes whose try changes an edge out of, into such a vertex */
    uint32_t *matrix, *edges;
} chain;

__host__ __device__ uint32_t matrix_words(const shape &s)
{
    return s.vertices * s.row_words;
}

__device__ uint32_t tail_of(uint32_t edge)
{
    return edge >> 16;
}

__device__ uint32_t head_of(uint32_t edge)
{
    return edge & 0xffff;
}

__device__ uint32_t word_of(const shape &s, uint32_t row, uint32_t column)
{
    return row * s.row_words + column / 32;
}

__device__ bool has(const shape &s, const uint32_t *matrix, uint32_t row, uint32_t column)
{
    return (matrix[word_of(s, row, column)] >> column % 32 & 1) != 0;
}

__device__ void add(const shape &s, uint32_t *matrix, uint32_t row, uint32_t column)
{
    atomicOr(&matrix[word_of(s, row, column)], 1u << column % 32);
}

/* ---- rewiring: an undirected edge has its bit in the row of the smaller vertex ---- */

__device__ void order(const shape &s, uint32_t &row, uint32_t &column)
{
    if (s.directed || row < column) return;
    uint32_t larger = row;
    row = column;
    column = larger;
}

__device__ bool is_joined(const shape &s, const chain &c, uint32_t from, uint32_t to)
{
    order(s, from, to);
    return has(s, c.matrix, from, to);
}

__device__ void join(const shape &s, const chain &c, uint32_t from, uint32_t to)
{
    order(s, from, to);
    add(s, c.matrix, from, to);
}

__device__ void part(const shape &s, const chain &c, uint32_t from, uint32_t to)
{
    order(s, from, to);
    atomicAnd(&c.matrix[word_of(s, from, to)], ~(1u << to % 32));
}

template <uint32_t WARPS> __device__ void sync_block(void)
{
    if (WARPS == 1)
        __syncwarp();
    else
        __syncthreads();
}

template <uint32_t WARPS> __device__ chain start(const rewire_view &v, uint32_t *room)
{
    uint32_t marks = v.s.marks * WARPS, words = matrix_words(v.s);
    chain c = {room, room, NULL, NULL};
    if (v.s.directed) c.heads = room + marks;
    marks *= v.s.directed ? 2 : 1;
    c.matrix = v.s.in_shared ? room + marks : v.matrices + (size_t)blockIdx.x * words;
    c.edges = v.s.in_shared ? c.matrix + words : v.rewired + (size_t)blockIdx.x * v.s.count;
    for (uint32_t i = threadIdx.x; i < marks; i += blockDim.x)
        room[i] = 0;
    for (uint32_t i = threadIdx.x; i < words; i += blockDim.x)
        c.matrix[i] = 0;
    sync_block<WARPS>();
    for (uint32_t i = threadIdx.x; i < v.s.count; i += blockDim.x) {
        c.edges[i] = v.edges[i];
        join(v.s, c, tail_of(v.edges[i]), head_of(v.edges[i]));
    }
    sync_block<WARPS>();
    return c;
}

/* The first try of the block that `depends`, or how many threads there are. */
template <uint32_t WARPS> __device__ uint32_t find_first(bool depends, uint32_t *firsts)
{
    uint32_t lanes = __ballot_sync(ALL_LANES, depends);
    uint32_t first = lanes != 0 ? (uint32_t)__ffs((int)lanes) - 1 : LANES;
    if (WARPS > 1 && threadIdx.x % LANES == 0) firsts[threadIdx.x / LANES] = first;
    sync_block<WARPS>(); /* all have read the marks, too */
    for (uint32_t w = 0; WARPS > 1 && w < WARPS; w++)
        if (firsts[w] < LANES || w == WARPS - 1) return w * LANES + firsts[w];
    return first;
}

/*
 * Does tries `number` and up, one for each thread, and returns how many: those before the first that depends
 * on an earlier one. A try a -> b, c -> d reads and changes a -> b, c -> d, a -> d and c -> b, no others: so
 * it depends on an earlier one that has one of a and c as tail and one of b and d as head.
 */
template <uint32_t WARPS>
__device__ uint32_t swap_heads(const rewire_view &v, const chain &c, uint32_t graph, uint64_t number,
                               uint32_t *firsts)
{
    uint32_t warp = threadIdx.x / LANES, mine = 1u << threadIdx.x % LANES;
    number += threadIdx.x;
    sf_rewire_draw draw = sf_rewire_drawn(v.seed, graph, number, v.s.count);
    uint32_t one = c.edges[draw.one], other = c.edges[draw.other];
    if (draw.turned && !v.s.directed) other = head_of(other) << 16 | tail_of(other);
    uint32_t from = tail_of(one), to = head_of(one), other_from = tail_of(other), other_to = head_of(other);
    bool swaps = number < v.tries && draw.one != draw.other && from != other_to && other_from != to &&
                 !is_joined(v.s, c, from, other_to) && !is_joined(v.s, c, other_from, to);
    uint32_t shared_by = v.s.marks - 1;
    uint32_t *tails[2] = {c.tails + (from & shared_by) * WARPS, c.tails + (other_from & shared_by) * WARPS};
    uint32_t *heads[2] = {c.heads + (to & shared_by) * WARPS, c.heads + (other_to & shared_by) * WARPS};
    for (uint32_t i = 0; i < 2 && swaps; i++) {
        atomicOr(&tails[i][warp], mine);
        atomicOr(&heads[i][warp], mine);
    }
    sync_block<WARPS>();
    uint32_t before = 0;
    for (uint32_t w = 0; w <= warp; w++)
        before |= (tails[0][w] | tails[1][w]) & (heads[0][w] | heads[1][w]) & (w < warp ? ~0u : mine - 1);
    uint32_t done = find_first<WARPS>(before != 0, firsts);
    for (uint32_t i = 0; i < 2 && swaps; i++)
        tails[i][warp] = heads[i][warp] = 0;
    if (swaps && threadIdx.x < done) {
        part(v.s, c, from, to);
        part(v.s, c, other_from, other_to);
        join(v.s, c, from, other_to);
        join(v.s, c, other_from, to);
        c.edges[draw.one] = from << 16 | other_to;
        c.edges[draw.other] = other_from << 16 | to;
    }
    sync_block<WARPS>();
    return done;
}

template <uint32_t WARPS> __global__ void __launch_bounds__(WARPS *LANES) rewire(rewire_view v)
{
    extern __shared__ uint32_t room[];
    __shared__ uint32_t firsts[WARPS];
    chain c = start<WARPS>(v, room);
    for (uint64_t number = 0; number < v.tries;)
        number += swap_heads<WARPS>(v, c, v.first + blockIdx.x, number, firsts);
    if (!v.s.in_shared) return;
    uint32_t *rewired = v.rewired + (size_t)blockIdx.x * v.s.count;
    for (uint32_t i = threadIdx.x; i < v.s.count; i += blockDim.x)
        rewired[i] = c.edges[i];
}

/* ---- the census ---- */

typedef struct census_view {
    shape s;
    const uint32_t *rewired;
    uint32_t *matrices;         /* [graph][out, in][vertex][word]; NULL where they are in shared memory */
    unsigned long long *triads; /* [graph][class] */
    uint8_t classes[64];
} census_view;

/* Bits of word k that stand for vertices after v. */
__device__ uint32_t after(uint32_t v, uint32_t k)
{
    if (k != v / 32) return k > v / 32 ? ~0u : 0;
    return ~((2u << v % 32) - 1);
}

/* How u is joined with a third vertex, from 0 to 3, and then v, times 4; places of `counts`. */
#define THIRDS 16

/* Third vertices of word k for the joined pair v < u. As on the CPU, three vertices are counted at the first
 * of their joined pairs, and nowhere else. */
__device__ void add_word(uint32_t counts[THIRDS], const census_view &w, const uint32_t *out,
                         const uint32_t *in, uint32_t v, uint32_t u, uint32_t k)
{
    uint32_t out_v = out[v * w.s.row_words + k], in_v = in[v * w.s.row_words + k];
    uint32_t out_u = out[u * w.s.row_words + k], in_u = in[u * w.s.row_words + k];
    uint32_t near = out_v | in_v | out_u | in_u;
    uint32_t past = w.s.vertices - k * 32;
    counts[0] += __popc(~near & (past < 32 ? (1u << past) - 1 : ~0u));
    near &= after(u, k) | (after(v, k) & ~(out_v | in_v));
    if (near == 0) return;
#pragma unroll
    for (uint32_t third = 1; third < THIRDS; third++)
        counts[third] +=
            __popc(near & ((third & 1) != 0 ? out_u : ~out_u) & ((third & 2) != 0 ? in_u : ~in_u) &
                   ((third & 4) != 0 ? out_v : ~out_v) & ((third & 8) != 0 ? in_v : ~in_v));
}

/* All pairs joined in one of the three ways, a warp for each. */
__device__ void tally_pairs(unsigned long long *tallies, const census_view &w, const uint32_t *out,
                            const uint32_t *in, uint32_t way)
{
    const uint32_t *edges = w.rewired + (size_t)blockIdx.x * w.s.count;
    uint32_t lane = threadIdx.x % LANES, counts[THIRDS] = {};
    for (uint32_t e = threadIdx.x / LANES; e < w.s.count; e += CENSUS_WARPS) {
        uint32_t from = tail_of(edges[e]), to = head_of(edges[e]);
        uint32_t v = min(from, to), u = max(from, to);
        uint32_t joined = (has(w.s, out, v, u) ? 1u : 0u) | (has(w.s, out, u, v) ? 2u : 0u);
        bool is_second = w.s.directed && joined == 3 && from > to; /* of the two edges of a pair */
        for (uint32_t k = lane; k < w.s.row_words && joined == way && !is_second; k += LANES)
            add_word(counts, w, out, in, v, u, k);
    }
    for (uint32_t third = 0; third < THIRDS; third++) {
        unsigned long long sum = counts[third];
        for (uint32_t step = LANES / 2; step > 0; step /= 2)
            sum += __shfl_down_sync(ALL_LANES, sum, step);
        if (lane == 0) atomicAdd(&tallies[w.classes[way | third << 2]], sum);
    }
}

__global__ void __launch_bounds__(CENSUS_WARPS *LANES) census(census_view w)
{
    extern __shared__ uint32_t room[];
    __shared__ unsigned long long tallies[SF_BACKEND_TRIADS];
    uint32_t words = matrix_words(w.s);
    uint32_t *out = w.s.in_shared ? room : w.matrices + (size_t)blockIdx.x * 2 * words, *in = out + words;
    for (uint32_t i = threadIdx.x; i < 2 * words; i += blockDim.x)
        out[i] = 0;
    if (threadIdx.x < SF_BACKEND_TRIADS) tallies[threadIdx.x] = 0;
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < w.s.count; i += blockDim.x) {
        uint32_t edge = w.rewired[(size_t)blockIdx.x * w.s.count + i];
        for (int turn = 0; turn < (w.s.directed ? 1 : 2); turn++) {
            add(w.s, out, tail_of(edge), head_of(edge));
            add(w.s, in, head_of(edge), tail_of(edge));
            edge = head_of(edge) << 16 | tail_of(edge);
        }
    }
    __syncthreads();
    for (uint32_t way = 1; way <= 3; way++)
        tally_pairs(tallies, w, out, in, way);
    __syncthreads();
    if (threadIdx.x < SF_BACKEND_TRIADS)
        w.triads[(size_t)blockIdx.x * SF_BACKEND_TRIADS + threadIdx.x] = tallies[threadIdx.x];
}

/* ---- the job ---- */

typedef struct rewire_job {
    sf_backend_device *device;
    const sf_backend_rewire_job *asked;
    shape chains, triads; /* the same graph, and whether it is in shared memory there */
    void (*rewire)(rewire_view view);
    uint32_t warps;                  /* of it */
    size_t chain_bytes, triad_bytes; /* of shared memory */
    uint32_t batch;                  /* graphs at once */
    sf_gpu_array edges, rewired, matrices, triad_matrices, tallies;
    uint32_t *packed; /* edges of a batch on the host */
} rewire_job;

} // namespace

static void choose_places(rewire_job *j)
{
    const sf_backend_rewire_job *asked = j->asked;
    bool wide = asked->edge_count >= WIDE_EDGES;
    j->rewire = wide ? rewire<WIDE_WARPS> : rewire<1>;
    j->warps = wide ? WIDE_WARPS : 1;
    uint32_t marks = LANES;
    while (marks < asked->vertex_count && marks < MARKS)
        marks *= 2;
    shape s = {asked->vertex_count, (asked->vertex_count + 31) / 32,
               asked->edge_count,   marks,
               asked->directed,     false};
    size_t marked = (size_t)marks * j->warps * (s.directed ? 2 : 1), words = matrix_words(s);
    j->chains = j->triads = s;
    j->chains.in_shared = (marked + words + s.count + WIDE_WARPS) * sizeof(uint32_t) <=
                          j->device->properties.sharedMemPerBlockOptin;
    j->chain_bytes = (j->chains.in_shared ? marked + words + s.count : marked) * sizeof(uint32_t);
    j->triads.in_shared = 2 * words * sizeof(uint32_t) <= SHARED_CENSUS;
    j->triad_bytes = j->triads.in_shared ? 2 * words * sizeof(uint32_t) : 0;
}

/* As many graphs as run at once, or as memory holds. */
static int choose_batch(rewire_job *j, sf_error *error)
{
    sf_backend_device *device = j->device;
    int fit = 0;
    SF_GPU_TRY(
        cudaFuncSetAttribute(j->rewire, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)j->chain_bytes));
    SF_GPU_TRY(
        cudaFuncSetAttribute(census, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)j->triad_bytes));
    SF_GPU_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, j->rewire, (int)(j->warps * LANES),
                                                             j->chain_bytes));
    size_t matrix = matrix_words(j->chains) * sizeof(uint32_t), each = j->chains.count * sizeof(uint32_t);
    each += j->chains.in_shared ? 0 : matrix;
    if (j->asked->triads != NULL)
        each += (j->triads.in_shared ? 0 : 2 * matrix) + SF_BACKEND_TRIADS * sizeof(uint64_t);
    uint64_t free_bytes = device->memory_limit - device->memory_used;
    uint64_t most = (uint64_t)device->properties.multiProcessorCount * (uint32_t)(fit > 0 ? fit : 1);
    uint64_t held = each > 0 ? free_bytes / 2 / each : most;
    if (held == 0)
        return sf_fail(error, SF_UNAVAILABLE, NULL, "one rewired graph needs %zu MiB of device memory",
                       each >> 20);
    most = most < held ? most : held;
    j->batch = (uint32_t)(most < j->asked->graphs ? most : j->asked->graphs);
    return SF_OK;
}

static int reserve(rewire_job *j, sf_error *error)
{
    size_t matrix = matrix_words(j->chains) * sizeof(uint32_t), list = j->chains.count * sizeof(uint32_t);
    bool counts = j->asked->triads != NULL;
    int status = sf_gpu_array_open(j->device, &j->edges, list, error);
    if (status == SF_OK) status = sf_gpu_array_open(j->device, &j->rewired, j->batch * list, error);
    if (status == SF_OK && !j->chains.in_shared)
        status = sf_gpu_array_open(j->device, &j->matrices, j->batch * matrix, error);
    if (status == SF_OK && counts && !j->triads.in_shared)
        status = sf_gpu_array_open(j->device, &j->triad_matrices, j->batch * 2 * matrix, error);
    if (status == SF_OK && counts)
        status = sf_gpu_array_open(j->device, &j->tallies,
                                   (size_t)j->batch * SF_BACKEND_TRIADS * sizeof(uint64_t), error);
    if (status != SF_OK) return status;
    j->packed = (uint32_t *)sf_resize(NULL, j->asked->rewired != NULL ? j->batch : 1, list > 0 ? list : 1);
    return j->packed != NULL ? SF_OK : sf_fail_memory(error);
}

static int send_edges(rewire_job *j, sf_error *error)
{
    for (uint32_t i = 0; i < j->chains.count; i++)
        j->packed[i] = j->asked->edges[i].from << 16 | j->asked->edges[i].to;
    return sf_gpu_upload(j->device, j->edges.data, j->packed, j->chains.count * sizeof(uint32_t), error);
}

static int fetch(rewire_job *j, uint32_t done, uint32_t graphs, sf_error *error)
{
    const sf_backend_rewire_job *asked = j->asked;
    size_t count = (size_t)graphs * j->chains.count;
    int status = SF_OK;
    if (asked->triads != NULL)
        status = sf_gpu_download(j->device, asked->triads + (size_t)done * SF_BACKEND_TRIADS, j->tallies.data,
                                 (size_t)graphs * SF_BACKEND_TRIADS * sizeof(uint64_t), error);
    if (status != SF_OK || asked->rewired == NULL) return status;
    status = sf_gpu_download(j->device, j->packed, j->rewired.data, count * sizeof(uint32_t), error);
    sf_edge *ends = asked->rewired + (size_t)done * j->chains.count;
    for (size_t i = 0; i < count && status == SF_OK; i++)
        ends[i] = sf_edge{j->packed[i] >> 16, j->packed[i] & 0xffff};
    return status;
}

static int run_batch(rewire_job *j, uint32_t done, uint32_t graphs, sf_error *error)
{
    const sf_backend_rewire_job *asked = j->asked;
    rewire_view v = {j->chains,
                     asked->seed,
                     asked->tries,
                     asked->first + done,
                     (const uint32_t *)j->edges.data,
                     (uint32_t *)j->rewired.data,
                     (uint32_t *)j->matrices.data};
    j->rewire<<<graphs, j->warps * LANES, j->chain_bytes, j->device->work>>>(v);
    SF_GPU_LAUNCHED();
    if (asked->triads != NULL) {
        census_view w = {j->triads, v.rewired, (uint32_t *)j->triad_matrices.data,
                         (unsigned long long *)j->tallies.data};
        for (int code = 0; code < 64; code++)
            w.classes[code] = asked->classes[code];
        census<<<graphs, CENSUS_WARPS * LANES, j->triad_bytes, j->device->work>>>(w);
        SF_GPU_LAUNCHED();
    }
    return fetch(j, done, graphs, error);
}

static int run_batches(rewire_job *j, sf_error *error)
{
    const sf_backend_rewire_job *asked = j->asked;
    int status = reserve(j, error);
    if (status == SF_OK) status = send_edges(j, error);
    for (uint32_t done = 0; done < asked->graphs && status == SF_OK;) {
        uint32_t graphs = min(j->batch, asked->graphs - done);
        if (!sf_progress_update(asked->progress, "rewired graphs", done, asked->graphs))
            return sf_fail(error, SF_CANCELLED, NULL, "was stopped after %u rewired graphs", done);
        status = run_batch(j, done, graphs, error);
        done += graphs;
    }
    return status;
}

static void close_job(rewire_job *j)
{
    sf_gpu_array_close(j->device, &j->edges);
    sf_gpu_array_close(j->device, &j->rewired);
    sf_gpu_array_close(j->device, &j->matrices);
    sf_gpu_array_close(j->device, &j->triad_matrices);
    sf_gpu_array_close(j->device, &j->tallies);
    sf_free(j->packed);
}

static int run(sf_backend_device *device, const sf_backend_rewire_job *asked, sf_error *error)
{
    if (asked->vertex_count > MOST_VERTICES || asked->edge_count > MOST_EDGES)
        return sf_fail(error, SF_UNAVAILABLE, NULL,
                       "a device rewires graphs of up to %u vertices and %u edges, found %u and %u",
                       MOST_VERTICES, MOST_EDGES, asked->vertex_count, asked->edge_count);
    rewire_job j = {.device = device, .asked = asked};
    choose_places(&j);
    int status = sf_gpu_check(cudaSetDevice(device->ordinal), "cudaSetDevice", error);
    if (status == SF_OK) status = choose_batch(&j, error);
    if (status == SF_OK) status = run_batches(&j, error);
    close_job(&j);
    return status;
}

const sf_backend_rewire sf_gpu_rewire = {run};
