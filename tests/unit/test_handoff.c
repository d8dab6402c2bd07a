/* SPDX-License-Identifier: Apache-2.0 */
/* When the windows are woken: for each promise, or at leisure, where whoever pushes would pay for it. What
 * they take at once. */
#include "pipeline/handoff.h"
#include "support/support.h"

enum { ROOM = 64 };

static bool rang(sf_handoff *handoff)
{
    return sf_bell_wait(&handoff->filled, 0);
}

static void every_promise_wakes(void **state)
{
    (void)state;
    sf_handoff handoff;
    assert_int_equal(sf_handoff_open(&handoff, ROOM, false, NULL), SF_OK);
    for (int64_t t = 0; t < 3; t++) {
        assert_false(rang(&handoff));
        sf_handoff_promise(&handoff, t, false);
        assert_true(rang(&handoff));
    }
    sf_handoff_close(&handoff);
}

static void at_leisure_few_do(void **state)
{
    (void)state;
    sf_spike spikes[ROOM / 2 + 1] = {{0}};
    sf_handoff handoff;
    assert_int_equal(sf_handoff_open(&handoff, ROOM, false, NULL), SF_OK);
    handoff.at_leisure = true;
    sf_handoff_promise(&handoff, 1, false); /* they were never woken */
    assert_true(rang(&handoff));
    handoff.rung_ns = INT64_MAX; /* just now, for as long as this test takes */
    sf_handoff_put(&handoff, spikes, ROOM / 2, 0);
    sf_handoff_promise(&handoff, 2, false);
    assert_false(rang(&handoff));
    assert_int_equal(atomic_load(&handoff.watermark_ns), 2); /* it is there, for when they look */
    sf_handoff_put(&handoff, spikes, 1, 0);                  /* more than half of the room */
    sf_handoff_promise(&handoff, 3, false);
    assert_true(rang(&handoff));
    handoff.rung_ns = INT64_MAX;
    sf_handoff_promise(&handoff, 4, true); /* the end */
    assert_true(rang(&handoff));
    sf_handoff_close(&handoff);
}

/* What is blanked around the spikes that come while the windows are at work is not known to them yet. */
static void what_comes_meanwhile_waits(void **state)
{
    (void)state;
    const sf_spike spikes[3] = {{.time_ns = 1}, {.time_ns = 2}, {.time_ns = 3}};
    const sf_spike *there;
    sf_span span;
    sf_handoff handoff;
    assert_int_equal(sf_handoff_open(&handoff, ROOM, false, NULL), SF_OK);
    sf_handoff_put(&handoff, spikes, 2, 0);
    const uint64_t until = sf_handoff_put_so_far(&handoff);
    assert_false(sf_handoff_next_blanked(&handoff, &span));
    sf_handoff_blank(&handoff, (sf_span){3, 9});
    sf_handoff_put(&handoff, spikes + 2, 1, 0);
    assert_int_equal(sf_handoff_look(&handoff, until, &there), 2);
    assert_int_equal(there[1].time_ns, 2);
    sf_handoff_release(&handoff, 2);
    assert_int_equal(sf_handoff_look(&handoff, until, &there), 0);
    assert_true(sf_handoff_next_blanked(&handoff, &span));
    assert_int_equal(sf_handoff_look(&handoff, sf_handoff_put_so_far(&handoff), &there), 1);
    assert_int_equal(there[0].time_ns, 3);
    sf_handoff_close(&handoff);
}

static void what_is_dropped_makes_room(void **state)
{
    (void)state;
    const sf_spike spikes[ROOM] = {{0}};
    const sf_spike *there;
    int64_t marker_ns;
    sf_span span;
    sf_handoff handoff;
    assert_int_equal(sf_handoff_open(&handoff, ROOM, false, NULL), SF_OK);
    sf_handoff_put(&handoff, spikes, ROOM, 0);
    sf_handoff_trial(&handoff, 1);
    sf_handoff_blank(&handoff, (sf_span){1, 2});
    assert_false(sf_handoff_has_room(&handoff, 1));
    sf_handoff_drop(&handoff);
    assert_true(sf_handoff_has_room(&handoff, ROOM));
    assert_int_equal(sf_handoff_look(&handoff, sf_handoff_put_so_far(&handoff), &there), 0);
    assert_false(sf_handoff_next_trial(&handoff, &marker_ns));
    assert_false(sf_handoff_next_blanked(&handoff, &span));
    sf_handoff_close(&handoff);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_promise_wakes),
        cmocka_unit_test(at_leisure_few_do),
        cmocka_unit_test(what_comes_meanwhile_waits),
        cmocka_unit_test(what_is_dropped_makes_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
