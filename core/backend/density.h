/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Sums over all pairs of samples, the family of device jobs behind the direct bandwidths (density/device.c).
 * Statuses are those of sf_backend. The same job on the same device gives the same bits.
 */
#ifndef SF_CORE_BACKEND_DENSITY_H
#define SF_CORE_BACKEND_DENSITY_H

#include "core/backend/job.h"

#define SF_BACKEND_MOST_COLUMNS 16
#define SF_BACKEND_MOST_BANDWIDTHS 256

typedef struct sf_backend_samples sf_backend_samples;

typedef struct sf_backend_density {
    /** Copies n samples to the device: d columns of n, d = 1..SF_BACKEND_MOST_COLUMNS. */
    int (*open)(sf_backend_samples **samples, sf_backend_device *device, const double *columns, size_t n,
                size_t d, sf_error *error);
    void (*close)(sf_backend_samples *samples); /**< NULL is allowed */

    /** *sum = sum over i < j of (c[0] + c[1] u + c[2] u^2 + c[3] u^3) exp(-u/2), u = ((xi - xj)/g)^2; d = 1.
     */
    int (*functional)(sf_backend_samples *samples, const double c[4], double g, const sf_progress *progress,
                      double *sum, sf_error *error);

    /**
     * For each of count <= SF_BACKEND_MOST_BANDWIDTHS bandwidths the sums over i < j of e, e^2, e Y and e^2
     * Y, with Y = |zi - zj|^2 and e = exp(-Y/4h^2): four numbers a bandwidth.
     */
    int (*scores)(sf_backend_samples *samples, const double *h, size_t count, const sf_progress *progress,
                  double *sums, sf_error *error);
} sf_backend_density;

#endif
