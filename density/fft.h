/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Fast Fourier transform in double precision, lengths that are powers of two. It is here because no library
 * within reach has one under a licence that fits: FFTW is GPL, and the packaged KissFFT is single precision.
 */
#ifndef SF_DENSITY_FFT_H
#define SF_DENSITY_FFT_H

#include <synfire/error.h>

typedef struct sf_fft sf_fft; /**< a plan with its own scratch space: one thread at a time */

/** For complex transforms of `length` and real ones of 2 length; length is a power of two. SF_NO_MEMORY. */
int sf_fft_open(sf_fft **fft, size_t length, sf_error *error);
void sf_fft_close(sf_fft *fft);

/** X[k] = sum_j x[j] exp(-2 pi i j k / length), in place; real and imaginary parts in arrays of their own. */
void sf_fft_complex(sf_fft *fft, double *re, double *im);

/**
 * The same of 2 length real numbers x: X[k] for k = 0..length into re[] and im[], which hold length + 1. x
 * may not overlap them.
 */
void sf_fft_real(sf_fft *fft, const double *x, double *re, double *im);

/** cos and sin of pi j / length, j = 0..length - 1: all that the transforms turn by. Borrowed. */
void sf_fft_turns(const sf_fft *fft, const double **cosine, const double **sine);

#endif
