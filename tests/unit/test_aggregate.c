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
    assert_int_equal(sf_density_evaluate(values, points, STEPS + 1, x, N, h, domain, 1, NULL), SF_OK);
    for (int i = 0; i <= STEPS; i++) {
        double weight = (i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2) * (to - from) / (3.0 * STEPS);
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
    static const sf_domain domains[] = {SF_DOMAIN_LINE, SF_DOMAIN_LOG, SF_DOMAIN_REFLECT};
    static const double ranges[][2] = {{2, 6}, {0.5, 300}, {20, 21}, {400, 500}};
    for (size_t d = 0; d < 3; d++)
        for (size_t r = 0; r < 4; r++) {
            double from = ranges[r][0], to = ranges[r][1], h = domains[d] == SF_DOMAIN_LOG ? 0.2 : 4;
            sf_range_moments found, expected = integrate(x, h, domains[d], from, to);
            assert_int_equal(sf_range_moments_direct(&found, x, N, h, domains[d], from, to, NULL), SF_OK);
            double second =
                found.second + 2 * found.pivot * found.first + found.pivot * found.pivot * found.share;
            assert_true(fabs(found.share - expected.share) < 1e-8);
            assert_true(fabs(sf_range_total(&found) - expected.first) < 1e-8 * to);
            assert_true(fabs(second - expected.second) < 1e-8 * to * to);
            double average = expected.first / expected.share;
            if (expected.share > 1e-3)
                assert_true(fabs(sf_range_average(&found) - average) < 1e-5 * average);
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
    assert_int_equal(sf_range_moments_direct(&found, x, N, 2, SF_DOMAIN_LINE, 1e9 - 100, 1e9 + 100, NULL),
                     SF_OK);
    assert_true(fabs(found.share - 1) < 1e-14);
    assert_true(fabs(sf_range_average(&found) - mean) < 1e-6);
    assert_true(fabs(sf_range_variance(&found) - variance - 4) < 1e-9);
    assert_int_equal(sf_range_moments_direct(&found, x, N, 2, SF_DOMAIN_LINE, 0, 1, NULL), SF_OK);
    assert_true(found.share == 0 && isnan(sf_range_average(&found)) && isnan(sf_range_variance(&found)));
}

static void boxes_are_products(void **state)
{
    (void)state;
    static const double rows[] = {0, 0, 1, 2, -1, 3}, h[] = {0.5, 2}, from[] = {-1, 1}, to[] = {1, 5};
    double share, expected = 0;
    assert_int_equal(sf_box_share(&share, rows, 3, 2, h, from, to, NULL), SF_OK);
    for (int i = 0; i < 3; i++) {
        double product = 1;
        for (int c = 0; c < 2; c++)
            product *= 0.5 * (erf((to[c] - rows[2 * i + c]) / h[c] / sqrt(2)) -
                              erf((from[c] - rows[2 * i + c]) / h[c] / sqrt(2)));
        expected += product / 3;
    }
    assert_true(fabs(share - expected) < 1e-15);
}

static void what_makes_no_sense_is_refused(void **state)
{
    (void)state;
    sf_error error;
    sf_range_moments found;
    double x[] = {1, -2}, h = 1, from = 2, to = 2, share;
    test_assert_fails(sf_range_moments_direct(&found, x, 2, 0, SF_DOMAIN_LINE, 0, 1, &error), &error,
                      SF_USAGE, "bandwidth 0");
    test_assert_fails(sf_range_moments_direct(&found, x, 2, 1, SF_DOMAIN_LINE, 1, 1, &error), &error,
                      SF_USAGE, "start before its end");
    test_assert_fails(sf_range_moments_direct(&found, x, 2, 1, SF_DOMAIN_LOG, 0, 1, &error), &error, SF_DATA,
                      "above 0");
    test_assert_fails(sf_range_moments_direct(&found, x, 0, 1, SF_DOMAIN_LINE, 0, 1, &error), &error, SF_DATA,
                      "no sample");
    test_assert_fails(sf_box_share(&share, x, 2, 1, &h, &from, &to, &error), &error, SF_USAGE,
                      "start before");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_are_integrals_of_the_density),
        cmocka_unit_test(the_whole_line_holds_everything),
        cmocka_unit_test(boxes_are_products),
        cmocka_unit_test(what_makes_no_sense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
