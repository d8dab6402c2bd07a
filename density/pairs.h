/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Least-squares cross-validation of d columns by direct sums over all pairs of samples, exact, O(n^2 (d +
 * number of bandwidths)). The kernel's covariance is h^2 times that of the samples, so h is relative; d
 * = 1..16.
 */
#ifndef SF_DENSITY_PAIRS_H
#define SF_DENSITY_PAIRS_H

#include "core/progress.h"
#include "density/samples.h"

#define SF_PAIRS_MOST_COLUMNS 16

/** Samples whitened by their covariance: |zi - zj|^2 = (xi - xj)' Sigma^-1 (xi - xj). */
typedef struct sf_pairs {
    size_t n, d;
    double *columns;     /**< d columns of n */
    double log_root_det; /**< log of det(Sigma)^(1/2) */
    unsigned threads;
    const sf_progress *progress;
} sf_pairs;

/**
 * Whitens. n < 2, values that are not finite, a column of equal values and a singular covariance (the message
 * names the column) are SF_DATA, d outside 1..16 too; SF_NO_MEMORY.
 */
int sf_pairs_open(sf_pairs *pairs, const sf_samples *samples, unsigned threads, const sf_progress *progress,
                  sf_error *error);
void sf_pairs_close(sf_pairs *pairs);

/**
 * An sf_score_function; context is the sf_pairs. g(h) = h^-d [2 n^-2 sum_{i<j} (K*K - 2 K) + R(K)/n] and its
 * derivative, Andrzejewski, Gramacki and Gramacki 2010. Results do not depend on the number of threads.
 * SF_NO_MEMORY, SF_CANCELLED.
 */
int sf_pairs_lscv(void *context, const double *h, size_t count, double *scores, double *slopes);

#endif
