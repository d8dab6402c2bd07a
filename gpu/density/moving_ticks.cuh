/* SPDX-License-Identifier: Apache-2.0 */
/** Samples that are counts of ticks, spread over points, which are ascending and go through a block in
 * chunks. */
#ifndef SF_GPU_DENSITY_MOVING_TICKS_CUH
#define SF_GPU_DENSITY_MOVING_TICKS_CUH

#include "gpu/density/moving_block.cuh"

extern "C" {
#include "core/backend/tick.h"
}

namespace
{

/* Numbers the points. */
__device__ void count_points(drawing *d)
{
    uint32_t *first = d->shared->first_point, k = threadIdx.x;
    if (d->head->are_ticks == 0) return;
    if (k <= SF_MOVING_TICKS) first[k] = k > 0 ? min(d->head->ticks[k], d->v->tick_points[k]) : 0;
    __syncthreads();
    if (k == 0) {
        uint32_t sum = 0;
        for (uint32_t t = 0; t <= SF_MOVING_TICKS; t++) {
            uint32_t own = first[t];
            first[t] = sum;
            sum += own;
        }
        first[SF_MOVING_TICKS + 1] = sum;
    }
    __syncthreads();
    d->points = first[SF_MOVING_TICKS + 1];
}

__device__ sf_tick_point find_point(const drawing *d, uint32_t number)
{
    const uint32_t *first = d->shared->first_point;
    uint32_t low = 0, high = SF_MOVING_TICKS; /* first[low] <= number < first[high + 1] */
    while (low < high) {
        uint32_t middle = (low + high + 1) / 2;
        if (first[middle] <= number)
            low = middle;
        else
            high = middle - 1;
    }
    return sf_tick_point_of(d->head->ticks[low], d->v->tick, low, number - first[low],
                            first[low + 1] - first[low]);
}

/* Points begin .. of a chunk as they are; returns how many kernels there are wider than h: the first ones. */
__device__ uint32_t fill_wide_chunk(drawing *d, uint32_t begin, double h)
{
    tick_chunk *chunk = &d->shared->chunk;
    bool is_wide = false;
    if (begin + threadIdx.x < d->points) {
        sf_tick_point point = find_point(d, begin + threadIdx.x);
        chunk->at[threadIdx.x] = point.at;
        chunk->weight[threadIdx.x] = point.weight;
        chunk->width[threadIdx.x] = point.width;
        is_wide = point.width > h;
    }
    return __syncthreads_count(is_wide);
}

/* The same in cells of the grid. Those outside weigh nothing, but for what they add to sums[1]. */
__device__ uint32_t fill_cell_chunk(drawing *d, uint32_t begin, double (&sums)[4])
{
    tick_chunk *chunk = &d->shared->chunk;
    double cells = d->v->cells;
    if (begin + threadIdx.x < d->points) {
        sf_tick_point point = find_point(d, begin + threadIdx.x);
        double u = (point.at - d->v->origin) * (cells / d->v->period);
        bool inside = u >= 0 && u <= cells;
        double weight = inside ? point.weight : 0, v = u / cells;
        sums[0] += weight;
        sums[1] += weight * weight + point.weight * (1 - point.weight); /* it stands for single ones */
        sums[2] += weight * v;
        sums[3] += weight * v * v;
        u = fmin(fmax(u, 0.0), cells);
        chunk->at[threadIdx.x] = u;
        chunk->weight[threadIdx.x] = weight;
        chunk->cell[threadIdx.x] = (int32_t)u;
    }
    __syncthreads();
    return min((uint32_t)CHUNK, d->points - begin);
}

/* What `count` points of the chunk put into cell c of the grid, in their order. */
__device__ double gather_cell(const drawing *d, uint32_t count, int32_t c)
{
    const tick_chunk *chunk = &d->shared->chunk;
    uint32_t low = 0, high = count; /* the first whose kernel reaches so far */
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (chunk->cell[middle] + SF_SPREAD_WIDTH <= c)
            low = middle + 1;
        else
            high = middle;
    }
    double sum = 0;
    for (; low < count && chunk->cell[low] <= c; low++) {
        const double *coefficients = d->v->coefficients + (c - chunk->cell[low]);
        double s = 2 * (chunk->at[low] - chunk->cell[low]) - 1;
        double psi = coefficients[SF_SPREAD_DEGREE * SF_SPREAD_WIDTH];
#pragma unroll
        for (int p = SF_SPREAD_DEGREE - 1; p >= 0; p--)
            psi = fma(psi, s, coefficients[p * SF_SPREAD_WIDTH]);
        sum = fma(chunk->weight[low], psi, sum);
    }
    return sum;
}

/* Adds the points to the grid and to the sums. A thread gathers a cell, so that all is in a fixed order. */
__device__ void add_ticks(drawing *d, double *grid)
{
    double sums[4] = {};
    if (d->points == 0) return;
    for (uint32_t begin = 0; begin < d->points; begin += CHUNK) {
        uint32_t count = fill_cell_chunk(d, begin, sums);
        const int32_t *cell = d->shared->chunk.cell;
        for (int32_t c = cell[0] + (int32_t)threadIdx.x; c < cell[count - 1] + SF_SPREAD_WIDTH; c += THREADS)
            grid[c] += gather_cell(d, count, c);
        __syncthreads();
    }
    add_up_block(d->shared, sums, [](double(&)[4]) {});
    d->weight += sums[0];
    d->squares += sums[1];
    d->first += sums[2];
    d->second += sums[3];
}

} // namespace

#endif
