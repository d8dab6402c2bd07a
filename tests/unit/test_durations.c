/* SPDX-License-Identifier: Apache-2.0 */
/* Quantiles of durations beside those of the sorted durations themselves. */
#include "support/support.h"

#include "core/durations.h"

#include <math.h>

static sf_durations durations; /* zeroed by each test: it is large */

static int ascending(const void *a, const void *b)
{
    int64_t first = *(const int64_t *)a, second = *(const int64_t *)b;
    return (first > second) - (first < second);
}

static void assert_near(double found_ms, int64_t expected_ns)
{
    double expected_ms = (double)expected_ns * 1e-6;
    if (fabs(found_ms - expected_ms) > 0.02 * expected_ms)
        fail_msg("found %g ms, expected %g ms", found_ms, expected_ms);
}

static void quantiles_are_those_of_the_sorted(void **state)
{
    (void)state;
    enum { MOST = 5000 };
    static int64_t all[MOST];
    test_random random = test_random_start("durations", 1);
    for (int round = 0; round < 40; round++) {
        size_t count = 1 + test_random_below(&random, MOST);
        unsigned octaves = 1 + (unsigned)test_random_below(&random, 62);
        double sum_ms = 0;
        memset(&durations, 0, sizeof durations);
        for (size_t i = 0; i < count; i++) {
            all[i] = (int64_t)(test_random_bits(&random) >> (64 - test_random_below(&random, octaves) - 1));
            all[i] &= INT64_MAX >> 1;
            sf_durations_add(&durations, all[i]);
        }
        qsort(all, count, sizeof *all, ascending);
        sf_took took = sf_durations_tell(&durations);
        assert_int_equal(took.count, count);
        assert_near(took.p50_ms, all[(count + 1) / 2 - 1]);
        assert_near(took.p99_ms, all[(count * 99 + 99) / 100 - 1]);
        test_assert_same(took.max_ms, (double)all[count - 1] * 1e-6);
        assert_true(took.p99_ms <= took.max_ms);
        for (size_t i = 0; i < count && octaves < 40; i++)
            sum_ms += (double)all[i] * 1e-6;
        assert_true(octaves >= 40 || fabs(took.busy_ms - sum_ms) <= 1e-9 * sum_ms);
    }
}

static void none_and_one(void **state)
{
    (void)state;
    memset(&durations, 0, sizeof durations);
    sf_took took = sf_durations_tell(&durations);
    assert_int_equal(took.count, 0);
    assert_true(isnan(took.p50_ms) && isnan(took.p99_ms) && isnan(took.max_ms) && took.busy_ms == 0);
    sf_durations_add(&durations, -5); /* a clock that was read on another core */
    took = sf_durations_tell(&durations);
    assert_true(took.count == 1 && took.p50_ms == 0 && took.max_ms == 0);
    sf_durations_add(&durations, INT64_MAX);
    took = sf_durations_tell(&durations);
    assert_near(took.p99_ms, INT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_are_those_of_the_sorted),
        cmocka_unit_test(none_and_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
