/* SPDX-License-Identifier: Apache-2.0 */
#include "density/synopsis.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/options.h"
#include "density/estimate.h"
#include "density/kernels.h"
#include "density/live.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PI 3.14159265358979323846

/* A kernel is cut off where it holds 1e-9. A period has room for twice that beside the samples. */
#define REACH 6.0
/* Frequencies go up to so many over the bandwidth: isj wants 10, and half the bandwidth is left to samples
 * that are added. Two columns are dear and take what the error bar needs, exp(-7.5^2/4) of a mode being left.
 */
#define LINE_MODES 20.0
#define PLANE_MODES 7.5

/* Periods of a logarithm are no shorter: e^16 are the seven decades that intervals span. */
#define LEAST_LOG_PERIOD 16.0

/* ---- frames ---- */

size_t sf_synopsis_size(const sf_synopsis *synopsis)
{
    const sf_synopsis_axis *axes = synopsis->axes;
    for (size_t c = 0; c < synopsis->d && c < 2; c++)
        if (axes[c].modes == 0 || axes[c].modes > SF_SYNOPSIS_MOST_MODES)
            return 0;
    if (synopsis->d == 1)
        return axes[0].modes + 1;
    return synopsis->d == 2 ? (2 * axes[0].modes + 1) * (axes[1].modes + 1) : 0;
}

/* The width of kernels along a column. */
static double width_of(const sf_synopsis *s, size_t c)
{
    return s->d == 1 ? s->h : s->h * sqrt(s->axes[c].variance);
}

/* The extent that periods must hold; samples that are reflected lie on both sides of 0. */
static double extent_of(const sf_synopsis *s, size_t c)
{
    double least = s->domain == SF_DOMAIN_REFLECT ? -s->axes[c].most : s->axes[c].least;
    return s->axes[c].most - least + 2 * REACH * width_of(s, c);
}

/* The multiple of the period that phi is told about: the same for every set of samples, but for whole turns.
 */
static double anchor_of(const sf_synopsis_axis *axis)
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
        double most = (s->d == 1 ? LINE_MODES : PLANE_MODES) / (width_of(s, c) * left);
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

/* One column: by the spread grid and its transform, then turned to where phi is told about. */
static int transform_line(sf_synopsis *s, const double *at, sf_error *error)
{
    const sf_synopsis_axis *axis = &s->axes[0];
    sf_frame frame = {.origin = axis->least, .period = axis->period, .modes = 16};
    while (frame.modes < axis->modes)
        frame.modes *= 2;
    sf_characteristic state = {0};
    sf_spectrum spectrum = {0};
    int status = sf_characteristic_open(&state, &frame, error);
    if (status == SF_OK)
        status = sf_spectrum_open(&spectrum, &frame, error);
    if (status == SF_OK) {
        sf_characteristic_add(&state, at, s->n, 1);
        status = sf_spectrum_update(&spectrum, &state, error);
    }
    double turn = 2 * PI * (axis->least - anchor_of(axis)) / axis->period;
    for (size_t k = 0; status == SF_OK && k <= axis->modes; k++) {
        double c = cos(turn * (double)k), i = sin(turn * (double)k);
        s->phi[2 * k] = (float)(spectrum.re[k] * c - spectrum.im[k] * i);
        s->phi[2 * k + 1] = (float)(spectrum.re[k] * i + spectrum.im[k] * c);
    }
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
    if (sums == NULL)
        return sf_fail_memory(error);
    double *across = sums + 2 * size, *up = across + 2 * columns;
    for (uint64_t i = 0; i < s->n; i++) {
        turn_waves(across, x, rows[2 * i] - anchor_of(x), -(int64_t)x->modes, columns);
        turn_waves(up, y, rows[2 * i + 1] - anchor_of(y), 0, lines);
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
    if (status != SF_OK)
        return status;
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
    if (status != SF_OK)
        return status;
    choose_frame(s);
    status = open_phi(s, error);
    if (status == SF_OK)
        status = s->d == 1 ? transform_line(s, at, error) : transform_plane(s, at, error);
    if (status == SF_OK)
        status = sf_synopsis_check(s, error);
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
    if (status == SF_OK)
        status = fill(synopsis, samples->d == 1 ? sorted : samples->values, error);
    sf_free(sorted);
    if (status != SF_OK)
        sf_synopsis_close(synopsis);
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
    if (synopsis->d != other->d || synopsis->domain != other->domain)
        return false;
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
    *spectrum = (sf_spectrum){.frame = {anchor_of(axis), axis->period, axis->modes},
                              .n = (double)s->n,
                              .weight = (double)s->n,
                              .mean = axis->mean,
                              .sigma = sqrt(axis->variance),
                              .power = sf_alloc(4 * count, sizeof(double))};
    if (spectrum->power == NULL)
        return sf_fail_memory(error);
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
    if (s->domain == SF_DOMAIN_REFLECT)
        sf_spectrum_reflect(spectrum);
    return SF_OK;
}

static int choose_again(sf_synopsis *s, sf_error *error)
{
    sf_moving_method method;
    if (s->d != 1 || !sf_moving_method_find(&method, s->method))
        return SF_OK;
    sf_spectrum spectrum;
    int status = open_spectrum(&spectrum, s, error);
    if (status == SF_OK)
        status = sf_moving_choose(&s->h, method, &spectrum, fmax(s->h_least, 1e-300), error);
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

/* ---- answers ---- */

/* The integrals at h and at h / sqrt 2. */
typedef struct two_moments {
    sf_range_moments at, sharper;
} two_moments;

/* A range around its middle. */
typedef struct range {
    double middle, half;
} range;

/* False where no sample reaches into it. */
static bool cut_range(range *cut, const sf_synopsis *s, size_t c, double from, double to)
{
    double reach = REACH * width_of(s, c);
    from = fmax(from, s->axes[c].least - reach);
    to = fmin(to, s->axes[c].most + reach);
    *cut = (range){from + (to - from) / 2, (to - from) / 2};
    return from < to;
}

/* Integrals of v^p exp(i t v) over -half < v < half, real for p = 0 and 2, imaginary for 1; c and s are
 * cosine and sine of t half. By series where the closed forms would lose digits. */
static void power_integrals(double integrals[3], double t, double half, double c, double s)
{
    double u = t * half, square = u * u;
    if (fabs(u) < 0.2) {
        integrals[0] = 2 * half * (1 - square / 6 * (1 - square / 20 * (1 - square / 42)));
        integrals[1] = 2 * half * half * u * (1.0 / 3 - square / 30 * (1 - square / 28 * (1 - square / 54)));
        integrals[2] =
            2 * half * half * half * (1.0 / 3 - square / 10 * (1 - square * 5 / 84 * (1 - square * 7 / 270)));
        return;
    }
    integrals[0] = 2 * s / t;
    integrals[1] = 2 * (s / t - half * c) / t;
    integrals[2] = 2 * (half * half * s + 2 * (half * c - s / t) / t) / t;
}

/* With f(y) = 1/P sum_k conj(phi_k) exp(-h^2 t^2/2) exp(i t y) term by term; the powers are of y. */
typedef struct line_sums {
    double at[3], sharper[3];
} line_sums;

static void add_term(line_sums *sums, double damping, const double terms[3])
{
    for (size_t p = 0; p < 3; p++) {
        sums->sharper[p] += 2 * damping * terms[p];
        sums->at[p] += 2 * damping * damping * terms[p];
    }
}

/* exp(i step k), turned on from k to k + 1, and computed anew now and then. */
typedef struct wave {
    double step, re, im, turn_re, turn_im;
} wave;

static wave wave_start(double step)
{
    return (wave){step, 1, 0, cos(step), sin(step)};
}

static void wave_turn(wave *w, size_t k)
{
    double re = w->re * w->turn_re - w->im * w->turn_im;
    w->im = w->re * w->turn_im + w->im * w->turn_re;
    w->re = re;
    if (k % 64 == 0) {
        w->re = cos(w->step * (double)k);
        w->im = sin(w->step * (double)k);
    }
}

/* sinh(m half) and cosh(m half) for m = 0, 1, 2. */
typedef struct growth {
    double odd[3], even[3];
} growth;

static growth growth_over(double half)
{
    return (growth){{0, sinh(half), sinh(2 * half)}, {1, cosh(half), cosh(2 * half)}};
}

/* m = 0, 1, 2: the integrals of exp(m v) exp(i t v) over -half < v < half, times re + i im; c and s are
 * cosine and sine of t half. */
static void log_terms(double terms[3], double t, const growth *g, double c, double s, double re, double im)
{
    terms[0] = re * 2 * s / t;
    for (int m = 1; m < 3; m++) {
        double across = 2 * c * g->odd[m], up = 2 * s * g->even[m];
        terms[m] = (re * (across * m + up * t) - im * (up * m - across * t)) / (m * m + t * t);
    }
}

/* In SF_DOMAIN_LOG the powers are of x = exp(y), and the pivot is 0. */
static two_moments integrate_line(const sf_synopsis *s, double from, double to)
{
    const sf_synopsis_axis *axis = &s->axes[0];
    bool is_log = s->domain == SF_DOMAIN_LOG;
    range cut;
    if (!cut_range(&cut, s, 0, from, to))
        return (two_moments){{.pivot = is_log ? 0 : from}, {.pivot = is_log ? 0 : from}};
    double step = 2 * PI / axis->period, half = cut.half;
    line_sums sums;
    power_integrals(sums.at, 0, half, 1, 0);
    growth g = growth_over(is_log ? half : 0);
    for (int m = 1; is_log && m < 3; m++)
        sums.at[m] = 2 * g.odd[m] / m;
    memcpy(sums.sharper, sums.at, sizeof sums.at);
    wave middle = wave_start(step * (cut.middle - anchor_of(axis))), end = wave_start(step * half);
    for (size_t k = 1; k <= axis->modes; k++) {
        double t = step * (double)k, damping = exp(-0.25 * s->h * s->h * t * t), terms[3];
        if (damping < 1e-12)
            break;
        wave_turn(&middle, k);
        wave_turn(&end, k);
        double a = (double)s->phi[2 * k], b = (double)s->phi[2 * k + 1];
        double re = a * middle.re + b * middle.im, im = a * middle.im - b * middle.re;
        if (is_log) {
            log_terms(terms, t, &g, end.re, end.im, re, im);
        } else {
            power_integrals(terms, t, half, end.re, end.im);
            terms[0] *= re;
            terms[1] *= -im;
            terms[2] *= re;
        }
        add_term(&sums, damping, terms);
    }
    double unit = is_log ? exp(cut.middle) : 1, pivot = is_log ? 0 : cut.middle, p = axis->period;
    return (two_moments){
        {pivot, sums.at[0] / p, unit * sums.at[1] / p, unit * unit * sums.at[2] / p},
        {pivot, sums.sharper[0] / p, unit * sums.sharper[1] / p, unit * unit * sums.sharper[2] / p}};
}

/* The same about another pivot, `weight` of it added. */
static void add_moments(sf_range_moments *to, const sf_range_moments *from, double weight)
{
    double away = from->pivot - to->pivot;
    to->share += weight * from->share;
    to->first += weight * (from->first + away * from->share);
    to->second += weight * (from->second + 2 * away * from->first + away * away * from->share);
}

/* What lies under 0 is counted at its mirror image. */
static two_moments integrate_reflected(const sf_synopsis *s, double from, double to)
{
    from = fmax(from, 0);
    to = fmax(to, 0);
    two_moments found = integrate_line(s, from, to), below = integrate_line(s, -to, -from);
    sf_range_moments *parts[2] = {&below.at, &below.sharper};
    for (size_t i = 0; i < 2; i++) {
        parts[i]->pivot = -parts[i]->pivot;
        parts[i]->first = -parts[i]->first;
    }
    add_moments(&found.at, &below.at, 1);
    add_moments(&found.sharper, &below.sharper, 1);
    return found;
}

/* Over the first column's range, by each of its frequencies: the integral of exp(i t x). */
static void integrate_across(double *across, const sf_synopsis_axis *axis, const range *cut)
{
    double away = cut->middle - anchor_of(axis);
    for (size_t k = 0; k <= 2 * axis->modes; k++) {
        double t = 2 * PI * ((double)k - (double)axis->modes) / axis->period, integrals[3];
        power_integrals(integrals, t, cut->half, cos(t * cut->half), sin(t * cut->half));
        across[2 * k] = integrals[0] * cos(t * away);
        across[2 * k + 1] = integrals[0] * sin(t * away);
    }
}

/* One frequency t of the second column: the sum over those of the first, at both bandwidths. */
static void sum_line(double at[2], double sharper[2], const sf_synopsis *s, uint64_t l, const double *across)
{
    const sf_synopsis_axis *x = &s->axes[0];
    double t = 2 * PI * (double)l / s->axes[1].period, step = 2 * PI / x->period;
    const float *phi = s->phi + 2 * l * (2 * x->modes + 1);
    at[0] = at[1] = sharper[0] = sharper[1] = 0;
    for (size_t k = 0; k <= 2 * x->modes; k++) {
        double u = step * ((double)k - (double)x->modes);
        double damping = exp(-0.25 * s->h * s->h *
                             (u * u * x->variance + 2 * u * t * s->covariance + t * t * s->axes[1].variance));
        double a = (double)phi[2 * k], b = (double)phi[2 * k + 1], c = across[2 * k], d = across[2 * k + 1];
        double re = damping * (a * c + b * d), im = damping * (a * d - b * c);
        sharper[0] += re;
        sharper[1] += im;
        at[0] += damping * re;
        at[1] += damping * im;
    }
}

static int integrate_plane(two_moments *found, const sf_synopsis *s, const double *from, const double *to,
                           size_t ranges, sf_error *error)
{
    const sf_synopsis_axis *x = &s->axes[0], *y = &s->axes[1];
    range cut[2];
    bool inside = cut_range(&cut[0], s, 0, from[0], to[0]);
    inside =
        cut_range(&cut[1], s, 1, ranges > 1 ? from[1] : -INFINITY, ranges > 1 ? to[1] : INFINITY) && inside;
    *found = (two_moments){{.pivot = inside ? cut[1].middle : 0}, {.pivot = inside ? cut[1].middle : 0}};
    if (!inside)
        return SF_OK;
    double *across = sf_alloc(2 * x->modes + 1, 2 * sizeof *across);
    if (across == NULL)
        return sf_fail_memory(error);
    integrate_across(across, x, &cut[0]);
    line_sums sums = {{0}, {0}};
    for (uint64_t l = 0; l <= y->modes; l++) {
        double t = 2 * PI * (double)l / y->period, integrals[3], at[2], sharper[2];
        double c = cos(t * (cut[1].middle - anchor_of(y))), i = sin(t * (cut[1].middle - anchor_of(y)));
        power_integrals(integrals, t, cut[1].half, cos(t * cut[1].half), sin(t * cut[1].half));
        sum_line(at, sharper, s, l, across);
        double twice = l == 0 ? 1 : 2;
        for (size_t p = 0; p < 3; p++) {
            double factor = twice * integrals[p];
            sums.at[p] += factor * (p == 1 ? -(at[0] * i + at[1] * c) : at[0] * c - at[1] * i);
            sums.sharper[p] +=
                factor * (p == 1 ? -(sharper[0] * i + sharper[1] * c) : sharper[0] * c - sharper[1] * i);
        }
    }
    sf_free(across);
    double area = x->period * y->period;
    found->at = (sf_range_moments){cut[1].middle, sums.at[0] / area, sums.at[1] / area, sums.at[2] / area};
    found->sharper = (sf_range_moments){cut[1].middle, sums.sharper[0] / area, sums.sharper[1] / area,
                                        sums.sharper[2] / area};
    return SF_OK;
}

static int integrate(two_moments *found, const sf_synopsis *s, const double *from, const double *to,
                     size_t ranges, sf_error *error)
{
    if (s->d == 2)
        return integrate_plane(found, s, from, to, ranges, error);
    if (s->domain == SF_DOMAIN_REFLECT)
        *found = integrate_reflected(s, from[0], to[0]);
    else if (s->domain == SF_DOMAIN_LOG)
        *found =
            integrate_line(s, from[0] > 0 ? log(from[0]) : -INFINITY, to[0] > 0 ? log(to[0]) : -INFINITY);
    else
        *found = integrate_line(s, from[0], to[0]);
    return SF_OK;
}

static int check_question(const sf_synopsis *synopses, size_t count, sf_aggregate_kind kind,
                          const double *from, const double *to, size_t ranges, sf_error *error)
{
    if ((unsigned)kind > SF_AGGREGATE_VARIANCE)
        return sf_fail(error, SF_USAGE, "kind", "found %d, which is none", (int)kind);
    for (size_t i = 1; i < count; i++)
        if (synopses[i].d != synopses[0].d || synopses[i].domain != synopses[0].domain)
            return sf_fail(error, SF_USAGE, NULL,
                           "states of other columns, or on another axis, have no common answer");
    size_t d = synopses[0].d;
    if (ranges != d && !(d == 2 && ranges == 1))
        return sf_fail(error, SF_USAGE, "range", "found %zu range%s for %zu column%s", ranges,
                       ranges == 1 ? "" : "s", d, d == 1 ? "" : "s");
    for (size_t c = 0; c < ranges; c++)
        if (!(from[c] < to[c]))
            return sf_fail(error, SF_USAGE, "range", "found %g to %g, expected its start before its end",
                           from[c], to[c]);
    return SF_OK;
}

int sf_synopsis_aggregate(const sf_synopsis *synopses, size_t count, sf_aggregate_kind kind,
                          const double *from, const double *to, size_t ranges, sf_aggregate *answer,
                          sf_error *error)
{
    sf_aggregate own = {.estimate = NAN, .sampling_error = NAN, .smoothing_error = NAN, .exact = NAN};
    int status = check_question(synopses, count, kind, from, to, ranges, error);
    uint64_t n = 0;
    for (size_t i = 0; i < count; i++)
        n += synopses[i].n;
    two_moments all = {0};
    for (size_t i = 0; status == SF_OK && i < count; i++) {
        two_moments one;
        status = integrate(&one, &synopses[i], from, to, ranges, error);
        if (status != SF_OK)
            break;
        double weight = (double)synopses[i].n / (double)n;
        if (i == 0) {
            all.at.pivot = one.at.pivot;
            all.sharper.pivot = one.sharper.pivot;
        }
        add_moments(&all.at, &one.at, weight);
        add_moments(&all.sharper, &one.sharper, weight);
    }
    all.at.share = fmax(all.at.share, 0); /* what is cut off leaves 1e-9 below */
    if (status == SF_OK)
        sf_aggregate_tell(&own, kind, &all.at, &all.sharper, n);
    sf_columns_fill(answer, &own, sizeof own);
    return status;
}
