/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The counts of all pairs of a sliding window on the device: a chain for a delay and a pair, and a thread for
 * each that moves it along (mine/shared/pair_chain.h).
 *
 * Cost of a move: 16 bytes for a delay and a pair of units that fire, and the spikes of both that come, go,
 * and lie within the delay of those. Neighbouring threads have the same first unit and neighbouring second
 * ones: a stretch is laid out across for these, the first spikes of all units, then the second ones, and so
 * on.
 */
#include "gpu/families.cuh"
#include "gpu/lower_bound.cuh"
#include "gpu/mine/stream.cuh"

extern "C" {
#include "core/backend/pairs.h"
#include "mine/shared/pair_chain.h"
}

#define THREADS 256u

namespace
{

/* The state of pair (from, to) at a delay, number (delay * units + from) * units + to. */
typedef struct state_view {
    uint32_t *counts;
    uint32_t *restarts; /* where the next occurrence may start; meaningless where the count is 0 */
    const sf_delay *delays;
    uint32_t units, delay_count;
    bool self;
} state_view;

typedef struct remainder_view {
    uint64_t *pairs; /* numbers; room for `most` */
    unsigned long long *count;
    uint64_t most;
} remainder_view;

__global__ void find_since(uint32_t *since, sf_pair_view v, uint32_t units)
{
    for (uint32_t u = blockIdx.x * blockDim.x + threadIdx.x; u < units; u += gridDim.x * blockDim.x)
        since[u] = sf_gpu_first_from(v.first[u], v.first[u + 1], v.begin,
                                     [v](uint32_t place) { return v.positions[place]; });
}

/* The arrays of a view. */
typedef struct placed {
    int64_t *times, *across_times;
    uint32_t *positions, *across_positions;
} placed;

__global__ void place_spikes(placed to, const uint2 *ends, const int64_t *times, const uint16_t *owner,
                             const uint32_t *first, uint32_t count, uint32_t stride)
{
    for (uint32_t p = blockIdx.x * blockDim.x + threadIdx.x; p < count; p += gridDim.x * blockDim.x) {
        uint32_t position = ends[p].x, unit = owner[position];
        size_t across = (size_t)(p - first[unit]) * stride + unit;
        to.times[p] = times[position];
        to.positions[p] = position;
        if (stride == 0) continue;
        to.across_times[across] = times[position];
        to.across_positions[across] = position;
    }
}

/* ---- kernels ---- */

__global__ void enter_all(state_view s, sf_pair_view v)
{
    uint32_t to = blockIdx.x * blockDim.x + threadIdx.x, from = blockIdx.y;
    if (to >= s.units || (to == from && !s.self) || v.since[to] == v.first[to + 1] ||
        v.first[from] == v.first[from + 1])
        return;
    for (uint32_t d = 0; d < s.delay_count; d++) {
        uint64_t pair = ((uint64_t)d * s.units + from) * s.units + to;
        sf_pair_chain chain = {s.counts[pair], s.restarts[pair]};
        if (sf_pair_enter(&chain, &v, s.delays[d], from, to)) {
            s.counts[pair] = chain.count;
            s.restarts[pair] = chain.restart;
        }
    }
}

__device__ void leave_or_keep(const state_view *s, const sf_pair_view *v, uint64_t pair, bool whole,
                              remainder_view left)
{
    uint32_t to = (uint32_t)(pair % s->units), from = (uint32_t)(pair / s->units % s->units);
    sf_pair_chain before = {s->counts[pair], s->restarts[pair]}, chain = before;
    if (before.count == 0) return;
    if (sf_pair_leave(&chain, v, s->delays[pair / s->units / s->units], from, to, whole)) {
        if (chain.count != before.count) s->counts[pair] = chain.count;
        if (chain.restart != before.restart) s->restarts[pair] = chain.restart;
        return;
    }
    unsigned long long place = atomicAdd(left.count, 1ull);
    if (place < left.most) left.pairs[place] = pair;
}

__global__ void leave_all(state_view s, sf_pair_view v, bool whole, remainder_view left)
{
    uint32_t to = blockIdx.x * blockDim.x + threadIdx.x, from = blockIdx.y;
    if (to >= s.units || (to == from && !s.self) || v.since[from] == v.first[from]) return;
    for (uint32_t d = 0; d < s.delay_count; d++)
        leave_or_keep(&s, &v, ((uint64_t)d * s.units + from) * s.units + to, whole, left);
}

__global__ void leave_rest(state_view s, sf_pair_view v, bool whole, const uint64_t *rest, uint64_t count,
                           remainder_view left)
{
    for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < count;
         i += gridDim.x * (uint64_t)blockDim.x)
        leave_or_keep(&s, &v, rest[i], whole, left);
}

__global__ void find_pairs(sf_backend_pair *found, unsigned long long *count, uint64_t most, state_view s,
                           uint32_t least)
{
    uint64_t all = (uint64_t)s.delay_count * s.units * s.units;
    for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < all;
         i += gridDim.x * (uint64_t)blockDim.x) {
        if (s.counts[i] < least) continue;
        unsigned long long place = atomicAdd(count, 1ull);
        if (place < most)
            found[place] = sf_backend_pair{(uint32_t)(i / s.units % s.units), (uint32_t)(i % s.units),
                                           (uint32_t)(i / s.units / s.units), s.counts[i]};
    }
}

} // namespace

struct sf_backend_pairs {
    sf_backend_device *device;
    uint32_t units, delay_count;
    bool self;
    sf_gpu_array counts, restarts, delays;                                /* a state_view */
    sf_gpu_array since, times, positions, across_times, across_positions; /* a sf_pair_view */
    sf_gpu_array number;            /* uint64_t: how many are left or found */
    sf_gpu_array left, rest, found; /* uint64_t, numbers of pairs; sf_backend_pair */
    uint64_t rest_count;
};

/* More places are not laid out across: long stretches, of the few pairs that have need of one, and trains
 * much longer than the others. */
#define MOST_ACROSS ((uint64_t)1 << 23)

/* So many pairs of one move may be so regular that a long stretch is needed to tell their counts. */
#define MOST_LEFT ((uint64_t)1 << 22)

static void close_pairs(sf_backend_pairs *pairs)
{
    if (pairs == NULL) return;
    cudaSetDevice(pairs->device->ordinal);
    sf_gpu_array *arrays[] = {
        &pairs->counts, &pairs->restarts,  &pairs->delays,       &pairs->since,
        &pairs->times,  &pairs->positions, &pairs->across_times, &pairs->across_positions,
        &pairs->number, &pairs->left,      &pairs->rest,         &pairs->found};
    for (sf_gpu_array *array : arrays)
        sf_gpu_array_close(pairs->device, array);
    sf_free(pairs);
}

static int prepare(sf_backend_pairs *pairs, const sf_delay *delays, sf_error *error)
{
    sf_backend_device *device = pairs->device;
    size_t bytes = (size_t)pairs->delay_count * pairs->units * pairs->units * sizeof(uint32_t);
    int status = sf_gpu_array_open(device, &pairs->counts, bytes, error);
    if (status == SF_OK) status = sf_gpu_array_open(device, &pairs->restarts, bytes, error);
    if (status == SF_OK)
        status =
            sf_gpu_array_send(device, &pairs->delays, delays, pairs->delay_count * sizeof *delays, error);
    if (status == SF_OK)
        status = sf_gpu_array_open(device, &pairs->since, pairs->units * sizeof(uint32_t), error);
    if (status == SF_OK) status = sf_gpu_array_open(device, &pairs->number, sizeof(uint64_t), error);
    if (status == SF_OK)
        status = sf_gpu_array_open(device, &pairs->left, MOST_LEFT * sizeof(uint64_t), error);
    if (status == SF_OK)
        status = sf_gpu_array_open(device, &pairs->rest, MOST_LEFT * sizeof(uint64_t), error);
    if (status != SF_OK) return status;
    SF_GPU_TRY(cudaMemsetAsync(pairs->counts.data, 0, bytes, device->work));
    return SF_OK;
}

static int open_pairs(sf_backend_pairs **opened, sf_backend_device *device, uint32_t unit_count,
                      const sf_delay *delays, uint32_t delay_count, bool self, sf_error *error)
{
    *opened = NULL;
    SF_GPU_TRY(cudaSetDevice(device->ordinal));
    if (unit_count > UINT16_MAX)
        return sf_fail(error, SF_UNAVAILABLE, NULL, "the pairs of %u units are more than the device counts",
                       unit_count);
    sf_backend_pairs *pairs = (sf_backend_pairs *)sf_alloc(1, sizeof *pairs);
    if (pairs == NULL) return sf_fail_memory(error);
    pairs->device = device;
    pairs->units = unit_count;
    pairs->delay_count = delay_count;
    pairs->self = self;
    int status = prepare(pairs, delays, error);
    if (status == SF_OK)
        *opened = pairs;
    else
        close_pairs(pairs);
    return status;
}

static state_view view_state(const sf_backend_pairs *pairs)
{
    return state_view{(uint32_t *)pairs->counts.data,
                      (uint32_t *)pairs->restarts.data,
                      (const sf_delay *)pairs->delays.data,
                      pairs->units,
                      pairs->delay_count,
                      pairs->self};
}

static int reserve_view(sf_backend_pairs *pairs, size_t count, size_t across, sf_error *error)
{
    sf_backend_device *device = pairs->device;
    int status = sf_gpu_array_reserve(device, &pairs->times, count * sizeof(int64_t), error);
    if (status == SF_OK)
        status = sf_gpu_array_reserve(device, &pairs->positions, count * sizeof(uint32_t), error);
    if (status == SF_OK)
        status = sf_gpu_array_reserve(device, &pairs->across_times, across * sizeof(int64_t), error);
    if (status == SF_OK)
        status = sf_gpu_array_reserve(device, &pairs->across_positions, across * sizeof(uint32_t), error);
    return status;
}

static int view_moving(sf_pair_view *v, sf_backend_pairs *pairs, const sf_backend_stream *stream,
                       const sf_backend_segment *segment, sf_error *error)
{
    uint64_t across = (uint64_t)stream->longest_train * pairs->units;
    uint32_t stride = across <= MOST_ACROSS ? pairs->units : 0;
    int status = reserve_view(pairs, stream->count, stride > 0 ? across : 0, error);
    if (status != SF_OK) return status;
    const placed to = {(int64_t *)pairs->times.data, (int64_t *)pairs->across_times.data,
                       (uint32_t *)pairs->positions.data, (uint32_t *)pairs->across_positions.data};
    *v = sf_pair_view{stream->first,
                      to.times,
                      to.positions,
                      (const uint32_t *)pairs->since.data,
                      to.across_times,
                      to.across_positions,
                      stride,
                      segment->first,
                      (uint32_t)segment->origin};
    place_spikes<<<(uint32_t)pairs->device->properties.multiProcessorCount * 8, THREADS, 0,
                   pairs->device->work>>>(to, stream->ends, stream->times, stream->owner, stream->first,
                                          stream->count, stride);
    SF_GPU_LAUNCHED();
    find_since<<<(pairs->units + THREADS - 1) / THREADS, THREADS, 0, pairs->device->work>>>(
        (uint32_t *)pairs->since.data, *v, pairs->units);
    SF_GPU_LAUNCHED();
    return SF_OK;
}

static dim3 grid(const sf_backend_pairs *pairs)
{
    return dim3((pairs->units + THREADS - 1) / THREADS, pairs->units);
}

static int enter(sf_backend_pairs *pairs, sf_backend_stream *stream, const sf_backend_segment *segment,
                 sf_error *error)
{
    sf_pair_view v;
    SF_GPU_TRY(cudaSetDevice(pairs->device->ordinal));
    int status = view_moving(&v, pairs, stream, segment, error);
    if (status != SF_OK) return status;
    enter_all<<<grid(pairs), THREADS, 0, pairs->device->work>>>(view_state(pairs), v);
    SF_GPU_LAUNCHED();
    return SF_OK;
}

static int count_from_zero(sf_backend_pairs *pairs, sf_error *error)
{
    SF_GPU_TRY(cudaMemsetAsync(pairs->number.data, 0, sizeof(uint64_t), pairs->device->work));
    return SF_OK;
}

static int launch_leaving(sf_backend_pairs *pairs, const sf_pair_view *v, bool rest, bool whole,
                          sf_error *error)
{
    const remainder_view left = {(uint64_t *)pairs->left.data, (unsigned long long *)pairs->number.data,
                                 MOST_LEFT};
    uint32_t blocks = (uint32_t)pairs->device->properties.multiProcessorCount * 8;
    if (rest)
        leave_rest<<<blocks, THREADS, 0, pairs->device->work>>>(
            view_state(pairs), *v, whole, (const uint64_t *)pairs->rest.data, pairs->rest_count, left);
    else
        leave_all<<<grid(pairs), THREADS, 0, pairs->device->work>>>(view_state(pairs), *v, whole, left);
    SF_GPU_LAUNCHED();
    return SF_OK;
}

static int leave(sf_backend_pairs *pairs, sf_backend_stream *stream, const sf_backend_segment *segment,
                 bool rest, bool whole, uint64_t *count, sf_error *error)
{
    sf_pair_view v;
    SF_GPU_TRY(cudaSetDevice(pairs->device->ordinal));
    int status = view_moving(&v, pairs, stream, segment, error);
    if (status == SF_OK) status = count_from_zero(pairs, error);
    if (status == SF_OK) status = launch_leaving(pairs, &v, rest, whole, error);
    if (status == SF_OK)
        status = sf_gpu_download(pairs->device, count, pairs->number.data, sizeof *count, error);
    if (status == SF_OK && *count > MOST_LEFT)
        return sf_fail(error, SF_UNAVAILABLE, NULL, "too many pairs are too regular for the device");
    sf_gpu_array looked_at = pairs->rest;
    pairs->rest = pairs->left;
    pairs->left = looked_at;
    pairs->rest_count = *count;
    return status;
}

static int find(sf_backend_pairs *pairs, uint32_t least, sf_backend_pair *found, uint64_t most,
                uint64_t *count, sf_error *error)
{
    SF_GPU_TRY(cudaSetDevice(pairs->device->ordinal));
    int status = sf_gpu_array_reserve(pairs->device, &pairs->found, most * sizeof *found, error);
    if (status == SF_OK) status = count_from_zero(pairs, error);
    if (status != SF_OK) return status;
    find_pairs<<<(uint32_t)pairs->device->properties.multiProcessorCount * 8, THREADS, 0,
                 pairs->device->work>>>((sf_backend_pair *)pairs->found.data,
                                        (unsigned long long *)pairs->number.data, most, view_state(pairs),
                                        least);
    SF_GPU_LAUNCHED();
    status = sf_gpu_download(pairs->device, count, pairs->number.data, sizeof *count, error);
    uint64_t kept = *count < most ? *count : most;
    if (status == SF_OK && kept > 0)
        status = sf_gpu_download(pairs->device, found, pairs->found.data, kept * sizeof *found, error);
    return status;
}

const struct sf_backend_pair_counting sf_gpu_pair_counting = {
    .open = open_pairs,
    .close = close_pairs,
    .enter = enter,
    .leave = leave,
    .find = find,
};
