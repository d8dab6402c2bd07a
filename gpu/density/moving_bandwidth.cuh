/* SPDX-License-Identifier: Apache-2.0 */
/** Bandwidths from the modes in a block: density/spectrum.h and density/spectral.h, and the same searches. */
#ifndef SF_GPU_DENSITY_MOVING_BANDWIDTH_CUH
#define SF_GPU_DENSITY_MOVING_BANDWIDTH_CUH

#include "gpu/density/moving_block.cuh"
#include "gpu/density/power.cuh"

extern "C" {
#include "density/shared/bandwidth.h"
}

namespace
{

/* The squared frequency of mode k. */
__device__ double square_of(const drawing *d, uint32_t k)
{
    double t = (2 * 3.14159265358979323846 / d->v->period) * k;
    return t * t;
}

__device__ uint32_t last_mode(const drawing *d, double b)
{
    return (uint32_t)sf_modes_through(d->v->period, d->v->modes, b);
}

/* `make` of the sum of t^r exp(-g^2 t^2/2) power over the modes from 1 on, half_r = r/2. */
template <class function>
__device__ double with_functional(const drawing *d, int half_r, double g, function make)
{
    double sums[1] = {}, factor = -0.5 * LOG2_E * g * g;
    uint32_t last = last_mode(d, g);
    for (uint32_t k = 1 + threadIdx.x; k <= last; k += THREADS) {
        double square = square_of(d, k), term = d->power[k] * power_of_two(factor, square);
        for (int j = 0; j < half_r; j++)
            term *= square;
        sums[0] += term;
    }
    add_up_block(d->shared, sums, [make](double(&sum)[1]) { sum[0] = make(sum[0]); });
    return sums[0];
}

/* ---- ISJ ---- */

/* Positive where b is smaller than what it reproduces. */
__device__ double find_gain(const drawing *d, double b)
{
    double g = sqrt(2 * (b * b)), n = d->n, scale = 2 / d->v->period;
    for (int s = SF_ISJ_FIRST; s > SF_ISJ_LAST; s--)
        g = with_functional(d, s, g,
                            [=](double sum) { return sqrt(2 * sf_isj_stage(s - 1, n, scale * sum)); });
    return with_functional(d, SF_ISJ_LAST, g,
                           [=](double sum) { return log(sf_isj_variance(n, scale * sum) / (b * b)); });
}

__device__ double refine_isj(const drawing *d, sf_bracket bracket)
{
    while (sf_bracket_next(&bracket))
        if (!sf_bracket_take(&bracket, -find_gain(d, bracket.at))) break;
    return bracket.at;
}

/* As sf_spectral_isj; NaN where there is none. */
__device__ double find_isj(const drawing *d, double b_least, double b_most)
{
    double before = b_least, gain_before = find_gain(d, before);
    for (size_t i = 1; i <= SF_ISJ_STEPS && gain_before > 0; i++) {
        double b = sf_search_step(b_least, b_most, i, SF_ISJ_STEPS), gain_here = find_gain(d, b);
        if (gain_here <= 0) return refine_isj(d, sf_bracket_begin(before, b, -gain_before, -gain_here));
        before = b;
        gain_before = gain_here;
    }
    return nan("");
}

/* ---- PLUG-IN ---- */

__device__ double find_plugin(const drawing *d)
{
    double n = d->n, sigma = d->sigma, scale = 2 / d->v->period;
    double g2 = with_functional(d, 3, sf_plugin_first(n) * sigma, [=](double sum) {
        return sf_plugin_second(n, -scale * sum * pow(sigma, 7));
    });
    double h = with_functional(
        d, 2, g2 * sigma, [=](double sum) { return sf_plugin_bandwidth(n, scale * sum * pow(sigma, 5)); });
    return h * sigma;
}

/* ---- least squares ---- */

typedef struct score {
    double h, score, slope;
} score;

/* As sf_spectrum_lscv. */
__device__ score find_score(const drawing *d, double b)
{
    double sums[2] = {}, factor = -0.5 * LOG2_E * b * b;
    uint32_t last = last_mode(d, b);
    for (uint32_t k = 1 + threadIdx.x; k <= last; k += THREADS) {
        double square = square_of(d, k), e = power_of_two(factor, square), p = d->power[k];
        sums[0] += p * (e * e - 2 * e);
        sums[1] += p * square * (e - e * e);
    }
    double period = d->v->period, diagonal = 2 / (SF_SQRT_2PI * d->n * b);
    add_up_block(d->shared, sums, [](double(&)[2]) {});
    return score{b, (2 * sums[0] - 1) / period + diagonal, 4 * b * sums[1] / period - diagonal / b};
}

__device__ score refine_score(const drawing *d, score below, score above)
{
    sf_bracket bracket = sf_bracket_begin(below.h, above.h, below.slope, above.slope);
    score found = above;
    while (sf_bracket_next(&bracket)) {
        found = find_score(d, bracket.at);
        if (!sf_bracket_take(&bracket, found.slope)) break;
    }
    return found;
}

/* The lowest minimum of the curve that sf_search_run looks at; NaN where there is none. */
__device__ double find_lscv(const drawing *d, double b_least, double b_most)
{
    score lowest = {nan(""), 0, 0}, before = {};
    int minima = 0;
    for (size_t i = 0; i < SF_SEARCH_POINTS; i++) {
        score here = find_score(d, sf_search_step(b_least, b_most, i, SF_SEARCH_POINTS - 1));
        bool turns = i > 0 && before.slope < 0 && here.slope >= 0;
        if (turns && minima < SF_SEARCH_MOST_MINIMA) {
            score minimum = refine_score(d, before, here);
            if (minima == 0 || minimum.score < lowest.score) lowest = minimum;
            minima++;
        }
        before = here;
    }
    return lowest.h;
}

/* ---- the method of the plan ---- */

/* As sf_moving_choose. */
__device__ double choose_bandwidth(const drawing *d)
{
    const moving_view *v = d->v;
    double b_least = v->b_least, chosen = nan("");
    double b_most = fmax(fmin(4 * sf_silverman(d->n) * d->sigma, v->b_most), b_least);
    switch (v->method) {
    case SF_MOVING_ISJ:
        chosen = find_isj(d, b_least, b_most);
        break;
    case SF_MOVING_PLUGIN:
        chosen = fmax(find_plugin(d), b_least);
        break;
    case SF_MOVING_LSCV:
        chosen = find_lscv(d, b_least, b_most);
        break;
    case SF_MOVING_SILVERMAN:
        chosen = fmax(sf_silverman(d->n) * d->deviation, b_least);
        break;
    case SF_MOVING_SCOTT:
        chosen = fmax(sf_scott(d->n) * d->deviation, b_least);
        break;
    case SF_MOVING_FIXED:
        chosen = v->h;
        break;
    }
    return isnan(chosen) ? b_least : chosen;
}

} // namespace

#endif
