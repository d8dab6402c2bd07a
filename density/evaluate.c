/* SPDX-License-Identifier: Apache-2.0 */
#include "density/evaluate.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/thread.h"
#include "density/vector.h"

#include <math.h>

#define SQRT_2PI 2.50662827463100050242

enum { STRIP = 64, CHUNK = 1024 };

/* sums[k] += exp(-((points[k] - sample)/h)^2 / 2) over a chunk of samples; chunks keep the sums short. */
SF_VECTOR_BODY void add_kernels_body(double *restrict sums, const double *restrict points, size_t length,
                                     const double *restrict samples, size_t count, double inverse_h)
{
    for (size_t j = 0; j < count; j++)
        for (size_t k = 0; k < length; k++) {
            double z = (points[k] - samples[j]) * inverse_h;
            sums[k] += sf_exp(-0.5 * z * z);
        }
}

SF_VECTOR_LEVELS(add_kernels, add_kernels_body,
                 (double *restrict sums, const double *restrict points, size_t length,
                  const double *restrict samples, size_t count, double inverse_h),
                 (sums, points, length, samples, count, inverse_h))

typedef struct evaluation {
    double *values;
    const double *points, *samples;
    size_t count, n;
    double h;
} evaluation;

static int evaluate_strip(void *context, unsigned worker, size_t strip)
{
    (void)worker;
    const evaluation *e = context;
    size_t first = strip * STRIP;
    size_t length = e->count - first < STRIP ? e->count - first : STRIP;
    double totals[STRIP] = {0};
    for (size_t j = 0; j < e->n; j += CHUNK) {
        double sums[STRIP] = {0};
        add_kernels(sums, e->points + first, length, e->samples + j, e->n - j < CHUNK ? e->n - j : CHUNK,
                    1 / e->h);
        for (size_t k = 0; k < length; k++)
            totals[k] += sums[k];
    }
    for (size_t k = 0; k < length; k++)
        e->values[first + k] = totals[k] / ((double)e->n * e->h * SQRT_2PI);
    return SF_OK;
}

static void evaluate(evaluation e, unsigned threads)
{
    sf_parallel_for(threads, (e.count + STRIP - 1) / STRIP, evaluate_strip, &e);
}

/* f_log at log x, divided by x. */
static int evaluate_log(evaluation e, unsigned threads)
{
    double *logs = sf_resize(NULL, e.n + e.count, sizeof *logs);
    if (logs == NULL)
        return SF_NO_MEMORY;
    double *log_points = logs + e.n;
    for (size_t j = 0; j < e.n; j++)
        logs[j] = log(e.samples[j]);
    for (size_t k = 0; k < e.count; k++)
        log_points[k] = e.points[k] > 0 ? log(e.points[k]) : 0;
    const double *points = e.points;
    e.samples = logs;
    e.points = log_points;
    evaluate(e, threads);
    for (size_t k = 0; k < e.count; k++)
        e.values[k] = points[k] > 0 ? e.values[k] / points[k] : 0;
    sf_free(logs);
    return SF_OK;
}

/* f(x) + f(-x) at x >= 0. */
static int evaluate_reflected(evaluation e, unsigned threads)
{
    double *mirrored = sf_resize(NULL, 2 * e.count, sizeof *mirrored);
    if (mirrored == NULL)
        return SF_NO_MEMORY;
    double *values = mirrored + e.count;
    for (size_t k = 0; k < e.count; k++)
        mirrored[k] = -e.points[k];
    evaluate(e, threads);
    double *sum = e.values;
    const double *points = e.points;
    e.points = mirrored;
    e.values = values;
    evaluate(e, threads);
    for (size_t k = 0; k < e.count; k++)
        sum[k] = points[k] >= 0 ? sum[k] + values[k] : 0;
    sf_free(mirrored);
    return SF_OK;
}

int sf_domain_check(sf_domain domain, const double *samples, size_t n, sf_error *error)
{
    for (size_t j = 0; j < n; j++) {
        if (!isfinite(samples[j]))
            return sf_fail(error, SF_DATA, NULL, "sample %zu is %g, expected finite numbers", j + 1,
                           samples[j]);
        if (domain == SF_DOMAIN_LOG && samples[j] <= 0)
            return sf_fail(error, SF_DATA, NULL, "sample %zu is %g: the logarithm needs samples above 0",
                           j + 1, samples[j]);
        if (domain == SF_DOMAIN_REFLECT && samples[j] < 0)
            return sf_fail(error, SF_DATA, NULL, "sample %zu is %g: reflection needs samples of at least 0",
                           j + 1, samples[j]);
    }
    return SF_OK;
}

int sf_density_evaluate(double *values, const double *points, size_t count, const double *samples, size_t n,
                        double h, sf_domain domain, unsigned threads, sf_error *error)
{
    if (!(h > 0) || !isfinite(h))
        return sf_fail(error, SF_USAGE, NULL, "found the bandwidth %g, expected a number above 0", h);
    if (n == 0)
        return sf_fail(error, SF_DATA, NULL, "found no sample, expected at least 1");
    int status = sf_domain_check(domain, samples, n, error);
    if (status != SF_OK)
        return status;
    evaluation e = {.values = values, .points = points, .samples = samples, .count = count, .n = n, .h = h};
    if (domain == SF_DOMAIN_LOG)
        status = evaluate_log(e, threads);
    else if (domain == SF_DOMAIN_REFLECT)
        status = evaluate_reflected(e, threads);
    else
        evaluate(e, threads);
    return status == SF_NO_MEMORY ? sf_fail_memory(error) : status;
}

/* ---- two columns ---- */

/* sums[k] += w[j] exp(-|(u[k], v[k]) - (a[j], b[j])|^2 / 2), whitened points and samples */
SF_VECTOR_BODY void add_plane_body(double *restrict sums, const double *restrict u, const double *restrict v,
                                   size_t length, const double *restrict a, const double *restrict b,
                                   const double *restrict w, size_t count)
{
    for (size_t j = 0; j < count; j++)
        for (size_t k = 0; k < length; k++) {
            double across = u[k] - a[j], up = v[k] - b[j];
            sums[k] += w[j] * sf_exp(-0.5 * (across * across + up * up));
        }
}

SF_VECTOR_LEVELS(add_plane, add_plane_body,
                 (double *restrict sums, const double *restrict u, const double *restrict v, size_t length,
                  const double *restrict a, const double *restrict b, const double *restrict w, size_t count),
                 (sums, u, v, length, a, b, w, count))

/* (x, y) -> (across_x (x - mean_x), up_x (x - mean_x) + up_y (y - mean_y)): to covariance 1/h^2 */
typedef struct whitening {
    double mean_x, mean_y;
    double across_x, up_x, up_y;
} whitening;

typedef struct plane_evaluation {
    double *values;
    const double *x, *y;
    size_t columns, n;
    whitening to;
    const double *a, *b, *w; /* whitened samples, and their weights */
    double height;           /* of one sample's kernel, over their number */
} plane_evaluation;

static int find_whitening(whitening *to, const double *samples, const double *w, size_t n, double count,
                          double h, sf_error *error)
{
    double xx = 0, xy = 0, yy = 0, rest = 0;
    *to = (whitening){0};
    for (size_t i = 0; i < n; i++) {
        to->mean_x += w[i] * samples[2 * i] / count;
        to->mean_y += w[i] * samples[2 * i + 1] / count;
    }
    for (size_t i = 0; i < n; i++) {
        double x = samples[2 * i] - to->mean_x, y = samples[2 * i + 1] - to->mean_y;
        xx += w[i] * x * x / (count - 1);
        xy += w[i] * x * y / (count - 1);
        yy += w[i] * y * y / (count - 1);
    }
    for (size_t i = 0; i < n; i++) { /* what x does not explain of y */
        double left = samples[2 * i + 1] - to->mean_y - xy / xx * (samples[2 * i] - to->mean_x);
        rest += w[i] * left * left / (count - 1);
    }
    if (!(xx > 0) || !(rest > 1e-20 * yy))
        return sf_fail(error, SF_DATA, NULL,
                       "the covariance is singular: the columns are equal values, or one a multiple of the "
                       "other");
    to->across_x = 1 / (h * sqrt(xx));
    to->up_y = 1 / (h * sqrt(rest));
    to->up_x = -xy / xx * to->up_y;
    return SF_OK;
}

static void whiten(const whitening *to, double x, double y, double *a, double *b)
{
    *a = to->across_x * (x - to->mean_x);
    *b = to->up_x * (x - to->mean_x) + to->up_y * (y - to->mean_y);
}

static int evaluate_row(void *context, unsigned worker, size_t row)
{
    (void)worker;
    const plane_evaluation *e = context;
    for (size_t first = 0; first < e->columns; first += STRIP) {
        size_t length = e->columns - first < STRIP ? e->columns - first : STRIP;
        double u[STRIP], v[STRIP], sums[STRIP] = {0};
        for (size_t k = 0; k < length; k++)
            whiten(&e->to, e->x[first + k], e->y[row], &u[k], &v[k]);
        add_plane(sums, u, v, length, e->a, e->b, e->w, e->n);
        for (size_t k = 0; k < length; k++)
            e->values[row * e->columns + first + k] = e->height * sums[k];
    }
    return SF_OK;
}

/* Whitened samples and weights: three columns in one block, which the caller frees. */
static int prepare_plane(plane_evaluation *e, double **columns, const double *samples, const double *weights,
                         double h, sf_error *error)
{
    size_t n = e->n;
    double *a = *columns = sf_resize(NULL, n, 3 * sizeof *a), count = 0;
    if (a == NULL)
        return sf_fail_memory(error);
    double *b = a + n, *w = b + n;
    for (size_t i = 0; i < n; i++) {
        w[i] = weights != NULL ? weights[i] : 1;
        count += w[i];
    }
    if (count < 2)
        return sf_fail(error, SF_DATA, NULL, "found %.17g samples, expected at least 2", count);
    int status = find_whitening(&e->to, samples, w, n, count, h, error);
    for (size_t i = 0; status == SF_OK && i < n; i++)
        whiten(&e->to, samples[2 * i], samples[2 * i + 1], &a[i], &b[i]);
    e->a = a;
    e->b = b;
    e->w = w;
    e->height = e->to.across_x * e->to.up_y / (count * SQRT_2PI * SQRT_2PI);
    return status;
}

int sf_density_evaluate_plane(double *values, const double *x, size_t columns, const double *y, size_t rows,
                              const double *samples, const double *weights, size_t n, double h,
                              unsigned threads, sf_error *error)
{
    if (!(h > 0) || !isfinite(h))
        return sf_fail(error, SF_USAGE, NULL, "found the bandwidth %g, expected a number above 0", h);
    int status = sf_domain_check(SF_DOMAIN_LINE, samples, 2 * n, error);
    if (status != SF_OK)
        return status;
    plane_evaluation e = {.values = values, .x = x, .y = y, .columns = columns, .n = n};
    double *whitened = NULL;
    status = prepare_plane(&e, &whitened, samples, weights, h, error);
    if (status == SF_OK)
        status = sf_parallel_for(threads, rows, evaluate_row, &e);
    sf_free(whitened);
    return status;
}
