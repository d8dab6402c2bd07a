/* SPDX-License-Identifier: Apache-2.0 */
/* Bursts of a unit and of the network, beside their definitions. */
#include "mine/bursts.h"
#include "oracle/bursts_oracle.h"
#include "support/support.h"

#include "core/memory.h"

#include <math.h>

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

/* Five units; some of their spikes are drawn together in every 2 s, and in some rounds recording pauses. */
static void network_bursts_are_as_defined(void **state)
{
    (void)state;
    test_random random = test_random_start("network bursts", 17);
    sf_unit units[5] = {{.name = "a"}, {.name = "b"}, {.name = "c"}, {.name = "d"}, {.name = "e"}};
    size_t bursts = 0, rounds = 0;
    for (int round = 0; round < 60; round++) {
        sf_spike *spikes;
        size_t count = test_random_below(&random, 800);
        int64_t length = (1 + (int64_t)test_random_below(&random, 1000)) * 100 * MS;
        int64_t drawn = 300 + 200 * (int64_t)test_random_below(&random, 8);
        const sf_span observed[] = {{0, length / 3}, {length / 2, length}};
        count = test_random_stream(&random, &spikes, count, 5, length);
        for (size_t i = 0; i < count; i++) /* drawn together, which keeps their order */
            if (spikes[i].time_ns % (2000 * MS) > drawn * MS)
                spikes[i].time_ns -= (spikes[i].time_ns % (2000 * MS) - drawn * MS) / 8 * 7;
        for (size_t i = 0; i < count && round % 3 == 0; i++) /* two of them alone */
            spikes[i].unit =
                spikes[i].time_ns % (2000 * MS) > drawn * MS ? spikes[i].unit % 2 : spikes[i].unit;
        sf_network_rule rule = SF_NETWORK_RULE;
        rule.share = round % 2 == 0 ? 0.25 : 0.7;
        rule.active_hz = round % 5 == 0 ? 1 : 0.1;
        const sf_recording recording = {.units = {.items = units, .count = 5},
                                        .spikes = spikes,
                                        .spike_count = count,
                                        .recorded = {0, length},
                                        .observed = (sf_span *)(uintptr_t)observed,
                                        .observed_count = round % 4 == 0 ? 2 : 0};
        sf_span *expected = malloc((count + 1) * sizeof *expected);
        size_t expected_count = oracle_network_bursts(expected, &recording, &rule);
        sf_bursts found;
        assert_int_equal(sf_bursts_find(&found, &recording, &rule, NULL), SF_OK);
        assert_int_equal(found.count, expected_count);
        if (expected_count > 0)
            assert_memory_equal(found.items, expected, expected_count * sizeof *expected);
        bursts += expected_count;
        rounds += expected_count > 0;
        sf_bursts_free(&found);
        free(expected);
        free(spikes);
    }
    assert_true(bursts > 100 && rounds > 10 && rounds < 50);
}

/* Poisson trains, and `planted` bursts of 3 spikes of each with a sigma of 100 ms. */
static sf_bursts plant(test_random *random, size_t units, double rate_hz, size_t planted, double seconds,
                       bool drift, size_t *found)
{
    size_t capacity = (size_t)((double)units * rate_hz * seconds * 2) + 8 * units * planted + 100, count = 0;
    sf_spike *spikes = malloc(capacity * sizeof *spikes);
    sf_recording recording = {.spikes = spikes, .recorded = {0, (int64_t)(seconds * 1000) * MS}};
    recording.units.items = calloc(units, sizeof *recording.units.items);
    recording.units.count = units;
    for (uint32_t unit = 0; unit < units; unit++) {
        for (double at = 0;
             (at -= log(1 - test_random_unit(random)) / (2 * rate_hz)) < seconds && count < capacity;)
            if (test_random_unit(random) <
                (drift ? 0.25 + 0.5 * at / seconds : 0.5)) /* to three times the rate */
                spikes[count++] = (sf_spike){.time_ns = (int64_t)(at * 1e9), .unit = unit};
        for (size_t b = 0; b < planted; b++)
            for (int i = 0; i < 3 && count < capacity; i++) {
                double away = sqrt(-2 * log(1 - test_random_unit(random))) *
                              cos(6.283185307 * test_random_unit(random));
                spikes[count++] =
                    (sf_spike){.time_ns = (int64_t)(((double)b + 0.5) * seconds / (double)planted * 1e9) +
                                          (int64_t)(away * 1e8),
                               .unit = unit};
            }
    }
    recording.spike_count = count;
    sf_bursts bursts;
    assert_int_equal(sf_spikes_sort(spikes, count, NULL), SF_OK);
    assert_int_equal(sf_bursts_find(&bursts, &recording, &SF_NETWORK_RULE, NULL), SF_OK);
    *found = 0;
    for (size_t b = 0; b < planted; b++)
        *found +=
            sf_bursts_at(&bursts, (int64_t)(((double)b + 0.5) * seconds / (double)planted * 1e9)) != SIZE_MAX;
    free(recording.units.items);
    free(spikes);
    return bursts;
}

static void planted_bursts_are_found_at_any_rate(void **state)
{
    (void)state;
    test_random random = test_random_start("planted bursts", 18);
    static const double rates[] = {0.1, 1, 10};
    size_t found;
    for (size_t r = 0; r < 3; r++) {
        sf_bursts bursts = plant(&random, 46, rates[r], 60, 600, false, &found);
        assert_int_equal(found, 60);
        assert_int_equal(bursts.count, 60);
        sf_bursts_free(&bursts);
    }
    for (int drift = 0; drift < 2; drift++) { /* and none where there are none */
        sf_bursts bursts = plant(&random, 46, 10, 0, 600, drift, &found);
        assert_in_range(bursts.count, 0, 1);
        sf_bursts_free(&bursts);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bursts_of_a_unit_are_as_defined),
        cmocka_unit_test(each_clause_of_the_rule_decides),
        cmocka_unit_test(network_bursts_are_as_defined),
        cmocka_unit_test(planted_bursts_are_found_at_any_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
