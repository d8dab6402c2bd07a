/* SPDX-License-Identifier: Apache-2.0 */
/** Device memory of a job in many arrays, given back as a whole. */
#ifndef SF_GPU_BLOCKS_CUH
#define SF_GPU_BLOCKS_CUH

#include "gpu/device.cuh"

extern "C" {
#include "core/backend/watch.h"
}

/** Zero-initialise but for the device. */
struct sf_gpu_blocks {
    sf_backend_device *device;
    sf_gpu_array items[384]; /* of 64 layers of gvsm six each */
    uint32_t count;
    const sf_backend_watch *watch; /**< looked at while arrays are filled; or NULL */
};

#define SF_GPU_BLOCKS_PIECE ((size_t)64 << 20) /**< bytes between two looks */

/** SF_CANCELLED where the watch says to stop. */
static inline int sf_gpu_blocks_fill(const sf_gpu_blocks *blocks, const sf_gpu_array *block, const void *from,
                                     size_t bytes, sf_error *error)
{
    int status = SF_OK;
    for (size_t done = 0; done < bytes && status == SF_OK; done += SF_GPU_BLOCKS_PIECE) {
        size_t left = bytes - done, piece = left < SF_GPU_BLOCKS_PIECE ? left : SF_GPU_BLOCKS_PIECE;
        if (sf_backend_watch_stops(blocks->watch, "copying to the device"))
            return sf_fail(error, SF_CANCELLED, NULL, "was stopped while copying to the device");
        status = sf_gpu_upload(blocks->device, (char *)block->data + done, (const char *)from + done, piece,
                               error);
    }
    return status;
}

/** One more array of `count` items, with what `from` holds in it where that is not NULL. */
template <class item>
static int sf_gpu_blocks_add(sf_gpu_blocks *blocks, item **to, const void *from, size_t count,
                             sf_error *error)
{
    sf_gpu_array *block = &blocks->items[blocks->count];
    size_t bytes = count * sizeof **to;
    int status = sf_gpu_array_open(blocks->device, block, bytes, error);
    if (status == SF_OK && from != NULL) status = sf_gpu_blocks_fill(blocks, block, from, bytes, error);
    if (status != SF_OK) {
        sf_gpu_array_close(blocks->device, block);
        return status;
    }
    blocks->count++;
    *to = (item *)block->data;
    return SF_OK;
}

/** But for the first so many. */
static inline void sf_gpu_blocks_close_after(sf_gpu_blocks *blocks, uint32_t kept)
{
    while (blocks->count > kept)
        sf_gpu_array_close(blocks->device, &blocks->items[--blocks->count]);
}

static inline void sf_gpu_blocks_close(sf_gpu_blocks *blocks)
{
    sf_gpu_blocks_close_after(blocks, 0);
}

static inline uint64_t sf_gpu_blocks_bytes(const sf_gpu_blocks *blocks)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < blocks->count; i++)
        bytes += blocks->items[i].bytes;
    return bytes;
}

#endif
