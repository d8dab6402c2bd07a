/* SPDX-License-Identifier: Apache-2.0 */
/** Neighbours by label on a device. */
#ifndef SF_GPU_MATCH_LABELLED_CUH
#define SF_GPU_MATCH_LABELLED_CUH

#include "gpu/blocks.cuh"
#include "gpu/lower_bound.cuh"

extern "C" {
#include "core/backend/match.h"
}

struct sf_gpu_labelled {
    const uint64_t *directory, *starts;
    const uint32_t *labels, *targets;
};

/** Copies them there. */
static inline int sf_gpu_labelled_open(sf_gpu_blocks *blocks, sf_gpu_labelled *to,
                                       const sf_backend_labelled *from, uint32_t vertices, sf_error *error)
{
    uint64_t entries = from->directory[vertices];
    int status =
        sf_gpu_blocks_add(blocks, (uint64_t **)&to->directory, from->directory, (size_t)vertices + 1, error);
    if (status == SF_OK)
        status = sf_gpu_blocks_add(blocks, (uint32_t **)&to->labels, from->labels, entries, error);
    if (status == SF_OK)
        status = sf_gpu_blocks_add(blocks, (uint64_t **)&to->starts, from->starts, entries + 1, error);
    if (status == SF_OK)
        status =
            sf_gpu_blocks_add(blocks, (uint32_t **)&to->targets, from->targets, from->starts[entries], error);
    return status;
}

/** Where the neighbours of a vertex with labels first .. first + count - 1 begin and end. */
static __device__ inline void sf_gpu_neighbours_between(const sf_gpu_labelled &l, uint32_t v, uint32_t first,
                                                        uint32_t count, uint64_t *begin, uint64_t *end)
{
    auto label_at = [&](uint64_t e) { return l.labels[e]; };
    uint64_t last = l.directory[v + 1], low = sf_gpu_first_from(l.directory[v], last, first, label_at);
    uint64_t high = count > 1 ? sf_gpu_first_from(low, last, first + count, label_at)
                              : low + (low < last && label_at(low) == first);
    *begin = l.starts[low];
    *end = high > low ? l.starts[high] : *begin;
}

/** Those with a label (UINT32_MAX: any). */
static __device__ inline void sf_gpu_neighbours(const sf_gpu_labelled &l, uint32_t v, uint32_t label,
                                                uint64_t *begin, uint64_t *end)
{
    if (label == UINT32_MAX) {
        *begin = l.starts[l.directory[v]];
        *end = l.starts[l.directory[v + 1]];
    } else {
        sf_gpu_neighbours_between(l, v, label, 1, begin, end);
    }
}

#endif
