/* SPDX-License-Identifier: Apache-2.0 */
/** Surrogates as counts on the device see them: mine/surrogate_image.h, for a batch of surrogates at a time.
 */
#ifndef SF_GPU_MINE_SURROGATE_IMAGES_CUH
#define SF_GPU_MINE_SURROGATE_IMAGES_CUH

#include "gpu/mine/stream.cuh"

extern "C" {
#include "core/backend/surrogates.h"
}

/** How spikes become sorted numbers: image << bits | (time + bias) << unit_bits | unit. */
typedef struct sf_gpu_key_form {
    int64_t bias;  /**< no time is below -bias */
    uint64_t most; /**< no time plus bias is above it */
    int unit_bits, bits;
} sf_gpu_key_form;

/** Stream and plan are borrowed until close. Zero-initialise. */
typedef struct sf_gpu_images {
    sf_backend_stream *stream;
    const sf_surrogate_plan *plan;
    sf_gpu_key_form form;
    uint32_t batch; /**< images that there is room for */
    sf_gpu_array trains, delays;
    sf_gpu_array keys[2], scratch; /**< of the images that are made */
    /** The batch: the unit of each spike, the position from which an occurrence may start after it,
     * [image][position], and the positions that follow by a delay, [image][delay][recorded position]. */
    sf_gpu_array owner, after, reaches;
} sf_gpu_images;

/** Room for at most `most` images, or what a quarter of the memory left holds. SF_UNAVAILABLE also where time
 * and unit do not fit into 63 bits. */
int sf_gpu_images_open(sf_gpu_images *images, sf_backend_stream *stream, const sf_surrogate_plan *plan,
                       uint32_t most, sf_error *error);
void sf_gpu_images_close(sf_gpu_images *images); /**< a zeroed object is allowed */

/** Makes the images of `surrogates`, 1 to `batch`, from this one on, in the order of the device's work. */
int sf_gpu_images_make(sf_gpu_images *images, uint32_t first, uint32_t surrogates, sf_error *error);

#endif
