/* SPDX-License-Identifier: Apache-2.0 */
/* Cross-correlograms: pairs in the bins they belong to, and what constant rates give beside ends and gaps. */
#include "mine/correlogram.h"

#include "core/clock.h"
#include "core/memory.h"
#include "support/support.h"

#include <math.h>

#define MS SF_MILLISECOND

static void bins_are_open_below(void **state)
{
    (void)state;
    const sf_spike spikes[] = {{.time_ns = 10 * MS, .unit = 0},
                               {.time_ns = 10 * MS, .unit = 1},
                               {.time_ns = 12 * MS, .unit = 1},
                               {.time_ns = 12 * MS + 1, .unit = 1},
                               {.time_ns = 14 * MS, .unit = 0}};
    const sf_span all = {0, 100 * MS};
    sf_correlogram c;
    assert_int_equal(sf_correlogram_make(&c, spikes, 5, 0, 1, MS, 3, &all, 1, NULL), SF_OK);
    /* lags 0, 2, 2 + 1 ns; -4 (too far), -2, -2 + 1 ns: (-3,-2] holds -2 and (-1,0] holds 0 */
    static const uint64_t expected[] = {1, 1, 1, 0, 1, 1};
    for (size_t k = 0; k < 6; k++)
        assert_int_equal(c.counts[k], expected[k]);
    test_assert_same(c.mean, 2 * 3 * 1.0 / 100);
    sf_correlogram_free(&c);
    assert_int_equal(sf_correlogram_make(&c, spikes, 5, 0, 0, MS, 5, &all, 1, NULL), SF_OK);
    uint64_t sum = 0;
    for (size_t k = 0; k < 10; k++)
        sum += c.counts[k];
    assert_int_equal(sum, 2); /* 4 and -4, and no spike with itself */
    assert_true(c.counts[8] == 1 && c.counts[0] == 1);
    sf_correlogram_free(&c);
}

/* Two independent units in two spans: counts are as expected at every lag, gap or none. */
static void gaps_are_expected(void **state)
{
    (void)state;
    const sf_span observed[] = {{0, 300 * MS}, {350 * MS, 400 * MS}};
    enum { COUNT = 350 * 2 * 20 };
    sf_spike *spikes = calloc(COUNT, sizeof *spikes);
    size_t count = 0;
    for (int64_t ms = 0; ms < 400; ms++) /* twenty spikes of each unit, evenly within each millisecond */
        for (int64_t i = 0; i < 20 && (ms < 300 || ms >= 350); i++)
            for (uint32_t unit = 0; unit < 2; unit++)
                spikes[count++] = (sf_spike){.time_ns = ms * MS + i * MS / 20 + unit, .unit = unit};
    assert_int_equal(count, COUNT);
    sf_correlogram c;
    assert_int_equal(sf_correlogram_make(&c, spikes, count, 0, 1, MS, 100, observed, 2, NULL), SF_OK);
    for (size_t k = 0; k < 200; k++)
        assert_true(fabs((double)c.counts[k] / c.expected[k] - 1) < 0.005);
    assert_true(c.expected[20] < 0.8 * c.mean && c.expected[100] > 0.99 * c.mean);
    sf_correlogram_free(&c);
    free(spikes);
}

/* A pair 5 ms apart, again and again: one bin holds all, and surrogates by up to 10 ms spread it over twenty.
 */
static void surrogates_spread_a_link(void **state)
{
    (void)state;
    enum { PAIRS = 400, WIDTH = 10 };
    sf_spike spikes[2 * PAIRS];
    const sf_span all = {0, PAIRS * 1000 * (int64_t)MS};
    const sf_surrogate_rule rule = {.kind = SF_SURROGATE_SEGMENT_SHIFT,
                                    .width_ns = WIDTH * (int64_t)MS,
                                    .segment_ns = 1000 * (int64_t)MS,
                                    .seed = 7};
    for (int64_t i = 0; i < PAIRS; i++)
        for (uint32_t unit = 0; unit < 2; unit++)
            spikes[2 * i + unit] = (sf_spike){.time_ns = i * 1000 * MS + unit * 5 * MS, .unit = unit};
    sf_correlogram c;
    assert_int_equal(sf_correlogram_make(&c, spikes, 2 * PAIRS, 0, 1, MS, 50, &all, 1, NULL), SF_OK);
    assert_null(c.surrogate_mean);
    assert_int_equal(sf_correlogram_shift(&c, spikes, 2 * PAIRS, &rule, 1000, NULL), SF_OK);
    double sum = 0;
    for (size_t k = 0; k < 100; k++) {
        int64_t lag = (int64_t)k - 49; /* k - 50 < lag <= k - 49 */
        bool reached = lag > 5 - WIDTH - 1 && lag <= 5 + WIDTH + 1;
        assert_true(c.surrogate_low[k] <= c.surrogate_mean[k] && c.surrogate_mean[k] <= c.surrogate_high[k]);
        assert_true(reached || c.surrogate_high[k] == 0);
        sum += c.surrogate_mean[k];
    }
    assert_true(fabs(sum - PAIRS) < 1e-6); /* none is lost */
    assert_true(c.counts[54] == PAIRS && c.surrogate_high[54] < PAIRS / 5.0 &&
                c.surrogate_low[54] > PAIRS / 40.0);
    sf_correlogram_free(&c);
}

static int make_one(void *context)
{
    (void)context;
    const sf_spike spikes[] = {{.time_ns = 10 * MS, .unit = 0}, {.time_ns = 10 * MS, .unit = 1}};
    const sf_span all = {0, 100 * MS};
    sf_correlogram c;
    const sf_surrogate_rule rule = {
        .kind = SF_SURROGATE_SEGMENT_SHIFT, .width_ns = MS, .segment_ns = 50 * MS, .seed = 1};
    int status = sf_correlogram_make(&c, spikes, 2, 0, 1, MS, 3, &all, 1, NULL);
    if (status == SF_OK) status = sf_correlogram_shift(&c, spikes, 2, &rule, 3, NULL);
    sf_correlogram_free(&c);
    return status;
}

static void allocation_failures_leak_nothing(void **state)
{
    (void)state;
    test_fail_every_allocation(make_one, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bins_are_open_below),
        cmocka_unit_test(gaps_are_expected),
        cmocka_unit_test(surrogates_spread_a_link),
        cmocka_unit_test(allocation_failures_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
