/* SPDX-License-Identifier: Apache-2.0 */
#include "support/support.h"

#include "core/memory.h"
#include "core/vector.h"
#include "density/evaluate.h"
#include "density/spectral.h"
#include "density/spread.h"
#include "oracle/density_oracle.h"

#include <math.h>

#define PI 3.14159265358979323846

static double *random_numbers(test_random *random, size_t n, double from, double to)
{
    double *numbers = malloc(n * sizeof *numbers);
    for (size_t i = 0; i < n; i++)
        numbers[i] = from + (to - from) * test_random_unit(random);
    return numbers;
}

static void fft_is_the_sum_it_stands_for(void **state)
{
    (void)state;
    test_random random = test_random_start("fft", 1);
    for (size_t length = 1; length <= 256; length *= 2) {
        double *x = random_numbers(&random, 2 * length, -1, 1), re[257], im[257];
        sf_fft *fft;
        assert_int_equal(sf_fft_open(&fft, length, NULL), SF_OK);
        sf_fft_real(fft, x, re, im);
        for (size_t k = 0; k <= length; k++) {
            long double sum_re = 0, sum_im = 0;
            for (size_t j = 0; j < 2 * length; j++) {
                long double angle =
                    3.14159265358979323846L * (long double)(j * k % (2 * length)) / (long double)length;
                sum_re += (long double)x[j] * cosl(angle);
                sum_im -= (long double)x[j] * sinl(angle);
            }
            double tolerance = 1e-15 * (double)length + 1e-15;
            assert_true(fabs(re[k] - (double)sum_re) < tolerance && fabs(im[k] - (double)sum_im) < tolerance);
        }
        sf_fft_close(fft);
        free(x);
    }
}

static const sf_frame frame = {.origin = -3, .period = 10, .modes = 128};

static void assert_characteristic(const sf_spectrum *spectrum, const double *x, const double *w, size_t n,
                                  double tolerance)
{
    double weight = 0;
    for (size_t j = 0; j < n; j++)
        weight += w != NULL ? w[j] : 1;
    double *shifted = malloc(n * sizeof *shifted);
    for (size_t j = 0; j < n; j++)
        shifted[j] = x[j] - frame.origin;
    for (size_t k = 0; k <= frame.modes; k++) {
        double re, im;
        check_characteristic(2 * PI * (double)k / frame.period, shifted, w, n, &re, &im);
        double error = hypot(spectrum->re[k] - re / weight, spectrum->im[k] - im / weight);
        double rounding = 2 * PI * (double)k * 0x1p-52; /* of a sample's place, 2^-52 of the period */
        if (!(error <= tolerance + rounding)) fail_msg("mode %zu: error %g", k, error);
    }
    free(shifted);
}

/* The stated bound: 2e-14 of the sum of weights, at every mode, on every instruction set, also at the frame's
 * ends. */
static void spread_samples_transform_within_the_stated_bound(void **state)
{
    (void)state;
    enum { N = 400 };
    test_random random = test_random_start("characteristic", 2);
    double *x = random_numbers(&random, N, -3, 7);
    x[0] = -3;
    x[1] = 7;
    for (int level = SF_VECTOR_BASE; level <= SF_VECTOR_AVX512; level++) {
        sf_vector_limit(level);
        sf_characteristic one;
        sf_spectrum spectrum;
        assert_int_equal(sf_characteristic_open(&one, &frame, NULL), SF_OK);
        assert_int_equal(sf_spectrum_open(&spectrum, &frame, NULL), SF_OK);
        assert_int_equal(sf_characteristic_add(&one, x, N, 1), N);
        assert_int_equal(sf_spectrum_update(&spectrum, &one, NULL), SF_OK);
        assert_characteristic(&spectrum, x, NULL, N, 2e-14);
        assert_true(spectrum.n == N);
        for (size_t j = 0; j < 3; j++) { /* two samples alone: nothing averages out */
            sf_characteristic_clear(&one);
            sf_characteristic_add(&one, x + j, 2, 1);
            assert_int_equal(sf_spectrum_update(&spectrum, &one, NULL), SF_OK);
            assert_characteristic(&spectrum, x + j, NULL, 2, 2e-14);
        }
        sf_spectrum_close(&spectrum);
        sf_characteristic_close(&one);
    }
    free(x);
}

static void samples_outside_the_frame_are_left_out_and_counted(void **state)
{
    (void)state;
    sf_characteristic one;
    assert_int_equal(sf_characteristic_open(&one, &frame, NULL), SF_OK);
    const double x[] = {-3.0000001, 7.0000001, NAN, INFINITY, -INFINITY, 1e300, 0};
    assert_int_equal(sf_characteristic_add(&one, x, 7, 1), 1);
    assert_true(one.weight == 1);
    sf_characteristic_close(&one);
    sf_error error;
    static const sf_frame bad[] = {{0, 0, 64},        {0, -1, 64},  {0, NAN, 64},
                                   {0, INFINITY, 64}, {NAN, 1, 64}, {0, 1, 8}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        test_assert_fails(sf_characteristic_open(&one, &bad[i], &error), &error, SF_USAGE, "frame");
}

/* Three parts of different weight equal the weighted whole; moments and effective n too. */
static void merged_states_equal_the_weighted_whole(void **state)
{
    (void)state;
    enum { N = 300 };
    test_random random = test_random_start("merge", 3);
    double *x = random_numbers(&random, N, -3, 7), w[N], weight = 0, squares = 0, mean = 0, variance = 0;
    sf_characteristic parts[3], other;
    for (size_t p = 0; p < 3; p++) {
        assert_int_equal(sf_characteristic_open(&parts[p], &frame, NULL), SF_OK);
        assert_int_equal(sf_characteristic_add(&parts[p], x + 100 * p, 100,
                                               p == 2   ? 3
                                               : p == 1 ? 0.5
                                                        : 1),
                         100);
    }
    for (size_t j = 0; j < N; j++) {
        w[j] = j < 100 ? 1 : j < 200 ? 0.5 : 3;
        weight += w[j];
        squares += w[j] * w[j];
        mean += w[j] * x[j];
    }
    mean /= weight;
    for (size_t j = 0; j < N; j++)
        variance += w[j] * (x[j] - mean) * (x[j] - mean) / weight;
    assert_int_equal(sf_characteristic_merge(&parts[0], &parts[1], NULL), SF_OK);
    assert_int_equal(sf_characteristic_merge(&parts[0], &parts[2], NULL), SF_OK);
    sf_spectrum spectrum;
    assert_int_equal(sf_spectrum_open(&spectrum, &frame, NULL), SF_OK);
    assert_int_equal(sf_spectrum_update(&spectrum, &parts[0], NULL), SF_OK);
    assert_characteristic(&spectrum, x, w, N, 2e-14);
    double n = weight * weight / squares;
    assert_true(fabs(spectrum.n - n) < 1e-10 * n);
    assert_true(fabs(spectrum.sigma - sqrt(variance * n / (n - 1))) < 1e-12);
    sf_frame shifted = frame;
    shifted.origin += 1;
    assert_int_equal(sf_characteristic_open(&other, &shifted, NULL), SF_OK);
    sf_error error;
    test_assert_fails(sf_characteristic_merge(&parts[0], &other, &error), &error, SF_USAGE, "another frame");
    sf_characteristic_close(&other);
    sf_spectrum_close(&spectrum);
    for (size_t p = 0; p < 3; p++)
        sf_characteristic_close(&parts[p]);
    free(x);
}

/* A sliding window: 500 samples stay while a million go through. The drift is stated in the header. */
static void a_million_samples_added_and_removed_leave_rounding_alone(void **state)
{
    (void)state;
    enum { WINDOW = 500, TOTAL = 1000000 };
    size_t columns, total = getenv("SYNFIRE_TEST_LONG") != NULL ? 10 * TOTAL : TOTAL;
    double *all = check_samples("gauss16", WINDOW, &columns), window[WINDOW];
    for (size_t i = 0; i < WINDOW; i++)
        window[i] = all[i * columns] / 2 + 2;
    free(all);
    test_random random = test_random_start("sliding", 4);
    sf_characteristic sliding, fresh;
    assert_int_equal(sf_characteristic_open(&sliding, &frame, NULL), SF_OK);
    assert_int_equal(sf_characteristic_open(&fresh, &frame, NULL), SF_OK);
    assert_int_equal(sf_characteristic_add(&sliding, window, WINDOW, 1), WINDOW);
    for (size_t i = 0; i < total; i++) {
        size_t at = i % WINDOW;
        sf_characteristic_add(&sliding, &window[at], 1, -1);
        window[at] = 2 + 4 * (test_random_unit(&random) - 0.5) * test_random_unit(&random);
        sf_characteristic_add(&sliding, &window[at], 1, 1);
    }
    assert_int_equal(sf_characteristic_add(&fresh, window, WINDOW, 1), WINDOW);
    assert_true(sliding.weight == WINDOW && sliding.squares == WINDOW);
    sf_spectrum a, b;
    assert_int_equal(sf_spectrum_open(&a, &frame, NULL), SF_OK);
    assert_int_equal(sf_spectrum_open(&b, &frame, NULL), SF_OK);
    assert_int_equal(sf_spectrum_update(&a, &sliding, NULL), SF_OK);
    assert_int_equal(sf_spectrum_update(&b, &fresh, NULL), SF_OK);
    double drift = 0;
    for (size_t k = 0; k <= frame.modes; k++)
        drift = fmax(drift, hypot(a.re[k] - b.re[k], a.im[k] - b.im[k]));
    sf_plugin plugin_a, plugin_b;
    assert_int_equal(sf_spectral_plugin(&plugin_a, &a, NULL), SF_OK);
    assert_int_equal(sf_spectral_plugin(&plugin_b, &b, NULL), SF_OK);
    printf("drift of phi after %zu samples: %.2g of its largest value; of the bandwidth: %.2g\n", total,
           drift, fabs(plugin_a.h / plugin_b.h - 1));
    assert_true(drift < 1e-12);
    assert_true(fabs(plugin_a.h / plugin_b.h - 1) < 1e-10);
    sf_spectrum_close(&a);
    sf_spectrum_close(&b);
    sf_characteristic_close(&sliding);
    sf_characteristic_close(&fresh);
}

static void spectral_density_is_the_direct_one(void **state)
{
    (void)state;
    enum { N = 1000, POINTS = 100 };
    size_t columns;
    double *x = check_samples("delay", N, &columns), points[POINTS], direct[POINTS], spectral[POINTS];
    for (int p = 0; p < POINTS; p++)
        points[p] = 2 + 2 * p;
    sf_frame wide = sf_frame_for(0, 250, 0.25, 1);
    sf_characteristic one;
    sf_spectrum spectrum;
    assert_int_equal(sf_characteristic_open(&one, &wide, NULL), SF_OK);
    assert_int_equal(sf_spectrum_open(&spectrum, &wide, NULL), SF_OK);
    assert_int_equal(sf_characteristic_add(&one, x, N, 1), N);
    assert_int_equal(sf_spectrum_update(&spectrum, &one, NULL), SF_OK);
    assert_int_equal(check_kernels(direct, points, POINTS, x, N, 0.3, SF_DOMAIN_LINE, 1, NULL), SF_OK);
    sf_spectrum_density(&spectrum, 0.3, 0, points, POINTS, spectral);
    for (int p = 0; p < POINTS; p++)
        assert_true(fabs(direct[p] - spectral[p]) < 1e-13);
    assert_int_equal(check_kernels(direct, points, POINTS, x, N, 0.9, SF_DOMAIN_REFLECT, 1, NULL), SF_OK);
    wide = sf_frame_for(-250, 250, 0.25, 1);
    sf_characteristic mirrored;
    sf_spectrum reflected;
    assert_int_equal(sf_characteristic_open(&mirrored, &wide, NULL), SF_OK);
    assert_int_equal(sf_spectrum_open(&reflected, &wide, NULL), SF_OK);
    assert_int_equal(sf_characteristic_add(&mirrored, x, N, 1), N);
    assert_int_equal(sf_spectrum_update(&reflected, &mirrored, NULL), SF_OK);
    sf_spectrum_reflect(&reflected);
    sf_spectrum_density(&reflected, 0.9, 0, points, POINTS, spectral);
    for (int p = 0; p < POINTS;
         p++) /* the mean of the two sides, where the reflected density has their sum */
        assert_true(fabs(direct[p] - 2 * spectral[p]) < 1e-13);
    sf_spectrum_close(&spectrum);
    sf_spectrum_close(&reflected);
    sf_characteristic_close(&one);
    sf_characteristic_close(&mirrored);
    free(x);
}

static void a_state_with_less_than_two_samples_has_no_spectrum(void **state)
{
    (void)state;
    sf_characteristic one;
    sf_spectrum spectrum;
    sf_error error;
    double x = 1;
    assert_int_equal(sf_characteristic_open(&one, &frame, NULL), SF_OK);
    assert_int_equal(sf_spectrum_open(&spectrum, &frame, NULL), SF_OK);
    test_assert_fails(sf_spectrum_update(&spectrum, &one, &error), &error, SF_DATA, "less than two");
    sf_characteristic_add(&one, &x, 1, 1);
    test_assert_fails(sf_spectrum_update(&spectrum, &one, &error), &error, SF_DATA, "less than two");
    sf_spectrum_close(&spectrum);
    sf_characteristic_close(&one);
}

static int open_both(void *context)
{
    (void)context;
    sf_characteristic one;
    sf_spectrum spectrum = {0};
    int status = sf_characteristic_open(&one, &frame, NULL);
    if (status == SF_OK) status = sf_spectrum_open(&spectrum, &frame, NULL);
    sf_spectrum_close(&spectrum);
    sf_characteristic_close(&one);
    return status;
}

static void failed_allocations_leak_nothing(void **state)
{
    (void)state;
    test_fail_every_allocation(open_both, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fft_is_the_sum_it_stands_for),
        cmocka_unit_test(spread_samples_transform_within_the_stated_bound),
        cmocka_unit_test(samples_outside_the_frame_are_left_out_and_counted),
        cmocka_unit_test(merged_states_equal_the_weighted_whole),
        cmocka_unit_test(a_million_samples_added_and_removed_leave_rounding_alone),
        cmocka_unit_test(spectral_density_is_the_direct_one),
        cmocka_unit_test(a_state_with_less_than_two_samples_has_no_spectrum),
        cmocka_unit_test(failed_allocations_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
