/* SPDX-License-Identifier: Apache-2.0 */
/* Integrals of a density over ranges and boxes, from its characteristic function. */
#include "density/synopsis.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/options.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846

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
    double reach = SF_SYNOPSIS_REACH * sf_synopsis_width(s, c);
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
    if (!cut_range(&cut, s, 0, from, to)) {
        double end = is_log ? 0 : isfinite(from) ? from : isfinite(to) ? to : 0;
        return (two_moments){{.pivot = end}, {.pivot = end}};
    }
    double step = 2 * PI / axis->period, half = cut.half;
    line_sums sums;
    power_integrals(sums.at, 0, half, 1, 0);
    growth g = growth_over(is_log ? half : 0);
    for (int m = 1; is_log && m < 3; m++)
        sums.at[m] = 2 * g.odd[m] / m;
    memcpy(sums.sharper, sums.at, sizeof sums.at);
    wave middle = wave_start(step * (cut.middle - sf_synopsis_anchor(axis))), end = wave_start(step * half);
    for (size_t k = 1; k <= axis->modes; k++) {
        double t = step * (double)k, damping = exp(-0.25 * s->h * s->h * t * t), terms[3];
        if (damping < 1e-12) break;
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
    return (two_moments){{.pivot = pivot,
                          .share = sums.at[0] / p,
                          .first = unit * sums.at[1] / p,
                          .second = unit * unit * sums.at[2] / p},
                         {.pivot = pivot,
                          .share = sums.sharper[0] / p,
                          .first = unit * sums.sharper[1] / p,
                          .second = unit * unit * sums.sharper[2] / p}};
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
    double away = cut->middle - sf_synopsis_anchor(axis);
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
    if (!inside) return SF_OK;
    double *across = sf_alloc(2 * x->modes + 1, 2 * sizeof *across);
    if (across == NULL) return sf_fail_memory(error);
    integrate_across(across, x, &cut[0]);
    line_sums sums = {{0}, {0}};
    for (uint64_t l = 0; l <= y->modes; l++) {
        double t = 2 * PI * (double)l / y->period, integrals[3], at[2], sharper[2];
        double c = cos(t * (cut[1].middle - sf_synopsis_anchor(y))),
               i = sin(t * (cut[1].middle - sf_synopsis_anchor(y)));
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
    found->at = (sf_range_moments){.pivot = cut[1].middle,
                                   .share = sums.at[0] / area,
                                   .first = sums.at[1] / area,
                                   .second = sums.at[2] / area};
    found->sharper = (sf_range_moments){.pivot = cut[1].middle,
                                        .share = sums.sharper[0] / area,
                                        .first = sums.sharper[1] / area,
                                        .second = sums.sharper[2] / area};
    return SF_OK;
}

static int integrate(two_moments *found, const sf_synopsis *s, const double *from, const double *to,
                     size_t ranges, sf_error *error)
{
    if (s->d == 2) return integrate_plane(found, s, from, to, ranges, error);
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
        if (status != SF_OK) break;
        double weight = (double)synopses[i].n / (double)n;
        if (i == 0) {
            all.at.pivot = one.at.pivot;
            all.sharper.pivot = one.sharper.pivot;
        }
        add_moments(&all.at, &one.at, weight);
        add_moments(&all.sharper, &one.sharper, weight);
    }
    all.at.share = fmax(all.at.share, 0); /* what is cut off leaves 1e-9 below */
    if (status == SF_OK) sf_aggregate_tell(&own, kind, &all.at, &all.sharper, n);
    sf_columns_fill(answer, &own, sizeof own);
    return status;
}
