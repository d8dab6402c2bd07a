/* SPDX-License-Identifier: Apache-2.0 */
/** From a spread grid to the modes of the characteristic function: density/spectrum.h and density/fft.h. */
#ifndef SF_GPU_DENSITY_MOVING_TRANSFORM_CUH
#define SF_GPU_DENSITY_MOVING_TRANSFORM_CUH

#include "gpu/density/moving_block.cuh"

namespace
{

/* Numbers of half as many real ones: real and imaginary parts. */
typedef struct complex_array {
    double *re, *im;
} complex_array;

/* The cell of the circle that the margins are folded onto. */
__device__ double fold_cell(const double *grid, uint32_t cells, uint32_t c)
{
    double sum = grid[c + SF_SPREAD_BEFORE];
    if (c >= cells - SF_SPREAD_BEFORE) sum += grid[c - (cells - SF_SPREAD_BEFORE)];
    if (c < SF_SPREAD_WIDTH - SF_SPREAD_BEFORE) sum += grid[c + cells + SF_SPREAD_BEFORE];
    return sum;
}

/* Even cells as real and odd ones as imaginary parts. */
__device__ void fold(complex_array to, const double *grid, uint32_t cells)
{
    for (uint32_t j = threadIdx.x; j < cells / 2; j += THREADS) {
        to.re[j] = fold_cell(grid, cells, 2 * j);
        to.im[j] = fold_cell(grid, cells, 2 * j + 1);
    }
    __syncthreads();
}

__device__ void combine_two(complex_array to, complex_array from, uint32_t half)
{
    for (uint32_t q = threadIdx.x; q < half; q += THREADS) {
        to.re[q] = from.re[q] + from.re[q + half];
        to.im[q] = from.im[q] + from.im[q + half];
        to.re[q + half] = from.re[q] - from.re[q + half];
        to.im[q + half] = from.im[q] - from.im[q + half];
    }
}

/* Butterfly j of four: stride neighbours share the factor exp(-2 pi i p / length), as in density/fft.c. */
__device__ void combine_four(const moving_view *v, complex_array to, complex_array from, uint32_t stride,
                             uint32_t quarter, uint32_t j)
{
    uint32_t p = j - j % stride;
    double c = v->cosine[2 * p], s = v->sine[2 * p];
    double c2 = c * c - s * s, s2 = 2 * c * s, c3 = c2 * c - s2 * s, s3 = s2 * c + c2 * s;
    double re[4], im[4];
#pragma unroll
    for (int k = 0; k < 4; k++) {
        re[k] = from.re[j + k * quarter];
        im[k] = from.im[j + k * quarter];
    }
    double sum_re = re[0] + re[2], sum_im = im[0] + im[2], gap_re = re[0] - re[2], gap_im = im[0] - im[2];
    double other_re = re[1] + re[3], other_im = im[1] + im[3];
    double turned_re = im[1] - im[3], turned_im = re[3] - re[1]; /* -i times the other gap */
    double one_re = gap_re + turned_re, one_im = gap_im + turned_im;
    double two_re = sum_re - other_re, two_im = sum_im - other_im;
    double three_re = gap_re - turned_re, three_im = gap_im - turned_im;
    uint32_t at = 3 * p + j;
    to.re[at] = sum_re + other_re;
    to.im[at] = sum_im + other_im;
    to.re[at + stride] = one_re * c + one_im * s;
    to.im[at + stride] = one_im * c - one_re * s;
    to.re[at + 2 * stride] = two_re * c2 + two_im * s2;
    to.im[at + 2 * stride] = two_im * c2 - two_re * s2;
    to.re[at + 3 * stride] = three_re * c3 + three_im * s3;
    to.im[at + 3 * stride] = three_im * c3 - three_re * s3;
}

/* Transforms `length` numbers; returns in which of the two they are then. */
__device__ complex_array transform(const moving_view *v, complex_array from, complex_array other,
                                   uint32_t length)
{
    for (uint32_t stride = 1, step; stride < length; stride *= step) {
        step = stride * 2 == length ? 2 : 4;
        if (step == 2)
            combine_two(other, from, stride);
        else
            for (uint32_t j = threadIdx.x; j < length / 4; j += THREADS)
                combine_four(v, other, from, stride, length / 4, j);
        __syncthreads();
        complex_array swapped = from;
        from = other;
        other = swapped;
    }
    return from;
}

/* Modes 0 .. modes of the real numbers, taken apart, and corrected for the spreading kernel. */
__device__ void take_modes(drawing *d, complex_array transformed)
{
    const moving_view *v = d->v;
    for (uint32_t k = threadIdx.x; k <= v->modes; k += THREADS) {
        uint32_t mirror = k > 0 ? 2 * v->modes - k : 0;
        const double *re = transformed.re, *im = transformed.im;
        double even_re = (re[k] + re[mirror]) / 2, even_im = (im[k] - im[mirror]) / 2;
        double odd_re = (im[k] + im[mirror]) / 2, odd_im = (re[mirror] - re[k]) / 2;
        double scale = v->correction[k] / d->weight, c = v->cosine[k], s = v->sine[k];
        double own_re = (even_re + odd_re * c + odd_im * s) * scale;
        double own_im = -(even_im + odd_im * c - odd_re * s) * scale; /* phi has exp(+i) */
        d->re[k] = own_re;
        d->im[k] = own_im;
        d->power[k] = own_re * own_re + own_im * own_im;
    }
    __syncthreads();
}

/* As sf_spectrum_reflect: the mean of phi and its conjugate, taken about 0. */
__device__ void reflect(drawing *d)
{
    const moving_view *v = d->v;
    for (uint32_t k = threadIdx.x; k <= v->modes; k += THREADS) {
        double s, c;
        sincospi(2 * (k * (v->origin / v->period)), &s, &c);
        d->re[k] = d->re[k] * c - d->im[k] * s;
        d->im[k] = 0;
        d->power[k] = d->re[k] * d->re[k];
    }
    d->origin = 0;
    d->sigma = hypot(d->sigma, d->mean * sqrt(d->n / (d->n - 1)));
    __syncthreads();
}

/* As sf_spectrum_update; rounded like there, where a difference is small. */
__device__ void find_moments(drawing *d)
{
    const moving_view *v = d->v;
    double mean = d->first / d->weight, variance = __dsub_rn(d->second / d->weight, __dmul_rn(mean, mean));
    d->n = d->weight * d->weight / d->squares;
    d->mean = v->origin + v->period * mean;
    d->deviation = d->sigma = v->period * sqrt(fmax(variance, 0.0) * d->n / (d->n - 1));
}

/* From the grid in `spare`, which is used up with `own`, to the modes; both have room for it. */
__device__ void find_modes(drawing *d, double *own, double *spare)
{
    uint32_t half = d->v->cells / 2;
    complex_array from = {own, own + half}, other = {spare, spare + half};
    fold(from, spare, d->v->cells);
    complex_array transformed = transform(d->v, from, other, half);
    double *rest = transformed.re == own ? spare : own;
    d->re = rest;
    d->im = d->re + d->v->modes + 1;
    d->power = d->im + d->v->modes + 1;
    d->damped_re = transformed.re;
    d->damped_im = d->damped_re + d->v->modes + 1;
    take_modes(d, transformed);
}

} // namespace

#endif
