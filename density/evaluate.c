/* SPDX-License-Identifier: Apache-2.0 */
#include "density/evaluate.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/progress.h"
#include "core/ranks.h"
#include "core/thread.h"
#include "density/exponential.h"
#include "density/samples.h"

#include <math.h>
#include <stdlib.h>

#define SQRT_2PI 2.50662827463100050242

enum { STRIP = 64, ROWS = 16 };

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

int sf_covariance_find(sf_covariance *covariance, const double *samples, const double *weights, size_t n,
                       sf_error *error)
{
    sf_covariance found = {0};
    double count = 0;
    for (size_t i = 0; i < n; i++)
        count += weights != NULL ? weights[i] : 1;
    if (count < 2) return sf_fail(error, SF_DATA, NULL, "found %.17g samples, expected at least 2", count);
    for (size_t i = 0; i < n; i++) {
        double w = weights != NULL ? weights[i] : 1;
        found.mean_x += w * samples[2 * i] / count;
        found.mean_y += w * samples[2 * i + 1] / count;
    }
    for (size_t i = 0; i < n; i++) {
        double x = samples[2 * i] - found.mean_x, y = samples[2 * i + 1] - found.mean_y;
        double w = (weights != NULL ? weights[i] : 1) / (count - 1);
        found.xx += w * x * x;
        found.xy += w * x * y;
        found.yy += w * y * y;
    }
    for (size_t i = 0; i < n; i++) {
        double left =
            samples[2 * i + 1] - found.mean_y - found.xy / found.xx * (samples[2 * i] - found.mean_x);
        found.rest += (weights != NULL ? weights[i] : 1) / (count - 1) * left * left;
    }
    *covariance = found;
    if (!(found.xx > 0) || !(found.rest > 1e-20 * found.yy))
        return sf_fail(error, SF_DATA, NULL,
                       "the covariance is singular: the columns are equal values, or one a multiple of the "
                       "other");
    return SF_OK;
}

double sf_plane_step(const sf_covariance *covariance, double h, size_t c)
{
    const double widths = 1.25;
    double of_y = covariance->rest;
    return widths * h * sqrt(c == 1 ? of_y : of_y * (covariance->xx / covariance->yy));
}

static whitening whitening_of(const sf_covariance *covariance, double h)
{
    whitening to = {.mean_x = covariance->mean_x,
                    .mean_y = covariance->mean_y,
                    .across_x = 1 / (h * sqrt(covariance->xx)),
                    .up_y = 1 / (h * sqrt(covariance->rest))};
    to.up_x = -covariance->xy / covariance->xx * to.up_y;
    return to;
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

typedef struct weighted_point {
    double a, b, w;
} weighted_point;

static int compare_points(const void *left, const void *right)
{
    const weighted_point *p = left, *q = right;
    return p->a != q->a ? (p->a > q->a) - (p->a < q->a) : (p->b > q->b) - (p->b < q->b);
}

/* Samples of one place become one of their weight: spikes are many, electrodes few. Returns how many are
 * left.
 */
static size_t merge_equal(weighted_point *points, size_t n)
{
    size_t kept = 0;
    qsort(points, n, sizeof *points, compare_points);
    for (size_t i = 0; i < n; i++) {
        if (kept > 0 && compare_points(&points[kept - 1], &points[i]) == 0)
            points[kept - 1].w += points[i].w;
        else
            points[kept++] = points[i];
    }
    return kept;
}

#define LEAST_POINTS ((size_t)1 << 12)

/* Appends a point where there is room for it; else merges those there are, and makes room where that frees
 * less than half. */
static int add_point(weighted_point **points, size_t *count, size_t *room, weighted_point point)
{
    if (*count == *room) {
        *count = *count > 0 ? merge_equal(*points, *count) : 0;
        if (*count >= *room / 2 && sf_reserve(points, room, *room + LEAST_POINTS, sizeof **points) != 0)
            return SF_NO_MEMORY;
    }
    (*points)[(*count)++] = point;
    return SF_OK;
}

/* Whitened samples and weights: three columns in one block, which the caller frees. */
static int prepare_plane(plane_evaluation *e, double **columns, const double *samples, const double *weights,
                         double h, sf_error *error)
{
    size_t n = 0, room = 0;
    double count = 0;
    sf_covariance covariance;
    weighted_point *points = NULL;
    int status = sf_covariance_find(&covariance, samples, weights, e->n, error);
    if (status != SF_OK) return status;
    e->to = whitening_of(&covariance, h);
    for (size_t i = 0; status == SF_OK && i < e->n; i++) {
        weighted_point point = {.w = weights != NULL ? weights[i] : 1};
        count += point.w;
        whiten(&e->to, samples[2 * i], samples[2 * i + 1], &point.a, &point.b);
        status = add_point(&points, &n, &room, point);
    }
    n = n > 0 ? merge_equal(points, n) : 0;
    double *a = *columns = sf_resize(NULL, n, 3 * sizeof *a);
    if (status != SF_OK || a == NULL) {
        sf_free(points);
        return sf_fail_memory(error);
    }
    for (size_t i = 0; i < n; i++) {
        a[i] = points[i].a;
        a[n + i] = points[i].b;
        a[2 * n + i] = points[i].w;
    }
    sf_free(points);
    e->n = n;
    e->a = a;
    e->b = a + n;
    e->w = a + 2 * n;
    e->height = e->to.across_x * e->to.up_y / (count * SQRT_2PI * SQRT_2PI);
    return SF_OK;
}

int sf_density_evaluate_plane(double *values, const double *x, size_t columns, const double *y, size_t rows,
                              const double *samples, const double *weights, size_t n, double h,
                              unsigned threads, const sf_progress *progress, sf_error *error)
{
    if (!(h > 0) || !isfinite(h))
        return sf_fail(error, SF_USAGE, NULL, "found the bandwidth %g, expected a number above 0", h);
    int status = sf_domain_check(SF_DOMAIN_LINE, samples, 2 * n, error);
    if (status != SF_OK) return status;
    plane_evaluation e = {.values = values, .x = x, .y = y, .columns = columns, .n = n};
    double *whitened = NULL;
    status = prepare_plane(&e, &whitened, samples, weights, h, error);
    for (size_t row = 0; status == SF_OK && row < rows; row += ROWS) {
        size_t block = rows - row < ROWS ? rows - row : ROWS;
        e.values = values + row * columns;
        e.y = y + row;
        status =
            sf_progress_update(progress, "density", (double)row, (double)rows)
                ? sf_ranks_for(threads, block, evaluate_row, &e, e.values, columns * sizeof *values, error)
                : sf_fail(error, SF_CANCELLED, NULL, "stopped before the density was complete");
    }
    sf_free(whitened);
    return status;
}
