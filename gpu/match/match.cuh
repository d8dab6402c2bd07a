/* SPDX-License-Identifier: Apache-2.0 */
/** Engine auto on a device: what a job (match.cu) gives to the search (match_search.cu), or to a sample of it
 * (match_sample.cu). */
#ifndef SF_GPU_MATCH_MATCH_CUH
#define SF_GPU_MATCH_MATCH_CUH

#include "gpu/device.cuh"

extern "C" {
#include "core/backend/match.h"
}

struct sf_gpu_match_step {
    uint32_t set, set_size; /**< where its candidates begin, and how many there are */
    uint32_t first, count;  /**< of these: only the places first .. first + count - 1 */
    uint32_t joined, excluded, greater, different;
    uint32_t lists[SF_BACKEND_MATCH_MOST]; /**< where the offsets of the lists begin */
};

/** Tasks of a round, with their number for every depth. */
struct sf_gpu_match_queue {
    uint32_t count[SF_BACKEND_MATCH_MOST];
    uint32_t taken; /**< batches */
};

/** What all warps share. Zero-initialise but for the count of the first queue: candidates of the first step.
 */
struct sf_gpu_match_control {
    sf_gpu_match_queue queues[3]; /**< of this round, the next, and one that is cleared meanwhile */
    unsigned long long found, tried, listed;
    uint32_t overflow, stop, beyond;
    double sampled; /**< candidates that a search would try */
};

/** A job on the device. */
struct sf_gpu_match_search {
    const uint32_t *candidates, *offsets, *values;
    sf_gpu_match_control *shared;
    uint32_t *tasks[2]; /**< of this round and the next, in turn */
    uint32_t room;      /**< tasks of a depth */
    uint32_t *rows;
    unsigned long long most;
    uint32_t core, step_count, group_count, has_classes;
    sf_gpu_match_step steps[SF_BACKEND_MATCH_MOST];
    uint32_t groups[SF_BACKEND_MATCH_MOST], alike; /**< sets of steps; bits of groups */
};

/** How a search runs. */
struct sf_gpu_match_shape {
    uint32_t blocks;
    size_t shared_bytes, task_words; /**< of a block; of a round */
};

/** Sets search->room. SF_UNAVAILABLE where the device cannot. */
int sf_gpu_match_shape_of(sf_gpu_match_shape *shape, sf_backend_device *device, sf_gpu_match_search *search,
                          sf_error *error);

/** Starts it on the device's stream. */
int sf_gpu_match_start(sf_backend_device *device, const sf_gpu_match_shape *shape,
                       const sf_gpu_match_search *search, sf_error *error);

/** Starts a sample of the search: `ways` random descents into its tree. */
int sf_gpu_match_sample(sf_backend_device *device, const sf_gpu_match_search *search, uint32_t ways,
                        sf_error *error);

#endif
