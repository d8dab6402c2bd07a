/* SPDX-License-Identifier: Apache-2.0 */
/** The picture of a density from its modes in a block: density/picture.h. */
#ifndef SF_GPU_DENSITY_MOVING_PICTURE_CUH
#define SF_GPU_DENSITY_MOVING_PICTURE_CUH

#include "gpu/density/moving_bandwidth.cuh"
#include "gpu/density/moving_ticks.cuh"

extern "C" {
#include "core/normal.h"
}

namespace
{

enum {
    LANES = 4, /* that share the modes, or points, of a bin */
    BINS = THREADS / LANES
};

/* No kernel reaches further, in its widths: less than 1e-18 of it lies beyond. */
#define REACH 9.0

/* In the first of a bin's lanes. */
__device__ double add_up_lanes(double sum)
{
    for (int step = LANES / 2; step > 0; step /= 2)
        sum += __shfl_down_sync(~0u, sum, step, LANES);
    return sum;
}

/* Modes 1 .. last as a kernel of width h leaves them, and averaging over `width`. */
__device__ void damp(drawing *d, uint32_t last, double h, double width)
{
    double factor = -0.5 * LOG2_E * h * h;
    for (uint32_t k = 1 + threadIdx.x; k <= last; k += THREADS) {
        double turns = k * (width / d->v->period); /* of the wave in a width */
        double left = turns > 0 ? sinpi(turns) / (3.14159265358979323846 * turns) : 1;
        double damping = power_of_two(factor, square_of(d, k)) * left;
        d->damped_re[k] = damping * d->re[k];
        d->damped_im[k] = damping * d->im[k];
    }
    __syncthreads();
}

/* The sum over a lane's modes of re cos(k a) + im sin(k a) at a place `turns` turns from the origin. Cosine
 * and sine are rotated from mode to mode, at most 512 times, which keeps the rounding error below 1e-13. */
__device__ double add_waves(const drawing *d, uint32_t last, double turns)
{
    double sine, cosine, turn_sine, turn_cosine, sum = 0;
    uint32_t k = 1 + threadIdx.x % LANES;
    sincospi(2 * turns * k, &sine, &cosine);
    sincospi(2 * turns * LANES, &turn_sine, &turn_cosine);
#pragma unroll 2
    for (; k <= last; k += LANES) {
        sum = fma(d->damped_re[k], cosine, fma(d->damped_im[k], sine, sum));
        double turned = fma(cosine, turn_cosine, -sine * turn_sine);
        sine = fma(sine, turn_cosine, cosine * turn_sine);
        cosine = turned;
    }
    return sum;
}

__device__ double middle_of(const sf_moving_picture *bins, uint32_t bin)
{
    return bins->from + bins->step * (bin + 0.5);
}

/* The density without what ticks change. */
__device__ void fill_smooth(const drawing *d, const sf_moving_picture *bins, double *values)
{
    uint32_t last = last_mode(d, bins->h), count = d->v->picture.bins;
    for (uint32_t first = 0; first < count; first += BINS) {
        uint32_t bin = first + threadIdx.x / LANES;
        double at = middle_of(bins, bin);
        double sum = add_up_lanes(add_waves(d, last, (at - d->origin) / d->v->period));
        double value = (1 + 2 * sum) / d->v->period;
        if (d->v->domain == SF_DOMAIN_REFLECT) value = at >= 0 ? 2 * value : 0;
        if (bin < count && threadIdx.x % LANES == 0) values[bin] = value;
    }
}

/* What the first `wide` points of the chunk change at a place, of a lane's: a kernel of a tick takes the
 * place of a narrower one. */
__device__ double widen(const drawing *d, uint32_t wide, double at, double h, double width)
{
    const tick_chunk *chunk = &d->shared->chunk;
    double sum = 0;
    for (uint32_t p = threadIdx.x % LANES; p < wide; p += LANES) {
        double away = at - chunk->at[p], own = chunk->width[p];
        if (fabs(away) - width / 2 < REACH * own)
            sum +=
                chunk->weight[p] * (sf_normal_average(away, own, width) - sf_normal_average(away, h, width));
    }
    return sum;
}

/* As widen_ticks of density/live.c. Values are those of the thread that has filled them in. */
__device__ void widen_ticks(drawing *d, const sf_moving_picture *bins, double *values)
{
    uint32_t count = d->v->picture.bins, wide = CHUNK;
    for (uint32_t begin = 0; begin < d->points && wide == CHUNK; begin += CHUNK) {
        wide = fill_wide_chunk(d, begin, bins->h);
        for (uint32_t first = 0; first < count && wide > 0; first += BINS) {
            uint32_t bin = first + threadIdx.x / LANES;
            double sum = add_up_lanes(widen(d, wide, middle_of(bins, bin), bins->h, bins->step));
            if (bin < count && threadIdx.x % LANES == 0) values[bin] += sum / d->weight;
        }
        __syncthreads();
    }
}

/* The averages over the bins, none below 0. */
__device__ void fill_bins(drawing *d, const sf_moving_picture *bins, double *values)
{
    damp(d, last_mode(d, bins->h), bins->h, bins->step);
    fill_smooth(d, bins, values);
    widen_ticks(d, bins, values);
    for (uint32_t bin = threadIdx.x / LANES; bin < d->v->picture.bins && threadIdx.x % LANES == 0;
         bin += BINS)
        values[bin] = fmax(values[bin], 0.0);
    __syncthreads();
}

/* As sf_moving_draw. */
__device__ void draw_picture(drawing *d, double h, sf_moving_picture *picture, double *values)
{
    const sf_moving_view *view = &d->v->picture;
    sf_moving_picture bins = {h, view->from, (view->to - view->from) / view->bins};
    fill_bins(d, &bins, values);
    if (view->cut_below || view->cut_above) {
        if (threadIdx.x == 0) {
            d->shared->bins = bins;
            sf_moving_cut(&d->shared->bins, view, values);
        }
        __syncthreads();
        bins = d->shared->bins;
        fill_bins(d, &bins, values);
    }
    if (threadIdx.x == 0) *picture = bins;
}

} // namespace

#endif
