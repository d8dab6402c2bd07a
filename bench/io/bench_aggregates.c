/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How well does a state answer without the samples (density/synopsis.h)? For the unit with the most intervals
 * of each recording: 1,000 random ranges, COUNT and AVG of each answered from the state, from as many bytes
 * of random samples, of a histogram of the logarithm, and of quantiles. Held against the exact answer of the
 * samples that all four were made from (every other interval), and against that of the others, which none of
 * them saw. Prints the rows of bench/results.
 *
 *   bench_aggregates RECORDING...
 */
#include "core/clock.h"
#include "core/memory.h"
#include "core/reals.h"
#include "density/estimate.h"
#include "density/synopsis.h"

#include <synfire/synfire.h>

#include <Random123/philox.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { QUERIES = 1000, WAYS = 4, TRUTHS = 2 };

static const char *const way_names[WAYS] = {"state", "sample", "histogram", "quantiles"};

static double uniform(uint32_t index, uint32_t stream)
{
    philox4x32_ctr_t at = {{index, stream, 0, 0}};
    philox4x32_key_t key = {{0xa66, 0x15}};
    philox4x32_ctr_t bits = philox4x32(at, key);
    return ((double)((uint64_t)bits.v[0] << 21 ^ bits.v[1] >> 11) + 0.5) * 0x1p-53;
}

/* What answers: each of so many bytes. */
typedef struct rivals {
    sf_synopsis state;
    size_t bytes;
    double *sample; /* ascending */
    size_t sample_count;
    uint32_t *bins;
    size_t bin_count;
    double least, most; /* of the logarithm */
    double *quantiles;  /* evenly in rank, the first and the last sample among them */
    size_t quantile_count;
    uint64_t n;
} rivals;

/* Of ascending values: how many lie in the range, and their mean. */
static void count_exactly(const double *x, size_t n, double from, double to, double *share, double *mean)
{
    size_t first = sf_reals_lower_bound(x, n, from), end = sf_reals_lower_bound(x, n, to);
    double sum = 0;
    for (size_t i = first; i < end; i++)
        sum += x[i];
    *share = (double)(end - first) / (double)n;
    *mean = end > first ? sum / (double)(end - first) : NAN;
}

/* Pieces of even density, of ln x or of x: the part of [low, high] inside [from, to] has mass and moment. */
static void add_piece(double low, double high, double mass, bool is_log, double from, double to,
                      double sums[2])
{
    double a = fmax(low, from), b = fmin(high, to);
    if (!(a < b)) return;
    double part = mass * (is_log ? log(b / a) / log(high / low) : (b - a) / (high - low));
    sums[0] += part;
    sums[1] += part * (is_log ? (b - a) / log(b / a) : (a + b) / 2);
}

static void ask_histogram(const rivals *r, double from, double to, double *share, double *mean)
{
    double sums[2] = {0}, step = (r->most - r->least) / (double)r->bin_count;
    for (size_t b = 0; b < r->bin_count; b++)
        add_piece(exp(r->least + step * (double)b), exp(r->least + step * (double)(b + 1)),
                  (double)r->bins[b] / (double)r->n, true, from, to, sums);
    *share = sums[0];
    *mean = sums[1] / sums[0];
}

static void ask_quantiles(const rivals *r, double from, double to, double *share, double *mean)
{
    double sums[2] = {0}, mass = 1 / (double)(r->quantile_count - 1);
    for (size_t q = 0; q + 1 < r->quantile_count; q++) {
        double low = r->quantiles[q], high = r->quantiles[q + 1];
        if (low == high) {
            sums[0] += low > from && low < to ? mass : 0;
            sums[1] += low > from && low < to ? mass * low : 0;
        } else {
            add_piece(low, high, mass, false, from, to, sums);
        }
    }
    *share = sums[0];
    *mean = sums[1] / sums[0];
}

static void ask(const rivals *r, int way, double from, double to, double *share, double *mean)
{
    sf_aggregate count = {.size = sizeof count}, average = {.size = sizeof average};
    switch (way) {
    case 0:
        sf_synopsis_aggregate(&r->state, 1, SF_AGGREGATE_COUNT, &from, &to, 1, &count, NULL);
        sf_synopsis_aggregate(&r->state, 1, SF_AGGREGATE_AVERAGE, &from, &to, 1, &average, NULL);
        *share = count.estimate / (double)r->n;
        *mean = average.estimate;
        return;
    case 1:
        count_exactly(r->sample, r->sample_count, from, to, share, mean);
        return;
    case 2:
        ask_histogram(r, from, to, share, mean);
        return;
    default:
        ask_quantiles(r, from, to, share, mean);
    }
}

static bool open_state(rivals *r, const double *x, size_t n)
{
    sf_series *series = NULL;
    sf_density *density = NULL;
    sf_density_options options = sf_density_options_default();
    options.domain = SF_DOMAIN_LOG;
    bool good = sf_series_new(&series, x, n, 1, NULL) == SF_OK &&
                sf_density_find(&density, series, 0, &options, NULL) == SF_OK &&
                sf_synopsis_of(&r->state, density, NULL) == SF_OK;
    sf_density_free(density);
    sf_series_free(series);
    return good;
}

/* All rivals get the bytes that the state has. x ascends. */
static bool open_rivals(rivals *r, const double *x, size_t n)
{
    *r = (rivals){.n = n, .least = log(x[0]), .most = log(x[n - 1])};
    if (!open_state(r, x, n)) return false;
    r->bytes = 8 * sf_synopsis_size(&r->state) + sizeof r->state;
    r->sample_count = r->bytes / sizeof(double) < n ? r->bytes / sizeof(double) : n;
    r->quantile_count = r->sample_count;
    r->bin_count = r->bytes / sizeof(uint32_t);
    r->sample = sf_alloc(r->sample_count, sizeof(double));
    r->quantiles = sf_alloc(r->quantile_count, sizeof(double));
    r->bins = sf_alloc(r->bin_count, sizeof(uint32_t));
    if (r->sample == NULL || r->quantiles == NULL || r->bins == NULL) return false;
    for (size_t i = 0, left = r->sample_count, taken = 0; i < n && left > 0; i++) /* without replacement */
        if (uniform((uint32_t)i, 1) * (double)(n - i) < (double)left) {
            r->sample[taken++] = x[i];
            left--;
        }
    for (size_t q = 0; q < r->quantile_count; q++)
        r->quantiles[q] = x[q * (n - 1) / (r->quantile_count - 1)];
    for (size_t i = 0; i < n; i++) {
        double at = (log(x[i]) - r->least) / (r->most - r->least) * (double)r->bin_count;
        r->bins[at < (double)r->bin_count ? (size_t)at : r->bin_count - 1]++;
    }
    return true;
}

static void close_rivals(rivals *r)
{
    sf_synopsis_close(&r->state);
    sf_free(r->sample);
    sf_free(r->quantiles);
    sf_free(r->bins);
}

static double rank(double *values, size_t count, double share)
{
    sf_reals_sort(values, count);
    return count > 0 ? values[(size_t)(share * (double)(count - 1))] : NAN;
}

/* Errors of one way, by truth: of the share, and of the mean by itself. */
typedef struct errors {
    double share[TRUTHS][QUERIES], mean[TRUTHS][QUERIES];
    size_t means[TRUTHS];
    double seconds[QUERIES];
} errors;

static void ask_all(errors *e, const rivals *r, int way, const double *truths[TRUTHS], const size_t n[TRUTHS],
                    double tick, bool narrow)
{
    *e = (errors){.means = {0}};
    for (uint32_t q = 0; q < QUERIES; q++) {
        double width = pow(10, narrow ? -3 + uniform(q, 2) : -2 + 2 * uniform(q, 2));
        size_t first = (size_t)(uniform(q, 3) * (1 - width) * (double)(n[0] - 1));
        size_t last = first + (size_t)(width * (double)(n[0] - 1));
        double from = truths[0][first] - tick / 2, to = truths[0][last] + tick / 2; /* between ticks */
        double share, mean, true_share, true_mean, start = sf_clock_seconds();
        ask(r, way, from, to, &share, &mean);
        e->seconds[q] = (sf_clock_seconds() - start) / 2;
        for (int t = 0; t < TRUTHS; t++) {
            count_exactly(truths[t], n[t], from, to, &true_share, &true_mean);
            e->share[t][q] = fabs(share - true_share);
            double relative = fabs(mean / true_mean - 1);
            if (isfinite(relative)) e->mean[t][e->means[t]++] = relative;
        }
    }
}

/* Names without the folder, and no further than the first point. */
static void print_rows(const char *path, const char *unit, const double *seen, const double *others, size_t n,
                       size_t m, double tick)
{
    rivals r;
    static errors e;
    const char *slash = strrchr(path, '/');
    if (!open_rivals(&r, seen, n)) {
        close_rivals(&r);
        return;
    }
    printf("\n%.12s, unit %s: %zu intervals, %zu bytes (%" PRIu64 " modes, h %.3g)\n\n",
           slash != NULL ? slash + 1 : path, unit, n, r.bytes, r.state.axes[0].modes, r.state.h);
    printf("| ranges of | way | us an answer | COUNT, %% of n: median (95 %%) | unseen | AVG, %%: median (95 "
           "%%) | unseen |\n"
           "|---|---|---|---|---|---|---|\n");
    for (int narrow = 1; narrow >= 0; narrow--)
        for (int way = 0; way < WAYS; way++) {
            ask_all(&e, &r, way, (const double *[]){seen, others}, (const size_t[]){n, m}, tick, narrow == 1);
            printf("| %s | %s | %.1f |", narrow ? "0.1-1 %" : "1-100 %", way_names[way],
                   1e6 * rank(e.seconds, QUERIES, 0.5));
            for (int t = 0; t < TRUTHS; t++)
                printf(" %.3f (%.3f) |", 100 * rank(e.share[t], QUERIES, 0.5),
                       100 * rank(e.share[t], QUERIES, 0.95));
            for (int t = 0; t < TRUTHS; t++)
                printf(" %.2f (%.2f) |", 100 * rank(e.mean[t], e.means[t], 0.5),
                       100 * rank(e.mean[t], e.means[t], 0.95));
            printf("\n");
        }
    close_rivals(&r);
}

static void compare(const char *path, const sf_series_columns *all)
{
    size_t longest = 0;
    for (size_t s = 1; s < all->count; s++)
        if (all->first[s + 1] - all->first[s] > all->first[longest + 1] - all->first[longest]) longest = s;
    size_t n = all->first[longest + 1] - all->first[longest], half = n / 2;
    double *seen = sf_alloc(n, sizeof *seen), *others = seen + (n - half);
    if (seen != NULL && n >= 400) {
        for (size_t i = 0; i < n; i++)
            *(i % 2 == 0 ? seen + i / 2 : others + i / 2) = all->values[all->first[longest] + i];
        sf_reals_sort(seen, n - half);
        sf_reals_sort(others, half);
        print_rows(path, all->names[longest], seen, others, n - half, half, all->tick);
    }
    sf_free(seen);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        sf_error error;
        sf_recording *recording;
        sf_series *series = NULL;
        if (sf_recording_open(&recording, argv[i], NULL, NULL, &error) != SF_OK ||
            sf_series_of_recording(&series, recording, SF_QUANTITY_ISI, NULL, 0, NULL, &error) != SF_OK) {
            fprintf(stderr, "%s: %s\n", argv[i], error.text);
            return 1;
        }
        sf_series_columns all = {.size = sizeof all};
        sf_series_get_columns(series, &all);
        compare(argv[i], &all);
        sf_series_free(series);
        sf_recording_free(recording);
    }
    return 0;
}
