/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How good is each bandwidth selector? Samples of known densities; the integrated squared error of the
 * estimate over that of the best bandwidth for the same samples (1 is perfect), median and worst of 20 draws.
 * Prints the table of docs/density.md.
 */
#include "core/memory.h"
#include "core/reals.h"
#include "core/thread.h"
#include "density/kernels.h"
#include "density/select.h"

#include <Random123/philox.h>
#include <math.h>
#include <stdio.h>

enum { DRAWS = 20, POINTS = 8000, TRIED = 121 };

static double uniform(uint32_t index, uint32_t draw, uint32_t stream)
{
    philox4x32_ctr_t at = {{index, draw, stream, 0}};
    philox4x32_key_t key = {{0xde, 0xacc}};
    philox4x32_ctr_t bits = philox4x32(at, key);
    return ((double)((uint64_t)bits.v[0] << 21 ^ bits.v[1] >> 11) + 0.5) * 0x1p-53;
}

static double normal(uint32_t index, uint32_t draw)
{
    return sqrt(-2 * log(uniform(index, draw, 0))) * cos(2 * M_PI * uniform(index, draw, 1));
}

static double bell(double x, double mean, double sigma)
{
    double z = (x - mean) / sigma;
    return exp(-0.5 * z * z) / (sigma * sqrt(2 * M_PI));
}

/* Of scale * exp(sigma z) + shift. */
static double log_bell(double x, double shift, double scale, double sigma)
{
    return x > shift ? bell(log((x - shift) / scale), 0, sigma) / (x - shift) : 0;
}

typedef struct known_density {
    const char *name;
    double from, to; /* all but 1e-6 of it lies here */
    double (*draw)(uint32_t index, uint32_t draw);
    double (*density)(double x);
} known_density;

static double draw_normal(uint32_t i, uint32_t draw)
{
    return normal(i, draw);
}

static double normal_density(double x)
{
    return bell(x, 0, 1);
}

static double draw_intervals(uint32_t i, uint32_t draw)
{
    double z = normal(i, draw);
    return uniform(i, draw, 2) < 0.3 ? 2 + 4 * exp(0.4 * z) : 2 + 50 * exp(0.7 * z);
}

static double interval_density(double x)
{
    return 0.3 * log_bell(x, 2, 4, 0.4) + 0.7 * log_bell(x, 2, 50, 0.7);
}

static double draw_rates(uint32_t i, uint32_t draw)
{
    double u = uniform(i, draw, 2), z = normal(i, draw);
    return u < 0.5 ? 6 + 1.2 * z : u < 0.8 ? 20 + 4 * z : 60 + 8 * z;
}

static double rate_density(double x)
{
    return 0.5 * bell(x, 6, 1.2) + 0.3 * bell(x, 20, 4) + 0.2 * bell(x, 60, 8);
}

static double draw_delays(uint32_t i, uint32_t draw)
{
    return uniform(i, draw, 2) < 0.8 ? 12 + 0.8 * normal(i, draw) : 10 - 15 * log(uniform(i, draw, 3));
}

static double delay_density(double x)
{
    return 0.8 * bell(x, 12, 0.8) + (x > 10 ? 0.2 * exp(-(x - 10) / 15) / 15 : 0);
}

static const known_density densities[] = {
    {"normal", -6, 6, draw_normal, normal_density},
    {"intervals", 0, 1500, draw_intervals, interval_density},
    {"rates", -1, 100, draw_rates, rate_density},
    {"delays", 5, 220, draw_delays, delay_density},
};

/* Points are dense where the density is: at its own quantiles, so that 8,000 are enough. */
static void lay_points(const known_density *known, double *points)
{
    enum { FINE = 400000 };
    double step = (known->to - known->from) / FINE, total = 0, sum = 0;
    for (int i = 0; i < FINE; i++)
        total +=
            known->density(known->from + (i + 0.5) * step) * step + 0.3 * step / (known->to - known->from);
    int next = 0;
    for (int i = 0; i < FINE && next < POINTS; i++) {
        double x = known->from + (i + 0.5) * step;
        sum += known->density(x) * step + 0.3 * step / (known->to - known->from);
        while (next < POINTS && sum >= total * next / (POINTS - 1) * (1 - 1e-12))
            points[next++] = x;
    }
    while (next < POINTS)
        points[next++] = known->to;
}

static double squared_error(const known_density *known, const double *points, const double *x, size_t n,
                            double h)
{
    double values[POINTS], sum = 0;
    sf_samples samples = {.values = (double *)(uintptr_t)x, .n = n, .d = 1};
    sf_kernels kernels;
    sf_kernels_open(&kernels, &samples, h, SF_DOMAIN_LINE, NULL);
    sf_kernels_density(&kernels, values, points, POINTS, sf_thread_cores(), NULL, NULL);
    sf_kernels_close(&kernels);
    for (int k = 0; k < POINTS; k++)
        values[k] = pow(values[k] - known->density(points[k]), 2);
    for (int k = 1; k < POINTS; k++)
        sum += (values[k] + values[k - 1]) / 2 * (points[k] - points[k - 1]);
    return sum;
}

static void measure(const known_density *known, size_t n)
{
    static double points[POINTS], ratios[8][DRAWS];
    lay_points(known, points);
    double *x = sf_resize(NULL, n, sizeof *x);
    size_t methods = 0;
    while (sf_selector_at(methods) != NULL)
        methods++;
    for (uint32_t draw = 0; x != NULL && draw < DRAWS; draw++) {
        for (size_t i = 0; i < n; i++)
            x[i] = known->draw((uint32_t)i, draw);
        sf_samples samples = {.values = x, .n = n, .d = 1};
        sf_bandwidth_options how = {.threads = 1};
        double best = INFINITY, sigma = 1;
        for (size_t m = 0; m < methods; m++) {
            sf_bandwidth found;
            if (sf_bandwidth_select(&found, sf_selector_at(m), &samples, &how, NULL) != SF_OK) continue;
            ratios[m][draw] = squared_error(known, points, x, n, found.h);
            sigma = found.h / found.h_relative;
            sf_bandwidth_free(&found);
        }
        for (int i = 0; i < TRIED; i++)
            best =
                fmin(best, squared_error(known, points, x, n, sigma * 0.002 * pow(500, i / (TRIED - 1.0))));
        for (size_t m = 0; m < methods; m++)
            ratios[m][draw] /= best;
    }
    sf_free(x);
    printf("| %s, n = %zu |", known->name, n);
    for (size_t m = 0; m < methods; m++) {
        sf_reals_sort(ratios[m], DRAWS);
        printf(" %.2f (%.2f) |", (ratios[m][DRAWS / 2 - 1] + ratios[m][DRAWS / 2]) / 2, ratios[m][DRAWS - 1]);
    }
    printf("\n");
    fflush(stdout);
}

int main(void)
{
    printf("| samples |");
    for (size_t m = 0; sf_selector_at(m) != NULL; m++)
        printf(" %s |", sf_selector_name(sf_selector_at(m)));
    printf("\n|---|");
    for (size_t m = 0; sf_selector_at(m) != NULL; m++)
        printf("---|");
    printf("\n");
    static const size_t sizes[] = {200, 1000, 5000};
    for (size_t d = 0; d < sizeof densities / sizeof densities[0]; d++)
        for (size_t s = 0; s < 3; s++)
            measure(&densities[d], sizes[s]);
    return 0;
}
