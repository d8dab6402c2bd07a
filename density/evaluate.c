/* SPDX-License-Identifier: Apache-2.0 */
#include "density/evaluate.h"

#include "core/error.h"
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

int sf_density_evaluate(double *values, const double *points, size_t count, const double *samples, size_t n,
                        double h, unsigned threads, sf_error *error)
{
    if (!(h > 0) || !isfinite(h))
        return sf_fail(error, SF_USAGE, NULL, "found the bandwidth %g, expected a number above 0", h);
    if (n == 0)
        return sf_fail(error, SF_DATA, NULL, "found no sample, expected at least 1");
    for (size_t j = 0; j < n; j++)
        if (!isfinite(samples[j]))
            return sf_fail(error, SF_DATA, NULL, "sample %zu is %g, expected finite numbers", j + 1,
                           samples[j]);
    evaluation e = {.values = values, .points = points, .samples = samples, .count = count, .n = n, .h = h};
    return sf_parallel_for(threads, (count + STRIP - 1) / STRIP, evaluate_strip, &e);
}
