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
    t->options.self = test_random_below(random, 2) != 0;
    t->options.max_size = 2 + (uint32_t)test_random_below(random, 4);
}

/* Each spike goes to one device, and what they count is what the CPU does. */
static void each_device_gets_its_stretch(void **state)
{
    (void)state;
    static const char *const crews[] = {"ww", "www", "wwwww"};
    for (size_t c = 0; c < sizeof crews / sizeof crews[0]; c++) {
        test_random random = test_random_start("stretches", 50 + (uint32_t)c);
        size_t found = 0;
        int once = 0, rounds = test_rounds(120);
        test_use_devices(crews[c]);
        for (int round = 0; round < rounds; round++) {
            test_trial t;
            uint32_t sent;
            random_trial(&t, &random);
            found += compare(&t, &sent);
            once += sent == t.count;
            test_trial_end(&t);
        }
        assert_true(rounds < 120 || (found > 5000 && once > 110));
        sf_devices_close();
    }
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
        t.options.self = true;
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
        cmocka_unit_test(chains_that_never_meet_are_counted_whole),
        cmocka_unit_test(stretches_of_devices_that_leave_are_done_by_the_others),
        cmocka_unit_test(allocation_failures_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
