/* SPDX-License-Identifier: Apache-2.0 */
/** Laying spikes out that lie on the device in the order of time (layout.cu). */
#ifndef SF_GPU_MINE_LAYOUT_CUH
#define SF_GPU_MINE_LAYOUT_CUH

#include "gpu/mine/stream.cuh"

extern "C" {
#include "core/backend/window.h"
#include "core/packed_spikes.h"
}

/** Spikes as kernels read them: as they are, or packed. */
typedef struct sf_gpu_spikes {
    const sf_spike *plain; /**< or NULL */
    const uint64_t *packed;
    sf_packing packing;
    size_t count;
} sf_gpu_spikes;

/** A stream of the spikes that the layout keeps, as if they had been copied by stream_open. Returns before
 * it is done. SF_UNAVAILABLE. */
int sf_gpu_lay_out(sf_backend_stream **made, sf_backend_device *device, const sf_gpu_spikes *spikes,
                   const sf_backend_layout *layout, sf_error *error);

#endif
