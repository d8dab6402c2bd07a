/* SPDX-License-Identifier: Apache-2.0 */
/** Sorting of 64-bit keys, which makes neighbour lists. */
#ifndef SF_GPU_KEYS_CUH
#define SF_GPU_KEYS_CUH

#include "gpu/device.cuh"

/** Sorts the first `count` keys of keys[0] by their lowest `bits`; they end up in keys[0] again. */
int sf_gpu_sort_keys(sf_backend_device *device, sf_gpu_array keys[2], uint64_t count, int bits,
                     sf_error *error);

/** Copies the sorted keys of keys[0] without repeats to keys[1]; `kept` is how many those are. */
int sf_gpu_unique_keys(sf_backend_device *device, sf_gpu_array keys[2], uint64_t count, uint64_t *kept,
                       sf_error *error);

/** Sorts 32-bit keys, ascending and stable, and the values with them; all four arrays hold `count`. */
int sf_gpu_sort_pairs(sf_backend_device *device, uint32_t *sorted_keys, const uint32_t *keys,
                      uint32_t *sorted_values, const uint32_t *values, uint32_t count, sf_error *error);

/** Vertices by falling degree, offsets[v + 1] - offsets[v], those of equal degree in their order, and ~degree
 * of each in that order. */
int sf_gpu_sort_by_degree(sf_backend_device *device, sf_gpu_array *keys, sf_gpu_array *vertices,
                          const uint64_t *offsets, uint32_t count, sf_error *error);

/** sums[i] = the sum of numbers[0] .. numbers[i - 1]; sums may be numbers. */
int sf_gpu_sum(sf_backend_device *device, uint32_t *sums, const uint32_t *numbers, uint32_t count,
               sf_error *error);

/** The first of `count` ascending numbers that is not less than `least`. */
template <typename number>
static __device__ uint64_t sf_gpu_lower_bound(const number *numbers, uint64_t count, number least)
{
    uint64_t low = 0, high = count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (numbers[middle] < least)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#endif
