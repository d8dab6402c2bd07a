/* SPDX-License-Identifier: Apache-2.0 */
/** Spikes on a device (stream.cu), and the jobs on them. */
#ifndef SF_GPU_MINE_STREAM_CUH
#define SF_GPU_MINE_STREAM_CUH

#include "gpu/device.cuh"

extern "C" {
#include "core/backend/episodes.h"
}

/** The spikes on a device. */
struct sf_backend_stream {
    sf_backend_device *device;
    uint32_t unit_count, count, longest_train;
    int64_t *times;  /* by position */
    uint16_t *owner; /* by position */
    uint32_t *first; /* unit_count + 1 */
    /* by unit: (position, position): the list of an episode of one unit, and where a unit fires */
    uint2 *ends;
    size_t bytes[4]; /* of the four above, by the names below */
};

enum { SF_GPU_TIMES, SF_GPU_OWNER, SF_GPU_FIRST, SF_GPU_ENDS };

/** Room for a stream whose units have first[u + 1] - first[u] spikes; nothing is in it yet. */
int sf_gpu_stream_new(sf_backend_stream **made, sf_backend_device *device, uint32_t unit_count,
                      uint32_t count, const uint32_t *first, sf_error *error);

void sf_gpu_stream_close(sf_backend_stream *stream); /**< NULL is allowed */

/** Fills in the lists of units, from the positions by unit, which lie on the device. */
int sf_gpu_stream_set_ends(sf_backend_stream *stream, const uint32_t *positions, sf_error *error);

/** A job's candidates on the device, and room for their counts. Zero-initialise. */
typedef struct sf_gpu_candidates {
    sf_gpu_array units, delays, intervals, counts; /**< as sf_candidates has them; uint32_t a candidate */
} sf_gpu_candidates;

int sf_gpu_candidates_send(sf_gpu_candidates *to, sf_backend_device *device, const sf_candidates *from,
                           sf_error *error);
void sf_gpu_candidates_close(sf_backend_device *device, sf_gpu_candidates *candidates);

/** count.cu, interval; machines.cu, the others; episodes.cu. */
int sf_gpu_count(sf_backend_stream *stream, const sf_backend_count *job, sf_error *error);
int sf_gpu_count_by_machines(sf_backend_stream *stream, const sf_backend_count *job, sf_error *error);
int sf_gpu_mine(sf_backend_stream *stream, const sf_backend_mine *job, sf_error *error);

#endif
