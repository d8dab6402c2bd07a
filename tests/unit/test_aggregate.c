/* SPDX-License-Identifier: Apache-2.0 */
#include "support/support.h"

#include "density/aggregate.h"
#include "oracle/density_oracle.h"

#include <math.h>

enum { N = 200 };

/* Simpson's rule over the evaluated density. */
static sf_range_moments integrate(const double *x, double h, sf_domain domain, double from, double to)
{
    enum { STEPS = 4000 };
    double points[STEPS + 1], values[STEPS + 1];
    sf_range_moments sum = {0};
    for (int i = 0; i <= STEPS; i++)
        points[i] = from + (to - from) * i / STEPS;
    assert_int_equal(check_kernels(values, points, STEPS + 1, x, N, h, domain, 1, NULL), SF_OK);
    for (int i = 0; i <= STEPS; i++) {
        double weight = (i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2) * (to - from) / (3.0 * STEPS);
        weight /= domain == SF_DOMAIN_LOG ? points[i] : 1; /* that density is per unit of the logarithm */
        sum.share += weight * values[i];
        sum.first += weight * values[i] * points[i];
        sum.second += weight * values[i] * points[i] * points[i];
    }
    return sum;
}

static void ranges_are_integrals_of_the_density(void **state)
{
    (void)state;
    size_t columns;
    double *x = check_samples("isi", N, &columns);
    sf_samples samples = {.values = x, .n = N, .d = 1};
    static const sf_domain domains[] = {SF_DOMAIN_LINE, SF_DOMAIN_LOG, SF_DOMAIN_REFLECT};
    static const double ranges[][2] = {{2, 6}, {0.5, 300}, {20, 21}, {400, 500}};
    for (size_t d = 0; d < 3; d++)
        for (size_t r = 0; r < 4; r++) {
            double from = ranges[r][0], to = ranges[r][1], h = domains[d] == SF_DOMAIN_LOG ? 0.2 : 4;
            sf_range_moments found, expected = integrate(x, h, domains[d], from, to);
            assert_int_equal(sf_range_moments_direct(&found, &samples, h, domains[d], from, to, NULL), SF_OK);
            double second =
                found.second + 2 * found.pivot * found.first + found.pivot * found.pivot * found.share;
            assert_true(fabs(found.share - expected.share) < 1e-8);
            assert_true(fabs(sf_range_total(&found) - expected.first) < 1e-8 * to);
            assert_true(fabs(second - expected.second) < 1e-8 * to * to);
            double average = expected.first / expected.share;
            if (expected.share > 1e-3) assert_true(fabs(sf_range_average(&found) - average) < 1e-5 * average);
        }
    free(x);
}

/* Everything: the whole line holds all samples, their mean, and their variance and the kernel's. */
static void the_whole_line_holds_everything(void **state)
{
    (void)state;
    double x[N], mean = 0, variance = 0;
    for (int i = 0; i < N; i++)
        mean += (double)(i % 17) / N;
    mean += 1e9; /* far from 0: the pivot keeps the digits */
    for (int i = 0; i < N; i++)
        x[i] = 1e9 + i % 17;
    for (int i = 0; i < N; i++)
        variance += (x[i] - mean) * (x[i] - mean) / N;
    sf_range_moments found;
    sf_samples samples = {.values = x, .n = N, .d = 1};
    assert_int_equal(sf_range_moments_direct(&found, &samples, 2, SF_DOMAIN_LINE, 1e9 - 100, 1e9 + 100, NULL),
                     SF_OK);
    assert_true(fabs(found.share - 1) < 1e-14);
    assert_true(fabs(sf_range_average(&found) - mean) < 1e-6);
    assert_true(fabs(sf_range_variance(&found) - variance - 4) < 1e-9);
    assert_int_equal(sf_range_moments_direct(&found, &samples, 2, SF_DOMAIN_LINE, 0, 1, NULL), SF_OK);
    assert_true(found.share == 0 && isnan(sf_range_average(&found)) && isnan(sf_range_variance(&found)));
}

static void assert_same_moments(const sf_range_moments *found, const sf_range_moments *expected)
{
    assert_true(fabs(found->share - expected->share) < 1e-12);
    assert_true(fabs(sf_range_total(found) - sf_range_total(expected)) < 1e-9);
    assert_true(fabs(sf_range_average(found) - sf_range_average(expected)) < 1e-9);
    assert_true(fabs(sf_range_variance(found) - sf_range_variance(expected)) < 1e-8);
}

/* A range without an end is one that ends behind all samples; from 0 on where they are above it. */
static void open_ranges_hold_what_wide_ones_hold(void **state)
{
    (void)state;
    enum { WIDE = 100 };
    static const sf_domain domains[] = {SF_DOMAIN_LINE, SF_DOMAIN_LOG, SF_DOMAIN_REFLECT};
    static const double open[][2] = {{-INFINITY, INFINITY}, {4, INFINITY}, {-INFINITY, 4}};
    static const double wide[][2] = {{-WIDE, WIDE}, {4, WIDE}, {-WIDE, 4}};
    double rows[3 * N];
    for (int i = 0; i < 3 * N; i++)
        rows[i] = 1 + (i * 7 % 31) / 5.0;
    for (int r = 0; r < 3; r++) {
        sf_range_moments found, expected;
        sf_samples samples = {.values = rows, .n = N, .d = 1};
        for (int k = 0; k < 3; k++) {
            assert_int_equal(
                sf_range_moments_direct(&found, &samples, 0.3, domains[k], open[r][0], open[r][1], NULL),
                SF_OK);
            assert_int_equal(
                sf_range_moments_direct(&expected, &samples, 0.3, domains[k], wide[r][0], wide[r][1], NULL),
                SF_OK);
            assert_same_moments(&found, &expected);
        }
        for (size_t d = 1; d <= 3; d++)
            for (size_t c = 0; c < d; c++) { /* the other columns are cut */
                double from[3] = {2, 2, 2}, to[3] = {6, 6, 6};
                from[c] = open[r][0];
                to[c] = open[r][1];
                assert_int_equal(sf_box_moments(&found, rows, N, d, 0.5, from, to, NULL, NULL), SF_OK);
                from[c] = wide[r][0];
                to[c] = wide[r][1];
                assert_int_equal(sf_box_moments(&expected, rows, N, d, 0.5, from, to, NULL, NULL), SF_OK);
                assert_same_moments(&found, &expected);
            }
    }
}

/* Integrals of y^power over x from..to and y from..to of the product kernel's density, by a fine grid. */
static double integrate_plane(const double rows[][2], size_t n, const double h[2], const double from[2],
                              const double to[2], int power, double slope)
{
    enum { STEPS = 800 };
    double sum = 0, cell = (to[0] - from[0]) * (to[1] - from[1]) / ((double)STEPS * STEPS);
    for (int a = 0; a < STEPS; a++)
        for (int b = 0; b < STEPS; b++) {
            double x = from[0] + (to[0] - from[0]) * (a + 0.5) / STEPS;
            double y = from[1] + (to[1] - from[1]) * (b + 0.5) / STEPS, density = 0;
            for (size_t i = 0; i < n; i++) {
                double u = (x - rows[i][0]) / h[0], v = (y - rows[i][1] - slope * (x - rows[i][0])) / h[1];
                density += exp(-0.5 * (u * u + v * v)) / (6.283185307179586 * h[0] * h[1] * (double)n);
            }
            sum += pow(y, power) * density * cell;
        }
    return sum;
}

static void assert_near(double found, double expected, double tolerance)
{
    if (!(fabs(found - expected) <= tolerance)) fail_msg("%.12g, expected %.12g", found, expected);
}

static void covariance_of(const double rows[][2], size_t n, double *xx, double *xy, double *yy)
{
    double x_mean = 0, y_mean = 0, count = (double)n;
    *xx = *xy = *yy = 0;
    for (size_t i = 0; i < n; i++) {
        x_mean += rows[i][0] / count;
        y_mean += rows[i][1] / count;
    }
    for (size_t i = 0; i < n; i++) {
        *xx += (rows[i][0] - x_mean) * (rows[i][0] - x_mean) / (count - 1);
        *xy += (rows[i][0] - x_mean) * (rows[i][1] - y_mean) / (count - 1);
        *yy += (rows[i][1] - y_mean) * (rows[i][1] - y_mean) / (count - 1);
    }
}

/* Kernels lean as the samples do: of columns that hardly correlate, and of some that do so by 0.98. */
static void boxes_are_integrals_of_the_leaning_density(void **state)
{
    (void)state;
    static const double sets[2][5][2] = {{{0, 0}, {1, 2}, {-1, 1}, {2, 3}, {0.5, -1}},
                                         {{0, 0.1}, {1, 2}, {-1, -2.1}, {2, 3.6}, {0.5, 1.4}}};
    static const double from[] = {-0.5, -0.7}, to[] = {1.2, 2};
    for (int s = 0; s < 2; s++) {
        double xx, xy, yy, h = 0.7;
        covariance_of(sets[s], 5, &xx, &xy, &yy);
        const double width[] = {h * sqrt(xx), h * sqrt(yy - xy * xy / xx)};
        sf_range_moments found;
        assert_int_equal(sf_box_moments(&found, sets[s][0], 5, 2, h, from, to, NULL, NULL), SF_OK);
        double share = integrate_plane(sets[s], 5, width, from, to, 0, xy / xx),
               sum = integrate_plane(sets[s], 5, width, from, to, 1, xy / xx),
               squares = integrate_plane(sets[s], 5, width, from, to, 2, xy / xx);
        assert_near(found.share, share, 1e-5);
        assert_near(sf_range_total(&found), sum, 1e-5);
        assert_near(sf_range_variance(&found), squares / share - sum / share * sum / share, 1e-4);
    }
}

/* A box of 1,000 correlated rows holds what the density over the plane says, and about what it holds. */
static void a_box_of_correlated_columns_holds_what_is_true(void **state)
{
    (void)state;
    enum { ROWS = 1000, STEPS = 200 };
    static double values[STEPS * STEPS];
    size_t columns;
    double *set = check_samples("gauss16", ROWS, &columns), *rows = malloc(2 * ROWS * sizeof *rows);
    for (size_t i = 0; i < ROWS; i++) {
        rows[2 * i] = set[i * columns];
        rows[2 * i + 1] = 0.9 * set[i * columns] + 0.3 * set[i * columns + 5];
    }
    const double from[] = {-0.5, -0.6}, to[] = {0.5, 0.7}, h = pow(ROWS, -1.0 / 6);
    double x[STEPS], y[STEPS], integral = 0;
    for (int k = 0; k < STEPS; k++) {
        x[k] = from[0] + (to[0] - from[0]) * (k + 0.5) / STEPS;
        y[k] = from[1] + (to[1] - from[1]) * (k + 0.5) / STEPS;
    }
    assert_int_equal(
        sf_density_evaluate_plane(values, x, STEPS, y, STEPS, rows, NULL, ROWS, h, 1, NULL, NULL), SF_OK);
    for (int k = 0; k < STEPS * STEPS; k++)
        integral += values[k] * (to[0] - from[0]) * (to[1] - from[1]) / (STEPS * STEPS);
    sf_range_moments found, exact;
    assert_int_equal(sf_box_moments(&found, rows, ROWS, 2, h, from, to, NULL, NULL), SF_OK);
    sf_box_moments_exact(&exact, rows, ROWS, 2, from, to, 2);
    assert_near(found.share, integral, 1e-5);
    assert_near(found.share, exact.share, 0.1 * exact.share);
    free(rows);
    free(set);
}

/* Spikes at more electrodes than are remembered at a time: all of them thrice, in other orders, hold what
 * they do once, by kernels as wide (of n samples thrice the variance is that of one, but for n - 1). */
static void places_that_come_again_hold_the_same(void **state)
{
    (void)state;
    enum { SIDE = 60, PLACES = SIDE * SIDE, TIMES = 3 };
    static const size_t strides[TIMES] = {7, 11, 13}; /* no factor of PLACES */
    static double once[2 * PLACES], again[2 * PLACES * TIMES];
    for (size_t i = 0; i < PLACES; i++) {
        once[2 * i] = 42.0 * (double)(i % SIDE);
        once[2 * i + 1] = 42.0 * (double)(i / SIDE) + 7.0 * (double)(i % SIDE);
        for (size_t k = 0; k < TIMES; k++) {
            size_t at = 2 * (k * PLACES + (i * strides[k]) % PLACES);
            again[at] = once[2 * i];
            again[at + 1] = once[2 * i + 1];
        }
    }
    const double from[] = {400, 300}, to[] = {1500, 2500}, h = 0.1;
    const double as_wide = h * sqrt((TIMES * PLACES - 1.0) / (TIMES * (PLACES - 1.0)));
    sf_range_moments first, all;
    assert_int_equal(sf_box_moments(&first, once, PLACES, 2, h, from, to, NULL, NULL), SF_OK);
    assert_int_equal(sf_box_moments(&all, again, TIMES * PLACES, 2, as_wide, from, to, NULL, NULL), SF_OK);
    assert_near(all.share, first.share, 1e-12);
    assert_near(sf_range_total(&all), sf_range_total(&first), 1e-9);
    assert_near(sf_range_variance(&all), sf_range_variance(&first), 1e-6);
}

/* Of three columns that lean, against a sum over points in the box. */
static void boxes_of_three_columns_lean_too(void **state)
{
    (void)state;
    enum { ROWS = 40, STEPS = 60 };
    double rows[ROWS][3], h = 0.6, share = 0, total = 0;
    test_random random = test_random_start("three columns", 9);
    for (int i = 0; i < ROWS; i++) {
        double a = test_random_unit(&random), b = test_random_unit(&random), c = test_random_unit(&random);
        rows[i][0] = a;
        rows[i][1] = 0.8 * a + 0.4 * b;
        rows[i][2] = 0.5 * a - 0.5 * b + 0.4 * c;
    }
    const double from[] = {0.2, 0.1, -0.3}, to[] = {0.9, 0.8, 0.5};
    double mean[3] = {0}, s[3][3] = {{0}};
    for (int i = 0; i < ROWS * 3; i++)
        mean[i % 3] += rows[i / 3][i % 3] / ROWS;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < 9; j++)
            s[j / 3][j % 3] +=
                h * h * (rows[i][j / 3] - mean[j / 3]) * (rows[i][j % 3] - mean[j % 3]) / (ROWS - 1);
    double minors[3][3], det = 0; /* the inverse by cofactors */
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) {
            int a1 = (a + 1) % 3, a2 = (a + 2) % 3, b1 = (b + 1) % 3, b2 = (b + 2) % 3;
            minors[a][b] = s[a1][b1] * s[a2][b2] - s[a1][b2] * s[a2][b1];
        }
    for (int b = 0; b < 3; b++)
        det += s[0][b] * minors[0][b];
    double cell = 1;
    for (int c = 0; c < 3; c++)
        cell *= (to[c] - from[c]) / STEPS;
    for (int k = 0; k < STEPS * STEPS * STEPS; k++) {
        const int places[] = {k % STEPS, k / STEPS % STEPS, k / STEPS / STEPS};
        double at[3], density = 0;
        for (int c = 0; c < 3; c++)
            at[c] = from[c] + (to[c] - from[c]) * (places[c] + 0.5) / STEPS;
        for (int i = 0; i < ROWS; i++) {
            double square = 0;
            for (int j = 0; j < 9; j++)
                square +=
                    (at[j / 3] - rows[i][j / 3]) * minors[j / 3][j % 3] / det * (at[j % 3] - rows[i][j % 3]);
            density += exp(-0.5 * square) / (sqrt(pow(6.283185307179586, 3) * det) * ROWS);
        }
        share += density * cell;
        total += density * at[2] * cell;
    }
    sf_range_moments found;
    assert_int_equal(sf_box_moments(&found, rows[0], ROWS, 3, h, from, to, NULL, NULL), SF_OK);
    assert_near(found.share, share, 1e-3 * share);
    assert_near(sf_range_average(&found), total / share, 1e-3);
    const double all_from[] = {-50, -50, -50}, all_to[] = {50, 50, 50};
    assert_int_equal(sf_box_moments(&found, rows[0], ROWS, 3, h, all_from, all_to, NULL, NULL), SF_OK);
    assert_near(found.share, 1, 1e-12);
    assert_near(sf_range_variance(&found), s[2][2] * (1 + (ROWS - 1) / (ROWS * h * h)), 1e-10);
}

/* The joint kernel leans with the samples: its slope and what is left of its height are written out here. */
static void what_is_linked_to_a_range_is_the_integral_over_it(void **state)
{
    (void)state;
    static const double rows[][2] = {{0, 0}, {1, 2}, {-1, 1}, {2, 3}, {0.5, -1}};
    double y_mean = 1, xx, xy, yy, h = 0.7;
    covariance_of(rows, 5, &xx, &xy, &yy);
    const double width[] = {h * sqrt(xx), h * sqrt(yy - xy * xy / xx)}, from[] = {-0.5, -14},
                 to[] = {1.2, 16};
    sf_range_moments found;
    assert_int_equal(sf_linked_moments(&found, rows[0], 5, h, from[0], to[0], NULL), SF_OK);
    double share = integrate_plane(rows, 5, width, from, to, 0, xy / xx),
           sum = integrate_plane(rows, 5, width, from, to, 1, xy / xx),
           squares = integrate_plane(rows, 5, width, from, to, 2, xy / xx);
    assert_near(found.share, share, 1e-6);
    assert_near(sf_range_total(&found), sum, 1e-5);
    assert_near(sf_range_variance(&found), squares / share - sum / share * sum / share, 1e-4);
    assert_int_equal(sf_linked_moments(&found, rows[0], 5, h, -INFINITY, INFINITY, NULL), SF_OK);
    assert_near(found.share, 1, 1e-15);
    assert_near(sf_range_average(&found), y_mean, 1e-15);
    assert_near(sf_range_variance(&found), yy * (0.8 + h * h), 1e-14);
}

static void rows_in_a_box_are_counted_as_they_are(void **state)
{
    (void)state;
    static const double rows[] = {0, 10, 1, 20, 2, 40, 3, 80}, from[] = {0.5, 15}, to[] = {3, 30};
    sf_range_moments found;
    sf_box_moments_exact(&found, rows, 4, 2, from, to, 1);
    assert_near(found.share, 0.5, 0);
    assert_near(sf_range_average(&found), 30, 1e-14);
    assert_near(sf_range_variance(&found), 100, 1e-12);
    sf_box_moments_exact(&found, rows, 4, 2, from, to, 2);
    assert_near(found.share, 0.25, 0);
    assert_near(sf_range_total(&found), 5, 1e-14);
}

static void what_makes_no_sense_is_refused(void **state)
{
    (void)state;
    sf_error error;
    sf_range_moments found;
    double x[] = {1, -2}, from = 2, to = 2;
    sf_samples two = {.values = x, .n = 2, .d = 1}, none = {.values = x, .d = 1};
    test_assert_fails(sf_range_moments_direct(&found, &two, 0, SF_DOMAIN_LINE, 0, 1, &error), &error,
                      SF_USAGE, "bandwidth 0");
    test_assert_fails(sf_range_moments_direct(&found, &two, 1, SF_DOMAIN_LINE, 1, 1, &error), &error,
                      SF_USAGE, "start before its end");
    test_assert_fails(sf_range_moments_direct(&found, &two, 1, SF_DOMAIN_LOG, 0, 1, &error), &error, SF_DATA,
                      "above 0");
    test_assert_fails(sf_range_moments_direct(&found, &none, 1, SF_DOMAIN_LINE, 0, 1, &error), &error,
                      SF_DATA, "no sample");
    test_assert_fails(sf_box_moments(&found, x, 2, 1, 1, &from, &to, NULL, &error), &error, SF_USAGE,
                      "start before");
    static const double line[] = {1, 2, 2, 4, 3, 6}, low[] = {0, 0}, high[] = {1, 1};
    test_assert_fails(sf_box_moments(&found, line, 3, 2, 1, low, high, NULL, &error), &error, SF_DATA,
                      "singular");
    static const double same[] = {3, 1, 3, 2};
    test_assert_fails(sf_linked_moments(&found, same, 2, 1, 0, 1, &error), &error, SF_DATA,
                      "first column are equal");
    test_assert_fails(sf_linked_moments(&found, same, 1, 1, 0, 1, &error), &error, SF_DATA, "at least 2");
}

/* ---- the clock ---- */

/* Normal values, as they are drawn or on ticks. */
static void draw_values(double *x, size_t n, double tick, double shift, uint64_t seed)
{
    test_random random = test_random_start("values", seed);
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (int k = 0; k < 12; k++)
            sum += test_random_unit(&random) - 0.5;
        sum = 10 + 2 * sum;
        x[i] = (tick > 0 ? tick * round(sum / tick) : sum) + shift;
    }
}

static sf_samples samples_of(double *x, size_t n)
{
    sf_samples samples = {.values = x, .n = n, .d = 1};
    assert_int_equal(sf_samples_find_clock(&samples, NULL), SF_OK);
    return samples;
}

static void a_clock_is_found_far_from_zero(void **state)
{
    (void)state;
    double x[N];
    draw_values(x, N, 0, 1.7e9, 3);
    assert_true(samples_of(x, N).tick == 0); /* some differ by a few units in the last place */
    draw_values(x, N, 0.25, 1.7e9, 3);
    assert_true(samples_of(x, N).tick == 0.25);
    draw_values(x, N, 0.1, 1.7e9, 3); /* no double is a tenth */
    sf_samples tenths = samples_of(x, N);
    assert_true(fabs(tenths.tick - 0.1) < 1e-6);
    assert_true(fabs(sf_samples_ticks(&tenths).tick - 0.1) < 1e-7);
    draw_values(x, N, 1, 0, 3);
    x[0] = 1e12; /* one far out */
    assert_true(samples_of(x, N).tick == 1);
    for (int i = 0; i < N; i++) /* differences of times of an hour */
        x[i] = (3600 + 0.01 * (1 + i % 7)) - 3600;
    x[1] += 1e-13;
    assert_true(fabs(samples_of(x, N).tick - 0.01) < 1e-9);
    x[0] = 0.0123; /* lies on no tick of the others */
    sf_samples off = samples_of(x, N);
    off.tick = 0.01;
    assert_true(sf_samples_ticks(&off).tick == 0);
}

static void values_equal_but_for_rounding_are_refused(void **state)
{
    (void)state;
    double x[N];
    for (int i = 0; i < N; i++)
        x[i] = i % 2 ? 1.7e9 : nextafter(1.7e9, 2e9);
    assert_true(samples_of(x, N).tick == 0); /* and not infinite */
    sf_moments moments;
    sf_error error;
    test_assert_fails(sf_moments_find(&moments, x, N, &error), &error, SF_DATA, "but a few values");
}

/* The shift changes no answer but SUM and AVG, which it changes by what it is. */
static void answers_go_with_a_shift(void **state)
{
    (void)state;
    static const double ticks[] = {0, 0.25};
    static const double ranges[][2] = {{8, 9.5}, {-INFINITY, 10}, {-1e9, 1e9}};
    const double shift = 1.7e9;
    double x[N], y[N];
    for (size_t t = 0; t < 2; t++) {
        draw_values(x, N, ticks[t], 0, 4);
        for (int i = 0; i < N; i++)
            y[i] = x[i] + shift;
        sf_samples here = samples_of(x, N), there = samples_of(y, N);
        for (size_t r = 0; r < 3; r++) {
            sf_range_moments one, other;
            double from = ranges[r][0], to = ranges[r][1];
            assert_int_equal(sf_range_moments_direct(&one, &here, 0.5, SF_DOMAIN_LINE, from, to, NULL),
                             SF_OK);
            assert_int_equal(
                sf_range_moments_direct(&other, &there, 0.5, SF_DOMAIN_LINE, from + shift, to + shift, NULL),
                SF_OK);
            assert_true(fabs(one.share - other.share) < 1e-6);
            assert_true(fabs(sf_range_average(&one) - (sf_range_average(&other) - shift)) < 1e-6);
            assert_true(fabs(sf_range_variance(&one) - sf_range_variance(&other)) < 1e-5);
        }
    }
}

/* Ends on ticks leave these out: what is counted in (5,7) are sixes. */
static void ranges_hold_whole_ticks(void **state)
{
    (void)state;
    double x[N];
    draw_values(x, N, 1, 0, 5);
    sf_samples samples = samples_of(x, N);
    assert_true(samples.tick == 1);
    static const double ranges[][2] = {{9, 11}, {8.5, 11.5}, {7.1, 7.9}, {6, INFINITY}, {-INFINITY, 12}};
    for (size_t r = 0; r < 5; r++) {
        double from = ranges[r][0], to = ranges[r][1];
        sf_range_moments held, wide, exact;
        sf_box_moments_exact(&exact, x, N, 1, &from, &to, 1);
        assert_int_equal(sf_range_moments_direct(&held, &samples, 1, SF_DOMAIN_LINE, from, to, NULL), SF_OK);
        assert_int_equal(sf_range_moments_direct(&wide, &samples, 1.5, SF_DOMAIN_LINE, from, to, NULL),
                         SF_OK);
        assert_true(fabs(held.share - exact.share) < 1e-12); /* a kernel of a tick smooths nothing */
        assert_true(fabs(wide.share - exact.share) < 0.12);
        if (exact.share == 0) continue;
        assert_true(fabs(sf_range_average(&held) - sf_range_average(&exact)) < 1e-9);
        assert_true(fabs(sf_range_variance(&held) - sf_range_variance(&exact)) < 1e-9);
    }
    double from = 9, to = 11; /* one tick has no variance, however wide kernels are */
    sf_range_moments wide;
    assert_int_equal(sf_range_moments_direct(&wide, &samples, 1.5, SF_DOMAIN_LINE, from, to, NULL), SF_OK);
    assert_true(fabs(sf_range_average(&wide) - 10) < 0.01 && fabs(sf_range_variance(&wide)) < 0.01);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_are_integrals_of_the_density),
        cmocka_unit_test(the_whole_line_holds_everything),
        cmocka_unit_test(open_ranges_hold_what_wide_ones_hold),
        cmocka_unit_test(boxes_are_integrals_of_the_leaning_density),
        cmocka_unit_test(a_box_of_correlated_columns_holds_what_is_true),
        cmocka_unit_test(places_that_come_again_hold_the_same),
        cmocka_unit_test(boxes_of_three_columns_lean_too),
        cmocka_unit_test(what_is_linked_to_a_range_is_the_integral_over_it),
        cmocka_unit_test(rows_in_a_box_are_counted_as_they_are),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(a_clock_is_found_far_from_zero),
        cmocka_unit_test(values_equal_but_for_rounding_are_refused),
        cmocka_unit_test(answers_go_with_a_shift),
        cmocka_unit_test(ranges_hold_whole_ticks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
