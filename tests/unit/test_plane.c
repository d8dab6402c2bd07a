/* SPDX-License-Identifier: Apache-2.0 */
#include "support/support.h"

#include "core/memory.h"
#include "density/evaluate.h"
#include "density/pairs.h"
#include "density/plane.h"
#include "density/select.h"
#include "oracle/density_oracle.h"

#include <math.h>

enum { N = 500, BANDWIDTHS = 5 };

static const double bandwidths[BANDWIDTHS] = {0.15, 0.2, 0.4, 0.7, 1};

/* Whitened samples of two columns, and the direct sums over them. */
typedef struct twin {
    sf_pairs pairs;
    double scores[BANDWIDTHS], slopes[BANDWIDTHS];
} twin;

static twin make_twin(void)
{
    twin made;
    size_t columns;
    double *rows = check_samples("gauss16", N, &columns);
    for (size_t i = 0; i < N; i++)
        memmove(rows + 2 * i, rows + columns * i, 2 * sizeof *rows);
    sf_samples samples = {.values = rows, .n = N, .d = 2};
    assert_int_equal(sf_pairs_open(&made.pairs, &samples, 1, NULL, NULL), SF_OK);
    made.pairs.log_root_det = 0; /* scores of the whitened samples themselves */
    assert_int_equal(sf_pairs_lscv(&made.pairs, bandwidths, BANDWIDTHS, made.scores, made.slopes), SF_OK);
    free(rows);
    return made;
}

static sf_plane_frame make_frame(void)
{
    static const double least[2] = {-5, -4}, most[2] = {4, 5};
    return sf_plane_frame_for(least, most, 0.15, 1);
}

static void assert_scores(const sf_plane *plane, const twin *expected)
{
    sf_plane_spectrum spectrum;
    double scores[BANDWIDTHS], slopes[BANDWIDTHS];
    assert_int_equal(sf_plane_spectrum_open(&spectrum, plane, NULL), SF_OK);
    assert_true(fabs(spectrum.n - N) < 1e-9);
    assert_int_equal(sf_plane_lscv(&spectrum, bandwidths, BANDWIDTHS, scores, slopes), SF_OK);
    for (int i = 0; i < BANDWIDTHS; i++) {
        assert_true(fabs(scores[i] - expected->scores[i]) < 1e-12);
        assert_true(fabs(slopes[i] - expected->slopes[i]) < 1e-10);
    }
    sf_plane_spectrum_close(&spectrum);
}

static void scores_are_the_direct_ones(void **state)
{
    (void)state;
    twin expected = make_twin();
    sf_plane_frame frame = make_frame();
    assert_true(sf_plane_least_bandwidth(&frame) <= 0.15);
    sf_plane plane;
    assert_int_equal(sf_plane_open(&plane, &frame, NULL), SF_OK);
    assert_int_equal(sf_plane_add(&plane, expected.pairs.columns, expected.pairs.columns + N, N, 1), N);
    assert_scores(&plane, &expected);
    sf_plane_close(&plane);
    sf_pairs_close(&expected.pairs);
}

/* Halves that are merged, others that come and go, and weights that are halved: the same whole. */
static void states_add_up_and_are_taken_back(void **state)
{
    (void)state;
    twin expected = make_twin();
    sf_plane_frame frame = make_frame();
    const double *x = expected.pairs.columns, *y = x + N;
    sf_plane one, other;
    assert_int_equal(sf_plane_open(&one, &frame, NULL), SF_OK);
    assert_int_equal(sf_plane_open(&other, &frame, NULL), SF_OK);
    test_random random = test_random_start("plane", 6);
    double far_x[100], far_y[100];
    for (int i = 0; i < 100; i++) {
        far_x[i] = 9 * test_random_unit(&random) - 5;
        far_y[i] = 9 * test_random_unit(&random) - 4;
    }
    sf_plane_add(&one, far_x, far_y, 100, 1);
    sf_plane_add(&one, x, y, N / 2, 1);
    sf_plane_add(&one, far_x, far_y, 100, -1);
    sf_plane_add(&other, x + N / 2, y + N / 2, N / 2, 1);
    assert_int_equal(sf_plane_merge(&one, &other, NULL), SF_OK);
    assert_scores(&one, &expected);
    sf_error error;
    double nowhere[] = {NAN, 100, 0}, here[] = {0, 0, INFINITY};
    assert_int_equal(sf_plane_add(&one, nowhere, here, 3, 1), 0);
    sf_plane_close(&other);
    frame.period *= 2;
    assert_int_equal(sf_plane_open(&other, &frame, NULL), SF_OK);
    test_assert_fails(sf_plane_merge(&one, &other, &error), &error, SF_USAGE, "another frame");
    sf_plane_spectrum spectrum;
    test_assert_fails(sf_plane_spectrum_open(&spectrum, &other, &error), &error, SF_DATA, "less than two");
    sf_plane_close(&other);
    frame.period = 0;
    test_assert_fails(sf_plane_open(&other, &frame, &error), &error, SF_USAGE, "period 0");
    sf_plane_close(&one);
    sf_pairs_close(&expected.pairs);
}

/* Enough samples for the plane to be chosen: the minimum is that of the direct sums. */
static void lscv_of_two_columns_is_the_same_either_way(void **state)
{
    (void)state;
    size_t columns, many = test_is_short() ? 1000 : 3000;
    double *rows = check_samples("array8", many, &columns);
    for (size_t i = 0; i < many; i++)
        memmove(rows + 2 * i, rows + columns * i, 2 * sizeof *rows);
    sf_samples samples = {.values = rows, .n = many, .d = 2};
    sf_bandwidth found[2];
    for (int exact = 0; exact < 2; exact++) {
        sf_bandwidth_options how = {.exact = exact, .threads = 2};
        assert_int_equal(sf_bandwidth_select(&found[exact], sf_selector_find("lscv"), &samples, &how, NULL),
                         SF_OK);
        assert_false(found[exact].at_edge);
    }
    assert_true(fabs(found[0].h / found[1].h - 1) < 1e-9);
    assert_true(fabs(found[0].objective / found[1].objective - 1) < 1e-10);
    sf_bandwidth_free(&found[0]);
    sf_bandwidth_free(&found[1]);
    free(rows);
}

static int transform_once(void *context)
{
    twin *made = context;
    static const double least[2] = {-5, -5}, most[2] = {5, 5};
    sf_plane_frame frame = sf_plane_frame_for(least, most, 2, 2);
    sf_plane plane;
    sf_plane_spectrum spectrum = {0};
    int status = sf_plane_open(&plane, &frame, NULL);
    if (status == SF_OK) {
        sf_plane_add(&plane, made->pairs.columns, made->pairs.columns + N, N, 1);
        status = sf_plane_spectrum_open(&spectrum, &plane, NULL);
    }
    sf_plane_spectrum_close(&spectrum);
    sf_plane_close(&plane);
    return status;
}

static void failed_allocations_leak_nothing(void **state)
{
    (void)state;
    twin made = make_twin();
    test_fail_every_allocation(transform_once, &made);
    sf_pairs_close(&made.pairs);
}

/* At every point of a grid: the kernel with covariance h^2 Sigma, its inverse written out. */
static void the_density_is_the_sum_of_leaning_kernels(void **state)
{
    (void)state;
    enum { COUNT = 150, COLUMNS = 70, ROWS = 9 };
    double *rows = check_samples("array8", COUNT, &(size_t){0}), samples[2 * COUNT], x[COLUMNS], y[ROWS];
    double values[COLUMNS * ROWS], mean[2] = {0}, xx = 0, xy = 0, yy = 0, h = 0.3;
    for (int i = 0; i < COUNT; i++)
        for (int c = 0; c < 2; c++) {
            samples[2 * i + c] = rows[8 * i + c] + (c == 1 ? 0.4 * rows[8 * i] : 0) + 1e5;
            mean[c] += samples[2 * i + c] / COUNT;
        }
    for (int i = 0; i < COUNT; i++) {
        double a = samples[2 * i] - mean[0], b = samples[2 * i + 1] - mean[1];
        xx += a * a / (COUNT - 1);
        xy += a * b / (COUNT - 1);
        yy += b * b / (COUNT - 1);
    }
    for (int k = 0; k < COLUMNS; k++)
        x[k] = 1e5 - 200 + 15 * k;
    for (int k = 0; k < ROWS; k++)
        y[k] = 1e5 - 200 + 100 * k;
    assert_int_equal(
        sf_density_evaluate_plane(values, x, COLUMNS, y, ROWS, samples, NULL, COUNT, h, 2, NULL, NULL),
        SF_OK);
    double determinant = xx * yy - xy * xy;
    for (int k = 0; k < COLUMNS * ROWS; k++) {
        double expected = 0;
        for (int i = 0; i < COUNT; i++) {
            double a = x[k % COLUMNS] - samples[2 * i], b = y[k / COLUMNS] - samples[2 * i + 1];
            double distance = (yy * a * a - 2 * xy * a * b + xx * b * b) / (determinant * h * h);
            expected += exp(-distance / 2) / (6.283185307179586 * h * h * sqrt(determinant) * COUNT);
        }
        assert_true(fabs(values[k] - expected) < 1e-10 * (expected + 1e-7));
    }
    /* A weight is as many equal samples. */
    double twice[4 * COUNT], weights[COUNT], weighted[COLUMNS * ROWS];
    size_t count = 0;
    for (int i = 0; i < COUNT; i++) {
        weights[i] = i % 3;
        for (int k = 0; k < i % 3; k++)
            memcpy(&twice[2 * count++], &samples[2 * i], 2 * sizeof *samples);
    }
    assert_int_equal(
        sf_density_evaluate_plane(weighted, x, COLUMNS, y, ROWS, samples, weights, COUNT, h, 1, NULL, NULL),
        SF_OK);
    assert_int_equal(
        sf_density_evaluate_plane(values, x, COLUMNS, y, ROWS, twice, NULL, count, h, 1, NULL, NULL), SF_OK);
    for (int k = 0; k < COLUMNS * ROWS; k++)
        assert_true(fabs(values[k] - weighted[k]) < 1e-11 * (values[k] + 1e-7));
    sf_error error;
    for (int i = 0; i < COUNT; i++)
        samples[2 * i + 1] = 3 * samples[2 * i];
    test_assert_fails(sf_density_evaluate_plane(values, x, 2, y, 2, samples, NULL, COUNT, h, 1, NULL, &error),
                      &error, SF_DATA, "covariance is singular");
    test_assert_fails(sf_density_evaluate_plane(values, x, 2, y, 2, samples, NULL, COUNT, 0, 1, NULL, &error),
                      &error, SF_USAGE, "bandwidth 0");
    test_assert_fails(sf_density_evaluate_plane(values, x, 2, y, 2, samples, NULL, 1, h, 1, NULL, &error),
                      &error, SF_DATA, "at least 2");
    free(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scores_are_the_direct_ones),
        cmocka_unit_test(states_add_up_and_are_taken_back),
        cmocka_unit_test(lscv_of_two_columns_is_the_same_either_way),
        cmocka_unit_test(failed_allocations_leak_nothing),
        cmocka_unit_test(the_density_is_the_sum_of_leaning_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
