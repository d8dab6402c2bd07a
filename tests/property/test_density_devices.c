/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums over pairs on every device that is found, against the oracle and the CPU; and, with a plugin that
 * needs no device, what becomes of a bandwidth when a device refuses, fails or is stopped.
 */
#include "support/support.h"

#include "core/memory.h"
#include "density/select.h"
#include "oracle/density_oracle.h"

#include <math.h>

static const char *const sets[] = {"gauss16", "isi", "rate", "delay"};
static const size_t dimensions[] = {1, 2, 3, 8, 16};

/* Rows of the first d columns of a set. Free with free(). */
static double *rows_of(const char *set, size_t n, size_t d)
{
    size_t columns;
    double *rows = check_samples(set, n, &columns);
    for (size_t i = 0; i < n; i++)
        memmove(rows + i * d, rows + i * columns, d * sizeof *rows);
    return rows;
}

static void assert_runs_on(const sf_pairs *pairs, const char *device)
{
    sf_ran ran;
    sf_choice_tell(&pairs->on, &ran);
    assert_string_equal(ran.device, device);
}

static void open_on(sf_pairs *pairs, double *rows, size_t n, size_t d, const char *device)
{
    sf_samples samples = {.values = rows, .n = n, .d = d};
    sf_error error;
    if (sf_pairs_open(pairs, &samples, 2, NULL, &error) != SF_OK ||
        sf_pairs_use(pairs, device, 1, &error) != SF_OK)
        fail_msg("%s, %zu x %zu: %s", device, n, d, error.text);
    assert_runs_on(pairs, device);
}

static void assert_within(double found, double expected, double tolerance, const char *what, size_t n,
                          size_t d)
{
    if (!(fabs(found - expected) <= tolerance))
        fail_msg("%s, %zu x %zu: %.17g, expected %.17g", what, n, d, found, expected);
}

/* ---- on any device ---- */

static size_t stride(void)
{
    return test_rounds(0) > 0 ? 17 : 1;
}

/* Every n up to 100: the steps of PLUG-IN as the formulas are printed. */
static void check_small_plugin(const char *device)
{
    for (size_t s = 0; s < 4; s++) {
        double *x = rows_of(sets[s], 100, 1);
        for (size_t n = 2; n <= 100; n += stride()) {
            sf_pairs pairs;
            sf_plugin found, expected = check_plugin(x, n);
            open_on(&pairs, x, n, 1, device);
            assert_int_equal(sf_pairs_plugin(&found, &pairs, NULL), SF_OK);
            assert_runs_on(&pairs, device);
            assert_within(found.psi6, expected.psi6, 2e-13 * fabs(expected.psi6), "psi6", n, 1);
            assert_within(found.psi4, expected.psi4, 2e-13 * fabs(expected.psi4), "psi4", n, 1);
            assert_within(found.h, expected.h, 2e-13 * expected.h, "h", n, 1);
            sf_pairs_close(&pairs);
        }
        free(x);
    }
}

/* Every n up to 100 and every number of columns: the score as the formula is printed. */
static void check_small_scores(const char *device)
{
    for (size_t k = 0; k < 5; k++) {
        size_t d = dimensions[k];
        double *rows = rows_of("gauss16", 100, d);
        for (size_t n = d + 1; n <= 100; n += (d > 3 ? 9 : 1) * stride()) {
            sf_pairs pairs;
            double h0 = sf_bandwidth_h0(n, d), h[3] = {h0 / 4, h0, 3 * h0}, scores[3], slopes[3];
            open_on(&pairs, rows, n, d, device);
            assert_int_equal(sf_pairs_lscv(&pairs, h, 3, scores, slopes), SF_OK);
            for (size_t m = 0; m < 3; m++)
                assert_within(scores[m], check_lscv(rows, n, d, h[m]), 1e-10 * fabs(scores[0]), "score", n,
                              d);
            assert_runs_on(&pairs, device);
            sf_pairs_close(&pairs);
        }
        free(rows);
    }
}

/* Scores and slopes of many bandwidths, from far under a tick to far over the range, as on the CPU. */
static void compare_scores(double *rows, size_t n, size_t d, size_t count, const char *device)
{
    sf_pairs pairs, expected;
    double *h = malloc(7 * count * sizeof *h), *scores = h + count, *slopes = scores + count,
           *again = slopes + count, *again_slopes = again + count, *cpu = again_slopes + count,
           *cpu_slopes = cpu + count;
    for (size_t m = 0; m < count; m++)
        h[m] = 1e-6 * pow(1e8, ((double)m + 0.5) / (double)count);
    open_on(&expected, rows, n, d, "cpu");
    open_on(&pairs, rows, n, d, device);
    assert_int_equal(sf_pairs_lscv(&expected, h, count, cpu, cpu_slopes), SF_OK);
    assert_int_equal(sf_pairs_lscv(&pairs, h, count, scores, slopes), SF_OK);
    assert_int_equal(sf_pairs_lscv(&pairs, h, count, again, again_slopes), SF_OK);
    for (size_t m = 0; m < count; m++) {
        double height = fmax(fabs(cpu[m]), pow(h[m], -(double)d) * exp(-pairs.log_root_det) / (double)n);
        assert_within(scores[m], cpu[m], 1e-12 * height, "score", n, d);
        assert_within(slopes[m], cpu_slopes[m], 1e-11 * (fabs(cpu_slopes[m]) + height / h[m]), "slope", n, d);
        assert_true(scores[m] == again[m] && slopes[m] == again_slopes[m]);
    }
    assert_runs_on(&pairs, device);
    sf_pairs_close(&pairs);
    sf_pairs_close(&expected);
    free(h);
}

static void check_shapes(const char *device)
{
    static const size_t sizes[] = {2, 63, 64, 65, 127, 128, 129, 500, 1025};
    static const size_t counts[] = {1, 2, 31, 33, 150, 200, 256, 300};
    double *rows = rows_of("gauss16", 1025, 3), *x = rows_of("isi", 1025, 1);
    for (size_t i = 0; i<9; i += stride()> 1 ? 3 : 1)
        compare_scores(rows, sizes[i] < 4 ? 4 : sizes[i], 3, 5, device);
    for (size_t i = 0; i<8; i += stride()> 1 ? 3 : 1)
        compare_scores(x, 130, 1, counts[i], device);
    free(rows);
    free(x);
}

/* Ties, an outlier at a million sigma, values at 1e-9 and 1e9: as on the CPU. */
static void check_extremes(const char *device)
{
    enum { N = 300 };
    double *x = rows_of("isi", N, 1), y[N];
    static const char *const names[] = {"ties", "outlier", "tiny", "huge"};
    for (int kind = 0; kind < 4; kind++) {
        for (size_t i = 0; i < N; i++)
            y[i] = kind == 0 ? round(x[i] / 10) : kind == 1 ? x[i] : x[i] * (kind == 2 ? 1e-9 : 1e9);
        if (kind == 1) y[17] = 1e6 * 50;
        sf_pairs pairs, expected;
        sf_plugin found, cpu;
        open_on(&expected, y, N, 1, "cpu");
        open_on(&pairs, y, N, 1, device);
        assert_int_equal(sf_pairs_plugin(&cpu, &expected, NULL), SF_OK);
        assert_int_equal(sf_pairs_plugin(&found, &pairs, NULL), SF_OK);
        assert_within(found.h, cpu.h, 1e-12 * cpu.h, names[kind], N, 1);
        assert_runs_on(&pairs, device);
        sf_pairs_close(&pairs);
        sf_pairs_close(&expected);
        compare_scores(y, N, 1, 40, device);
    }
    free(x);
}

/* Calls check for each device of this machine, or skips. */
static void for_devices(void (*check)(const char *device))
{
    sf_devices_close();
    if (test_no_device()) skip();
    uint32_t count = sf_device_count();
    for (uint32_t i = 0; i < count; i++)
        check(sf_device_name(sf_device_at(i)));
}

static void devices_agree_with_the_oracle_on_plugin(void **state)
{
    (void)state;
    for_devices(check_small_plugin);
}

static void devices_agree_with_the_oracle_on_scores(void **state)
{
    (void)state;
    for_devices(check_small_scores);
}

static void devices_take_every_shape(void **state)
{
    (void)state;
    for_devices(check_shapes);
}

static void devices_take_extremes(void **state)
{
    (void)state;
    for_devices(check_extremes);
}

static bool stop_in_the_middle(void *user, const char *what, double done, double total)
{
    (void)what;
    *(double *)user = done / total;
    return false;
}

/* More pairs than one launch takes: what is left of a job that is stopped is not done. */
static void check_stopping(const char *device)
{
    enum { N = 20000, COUNT = 200 };
    double *x = rows_of("gauss16", N, 1), h[COUNT], scores[COUNT], slopes[COUNT], done = 0;
    sf_progress progress = {stop_in_the_middle, &done};
    for (int m = 0; m < COUNT; m++)
        h[m] = 0.01 * (m + 1);
    sf_pairs pairs;
    open_on(&pairs, x, N, 1, device);
    assert_int_equal(sf_pairs_lscv(&pairs, h, COUNT, scores, slopes), SF_OK);
    pairs.progress = &progress;
    assert_int_equal(sf_pairs_lscv(&pairs, h, COUNT, scores, slopes), SF_CANCELLED);
    assert_true(done > 0 && done < 1);
    sf_pairs_close(&pairs);
    free(x);
}

static void devices_can_be_stopped(void **state)
{
    (void)state;
    if (stride() > 1) skip();
    for_devices(check_stopping);
}

/* ---- failures, without a device ---- */

static void use_test_plugin(void)
{
    sf_error error;
    if (sf_devices_use(TEST_PLUGIN, &error) != SF_OK) fail_msg("%s %s", error.place, error.text);
}

static void a_plugin_does_the_sums(void **state)
{
    (void)state;
    use_test_plugin();
    check_small_plugin("test:0");
    check_small_scores("test:0");
    check_shapes("test:0");
    check_extremes("test:0");
    sf_devices_close();
}

static sf_bandwidth select_on(const char *device, const char *method, bool exact)
{
    double *x = rows_of("gauss16", 120, 1);
    sf_samples samples = {.values = x, .n = 120, .d = 1};
    sf_bandwidth_options how = {.exact = exact, .threads = 1, .device = device};
    sf_bandwidth found;
    sf_error error;
    if (sf_bandwidth_select(&found, sf_selector_find(method), &samples, &how, &error) != SF_OK)
        fail_msg("%s on %s: %s", method, device, error.text);
    free(x);
    return found;
}

/* Where the bandwidth is found, what is said about it, and that it is that of the CPU. */
static void assert_selected(const char *asked, const char *method, bool exact, const char *where,
                            const char *note)
{
    sf_bandwidth found = select_on(asked, method, exact), expected = select_on(NULL, method, exact);
    assert_string_equal(found.ran.device, where);
    assert_non_null(strstr(found.ran.note, note));
    assert_true((note[0] == '\0') == (found.ran.note[0] == '\0'));
    assert_true(fabs(found.h / expected.h - 1) < 1e-9);
    assert_string_equal(expected.ran.device, "cpu");
    assert_string_equal(expected.ran.note, "");
    sf_bandwidth_free(&found);
    sf_bandwidth_free(&expected);
}

static void a_device_that_fails_or_refuses_is_left_and_the_cpu_goes_on(void **state)
{
    (void)state;
    use_test_plugin();
    static const char *const methods[] = {"plugin", "lscv", "lscv-paper"};
    for (size_t m = 0; m < 3; m++) {
        assert_selected("test:0", methods[m], true, "test:0", "");
        assert_selected("test:2", methods[m], true, "cpu", "too large for a test device");
        assert_selected("auto", methods[m], true, "cpu", ""); /* too little work to start a device */
        assert_selected("cpu", methods[m], true, "cpu", "");
        assert_selected("test:0", methods[m], false, "cpu", "nothing but direct sums");
        for (int time = 0; time < 2; time++) /* lost in its second job, and not asked again */
            assert_selected("test:1", methods[m], true, "cpu", "test:1 has failed: the device has fallen");
        use_test_plugin();
    }
    assert_selected("test:0", "silverman", false, "cpu", "nothing but direct sums");
    sf_devices_close();
}

static void devices_that_are_not_there_are_refused(void **state)
{
    (void)state;
    use_test_plugin();
    double *x = rows_of("gauss16", 60, 1);
    sf_samples samples = {.values = x, .n = 60, .d = 1};
    sf_bandwidth_options how = {.exact = true, .threads = 1, .device = "test:99"};
    sf_bandwidth found;
    sf_error error;
    test_assert_fails(sf_bandwidth_select(&found, sf_selector_find("plugin"), &samples, &how, &error), &error,
                      SF_UNAVAILABLE, "there is no device test:99");
    how.device = "gpu";
    test_assert_fails(sf_bandwidth_select(&found, sf_selector_find("lscv"), &samples, &how, &error), &error,
                      SF_USAGE, "there is no device 'gpu'");
    double done = 0;
    sf_progress progress = {stop_in_the_middle, &done};
    how.device = "test:0";
    how.progress = &progress;
    test_assert_fails(sf_bandwidth_select(&found, sf_selector_find("plugin"), &samples, &how, &error), &error,
                      SF_CANCELLED, "stopped before");
    test_assert_fails(sf_bandwidth_select(&found, sf_selector_find("lscv"), &samples, &how, &error), &error,
                      SF_CANCELLED, "stopped before");
    free(x);
    sf_devices_close();
}

static int select_once(void *context)
{
    sf_error error;
    if (sf_devices_use(TEST_PLUGIN, &error) != SF_OK) return SF_NO_MEMORY;
    sf_samples samples = {.values = context, .n = 60, .d = 1};
    sf_bandwidth_options how = {.exact = true, .threads = 1, .device = "test:0"};
    sf_bandwidth found;
    int status = sf_bandwidth_select(&found, sf_selector_find("lscv-paper"), &samples, &how, &error);
    if (status == SF_OK) sf_bandwidth_free(&found);
    sf_devices_close();
    return status;
}

static void failed_allocations_leak_nothing(void **state)
{
    (void)state;
    double *x = rows_of("gauss16", 60, 1);
    test_fail_every_allocation(select_once, x);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_agree_with_the_oracle_on_plugin),
        cmocka_unit_test(devices_agree_with_the_oracle_on_scores),
        cmocka_unit_test(devices_take_every_shape),
        cmocka_unit_test(devices_take_extremes),
        cmocka_unit_test(devices_can_be_stopped),
        cmocka_unit_test(a_plugin_does_the_sums),
        cmocka_unit_test(a_device_that_fails_or_refuses_is_left_and_the_cpu_goes_on),
        cmocka_unit_test(devices_that_are_not_there_are_refused),
        cmocka_unit_test(failed_allocations_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
