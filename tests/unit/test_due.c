/* SPDX-License-Identifier: Apache-2.0 */
/* When spikes of a live stream were due, by the differences of two clocks. */
#include "support/support.h"

#include "core/clock.h"
#include "pipeline/trigger.h"
#include "window/due.h"

#include <math.h>

#define NO_ORIGIN INT64_MAX
#define FRAME_NS (10 * SF_MILLISECOND)
#define START_NS (1000 * SF_SECOND)

/* How old a frame of this time is by what is known at now_ns. */
static int64_t age_ns(const sf_due *due, int64_t time_ns, int64_t now_ns)
{
    return now_ns - (time_ns + sf_due_offset_ns(due, now_ns));
}

/* Frames on time, from from_ns of the stream up to to_ns. */
static void run_on_time(sf_due *due, int64_t from_ns, int64_t to_ns)
{
    for (int64_t t = from_ns; t < to_ns; t += FRAME_NS)
        sf_due_take(due, t, START_NS + t, NO_ORIGIN);
}

static void what_waited_is_as_old_as_it_waited(void **state)
{
    (void)state;
    sf_due due = {0};
    run_on_time(&due, 0, SF_SECOND);
    int64_t arrival_ns = START_NS + 9 * SF_SECOND; /* nothing was read for 8 s, and then all at once */
    for (int64_t t = SF_SECOND; t < 9 * SF_SECOND; t += FRAME_NS) {
        sf_due_take(&due, t, arrival_ns, NO_ORIGIN);
        int64_t right = arrival_ns - START_NS - t, age = age_ns(&due, t, arrival_ns);
        assert_true(age <= right && age >= right - 9 * SF_SECOND * SF_DUE_DRIFT_PPM / 1000000);
    }
    run_on_time(&due, 9 * SF_SECOND, 10 * SF_SECOND);
    assert_true(age_ns(&due, 10 * SF_SECOND, START_NS + 10 * SF_SECOND) <= 0);
}

/* Jitter of the way, frames that overtake each other, and clocks that part: nothing on time grows old by more
 * than jitter, and what is held back is found. */
static void jitter_order_and_drift_make_nothing_old(void **state)
{
    (void)state;
    test_random random = test_random_start("due", 1);
    for (int ppm = -500; ppm <= 500; ppm += 100) {
        sf_due due = {0};
        int64_t jitter_ns = 3 * SF_MILLISECOND, oldest_ns = 0, last_ns = 0;
        for (int64_t i = 0; i < 100000; i++) {
            int64_t real_ns = i * FRAME_NS, t = real_ns + real_ns / 1000000 * ppm;
            int64_t swapped = i % 7 == 3 ? t - FRAME_NS : t;
            last_ns = START_NS + real_ns + (int64_t)test_random_below(&random, (uint64_t)jitter_ns);
            sf_due_take(&due, swapped, last_ns, NO_ORIGIN);
            int64_t age = age_ns(&due, t, last_ns);
            oldest_ns = age > oldest_ns ? age : oldest_ns;
        }
        assert_true(oldest_ns <= jitter_ns + SF_MILLISECOND);
        int64_t late_ns = 100 * SF_MILLISECOND, real_ns = 100000 * FRAME_NS;
        int64_t t = real_ns + real_ns / 1000000 * ppm, arrival_ns = START_NS + real_ns + late_ns;
        sf_due_take(&due, t, arrival_ns, NO_ORIGIN);
        int64_t age = age_ns(&due, t, arrival_ns);
        assert_true(age > late_ns - jitter_ns - SF_MILLISECOND && age <= late_ns + SF_MILLISECOND);
    }
}

/* A trigger on every tenth frame, for four hours of a stream whose clock is slow or fast by 300 ppm: 4.3 s in
 * the end. What is on time is always sent; what is held back by twice its age, each 10 min, never. */
static void hours_of_drift_neither_disarm_nor_hide_what_is_stale(void **state)
{
    (void)state;
    const sf_trigger_settings settings = {
        .armed = true, .max_age_ns = 20 * SF_MILLISECOND, .max_q = NAN, .follows = UINT32_MAX};
    for (int ppm = -300; ppm <= 300; ppm += 600) {
        sf_due due = {0};
        sf_triggers *triggers;
        uint64_t sent = 0, stale = 0;
        assert_int_equal(sf_triggers_open(&triggers, &settings, 1, NULL), SF_OK);
        for (int64_t i = 0; i < 4 * 3600 * 100; i++) {
            int64_t real_ns = i * FRAME_NS, t = real_ns + real_ns / 1000000 * ppm;
            bool held = i > 0 && i % 60000 == 0;
            int64_t now_ns = START_NS + real_ns + (held ? 40 : 1 + i % 3) * SF_MILLISECOND;
            sf_due_take(&due, t, now_ns, NO_ORIGIN);
            if (i % 10 != 0) continue;
            const sf_cause cause = {
                .time_ns = t, .arrival_ns = sf_due_at(sf_due_offset_ns(&due, now_ns), t, now_ns), .q = NAN};
            const sf_decision *decisions;
            assert_int_equal(
                sf_triggers_take(triggers,
                                 &(sf_trigger_event){.kind = SF_EVENT_COMPLETED, .occurrence = &cause},
                                 now_ns, &decisions),
                1);
            assert_int_equal(decisions[0].outcome, held ? SF_OUTCOME_WITHHELD : SF_OUTCOME_SENT);
            sent += !held;
            stale += held;
            if (held)
                sf_triggers_take(triggers, &(sf_trigger_event){.kind = SF_EVENT_ARM}, now_ns, &decisions);
        }
        assert_int_equal(stale, 23);
        assert_int_equal(sent, 144000 - 23);
        sf_triggers_close(triggers);
    }
}

static void one_broken_time_makes_nothing_old(void **state)
{
    (void)state;
    sf_due due = {0};
    run_on_time(&due, 0, SF_SECOND);
    sf_due_take(&due, 6 * SF_SECOND, START_NS + SF_SECOND, NO_ORIGIN);
    assert_true(age_ns(&due, SF_SECOND, START_NS + SF_SECOND) <= SF_MILLISECOND);
    sf_due_take(&due, 6 * SF_SECOND + FRAME_NS, START_NS + SF_SECOND + FRAME_NS, NO_ORIGIN); /* a step */
    assert_int_equal(age_ns(&due, 6 * SF_SECOND, START_NS + SF_SECOND) / SF_MILLISECOND, 0);
    assert_true(age_ns(&due, SF_SECOND, START_NS + SF_SECOND) > 4 * SF_SECOND);
}

static void a_new_epoch_knows_nothing_of_the_last(void **state)
{
    (void)state;
    sf_due due = {0};
    run_on_time(&due, 100 * SF_SECOND, 101 * SF_SECOND);
    due = (sf_due){0};
    sf_due_take(&due, 0, START_NS + 200 * SF_SECOND, NO_ORIGIN);
    assert_int_equal(age_ns(&due, 0, START_NS + 200 * SF_SECOND), 0);
}

static void an_origin_tells_what_was_late_from_the_start(void **state)
{
    (void)state;
    int64_t behind_ns = 6 * SF_SECOND, arrival_ns = START_NS + behind_ns;
    sf_due due = {0};
    sf_due_take(&due, 0, arrival_ns, START_NS);
    assert_int_equal(age_ns(&due, 0, arrival_ns), behind_ns);
    due = (sf_due){0}; /* an origin that is still to come is that of a clock that is wrong */
    sf_due_take(&due, 0, arrival_ns, START_NS + SF_SECOND * 60);
    assert_int_equal(age_ns(&due, 0, arrival_ns), 0);
    due = (sf_due){0}; /* in 10,000 s clocks may part by 1 s */
    int64_t long_ns = 10000 * SF_SECOND;
    sf_due_take(&due, long_ns, START_NS + long_ns + SF_SECOND, START_NS);
    assert_int_equal(age_ns(&due, long_ns, START_NS + long_ns + SF_SECOND), 0);
}

static void times_at_the_ends_do_not_overflow(void **state)
{
    (void)state;
    const int64_t ends[] = {INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX - 1, INT64_MAX};
    for (size_t i = 0; i < 7; i++)
        for (size_t j = 0; j < 7; j++)
            for (size_t k = 0; k < 7; k++) {
                sf_due due = {0};
                sf_due_take(&due, ends[i], ends[j], ends[k]);
                sf_due_take(&due, ends[j], ends[i], ends[k]);
                sf_due_take(&due, ends[k], ends[i], ends[j]);
                if (ends[j] >= 0) { /* as the monotonic clock is */
                    int64_t at_ns = sf_due_at(sf_due_offset_ns(&due, ends[k]), ends[i], ends[j]);
                    assert_true(at_ns <= ends[j] && ends[j] - at_ns <= INT64_C(1) << 61);
                }
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_waited_is_as_old_as_it_waited),
        cmocka_unit_test(jitter_order_and_drift_make_nothing_old),
        cmocka_unit_test(hours_of_drift_neither_disarm_nor_hide_what_is_stale),
        cmocka_unit_test(one_broken_time_makes_nothing_old),
        cmocka_unit_test(a_new_epoch_knows_nothing_of_the_last),
        cmocka_unit_test(an_origin_tells_what_was_late_from_the_start),
        cmocka_unit_test(times_at_the_ends_do_not_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
