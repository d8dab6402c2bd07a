/* SPDX-License-Identifier: Apache-2.0 */
#include "support/support.h"

#include "core/memory.h"
#include "core/vector.h"
#include "density/pairs.h"
#include "density/select.h"
#include "oracle/density_oracle.h"

#include <math.h>

static sf_bandwidth select_or_fail(const char *method, const double *rows, size_t n, size_t d,
                                   sf_bandwidth_options how)
{
    sf_bandwidth found;
    sf_error error = {0};
    sf_samples samples = {.values = (double *)(uintptr_t)rows, .n = n, .d = d};
    how.threads = how.threads == 0 ? 2 : how.threads;
    if (sf_bandwidth_select(&found, sf_selector_find(method), &samples, &how, &error) != SF_OK)
        fail_msg("%s of %zu x %zu: %s", method, n, d, error.text);
    return found;
}

static double h_of(const char *method, const double *rows, size_t n, bool exact)
{
    sf_bandwidth found = select_or_fail(method, rows, n, 1, (sf_bandwidth_options){.exact = exact});
    double h = found.h;
    sf_bandwidth_free(&found);
    return h;
}

static void assert_close(double found, double expected, double relative, const char *what)
{
    if (!(fabs(found - expected) <= relative * fabs(expected)))
        fail_msg("%s: %.17g, expected %.17g", what, found, expected);
}

/* Column 0 of a set. Free with free(). */
static double *column_of(const char *set, size_t n)
{
    size_t columns;
    double *rows = check_samples(set, n, &columns);
    for (size_t i = 0; i < n; i++)
        rows[i] = rows[i * columns];
    return rows;
}

static const char *const sets[] = {"gauss16", "isi", "rate", "delay"};

/* Every n up to 100 and every number of columns: scores and slopes of the direct sums. */
static void pair_scores_are_the_oracles(void **state)
{
    (void)state;
    static const size_t dimensions[] = {1, 2, 3, 8, 16};
    for (size_t k = 0; k < 5; k++) {
        size_t d = dimensions[k], columns;
        double *rows = check_samples("gauss16", 100, &columns);
        for (size_t i = 0; i < 100; i++)
            memmove(rows + i * d, rows + i * columns, d * sizeof *rows);
        for (size_t n = d + 1; n <= 100; n += d > 3 ? 9 : 1) {
            sf_samples samples = {.values = rows, .n = n, .d = d};
            sf_pairs pairs;
            assert_int_equal(sf_pairs_open(&pairs, &samples, 1, NULL, NULL), SF_OK);
            double h0 = sf_bandwidth_h0(n, d), h[4] = {h0 / 4, h0, h0 * (1 + 1e-6), 3 * h0}, scores[4],
                   slopes[4];
            for (int level = SF_VECTOR_BASE; level <= SF_VECTOR_AVX512; level++) {
                sf_vector_limit(level);
                assert_int_equal(sf_pairs_lscv(&pairs, h, 4, scores, slopes), SF_OK);
                for (size_t m = 0; m < 4; m++) {
                    double expected = check_lscv(rows, n, d, h[m]);
                    assert_true(fabs(scores[m] - expected) <=
                                1e-10 * fabs(scores[0]) + 1e-11 * fabs(expected));
                }
                double step = (scores[2] - scores[1]) / (h[2] - h[1]);
                assert_true(fabs(slopes[1] - step) <= 1e-4 * fabs(slopes[0]));
            }
            sf_pairs_close(&pairs);
        }
        free(rows);
    }
    sf_vector_limit(SF_VECTOR_AVX512);
}

/* Both engines give the same bandwidth, from the fewest samples on. */
static void characteristic_function_and_direct_sums_agree(void **state)
{
    (void)state;
    static const size_t sizes[] = {50, 51, 77, 100, 300};
    for (size_t s = 0; s < 4; s++) {
        double *x = column_of(sets[s], 300);
        for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
            assert_close(h_of("plugin", x, sizes[k], false), h_of("plugin", x, sizes[k], true), 1e-12,
                         "plugin");
            assert_close(h_of("lscv", x, sizes[k], false), h_of("lscv", x, sizes[k], true), 1e-9, "lscv");
            assert_close(h_of("lscv-paper", x, sizes[k], false), h_of("lscv-paper", x, sizes[k], true), 1e-9,
                         "lscv-paper");
        }
        free(x);
    }
}

static void order_scale_and_threads_do_not_matter(void **state)
{
    (void)state;
    enum { N = 400 };
    static const char *const methods[] = {"isj", "plugin", "lscv", "silverman", "scott"};
    static const double scales[] = {1e-9, 1e9, -3, 1e-150, 1e150};
    test_random random = test_random_start("invariance", 5);
    double *x = column_of("isi", N), y[N];
    for (size_t m = 0; m < 5; m++) {
        double h = h_of(methods[m], x, N, false);
        memcpy(y, x, sizeof y);
        for (size_t i = N - 1; i > 0; i--) {
            size_t j = test_random_below(&random, i + 1);
            double swap = y[i];
            y[i] = y[j];
            y[j] = swap;
        }
        assert_close(h_of(methods[m], y, N, false), h, 1e-10, "shuffled");
        for (size_t s = 0; s < sizeof scales / sizeof scales[0]; s++) {
            for (size_t i = 0; i < N; i++)
                y[i] = x[i] * scales[s];
            assert_close(h_of(methods[m], y, N, false), h * fabs(scales[s]), 1e-9, "scaled");
        }
    }
    sf_bandwidth one = select_or_fail("lscv", x, N, 1, (sf_bandwidth_options){.exact = true, .threads = 1});
    sf_bandwidth many = select_or_fail("lscv", x, N, 1, (sf_bandwidth_options){.exact = true, .threads = 3});
    assert_true(one.h == many.h && one.objective == many.objective);
    sf_bandwidth_free(&one);
    sf_bandwidth_free(&many);
    free(x);
}

/* Intervals on the clock of a recording: the steps of the clock must not become the bandwidth. */
static void a_clock_does_not_drive_the_bandwidth_to_zero(void **state)
{
    (void)state;
    enum { N = 4000 };
    double *x = column_of("isi", N), y[N], tick = 0.1;
    for (size_t i = 0; i < N; i++)
        y[i] = round(x[i] / tick) * tick;
    assert_close(h_of("isj", y, N, false), h_of("isj", x, N, false), 0.05, "isj on the clock");
    assert_close(h_of("lscv", y, N, false), h_of("lscv", x, N, false), 0.2, "lscv on the clock");
    tick = 0.5; /* about the bandwidth itself */
    for (size_t i = 0; i < N; i++)
        y[i] = round(x[i] / tick) * tick;
    assert_true(h_of("isj", y, N, false) >= tick * 0.999);
    sf_bandwidth found = select_or_fail("lscv", y, N, 1, (sf_bandwidth_options){0});
    assert_true(found.h >= tick * 0.999);
    sf_bandwidth_free(&found);
    for (size_t i = 0; i < N; i++)
        y[i] = x[i] < 20;
    for (size_t m = 0; m < 2; m++) {
        found = select_or_fail(m == 0 ? "isj" : "lscv", y, N, 1, (sf_bandwidth_options){0});
        assert_true(found.at_edge && found.note != NULL);
        assert_true(found.h > 0 && found.h <= 1);
        sf_bandwidth_free(&found);
    }
    free(x);
}

static void outliers_are_survived(void **state)
{
    (void)state;
    enum { N = 500 };
    double *x = column_of("gauss16", N), isj_without = h_of("isj", x, N, false);
    double lscv_without = h_of("lscv", x, N, false);
    x[17] = 1e6;
    assert_close(h_of("plugin", x, N, false), h_of("plugin", x, N, true), 1e-10, "plugin with an outlier");
    assert_close(h_of("lscv", x, N, true), lscv_without, 0.05, "lscv with an outlier");
    /* The characteristic function ends at the modes it has room for, and says so; that is near enough. */
    sf_bandwidth isj = select_or_fail("isj", x, N, 1, (sf_bandwidth_options){0});
    assert_true(isj.at_edge && isj.h > 0.2 && isj.h < 2);
    assert_non_null(strstr(isj.note, "an outlier?"));
    sf_bandwidth lscv = select_or_fail("lscv", x, N, 1, (sf_bandwidth_options){0});
    assert_true(lscv.at_edge && lscv.h == isj.h);
    assert_non_null(strstr(lscv.note, "an outlier?"));
    sf_bandwidth_free(&isj);
    sf_bandwidth_free(&lscv);
    x[17] = 1e4;
    assert_close(h_of("isj", x, N, false), isj_without, 0.05, "isj with an outlier");
    assert_close(h_of("lscv", x, N, false), h_of("lscv", x, N, true), 1e-8, "lscv with an outlier");
    free(x);
}

/* Of samples that are all there twice the score falls without end: the least bandwidth is no answer. */
static void ties_leave_lscv_to_isj(void **state)
{
    (void)state;
    enum { N = 400 };
    test_random random = {1}; /* of other samples the score has a minimum besides */
    double x[N];
    for (int i = 0; i < N; i += 2)
        x[i] = x[i + 1] = -log(1 - test_random_unit(&random));
    sf_bandwidth found = select_or_fail("lscv", x, N, 1, (sf_bandwidth_options){0});
    assert_true(found.at_edge);
    assert_non_null(strstr(found.note, "falls without end"));
    assert_close(found.h, h_of("isj", x, N, false), 1e-9, "isj in place of lscv");
    sf_bandwidth_free(&found);
}

static void reflection_and_logarithm_choose_for_what_is_estimated(void **state)
{
    (void)state;
    enum { N = 3000 };
    double *x = column_of("rate", N), mirrored[2 * N];
    for (size_t i = 0; i < N; i++)
        mirrored[i] = x[i] = -12 * log(((double)i + 0.5) / N); /* exponential: a cliff at 0 */
    sf_bandwidth plain = select_or_fail("isj", x, N, 1, (sf_bandwidth_options){0});
    sf_bandwidth reflected =
        select_or_fail("isj", x, N, 1, (sf_bandwidth_options){.domain = SF_DOMAIN_REFLECT});
    assert_true(reflected.h > 1.5 * plain.h); /* no cliff is left to be followed */
    for (size_t i = 0; i < N; i++)
        mirrored[N + i] = -(mirrored[i] = x[i]);
    sf_bandwidth both = select_or_fail("isj", mirrored, 2 * N, 1, (sf_bandwidth_options){0});
    assert_close(reflected.h, both.h * pow(2, 0.2), 0.1, "reflected"); /* half as many samples */
    double logs[N];                                                    /* ascending, as samples are summed */
    for (size_t i = 0; i < N; i++)
        logs[N - 1 - i] = log(x[i]);
    sf_bandwidth of_log = select_or_fail("isj", x, N, 1, (sf_bandwidth_options){.domain = SF_DOMAIN_LOG});
    assert_true(of_log.h == h_of("isj", logs, N, false));
    sf_bandwidth_free(&plain);
    sf_bandwidth_free(&reflected);
    sf_bandwidth_free(&both);
    sf_bandwidth_free(&of_log);
    free(x);
}

static void refuse(const char *method, const double *rows, size_t n, size_t d, sf_bandwidth_options how,
                   sf_status status, const char *words)
{
    sf_bandwidth found;
    sf_error error;
    sf_samples samples = {.values = (double *)(uintptr_t)rows, .n = n, .d = d};
    how.threads = 1;
    test_assert_fails(sf_bandwidth_select(&found, sf_selector_find(method), &samples, &how, &error), &error,
                      status, words);
    assert_null(found.minima);
    assert_null(found.curve);
}

static void unusable_samples_are_refused_by_every_method(void **state)
{
    (void)state;
    const sf_bandwidth_options plain = {0}, exact = {.exact = true}, log = {.domain = SF_DOMAIN_LOG},
                               reflect = {.domain = SF_DOMAIN_REFLECT},
                               both = {.domain = SF_DOMAIN_REFLECT, .exact = true};
    size_t columns;
    double *rows = check_samples("gauss16", 200, &columns), same[60];
    for (size_t i = 0; i < 60; i++)
        same[i] = 2.5;
    for (size_t m = 0; sf_selector_at(m) != NULL; m++) {
        const char *method = sf_selector_name(sf_selector_at(m));
        refuse(method, rows, 49, 1, plain, SF_DATA, "not enough data");
        refuse(method, same, 60, 1, plain, SF_DATA, "all 60 samples equal 2.5");
        refuse(method, rows, 60, 17, plain, SF_DATA, "17 columns");
        refuse(method, rows, 60, 1, log, SF_DATA, "above 0");
        refuse(method, rows, 60, 1, reflect, SF_DATA, "at least 0");
        same[7] = NAN;
        refuse(method, same, 60, 1, plain, SF_DATA, "sample 8 is nan");
        same[7] = 2.5;
    }
    refuse("isj", rows, 60, 1, exact, SF_USAGE, "no form by direct sums");
    for (size_t i = 0; i < 200; i++)
        rows[i * 16] = fabs(rows[i * 16]);
    refuse("plugin", rows, 60, 2, plain, SF_DATA, "2 columns; the method plugin takes 1");
    refuse("lscv", same, 60, 1, both, SF_USAGE, "without direct sums");
    for (size_t i = 0; i < 200; i++) /* column 16 is a combination of columns 1 and 2 */
        rows[i * 16 + 15] = 3 * rows[i * 16] - rows[i * 16 + 1] / 7 + 1e6;
    static const char *const many[] = {"lscv", "lscv-paper", "silverman", "scott"};
    for (size_t m = 0; m < 4; m++)
        refuse(many[m], rows, 200, 16, plain, SF_DATA, "singular: column 16");
    for (size_t i = 0; i < 200; i++)
        rows[i * 16 + 4] = 7;
    refuse("lscv", rows, 200, 16, plain, SF_DATA, "all 200 samples equal 7");
    free(rows);
}

static void the_papers_edge_is_reported_as_an_edge(void **state)
{
    (void)state;
    double *x = column_of("isi", 512);
    sf_bandwidth found = select_or_fail("lscv-paper", x, 512, 1, (sf_bandwidth_options){.curve = true});
    assert_true(found.at_edge);
    assert_non_null(found.note);
    assert_int_equal(found.minimum_count, 0);
    assert_int_equal(found.curve_count, 150);
    assert_close(found.h_relative, found.h0 / 4, 1e-12, "edge");
    sf_bandwidth_free(&found);
    free(x);
}

typedef struct scenario {
    const char *method;
    const double *rows;
    size_t n, d;
    bool exact;
    sf_domain domain;
} scenario;

static int select_once(void *context)
{
    const scenario *what = context;
    sf_samples samples = {.values = (double *)(uintptr_t)what->rows, .n = what->n, .d = what->d};
    sf_bandwidth_options how = {.threads = 1, .exact = what->exact, .curve = true, .domain = what->domain};
    sf_bandwidth found;
    int status = sf_bandwidth_select(&found, sf_selector_find(what->method), &samples, &how, NULL);
    if (status == SF_OK) sf_bandwidth_free(&found);
    return status;
}

static void failed_allocations_leak_nothing(void **state)
{
    (void)state;
    size_t columns;
    double *rows = check_samples("array8", 60, &columns), *x = column_of("isi", 60), tied[60];
    for (size_t i = 0; i < 60; i++)
        tied[i] = round(x[i]);
    scenario scenarios[] = {
        {"isj", x, 60, 1, false, SF_DOMAIN_LINE},        {"isj", tied, 60, 1, false, SF_DOMAIN_REFLECT},
        {"plugin", x, 60, 1, true, SF_DOMAIN_LOG},       {"lscv", rows, 60, 3, false, SF_DOMAIN_LINE},
        {"lscv-paper", x, 60, 1, false, SF_DOMAIN_LINE}, {"scott", rows, 60, 8, false, SF_DOMAIN_LINE},
    };
    for (size_t s = 0; s < sizeof scenarios / sizeof scenarios[0]; s++)
        test_fail_every_allocation(select_once, &scenarios[s]);
    free(rows);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pair_scores_are_the_oracles),
        cmocka_unit_test(characteristic_function_and_direct_sums_agree),
        cmocka_unit_test(order_scale_and_threads_do_not_matter),
        cmocka_unit_test(a_clock_does_not_drive_the_bandwidth_to_zero),
        cmocka_unit_test(outliers_are_survived),
        cmocka_unit_test(ties_leave_lscv_to_isj),
        cmocka_unit_test(reflection_and_logarithm_choose_for_what_is_estimated),
        cmocka_unit_test(unusable_samples_are_refused_by_every_method),
        cmocka_unit_test(the_papers_edge_is_reported_as_an_edge),
        cmocka_unit_test(failed_allocations_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
