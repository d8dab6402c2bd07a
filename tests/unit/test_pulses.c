/* SPDX-License-Identifier: Apache-2.0 */
/* Pulses that two clocks share, on virtual ones: what is not shared, jitter, drift, and what must not be
 * believed. */
#include "core/clock.h"
#include "support/support.h"
#include "window/pulses.h"

#include <math.h>

#define HOUR (3600 * SF_SECOND)
#define OFFSET_NS INT64_C(-987654321012)

typedef struct world {
    test_random random;
    sf_pulse_train *train;
    sf_pulses *pulses;
    double ppm;
    int64_t offset_ns, now_ns; /* of the train's clock, without jitter */
} world;

static void open_world(world *it, double ppm)
{
    *it = (world){.random = test_random_start("pulses", 17), .ppm = ppm, .offset_ns = OFFSET_NS};
    assert_int_equal(sf_pulse_train_open(&it->train, NULL), SF_OK);
    assert_int_equal(sf_pulses_open(&it->pulses, it->train, NULL), SF_OK);
}

static void close_world(world *it)
{
    sf_pulses_close(it->pulses);
    sf_pulse_train_close(it->train);
}

/* A time of the train on the source's clock. */
static int64_t own_time(const world *it, int64_t time_ns)
{
    return time_ns + it->offset_ns + llround((double)time_ns * it->ppm * 1e-6);
}

static int64_t jitter(world *it, int64_t most_ns)
{
    return most_ns > 0 ? (int64_t)test_random_below(&it->random, (uint64_t)(2 * most_ns + 1)) - most_ns : 0;
}

static bool happens(world *it, double share)
{
    return test_random_unit(&it->random) < share;
}

/* The next pulse, after so long; either side may lose it or have one more. */
static bool pulse(world *it, int64_t interval_ns, int64_t jitter_ns, double lost, double extra)
{
    it->now_ns += interval_ns;
    if (happens(it, extra)) sf_pulse_train_put(it->train, it->now_ns - 200 * SF_MILLISECOND);
    if (happens(it, extra)) sf_pulses_put(it->pulses, own_time(it, it->now_ns - 100 * SF_MILLISECOND));
    bool first = happens(it, 0.5); /* either may come first */
    if (first && !happens(it, lost)) sf_pulse_train_put(it->train, it->now_ns + jitter(it, jitter_ns));
    if (!happens(it, lost)) sf_pulses_put(it->pulses, own_time(it, it->now_ns) + jitter(it, jitter_ns));
    bool ready = sf_pulses_update(it->pulses);
    if (!first && !happens(it, lost)) sf_pulse_train_put(it->train, it->now_ns + jitter(it, jitter_ns));
    return ready;
}

static int64_t irregular(world *it)
{
    return 500 * SF_MILLISECOND + (int64_t)test_random_below(&it->random, (uint64_t)SF_SECOND);
}

static void require_state(const world *it, const char *state)
{
    assert_string_equal(sf_pulses_look(it->pulses).state, state);
}

/* 50 ppm apart, a twentieth lost on either side, a few more, 50 us of jitter: under 0.1 ms from the lock to
 * the hour. */
static void an_hour_stays_within_a_tenth_of_a_millisecond(void **state)
{
    (void)state;
    static const double ppm[] = {50, -180};
    for (size_t i = 0; i < sizeof ppm / sizeof ppm[0]; i++) {
        world it;
        int64_t locked_ns = 0, worst_ns = 0;
        open_world(&it, ppm[i]);
        while (it.now_ns < HOUR) {
            bool ready = pulse(&it, irregular(&it), 50 * INT64_C(1000), 0.05, 0.03);
            if (!ready) continue;
            locked_ns = locked_ns == 0 ? it.now_ns : locked_ns;
            int64_t time_ns = it.now_ns + (int64_t)test_random_below(&it.random, (uint64_t)SF_SECOND);
            int64_t off_ns = llabs(sf_pulses_map(it.pulses, own_time(&it, time_ns)) - time_ns);
            worst_ns = off_ns > worst_ns ? off_ns : worst_ns;
        }
        sf_pulses_status told = sf_pulses_look(it.pulses);
        printf("%g ppm: locked after %.1f s, at most %.1f us off; drift %.2f ppm, residual %.1f us\n", ppm[i],
               (double)locked_ns * 1e-9, (double)worst_ns * 1e-3, told.drift_ppm, told.residual_us);
        require_state(&it, "locked");
        assert_true(locked_ns < 60 * SF_SECOND && worst_ns < 100 * INT64_C(1000));
        assert_true(fabs(told.drift_ppm + ppm[i]) < 5 && told.residual_us < 60);
        assert_true(told.newest_ns > HOUR - 10 * SF_SECOND);
        assert_true(llabs(told.offset_ns + own_time(&it, told.newest_ns) - told.newest_ns) <
                    100 * INT64_C(1000));
        close_world(&it);
    }
}

static void a_regular_train_is_ambiguous(void **state)
{
    (void)state;
    world it;
    open_world(&it, 50);
    for (int i = 0; i < 100; i++)
        assert_false(pulse(&it, SF_SECOND, 20 * INT64_C(1000), 0, 0));
    require_state(&it, "ambiguous");
    for (int i = 0; i < 60; i++) /* until intervals differ */
        pulse(&it, irregular(&it), 20 * INT64_C(1000), 0, 0);
    require_state(&it, "locked");
    int64_t off_ns = sf_pulses_map(it.pulses, own_time(&it, it.now_ns)) - it.now_ns;
    assert_true(llabs(off_ns) < 100 * INT64_C(1000));
    close_world(&it);
}

static void pulses_that_are_not_shared_are_no_lock(void **state)
{
    (void)state;
    world it;
    open_world(&it, 0);
    for (int i = 0; i < 300; i++) {
        it.now_ns += irregular(&it);
        sf_pulse_train_put(it.train, it.now_ns);
        sf_pulses_put(it.pulses, it.now_ns + (int64_t)test_random_below(&it.random, 400 * SF_MILLISECOND));
        assert_false(sf_pulses_update(it.pulses));
    }
    require_state(&it, "searching");
    close_world(&it);
}

static void a_step_of_the_clock_is_lost_and_found(void **state)
{
    (void)state;
    world it;
    open_world(&it, 20);
    while (!pulse(&it, irregular(&it), 20 * INT64_C(1000), 0, 0))
        ;
    it.offset_ns += 300 * SF_SECOND;
    for (int i = 0; i < 80; i++)
        assert_true(pulse(&it, irregular(&it), 20 * INT64_C(1000), 0, 0)); /* by the old line meanwhile */
    require_state(&it, "locked");
    assert_true(llabs(sf_pulses_map(it.pulses, own_time(&it, it.now_ns)) - it.now_ns) < 100 * INT64_C(1000));

    for (int i = 0; i < 20; i++) { /* the train falls silent: the line still holds */
        it.now_ns += irregular(&it);
        sf_pulses_put(it.pulses, own_time(&it, it.now_ns));
        assert_true(sf_pulses_update(it.pulses));
    }
    require_state(&it, "lost");
    assert_true(llabs(sf_pulses_map(it.pulses, own_time(&it, it.now_ns)) - it.now_ns) < SF_MILLISECOND);

    sf_pulses_forget(it.pulses);
    assert_false(sf_pulses_update(it.pulses));
    require_state(&it, "searching");
    while (!pulse(&it, irregular(&it), 20 * INT64_C(1000), 0, 0))
        ;
    sf_pulse_train_forget(it.train); /* the other one began anew */
    assert_false(sf_pulses_update(it.pulses));
    close_world(&it);
}

/* Lines move a little with every pair: what goes in in order comes out in order. */
static void order_is_kept(void **state)
{
    (void)state;
    world it;
    int64_t last_ns = INT64_MIN, at_ns = 0;
    open_world(&it, 50);
    while (it.now_ns < 600 * SF_SECOND) {
        if (!pulse(&it, irregular(&it), 300 * INT64_C(1000), 0.1, 0)) continue;
        for (at_ns = at_ns > it.now_ns ? at_ns : it.now_ns; at_ns < it.now_ns + SF_SECOND;
             at_ns += SF_MILLISECOND) {
            int64_t mapped = sf_pulses_map(it.pulses, own_time(&it, at_ns));
            assert_true(mapped >= last_ns);
            last_ns = mapped;
        }
    }
    close_world(&it);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_hour_stays_within_a_tenth_of_a_millisecond),
        cmocka_unit_test(a_regular_train_is_ambiguous),
        cmocka_unit_test(pulses_that_are_not_shared_are_no_lock),
        cmocka_unit_test(a_step_of_the_clock_is_lost_and_found),
        cmocka_unit_test(order_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
