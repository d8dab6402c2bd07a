/* SPDX-License-Identifier: Apache-2.0 */
/* The correction of many candidates, and the interval of count / expected: against the obvious and against
 * chance. */
#include "support/support.h"

#include "analysis/episodes.h"
#include "mine/family.h"

#include <math.h>

enum { SURROGATES = 60 };

static double draw(test_random *random)
{
    return -log(1 - test_random_unit(random));
}

static void q_counts_surrogates_that_stand_out_as_far(void **state)
{
    (void)state;
    test_random random = test_random_start("family", 3);
    for (int run = 0; run < 40; run++) {
        double maxima[SURROGATES];
        for (int i = 0; i < SURROGATES; i++)
            maxima[i] = run % 3 == 0 && i % 2 == 0 ? -INFINITY : draw(&random);
        sf_family family;
        assert_int_equal(sf_family_open(&family, maxima, SURROGATES, NULL), SF_OK);
        for (double z = 0; z < 4; z += 0.3) {
            uint32_t as_far = 0;
            for (uint32_t s = 0; s < SURROGATES; s++)
                as_far += maxima[s] >= z;
            test_assert_same(sf_family_q(&family, z), (1.0 + as_far) / (1.0 + SURROGATES));
        }
        test_assert_same(sf_family_q(&family, maxima[1]), sf_family_q(&family, nextafter(maxima[1], 0)));
        double critical = sf_family_critical(&family, 0.1);
        assert_true(sf_family_q(&family, critical) >= 0.1);
        assert_true(sf_family_q(&family, nextafter(critical, INFINITY)) < 0.1);
        assert_true(isnan(sf_family_critical(&family, 1.0 / (2 + SURROGATES))));
        sf_family_close(&family);
    }
}

static uint64_t draw_poisson(test_random *random, double mean)
{
    double left = mean;
    for (uint64_t count = 0;; count++) {
        left -= draw(random);
        if (left < 0) return count;
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
        cmocka_unit_test(q_counts_surrogates_that_stand_out_as_far),
        cmocka_unit_test(the_interval_of_a_ratio_covers_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
