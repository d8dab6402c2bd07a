/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Distances are not stored: each is computed once per call from whitened columns, and all bandwidths of the
 * call use it while it is in the first cache. One exponential serves both kernels: exp(-Y/4h^2) squared is
 * exp(-Y/2h^2).
 */
#include "density/pairs.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/thread.h"
#include "density/vector.h"

#include <math.h>
#include <stdio.h>

#define PI 3.14159265358979323846

enum { ROWS = 16, CHUNK = 1024, STRIP = 32 };

/* Standardises the columns into pairs->columns; the covariance is then their correlation. */
static int standardise_columns(sf_pairs *pairs, const sf_samples *samples, sf_error *error)
{
    double *raw = sf_resize(NULL, samples->n, sizeof *raw);
    if (raw == NULL)
        return sf_fail_memory(error);
    int status = SF_OK;
    for (size_t c = 0; status == SF_OK && c < samples->d; c++) {
        for (size_t i = 0; i < samples->n; i++)
            raw[i] = samples->values[i * samples->d + c];
        sf_moments moments;
        status = sf_moments_find(&moments, raw, samples->n, error);
        for (size_t i = 0; status == SF_OK && i < samples->n; i++)
            pairs->columns[c * samples->n + i] = (raw[i] - moments.mean) / moments.sigma;
        pairs->log_root_det += status == SF_OK ? log(moments.sigma) : 0;
        if (status != SF_OK && error != NULL && samples->d > 1)
            snprintf(error->place, sizeof error->place, "column %zu", c + 1);
    }
    sf_free(raw);
    return status;
}

/*
 * Cholesky decomposition and whitening in one: each column loses what the columns before it explain, and what
 * is left is scaled to variance 1 (modified Gram-Schmidt, twice, which keeps the columns orthogonal).
 */
static int whiten(sf_pairs *pairs, sf_error *error)
{
    size_t n = pairs->n;
    for (size_t c = 0; c < pairs->d; c++) {
        double *column = pairs->columns + c * n;
        double left = (double)(n - 1); /* of its sum of squares */
        for (int round = 0; round < 2; round++) {
            for (size_t b = 0; b < c; b++) {
                const double *other = pairs->columns + b * n;
                double product = 0;
                for (size_t i = 0; i < n; i++)
                    product += other[i] * column[i];
                for (size_t i = 0; i < n; i++)
                    column[i] -= product / (double)(n - 1) * other[i];
            }
            left = 0;
            for (size_t i = 0; i < n; i++)
                left += column[i] * column[i];
        }
        double share = left / (double)(n - 1);
        if (!(share > 1e-20))
            return sf_fail(error, SF_DATA, NULL,
                           "the covariance is singular: column %zu is a combination of the columns before it",
                           c + 1);
        for (size_t i = 0; i < n; i++)
            column[i] /= sqrt(share);
        pairs->log_root_det += log(share) / 2;
    }
    return SF_OK;
}

int sf_pairs_open(sf_pairs *pairs, const sf_samples *samples, unsigned threads, const sf_progress *progress,
                  sf_error *error)
{
    *pairs = (sf_pairs){.n = samples->n, .d = samples->d, .threads = threads, .progress = progress};
    if (samples->d < 1 || samples->d > SF_PAIRS_MOST_COLUMNS)
        return sf_fail(error, SF_DATA, NULL, "found %zu columns, expected 1 to %d", samples->d,
                       SF_PAIRS_MOST_COLUMNS);
    if (samples->n < 2)
        return sf_fail(error, SF_DATA, NULL, "found %zu sample%s, expected at least 2", samples->n,
                       samples->n == 1 ? "" : "s");
    pairs->columns = sf_resize(NULL, samples->n * samples->d, sizeof *pairs->columns);
    int status = pairs->columns != NULL ? standardise_columns(pairs, samples, error) : sf_fail_memory(error);
    if (status == SF_OK)
        status = whiten(pairs, error);
    if (status != SF_OK)
        sf_pairs_close(pairs);
    return status;
}

void sf_pairs_close(sf_pairs *pairs)
{
    sf_free(pairs->columns);
    *pairs = (sf_pairs){0};
}

/* distances[l] += (x - others[l])^2 */
SF_VECTOR_BODY void add_distances_body(double *restrict distances, const double *restrict others,
                                       size_t length, double x)
{
    for (size_t l = 0; l < length; l++)
        distances[l] += (x - others[l]) * (x - others[l]);
}

SF_VECTOR_LEVELS(add_distances, add_distances_body,
                 (double *restrict distances, const double *restrict others, size_t length, double x),
                 (distances, others, length, x))

/*
 * With e = exp(-Y/4h^2): sums[0] += sum of e - 2 q e^2, which is (K*K - 2 K) but for a factor, and
 * sums[1] += sum of (e - 4 q e^2) Y for its derivative; q = 2^(d/2) is the ratio of the kernels' heights.
 */
SF_VECTOR_BODY void add_scores_body(double *restrict sums, const double *restrict distances, size_t length,
                                    double h, double q)
{
    double scores[STRIP] = {0}, slopes[STRIP] = {0}, factor = -0.25 / (h * h);
    for (size_t k = 0; k < length; k += STRIP) {
        size_t strip = length - k < STRIP ? length - k : STRIP;
        for (size_t l = 0; l < strip; l++) {
            double y = distances[k + l], e = sf_exp(factor * y), square = q * e * e;
            scores[l] += e - 2 * square;
            slopes[l] += (e - 4 * square) * y;
        }
    }
    for (int l = 0; l < STRIP; l++) {
        sums[0] += scores[l];
        sums[1] += slopes[l];
    }
}

SF_VECTOR_LEVELS(add_scores, add_scores_body,
                 (double *restrict sums, const double *restrict distances, size_t length, double h, double q),
                 (sums, distances, length, h, q))

typedef struct pair_scores {
    const sf_pairs *pairs;
    const double *h;
    size_t count;
    double q;
    double *block_sums; /* two per bandwidth and block of rows */
} pair_scores;

/* The pairs (i, j), i < j, of one block of rows i. */
static int sum_block(void *context, unsigned worker, size_t block)
{
    const pair_scores *all = context;
    const sf_pairs *pairs = all->pairs;
    double *sums = all->block_sums + 2 * all->count * block;
    size_t n = pairs->n, end = (block + 1) * ROWS < n ? (block + 1) * ROWS : n;
    for (size_t i = block * ROWS; i < end; i++)
        for (size_t j = i + 1; j < n; j += CHUNK) {
            double distances[CHUNK] = {0};
            size_t length = n - j < CHUNK ? n - j : CHUNK;
            for (size_t c = 0; c < pairs->d; c++)
                add_distances(distances, pairs->columns + c * n + j, length, pairs->columns[c * n + i]);
            for (size_t m = 0; m < all->count; m++)
                add_scores(sums + 2 * m, distances, length, all->h[m], all->q);
        }
    double done = (double)end * ((double)n - 0.5 * (double)(end + 1)),
           total = 0.5 * (double)n * (double)(n - 1);
    bool go_on = worker != 0 || sf_progress_update(pairs->progress, "pair sums", done, total);
    return go_on ? SF_OK : SF_CANCELLED;
}

int sf_pairs_lscv(void *context, const double *h, size_t count, double *scores, double *slopes)
{
    const sf_pairs *pairs = context;
    size_t blocks = (pairs->n + ROWS - 1) / ROWS;
    double n = (double)pairs->n, d = (double)pairs->d;
    pair_scores all = {.pairs = pairs, .h = h, .count = count, .q = pow(2, d / 2)};
    all.block_sums = sf_alloc(blocks * count, 2 * sizeof *all.block_sums);
    if (all.block_sums == NULL)
        return SF_NO_MEMORY;
    int status = sf_parallel_for(pairs->threads, blocks, sum_block, &all);
    /* R(K), and the height of K*K: (4 pi)^(-d/2) det(Sigma)^(-1/2) */
    double height = exp(-0.5 * d * log(4 * PI) - pairs->log_root_det);
    for (size_t m = 0; status == SF_OK && m < count; m++) {
        double sum = 0, change = 0;
        for (size_t b = 0; b < blocks; b++) {
            sum += all.block_sums[2 * (b * count + m)];
            change += all.block_sums[2 * (b * count + m) + 1];
        }
        double scale = height * pow(h[m], -d);
        scores[m] = scale * (2 * sum / (n * n) + 1 / n);
        slopes[m] = scale * change / (n * n * h[m] * h[m] * h[m]) - d / h[m] * scores[m];
    }
    sf_free(all.block_sums);
    return status;
}
