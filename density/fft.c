/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stockham's form of the radix-4 transform: every pass reads one buffer and writes the other in the order
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
    if (fft == NULL) return;
    sf_free(fft->cosine);
    sf_free(fft);
}

void sf_fft_turns(const sf_fft *fft, const double **cosine, const double **sine)
{
    *cosine = fft->cosine;
    *sine = fft->sine;
}

/* One pass of length 2 over `half` numbers at each end: its twiddle factors are all 1, it comes last. */
static void combine_two(double *restrict to_re, double *restrict to_im, const double *restrict re,
                        const double *restrict im, size_t half)
{
    for (size_t q = 0; q < half; q++) {
        to_re[q] = re[q] + re[q + half];
        to_im[q] = im[q] + im[q + half];
        to_re[q + half] = re[q] - re[q + half];
        to_im[q + half] = im[q] - im[q + half];
    }
}

/* Butterflies of four, for `stride` neighbours that share the twiddle factor c - i s and its powers. */
static void combine_four(double *restrict to_re, double *restrict to_im, const double *restrict re,
                         const double *restrict im, size_t stride, size_t quarter, double c, double s)
{
    double c2 = c * c - s * s, s2 = 2 * c * s, c3 = c2 * c - s2 * s, s3 = s2 * c + c2 * s;
    for (size_t q = 0; q < stride; q++) {
        double sum_re = re[q] + re[q + 2 * quarter], sum_im = im[q] + im[q + 2 * quarter];
        double gap_re = re[q] - re[q + 2 * quarter], gap_im = im[q] - im[q + 2 * quarter];
        double other_re = re[q + quarter] + re[q + 3 * quarter];
        double other_im = im[q + quarter] + im[q + 3 * quarter];
        double turned_re = im[q + quarter] - im[q + 3 * quarter]; /* -i times the other gap */
        double turned_im = re[q + 3 * quarter] - re[q + quarter];
        to_re[q] = sum_re + other_re;
        to_im[q] = sum_im + other_im;
        double one_re = gap_re + turned_re, one_im = gap_im + turned_im;
        to_re[q + stride] = one_re * c + one_im * s;
        to_im[q + stride] = one_im * c - one_re * s;
        double two_re = sum_re - other_re, two_im = sum_im - other_im;
        to_re[q + 2 * stride] = two_re * c2 + two_im * s2;
        to_im[q + 2 * stride] = two_im * c2 - two_re * s2;
        double three_re = gap_re - turned_re, three_im = gap_im - turned_im;
        to_re[q + 3 * stride] = three_re * c3 + three_im * s3;
        to_im[q + 3 * stride] = three_im * c3 - three_re * s3;
    }
}

void sf_fft_complex(sf_fft *fft, double *re, double *im)
{
    double *from_re = re, *from_im = im, *to_re = fft->scratch_re, *to_im = fft->scratch_im;
    size_t quarter = fft->length / 4, step = 0;
    for (size_t stride = 1; stride < fft->length; stride *= step) {
        step = stride * 2 == fft->length ? 2 : 4;
        if (step == 2)
            combine_two(to_re, to_im, from_re, from_im, stride);
        else
            for (size_t p = 0; p < quarter; p += stride) /* twiddle exp(-2 pi i p / length) */
                combine_four(to_re + 4 * p, to_im + 4 * p, from_re + p, from_im + p, stride, quarter,
                             fft->cosine[2 * p], fft->sine[2 * p]);
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
