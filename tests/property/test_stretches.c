/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mining divided by time among devices, each of which has one stretch of the spikes, against the CPU, which
 * has all: by a plugin whose devices count by the CPU's engines.
 */
#include "support/plugin_work.h"
#include "support/trials.h"

#include "core/backend/find.h"

/* Returns how many episodes there are; *sent is how many spikes were sent to devices. */
static size_t compare(test_trial *t, uint32_t *sent)
{
    sf_mine_result *expected = test_trial_mine(t, "cpu");
    uint32_t before = test_plugin_work_of(TEST_PLUGIN)->raw_spikes;
    sf_mine_result *found = test_trial_mine(t, "test:all");
    *sent = test_plugin_work_of(TEST_PLUGIN)->raw_spikes - before;
    test_assert_same_result(found, expected);
    size_t count = found->count;
    sf_mine_result_free(expected);
    sf_mine_result_free(found);
    return count;
}

static void random_trial(test_trial *t, test_random *random)
{
    uint32_t units = 2 + (uint32_t)test_random_below(random, 6);
    test_trial_start(t, units + 1); /* one is silent */
    t->count = test_random_stream(random, &t->spikes, 150 + test_random_below(random, 500), units,
                                  500 + (int64_t)test_random_below(random, 5000));
    t->options.delay_count = 1 + test_random_below(random, 2);
    for (size_t i = 0; i < t->options.delay_count; i++) {
        int64_t low = (int64_t)(test_random_below(random, 8) + 9 * i);
        t->delays[i] = (sf_delay){low, low + 1 + (int64_t)test_random_below(random, 30)};
    }
    t->options.threshold = 5 + (double)test_random_below(random, 15);
    t->options.repeats = test_random_below(random, 2) != 0;
    t->options.max_size = 2 + (uint32_t)test_random_below(random, 4);
}

/* Each spike goes to one device, which counts what its units fire, and what they find is what the CPU does.
 */
static void each_device_gets_its_stretch(void **state)
{
    (void)state;
    static const char *const crews[] = {"ww", "www", "wwwww"};
    for (size_t c = 0; c < sizeof crews / sizeof crews[0]; c++) {
        test_random random = test_random_start("stretches", 50 + (uint32_t)c);
        size_t found = 0;
        int once = 0, rounds = test_rounds(120);
        test_use_devices(crews[c]);
        uint32_t counted = test_plugin_work_of(TEST_PLUGIN)->units_counted;
        for (int round = 0; round < rounds; round++) {
            test_trial t;
            uint32_t sent;
            random_trial(&t, &random);
            found += compare(&t, &sent);
            once += sent == t.count;
            test_trial_end(&t);
        }
        counted = test_plugin_work_of(TEST_PLUGIN)->units_counted - counted;
        assert_int_equal(counted, (uint32_t)rounds * strlen(crews[c]));
        assert_true(rounds < 120 || (found > 5000 && once > 110));
        sf_devices_close();
    }
}

/* Wherever a spike is out of order, within a stretch or where two meet, it is told of as the CPU does. */
static void spikes_out_of_order_are_found_in_any_stretch(void **state)
{
    (void)state;
    test_random random = test_random_start("out of order", 65);
    test_use_devices("www");
    for (int round = 0; round < test_rounds(40); round++) {
        test_trial t;
        random_trial(&t, &random);
        size_t wrong =
            round % 3 > 0 ? t.count * (size_t)(round % 3) / 3 : 1 + test_random_below(&random, t.count - 1);
        /* The first is of a unit that is not kept, so that the test's devices, which look as they lay out,
         * would tell of another; two are too few for three stretches: units are divided, and nobody looks at
         * seams. */
        t.spikes[0] = (sf_spike){.time_ns = t.spikes[0].time_ns - 1, .unit = (uint32_t)t.units.count - 1};
        t.spikes[wrong].time_ns = t.spikes[wrong - 1].time_ns - 1;
        if (round % 2 == 0) t.options.threshold = 2;
        sf_mine_input input = {
            .spikes = t.spikes, .spike_count = t.count, .units = &t.units, .duration_ns = 1000};
        sf_mine_result *result;
        sf_error here, there;
        t.options.device = "cpu";
        assert_int_equal(sf_mine_spikes(&result, &input, &t.options, NULL, &here), SF_DATA);
        t.options.device = "test:all";
        assert_int_equal(sf_mine_spikes(&result, &input, &t.options, NULL, &there), SF_DATA);
        assert_string_equal(there.text, here.text);
        test_trial_end(&t);
    }
    sf_devices_close();
}

/* Trains so regular that chains which begin apart never meet: no look around a seam settles their counts. */
static void chains_that_never_meet_are_counted_whole(void **state)
{
    (void)state;
    test_random random = test_random_start("regular", 60);
    test_use_devices("www");
    for (int round = 0; round < test_rounds(40); round++) {
        test_trial t;
        uint32_t sent;
        int64_t period = 8 + (int64_t)test_random_below(&random, 8);
        int64_t later = 1 + (int64_t)test_random_below(&random, 7);
        test_trial_start(&t, 2);
        t.count = 300 + 2 * test_random_below(&random, 200);
        t.spikes = malloc(t.count * sizeof *t.spikes);
        assert_non_null(t.spikes);
        for (size_t i = 0; i < t.count; i++)
            t.spikes[i] = (sf_spike){.time_ns = (int64_t)(i / 2) * period + (i % 2 == 1 ? later : 0),
                                     .unit = (uint32_t)(i % 2)};
        t.delays[0] = (sf_delay){later + 1, later + period + (int64_t)test_random_below(&random, 25)};
        t.options.threshold = 10;
        t.options.repeats = true;
        t.options.max_size = 3;
        assert_true(compare(&t, &sent) > 0);
        assert_int_equal(sent, t.count);
        test_trial_end(&t);
    }
    sf_devices_close();
}

/* What a device refuses or loses is divided by units among the others. */
static void stretches_of_devices_that_leave_are_done_by_the_others(void **state)
{
    (void)state;
    static const char *const crews[] = {"wrw", "wdw", "wlww", "swr", "dd"};
    for (size_t c = 0; c < sizeof crews / sizeof crews[0]; c++) {
        test_random random = test_random_start("stretches left", 70 + (uint32_t)c);
        for (int round = 0; round < test_rounds(10); round++) {
            test_trial t;
            uint32_t sent;
            test_use_devices(crews[c]);
            random_trial(&t, &random);
            compare(&t, &sent);
            test_trial_end(&t);
            sf_devices_close();
        }
    }
}

static void allocation_failures_leak_nothing(void **state)
{
    (void)state;
    test_random random = test_random_start("stretches without memory", 80);
    test_trial t;
    random_trial(&t, &random);
    t.options.max_size = 3;
    t.options.device = "test:all";
    test_use_devices("ww");
    sf_devices_close();
    test_fail_every_allocation(test_load_and_mine, &t);
    test_trial_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_device_gets_its_stretch),
        cmocka_unit_test(spikes_out_of_order_are_found_in_any_stretch),
        cmocka_unit_test(chains_that_never_meet_are_counted_whole),
        cmocka_unit_test(stretches_of_devices_that_leave_are_done_by_the_others),
        cmocka_unit_test(allocation_failures_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
