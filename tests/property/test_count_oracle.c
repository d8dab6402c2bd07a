/* SPDX-License-Identifier: Apache-2.0 */
/* The twins that everything else is held against, held against each other and against the worked example. */
#include "support/support.h"

#include "oracle/count_oracle.h"

static void the_worked_example_counts_one(void **state)
{
    (void)state;
    static const struct {
        char unit;
        int64_t time;
    } events[] = {{'A', 1},  {'A', 2},  {'B', 5},  {'B', 8}, {'A', 10},
                  {'A', 13}, {'C', 15}, {'B', 18}, {'C', 20}};
    sf_spike spikes[9];
    for (size_t i = 0; i < 9; i++)
        spikes[i] = (sf_spike){.time_ns = events[i].time, .unit = (uint32_t)(events[i].unit - 'A')};
    const sf_episode episode = {.size = 3, .units = {0, 1, 2}, .delays = {{5, 10}, {10, 15}}};
    assert_int_equal(oracle_count(spikes, 9, &episode), 1);
    assert_int_equal(oracle_count_brute(spikes, 9, &episode), 1);
    assert_int_equal(oracle_count(spikes, 8, &episode), 0);
    const sf_episode alone = {.size = 1, .units = {0}};
    assert_int_equal(oracle_count(spikes, 9, &alone), 4);
    assert_int_equal(oracle_count_brute(spikes, 9, &alone), 4);
}

static void greedy_equals_enumeration(void **state)
{
    (void)state;
    test_random random = test_random_start("count oracle", 1);
    uint64_t total = 0;
    for (int round = 0; round < 4000; round++) {
        sf_spike *spikes;
        size_t count = test_random_stream(&random, &spikes, test_random_below(&random, 24), 3, 12);
        sf_episode episode = test_random_episode(&random, 4, 3, 6);
        uint64_t greedy = oracle_count(spikes, count, &episode);
        assert_int_equal(greedy, oracle_count_brute(spikes, count, &episode));
        total += greedy;
        free(spikes);
    }
    assert_true(total > 4000); /* the cases are not trivial */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_worked_example_counts_one),
        cmocka_unit_test(greedy_equals_enumeration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
