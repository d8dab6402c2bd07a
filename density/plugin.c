/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PLUG-IN by direct double sums. The sums are symmetric, so each pair is computed once; samples are
 * standardised first, because sigma^9 and g^7 of raw data leave the range where rounding is harmless.
 */
#include "density/bandwidth.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/thread.h"
#include "density/vector.h"

#include <math.h>

#define SQRT_PI 1.77245385090551602730
#define SQRT_2PI 2.50662827463100050242

/* K_r(z) sqrt(2 pi) = c[0] + c[1] z^2 + c[2] z^4 + c[3] z^6, times exp(-z^2/2). */
static const double k6[4] = {-15, 45, -15, 1};
static const double k4[4] = {3, -6, 1, 0};

enum { STRIP = 64, ROWS = 64 };

/* sums[l] += K((x - others[l]) / g) sqrt(2 pi) for l < length <= STRIP */
SF_VECTOR_BODY void add_strip_body(double *restrict sums, const double *restrict others, size_t length,
                                   double x, double inverse_g, const double *restrict c)
{
    double c0 = c[0], c1 = c[1], c2 = c[2], c3 = c[3];
    for (size_t l = 0; l < length; l++) {
        double z = (x - others[l]) * inverse_g;
        double u = z * z;
        sums[l] += (((c3 * u + c2) * u + c1) * u + c0) * sf_exp(-0.5 * u);
    }
}

SF_VECTOR_LEVELS(add_strip, add_strip_body,
                 (double *restrict sums, const double *restrict others, size_t length, double x,
                  double inverse_g, const double *restrict c),
                 (sums, others, length, x, inverse_g, c))

typedef struct pair_sum {
    const double *z; /* standardised samples */
    size_t n;
    double inverse_g;
    const double *coefficients;
    double *block_sums; /* one per block of ROWS rows, so that the total does not depend on the threads */
    const sf_progress *progress;
    double pairs_before, pairs_total; /* of all stages, for the progress bar */
} pair_sum;

static double pairs_up_to(size_t n, size_t row)
{
    return (double)row * ((double)n - 0.5 * (double)(row + 1));
}

/* The pairs (i, j), i < j, of one block of rows i. */
static int sum_block(void *context, unsigned worker, size_t block)
{
    const pair_sum *sum = context;
    double lanes[STRIP] = {0};
    size_t end = (block + 1) * ROWS < sum->n ? (block + 1) * ROWS : sum->n;
    for (size_t i = block * ROWS; i < end; i++)
        for (size_t j = i + 1; j < sum->n; j += STRIP) {
            size_t length = sum->n - j < STRIP ? sum->n - j : STRIP;
            add_strip(lanes, sum->z + j, length, sum->z[i], sum->inverse_g, sum->coefficients);
        }
    double total = 0;
    for (int l = 0; l < STRIP; l++)
        total += lanes[l];
    sum->block_sums[block] = total;
    if (worker == 0 && !sf_progress_update(sum->progress, "pair sums",
                                           sum->pairs_before + pairs_up_to(sum->n, end), sum->pairs_total))
        return SF_CANCELLED;
    return SF_OK;
}

typedef struct direct_psi {
    pair_sum sum;
    unsigned threads;
} direct_psi;

/* Psi_r(g) = 1/(n^2 g^(r+1)) sum_i sum_j K_r((zi - zj)/g), the diagonal included. */
static int find_psi(void *context, int r, double g, double *value)
{
    direct_psi *direct = context;
    pair_sum *sum = &direct->sum;
    sum->coefficients = r == 6 ? k6 : k4;
    sum->inverse_g = 1 / g;
    size_t blocks = (sum->n + ROWS - 1) / ROWS;
    int status = sf_parallel_for(direct->threads, blocks, sum_block, sum);
    if (status != SF_OK)
        return status;
    sum->pairs_before += pairs_up_to(sum->n, sum->n);
    double pairs = 0;
    for (size_t b = 0; b < blocks; b++)
        pairs += sum->block_sums[b];
    double n = (double)sum->n;
    *value = (2 * pairs / n + sum->coefficients[0]) / (n * pow(g, r + 1) * SQRT_2PI);
    return SF_OK;
}

int sf_plugin_steps(sf_plugin *plugin, const sf_moments *moments, double n,
                    int (*psi)(void *context, int r, double g, double *value), void *context)
{
    double psi8 = 105 / (32 * SQRT_PI), psi6 = 0, psi4 = 0;
    double g1 = pow(-2 * (k6[0] / SQRT_2PI) / (psi8 * n), 1.0 / 9);
    int status = psi(context, 6, g1, &psi6);
    if (status != SF_OK)
        return status;
    double g2 = pow(-2 * (k4[0] / SQRT_2PI) / (psi6 * n), 1.0 / 7);
    status = psi(context, 4, g2, &psi4);
    if (status != SF_OK)
        return status;
    double h = pow(1 / (2 * SQRT_PI) / (psi4 * n), 1.0 / 5);
    double sigma = moments->sigma;
    *plugin = (sf_plugin){
        .variance = moments->variance,
        .sigma = sigma,
        .psi8 = psi8 / pow(sigma, 9),
        .g1 = g1 * sigma,
        .psi6 = psi6 / pow(sigma, 7),
        .g2 = g2 * sigma,
        .psi4 = psi4 / pow(sigma, 5),
        .h = h * sigma,
    };
    return SF_OK;
}

int sf_bandwidth_plugin(sf_plugin *plugin, const double *samples, size_t n, unsigned threads,
                        const sf_progress *progress, sf_error *error)
{
    *plugin = (sf_plugin){0};
    sf_moments moments;
    double *z, *block_sums = NULL;
    int status = sf_samples_standardise(&z, &moments, samples, n, error);
    if (status != SF_OK)
        return status;
    block_sums = sf_resize(NULL, (n + ROWS - 1) / ROWS, sizeof *block_sums);
    if (block_sums == NULL) {
        status = sf_fail_memory(error);
    } else {
        direct_psi direct = {.threads = threads,
                             .sum = {.z = z,
                                     .n = n,
                                     .block_sums = block_sums,
                                     .progress = progress,
                                     .pairs_total = 2 * pairs_up_to(n, n)}};
        status = sf_plugin_steps(plugin, &moments, (double)n, find_psi, &direct);
        if (status == SF_CANCELLED)
            sf_fail(error, SF_CANCELLED, NULL, "stopped before the pair sums were complete");
    }
    sf_free(block_sums);
    sf_free(z);
    return status;
}
