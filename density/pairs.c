/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Distances are not stored: each is computed once per call from whitened columns, and all bandwidths of the
 * call use it while it is in the first cache. One exponential serves both kernels: exp(-Y/4h^2) squared is
 * exp(-Y/2h^2).
 */
#include "density/pairs.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/ranks.h"
#include "density/exponential.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>

#define PI 3.14159265358979323846

enum { ROWS = 16, CHUNK = 1024, STRIP = 32 };

/* One exponential and what belongs to it, on one core; only to judge whether a device pays. */
#define SUM_SECONDS 0.8e-9

/* Standardises the columns into pairs->columns; the covariance is then their correlation. */
static int standardise_columns(sf_pairs *pairs, const sf_samples *samples, sf_error *error)
{
    size_t n = samples->n, d = samples->d;
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < d; c++)
            pairs->columns[c * n + i] = samples->values[i * d + c];
    int status = SF_OK;
    for (size_t c = 0; status == SF_OK && c < d; c++) {
        double *column = pairs->columns + c * n;
        sf_moments moments;
        status = sf_moments_find(&moments, column, n, error);
        if (status != SF_OK && error != NULL && d > 1)
            snprintf(error->place, sizeof error->place, "column %zu", c + 1);
        for (size_t i = 0; status == SF_OK && i < n; i++)
            column[i] = (column[i] - moments.mean) / moments.sigma;
        pairs->log_root_det += status == SF_OK ? log(moments.sigma) : 0;
        pairs->sigma = moments.sigma;
    }
    return status;
}

/* *product = sum of a b */
SF_VECTOR_BODY void multiply_body(double *restrict product, const double *restrict a,
                                  const double *restrict b, size_t n)
{
    double lanes[STRIP] = {0}, sum = 0;
    size_t whole = n - n % STRIP;
    for (size_t k = 0; k < whole; k += STRIP)
        for (size_t l = 0; l < STRIP; l++)
            lanes[l] += a[k + l] * b[k + l];
    for (size_t k = whole; k < n; k++)
        sum += a[k] * b[k];
    for (size_t l = 0; l < STRIP; l++)
        sum += lanes[l];
    *product = sum;
}

SF_VECTOR_LEVELS(multiply, multiply_body,
                 (double *restrict product, const double *restrict a, const double *restrict b, size_t n),
                 (product, a, b, n))

/* column -= share other */
SF_VECTOR_BODY void subtract_body(double *restrict column, const double *restrict other, size_t n,
                                  double share)
{
    for (size_t i = 0; i < n; i++)
        column[i] -= share * other[i];
}

SF_VECTOR_LEVELS(subtract, subtract_body,
                 (double *restrict column, const double *restrict other, size_t n, double share),
                 (column, other, n, share))

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
                double product;
                multiply(&product, other, column, n);
                subtract(column, other, n, product / (double)(n - 1));
            }
            multiply(&left, column, column, n); /* restrict allows it: nothing is written */
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
    if (status == SF_OK) status = whiten(pairs, error);
    if (status == SF_OK) status = sf_pairs_use(pairs, NULL, 0, error);
    if (status != SF_OK) sf_pairs_close(pairs);
    return status;
}

void sf_pairs_close(sf_pairs *pairs)
{
    sf_choice_leave(&pairs->on);
    sf_free(pairs->columns);
    *pairs = (sf_pairs){0};
}

/* ---- scores ---- */

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
    atomic_bool *stop;  /* a row of many samples takes long: all threads look at each */
} pair_scores;

/* Pairs (i, j), i < j, of the rows i before this one. */
static double pairs_up_to(size_t n, size_t row)
{
    return (double)row * ((double)n - 0.5 * (double)(row + 1));
}

/* The pairs (i, j), i < j, of one block of rows i. */
static int sum_block(void *context, unsigned worker, size_t block)
{
    const pair_scores *all = context;
    const sf_pairs *pairs = all->pairs;
    double *sums = all->block_sums + 2 * all->count * block;
    size_t n = pairs->n, end = (block + 1) * ROWS < n ? (block + 1) * ROWS : n;
    for (size_t i = block * ROWS; i < end; i++) {
        if (worker == 0 &&
            !sf_progress_update(pairs->progress, "pair sums", pairs_up_to(n, i), pairs_up_to(n, n)))
            atomic_store(all->stop, true);
        if (atomic_load_explicit(all->stop, memory_order_relaxed)) return SF_CANCELLED;
        for (size_t j = i + 1; j < n; j += CHUNK) {
            double distances[CHUNK] = {0};
            size_t length = n - j < CHUNK ? n - j : CHUNK;
            for (size_t c = 0; c < pairs->d; c++)
                add_distances(distances, pairs->columns + c * n + j, length, pairs->columns[c * n + i]);
            for (size_t m = 0; m < all->count; m++)
                add_scores(sums + 2 * m, distances, length, all->h[m], all->q);
        }
    }
    return SF_OK;
}

static int add_scores_on_cpu(const sf_pair_sums *job)
{
    const sf_pairs *pairs = job->pairs;
    size_t count = job->count, blocks = (pairs->n + ROWS - 1) / ROWS;
    atomic_bool stop = false;
    pair_scores all = {.pairs = pairs, .h = job->h, .count = count, .q = job->q, .stop = &stop};
    all.block_sums = sf_alloc(blocks * count, 2 * sizeof *all.block_sums);
    if (all.block_sums == NULL) return SF_NO_MEMORY;
    int status = sf_ranks_for(pairs->threads, blocks, sum_block, &all, all.block_sums,
                              2 * count * sizeof *all.block_sums, NULL);
    for (size_t k = 0; k < 2 * count; k++) {
        job->sums[k] = 0;
        for (size_t b = 0; b < blocks; b++)
            job->sums[k] += all.block_sums[2 * count * b + k];
    }
    sf_free(all.block_sums);
    return status;
}

int sf_pairs_lscv(void *context, const double *h, size_t count, double *scores, double *slopes)
{
    sf_pairs *pairs = context;
    double n = (double)pairs->n, d = (double)pairs->d, q = pow(2, d / 2);
    double *sums = sf_resize(NULL, count, 2 * sizeof *sums);
    if (sums == NULL) return SF_NO_MEMORY;
    sf_pair_sums job = {.pairs = pairs, .h = h, .count = count, .q = q, .sums = sums};
    int status = sf_choice_run(&pairs->on, &job, NULL, NULL);
    /* R(K), and the height of K*K: (4 pi)^(-d/2) det(Sigma)^(-1/2) */
    double height = exp(-0.5 * d * log(4 * PI) - pairs->log_root_det);
    for (size_t m = 0; status == SF_OK && m < count; m++) {
        double scale = height * pow(h[m], -d);
        scores[m] = scale * (2 * sums[2 * m] / (n * n) + 1 / n);
        slopes[m] = scale * sums[2 * m + 1] / (n * n * h[m] * h[m] * h[m]) - d / h[m] * scores[m];
    }
    sf_free(sums);
    return status;
}

/* ---- functionals ---- */

/* sums[l] += (c[0] + c[1] u + c[2] u^2 + c[3] u^3) exp(-u/2), u = ((x - others[l])/g)^2, l < length */
SF_VECTOR_BODY void add_functional_body(double *restrict sums, const double *restrict others, size_t length,
                                        double x, double inverse_g, const double *restrict c)
{
    double c0 = c[0], c1 = c[1], c2 = c[2], c3 = c[3];
    for (size_t l = 0; l < length; l++) {
        double z = (x - others[l]) * inverse_g;
        double u = z * z;
        sums[l] += (((c3 * u + c2) * u + c1) * u + c0) * sf_exp(-0.5 * u);
    }
}

SF_VECTOR_LEVELS(add_functional, add_functional_body,
                 (double *restrict sums, const double *restrict others, size_t length, double x,
                  double inverse_g, const double *restrict c),
                 (sums, others, length, x, inverse_g, c))

typedef struct pair_functional {
    const sf_pairs *pairs;
    const double *c;
    double inverse_g;
    double *block_sums;        /* one per block of rows, so that the total does not depend on the threads */
    double done_before, total; /* of all rounds, for the progress bar */
} pair_functional;

enum { FUNCTIONAL_ROWS = 64, FUNCTIONAL_STRIP = 64 };

/* The pairs (i, j), i < j, of one block of rows i. */
static int sum_functional_block(void *context, unsigned worker, size_t block)
{
    const pair_functional *all = context;
    const sf_pairs *pairs = all->pairs;
    double lanes[FUNCTIONAL_STRIP] = {0}, total = 0;
    size_t n = pairs->n, end = (block + 1) * FUNCTIONAL_ROWS < n ? (block + 1) * FUNCTIONAL_ROWS : n;
    for (size_t i = block * FUNCTIONAL_ROWS; i < end; i++)
        for (size_t j = i + 1; j < n; j += FUNCTIONAL_STRIP)
            add_functional(lanes, pairs->columns + j, n - j < FUNCTIONAL_STRIP ? n - j : FUNCTIONAL_STRIP,
                           pairs->columns[i], all->inverse_g, all->c);
    for (int l = 0; l < FUNCTIONAL_STRIP; l++)
        total += lanes[l];
    all->block_sums[block] = total;
    double done = all->done_before + pairs_up_to(n, end);
    bool go_on = worker != 0 || sf_progress_update(pairs->progress, "pair sums", done, all->total);
    return go_on ? SF_OK : SF_CANCELLED;
}

static int add_functional_on_cpu(const sf_pair_sums *job)
{
    const sf_pairs *pairs = job->pairs;
    size_t blocks = (pairs->n + FUNCTIONAL_ROWS - 1) / FUNCTIONAL_ROWS;
    pair_functional all = {.pairs = pairs,
                           .c = job->c,
                           .inverse_g = 1 / job->g,
                           .block_sums = sf_alloc(blocks, sizeof *all.block_sums),
                           .done_before = job->done_before,
                           .total = job->total};
    if (all.block_sums == NULL) return SF_NO_MEMORY;
    int status = sf_ranks_for(pairs->threads, blocks, sum_functional_block, &all, all.block_sums,
                              sizeof *all.block_sums, NULL);
    *job->sum = 0;
    for (size_t b = 0; b < blocks; b++)
        *job->sum += all.block_sums[b];
    sf_free(all.block_sums);
    return status;
}

int sf_pairs_functional(sf_pairs *pairs, const double c[4], double g, int round, int rounds, double *sum)
{
    double a_round = pairs_up_to(pairs->n, pairs->n);
    sf_pair_sums job = {.pairs = pairs,
                        .c = c,
                        .g = g,
                        .done_before = round * a_round,
                        .total = rounds * a_round,
                        .sum = sum};
    return sf_choice_run(&pairs->on, &job, NULL, NULL);
}

/* ---- ways ---- */

static double estimate(const void *job)
{
    const sf_pair_sums *s = job;
    double exponentials = pairs_up_to(s->pairs->n, s->pairs->n) * (double)s->count;
    return exponentials * SUM_SECONDS / (s->pairs->threads > 0 ? s->pairs->threads : 1);
}

static int run(void *job, sf_crew *crew, sf_error *error)
{
    (void)crew, (void)error;
    const sf_pair_sums *s = job;
    return s->h != NULL ? add_scores_on_cpu(s) : add_functional_on_cpu(s);
}

static const sf_way on_cpu = {.engine = "direct", .estimate = estimate, .run = run};

const sf_way *const sf_pairs_ways[] = {&on_cpu, &sf_pairs_on_device, NULL};

int sf_pairs_use(sf_pairs *pairs, const char *device, size_t sums, sf_error *error)
{
    const sf_pair_sums job = {.pairs = pairs, .count = sums};
    sf_choice_leave(&pairs->on);
    sf_how how = {.device = device != NULL ? device : "cpu"};
    return sf_choose(&pairs->on, sf_pairs_ways, &how, &job, error);
}
