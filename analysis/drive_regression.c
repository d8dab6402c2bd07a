/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spikes of every unit, y(t) in bins, on the past of all: y_b(t) = sum over units a and windows k of
 * beta_b[a, k] times the spikes of a within the lags of k before t. Everything that least squares needs of
 * the trains is how often two units fire so many bins apart. Variables are scaled to a variance of 1. With G
 * the covariance of the regressors, h_b theirs with y_b, and w weighing the windows between the lags that are
 * asked for by their lengths, the effect of a on b is w' beta_b[a], spikes of b that a spike of a brings, of
 * variance w' G^-1[a, a] w / T where there is none.
 */
#include "analysis/cholesky.h"
#include "analysis/drive_methods.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/thread.h"

#include <math.h>
#include <string.h>

enum { MOST_WINDOWS = 16, WIDTH = SF_CHOLESKY_WIDTH };

/* Regularises G if two units fire alike; multiplied by ten if that is not enough. */
#define RIDGE 1e-6

typedef struct window {
    uint32_t first, last;
    bool asked;
} window;

typedef struct regression {
    const sf_drive_job *job;
    sf_drive_pairs *pairs;
    window windows[MOST_WINDOWS];
    size_t window_count, unit_count, size; /* units that fire; rows of G */
    uint32_t *units, reach;                /* those, by row / window_count */
    double *covariance, *with_next;        /* G; [row][unit] h */
    double *errors;   /* standard error of the effect of each unit, except for the root of T */
    uint32_t *counts; /* per worker */
    double *right;    /* per worker */
} regression;

/* Divides lags first .. last into windows, each as long as everything before it. */
static void divide(regression *r, uint32_t first, uint32_t last, bool asked)
{
    for (uint32_t lag = first; lag <= last;) {
        uint32_t end = 2 * lag - 1 < last ? 2 * lag - 1 : last;
        r->windows[r->window_count++] = (window){lag, end, asked};
        lag = end + 1;
    }
}

static uint32_t length_of(const window *w)
{
    return w->last - w->first + 1;
}

static double spread_of(const regression *r, size_t unit)
{
    double share = sf_binned_spikes(r->job->trains, unit) / r->job->trains->bins;
    return sqrt(share * (1 - share));
}

/* Covariance of the bins of two units at a lag, from the number of coincidences at that lag. */
static double covariance_of(const regression *r, double counted, size_t from, size_t to, double lags)
{
    const sf_binned *trains = r->job->trains;
    double by_rates = sf_binned_spikes(trains, from) * sf_binned_spikes(trains, to) / trains->bins;
    return (counted - lags * by_rates) / trains->bins / (spread_of(r, from) * spread_of(r, to));
}

/* Sums counts over the lags between two windows: a bin p back in one and q back in the other are p - q apart.
 */
static double count_between(const regression *r, const uint32_t *counts, const window *one,
                            const window *other)
{
    double sum = 0;
    for (uint32_t p = one->first; p <= one->last; p++)
        for (uint32_t q = other->first; q <= other->last; q++)
            sum += counts[r->reach + p - q];
    return sum;
}

static void fill_rows(const regression *r, size_t row, const uint32_t *counts)
{
    const size_t windows = r->window_count, lags = 2 * (size_t)r->reach + 1;
    uint32_t unit = r->units[row];
    for (size_t other = 0; other < r->unit_count; other++) {
        const uint32_t *with = counts + r->units[other] * lags;
        for (size_t k = 0; k < windows; k++) {
            const window *one = &r->windows[k];
            double *entries = r->covariance + (row * windows + k) * r->size + other * windows, sum = 0;
            for (size_t l = 0; l < windows && other <= row; l++)
                entries[l] =
                    covariance_of(r, count_between(r, with, one, &r->windows[l]), unit, r->units[other],
                                  (double)length_of(one) * length_of(&r->windows[l]));
            for (uint32_t p = one->first; p <= one->last; p++)
                sum += with[r->reach + p];
            r->with_next[(row * windows + k) * r->unit_count + other] =
                covariance_of(r, sum, unit, r->units[other], length_of(one));
            r->pairs->counts[unit * r->pairs->unit_count + r->units[other]] += one->asked ? sum : 0;
        }
    }
}

static int count_unit(void *context, unsigned worker, size_t row)
{
    const regression *r = context;
    const sf_binned *trains = r->job->trains;
    uint32_t *counts = r->counts + worker * trains->unit_count * (2 * (size_t)r->reach + 1);
    if (worker == 0 && !sf_progress_update(r->job->progress, "lags", (double)row, (double)r->unit_count))
        return SF_CANCELLED;
    sf_lags_count(counts, trains, r->units[row], r->reach);
    fill_rows(r, row, counts);
    return SF_OK;
}

static double weight_of(const window *w)
{
    return w->asked ? length_of(w) : 0;
}

/* Standard errors of a block of units: |L^-1 w|. */
static int solve_errors(void *context, unsigned worker, size_t block)
{
    const regression *r = context;
    double *right = r->right + worker * r->size * WIDTH, sums[WIDTH] = {0};
    size_t from = block * WIDTH, end = from + WIDTH < r->unit_count ? from + WIDTH : r->unit_count;
    if (worker == 0 &&
        !sf_progress_update(r->job->progress, "errors", sf_cholesky_share(r->unit_count, from), 1))
        return SF_CANCELLED;
    memset(right, 0, r->size * WIDTH * sizeof *right);
    for (size_t unit = from; unit < end; unit++)
        for (size_t k = 0; k < r->window_count; k++)
            right[(unit * r->window_count + k) * WIDTH + unit - from] = weight_of(&r->windows[k]);
    sf_cholesky_forward(right, r->covariance, r->size, from * r->window_count);
    for (size_t i = from * r->window_count; i < r->size; i++)
        for (size_t c = 0; c < WIDTH; c++)
            sums[c] += right[i * WIDTH + c] * right[i * WIDTH + c];
    for (size_t unit = from; unit < end; unit++)
        r->errors[unit] = sqrt(sums[unit - from]);
    return SF_OK;
}

/* Extracts the effect of one unit on another from the solution; beta[k * WIDTH] belongs to window k. */
static void take_effect(const regression *r, size_t from, size_t to, const double *beta)
{
    size_t place = r->units[from] * r->pairs->unit_count + r->units[to];
    double effect = 0, greatest = -INFINITY;
    for (size_t k = 0; k < r->window_count; k++)
        effect += weight_of(&r->windows[k]) * beta[k * WIDTH];
    for (size_t k = 0; k < r->window_count; k++) {
        const window *w = &r->windows[k];
        double of_window = (effect < 0 ? -1 : 1) * beta[k * WIDTH] * sqrt(length_of(w));
        if (!w->asked || !(of_window > greatest)) continue;
        greatest = of_window;
        r->pairs->first[place] = (uint8_t)w->first;
        r->pairs->last[place] = (uint8_t)w->last;
    }
    r->pairs->value[place] = effect * spread_of(r, r->units[to]) / spread_of(r, r->units[from]);
    r->pairs->statistic[place] = effect / r->errors[from] * sqrt(r->job->trains->bins);
}

/* The effects on a block of units. */
static int solve_effects(void *context, unsigned worker, size_t block)
{
    const regression *r = context;
    double *right = r->right + worker * r->size * WIDTH;
    size_t from = block * WIDTH, end = from + WIDTH < r->unit_count ? from + WIDTH : r->unit_count;
    if (worker == 0 &&
        !sf_progress_update(r->job->progress, "regression", (double)from, (double)r->unit_count))
        return SF_CANCELLED;
    memset(right, 0, r->size * WIDTH * sizeof *right);
    for (size_t i = 0; i < r->size; i++)
        memcpy(right + i * WIDTH, r->with_next + i * r->unit_count + from, (end - from) * sizeof *right);
    sf_cholesky_forward(right, r->covariance, r->size, 0);
    sf_cholesky_backward(right, r->covariance, r->size);
    for (size_t to = from; to < end; to++)
        for (size_t unit = 0; unit < r->unit_count; unit++)
            if (unit != to) take_effect(r, unit, to, right + unit * r->window_count * WIDTH + (to - from));
    return SF_OK;
}

/* Factors G plus a ridge; keeps G above the diagonal for another attempt with a larger ridge. */
static int factor_covariance(regression *r)
{
    int status = SF_DATA;
    double *diagonal = sf_resize(NULL, r->size, sizeof *diagonal);
    if (diagonal == NULL) return SF_NO_MEMORY;
    for (size_t i = 0; i < r->size; i++) {
        diagonal[i] = r->covariance[i * r->size + i];
        for (size_t j = 0; j < i; j++)
            r->covariance[j * r->size + i] = r->covariance[i * r->size + j];
    }
    for (double ridge = RIDGE; status == SF_DATA && ridge < 1e6; ridge *= 10) {
        for (size_t i = 0; i < r->size; i++) {
            r->covariance[i * r->size + i] = diagonal[i] * (1 + ridge);
            for (size_t j = 0; j < i; j++)
                r->covariance[i * r->size + j] = r->covariance[j * r->size + i];
        }
        status = sf_cholesky(r->covariance, r->size, r->job->threads, r->job->progress);
    }
    sf_free(diagonal);
    return status;
}

static void close_regression(regression *r)
{
    sf_free(r->units);
    sf_free(r->covariance);
    sf_free(r->with_next);
    sf_free(r->errors);
    sf_free(r->counts);
    sf_free(r->right);
}

static int open_regression(regression *r, sf_drive_pairs *pairs, const sf_drive_job *job)
{
    const sf_binned *trains = job->trains;
    *r = (regression){.job = job, .pairs = pairs, .reach = sf_drive_reach(job)};
    divide(r, 1, job->first_lag - 1, false);
    divide(r, job->first_lag, job->last_lag, true);
    divide(r, job->last_lag + 1, 2 * job->last_lag, false);
    r->units = sf_resize(NULL, trains->unit_count, sizeof *r->units);
    for (uint32_t u = 0; r->units != NULL && u < trains->unit_count; u++)
        if (sf_binned_spikes(trains, u) > 0 && sf_binned_spikes(trains, u) < trains->bins)
            r->units[r->unit_count++] = u;
    r->size = r->unit_count * r->window_count;
    r->covariance = sf_resize(NULL, r->size, r->size * sizeof *r->covariance);
    r->with_next = sf_resize(NULL, r->size, r->unit_count * sizeof *r->with_next);
    r->errors = sf_resize(NULL, r->unit_count, sizeof *r->errors);
    r->counts =
        sf_resize(NULL, job->threads, trains->unit_count * (2 * (size_t)r->reach + 1) * sizeof *r->counts);
    r->right = sf_resize(NULL, job->threads, r->size * WIDTH * sizeof *r->right);
    bool complete = r->units != NULL && r->covariance != NULL && r->with_next != NULL && r->errors != NULL &&
                    r->counts != NULL && r->right != NULL;
    return complete ? SF_OK : SF_NO_MEMORY;
}

int sf_drive_regress(sf_drive_pairs *pairs, const sf_drive_job *job, sf_error *error)
{
    regression r;
    int status = open_regression(&r, pairs, job);
    size_t blocks = (r.unit_count + WIDTH - 1) / WIDTH;
    if (status == SF_OK) status = sf_parallel_for(job->threads, r.unit_count, count_unit, &r);
    if (status == SF_OK) status = factor_covariance(&r);
    if (status == SF_OK) status = sf_parallel_for(job->threads, blocks, solve_errors, &r);
    if (status == SF_OK) status = sf_parallel_for(job->threads, blocks, solve_effects, &r);
    close_regression(&r);
    if (status == SF_NO_MEMORY) return sf_fail_memory(error);
    if (status == SF_CANCELLED) return sf_fail(error, status, NULL, "stopped while units were compared");
    return status == SF_OK
               ? SF_OK
               : sf_fail(error, SF_DATA, NULL, "the past of the units is no basis: their spikes are alike");
}
