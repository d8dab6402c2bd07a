/* SPDX-License-Identifier: Apache-2.0 */
/* Bursts of a unit and of the array, beside their definitions. */
#include "mine/bursts.h"
#include "oracle/bursts_oracle.h"
#include "support/support.h"

#include "core/memory.h"

#define MS 1000000LL

static int64_t *make_train(test_random *random, size_t count, int64_t most_ms)
{
    int64_t *times = malloc((count + 1) * sizeof *times), now = (int64_t)test_random_below(random, 1000) * MS;
    for (size_t i = 0; i < count; i++) {
        bool pause = test_random_below(random, 8) == 0;
        now += (int64_t)test_random_below(random, (uint64_t)(pause ? 20 * most_ms : most_ms) + 1) * MS / 2;
        times[i] = now;
    }
    return times;
}

static size_t hold_unit(test_random *random, const sf_burst_rule *rule)
{
    size_t count = test_random_below(random, 60);
    int64_t *times = make_train(random, count, 1 + (int64_t)test_random_below(random, 40));
    sf_unit_burst *expected = malloc((count + 1) * sizeof *expected);
    size_t expected_count = oracle_unit_bursts(expected, times, count, rule);
    sf_unit_bursts found = {0};
    assert_int_equal(sf_unit_bursts_find(&found, times, count, rule, NULL), SF_OK);
    assert_int_equal(found.count, expected_count);
    for (size_t i = 0; i < found.count; i++) {
        assert_int_equal(found.items[i].first, expected[i].first);
        assert_int_equal(found.items[i].spikes, expected[i].spikes);
        assert_int_equal(found.items[i].first_ns, expected[i].first_ns);
        assert_int_equal(found.items[i].last_ns, expected[i].last_ns);
        assert_int_equal(times[found.items[i].first + found.items[i].spikes - 1], found.items[i].last_ns);
    }
    sf_free(found.items);
    free(expected);
    free(times);
    return expected_count;
}

static void bursts_of_a_unit_are_as_defined(void **state)
{
    (void)state;
    test_random random = test_random_start("bursts of units", 16);
    size_t bursts = 0;
    for (int round = 0; round < 3000; round++) {
        int64_t within = 1 + (int64_t)test_random_below(&random, 20);
        sf_burst_rule rule = {(1 + (int64_t)test_random_below(&random, (uint64_t)within)) * MS, within * MS,
                              (int64_t)test_random_below(&random, 60) * MS,
                              (int64_t)test_random_below(&random, 30) * MS,
                              2 + test_random_below(&random, 5)};
        bursts += hold_unit(&random, &rule);
    }
    assert_true(bursts > 3000);
}

/* The published parameters, on a train of which each clause decides something. */
static void each_clause_of_the_rule_decides(void **state)
{
    (void)state;
    static const int64_t times[] = {
        0,    250,  400,  420,  700,              /* the burst begins at 250, where the first 150 ms are */
        1001,                                     /* 301 ms later: not of it */
        3000, 3004, 3008,                         /* three spikes in 8 ms: shorter than 10 */
        5000, 5170,                               /* two spikes: too few */
        7000, 7170, 7340, 7640, 7940, 8241, 8541, /* 301 ms part the last two, 300 do not */
    };
    int64_t scaled[sizeof times / sizeof times[0]];
    size_t count = sizeof times / sizeof times[0];
    sf_burst_rule rule = SF_BURST_RULE;
    sf_unit_bursts found = {0};
    for (size_t i = 0; i < count; i++)
        scaled[i] = times[i] * MS;
    assert_int_equal(sf_unit_bursts_find(&found, scaled, count, &rule, NULL), SF_OK);
    assert_int_equal(found.count, 2);
    assert_int_equal(found.items[0].first, 1);
    assert_int_equal(found.items[0].spikes, 4);
    assert_int_equal(found.items[0].last_ns, 700 * MS);
    assert_int_equal(found.items[1].first_ns, 7000 * MS);
    assert_int_equal(found.items[1].last_ns, 7940 * MS);
    assert_int_equal(found.items[1].spikes, 5);
    found.count = 0;
    rule.apart_ns = 1500 * MS; /* what was left out alone is in what is joined */
    assert_int_equal(sf_unit_bursts_find(&found, scaled, count, &rule, NULL), SF_OK);
    assert_int_equal(found.count, 2);
    assert_int_equal(found.items[1].first_ns, 7000 * MS);
    found.count = 0;
    rule.apart_ns = 2400 * MS;
    assert_int_equal(sf_unit_bursts_find(&found, scaled, count, &rule, NULL), SF_OK);
    assert_int_equal(found.count, 1);
    assert_int_equal(found.items[0].spikes, count - 3);
    sf_free(found.items);
}

static void bursts_of_the_array_are_as_defined(void **state)
{
    (void)state;
    test_random random = test_random_start("bursts of the array", 17);
    size_t bursts = 0;
    for (int round = 0; round < 300; round++) {
        sf_spike *spikes;
        size_t count = test_random_below(&random, 400);
        int64_t length = (1 + (int64_t)test_random_below(&random, 100)) * 100 * MS;
        count = test_random_stream(&random, &spikes, count, 5, length);
        for (size_t i = 0; i < count; i++) /* some of them drawn together, which keeps their order */
            if (spikes[i].time_ns % (2000 * MS) > 700 * MS)
                spikes[i].time_ns -= spikes[i].time_ns % (2000 * MS) - 700 * MS;
        sf_span *expected = malloc((count + 1) * sizeof *expected);
        size_t expected_count = oracle_array_bursts(expected, spikes, count, length);
        sf_bursts found;
        assert_int_equal(sf_bursts_find(&found, spikes, count, length, NULL), SF_OK);
        assert_int_equal(found.count, expected_count);
        if (expected_count > 0)
            assert_memory_equal(found.items, expected, expected_count * sizeof *expected);
        bursts += expected_count;
        sf_bursts_free(&found);
        free(expected);
        free(spikes);
    }
    assert_true(bursts > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bursts_of_a_unit_are_as_defined),
        cmocka_unit_test(each_clause_of_the_rule_decides),
        cmocka_unit_test(bursts_of_the_array_are_as_defined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
