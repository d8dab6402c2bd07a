/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What the kernels of densities that follow a window share: a block draws one state, which lies in its shared
 * memory from the grid to the picture. What is computed is told at density/live.h and density/picture.h.
 */
#ifndef SF_GPU_DENSITY_MOVING_BLOCK_CUH
#define SF_GPU_DENSITY_MOVING_BLOCK_CUH

extern "C" {
#include "core/backend/moving.h"
#include "core/backend/spread.h"
}

#include <stdint.h>

namespace
{

enum {
    WARP = 32,
    THREADS = 256, /* a block */
    WARPS = THREADS / WARP,
    CHUNK = THREADS /* points of ticks at a time */
};

/* What lies before the grid of a state that is sent. */
typedef struct __align__(16) state_head
{
    double weight, squares, first, second;
    uint32_t ticks[SF_MOVING_TICKS + 1];
    uint32_t are_ticks; /* whether any is above 0 */
}
state_head;

typedef struct moving_view {
    double origin, period;
    uint32_t modes, cells; /* 4 modes */
    sf_domain domain;
    sf_moving_method method;
    double h, b_least, b_most, tick;
    sf_moving_view picture;
    const double *correction, *coefficients, *cosine, *sine;
    const uint32_t *tick_points;
    const char *states; /* a state_head, a grid and its margin; `stride` bytes each */
    size_t stride;
    sf_moving_picture *pictures;
    double *values;
} moving_view;

/* A part of the samples' points that are counts of ticks, ascending. */
typedef struct tick_chunk {
    double at[CHUNK], weight[CHUNK], width[CHUNK]; /* sf_tick_point; in the transform `at` is in cells */
    int32_t cell[CHUNK];
} tick_chunk;

/* Shared memory of a block, beside its arrays. */
typedef struct block_memory {
    double of_warps[WARPS][4], result[4];
    uint32_t first_point[SF_MOVING_TICKS + 2]; /* by ticks: the number of the first point */
    tick_chunk chunk;
    sf_moving_picture bins;
} block_memory;

/* A state in its block. Numbers are the same in all threads. */
typedef struct drawing {
    const moving_view *v;
    block_memory *shared;
    const state_head *head;
    double weight, squares, first, second;
    double n, mean, deviation, sigma; /* sf_spectrum */
    double origin;                    /* the same */
    double *re, *im, *power;          /* of the modes */
    double *damped_re, *damped_im;    /* by the kernel that is drawn */
    uint32_t points;                  /* of ticks */
} drawing;

/*
 * `make` of the block's sums of `parts`, by one warp, and what it leaves there in all threads: what follows
 * from a sum is as long as the sum, and would be done eight times.
 */
template <int count, class function>
__device__ void add_up_block(block_memory *shared, double (&parts)[count], function make)
{
    uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
#pragma unroll
    for (int c = 0; c < count; c++) {
        for (int step = WARP / 2; step > 0; step /= 2)
            parts[c] += __shfl_down_sync(~0u, parts[c], step);
        if (lane == 0) shared->of_warps[warp][c] = parts[c];
    }
    __syncthreads();
    if (warp == 0) {
#pragma unroll
        for (int c = 0; c < count; c++) {
            parts[c] = lane < WARPS ? shared->of_warps[lane][c] : 0;
            for (int step = WARPS / 2; step > 0; step /= 2)
                parts[c] += __shfl_xor_sync(~0u, parts[c], step);
        }
        make(parts);
        for (int c = 0; c < count && lane == 0; c++)
            shared->result[c] = parts[c];
    }
    __syncthreads();
#pragma unroll
    for (int c = 0; c < count; c++)
        parts[c] = shared->result[c];
}

} // namespace

#endif
