/* SPDX-License-Identifier: Apache-2.0 */
/** Spikes that are sent to the device, which no window keeps (sent.cu): what sf_backend_windows has of them.
 */
#ifndef SF_GPU_MINE_SENT_CUH
#define SF_GPU_MINE_SENT_CUH

#include "gpu/device.cuh"

extern "C" {
#include "core/backend/window.h"
}

int sf_gpu_send_spikes(sf_backend_spikes **sent, sf_backend_device *device, const sf_spike *spikes,
                       size_t count, uint64_t *unit_spikes, uint32_t unit_count, size_t *wrong,
                       sf_error *error);
void sf_gpu_forget_spikes(sf_backend_spikes *sent); /**< NULL is allowed */
int sf_gpu_lay_out_sent(sf_backend_stream **stream, sf_backend_spikes *sent, const sf_backend_layout *layout,
                        sf_error *error);

#endif
