/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Enterprise on several devices, by the 1-D partition of its paper: each has the lists of as many vertices
 * and the status of all. After a level it tells the others whom it has found by a bit a vertex, made by
 * ballots: top-down that may be any vertex, bottom-up its own. Parents are not told until the end.
 */
#include "gpu/search/enterprise/enterprise.cuh"

namespace
{

/* `first` is a multiple of 32. By whole warps. */
__global__ void collect_bits(uint32_t *bits, const uint32_t *status, vertices list, uint32_t level)
{
    uint64_t rounded = ((uint64_t)list.count + WARP - 1) / WARP * WARP;
    for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < rounded;
         i += (uint64_t)gridDim.x * blockDim.x) {
        uint32_t found = __ballot_sync(FULL, i < list.count && status[list.first + i] == level);
        if (threadIdx.x % WARP == 0) bits[(list.first + i) / WARP] = found;
    }
}

__global__ void take_bits(uint32_t *status, const uint32_t *bits, vertices list, uint32_t level)
{
    for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < list.count;
         i += (uint64_t)gridDim.x * blockDim.x) {
        uint64_t v = list.first + i;
        if ((bits[v / WARP] >> v % WARP & 1) != 0) status[v] = level;
    }
}

__global__ void take_parents(uint32_t *parents, const uint32_t *heard, uint32_t count)
{
    for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < count;
         i += (uint64_t)gridDim.x * blockDim.x)
        if (parents[i] == UNREACHED) parents[i] = heard[i];
}

} // namespace

int sf_gpu_enterprise_exchange_open(sf_gpu_enterprise *e, sf_error *error)
{
    uint32_t words = e->graph->vertex_count / WARP + 1;
    SF_GPU_TRY(cudaEventCreateWithFlags(&e->told, cudaEventDisableTiming));
    int status = sf_gpu_array_open(e->device, &e->bits, words * sizeof(uint32_t), error);
    uint32_t most = e->own > words ? e->own : words;
    return status == SF_OK ? sf_gpu_array_open(e->device, &e->heard, most * sizeof(uint32_t), error) : status;
}

/* Into e->heard, from the memory of another part; by way of the host where the devices do not reach each
 * other. */
static int hear(const sf_gpu_enterprise *e, const sf_gpu_enterprise *other, size_t place,
                const uint32_t *from, size_t count, sf_error *error)
{
    uint32_t *to = (uint32_t *)e->heard.data + place;
    size_t bytes = count * sizeof *from;
    if (count == 0) return SF_OK;
    if (e->device == other->device)
        SF_GPU_TRY(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, e->device->work));
    else
        SF_GPU_TRY(cudaMemcpyPeerAsync(to, e->device->ordinal, from, other->device->ordinal, bytes,
                                       e->device->work));
    return SF_OK;
}

/* The vertices that a part may have found. */
static vertices told_by(const sf_gpu_enterprise *e, bool up)
{
    return up ? vertices{NULL, e->first, e->own} : vertices{NULL, 0, e->graph->vertex_count};
}

static int tell(sf_gpu_enterprise *e, uint32_t level, bool up, sf_error *error)
{
    vertices list = told_by(e, up);
    SF_GPU_TRY(cudaSetDevice(e->device->ordinal));
    collect_bits<<<sf_gpu_enterprise_blocks(e, list.count), BLOCK, 0, e->device->work>>>(
        (uint32_t *)e->bits.data, e->levels, list, level);
    SF_GPU_LAUNCHED();
    SF_GPU_TRY(cudaEventRecord(e->told, e->device->work));
    return SF_OK;
}

static int listen(sf_gpu_enterprise *e, const sf_gpu_enterprise *other, uint32_t level, bool up,
                  sf_error *error)
{
    vertices list = told_by(other, up);
    size_t first = list.first / WARP, words = ((size_t)list.count + WARP - 1) / WARP;
    SF_GPU_TRY(cudaSetDevice(e->device->ordinal));
    SF_GPU_TRY(cudaStreamWaitEvent(e->device->work, other->told, 0));
    int status = hear(e, other, first, (const uint32_t *)other->bits.data + first, words, error);
    if (status != SF_OK) return status;
    take_bits<<<sf_gpu_enterprise_blocks(e, list.count), BLOCK, 0, e->device->work>>>(
        e->levels, (const uint32_t *)e->heard.data, list, level);
    SF_GPU_LAUNCHED();
    return SF_OK;
}

/* The next level is measured on the host before any part writes its bits again. */
int sf_gpu_enterprise_exchange(sf_gpu_enterprise *const *parts, uint32_t count, uint32_t level, bool up,
                               sf_error *error)
{
    int status = SF_OK;
    for (uint32_t i = 0; i < count && status == SF_OK; i++)
        status = tell(parts[i], level, up, error);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < count && status == SF_OK; j++)
            if (j != i) status = listen(parts[i], parts[j], level, up, error);
    return status;
}

/* All parts have nothing more to do when this begins. */
int sf_gpu_enterprise_exchange_parents(sf_gpu_enterprise *const *parts, uint32_t count, sf_error *error)
{
    int status = SF_OK;
    for (uint32_t i = 0; i < count; i++) {
        sf_gpu_enterprise *e = parts[i];
        SF_GPU_TRY(cudaSetDevice(e->device->ordinal));
        for (uint32_t j = 0; j < count && status == SF_OK; j++) {
            if (j == i) continue;
            status = hear(e, parts[j], 0, parts[j]->parents + e->first, e->own, error);
            if (status != SF_OK) return status;
            take_parents<<<sf_gpu_enterprise_blocks(e, e->own), BLOCK, 0, e->device->work>>>(
                e->parents + e->first, (const uint32_t *)e->heard.data, e->own);
            SF_GPU_LAUNCHED();
        }
    }
    return status;
}
