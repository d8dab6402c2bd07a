/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks of streams that are faster or slower than time, and senders that only seem so. */
#include "support/support.h"

#include "core/clock.h"
#include "window/pace.h"

#include <math.h>

/* Frames each 40 ms for so many seconds, of a clock that passes `pace` a second; a frame comes up to
 * `jitter_ms` late. What is told last, and how often anything is. */
static double told_of(double pace, double seconds, int64_t jitter_ms, int *times)
{
    test_random random = test_random_start("frames", 5);
    sf_pace it = {0};
    double told = 0;
    *times = 0;
    for (int64_t i = 0; (double)i * 0.04 < seconds; i++) {
        int64_t passed_ns = i * 40 * SF_MILLISECOND;
        int64_t late_ns =
            jitter_ms > 0 ? (int64_t)test_random_below(&random, (uint64_t)jitter_ms) * SF_MILLISECOND : 0;
        double now = sf_pace_take(&it, (int64_t)((double)passed_ns * pace), SF_SECOND + passed_ns + late_ns);
        *times += now != 0;
        told = now != 0 ? now : told;
    }
    return told;
}

static void a_wrong_rate_is_told_after_two_spans(void **state)
{
    (void)state;
    int times;
    static const double paces[] = {2.0 / 3, 0.8, 1.25, 1.5, 30};
    for (size_t i = 0; i < sizeof paces / sizeof paces[0]; i++) {
        assert_true(fabs(told_of(paces[i], 11.1, 0, &times) - paces[i]) < 0.001);
        assert_int_equal(times, 1);
        told_of(paces[i], 10.9, 0, &times);
        assert_int_equal(times, 0);
        assert_true(fabs(told_of(paces[i], 60, 50, &times) - paces[i]) < 0.02 * paces[i]);
        assert_true(times >= 1);
    }
    assert_true(told_of(1, 600, 200, &times) == 0 && told_of(1.0005, 600, 200, &times) == 0);
}

/* One that is held up for 0.9 s, and then sends what waited. */
static void a_sender_that_is_held_up_is_none(void **state)
{
    (void)state;
    sf_pace it = {0};
    for (int64_t i = 0; i < 2000; i++) {
        int64_t time_ns = i * 40 * SF_MILLISECOND, arrival_ns = time_ns;
        for (int64_t held = 4; held < 80; held += 7)
            if (time_ns >= held * SF_SECOND && time_ns < held * SF_SECOND + 900 * SF_MILLISECOND)
                arrival_ns = held * SF_SECOND + 900 * SF_MILLISECOND;
        assert_true(sf_pace_take(&it, time_ns, arrival_ns) == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wrong_rate_is_told_after_two_spans),
        cmocka_unit_test(a_sender_that_is_held_up_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
