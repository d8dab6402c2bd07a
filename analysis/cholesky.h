/* SPDX-License-Identifier: Apache-2.0 */
/** Symmetric positive definite systems: L L' = A, L lower triangular, in place, on several threads. */
#ifndef SF_ANALYSIS_CHOLESKY_H
#define SF_ANALYSIS_CHOLESKY_H

#include "core/progress.h"

#include <stddef.h>

/** Columns of right sides that are solved at once. */
#define SF_CHOLESKY_WIDTH 64

/**
 * Replaces the lower triangle of a row-major matrix of `size` rows by L; never reads or changes the entries
 * above the diagonal. The result does not depend on the number of threads. `progress` may be NULL. SF_DATA if
 * the matrix is not positive definite; SF_CANCELLED; SF_NO_MEMORY. After SF_DATA or SF_CANCELLED the matrix
 * is undefined.
 */
int sf_cholesky(double *matrix, size_t size, unsigned threads, const sf_progress *progress);

/** Fraction of the work on a triangle that is done once its first `from` rows are done. */
static inline double sf_cholesky_share(size_t size, size_t from)
{
    double left = 1 - (double)from / (double)size;
    return 1 - left * left * left;
}

/** right := L^-1 right, for a block of SF_CHOLESKY_WIDTH right-hand sides; its rows before `first` are 0. */
void sf_cholesky_forward(double *right, const double *matrix, size_t size, size_t first);

/** right := L'^-1 right. */
void sf_cholesky_backward(double *right, const double *matrix, size_t size);

#endif
