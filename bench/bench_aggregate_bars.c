/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Do the error bars of `synfire aggregate` hold? COUNT, SUM, AVG and VAR over random ranges, each of samples
 * of its own, beside what the distribution has that they are drawn from: how often it lies within one bar,
 * the root of the squares of sampling and smoothing, and within two. Prints the table of docs/density.md.
 * bench_aggregate_bars [RANGES [SAMPLES [FIRST [THREADS]]]] By default 1000 1000 1 0: FIRST is the first
 * seed.
 *
 * The ends of ranges are drawn evenly between the first and the last of a thousand samples; of samples on
 * ticks every second one lies on a tick. What the distribution has is that of 400,000 samples.
 */
#include "core/memory.h"
#include "core/random.h"
#include "core/reals.h"
#include "core/thread.h"

#include <synfire/density.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { REFERENCE = 400000, ORDER = 1000, OPS = 4 };

static double normal(sf_random *random)
{
    return 10 + 2 * sf_random_normal(random);
}

/* Bursts and pauses. */
static double interval(sf_random *random)
{
    double z = sf_random_normal(random);
    return sf_random_uniform(random) < 0.3 ? 2 + 4 * exp(0.4 * z) : 2 + 50 * exp(0.7 * z);
}

/* Poisson. */
static double count(sf_random *random)
{
    double k = -1;
    for (double at = 0; at < 6.4; k++)
        at += sf_random_exponential(random);
    return k;
}

/* Silent in half of the windows. */
static double states(sf_random *random)
{
    return sf_random_uniform(random) < 0.5 ? 0 : count(random);
}

static double exponential(sf_random *random)
{
    return 50 * sf_random_exponential(random);
}

typedef struct setting {
    const char *name;
    double (*draw)(sf_random *random);
    double tick, shift; /* rounded to whole ticks, where there are any, then shifted */
    sf_domain domain;
} setting;

static const setting settings[] = {
    {"normal", normal, 0, 0, SF_DOMAIN_LINE},
    {"intervals, logarithm", interval, 0, 0, SF_DOMAIN_LOG},
    {"exponential, reflected", exponential, 0, 0, SF_DOMAIN_REFLECT},
    {"normal, Unix time", normal, 0, 1.7e9, SF_DOMAIN_LINE},
    {"counts, mean 6.4", count, 1, 0, SF_DOMAIN_LINE},
    {"counts, half of them 0", states, 1, 0, SF_DOMAIN_LINE},
    {"counts, half of them 0, reflected", states, 1, 0, SF_DOMAIN_REFLECT},
    {"normal, ticks of 0.1", normal, 0.1, 0, SF_DOMAIN_LINE},
    {"normal, ticks of 0.25, Unix time", normal, 0.25, 1.7e9, SF_DOMAIN_LINE},
    {"intervals, ticks of 0.5, logarithm", interval, 0.5, 0, SF_DOMAIN_LOG},
    {"exponential, ticks of 1, reflected", exponential, 1, 0, SF_DOMAIN_REFLECT},
};

enum { KINDS = sizeof settings / sizeof settings[0] };

static double draw(const setting *of, sf_random *random)
{
    double x = of->draw(random);
    while (of->domain == SF_DOMAIN_LOG && of->tick > 0 && x < of->tick / 2)
        x = of->draw(random);
    x = of->tick > 0 ? round(x / of->tick) * of->tick : x;
    return x + of->shift;
}

/* Ascending, and their sums from the shift. */
typedef struct reference {
    double x[REFERENCE], sum[REFERENCE + 1], squares[REFERENCE + 1];
} reference;

static void make_reference(reference *of, const setting *kind, uint64_t seed)
{
    sf_random random = sf_random_start(seed, 0);
    for (size_t i = 0; i < REFERENCE; i++)
        of->x[i] = draw(kind, &random);
    sf_reals_sort(of->x, REFERENCE);
    for (size_t i = 0; i < REFERENCE; i++) {
        double x = of->x[i] - kind->shift;
        of->sum[i + 1] = of->sum[i] + x;
        of->squares[i + 1] = of->squares[i] + x * x;
    }
}

/* What n samples have between two values on average. */
static void find_truth(double truth[OPS], const reference *of, double shift, double n, double from, double to)
{
    size_t first = sf_reals_lower_bound(of->x, REFERENCE, nextafter(from, INFINITY));
    size_t end = sf_reals_lower_bound(of->x, REFERENCE, to);
    double inside = end > first ? (double)(end - first) : 0;
    double mean = (of->sum[end] - of->sum[first]) / inside;
    truth[SF_AGGREGATE_COUNT] = inside * n / REFERENCE;
    truth[SF_AGGREGATE_SUM] = inside > 0 ? truth[SF_AGGREGATE_COUNT] * (mean + shift) : 0;
    truth[SF_AGGREGATE_AVERAGE] = mean + shift;
    truth[SF_AGGREGATE_VARIANCE] = (of->squares[end] - of->squares[first]) / inside - mean * mean;
}

typedef struct plan {
    uint64_t ranges, samples, first, threads;
    const setting *of;
    const reference *truth;
    double (*off)[OPS]; /* of each range, in bars; NaN: nothing is in it */
} plan;

static double draw_end(const plan *p, sf_random *random)
{
    double least = p->truth->x[REFERENCE / ORDER], most = p->truth->x[REFERENCE - REFERENCE / ORDER - 1];
    double end = least + (most - least) * sf_random_uniform(random), tick = p->of->tick;
    return tick > 0 && sf_random_uniform(random) < 0.5
               ? p->of->shift + round((end - p->of->shift) / tick) * tick
               : end;
}

static int try_range(void *context, unsigned worker, size_t item)
{
    (void)worker;
    const plan *p = context;
    sf_random random = sf_random_start(p->first + item, 1 + (uint64_t)(p->of - settings));
    sf_series *series = NULL;
    sf_density *density = NULL;
    sf_error error = {.text = ""};
    sf_density_options options = sf_density_options_default();
    double *x = sf_alloc((size_t)p->samples, sizeof *x), truth[OPS];
    for (size_t i = 0; x != NULL && i < p->samples; i++)
        x[i] = draw(p->of, &random);
    double one = draw_end(p, &random), other = draw_end(p, &random);
    while (one == other)
        other = draw_end(p, &random);
    double from = fmin(one, other), to = fmax(one, other);
    find_truth(truth, p->truth, p->of->shift, (double)p->samples, from, to);
    options.domain = p->of->domain;
    options.threads = 1;
    int status = x == NULL ? SF_NO_MEMORY : sf_series_new(&series, x, (size_t)p->samples, 1, &error);
    if (status == SF_OK) status = sf_density_find(&density, series, 0, &options, &error);
    for (int op = 0; status == SF_OK && op < OPS; op++) {
        sf_aggregate answer = {.size = sizeof answer};
        status = sf_density_aggregate(density, (sf_aggregate_kind)op, &from, &to, 1, &answer, NULL, &error);
        double off = fabs(answer.estimate - truth[op]),
               bar = hypot(answer.sampling_error, answer.smoothing_error);
        double rounding = 1e-12 * fabs(truth[op]);
        p->off[item][op] = off <= rounding ? 0 : off / bar;
    }
    if (status != SF_OK) fprintf(stderr, "%s, range %zu: %s\n", p->of->name, item, error.text);
    sf_density_free(density);
    sf_series_free(series);
    sf_free(x);
    return status;
}

static void print_row(const plan *p)
{
    printf("| %s |", p->of->name);
    for (int op = 0; op < OPS; op++) {
        double told = 0, one = 0, two = 0;
        for (size_t i = 0; i < p->ranges; i++) {
            told += !isnan(p->off[i][op]);
            one += p->off[i][op] <= 1;
            two += p->off[i][op] <= 2;
        }
        printf(" %.0f, %.0f |", 100 * one / told, 100 * two / told);
    }
    printf("\n");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    uint64_t asked[] = {1000, 1000, 1, 0};
    for (int i = 1; i < argc && i <= 4; i++)
        asked[i - 1] = strtoull(argv[i], NULL, 10);
    plan p = {asked[0], asked[1], asked[2], asked[3], NULL, NULL, NULL};
    reference *truth = sf_alloc(1, sizeof *truth);
    p.off = sf_alloc((size_t)p.ranges, sizeof *p.off);
    p.truth = truth;
    if (truth == NULL || p.off == NULL) return EXIT_FAILURE;
    printf("| samples | count | sum | avg | var |\n|---|---|---|---|---|\n");
    for (size_t k = 0; k < KINDS; k++) {
        p.of = &settings[k];
        make_reference(truth, p.of, p.first + 1000000);
        if (sf_parallel_for(p.threads > 0 ? (unsigned)p.threads : sf_thread_cores(), (size_t)p.ranges,
                            try_range, &p) != SF_OK)
            return EXIT_FAILURE;
        print_row(&p);
    }
    sf_free(p.off);
    sf_free(truth);
    return EXIT_SUCCESS;
}
