/* SPDX-License-Identifier: Apache-2.0 */
#include "support/support.h"

#include "density/kernels.h"
#include "density/picture.h"
#include "density/samples.h"
#include "density/select.h"
#include "oracle/density_oracle.h"

#include <math.h>

enum { WINDOW = 600, TOTAL = 6000, HOP = 50, POINTS = 64 };

static double select_h(const char *method, const double *x, sf_domain domain)
{
    sf_bandwidth found;
    sf_samples samples = {.values = (double *)(uintptr_t)x, .n = WINDOW, .d = 1};
    sf_bandwidth_options how = {.domain = domain, .threads = 1};
    assert_int_equal(sf_bandwidth_select(&found, sf_selector_find(method), &samples, &how, NULL), SF_OK);
    double h = found.h;
    sf_bandwidth_free(&found);
    return h;
}

/* A window slides over 6,000 delays: bandwidth and density of every tenth hop are those of its samples alone.
 */
static void slide(sf_moving_method method, const char *name, sf_domain domain, double reselect)
{
    size_t columns;
    double *x = check_samples("delay", TOTAL, &columns), points[POINTS], axis[POINTS];
    double live_values[POINTS], values[POINTS];
    for (int p = 0; p < POINTS; p++) {
        points[p] = 1 + p * 1.5;
        axis[p] = domain == SF_DOMAIN_LOG ? log(points[p]) : points[p];
    }
    sf_moving_options options = {.least = 1,
                                 .most = 300,
                                 .b_least = domain == SF_DOMAIN_LOG ? 0.002 : 0.05,
                                 .domain = domain,
                                 .method = method,
                                 .reselect = reselect};
    sf_moving_plan plan;
    sf_moving_density live;
    assert_int_equal(sf_moving_plan_open(&plan, &options, NULL), SF_OK);
    assert_int_equal(sf_moving_open(&live, &plan, NULL), SF_OK);
    sf_moving_add(&live, &plan, x, WINDOW);
    size_t selections = 0;
    for (size_t at = 0; at + WINDOW + HOP <= TOTAL; at += HOP) {
        if (at % (10 * HOP) == 0) {
            double before = live.h;
            assert_int_equal(sf_moving_select(&live, &plan, NULL), SF_OK);
            sf_moving_density_at(&live, &plan, 0, axis, POINTS, live_values);
            selections += live.h != before;
            if (reselect == 0) assert_true(fabs(live.h / select_h(name, x + at, domain) - 1) < 1e-8);
            assert_int_equal(check_kernels(values, points, POINTS, x + at, WINDOW, live.h, domain, 1, NULL),
                             SF_OK);
            for (int p = 0; p < POINTS; p++)
                assert_true(fabs(live_values[p] - values[p]) < 1e-12);
        }
        sf_moving_remove(&live, &plan, x + at, HOP);
        sf_moving_add(&live, &plan, x + at + WINDOW, HOP);
    }
    assert_int_equal(live.left_out, 0);
    assert_int_equal(selections, reselect == 0 ? 11 : 4); /* else at 0, 2000, 4000 and 5000 changes later */
    sf_moving_close(&live);
    sf_moving_plan_close(&plan);
    free(x);
}

static void the_sliding_density_is_that_of_the_window(void **state)
{
    (void)state;
    slide(SF_MOVING_ISJ, "isj", SF_DOMAIN_LINE, 0);
    slide(SF_MOVING_ISJ, "isj", SF_DOMAIN_LOG, 0);
    slide(SF_MOVING_ISJ, "isj", SF_DOMAIN_REFLECT, 0);
    slide(SF_MOVING_PLUGIN, "plugin", SF_DOMAIN_REFLECT, 0);
    slide(SF_MOVING_SILVERMAN, "silverman", SF_DOMAIN_REFLECT, 0);
    slide(SF_MOVING_SCOTT, "scott", SF_DOMAIN_REFLECT, 0);
    slide(SF_MOVING_PLUGIN, "plugin", SF_DOMAIN_LINE, 0);
    slide(SF_MOVING_LSCV, "lscv", SF_DOMAIN_LINE, 0);
}

static void the_bandwidth_is_selected_again_only_when_enough_changed(void **state)
{
    (void)state;
    slide(SF_MOVING_ISJ, "isj", SF_DOMAIN_LINE, 4);
}

/* Intervals of few ticks and of many: 10 ms of a clock, as the samples and kernels of a recording have them.
 */
static void samples_of_a_coarse_clock_are_spread_over_its_ticks(void **state)
{
    (void)state;
    enum { N = 400 };
    test_random random = test_random_start("coarse clock", 5);
    double x[N], tick = 0.01;
    for (int i = 0; i < N; i++)
        x[i] = tick * fmax(round(exp(6 * test_random_unit(&random))), 1); /* 1 to 400 ticks */
    sf_moving_options options = {
        .least = 2e-5, .most = 1e3, .b_least = 0.05, .domain = SF_DOMAIN_LOG, .tick = tick};
    sf_moving_plan plan;
    sf_moving_density live;
    assert_int_equal(sf_moving_plan_open(&plan, &options, NULL), SF_OK);
    assert_int_equal(sf_moving_open(&live, &plan, NULL), SF_OK);
    sf_moving_add(&live, &plan, x, N);
    sf_moving_add(&live, &plan, x, 100);
    sf_moving_remove(&live, &plan, x, 100);
    assert_int_equal(sf_moving_count(&live), N);
    assert_int_equal(sf_moving_select(&live, &plan, NULL), SF_OK);

    sf_samples samples = {.values = x, .n = N, .d = 1, .tick = tick};
    sf_bandwidth_options how = {.domain = SF_DOMAIN_LOG, .threads = 1};
    sf_bandwidth found;
    assert_int_equal(sf_bandwidth_select(&found, sf_selector_find("isj"), &samples, &how, NULL), SF_OK);
    assert_true(fabs(live.h / found.h - 1) < 5e-3); /* beyond 100 ticks the live samples are not spread */
    sf_bandwidth_free(&found);

    sf_kernels kernels;
    assert_int_equal(sf_kernels_open(&kernels, &samples, live.h, SF_DOMAIN_LOG, NULL), SF_OK);
    double points[POINTS], at[POINTS], averages[POINTS], width = (log(20) - log(1e-4)) / POINTS, sum = 0;
    for (int p = 0; p < POINTS; p++)
        points[p] = log(1e-4) + width * (p + 0.5);
    sf_moving_density_at(&live, &plan, 0, points, POINTS, at);
    sf_moving_density_at(&live, &plan, width, points, POINTS, averages);
    for (int p = 0; p < POINTS; p++) {
        double expected;
        sf_kernels_density(&kernels, &expected, &points[p], 1, 1, NULL, NULL);
        double share = sf_kernels_share(&kernels, points[p] - width / 2, points[p] + width / 2);
        assert_true(fabs(at[p] - expected) < 2e-3);
        assert_true(fabs(averages[p] - share / width) < 2e-3);
        sum += averages[p] * width;
    }
    assert_true(fabs(sum - sf_kernels_share(&kernels, log(1e-4), log(20))) < 1e-6 && sum > 0.999);
    sf_kernels_close(&kernels);

    sf_moving_clear(&live);
    assert_int_equal(sf_moving_count(&live), 0);
    sf_moving_close(&live);
    sf_moving_plan_close(&plan);
}

/* From either end as many bins as hold less than 0.05 % together, and no others. */
static void a_picture_shows_nearly_all_and_little_else(void **state)
{
    (void)state;
    enum { BINS = 300 };
    const sf_moving_options options = {.least = 2e-5, .most = 1e3, .b_least = 0.1, .domain = SF_DOMAIN_LOG};
    sf_moving_view view = {.from = log(2e-5), .to = log(1e3), .bins = BINS};
    sf_moving_plan plan;
    sf_moving_density live;
    sf_moving_picture all, shown;
    double x[1000], points[BINS], values[BINS], of_shown[BINS];
    test_random random = test_random_start("pictures", 6);
    for (size_t i = 0; i < 1000; i++)
        x[i] = 0.01 * exp(2 * test_random_unit(&random));
    assert_int_equal(sf_moving_plan_open(&plan, &options, NULL), SF_OK);
    assert_int_equal(sf_moving_open(&live, &plan, NULL), SF_OK);
    sf_moving_add(&live, &plan, x, 1000);
    assert_int_equal(sf_moving_select(&live, &plan, NULL), SF_OK);
    sf_moving_draw(&all, &live, &plan, &view, points, values);
    assert_true(all.from == view.from && fabs(all.step * BINS - (view.to - view.from)) < 1e-12);
    size_t first = 0, end = BINS;
    double below = 0, above = 0;
    while (below + values[first] * all.step < 5e-4)
        below += values[first++] * all.step;
    while (above + values[end - 1] * all.step < 5e-4)
        above += values[--end] * all.step;
    assert_true(first > BINS / 10 && end < BINS - BINS / 10);
    view.cut_below = view.cut_above = true;
    sf_moving_draw(&shown, &live, &plan, &view, points, of_shown);
    assert_true(fabs(shown.from - (all.from + all.step * (double)first)) < 1e-9);
    assert_true(fabs(shown.step * BINS - all.step * (double)(end - first)) < 1e-9);
    double sum = 0;
    for (size_t k = 0; k < BINS; k++)
        sum += of_shown[k] * shown.step;
    assert_true(fabs(sum - (1 - below - above)) < 1e-9);
    sf_moving_close(&live);
    sf_moving_plan_close(&plan);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    static const sf_moving_options bad[] = {
        {.least = 1, .most = 1, .b_least = 0.1},
        {.least = 0, .most = 1, .b_least = 0},
        {.least = 0, .most = 1, .b_least = 0.1, .domain = SF_DOMAIN_LOG},
        {.least = -1, .most = 1, .b_least = 0.1, .domain = SF_DOMAIN_REFLECT},
        {.least = 0, .most = 1, .b_least = 0.1, .method = SF_MOVING_FIXED},
        {.least = 0, .most = INFINITY, .b_least = 0.1},
    };
    sf_moving_plan plan;
    sf_moving_density live;
    sf_error error;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        test_assert_fails(sf_moving_plan_open(&plan, &bad[i], &error), &error, SF_USAGE, "expected a range");
    sf_moving_options options = {.least = 0, .most = 10, .b_least = 0.1};
    assert_int_equal(sf_moving_plan_open(&plan, &options, NULL), SF_OK);
    assert_int_equal(sf_moving_open(&live, &plan, NULL), SF_OK);
    double x[60];
    for (int i = 0; i < 60; i++)
        x[i] = 3;
    const double outside[] = {-1, 11, NAN};
    sf_moving_add(&live, &plan, outside, 3);
    assert_int_equal(live.left_out, 3);
    sf_moving_add(&live, &plan, x, 49);
    test_assert_fails(sf_moving_select(&live, &plan, &error), &error, SF_DATA, "not enough data: found 49");
    sf_moving_add(&live, &plan, x, 11);
    test_assert_fails(sf_moving_select(&live, &plan, &error), &error, SF_DATA, "all samples");
    sf_moving_remove(&live, &plan, x, 60);
    test_assert_fails(sf_moving_select(&live, &plan, &error), &error, SF_DATA, "found 0");
    sf_moving_close(&live);
    sf_moving_plan_close(&plan);
}

static int open_both(void *context)
{
    sf_moving_plan plan;
    sf_moving_density live = {0};
    int status = sf_moving_plan_open(&plan, context, NULL);
    if (status == SF_OK) status = sf_moving_open(&live, &plan, NULL);
    sf_moving_close(&live);
    sf_moving_plan_close(&plan);
    return status;
}

static void failed_allocations_leak_nothing(void **state)
{
    (void)state;
    sf_moving_options options = {.least = 0, .most = 10, .b_least = 0.1};
    test_fail_every_allocation(open_both, &options);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sliding_density_is_that_of_the_window),
        cmocka_unit_test(the_bandwidth_is_selected_again_only_when_enough_changed),
        cmocka_unit_test(samples_of_a_coarse_clock_are_spread_over_its_ticks),
        cmocka_unit_test(a_picture_shows_nearly_all_and_little_else),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(failed_allocations_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
