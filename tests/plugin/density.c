/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over pairs, one pair after the other. */
#include "core/backend/density.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/progress.h"
#include "plugin/plugin.h"

#include <math.h>
#include <string.h>

struct sf_backend_samples {
    sf_backend_device *device;
    double *columns;
    size_t n, d;
};

static void close_samples(sf_backend_samples *samples)
{
    if (samples != NULL) sf_free(samples->columns);
    sf_free(samples);
}

static int open_samples(sf_backend_samples **opened, sf_backend_device *device, const double *columns,
                        size_t n, size_t d, sf_error *error)
{
    sf_backend_samples *samples = sf_alloc(1, sizeof *samples);
    if (samples == NULL) return sf_fail_memory(error);
    *samples = (sf_backend_samples){device, sf_resize(NULL, n, d * sizeof *columns), n, d};
    if (samples->columns == NULL) {
        close_samples(samples);
        return sf_fail_memory(error);
    }
    memcpy(samples->columns, columns, n * d * sizeof *columns);
    *opened = samples;
    return SF_OK;
}

static double distance(const sf_backend_samples *samples, size_t i, size_t j)
{
    double sum = 0;
    for (size_t c = 0; c < samples->d; c++) {
        double step = samples->columns[c * samples->n + i] - samples->columns[c * samples->n + j];
        sum += step * step;
    }
    return sum;
}

/* Half way through: lost, or stopped. */
static int go_on(const sf_backend_samples *samples, const sf_progress *progress, sf_error *error)
{
    if (test_is_lost(samples->device))
        return sf_fail(error, SF_IO, NULL, "the device has fallen off the bus");
    if (!sf_progress_update(progress, "pair sums", 1, 2))
        return sf_fail(error, SF_CANCELLED, NULL, "stopped before the pair sums were complete");
    return SF_OK;
}

static int functional(sf_backend_samples *samples, const double c[4], double g, const sf_progress *progress,
                      double *sum, sf_error *error)
{
    int status = test_begin_job(samples->device, error);
    *sum = 0;
    for (size_t i = 0; status == SF_OK && i < samples->n; i++) {
        for (size_t j = 0; j < i; j++) {
            double u = distance(samples, i, j) / (g * g);
            *sum += (c[0] + u * (c[1] + u * (c[2] + u * c[3]))) * exp(-u / 2);
        }
        if (i == samples->n / 2) status = go_on(samples, progress, error);
    }
    return status;
}

static int scores(sf_backend_samples *samples, const double *h, size_t count, const sf_progress *progress,
                  double *sums, sf_error *error)
{
    int status = test_begin_job(samples->device, error);
    memset(sums, 0, 4 * count * sizeof *sums);
    for (size_t i = 0; status == SF_OK && i < samples->n; i++) {
        for (size_t j = 0; j < i; j++) {
            double y = distance(samples, i, j);
            for (size_t m = 0; m < count; m++) {
                double e = exp(-y / (4 * h[m] * h[m]));
                sums[4 * m] += e;
                sums[4 * m + 1] += e * e;
                sums[4 * m + 2] += e * y;
                sums[4 * m + 3] += e * e * y;
            }
        }
        if (i == samples->n / 2) status = go_on(samples, progress, error);
    }
    return status;
}

const sf_backend_density test_density = {
    .open = open_samples, .close = close_samples, .functional = functional, .scores = scores};
