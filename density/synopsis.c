/* SPDX-License-Identifier: Apache-2.0 */
#include "density/synopsis.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/options.h"
#include "density/estimate.h"
#include "density/kernels.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PI 3.14159265358979323846

/* The highest frequency, in units of 1 / bandwidth: isj needs 10, and the rest allows the bandwidth to halve
 * when samples are added. Two columns cost more and get what the error bar needs, which leaves exp(-7.5^2/4)
 * of a mode. */
#define LINE_MODES 20.0
#define PLANE_MODES 7.5

/* Periods of a logarithm are no shorter: e^16 are the seven decades that intervals span. */
#define LEAST_LOG_PERIOD 16.0

/* ---- frames ---- */

size_t sf_synopsis_size(const sf_synopsis *synopsis)
{
    const sf_synopsis_axis *axes = synopsis->axes;
    for (size_t c = 0; c < synopsis->d && c < 2; c++)
        if (axes[c].modes == 0 || axes[c].modes > SF_SYNOPSIS_MOST_MODES) return 0;
    if (synopsis->d == 1) return axes[0].modes + 1;
    return synopsis->d == 2 ? (2 * axes[0].modes + 1) * (axes[1].modes + 1) : 0;
}

double sf_synopsis_width(const sf_synopsis *s, size_t c)
{
    return s->d == 1 ? s->h : s->h * sqrt(s->axes[c].variance);
}

/* The extent that periods must hold; samples that are reflected lie on both sides of 0. */
static double extent_of(const sf_synopsis *s, size_t c)
{
    double least = s->domain == SF_DOMAIN_REFLECT ? -s->axes[c].most : s->axes[c].least;
    return s->axes[c].most - least + 2 * SF_SYNOPSIS_REACH * sf_synopsis_width(s, c);
}

double sf_synopsis_anchor(const sf_synopsis_axis *axis)
{
    return axis->period * round(axis->least / axis->period);
}

static void choose_frame(sf_synopsis *s)
{
    for (size_t c = 0; c < s->d; c++) {
        sf_synopsis_axis *axis = &s->axes[c];
        double extent = fmax(extent_of(s, c), s->domain == SF_DOMAIN_LOG ? LEAST_LOG_PERIOD : 0);
        axis->period = exp2(ceil(log2(extent)));
        double left =
            s->d == 1 ? 1 /* of the width, where the other column is known */
                      : sqrt(1 - s->covariance * s->covariance / s->axes[0].variance / s->axes[1].variance);
        double most = (s->d == 1 ? LINE_MODES : PLANE_MODES) / (sf_synopsis_width(s, c) * left);
        double modes = ceil(most * axis->period / (2 * PI)), cap = s->d == 1 ? SF_SYNOPSIS_MOST_MODES : 1024;
        axis->modes = (uint64_t)fmin(fmax(modes, 1), cap);
    }
}

/* ---- of samples ---- */

void sf_synopsis_close(sf_synopsis *synopsis)
{
    sf_free(synopsis->phi);
    *synopsis = (sf_synopsis){0};
}

static int open_phi(sf_synopsis *s, sf_error *error)
{
    s->phi = sf_alloc(sf_synopsis_size(s), 2 * sizeof *s->phi);
    return s->phi != NULL ? SF_OK : sf_fail_memory(error);
}

/* One column, turned from the frame's origin to where phi is told about. */
static void take_phi(sf_synopsis *s, const sf_spectrum *spectrum)
{
    const sf_synopsis_axis *axis = &s->axes[0];
    double turn = 2 * PI * (spectrum->frame.origin - sf_synopsis_anchor(axis)) / axis->period;
    for (size_t k = 0; k <= axis->modes; k++) {
        double c = cos(turn * (double)k), i = sin(turn * (double)k);
        s->phi[2 * k] = (float)(spectrum->re[k] * c - spectrum->im[k] * i);
        s->phi[2 * k + 1] = (float)(spectrum->re[k] * i + spectrum->im[k] * c);
    }
}

/* One column: by the spread grid and its transform. */
static int transform_line(sf_synopsis *s, const double *at, sf_error *error)
{
    const sf_synopsis_axis *axis = &s->axes[0];
    sf_frame frame = {.origin = axis->least, .period = axis->period, .modes = 16};
    while (frame.modes < axis->modes)
        frame.modes *= 2;
    sf_characteristic state = {0};
    sf_spectrum spectrum = {0};
    int status = sf_characteristic_open(&state, &frame, error);
    if (status == SF_OK) status = sf_spectrum_open(&spectrum, &frame, error);
    if (status == SF_OK) {
        sf_characteristic_add(&state, at, s->n, 1);
        status = sf_spectrum_update(&spectrum, &state, error);
    }
    if (status == SF_OK) take_phi(s, &spectrum);
    sf_characteristic_close(&state);
    sf_spectrum_close(&spectrum);
    return status;
}

/* exp(i t_k x) for k from `first` on. */
static void turn_waves(double *waves, const sf_synopsis_axis *axis, double x, int64_t first, size_t count)
{
    double step = 2 * PI * x / axis->period;
    for (size_t k = 0; k < count; k++) {
        waves[2 * k] = cos(step * (double)(first + (int64_t)k));
        waves[2 * k + 1] = sin(step * (double)(first + (int64_t)k));
    }
}

/* Two columns: sample by sample. */
static int transform_plane(sf_synopsis *s, const double *rows, sf_error *error)
{
    const sf_synopsis_axis *x = &s->axes[0], *y = &s->axes[1];
    size_t columns = 2 * x->modes + 1, lines = y->modes + 1, size = columns * lines;
    double *sums = sf_alloc(size + columns + lines, 2 * sizeof *sums);
    if (sums == NULL) return sf_fail_memory(error);
    double *across = sums + 2 * size, *up = across + 2 * columns;
    for (uint64_t i = 0; i < s->n; i++) {
        turn_waves(across, x, rows[2 * i] - sf_synopsis_anchor(x), -(int64_t)x->modes, columns);
        turn_waves(up, y, rows[2 * i + 1] - sf_synopsis_anchor(y), 0, lines);
        for (size_t k = 0; k < lines; k++) {
            double c = up[2 * k], d = up[2 * k + 1], *line = sums + 2 * k * columns;
            for (size_t j = 0; j < columns; j++) {
                line[2 * j] += across[2 * j] * c - across[2 * j + 1] * d;
                line[2 * j + 1] += across[2 * j] * d + across[2 * j + 1] * c;
            }
        }
    }
    for (size_t k = 0; k < 2 * size; k++)
        s->phi[k] = (float)(sums[k] / (double)s->n);
    sf_free(sums);
    return SF_OK;
}

static int measure_line(sf_synopsis *s, const double *at, sf_error *error)
{
    sf_moments moments;
    int status = sf_moments_find(&moments, at, s->n, error);
    if (status == SF_OK)
        s->axes[0] = (sf_synopsis_axis){moments.least, moments.most, moments.mean, moments.variance, 0, 0};
    return status;
}

static int measure_plane(sf_synopsis *s, const double *rows, sf_error *error)
{
    sf_covariance found;
    int status = sf_covariance_find(&found, rows, NULL, s->n, error);
    if (status != SF_OK) return status;
    s->covariance = found.xy;
    s->axes[0] = (sf_synopsis_axis){rows[0], rows[0], found.mean_x, found.xx, 0, 0};
    s->axes[1] = (sf_synopsis_axis){rows[1], rows[1], found.mean_y, found.yy, 0, 0};
    for (size_t i = 0; i < 2 * s->n; i++) {
        s->axes[i % 2].least = fmin(s->axes[i % 2].least, rows[i]);
        s->axes[i % 2].most = fmax(s->axes[i % 2].most, rows[i]);
    }
    return SF_OK;
}

static int fill(sf_synopsis *s, const double *at, sf_error *error)
{
    int status = s->d == 1 ? measure_line(s, at, error) : measure_plane(s, at, error);
    if (status != SF_OK) return status;
    choose_frame(s);
    status = open_phi(s, error);
    if (status == SF_OK) status = s->d == 1 ? transform_line(s, at, error) : transform_plane(s, at, error);
    if (status == SF_OK) status = sf_synopsis_check(s, error);
    return status;
}

int sf_synopsis_of(sf_synopsis *synopsis, const sf_density *density, sf_error *error)
{
    const sf_samples *samples = &density->samples;
    double least = sf_density_least_bandwidth(density);
    *synopsis = (sf_synopsis){.n = samples->n,
                              .d = samples->d,
                              .domain = density->domain,
                              .h = samples->d == 1 ? fmax(density->h, least) : density->h,
                              .h_least = least};
    snprintf(synopsis->method, sizeof synopsis->method, "%s", density->method);
    if (samples->d > 2)
        return sf_fail(error, SF_USAGE, NULL, "found %zu columns: a state is of one or two", samples->d);
    double *sorted = NULL;
    int status = SF_OK;
    if (samples->d == 1)
        status = sf_samples_sorted(&sorted, samples, density->domain == SF_DOMAIN_LOG, error);
    for (size_t i = 0; sorted != NULL && i < samples->n; i++)
        sorted[i] = sf_axis_of(density->domain, sorted[i]);
    if (status == SF_OK) status = fill(synopsis, samples->d == 1 ? sorted : samples->values, error);
    sf_free(sorted);
    if (status != SF_OK) sf_synopsis_close(synopsis);
    return status;
}

/* All but phi, from the spectrum of the samples as they are. */
static void describe_moving(sf_synopsis *s, const sf_moving_density *live, const sf_moving_plan *plan)
{
    const sf_moving_options *options = &plan->options;
    const sf_spectrum *spectrum = &plan->spectrum;
    const sf_frame *frame = &spectrum->frame;
    bool reflects = options->domain == SF_DOMAIN_REFLECT; /* its frame has room for the mirror images */
    *s = (sf_synopsis){.n = sf_moving_count(live),
                       .d = 1,
                       .domain = options->domain,
                       .h = live->h,
                       .h_least = sf_moving_least_bandwidth(options)};
    /* All that choosing a bandwidth takes: what adds up may have a far smaller one. */
    double modes = ceil(LINE_MODES / 2 / s->h_least * frame->period / (2 * PI));
    s->axes[0] = (sf_synopsis_axis){.least = reflects ? options->least : frame->origin,
                                    .most = sf_axis_of(options->domain, options->most),
                                    .mean = spectrum->mean,
                                    .variance = spectrum->sigma * spectrum->sigma,
                                    .period = frame->period,
                                    .modes = (uint64_t)fmin(modes, (double)frame->modes)};
    snprintf(s->method, sizeof s->method, "%s", sf_moving_method_name(options->method));
}

int sf_synopsis_of_moving(sf_synopsis *synopsis, sf_moving_density *live, sf_moving_plan *plan,
                          sf_error *error)
{
    *synopsis = (sf_synopsis){0};
    int status = sf_moving_select(live, plan, error);
    if (status == SF_OK) status = sf_moving_transform(live, plan, error);
    if (status != SF_OK) return status;
    describe_moving(synopsis, live, plan);
    status = open_phi(synopsis, error);
    if (status != SF_OK) return status;
    take_phi(synopsis, &plan->spectrum);
    status = sf_synopsis_check(synopsis, error);
    if (status != SF_OK) sf_synopsis_close(synopsis);
    return status;
}

/* ---- from outside ---- */

static bool axis_is_good(const sf_synopsis *s, size_t c)
{
    const sf_synopsis_axis *axis = &s->axes[c];
    return isfinite(axis->least) && isfinite(axis->most) && axis->least <= axis->mean &&
           axis->mean <= axis->most && axis->variance > 0 && isfinite(axis->variance) &&
           isfinite(axis->period) && extent_of(s, c) <= axis->period * (1 + 1e-9) &&
           fabs(axis->least / axis->period) < 0x1p40;
}

int sf_synopsis_check(const sf_synopsis *s, sf_error *error)
{
    size_t size = sf_synopsis_size(s);
    if (size == 0 || (unsigned)s->domain > SF_DOMAIN_REFLECT || (s->d == 2 && s->domain != SF_DOMAIN_LINE) ||
        s->n < 2 || s->n > (uint64_t)1 << 53)
        return sf_fail(error, SF_DATA, NULL, "this is no state of a density");
    if (!(s->h > 0) || !isfinite(s->h) || !(s->h_least >= 0) || !isfinite(s->h_least))
        return sf_fail(error, SF_DATA, NULL, "found the bandwidth %g, expected a number above 0", s->h);
    for (size_t c = 0; c < s->d; c++)
        if (!axis_is_good(s, c))
            return sf_fail(error, SF_DATA, NULL,
                           "column %zu: samples from %g to %g do not fit in a period of %g", c + 1,
                           s->axes[c].least, s->axes[c].most, s->axes[c].period);
    if (s->d == 2 && !(s->covariance * s->covariance < s->axes[0].variance * s->axes[1].variance))
        return sf_fail(error, SF_DATA, NULL, "found a covariance of %g, which the variances forbid",
                       s->covariance);
    for (size_t k = 0; k < 2 * size; k++)
        if (!(fabsf(s->phi[k]) <= 1.001F))
            return sf_fail(error, SF_DATA, NULL, "found %g, which is no value of a characteristic function",
                           (double)s->phi[k]);
    return SF_OK;
}

/* ---- adding up ---- */

/* The axis of both together. */
static sf_synopsis_axis join_axes(const sf_synopsis_axis *a, uint64_t n, const sf_synopsis_axis *b,
                                  uint64_t m)
{
    double all = (double)n + (double)m, apart = b->mean - a->mean;
    return (sf_synopsis_axis){.least = fmin(a->least, b->least),
                              .most = fmax(a->most, b->most),
                              .mean = a->mean + apart * (double)m / all,
                              .variance = (a->variance * (double)(n - 1) + b->variance * (double)(m - 1) +
                                           apart * apart * (double)n * (double)m / all) /
                                          (all - 1),
                              .period = a->period,
                              .modes = a->modes < b->modes ? a->modes : b->modes};
}

/* All but phi. */
static sf_synopsis join(const sf_synopsis *a, const sf_synopsis *b)
{
    sf_synopsis both = *a;
    double n = (double)a->n, m = (double)b->n;
    both.phi = NULL;
    both.n += b->n;
    both.h_least = fmax(a->h_least, b->h_least);
    for (size_t c = 0; c < a->d; c++)
        both.axes[c] = join_axes(&a->axes[c], a->n, &b->axes[c], b->n);
    if (a->d == 2)
        both.covariance =
            (a->covariance * (n - 1) + b->covariance * (m - 1) +
             (b->axes[0].mean - a->axes[0].mean) * (b->axes[1].mean - a->axes[1].mean) * n * m / (n + m)) /
            (n + m - 1);
    double power = 1.0 / (double)(a->d + 4);
    both.h = (n * a->h * pow(n / (n + m), power) + m * b->h * pow(m / (n + m), power)) / (n + m);
    return both;
}

bool sf_synopsis_fits(const sf_synopsis *synopsis, const sf_synopsis *other)
{
    if (synopsis->d != other->d || synopsis->domain != other->domain) return false;
    sf_synopsis both = join(synopsis, other);
    both.h = fmax(synopsis->h, other->h);
    for (size_t c = 0; c < both.d; c++)
        if (synopsis->axes[c].period != other->axes[c].period || extent_of(&both, c) > both.axes[c].period)
            return false;
    return true;
}

/* Where phi of frequency k of the first column (and line l of the second) is. */
static const float *value_at(const sf_synopsis *s, int64_t k, uint64_t l)
{
    uint64_t column = s->d == 1 ? (uint64_t)k : (uint64_t)(k + (int64_t)s->axes[0].modes);
    return s->phi + 2 * (l * (2 * s->axes[0].modes + 1) * (s->d == 2) + column);
}

static void add_phi(sf_synopsis *both, const sf_synopsis *a, const sf_synopsis *b)
{
    int64_t last = (int64_t)both->axes[0].modes, first = both->d == 2 ? -last : 0;
    uint64_t lines = both->d == 2 ? both->axes[1].modes + 1 : 1;
    double share = (double)a->n / (double)both->n;
    float *to = both->phi;
    for (uint64_t l = 0; l < lines; l++)
        for (int64_t k = first; k <= last; k++, to += 2) {
            const float *u = value_at(a, k, l), *v = value_at(b, k, l);
            to[0] = (float)(share * (double)u[0] + (1 - share) * (double)v[0]);
            to[1] = (float)(share * (double)u[1] + (1 - share) * (double)v[1]);
        }
}

/* The spectrum that bandwidths are chosen from, of one column. Free its `power`. */
static int open_spectrum(sf_spectrum *spectrum, const sf_synopsis *s, sf_error *error)
{
    const sf_synopsis_axis *axis = &s->axes[0];
    size_t count = axis->modes + 1;
    *spectrum = (sf_spectrum){.frame = {sf_synopsis_anchor(axis), axis->period, axis->modes},
                              .n = (double)s->n,
                              .weight = (double)s->n,
                              .mean = axis->mean,
                              .deviation = sqrt(axis->variance),
                              .sigma = sqrt(axis->variance),
                              .power = sf_alloc(4 * count, sizeof(double))};
    if (spectrum->power == NULL) return sf_fail_memory(error);
    spectrum->squares = spectrum->power + count;
    spectrum->re = spectrum->squares + count;
    spectrum->im = spectrum->re + count;
    for (size_t k = 0; k < count; k++) {
        double t = 2 * PI * (double)k / axis->period, re = (double)s->phi[2 * k],
               im = (double)s->phi[2 * k + 1];
        spectrum->squares[k] = t * t;
        spectrum->re[k] = re;
        spectrum->im[k] = im;
        spectrum->power[k] = re * re + im * im;
    }
    if (s->domain == SF_DOMAIN_REFLECT) sf_spectrum_reflect(spectrum);
    return SF_OK;
}

static int choose_again(sf_synopsis *s, sf_error *error)
{
    sf_moving_method method;
    if (s->d != 1 || !sf_moving_method_find(&method, s->method)) return SF_OK;
    sf_spectrum spectrum;
    int status = open_spectrum(&spectrum, s, error);
    if (status == SF_OK) status = sf_moving_choose(&s->h, method, &spectrum, fmax(s->h_least, 1e-300), error);
    sf_free(spectrum.power);
    return status;
}

int sf_synopsis_add(sf_synopsis *synopsis, const sf_synopsis *other, sf_error *error)
{
    sf_synopsis both = join(synopsis, other);
    int status = open_phi(&both, error);
    if (status == SF_OK) {
        add_phi(&both, synopsis, other);
        status = choose_again(&both, error);
    }
    both.h = fmax(both.h, both.d == 1 ? both.h_least : 0);
    if (status == SF_OK) {
        sf_synopsis_close(synopsis);
        *synopsis = both;
    } else {
        sf_synopsis_close(&both);
    }
    return status;
}
