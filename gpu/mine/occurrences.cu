/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of occurrences: those of units are the stream's own, a longer episode's follows from its prefix's. */
#include "gpu/mine/occurrences.cuh"

#include <cub/device/device_scan.cuh>

#define WARP SF_GPU_WARP
#define FULL SF_GPU_FULL
#define TILE_UNITS 4096u /* 32 KiB of shared memory a warp */
#define MOST_WARPS 8u    /* a block */
#define MERGE_COST 4u    /* a spike that looks for its end, in ends that look for spikes */

/* ---- kernels ---- */

namespace
{

/* The first position after p whose time is beyond the limit: gallops, since delays are short. */
__device__ uint32_t beyond(const int64_t *times, uint32_t count, uint32_t p, int64_t limit)
{
    uint32_t low = p + 1, step = 1;
    while (step < count - low && times[low + step - 1] <= limit) {
        low += step;
        step *= 2;
    }
    uint32_t high = step < count - low ? low + step - 1 : count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (times[middle] <= limit)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

__global__ void find_reaches(uint2 *reaches, const int64_t *times, uint32_t count, const sf_delay *delays,
                             uint32_t delay_count)
{
    uint64_t total = (uint64_t)count * delay_count;
    for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < total;
         i += (uint64_t)gridDim.x * blockDim.x) {
        sf_delay delay = delays[i / count];
        uint32_t p = (uint32_t)(i % count);
        /* Saturated: times are never negative, and no spike is later than the largest. */
        int64_t low = times[p] > INT64_MAX - delay.low_ns ? INT64_MAX : times[p] + delay.low_ns;
        int64_t high = times[p] > INT64_MAX - delay.high_ns ? INT64_MAX : times[p] + delay.high_ns;
        uint32_t from = beyond(times, count, p, low);
        reaches[i] = make_uint2(from, beyond(times, count, from - 1, high));
    }
}

__global__ void list_units(uint64_t *offsets, uint32_t *lengths, const uint32_t *first, uint32_t units)
{
    for (uint32_t u = blockIdx.x * blockDim.x + threadIdx.x; u < units; u += gridDim.x * blockDim.x) {
        offsets[u] = first[u];
        lengths[u] = first[u + 1] - first[u];
    }
}

/* How many ends of a list, after the first `low`, of which all do, reach no further than this position. */
__device__ uint32_t ends_before(const uint2 *list, uint32_t length, const uint2 *reaches, uint32_t low,
                                uint32_t position)
{
    uint32_t step = 1;
    while (step <= length - low && reaches[list[low + step - 1].x].x <= position) {
        low += step;
        step *= 2;
    }
    uint32_t high = step <= length - low ? low + step - 1 : length;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (reaches[list[middle].x].x <= position)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* What `build` works on. */
typedef struct build_view {
    uint32_t unit_count, spike_count, count;
    const uint32_t *first;
    const uint2 *unit_ends, *reaches;
    const sf_found *nodes;
    const uint64_t *offsets;
    uint32_t *lengths;
} build_view;

/* A list made from that of its prefix, by a warp; entries NULL only finds its length. */
typedef struct making {
    const uint2 *list; /* of the prefix */
    uint32_t length;
    const uint2 *reaches;
    const uint2 *train; /* of the last unit */
    uint32_t count;
    uint2 *entries;
} making;

/* By the spikes of the last unit: they ascend, so each lane gallops from where the last lane of the round
 * before ended. */
__device__ uint32_t merge(making m, uint32_t lane)
{
    uint32_t low = 0, done = 0;
    for (uint32_t base = 0; base < m.count; base += WARP) {
        uint32_t k = min(base + lane, m.count - 1), position = m.train[k].x;
        low = ends_before(m.list, m.length, m.reaches, low, position);
        uint2 last = low > 0 ? m.list[low - 1] : make_uint2(0, 0);
        bool is_end = base + lane < m.count && low > 0 && position < m.reaches[last.x].y;
        uint32_t mask = __ballot_sync(FULL, is_end);
        if (is_end && m.entries != NULL)
            m.entries[done + __popc(mask & ((1u << lane) - 1))] = make_uint2(position, last.y);
        done += __popc(mask);
        low = __shfl_sync(FULL, low, WARP - 1);
    }
    return done;
}

/* By the ends of the prefix's list: each owns the positions up to the first of the next. */
__device__ uint32_t walk(making m, uint32_t lane)
{
    sf_gpu_held held = sf_gpu_hold_train(m.train, m.count, m.length, lane);
    uint32_t done = 0;
    for (uint32_t base = 0; base < m.length; base += WARP) {
        uint32_t start, next;
        uint2 window = sf_gpu_window(m.list, m.length, m.reaches, base + lane, &start);
        uint32_t from = sf_gpu_find(&held, base + lane < m.length, window.x, &next, lane), until = from;
        for (; next < window.y; until++)
            next = until + 1 < m.count ? m.train[until + 1].x : FULL;
        uint32_t own = until - from, sum = sf_gpu_inclusive_sum(own, lane);
        for (uint32_t i = 0; i < own && m.entries != NULL; i++)
            m.entries[done + sum - own + i] = make_uint2(m.train[from + i].x, start);
        done += __shfl_sync(FULL, sum, WARP - 1);
    }
    return done;
}

/* The lists of a level, a warp each, by what is cheaper, and their lengths; entries NULL finds only these. */
__global__ void build(uint2 *entries, build_view v, sf_gpu_level_view from)
{
    uint32_t lane = threadIdx.x % WARP, warps = gridDim.x * (blockDim.x / WARP);
    for (uint32_t i = (blockIdx.x * blockDim.x + threadIdx.x) / WARP; i < v.count; i += warps) {
        sf_found node = v.nodes[i];
        uint32_t unit = node.step % v.unit_count;
        making m = {.list = from.entries + from.offsets[node.parent],
                    .length = from.lengths[node.parent],
                    .reaches = v.reaches + (size_t)(node.step / v.unit_count) * v.spike_count,
                    .train = v.unit_ends + v.first[unit],
                    .count = v.first[unit + 1] - v.first[unit],
                    .entries = entries != NULL ? entries + v.offsets[i] : NULL};
        bool walks = m.length < (uint64_t)m.count * MERGE_COST;
        uint32_t length = walks ? walk(m, lane) : merge(m, lane);
        if (lane == 0) v.lengths[i] = length;
    }
    if (blockIdx.x == 0 && threadIdx.x == 0)
        v.lengths[v.count] = 0; /* so that the sum of all is the last offset */
}

/* Room for a list as long as the longest train for each episode. */
__global__ void space_out(uint64_t *offsets, uint32_t count, uint64_t room)
{
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        offsets[i] = i * room;
}

} // namespace

/* ---- launching ---- */

static int grid(const sf_backend_device *device)
{
    return device->properties.multiProcessorCount * 8;
}

sf_gpu_level_view sf_gpu_view_level(const sf_backend_stream *stream, const sf_gpu_episode_lists *level)
{
    return (sf_gpu_level_view){level->first,
                               level->count,
                               (const sf_found *)level->nodes.data,
                               (const uint64_t *)level->offsets.data,
                               (const uint32_t *)level->lengths.data,
                               level->size == 1 ? stream->ends : (const uint2 *)level->entries.data};
}

void sf_gpu_level_close(sf_backend_device *device, sf_gpu_episode_lists *level)
{
    sf_gpu_array_close(device, &level->nodes);
    sf_gpu_array_close(device, &level->offsets);
    sf_gpu_array_close(device, &level->lengths);
    sf_gpu_array_close(device, &level->entries);
    *level = (sf_gpu_episode_lists){};
}

int sf_gpu_find_reaches(sf_gpu_array *reaches, sf_backend_stream *stream, const sf_delay *delays,
                        uint32_t delay_count, sf_error *error)
{
    sf_backend_device *device = stream->device;
    sf_gpu_array copy = {};
    int status =
        sf_gpu_array_reserve(device, reaches, (size_t)stream->count * delay_count * sizeof(uint2), error);
    if (status == SF_OK)
        status = sf_gpu_array_send(device, &copy, delays, delay_count * sizeof *delays, error);
    if (status == SF_OK) {
        find_reaches<<<grid(device), 256, 0, device->work>>>(
            (uint2 *)reaches->data, stream->times, stream->count, (const sf_delay *)copy.data, delay_count);
        status = sf_gpu_check(cudaGetLastError(), "find_reaches(", error);
    }
    sf_gpu_array_close(device, &copy);
    return status;
}

int sf_gpu_list_units(sf_gpu_episode_lists *level, sf_backend_stream *stream, uint32_t first, uint32_t last,
                      sf_error *error)
{
    sf_backend_device *device = stream->device;
    size_t places = (size_t)stream->unit_count + 1;
    level->size = 1;
    level->first = first;
    level->count = last - first;
    int status = sf_gpu_array_reserve(device, &level->offsets, places * sizeof(uint64_t), error);
    if (status == SF_OK)
        status = sf_gpu_array_reserve(device, &level->lengths, places * sizeof(uint32_t), error);
    if (status != SF_OK) return status;
    list_units<<<grid(device), 256, 0, device->work>>>(
        (uint64_t *)level->offsets.data, (uint32_t *)level->lengths.data, stream->first, stream->unit_count);
    SF_GPU_LAUNCHED();
    return SF_OK;
}

sf_gpu_tiling sf_gpu_tile(uint32_t unit_count)
{
    sf_gpu_tiling t = {.tiles = (unit_count + TILE_UNITS - 1) / TILE_UNITS,
                       .tile_units = unit_count < TILE_UNITS ? unit_count : TILE_UNITS};
    t.warps = TILE_UNITS / (t.tile_units > 0 ? t.tile_units : 1);
    t.warps = t.warps < MOST_WARPS ? t.warps : MOST_WARPS;
    t.bytes = t.warps * t.tile_units * sizeof(sf_gpu_cell);
    return t;
}

int sf_gpu_fill(uint32_t *blocks, sf_backend_device *device, const void *kernel, const sf_gpu_tiling *tiling,
                sf_error *error)
{
    int own = 0;
    SF_GPU_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)tiling->bytes));
    SF_GPU_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&own, kernel, (int)(tiling->warps * WARP),
                                                             tiling->bytes));
    *blocks = (uint32_t)((own > 0 ? own : 1) * device->properties.multiProcessorCount);
    return SF_OK;
}

int sf_gpu_sum_up(sf_backend_device *device, uint64_t *offsets, const uint32_t *lengths, uint32_t count,
                  sf_error *error)
{
    size_t bytes = 0;
    SF_GPU_TRY(cub::DeviceScan::ExclusiveScan(NULL, bytes, lengths, offsets, cuda::std::plus<>{}, uint64_t{0},
                                              (int64_t)count + 1, device->work));
    void *scratch;
    int status = sf_gpu_alloc(device, &scratch, bytes, error);
    if (status != SF_OK) return status;
    cudaError_t result = cub::DeviceScan::ExclusiveScan(scratch, bytes, lengths, offsets, cuda::std::plus<>{},
                                                        uint64_t{0}, (int64_t)count + 1, device->work);
    sf_gpu_free(device, scratch, bytes);
    return sf_gpu_check(result, "ExclusiveScan(", error);
}

static int launch_build(sf_gpu_episode_lists *level, const sf_gpu_episode_lists *before,
                        sf_backend_stream *stream, const uint2 *reaches, uint2 *entries, sf_error *error)
{
    build_view v = {.unit_count = stream->unit_count,
                    .spike_count = stream->count,
                    .count = level->count,
                    .first = stream->first,
                    .unit_ends = stream->ends,
                    .reaches = reaches,
                    .nodes = (const sf_found *)level->nodes.data,
                    .offsets = (const uint64_t *)level->offsets.data,
                    .lengths = (uint32_t *)level->lengths.data};
    build<<<grid(stream->device), 256, 0, stream->device->work>>>(entries, v,
                                                                  sf_gpu_view_level(stream, before));
    SF_GPU_LAUNCHED();
    return SF_OK;
}

/* In two steps: lengths first, which say how much is needed. */
static int build_exactly(sf_gpu_episode_lists *level, const sf_gpu_episode_lists *before,
                         sf_backend_stream *stream, const uint2 *reaches, sf_error *error)
{
    sf_backend_device *device = stream->device;
    uint64_t *offsets = (uint64_t *)level->offsets.data, entries;
    int status = launch_build(level, before, stream, reaches, NULL, error);
    if (status == SF_OK)
        status = sf_gpu_sum_up(device, offsets, (const uint32_t *)level->lengths.data, level->count, error);
    if (status == SF_OK)
        status = sf_gpu_download(device, &entries, offsets + level->count, sizeof entries, error);
    if (status == SF_OK)
        status = sf_gpu_array_reserve(device, &level->entries, entries * sizeof(uint2), error);
    if (status != SF_OK) return status;
    return launch_build(level, before, stream, reaches, (uint2 *)level->entries.data, error);
}

int sf_gpu_list_level(sf_gpu_episode_lists *level, const sf_gpu_episode_lists *before,
                      sf_backend_stream *stream, const uint2 *reaches, bool exactly, sf_error *error)
{
    sf_backend_device *device = stream->device;
    size_t places = (size_t)level->count + 1;
    uint64_t room = stream->longest_train, bytes = level->count * room * sizeof(uint2);
    int status = sf_gpu_array_reserve(device, &level->lengths, places * sizeof(uint32_t), error);
    if (status == SF_OK)
        status = sf_gpu_array_reserve(device, &level->offsets, places * sizeof(uint64_t), error);
    if (status != SF_OK) return status;
    if (exactly || bytes > (device->memory_limit - device->memory_used) / 8)
        return build_exactly(level, before, stream, reaches, error);
    status = sf_gpu_array_reserve(device, &level->entries, bytes, error);
    if (status != SF_OK) return status;
    space_out<<<grid(device), 256, 0, device->work>>>((uint64_t *)level->offsets.data, level->count, room);
    SF_GPU_LAUNCHED();
    return launch_build(level, before, stream, reaches, (uint2 *)level->entries.data, error);
}
