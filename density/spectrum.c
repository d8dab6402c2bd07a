/* SPDX-License-Identifier: Apache-2.0 */
#include "density/spectrum.h"

#include "core/error.h"
#include "core/memory.h"
#include "density/exponential.h"
#include "density/shared/bandwidth.h"
#include "density/spread.h"

#include <math.h>

#define PI 3.14159265358979323846

enum { STRIP = 64 };

int sf_spectrum_open(sf_spectrum *spectrum, const sf_frame *frame, sf_error *error)
{
    *spectrum = (sf_spectrum){.frame = *frame};
    size_t modes = frame->modes, cells = 4 * modes;
    double *arrays = sf_resize(NULL, 3 * (modes + 1) + cells + 2 * (cells / 2 + 1), sizeof *arrays);
    spectrum->power = arrays;
    if (arrays == NULL) return sf_fail_memory(error);
    spectrum->squares = arrays + (modes + 1);
    spectrum->correction = spectrum->squares + (modes + 1);
    spectrum->scratch = spectrum->correction + (modes + 1);
    spectrum->re = spectrum->scratch + cells;
    spectrum->im = spectrum->re + cells / 2 + 1;
    for (size_t k = 0; k <= modes; k++) {
        double t = 2 * PI * (double)k / frame->period;
        spectrum->squares[k] = t * t;
        spectrum->correction[k] = 1 / sf_spread_transform(2 * PI * (double)k / (double)cells);
    }
    int status = sf_fft_open(&spectrum->fft, cells / 2, error);
    if (status != SF_OK) sf_spectrum_close(spectrum);
    return status;
}

void sf_spectrum_close(sf_spectrum *spectrum)
{
    sf_free(spectrum->power);
    sf_fft_close(spectrum->fft);
    *spectrum = (sf_spectrum){0};
}

/* The grid as the transform wants it: the margins folded back onto the circle of cells. */
static void fold(double *circle, const double *grid, size_t cells)
{
    for (size_t c = 0; c < cells; c++)
        circle[c] = grid[c + SF_SPREAD_BEFORE];
    for (size_t c = 0; c < SF_SPREAD_BEFORE; c++)
        circle[cells - SF_SPREAD_BEFORE + c] += grid[c];
    for (size_t c = cells + SF_SPREAD_BEFORE; c < cells + SF_SPREAD_WIDTH; c++)
        circle[c - cells - SF_SPREAD_BEFORE] += grid[c];
}

int sf_spectrum_update(sf_spectrum *spectrum, const sf_characteristic *state, sf_error *error)
{
    spectrum->frame = state->frame;
    if (!(state->squares > 0) || state->weight * state->weight < 1.999 * state->squares)
        return sf_fail(error, SF_DATA, NULL, "the state holds less than two samples");
    spectrum->weight = state->weight;
    spectrum->n = state->weight * state->weight / state->squares;
    double mean = state->first / state->weight, variance = state->second / state->weight - mean * mean;
    spectrum->mean = state->frame.origin + state->frame.period * mean;
    spectrum->deviation = state->frame.period * sqrt(fmax(variance, 0) * spectrum->n / (spectrum->n - 1));
    spectrum->sigma = spectrum->deviation;
    fold(spectrum->scratch, state->grid, 4 * state->frame.modes);
    sf_fft_real(spectrum->fft, spectrum->scratch, spectrum->re, spectrum->im);
    for (size_t k = 0; k <= state->frame.modes; k++) {
        double scale = spectrum->correction[k] / state->weight;
        spectrum->re[k] *= scale;
        spectrum->im[k] *= -scale; /* the transform has exp(-i), phi has exp(+i) */
        spectrum->power[k] = spectrum->re[k] * spectrum->re[k] + spectrum->im[k] * spectrum->im[k];
    }
    return SF_OK;
}

/* The mean of phi and its conjugate, taken about 0. */
void sf_spectrum_reflect(sf_spectrum *spectrum)
{
    for (size_t k = 0; k <= spectrum->frame.modes; k++) {
        double angle = 2 * PI * (double)k / spectrum->frame.period * spectrum->frame.origin;
        spectrum->re[k] = spectrum->re[k] * cos(angle) - spectrum->im[k] * sin(angle);
        spectrum->im[k] = 0;
        spectrum->power[k] = spectrum->re[k] * spectrum->re[k];
    }
    spectrum->frame.origin = 0;
    spectrum->sigma = hypot(spectrum->sigma, spectrum->mean * sqrt(spectrum->n / (spectrum->n - 1)));
    spectrum->mean = 0;
}

static size_t last_mode(const sf_spectrum *spectrum, double b)
{
    return sf_modes_through(spectrum->frame.period, spectrum->frame.modes, b);
}

/* *sum = sum over `count` modes of t^r exp(-b^2 t^2/2) power, half_r = r/2 */
SF_VECTOR_BODY void sum_psi_body(const double *restrict squares, const double *restrict power, size_t count,
                                 double b, int half_r, double *sum)
{
    double lanes[STRIP] = {0};
    for (size_t k = 0; k < count; k += STRIP) {
        size_t length = count - k < STRIP ? count - k : STRIP;
        double terms[STRIP];
        for (size_t l = 0; l < length; l++)
            terms[l] = power[k + l] * sf_exp(-0.5 * b * b * squares[k + l]);
        for (int j = 0; j < half_r; j++)
            for (size_t l = 0; l < length; l++)
                terms[l] *= squares[k + l];
        for (size_t l = 0; l < length; l++)
            lanes[l] += terms[l];
    }
    *sum = 0;
    for (int l = 0; l < STRIP; l++)
        *sum += lanes[l];
}

SF_VECTOR_LEVELS(sum_psi, sum_psi_body,
                 (const double *restrict squares, const double *restrict power, size_t count, double b,
                  int half_r, double *sum),
                 (squares, power, count, b, half_r, sum))

/* score: sum of power (e^2 - 2 e); slope: sum of power t^2 (e - e^2); e = exp(-b^2 t^2/2) */
SF_VECTOR_BODY void sum_lscv_body(const double *restrict squares, const double *restrict power, size_t count,
                                  double b, double *score, double *slope)
{
    double scores[STRIP] = {0}, slopes[STRIP] = {0};
    for (size_t k = 0; k < count; k += STRIP) {
        size_t length = count - k < STRIP ? count - k : STRIP;
        for (size_t l = 0; l < length; l++) {
            double e = sf_exp(-0.5 * b * b * squares[k + l]), p = power[k + l];
            scores[l] += p * (e * e - 2 * e);
            slopes[l] += p * squares[k + l] * (e - e * e);
        }
    }
    *score = *slope = 0;
    for (int l = 0; l < STRIP; l++) {
        *score += scores[l];
        *slope += slopes[l];
    }
}

SF_VECTOR_LEVELS(sum_lscv, sum_lscv_body,
                 (const double *restrict squares, const double *restrict power, size_t count, double b,
                  double *score, double *slope),
                 (squares, power, count, b, score, slope))

void sf_modes_lscv(const double *squares, const double *power, size_t count, double b, double *score,
                   double *slope)
{
    sum_lscv(squares, power, count, b, score, slope);
}

double sf_spectrum_psi(const sf_spectrum *spectrum, int r, double g)
{
    double sum;
    sum_psi(spectrum->squares + 1, spectrum->power + 1, last_mode(spectrum, g), g, r / 2, &sum);
    double zero = r == 0 ? 1 : 0; /* the mode k = 0 */
    return (r % 4 == 0 ? 1 : -1) * (2 * sum + zero) / spectrum->frame.period;
}

double sf_spectrum_lscv(const sf_spectrum *spectrum, double b, double *slope)
{
    double score, change;
    sum_lscv(spectrum->squares + 1, spectrum->power + 1, last_mode(spectrum, b), b, &score, &change);
    double diagonal = 2 / (SF_SQRT_2PI * spectrum->n * b);
    if (slope != NULL) *slope = 4 * b * change / spectrum->frame.period - diagonal / b;
    return (2 * score - 1) / spectrum->frame.period + diagonal;
}

/*
 * sums[l] += sum over modes k from `first` on of re cos(k a) + im sin(k a) for the angles a of `length`
 * points: cosine and sine are turned from mode to mode, and TURNS keeps what rounding adds up under 1e-14.
 */
SF_VECTOR_BODY void add_waves_body(double *restrict sums, const double *restrict angles, size_t length,
                                   const double *restrict re, const double *restrict im, size_t first,
                                   size_t count)
{
    double cosine[STRIP], sine[STRIP], turn_cosine[STRIP], turn_sine[STRIP];
    for (size_t l = 0; l < length; l++) {
        cosine[l] = cos((double)first * angles[l]);
        sine[l] = sin((double)first * angles[l]);
        turn_cosine[l] = cos(angles[l]);
        turn_sine[l] = sin(angles[l]);
    }
    for (size_t k = 0; k < count; k++)
        for (size_t l = 0; l < length; l++) {
            double c = cosine[l], s = sine[l];
            sums[l] += re[k] * c + im[k] * s;
            cosine[l] = c * turn_cosine[l] - s * turn_sine[l];
            sine[l] = s * turn_cosine[l] + c * turn_sine[l];
        }
}

SF_VECTOR_LEVELS(add_waves, add_waves_body,
                 (double *restrict sums, const double *restrict angles, size_t length,
                  const double *restrict re, const double *restrict im, size_t first, size_t count),
                 (sums, angles, length, re, im, first, count))

/* What averaging over a width leaves of a wave: sin(u)/u at half the width. */
static double left_by_average(double t, double width)
{
    double u = t * width / 2;
    return u > 0 ? sin(u) / u : 1;
}

void sf_spectrum_density(const sf_spectrum *spectrum, double b, double width, const double *points,
                         size_t count, double *values)
{
    enum { TURNS = 128 };
    size_t last = last_mode(spectrum, b);
    double *re = spectrum->scratch, *im = spectrum->scratch + last + 1; /* damped, the same for every point */
    for (size_t k = 1; k <= last; k++) {
        double damping = sf_exp(-0.5 * b * b * spectrum->squares[k]) *
                         left_by_average(2 * PI * (double)k / spectrum->frame.period, width);
        re[k] = damping * spectrum->re[k];
        im[k] = damping * spectrum->im[k];
    }
    for (size_t p = 0; p < count; p += STRIP) {
        double sums[STRIP] = {0}, angles[STRIP];
        size_t length = count - p < STRIP ? count - p : STRIP;
        for (size_t l = 0; l < length; l++)
            angles[l] = (points[p + l] - spectrum->frame.origin) * 2 * PI / spectrum->frame.period;
        for (size_t k = 1; k <= last; k += TURNS)
            add_waves(sums, angles, length, re + k, im + k, k, last - k < TURNS ? last - k + 1 : TURNS);
        for (size_t l = 0; l < length; l++)
            values[p + l] = (1 + 2 * sums[l]) / spectrum->frame.period;
    }
}
