/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/keys.cuh"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>

/* Calls an algorithm of CUB twice: for the size of its scratch memory, then for the work. */
template <typename algorithm>
static int with_scratch(sf_backend_device *device, const char *name, algorithm run, sf_error *error)
{
    size_t bytes = 0;
    sf_gpu_array scratch = {};
    int status = sf_gpu_check(run(NULL, bytes), name, error);
    if (status == SF_OK) status = sf_gpu_array_open(device, &scratch, bytes, error);
    if (status == SF_OK) status = sf_gpu_check(run(scratch.data, bytes), name, error);
    sf_gpu_array_close(device, &scratch);
    return status;
}

int sf_gpu_sort_keys(sf_backend_device *device, sf_gpu_array keys[2], uint64_t count, int bits,
                     sf_error *error)
{
    cub::DoubleBuffer<uint64_t> buffers((uint64_t *)keys[0].data, (uint64_t *)keys[1].data);
    int status = with_scratch(
        device, "SortKeys",
        [&](void *scratch, size_t &bytes) {
            return cub::DeviceRadixSort::SortKeys(scratch, bytes, buffers, count, 0, bits, device->work);
        },
        error);
    if (buffers.Current() != keys[0].data) {
        sf_gpu_array sorted = keys[1];
        keys[1] = keys[0];
        keys[0] = sorted;
    }
    return status;
}

int sf_gpu_unique_keys(sf_backend_device *device, sf_gpu_array keys[2], uint64_t count, uint64_t *kept,
                       sf_error *error)
{
    sf_gpu_array selected = {};
    int status = sf_gpu_array_open(device, &selected, sizeof *kept, error);
    if (status == SF_OK)
        status = with_scratch(
            device, "Unique",
            [&](void *scratch, size_t &bytes) {
                return cub::DeviceSelect::Unique(scratch, bytes, (const uint64_t *)keys[0].data,
                                                 (uint64_t *)keys[1].data, (uint64_t *)selected.data,
                                                 (int64_t)count, device->work);
            },
            error);
    if (status == SF_OK) status = sf_gpu_download(device, kept, selected.data, sizeof *kept, error);
    sf_gpu_array_close(device, &selected);
    return status;
}

int sf_gpu_sort_pairs(sf_backend_device *device, uint32_t *sorted_keys, const uint32_t *keys,
                      uint32_t *sorted_values, const uint32_t *values, uint32_t count, sf_error *error)
{
    return with_scratch(
        device, "SortPairs",
        [&](void *scratch, size_t &bytes) {
            return cub::DeviceRadixSort::SortPairs(scratch, bytes, keys, sorted_keys, values, sorted_values,
                                                   count, 0, 32, device->work);
        },
        error);
}

namespace
{

__global__ void number_by_degree(uint32_t *keys, uint32_t *vertices, const uint64_t *offsets, uint32_t count)
{
    for (uint64_t v = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; v < count;
         v += (uint64_t)gridDim.x * blockDim.x) {
        keys[v] = ~(uint32_t)(offsets[v + 1] - offsets[v]); /* ids are 32-bit: a list is shorter than that */
        vertices[v] = (uint32_t)v;
    }
}

} // namespace

int sf_gpu_sort_by_degree(sf_backend_device *device, sf_gpu_array *keys, sf_gpu_array *vertices,
                          const uint64_t *offsets, uint32_t count, sf_error *error)
{
    sf_gpu_array raw_keys = {}, raw_vertices = {};
    sf_gpu_array *arrays[] = {keys, vertices, &raw_keys, &raw_vertices};
    int status = SF_OK;
    for (size_t i = 0; i < 4 && status == SF_OK; i++)
        status = sf_gpu_array_open(device, arrays[i], (size_t)count * sizeof(uint32_t), error);
    if (status == SF_OK) {
        number_by_degree<<<device->properties.multiProcessorCount * 8, 256, 0, device->work>>>(
            (uint32_t *)raw_keys.data, (uint32_t *)raw_vertices.data, offsets, count);
        status = sf_gpu_check(cudaGetLastError(), "number_by_degree", error);
    }
    if (status == SF_OK)
        status =
            sf_gpu_sort_pairs(device, (uint32_t *)keys->data, (const uint32_t *)raw_keys.data,
                              (uint32_t *)vertices->data, (const uint32_t *)raw_vertices.data, count, error);
    sf_gpu_array_close(device, &raw_keys);
    sf_gpu_array_close(device, &raw_vertices);
    return status;
}

int sf_gpu_sum(sf_backend_device *device, uint32_t *sums, const uint32_t *numbers, uint32_t count,
               sf_error *error)
{
    return with_scratch(
        device, "ExclusiveSum",
        [&](void *scratch, size_t &bytes) {
            return cub::DeviceScan::ExclusiveSum(scratch, bytes, numbers, sums, count, device->work);
        },
        error);
}
