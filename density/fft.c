/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stockham's form of the radix-2 transform: every pass reads one buffer and writes the other in the order
 * that the next one wants, so that there is no bit reversal and the innermost loop runs over neighbours. Cost
 * 5 N log2 N; error about 1e-16 sqrt(log2 N) of the root mean square of X.
 */
#include "density/fft.h"

#include "core/error.h"
#include "core/memory.h"

#include <math.h>
#include <string.h>

struct sf_fft {
    size_t length;
    double *cosine, *sine;           /* of pi j / length, j = 0..length - 1: every twiddle factor */
    double *scratch_re, *scratch_im; /* `length` each */
};

#define PI 3.14159265358979323846

int sf_fft_open(sf_fft **fft, size_t length, sf_error *error)
{
    *fft = sf_alloc(1, sizeof **fft);
    double *tables = sf_resize(NULL, length, 4 * sizeof *tables);
    if (*fft == NULL || tables == NULL) {
        sf_free(tables);
        sf_free(*fft);
        *fft = NULL;
        return sf_fail_memory(error);
    }
    **fft = (sf_fft){.length = length,
                     .cosine = tables,
                     .sine = tables + length,
                     .scratch_re = tables + 2 * length,
                     .scratch_im = tables + 3 * length};
    for (size_t j = 0; j < length; j++) {
        (*fft)->cosine[j] = cos(PI * (double)j / (double)length);
        (*fft)->sine[j] = sin(PI * (double)j / (double)length);
    }
    return SF_OK;
}

void sf_fft_close(sf_fft *fft)
{
    if (fft == NULL)
        return;
    sf_free(fft->cosine);
    sf_free(fft);
}

/* Butterflies of `stride` neighbours that share the twiddle factor c - i s. */
static void combine(double *restrict to_re, double *restrict to_im, const double *restrict re,
                    const double *restrict im, size_t stride, size_t half, double c, double s)
{
    for (size_t q = 0; q < stride; q++) {
        double a_re = re[q], a_im = im[q], b_re = re[q + half], b_im = im[q + half];
        double d_re = a_re - b_re, d_im = a_im - b_im;
        to_re[q] = a_re + b_re;
        to_im[q] = a_im + b_im;
        to_re[q + stride] = d_re * c + d_im * s;
        to_im[q + stride] = d_im * c - d_re * s;
    }
}

void sf_fft_complex(sf_fft *fft, double *re, double *im)
{
    double *from_re = re, *from_im = im, *to_re = fft->scratch_re, *to_im = fft->scratch_im;
    size_t half = fft->length / 2;
    for (size_t stride = 1; stride < fft->length; stride *= 2) {
        for (size_t p = 0; p < half; p += stride) /* twiddle exp(-2 pi i p / length) */
            combine(to_re + 2 * p, to_im + 2 * p, from_re + p, from_im + p, stride, half, fft->cosine[2 * p],
                    fft->sine[2 * p]);
        double *swap_re = from_re, *swap_im = from_im;
        from_re = to_re;
        from_im = to_im;
        to_re = swap_re;
        to_im = swap_im;
    }
    if (from_re != re) {
        memcpy(re, from_re, fft->length * sizeof *re);
        memcpy(im, from_im, fft->length * sizeof *im);
    }
}

/* Even and odd numbers as real and imaginary part of one complex transform, taken apart afterwards. */
void sf_fft_real(sf_fft *fft, const double *x, double *re, double *im)
{
    size_t n = fft->length;
    for (size_t j = 0; j < n; j++) {
        re[j] = x[2 * j];
        im[j] = x[2 * j + 1];
    }
    sf_fft_complex(fft, re, im);
    re[n] = re[0] - im[0];
    im[n] = 0;
    re[0] = re[0] + im[0];
    im[0] = 0;
    for (size_t k = 1; k <= n / 2; k++) {
        size_t mirror = n - k;
        double even_re = (re[k] + re[mirror]) / 2, even_im = (im[k] - im[mirror]) / 2;
        double odd_re = (im[k] + im[mirror]) / 2, odd_im = (re[mirror] - re[k]) / 2;
        double turned_re = odd_re * fft->cosine[k] + odd_im * fft->sine[k];
        double turned_im = odd_im * fft->cosine[k] - odd_re * fft->sine[k];
        re[k] = even_re + turned_re;
        im[k] = even_im + turned_im;
        re[mirror] = even_re - turned_re;
        im[mirror] = turned_im - even_im;
    }
}
