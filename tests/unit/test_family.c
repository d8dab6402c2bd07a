/* SPDX-License-Identifier: Apache-2.0 */
/* The correction over sizes, and the interval of count / expected: against the obvious and against chance. */
#include "support/support.h"

#include "analysis/episodes.h"
#include "mine/family.h"

#include <math.h>

enum { LEVELS = 3, SURROGATES = 60 };

static double draw(test_random *random)
{
    return -log(1 - test_random_unit(random));
}

/* Counts surrogates by the words of family.h. */
static double slow_q(const double *maxima, const double *recorded, uint32_t level, double stands_out)
{
    uint32_t before = 0, as_good = 0;
    for (uint32_t s = 0; s < SURROGATES; s++)
        before += maxima[level * SURROGATES + s] >= stands_out;
    for (uint32_t s = 0; s < SURROGATES; s++) {
        bool good = maxima[level * SURROGATES + s] >= stands_out;
        for (uint32_t of = 0; of < LEVELS; of++) {
            double own = maxima[of * SURROGATES + s];
            uint32_t rank = recorded[of] >= own;
            for (uint32_t other = 0; other < SURROGATES; other++)
                rank += maxima[of * SURROGATES + other] >= own;
            good = good || (of != level && isfinite(own) && rank <= before + 1);
        }
        as_good += good;
    }
    return (1.0 + as_good) / (1.0 + SURROGATES);
}

static void q_counts_surrogates_that_are_as_good_in_any_size(void **state)
{
    (void)state;
    test_random random = test_random_start("family", 3);
    for (int run = 0; run < 40; run++) {
        double maxima[LEVELS * SURROGATES], recorded[LEVELS];
        for (int i = 0; i < LEVELS * SURROGATES; i++)
            maxima[i] = run % 3 == 0 && i / SURROGATES == 1 ? -INFINITY : draw(&random);
        for (int k = 0; k < LEVELS; k++)
            recorded[k] = maxima[k * SURROGATES] == -INFINITY ? -INFINITY : 2 * draw(&random);
        sf_family family;
        assert_int_equal(sf_family_open(&family, maxima, recorded, LEVELS, SURROGATES, NULL), SF_OK);
        for (uint32_t k = 0; k < LEVELS; k++) {
            for (double z = 0; z < recorded[k]; z += 0.3)
                test_assert_same(sf_family_q(&family, k, z), slow_q(maxima, recorded, k, z));
            double critical = sf_family_critical(&family, k, 0.1);
            if (!isfinite(critical))
                continue;
            assert_true(sf_family_q(&family, k, critical) >= 0.1);
            assert_true(sf_family_q(&family, k, nextafter(critical, INFINITY)) < 0.1);
        }
        sf_family_close(&family);
    }
}

/* Where nothing is linked some size has a q below 0.05 in 5 % of recordings, and not in 5 % for each size. */
static void sizes_share_one_error(void **state)
{
    (void)state;
    enum { RUNS = 2000, N = 199 };
    test_random random = test_random_start("one error", 5);
    int together = 0, apart = 0;
    for (int run = 0; run < RUNS; run++) {
        double maxima[LEVELS * N], recorded[LEVELS];
        for (int i = 0; i < LEVELS * N; i++)
            maxima[i] = draw(&random) * (1 + i / N); /* sizes are not alike */
        for (int k = 0; k < LEVELS; k++)
            recorded[k] = draw(&random) * (1 + k);
        sf_family family;
        assert_int_equal(sf_family_open(&family, maxima, recorded, LEVELS, N, NULL), SF_OK);
        bool any = false, any_apart = false;
        for (uint32_t k = 0; k < LEVELS; k++) {
            any = any || sf_family_q(&family, k, recorded[k]) <= 0.05;
            uint32_t beyond = 0;
            for (int s = 0; s < N; s++)
                beyond += maxima[k * N + (uint32_t)s] >= recorded[k];
            any_apart = any_apart || (1.0 + beyond) / (1 + N) <= 0.05;
        }
        together += any;
        apart += any_apart;
        sf_family_close(&family);
    }
    assert_in_range(together, RUNS * 35 / 1000, RUNS * 62 / 1000);
    assert_true(apart > RUNS / 10);
}

static uint64_t draw_poisson(test_random *random, double mean)
{
    double left = mean;
    for (uint64_t count = 0;; count++) {
        left -= draw(random);
        if (left < 0)
            return count;
    }
}

static void the_interval_of_a_ratio_covers_it(void **state)
{
    (void)state;
    test_random random = test_random_start("interval", 7);
    static const double means[] = {3, 10, 40, 200};
    for (size_t m = 0; m < sizeof means / sizeof *means; m++) {
        enum { RUNS = 4000 };
        int below = 0, above = 0;
        for (int run = 0; run < RUNS; run++) {
            sf_ratio_interval interval = sf_ratio_interval_of(draw_poisson(&random, means[m]), means[m] / 2);
            below += interval.high < 2;
            above += interval.low > 2;
        }
        assert_true(below <= RUNS * 35 / 1000 && above <= RUNS * 35 / 1000); /* 2.5 % either way, or less */
        assert_true(means[m] < 40 || below + above >= RUNS * 25 / 1000);
    }
    sf_ratio_interval none = sf_ratio_interval_of(0, 4);
    assert_true(none.low == 0 && fabs(none.high - 3.69 / 4) < 0.02); /* exactly 3.689 */
    assert_true(isnan(sf_ratio_interval_of(3, 0).low) && isnan(sf_ratio_interval_of(3, NAN).high));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(q_counts_surrogates_that_are_as_good_in_any_size),
        cmocka_unit_test(sizes_share_one_error),
        cmocka_unit_test(the_interval_of_a_ratio_covers_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
