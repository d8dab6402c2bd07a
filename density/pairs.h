/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Least-squares cross-validation of d columns by direct sums over all pairs of samples, exact, O(n^2 (d +
 * number of bandwidths)). The kernel's covariance is h^2 times that of the samples, so h is relative; d
 * = 1..16.
 */
#ifndef SF_DENSITY_PAIRS_H
#define SF_DENSITY_PAIRS_H

#include "core/backend/ways.h"
#include "core/progress.h"
#include "density/samples.h"

#define SF_PAIRS_MOST_COLUMNS 16

/** Samples whitened by their covariance: |zi - zj|^2 = (xi - xj)' Sigma^-1 (xi - xj). */
typedef struct sf_pairs {
    size_t n, d;
    double *columns;     /**< d columns of n */
    double log_root_det; /**< log of det(Sigma)^(1/2) */
    double sigma;        /**< d = 1: of the samples */
    unsigned threads;
    const sf_progress *progress;
    sf_choice on; /**< where sums are done */
} sf_pairs;

/**
 * Whitens. n < 2, values that are not finite, a column of equal values and a singular covariance (the message
 * names the column) are SF_DATA, d outside 1..16 too; SF_NO_MEMORY.
 */
int sf_pairs_open(sf_pairs *pairs, const sf_samples *samples, unsigned threads, const sf_progress *progress,
                  sf_error *error);
void sf_pairs_close(sf_pairs *pairs);

/**
 * A job: `functional` of sf_backend_density for d = 1, or its `scores` where h is set. Its ways in pairs.c
 * differ in what they make of them: on the CPU a score takes two sums, and four on a device.
 */
typedef struct sf_pair_sums {
    sf_pairs *pairs;
    const double *c; /**< of a functional, as the three that follow */
    double g, done_before, total;
    double *sum;
    const double *h; /**< bandwidths of scores */
    size_t count;    /**< of them */
    double q, *sums; /**< 2^(d/2); by bandwidth the sums of e - 2 q e^2 and (e - 4 q e^2) Y */
} sf_pair_sums;

/** The ways of sums over pairs; NULL-terminated. That on a device is in device.c. */
extern const sf_way *const sf_pairs_ways[];
extern const sf_way sf_pairs_on_device;

/** Sums run on the named device from now on (NULL: on the CPU; "auto": where it pays for `sums` sums over all
 * pairs). The CPU does what a device refuses or fails at, and sf_choice_tell reports that. SF_USAGE and
 * SF_UNAVAILABLE as sf_choose. */
int sf_pairs_use(sf_pairs *pairs, const char *device, size_t sums, sf_error *error);

/**
 * *sum = sum over i < j of (c[0] + c[1] u + c[2] u^2 + c[3] u^3) exp(-u/2), u = ((zi - zj)/g)^2, d = 1, and
 * round k of `rounds` for the progress bar. Does not depend on the number of threads; on a device within
 * rounding. SF_NO_MEMORY, SF_CANCELLED.
 */
int sf_pairs_functional(sf_pairs *pairs, const double c[4], double g, int round, int rounds, double *sum);

/**
 * An sf_score_function; context is the sf_pairs. g(h) = h^-d [2 n^-2 sum_{i<j} (K*K - 2 K) + R(K)/n] and its
 * derivative, Andrzejewski, Gramacki and Gramacki 2010. Results do not depend on the number of threads; on a
 * device they are the same within rounding. SF_NO_MEMORY, SF_CANCELLED.
 */
int sf_pairs_lscv(void *context, const double *h, size_t count, double *scores, double *slopes);

#endif
