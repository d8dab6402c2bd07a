/* SPDX-License-Identifier: Apache-2.0 */
/** The way of sums over pairs (density/pairs.h) on a device: core/backend/density.h. */
#ifndef SF_DENSITY_DEVICE_H
#define SF_DENSITY_DEVICE_H

#include "core/backend/ways.h"

struct sf_pairs;

/**
 * A job: `functional` of sf_backend_density for d = 1, or its `scores` where h is set. Its ways in pairs.c
 * differ in what they make of them: on the CPU a score takes two sums, and four on a device.
 */
typedef struct sf_pair_sums {
    struct sf_pairs *pairs;
    const double *c; /**< of a functional, as the three that follow */
    double g, done_before, total;
    double *sum;
    const double *h; /**< bandwidths of scores */
    size_t count;    /**< of them */
    double q, *sums; /**< 2^(d/2); by bandwidth the sums of e - 2 q e^2 and (e - 4 q e^2) Y */
} sf_pair_sums;

/** A device gets the samples with its first job. */
extern const sf_way sf_pairs_on_device;

/** Takes the samples off the devices of the crew. */
void sf_pairs_leave(sf_crew *crew);

#endif
