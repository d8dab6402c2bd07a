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
