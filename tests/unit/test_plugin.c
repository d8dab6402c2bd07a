/* SPDX-License-Identifier: Apache-2.0 */
#include "support/support.h"

#include "core/memory.h"
#include "density/bandwidth.h"
#include "density/evaluate.h"
#include "density/exponential.h"
#include "density/pairs.h"
#include "oracle/density_oracle.h"

#include <math.h>

static int plugin_of(sf_plugin *plugin, const double *samples, size_t n, unsigned threads,
                     const sf_progress *progress, sf_error *error)
{
    sf_samples column = {.values = (double *)(uintptr_t)samples, .n = n, .d = 1};
    sf_pairs pairs;
    int status = sf_pairs_open(&pairs, &column, threads, progress, error);
    if (status == SF_OK) status = sf_pairs_plugin(plugin, &pairs, error);
    sf_pairs_close(&pairs);
    return status;
}

static void assert_close(double found, double expected, double relative, const char *what, size_t n)
{
    if (!(fabs(found - expected) <= relative * fabs(expected)))
        fail_msg("%s, n = %zu: %.17g, expected %.17g", what, n, found, expected);
}

static void assert_same_plugin(const sf_plugin *found, const sf_plugin *expected, double relative, size_t n)
{
    assert_close(found->variance, expected->variance, relative, "variance", n);
    assert_close(found->psi8, expected->psi8, relative, "psi8", n);
    assert_close(found->g1, expected->g1, relative, "g1", n);
    assert_close(found->psi6, expected->psi6, relative, "psi6", n);
    assert_close(found->g2, expected->g2, relative, "g2", n);
    assert_close(found->psi4, expected->psi4, relative, "psi4", n);
    assert_close(found->h, expected->h, relative, "h", n);
}

static void exponential_is_exact_to_the_last_bits(void **state)
{
    (void)state;
    test_random random = test_random_start("exponential", 1);
    for (int i = 0; i < 200000; i++) {
        double y = -test_random_unit(&random) * (i % 2 ? 708 : 2);
        assert_close(sf_exp(y), (double)expl((long double)y), 0x1p-51, "exp", (size_t)i);
    }
    assert_true(sf_exp(0) == 1);
    assert_true(sf_exp(-1e300) < 1e-307 && sf_exp(-1e300) > 0);
}

/* Every n from 2 to 100 on every instruction set: samples of the sets, from their first row. */
static void plugin_is_the_oracles(void **state)
{
    (void)state;
    static const char *const sets[] = {"gauss16", "isi", "rate", "delay"};
    for (size_t s = 0; s < 4; s++) {
        size_t columns;
        double *rows = check_samples(sets[s], 100, &columns), x[100];
        for (size_t i = 0; i < 100; i++)
            x[i] = rows[i * columns];
        for (size_t n = 2; n <= 100; n++) {
            sf_plugin found, expected = check_plugin(x, n);
            for (int level = SF_VECTOR_BASE; level <= SF_VECTOR_AVX512; level++) {
                sf_vector_limit(level);
                assert_int_equal(plugin_of(&found, x, n, 1, NULL, NULL), SF_OK);
                assert_same_plugin(&found, &expected, 2e-13, n);
            }
        }
        free(rows);
    }
    sf_vector_limit(SF_VECTOR_AVX512);
}

static void threads_order_scale_and_place_do_not_matter(void **state)
{
    (void)state;
    enum { N = 1500 };
    test_random random = test_random_start("invariance", 2);
    size_t columns;
    double *x = check_samples("isi", N, &columns), y[N];
    sf_plugin one, other;
    assert_int_equal(plugin_of(&one, x, N, 1, NULL, NULL), SF_OK);
    assert_int_equal(plugin_of(&other, x, N, 3, NULL, NULL), SF_OK);
    assert_memory_equal(&one, &other, sizeof one);
    memcpy(y, x, sizeof y);
    for (size_t i = N - 1; i > 0; i--) {
        size_t j = test_random_below(&random, i + 1);
        double swap = y[i];
        y[i] = y[j];
        y[j] = swap;
    }
    assert_int_equal(plugin_of(&other, y, N, 1, NULL, NULL), SF_OK);
    assert_same_plugin(&other, &one, 1e-13, N);
    static const double scales[] = {1e-9, 1e9, -1, 1e-200, 1e200};
    for (size_t s = 0; s < sizeof scales / sizeof scales[0]; s++) {
        for (size_t i = 0; i < N; i++)
            y[i] = x[i] * scales[s];
        assert_int_equal(plugin_of(&other, y, N, 1, NULL, NULL), SF_OK);
        assert_close(other.h, one.h * fabs(scales[s]), 1e-12, "scaled h", s);
    }
    for (size_t i = 0; i < N; i++) /* a shift costs what rounding the shifted samples costs */
        y[i] = x[i] + 0x1p30;
    assert_int_equal(plugin_of(&other, y, N, 1, NULL, NULL), SF_OK);
    assert_close(other.h, one.h, 1e-7, "shifted h", N);
    free(x);
}

static void ties_and_outliers_give_the_oracles_h(void **state)
{
    (void)state;
    double x[90];
    for (size_t i = 0; i < 90; i++)
        x[i] = (double)(i % 3);
    sf_plugin found, expected = check_plugin(x, 90);
    assert_int_equal(plugin_of(&found, x, 90, 1, NULL, NULL), SF_OK);
    assert_same_plugin(&found, &expected, 1e-12, 90);
    x[7] = 1e6; /* a million standard deviations of the others away */
    expected = check_plugin(x, 90);
    assert_int_equal(plugin_of(&found, x, 90, 1, NULL, NULL), SF_OK);
    assert_same_plugin(&found, &expected, 1e-10, 90);
}

static void unusable_samples_are_refused(void **state)
{
    (void)state;
    sf_error error;
    sf_plugin plugin;
    double x[] = {1, 1, 1, 2};
    test_assert_fails(plugin_of(&plugin, x, 0, 1, NULL, &error), &error, SF_DATA, "found 0 samples");
    test_assert_fails(plugin_of(&plugin, x, 1, 1, NULL, &error), &error, SF_DATA, "found 1 sample,");
    test_assert_fails(plugin_of(&plugin, x, 3, 1, NULL, &error), &error, SF_DATA, "all 3 samples");
    x[2] = NAN;
    test_assert_fails(plugin_of(&plugin, x, 4, 1, NULL, &error), &error, SF_DATA, "sample 3 is nan");
    x[2] = -INFINITY;
    test_assert_fails(plugin_of(&plugin, x, 4, 1, NULL, &error), &error, SF_DATA, "sample 3 is -inf");
    x[0] = -1e308, x[2] = 1e308;
    test_assert_fails(plugin_of(&plugin, x, 4, 1, NULL, &error), &error, SF_DATA, "wider than");
    test_assert_fails(sf_samples_check_enough(49, &error), &error, SF_DATA, "not enough data: found 49");
    assert_int_equal(sf_samples_check_enough(50, &error), SF_OK);
}

static bool stop_at_once(void *user, const char *what, double done, double total)
{
    (void)user, (void)what;
    assert_true(done > 0 && done <= total);
    return false;
}

static void a_stopped_sum_is_cancelled(void **state)
{
    (void)state;
    sf_error error;
    sf_plugin plugin;
    double x[] = {1, 2, 4};
    sf_progress progress = {.update = stop_at_once};
    test_assert_fails(plugin_of(&plugin, x, 3, 1, &progress, &error), &error, SF_CANCELLED, NULL);
}

static void density_is_the_oracles(void **state)
{
    (void)state;
    enum { N = 3000, POINTS = 130 };
    size_t columns;
    double *x = check_samples("delay", N, &columns), points[POINTS], values[POINTS];
    for (int k = 0; k < POINTS; k++)
        points[k] = -5 + k * 1.5;
    for (int level = SF_VECTOR_BASE; level <= SF_VECTOR_AVX512; level++) {
        sf_vector_limit(level);
        assert_int_equal(check_kernels(values, points, POINTS, x, N, 0.3, SF_DOMAIN_LINE, 2, NULL), SF_OK);
        for (size_t k = 0; k < POINTS; k += 3) {
            double expected = check_density(points[k], x, N, 0.3);
            assert_true(fabs(values[k] - expected) <= 1e-14 + 1e-13 * expected);
        }
    }
    sf_error error;
    test_assert_fails(check_kernels(values, points, 1, x, N, 0, SF_DOMAIN_LINE, 1, &error), &error, SF_USAGE,
                      "bandwidth 0");
    test_assert_fails(check_kernels(values, points, 1, x, 0, 1, SF_DOMAIN_LINE, 1, &error), &error, SF_DATA,
                      "no sample");
    x[5] = NAN;
    test_assert_fails(check_kernels(values, points, 1, x, N, 1, SF_DOMAIN_LINE, 1, &error), &error, SF_DATA,
                      "sample 6");
    free(x);
}

static int find_plugin(void *context)
{
    sf_plugin plugin;
    return plugin_of(&plugin, context, 200, 1, NULL, NULL);
}

static void failed_allocations_leak_nothing(void **state)
{
    (void)state;
    size_t columns;
    double *x = check_samples("isi", 200, &columns);
    test_fail_every_allocation(find_plugin, x);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exponential_is_exact_to_the_last_bits),
        cmocka_unit_test(plugin_is_the_oracles),
        cmocka_unit_test(threads_order_scale_and_place_do_not_matter),
        cmocka_unit_test(ties_and_outliers_give_the_oracles_h),
        cmocka_unit_test(unusable_samples_are_refused),
        cmocka_unit_test(a_stopped_sum_is_cancelled),
        cmocka_unit_test(density_is_the_oracles),
        cmocka_unit_test(failed_allocations_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
