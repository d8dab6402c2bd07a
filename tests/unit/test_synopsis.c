/* SPDX-License-Identifier: Apache-2.0 */
/* Answers without the samples are those with them. */
#include "support/support.h"

#include "core/memory.h"
#include "density/estimate.h"
#include "density/synopsis.h"
#include "oracle/density_oracle.h"

#include <math.h>
#include <stdlib.h>

enum { N = 400 };

static const sf_domain domains[] = {SF_DOMAIN_LINE, SF_DOMAIN_LOG, SF_DOMAIN_REFLECT};

static const char *method; /* of bandwidths; NULL: the default */

static sf_density *density_of(sf_series **series, const double *rows, size_t n, size_t d, sf_domain domain,
                              double h)
{
    sf_density *density;
    sf_density_options options = sf_density_options_default();
    options.domain = domain;
    options.method = method;
    options.h = h;
    assert_int_equal(sf_series_new(series, rows, n, d, NULL), SF_OK);
    assert_int_equal(sf_density_find(&density, *series, 0, &options, NULL), SF_OK);
    return density;
}

static sf_synopsis synopsis_of(const double *rows, size_t n, size_t d, sf_domain domain, double h)
{
    sf_series *series;
    sf_synopsis synopsis;
    sf_density *density = density_of(&series, rows, n, d, domain, h);
    assert_int_equal(sf_synopsis_of(&synopsis, density, NULL), SF_OK);
    sf_density_free(density);
    sf_series_free(series);
    return synopsis;
}

/* Of all four kinds, within what rounding to single precision and the cut leave of numbers of this size. */
static void same_answers(const sf_density *density, const sf_synopsis *synopsis, const double *from,
                         const double *to, size_t ranges, double scale)
{
    for (int kind = SF_AGGREGATE_COUNT; kind <= SF_AGGREGATE_VARIANCE; kind++) {
        sf_aggregate with = {.size = sizeof with}, without = {.size = sizeof without};
        assert_int_equal(
            sf_density_aggregate(density, (sf_aggregate_kind)kind, from, to, ranges, &with, NULL, NULL),
            SF_OK);
        assert_int_equal(
            sf_synopsis_aggregate(synopsis, 1, (sf_aggregate_kind)kind, from, to, ranges, &without, NULL),
            SF_OK);
        static const int powers[] = {0, 1, 1, 2};
        double unit = pow(scale, powers[kind]) * (kind < SF_AGGREGATE_AVERAGE ? N : 1 / with.share);
        if (kind >= SF_AGGREGATE_AVERAGE && !(with.share > 1e-3)) continue;
        assert_true(fabs(with.estimate - without.estimate) < 2e-6 * unit);
        assert_true(fabs(with.smoothing_error - without.smoothing_error) < 2e-5 * unit);
        assert_true(fabs(with.share - without.share) < 2e-6);
        assert_true(isnan(without.exact));
        if (with.share > 1e-3 && kind != SF_AGGREGATE_VARIANCE) /* whose kurtosis only samples tell */
            assert_true(fabs(with.sampling_error - without.sampling_error) <
                        1e-3 * with.sampling_error + 1e-5 * unit);
    }
}

static void ranges_are_answered_as_from_the_samples(void **state)
{
    (void)state;
    size_t columns;
    double *x = check_samples("isi", N, &columns);
    static const double ranges[][2] = {{2, 6},          {0.5, 300},       {20, 21},
                                       {40, 40.001},    {-5, 1e6},        {1e6, 2e6},
                                       {40, INFINITY},  {-INFINITY, 40},  {-INFINITY, INFINITY},
                                       {1e6, INFINITY}, {-INFINITY, -1e6}};
    for (size_t d = 0; d < 3; d++) {
        sf_series *series;
        sf_density *density = density_of(&series, x, N, 1, domains[d], domains[d] == SF_DOMAIN_LOG ? 0.2 : 4);
        sf_synopsis synopsis;
        assert_int_equal(sf_synopsis_of(&synopsis, density, NULL), SF_OK);
        for (size_t r = 0; r < sizeof ranges / sizeof ranges[0]; r++)
            same_answers(density, &synopsis, &ranges[r][0], &ranges[r][1], 1, 300);
        sf_synopsis_close(&synopsis);
        sf_density_free(density);
        sf_series_free(series);
    }
    free(x);
}

/* Leaning pairs, far from 0: (x, y) with y = x / 2 + chance. */
static void make_pairs(double *rows, size_t n, uint64_t seed)
{
    test_random random = test_random_start("pairs", seed);
    for (size_t i = 0; i < n; i++) {
        double u = test_random_unit(&random) + test_random_unit(&random), v = test_random_unit(&random);
        rows[2 * i] = 5000 + 10 * u;
        rows[2 * i + 1] = 5 * u + 4 * v - 3;
    }
}

static void boxes_are_answered_as_from_the_samples(void **state)
{
    (void)state;
    double rows[2 * N];
    make_pairs(rows, N, 7);
    sf_series *series;
    sf_density *density = density_of(&series, rows, N, 2, SF_DOMAIN_LINE, 0.3);
    sf_synopsis synopsis;
    assert_int_equal(sf_synopsis_of(&synopsis, density, NULL), SF_OK);
    static const double from[][2] = {{5005, 0}, {5009, 3}, {4000, -100},          {5000, -3},
                                     {9000, 0}, {5005, 0}, {-INFINITY, -INFINITY}};
    static const double to[][2] = {
        {5015, 8}, {5010, 4}, {6000, 100}, {5004, 1}, {9001, 1}, {INFINITY, INFINITY}, {INFINITY, INFINITY}};
    for (size_t r = 0; r < sizeof from / sizeof from[0]; r++) {
        same_answers(density, &synopsis, from[r], to[r], 2, 12);
        same_answers(density, &synopsis, from[r], to[r], 1, 12);
    }
    sf_synopsis_close(&synopsis);
    sf_density_free(density);
    sf_series_free(series);
}

/* Two halves add up to the whole: all numbers of it, phi too, and what isj makes of them. */
static void halves_add_up(const double *rows, size_t d, sf_domain domain, double h, double tolerance)
{
    sf_synopsis whole = synopsis_of(rows, N, d, domain, h), half = synopsis_of(rows, N / 2, d, domain, h);
    sf_synopsis other = synopsis_of(rows + d * (N / 2), N - N / 2, d, domain, h);
    assert_true(sf_synopsis_fits(&half, &other));
    assert_int_equal(sf_synopsis_add(&half, &other, NULL), SF_OK);
    assert_int_equal(half.n, N);
    for (size_t c = 0; c < d; c++) {
        assert_true(half.axes[c].least == whole.axes[c].least && half.axes[c].most == whole.axes[c].most);
        assert_true(fabs(half.axes[c].mean - whole.axes[c].mean) < 1e-9 * fabs(whole.axes[c].mean));
        assert_true(fabs(half.axes[c].variance / whole.axes[c].variance - 1) < 1e-9);
    }
    assert_true(fabs(half.covariance - whole.covariance) <= 1e-9 * fabs(whole.covariance));
    assert_true(fabs(half.h / whole.h - 1) < tolerance);
    double from[2] = {whole.axes[0].mean, d == 2 ? whole.axes[1].mean : 0}, to[2];
    for (size_t c = 0; c < d; c++)
        to[c] = from[c] + 2 * sqrt(whole.axes[c].variance);
    if (domain == SF_DOMAIN_LOG) from[0] = exp(from[0]), to[0] = exp(to[0]);
    half.h = whole.h;
    sf_aggregate sum = {.size = sizeof sum}, all = {.size = sizeof all};
    for (int kind = 0; kind < 4; kind++) {
        assert_int_equal(sf_synopsis_aggregate(&half, 1, (sf_aggregate_kind)kind, from, to, d, &sum, NULL),
                         SF_OK);
        assert_int_equal(sf_synopsis_aggregate(&whole, 1, (sf_aggregate_kind)kind, from, to, d, &all, NULL),
                         SF_OK);
        assert_true(fabs(sum.estimate / all.estimate - 1) < 1e-5);
    }
    sf_synopsis_close(&half);
    sf_synopsis_close(&other);
    sf_synopsis_close(&whole);
}

static void states_add_up(void **state)
{
    (void)state;
    size_t columns;
    double *x = check_samples("isi", N, &columns), rows[2 * N];
    make_pairs(rows, N, 8);
    halves_add_up(x, 1, SF_DOMAIN_LOG, 0, 1e-3); /* isj, chosen again */
    halves_add_up(x, 1, SF_DOMAIN_LINE, 0, 1e-3);
    halves_add_up(rows, 2, SF_DOMAIN_LINE, 0, 1e-9); /* silverman: as n^(-1/6) */
    static const char *const rules[] = {"silverman", "scott"};
    for (int rule = 0; rule < 2; rule++)
        for (size_t i = 0; i < sizeof domains / sizeof domains[0]; i++) {
            method = rules[rule];
            halves_add_up(x, 1, domains[i], 0, 1e-9);
        }
    method = NULL;
    free(x);
}

/* What does not add up answers together all the same: a count is the sum of both. */
/* As the live density of a window, with `ticks` of its clock, that other samples have come to and left. */
static void follow(sf_moving_density *live, const sf_moving_plan *plan, const double *x, size_t n)
{
    double others[50];
    for (size_t i = 0; i < 50; i++)
        others[i] = 1 + (double)i;
    assert_int_equal(sf_moving_open(live, plan, NULL), SF_OK);
    sf_moving_add(live, plan, others, 50);
    sf_moving_add(live, plan, x, n);
    sf_moving_remove(live, plan, others, 50);
}

static sf_synopsis copied_synopsis(sf_moving_density *live, sf_moving_plan *plan)
{
    sf_moving_density copy;
    sf_synopsis synopsis;
    assert_int_equal(sf_moving_open(&copy, plan, NULL), SF_OK);
    sf_moving_copy(&copy, live);
    assert_int_equal(sf_synopsis_of_moving(&synopsis, &copy, plan, NULL), SF_OK);
    assert_true(sf_moving_count(&copy) == sf_moving_count(live) && copy.left_out == live->left_out);
    sf_moving_close(&copy);
    return synopsis;
}

/* Intervals in ms, from a quarter to some hundreds. */
static sf_moving_plan plan_of(sf_domain domain, double tick)
{
    sf_moving_plan plan;
    const sf_moving_options options = {.least = domain == SF_DOMAIN_LOG ? 1e-3 : 0,
                                       .most = domain == SF_DOMAIN_LOG ? 1e5 : 2000,
                                       .b_least = domain == SF_DOMAIN_LOG ? 0.05 : 0.5,
                                       .domain = domain,
                                       .tick = tick,
                                       .method = SF_MOVING_ISJ,
                                       .reselect = 0.2};
    assert_int_equal(sf_moving_plan_open(&plan, &options, NULL), SF_OK);
    return plan;
}

static void a_live_density_answers_as_its_samples(void **state)
{
    (void)state;
    size_t columns;
    double *x = check_samples("isi", N, &columns);
    static const double ranges[][2] = {{2, 6}, {0.5, 300}, {20, 21}, {40, 40.001}, {1, 250}};
    for (size_t d = 0; d < 3; d++) {
        sf_moving_plan plan = plan_of(domains[d], 0);
        sf_moving_density live;
        follow(&live, &plan, x, N);
        sf_synopsis synopsis = copied_synopsis(&live, &plan);
        assert_true(synopsis.n == N && synopsis.h > 0);
        sf_series *series;
        sf_density *density = density_of(&series, x, N, 1, domains[d], synopsis.h);
        for (size_t r = 0; r < sizeof ranges / sizeof ranges[0]; r++)
            same_answers(density, &synopsis, &ranges[r][0], &ranges[r][1], 1, 2000);
        sf_density_free(density);
        sf_series_free(series);
        sf_synopsis_close(&synopsis);
        sf_moving_close(&live);
        sf_moving_plan_close(&plan);
    }
    free(x);
}

/* Of two windows, or of two runs: the sum is that of all their samples, ticks of a clock among them. */
static void live_densities_add_up(void **state)
{
    (void)state;
    size_t columns;
    double *x = check_samples("isi", N, &columns);
    for (size_t i = 0; i < N; i++)
        x[i] = ceil(20 * x[i]) / 20;
    for (size_t d = 0; d < 3; d++) {
        sf_moving_plan plan = plan_of(domains[d], 0.05);
        sf_moving_density all, first, second;
        follow(&all, &plan, x, N);
        follow(&first, &plan, x, N / 3);
        follow(&second, &plan, x + N / 3, N - N / 3);
        assert_true(domains[d] != SF_DOMAIN_LOG || (first.ticking > 0 && second.ticking > 0));
        sf_synopsis whole = copied_synopsis(&all, &plan), sum = copied_synopsis(&first, &plan);
        sf_synopsis other = copied_synopsis(&second, &plan);
        assert_true(sf_synopsis_fits(&sum, &other));
        assert_int_equal(sf_synopsis_add(&sum, &other, NULL), SF_OK);
        assert_int_equal(sum.n, N);
        assert_true(fabs(sum.axes[0].mean - whole.axes[0].mean) < 1e-9 * fabs(whole.axes[0].mean));
        assert_true(fabs(sum.axes[0].variance / whole.axes[0].variance - 1) < 1e-9);
        assert_true(fabs(sum.h / whole.h - 1) < 1e-6);
        assert_int_equal(sf_synopsis_size(&sum), sf_synopsis_size(&whole));
        for (size_t k = 0; k < 2 * sf_synopsis_size(&sum); k++)
            assert_true(fabs((double)sum.phi[k] - (double)whole.phi[k]) < 2e-7);
        sf_synopsis_close(&sum);
        sf_synopsis_close(&other);
        sf_synopsis_close(&whole);
        sf_moving_close(&all);
        sf_moving_close(&first);
        sf_moving_close(&second);
        sf_moving_plan_close(&plan);
    }
    free(x);
}

static void too_few_have_no_state(void **state)
{
    (void)state;
    static const double some[] = {1, 2, 3}, equal[60] = {[0] = 0};
    sf_moving_plan plan = plan_of(SF_DOMAIN_REFLECT, 0);
    sf_moving_density live;
    sf_synopsis synopsis;
    sf_error error = {0};
    assert_int_equal(sf_moving_open(&live, &plan, NULL), SF_OK);
    sf_moving_add(&live, &plan, some, 3);
    test_assert_fails(sf_synopsis_of_moving(&synopsis, &live, &plan, &error), &error, SF_DATA,
                      "found 3 samples");
    sf_moving_clear(&live);
    sf_moving_add(&live, &plan, equal, 60);
    test_assert_fails(sf_synopsis_of_moving(&synopsis, &live, &plan, &error), &error, SF_DATA, "equal");
    sf_moving_close(&live);
    sf_moving_plan_close(&plan);
}

static void what_does_not_add_up_answers_together(void **state)
{
    (void)state;
    double near[N], far[N];
    for (int i = 0; i < N; i++) {
        near[i] = i % 20 + 0.01 * i;
        far[i] = 1e6 + 1e4 * (i % 20) + i;
    }
    sf_synopsis both[2] = {synopsis_of(near, N, 1, SF_DOMAIN_LINE, 1),
                           synopsis_of(far, N, 1, SF_DOMAIN_LINE, 900)};
    assert_false(sf_synopsis_fits(&both[0], &both[1]));
    double from = 5.5, to = 1.1e6;
    sf_aggregate all = {.size = sizeof all}, one[2] = {{.size = sizeof one[0]}, {.size = sizeof one[1]}};
    for (int kind = SF_AGGREGATE_COUNT; kind <= SF_AGGREGATE_SUM; kind++) {
        assert_int_equal(sf_synopsis_aggregate(both, 2, (sf_aggregate_kind)kind, &from, &to, 1, &all, NULL),
                         SF_OK);
        for (int i = 0; i < 2; i++)
            assert_int_equal(
                sf_synopsis_aggregate(&both[i], 1, (sf_aggregate_kind)kind, &from, &to, 1, &one[i], NULL),
                SF_OK);
        assert_true(fabs(all.estimate / (one[0].estimate + one[1].estimate) - 1) < 1e-12);
    }
    assert_true(one[0].estimate > 0 && one[1].estimate > 0);
    sf_synopsis_close(&both[0]);
    sf_synopsis_close(&both[1]);
}

/* A range that no other answers for: small beside what is kept of the samples. */
static void it_is_small(void **state)
{
    (void)state;
    double *x = malloc(100000 * sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < 100000; i++)
        x[i] = 1 + (double)(i % 977) + 1e-5 * (double)i;
    sf_synopsis synopsis = synopsis_of(x, 100000, 1, SF_DOMAIN_LOG, 0.1);
    assert_true(sf_synopsis_size(&synopsis) < 600);
    sf_synopsis_close(&synopsis);
    free(x);
}

static void what_makes_no_sense_is_refused(void **state)
{
    (void)state;
    double rows[3 * N];
    for (int i = 0; i < 3 * N; i++)
        rows[i] = i * i % 101;
    sf_error error;
    sf_series *series;
    sf_synopsis synopsis, copy;
    sf_density *density = density_of(&series, rows, N, 3, SF_DOMAIN_LINE, 1);
    test_assert_fails(sf_synopsis_of(&synopsis, density, &error), &error, SF_USAGE, "3 columns");
    sf_density_free(density);
    sf_series_free(series);
    synopsis = synopsis_of(rows, N, 1, SF_DOMAIN_LINE, 1);
    double low = 1, high = 2;
    sf_aggregate answer = {.size = sizeof answer};
    test_assert_fails(
        sf_synopsis_aggregate(&synopsis, 1, SF_AGGREGATE_COUNT, &high, &low, 1, &answer, &error), &error,
        SF_USAGE, "start before its end");
    test_assert_fails(
        sf_synopsis_aggregate(&synopsis, 1, SF_AGGREGATE_COUNT, &low, &high, 2, &answer, &error), &error,
        SF_USAGE, "2 ranges for 1 column");
    copy = synopsis;
    copy.h = NAN;
    test_assert_fails(sf_synopsis_check(&copy, &error), &error, SF_DATA, "bandwidth nan");
    copy = synopsis;
    copy.axes[0].period = 64;
    test_assert_fails(sf_synopsis_check(&copy, &error), &error, SF_DATA, "do not fit in a period of 64");
    copy = synopsis;
    copy.n = 1;
    test_assert_fails(sf_synopsis_check(&copy, &error), &error, SF_DATA, "no state");
    synopsis.phi[5] = 2;
    test_assert_fails(sf_synopsis_check(&synopsis, &error), &error, SF_DATA, "no value of a characteristic");
    sf_synopsis_close(&synopsis);
}

static int open_and_add(void *context)
{
    const sf_density *density = context;
    sf_synopsis a = {0}, b = {0};
    sf_error error;
    int status = sf_synopsis_of(&a, density, &error);
    if (status == SF_OK) status = sf_synopsis_of(&b, density, &error);
    if (status == SF_OK) status = sf_synopsis_add(&a, &b, &error);
    double from[2] = {5001, 0}, to[2] = {5010, 3};
    sf_aggregate answer = {.size = sizeof answer};
    if (status == SF_OK)
        status = sf_synopsis_aggregate(&a, 1, SF_AGGREGATE_SUM, from, to, a.d, &answer, &error);
    sf_synopsis_close(&a);
    sf_synopsis_close(&b);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    double rows[2 * N];
    make_pairs(rows, N, 9);
    for (size_t d = 1; d <= 2; d++) {
        sf_series *series;
        sf_density *density = density_of(&series, rows, N / 4, d, SF_DOMAIN_LINE, 0);
        test_fail_every_allocation(open_and_add, density);
        sf_density_free(density);
        sf_series_free(series);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_are_answered_as_from_the_samples),
        cmocka_unit_test(boxes_are_answered_as_from_the_samples),
        cmocka_unit_test(states_add_up),
        cmocka_unit_test(a_live_density_answers_as_its_samples),
        cmocka_unit_test(live_densities_add_up),
        cmocka_unit_test(too_few_have_no_state),
        cmocka_unit_test(what_does_not_add_up_answers_together),
        cmocka_unit_test(it_is_small),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
