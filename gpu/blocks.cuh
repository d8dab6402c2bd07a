/* SPDX-License-Identifier: Apache-2.0 */
/** Device memory of a job in many arrays, given back as a whole. */
#ifndef SF_GPU_BLOCKS_CUH
#define SF_GPU_BLOCKS_CUH

#include "gpu/device.cuh"

/** Zero-initialise but for the device. */
struct sf_gpu_blocks {
    sf_backend_device *device;
    sf_gpu_array items[384]; /* of 64 layers of gvsm six each */
    uint32_t count;
};

/** One more array of `count` items, with what `from` holds in it where that is not NULL. */
template <class item>
static int sf_gpu_blocks_add(sf_gpu_blocks *blocks, item **to, const void *from, size_t count,
                             sf_error *error)
{
    sf_gpu_array *block = &blocks->items[blocks->count];
    size_t bytes = count * sizeof **to;
    int status = from != NULL ? sf_gpu_array_send(blocks->device, block, from, bytes, error)
                              : sf_gpu_array_open(blocks->device, block, bytes, error);
    if (status != SF_OK) {
        sf_gpu_array_close(blocks->device, block);
        return status;
    }
    blocks->count++;
    *to = (item *)block->data;
    return SF_OK;
}

static inline void sf_gpu_blocks_close(sf_gpu_blocks *blocks)
{
    while (blocks->count > 0)
        sf_gpu_array_close(blocks->device, &blocks->items[--blocks->count]);
}

#endif
