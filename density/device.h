/* SPDX-License-Identifier: Apache-2.0 */
/** Samples on an accelerator, and the sums over their pairs there (core/backend/density.h). */
#ifndef SF_DENSITY_DEVICE_H
#define SF_DENSITY_DEVICE_H

#include "core/backend/density.h"
#include "core/backend/find.h"

/** Zero-initialised it holds no device. One thread at a time. */
typedef struct sf_pair_device {
    sf_device *device; /**< NULL: the CPU is to do the work */
    sf_backend_samples *samples;
    char note[256]; /**< why the CPU does what a device was to do; or empty */
} sf_pair_device;

/**
 * Copies d columns of n samples to the device of this name (core/backend/find.h); NULL and "cpu" mean
 * none, "auto" one where that saves time of the cpu_seconds the work would take. A name that is none is
 * SF_USAGE, a device that is not there SF_UNAVAILABLE. One that refuses the samples or fails is left with a
 * note, and SF_OK.
 */
int sf_pair_device_open(sf_pair_device *on, const char *name, double cpu_seconds, const double *columns,
                        size_t n, size_t d, sf_error *error);
void sf_pair_device_close(sf_pair_device *on);

/**
 * The operations of sf_backend_density, for any number of bandwidths. SF_UNAVAILABLE without a device and
 * where it refuses or fails: then it is left with a note, and the CPU is to do this and what follows.
 * SF_CANCELLED, SF_NO_MEMORY.
 */
int sf_pair_device_functional(sf_pair_device *on, const double c[4], double g, const sf_progress *progress,
                              double *sum);
int sf_pair_device_scores(sf_pair_device *on, const double *h, size_t count, const sf_progress *progress,
                          double *sums);

#endif
