/* SPDX-License-Identifier: Apache-2.0 */
/* Candidates of pattern vertices, as bits of data vertices.
 *
 * One cooperative kernel goes through the steps of the CPU's filter (graph/match/space.c) in the same order,
 * so that the candidates are the same: every vertex is filtered by label, degrees and the labels of
 * neighbours, and then, in rounds, loses the candidates that have no candidate of a required vertex next to
 * them. A warp takes a word of 32 data vertices, a lane each. A lane looks at a few neighbours by itself,
 * which mostly does; what is left of long lists the warp goes through together. */
#include "gpu/keys.cuh"
#include "gpu/match/space.cuh"

#include <cooperative_groups.h>

enum { MOST = SF_BACKEND_MATCH_MOST, ROUNDS = 7, STEPS = MOST * (1 + ROUNDS) };

struct sf_gpu_sieve_control {
    uint32_t kept[STEPS];                 /* of every step: candidates left of its vertex */
    uint32_t counts[MOST], differs[MOST]; /* differs: from which earlier vertices of the same count */
    uint32_t useful, is_empty, filtered;
};

namespace
{

enum {
    LANES = 32,
    THREADS = 256,
    ALONE = 8 /* neighbours that a lane looks at by itself */
};

#define ALL_LANES 0xffffffffu

typedef sf_gpu_sieve sieve;
typedef sf_gpu_space_vertex vertex;

struct warps {
    uint32_t own, count, lane;
};

__device__ bool fits_alone(const sieve &s, const vertex &t, uint32_t v)
{
    if ((t.label != UINT32_MAX && s.labels[v] != t.label) ||
        s.out.offsets[v + 1] - s.out.offsets[v] < t.out_degree ||
        s.in.offsets[v + 1] - s.in.offsets[v] < t.in_degree ||
        (t.allowed != NULL && !sf_gpu_is_in(t.allowed, v)))
        return false;
    for (uint32_t i = 0; i < t.need_count; i++) {
        const sf_backend_need need = t.needs[i];
        sf_gpu_near near = sf_gpu_near_of(need.out ? s.out : s.in, v, need.label);
        if (near.end - near.begin < need.count) return false;
    }
    return true;
}

__device__ void filter(const sieve &s, uint32_t u, uint32_t step, const warps &w)
{
    uint32_t kept = 0;
    for (uint32_t word = w.own; word < s.words; word += w.count) {
        uint32_t v = word * LANES + w.lane;
        uint32_t bits = __ballot_sync(ALL_LANES, v < s.vertex_count && fits_alone(s, s.vertices[u], v));
        if (w.lane == 0) s.bits[(size_t)u * s.words + word] = bits;
        kept += __popc(bits);
    }
    if (w.lane == 0 && kept > 0) atomicAdd(&s.control->kept[step], kept);
}

/* Whether the data vertex of each lane, if it has one, has a candidate among these neighbours. */
__device__ bool has_candidate(const uint32_t *bits, const sf_gpu_near &near, bool is_mine, uint32_t lane)
{
    bool found = false;
    uint64_t at = near.begin, stop = min(near.end, near.begin + ALONE);
    for (; is_mine && !found && at < stop; at++)
        found = sf_gpu_is_in(bits, near.targets[at]);
    uint32_t left = __ballot_sync(ALL_LANES, is_mine && !found && at < near.end);
    for (; left != 0; left &= left - 1) {
        uint32_t of = __ffs(left) - 1;
        uint64_t end = __shfl_sync(ALL_LANES, near.end, of);
        bool any = false;
        for (uint64_t e = __shfl_sync(ALL_LANES, at, of); e < end && !any; e += LANES)
            any = __any_sync(ALL_LANES, e + lane < end && sf_gpu_is_in(bits, near.targets[e + lane]));
        found |= any && lane == of;
    }
    return found;
}

__device__ void prune(const sieve &s, uint32_t u, uint32_t step, const warps &w)
{
    const vertex &t = s.vertices[u];
    uint32_t kept = 0;
    for (uint32_t word = w.own; word < s.words; word += w.count) {
        uint32_t *bits = &s.bits[(size_t)u * s.words + word], before = *bits, v = word * LANES + w.lane;
        bool stays = (before >> w.lane & 1) != 0;
        for (uint32_t left = t.required; left != 0 && __any_sync(ALL_LANES, stays); left &= left - 1) {
            uint32_t x = __ffs(left) - 1;
            sf_gpu_near near = {};
            near = sf_gpu_near_of((t.out >> x & 1) != 0 ? s.out : s.in, stays ? v : 0, s.vertices[x].label);
            stays = has_candidate(s.bits + (size_t)x * s.words, near, stays, w.lane);
        }
        uint32_t after = __ballot_sync(ALL_LANES, stays);
        if (w.lane == 0 && after != before) *bits = after;
        kept += __popc(after);
    }
    if (w.lane == 0 && kept > 0) atomicAdd(&s.control->kept[step], kept);
}

/* Which vertices have other candidates than an earlier one, though as many; and which data vertices are any.
 */
__device__ void compare(const sieve &s, const uint32_t *counts, const warps &w)
{
    uint32_t useful = 0;
    for (uint32_t word = w.own * LANES + w.lane; word < s.words; word += w.count * LANES) {
        uint32_t any = 0;
        for (uint32_t u = 0; u < s.count; u++) {
            uint32_t bits = s.bits[(size_t)u * s.words + word], differs = 0;
            for (uint32_t x = 0; x < u; x++)
                differs |= (uint32_t)(counts[x] == counts[u] && s.bits[(size_t)x * s.words + word] != bits)
                           << x;
            any |= bits;
            s.ranks[(size_t)u * s.words + word] = __popc(bits);
            if (differs != 0) atomicOr(&s.control->differs[u], differs);
        }
        useful += __popc(any);
    }
    if (useful > 0) atomicAdd(&s.control->useful, useful);
}

/* All threads go the same way: what decides is read after everybody has come to it. */
__global__ void __launch_bounds__(THREADS) sift(const __grid_constant__ sieve s)
{
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    warps w = {(blockIdx.x * THREADS + threadIdx.x) / LANES, gridDim.x * (THREADS / LANES),
               threadIdx.x % LANES};
    uint32_t counts[MOST] = {}, step = 0, u = 0, stale = (uint32_t)((1ull << s.count) - 1);
    bool is_empty = false;
    for (; u < s.count && !is_empty; u++, step++) {
        filter(s, u, step, w);
        grid.sync();
        counts[u] = __ldcg(&s.control->kept[step]);
        is_empty = counts[u] == 0;
    }
    uint32_t filtered = u;
    for (uint32_t round = 0; round < s.rounds && stale != 0 && !is_empty; round++) {
        uint32_t now = stale;
        stale = 0;
        for (; now != 0; now &= now - 1, step++) {
            u = __ffs(now) - 1;
            prune(s, u, step, w);
            grid.sync();
            uint32_t kept = __ldcg(&s.control->kept[step]);
            stale |= kept != counts[u] ? s.vertices[u].required : 0;
            counts[u] = kept;
            is_empty |= kept == 0;
        }
    }
    compare(s, counts, w);
    if (blockIdx.x > 0 || threadIdx.x > 0) return;
    for (u = 0; u < s.count; u++)
        s.control->counts[u] = counts[u];
    s.control->is_empty = is_empty;
    s.control->filtered = filtered;
}

__global__ void list_candidates(const __grid_constant__ sieve s, uint32_t *candidates)
{
    uint32_t words = s.count * s.words, stride = gridDim.x * (THREADS / LANES), lane = threadIdx.x % LANES;
    for (uint32_t i = (blockIdx.x * THREADS + threadIdx.x) / LANES; i < words; i += stride) {
        uint32_t bits = s.bits[i];
        if ((bits >> lane & 1) != 0)
            candidates[s.ranks[i] + sf_gpu_bits_before(bits, lane)] = i % s.words * LANES + lane;
    }
}

} // namespace

static int start(sf_backend_device *device, const sieve *s, sf_error *error)
{
    int of_each = 0;
    if (!device->properties.cooperativeLaunch)
        return sf_fail(error, SF_UNAVAILABLE, NULL, "the device does not make candidates");
    SF_GPU_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&of_each, sift, THREADS, 0));
    uint32_t most = (uint32_t)(of_each * device->properties.multiProcessorCount);
    uint32_t useful = (s->words + THREADS / LANES - 1) / (THREADS / LANES);
    void *arguments[] = {(void *)s};
    SF_GPU_TRY(cudaLaunchCooperativeKernel((void *)sift, useful < most ? useful : most, THREADS, arguments, 0,
                                           device->work));
    return SF_OK;
}

static void take_counts(sieve *s, const sf_gpu_sieve_control *c, sf_backend_space_answer *answer)
{
    *answer = {};
    answer->is_empty = c->is_empty != 0;
    answer->filtered = c->filtered;
    answer->useful = c->useful;
    for (uint32_t u = 0; u < s->count; u++) {
        uint32_t x = 0;
        while (x < u && (c->counts[x] != c->counts[u] || (c->differs[u] >> x & 1) != 0))
            x++;
        answer->twin[u] = x;
        answer->counts[u] = c->counts[u];
        s->begins[u + 1] = s->begins[u] + c->counts[u];
    }
}

int sf_gpu_sift(sf_backend_space *space, sf_backend_space_answer *answer, sf_error *error)
{
    sieve *s = &space->sieve;
    sf_backend_device *device = space->data->device;
    sf_gpu_sieve_control end;
    size_t words = (size_t)s->count * s->words;
    if ((uint64_t)s->count * s->vertex_count > UINT32_MAX || s->rounds > ROUNDS)
        return sf_fail(error, SF_UNAVAILABLE, NULL,
                       "the graph has too many vertices for a device to make candidates");
    int status = sf_gpu_blocks_add(&space->blocks, &s->bits, NULL, words, error);
    if (status == SF_OK) status = sf_gpu_blocks_add(&space->blocks, &s->ranks, NULL, words, error);
    if (status == SF_OK) status = sf_gpu_blocks_add(&space->blocks, &s->control, NULL, 1, error);
    if (status != SF_OK) return status;
    SF_GPU_TRY(cudaMemsetAsync(s->bits, 0, words * sizeof *s->bits, device->work));
    SF_GPU_TRY(cudaMemsetAsync(s->control, 0, sizeof *s->control, device->work));
    status = start(device, s, error);
    if (status == SF_OK) status = sf_gpu_sum(device, s->ranks, s->ranks, (uint32_t)words, error);
    if (status == SF_OK) status = sf_gpu_download(device, &end, s->control, sizeof end, error);
    if (status != SF_OK) return status;
    take_counts(s, &end, answer);
    if (answer->is_empty) return SF_OK;
    status =
        sf_gpu_array_open(device, &space->candidates, (size_t)s->begins[s->count] * sizeof(uint32_t), error);
    if (status != SF_OK) return status;
    list_candidates<<<device->properties.multiProcessorCount * 8, THREADS, 0, device->work>>>(
        *s, (uint32_t *)space->candidates.data);
    SF_GPU_LAUNCHED();
    return SF_OK;
}
