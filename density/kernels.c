/* SPDX-License-Identifier: Apache-2.0 */
#include "density/kernels.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/normal.h"
#include "core/progress.h"
#include "core/reals.h"
#include "core/thread.h"
#include "density/exponential.h"

#include <math.h>

#define SQRT_2PI 2.50662827463100050242

/* A kernel is 0 beyond REACH widths: under 1e-17 of its height. Points are dense up to DENSE widths from its
 * middle, and the last one beside a gap lies BESIDE widths away, where nothing is left. */
#define REACH 9.0
#define DENSE 4.0
#define BESIDE 7.0

enum { STRIP = 64, CHUNK = 1024, BLOCK = 256 * STRIP };

/* steps of one contiguous block, so that no sum over it overflows */
#define MOST_STEPS ((size_t)1 << 40)

double sf_axis_of(sf_domain domain, double x)
{
    return domain == SF_DOMAIN_LOG ? log(x) : x;
}

double sf_axis_value(sf_domain domain, double at)
{
    return domain == SF_DOMAIN_LOG ? exp(at) : at;
}

/* ---- opening ---- */

/* What is spread over the first tick was one tick, too. */
static double width_at(double x, double h, double tick, sf_domain domain)
{
    return fmax(h, domain == SF_DOMAIN_LOG ? fmin(tick / x, 1) : tick);
}

/* Samples that lie at x ascend; those reflected below 0 come first, from the furthest on. */
static void lay_kernels(sf_kernels *kernels, const double *x, double tick)
{
    size_t mirrored = 0;
    if (kernels->domain == SF_DOMAIN_REFLECT)
        while (mirrored < kernels->n && x[mirrored] < REACH * fmax(kernels->h, tick))
            mirrored++;
    kernels->count = kernels->n + mirrored;
    for (size_t i = 0; i < kernels->count; i++) {
        double sample = i < mirrored ? -x[mirrored - 1 - i] : x[i - mirrored];
        kernels->at[i] = sf_axis_of(kernels->domain, sample);
        kernels->width[i] = width_at(sample, kernels->h, tick, kernels->domain);
    }
    double most = -INFINITY, least = INFINITY;
    for (size_t i = 0; i < kernels->count; i++)
        kernels->to[i] = most = fmax(most, kernels->at[i] + REACH * kernels->width[i]);
    for (size_t i = kernels->count; i-- > 0;)
        kernels->from[i] = least = fmin(least, kernels->at[i] - REACH * kernels->width[i]);
}

int sf_kernels_open(sf_kernels *kernels, const sf_samples *samples, double h, sf_domain domain,
                    sf_error *error)
{
    *kernels = (sf_kernels){.domain = domain, .h = h, .n = samples->n};
    if (!(h > 0) || !isfinite(h))
        return sf_fail(error, SF_USAGE, NULL, "found the bandwidth %g, expected a number above 0", h);
    if (samples->n == 0) return sf_fail(error, SF_DATA, NULL, "found no sample, expected at least 1");
    int status = sf_domain_check(domain, samples->values, samples->n, error);
    if (status != SF_OK) return status;
    double *x = NULL;
    status = sf_samples_sorted(&x, samples, domain == SF_DOMAIN_LOG, error);
    if (status != SF_OK) return status;
    size_t room = (domain == SF_DOMAIN_REFLECT ? 2 : 1) * samples->n;
    kernels->at = sf_resize(NULL, room, 4 * sizeof *kernels->at);
    if (kernels->at != NULL) {
        kernels->width = kernels->at + room;
        kernels->from = kernels->width + room;
        kernels->to = kernels->from + room;
        lay_kernels(kernels, x, samples->tick);
    }
    sf_free(x);
    return kernels->at != NULL ? SF_OK : sf_fail_memory(error);
}

void sf_kernels_close(sf_kernels *kernels)
{
    sf_free(kernels->at);
    *kernels = (sf_kernels){0};
}

/* ---- evaluating ---- */

/* sums[k] += exp(-((points[k] - at)/width)^2 / 2) / width over a chunk of kernels: sums stay short. */
SF_VECTOR_BODY void add_kernels_body(double *restrict sums, const double *restrict points, size_t length,
                                     const double *restrict at, const double *restrict width, size_t count)
{
    for (size_t j = 0; j < count; j++) {
        double inverse = 1 / width[j];
        for (size_t k = 0; k < length; k++) {
            double z = (points[k] - at[j]) * inverse;
            sums[k] += inverse * sf_exp(-0.5 * z * z);
        }
    }
}

SF_VECTOR_LEVELS(add_kernels, add_kernels_body,
                 (double *restrict sums, const double *restrict points, size_t length,
                  const double *restrict at, const double *restrict width, size_t count),
                 (sums, points, length, at, width, count))

typedef struct evaluation {
    const sf_kernels *kernels;
    const double *points;
    double *values;
    size_t count;
} evaluation;

static int evaluate_strip(void *context, unsigned worker, size_t strip)
{
    (void)worker;
    const evaluation *e = context;
    const sf_kernels *kernels = e->kernels;
    const double *points = e->points + strip * STRIP;
    double *values = e->values + strip * STRIP, totals[STRIP] = {0};
    size_t length = e->count - strip * STRIP < STRIP ? e->count - strip * STRIP : STRIP;
    double least = INFINITY, most = -INFINITY;
    for (size_t k = 0; k < length; k++) {
        least = fmin(least, points[k]);
        most = fmax(most, points[k]);
    }
    size_t first = sf_reals_lower_bound(kernels->to, kernels->count, least);
    size_t end = sf_reals_lower_bound(kernels->from, kernels->count, most);
    for (size_t j = first; j < end; j += CHUNK) {
        double sums[STRIP] = {0};
        add_kernels(sums, points, length, kernels->at + j, kernels->width + j,
                    end - j < CHUNK ? end - j : CHUNK);
        for (size_t k = 0; k < length; k++)
            totals[k] += sums[k];
    }
    for (size_t k = 0; k < length; k++)
        values[k] = kernels->domain == SF_DOMAIN_REFLECT && points[k] < 0
                        ? 0
                        : totals[k] / ((double)kernels->n * SQRT_2PI);
    return SF_OK;
}

int sf_kernels_density(const sf_kernels *kernels, double *values, const double *points, size_t count,
                       unsigned threads, const sf_progress *progress, sf_error *error)
{
    for (size_t from = 0; from < count; from += BLOCK) {
        evaluation e = {kernels, points + from, values + from, count - from < BLOCK ? count - from : BLOCK};
        if (!sf_progress_update(progress, "density", (double)from, (double)count))
            return sf_fail(error, SF_CANCELLED, NULL, "stopped before the density was complete");
        sf_parallel_for(threads, (e.count + STRIP - 1) / STRIP, evaluate_strip, &e);
    }
    return SF_OK;
}

double sf_kernels_share(const sf_kernels *kernels, double from, double to)
{
    if (kernels->domain == SF_DOMAIN_REFLECT) from = fmax(from, 0);
    if (!(from < to)) return 0;
    double share = 0;
    for (size_t i = 0; i < kernels->count; i++)
        share += sf_normal_between((from - kernels->at[i]) / kernels->width[i],
                                   (to - kernels->at[i]) / kernels->width[i]);
    return share / (double)kernels->n;
}

/* ---- points ---- */

double sf_kernels_step(double narrowest)
{
    return narrowest / 2;
}

typedef struct laying {
    double step;
    double *points; /* NULL: they are only counted */
    size_t count;
} laying;

static void lay_point(laying *to, double at)
{
    if (to->points != NULL) to->points[to->count] = at;
    to->count++;
}

/* What lies between two gaps, evenly, and a point in either gap from which on there is nothing. */
typedef struct stretch {
    double before, from, to, after;
} stretch;

static void lay_stretch(laying *to, const stretch *s)
{
    size_t steps = (size_t)fmin(ceil((s->to - s->from) / to->step), (double)MOST_STEPS);
    if (s->before < s->from) lay_point(to, s->before);
    for (size_t k = 0; to->points != NULL && k < steps; k++)
        to->points[to->count + k] = s->from + (s->to - s->from) * ((double)k / (double)steps);
    to->count += steps;
    lay_point(to, s->to);
    if (s->after > s->to) lay_point(to, s->after);
}

static void lay_points(laying *to, const sf_kernels *kernels, double widest)
{
    const double *at = kernels->at + (kernels->count - kernels->n); /* none that is reflected */
    const double *widths = kernels->width + (kernels->count - kernels->n);
    double floor = kernels->domain == SF_DOMAIN_REFLECT ? 0 : -INFINITY;
    stretch s = {.before = INFINITY};
    to->count = 0;
    for (size_t i = 0; i < kernels->n; i++) {
        double width = fmax(widths[i], widest), before = fmax(at[i] - BESIDE * width, floor);
        if (i > 0 && before > s.after) lay_stretch(to, &s);
        if (i == 0 || before > s.after)
            s = (stretch){i > 0 ? before : INFINITY, fmax(at[i] - DENSE * width, floor), -INFINITY,
                          -INFINITY};
        s.to = fmax(s.to, at[i] + DENSE * width);
        s.after = fmax(s.after, at[i] + BESIDE * width);
    }
    s.after = s.to; /* the last one */
    lay_stretch(to, &s);
}

int sf_kernels_points(const sf_kernels *kernels, double narrowest, double widest, size_t most,
                      double **points, size_t *count, sf_error *error)
{
    laying to = {.step = narrowest / 5};
    *points = NULL;
    lay_points(&to, kernels, widest);
    if (to.count > most) {
        to.step = sf_kernels_step(narrowest);
        lay_points(&to, kernels, widest);
    }
    if (to.count > most)
        return sf_fail(error, SF_USAGE, NULL,
                       "a bandwidth of %.4g over samples from %.6g to %.6g needs %zu points, more than %zu",
                       narrowest, sf_axis_value(kernels->domain, kernels->at[kernels->count - kernels->n]),
                       sf_axis_value(kernels->domain, kernels->at[kernels->count - 1]), to.count, most);
    to.points = *points = sf_resize(NULL, to.count, sizeof *to.points);
    if (to.points == NULL) return sf_fail_memory(error);
    lay_points(&to, kernels, widest);
    *count = to.count;
    return SF_OK;
}
