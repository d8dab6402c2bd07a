/* SPDX-License-Identifier: Apache-2.0 */
/* Bursts of a unit and of the network, beside their definitions. */
#include "mine/bursts.h"
#include "mine/isi_n.h"
#include "mine/unit_bursts.h"
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

static size_t oracle(sf_unit_burst *bursts, const int64_t *times, size_t count, const sf_burst_rule *rule)
{
    switch (rule->method) {
    case SF_BURSTS_LOG_ISI:
        return oracle_log_isi(bursts, times, count, rule->least_spikes);
    case SF_BURSTS_CMA:
        return oracle_cma(bursts, times, count, rule->least_spikes);
    case SF_BURSTS_SURPRISE:
        return oracle_surprise(bursts, times, count, rule);
    default:
        return oracle_unit_bursts(bursts, times, count, rule);
    }
}

static size_t hold_train(int64_t *times, size_t count, const sf_burst_rule *rule)
{
    sf_unit_burst *expected = malloc((count + 1) * sizeof *expected);
    int64_t *intervals = malloc((count + 1) * sizeof *intervals);
    size_t expected_count = oracle(expected, times, count, rule);
    sf_unit_bursts found = {0};
    for (size_t i = 0; i + 1 < count; i++)
        intervals[i] = times[i + 1] - times[i];
    const sf_burst_limits limits = sf_burst_limits_find(intervals, count > 0 ? count - 1 : 0, rule);
    assert_int_equal(sf_unit_bursts_find(&found, times, count, rule, &limits, NULL), SF_OK);
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
    free(intervals);
    free(times);
    return expected_count;
}

static size_t hold_unit(test_random *random, const sf_burst_rule *rule)
{
    size_t count = test_random_below(random, 60);
    return hold_train(make_train(random, count, 1 + (int64_t)test_random_below(random, 40)), count, rule);
}

/* Bursts of some spikes with intervals around one length, and pauses around another. */
static int64_t *make_bursty(test_random *random, size_t count)
{
    int64_t *times = malloc((count + 1) * sizeof *times), now = 0;
    double within = 1e6 * pow(10, 0.5 + 2 * test_random_unit(random)),
           between = within * pow(10, 2.5 * test_random_unit(random));
    double most = 3 + 20 * test_random_unit(random);
    for (size_t i = 0; i < count; i++) {
        bool pause = test_random_unit(random) < 1 / most;
        now += (int64_t)(-log(1 - test_random_unit(random)) * (pause ? between : within));
        times[i] = now;
    }
    return times;
}

static void adaptive_bursts_are_as_defined(void **state)
{
    (void)state;
    test_random random = test_random_start("adaptive bursts", 19);
    static const sf_burst_method methods[] = {SF_BURSTS_LOG_ISI, SF_BURSTS_CMA, SF_BURSTS_SURPRISE};
    for (int m = 0; m < 3; m++) {
        size_t bursts = 0, none = 0;
        for (int round = 0; round < 400; round++) {
            size_t count = test_random_below(&random, 250);
            sf_burst_rule rule = {.method = methods[m],
                                  .least_spikes = 3 + test_random_below(&random, 3),
                                  .least_surprise = 1 + 6 * test_random_unit(&random)};
            size_t found = hold_train(make_bursty(&random, count), count, &rule);
            bursts += found;
            none += found == 0;
        }
        assert_true(bursts > 500 && none > 10 && none < 300);
    }
}

/* Ten times five spikes 10 ms apart, one train every 2 s: 50 of 59 intervals short. */
static void adaptive_limits_part_bursts_from_pauses(void **state)
{
    (void)state;
    int64_t intervals[49];
    size_t count = 0;
    for (int burst = 0; burst < 10; burst++)
        for (int i = 0; i < 5 && count < 49; i++)
            intervals[count++] = i < 4 ? (9 + burst % 3) * MS : (1900 + 60 * burst) * MS;
    sf_interval_valley valley = sf_interval_valley_find(intervals, count, 100 * MS);
    assert_true(valley.has_short_peak);
    assert_in_range(valley.at_ns, 12 * MS, 1600 * MS);
    sf_interval_limits limits = sf_interval_limits_cma(intervals, count);
    assert_in_range(limits.core_ns, 11 * MS, 1600 * MS);
    assert_true(limits.extend_ns >= limits.core_ns);
    for (size_t i = 0; i < count; i++)
        intervals[i] = 500 * MS;
    assert_int_equal(sf_interval_limits_cma(intervals, count).core_ns, -1);
    assert_int_equal(sf_interval_limits_log(intervals, count).core_ns, -1); /* no peak below 100 ms */
    assert_int_equal(sf_interval_limits_log(intervals, 0).core_ns, -1);
}

static void bursts_of_a_unit_are_as_defined(void **state)
{
    (void)state;
    test_random random = test_random_start("bursts of units", 16);
    size_t bursts = 0;
    for (int round = 0; round < 3000; round++) {
        int64_t within = 1 + (int64_t)test_random_below(&random, 20);
        sf_burst_rule rule = {.begin_ns = (1 + (int64_t)test_random_below(&random, (uint64_t)within)) * MS,
                              .within_ns = within * MS,
                              .apart_ns = (int64_t)test_random_below(&random, 60) * MS,
                              .least_ns = (int64_t)test_random_below(&random, 30) * MS,
                              .least_spikes = 2 + test_random_below(&random, 5)};
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
    assert_int_equal(sf_unit_bursts_find(&found, scaled, count, &rule, NULL, NULL), SF_OK);
    assert_int_equal(found.count, 2);
    assert_int_equal(found.items[0].first, 1);
    assert_int_equal(found.items[0].spikes, 4);
    assert_int_equal(found.items[0].last_ns, 700 * MS);
    assert_int_equal(found.items[1].first_ns, 7000 * MS);
    assert_int_equal(found.items[1].last_ns, 7940 * MS);
    assert_int_equal(found.items[1].spikes, 5);
    found.count = 0;
    rule.apart_ns = 1500 * MS; /* what was left out alone is in what is joined */
    assert_int_equal(sf_unit_bursts_find(&found, scaled, count, &rule, NULL, NULL), SF_OK);
    assert_int_equal(found.count, 2);
    assert_int_equal(found.items[1].first_ns, 7000 * MS);
    found.count = 0;
    rule.apart_ns = 2400 * MS;
    assert_int_equal(sf_unit_bursts_find(&found, scaled, count, &rule, NULL, NULL), SF_OK);
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
        if (expected_count > 0) assert_memory_equal(found.items, expected, expected_count * sizeof *expected);
        bursts += expected_count;
        rounds += expected_count > 0;
        sf_bursts_free(&found);
        free(expected);
        free(spikes);
    }
    assert_true(bursts > 100 && rounds > 10 && rounds < 50);
}

/* Spikes of all units, one after the other, as their ISI_N bursts. */
static size_t hold_isi_n(test_random *random, size_t count, size_t needed, int64_t within_ns)
{
    int64_t *times = make_train(random, count, 1 + (int64_t)test_random_below(random, 30));
    size_t *first = calloc(count + 1, sizeof *first), *spikes = calloc(count + 1, sizeof *spikes), ended = 0;
    size_t expected = oracle_isi_n(first, spikes, times, count, needed, within_ns);
    uint32_t *units = calloc(count + 1, sizeof *units);
    sf_isi_n bursts;
    assert_int_equal(sf_isi_n_open(&bursts, needed, within_ns, 5, NULL), SF_OK);
    for (size_t i = 0; i <= count; i++) {
        unsigned brought = 0, open = bursts.in_burst;
        if (i < count) { /* sometimes the time comes before the spike, and tells the same */
            int64_t reached = test_random_below(random, 2) == 0 ? times[i] : INT64_MIN;
            units[i] = (uint32_t)test_random_below(random, 5);
            brought = sf_isi_n_reach(&bursts, reached);
            brought |= sf_isi_n_take(&bursts, times[i], units[i]);
        } else
            brought = sf_isi_n_finish(&bursts);
        assert_true((brought & SF_BURST_GREW) == 0 || open);
        if ((brought & SF_BURST_ENDED) == 0) continue;
        assert_true(ended < expected);
        const sf_network_burst *burst = &bursts.burst;
        bool fires[5] = {false};
        size_t distinct = 0;
        for (size_t k = first[ended]; k < first[ended] + spikes[ended]; k++) {
            distinct += !fires[units[k]];
            fires[units[k]] = true;
        }
        assert_int_equal(burst->number, ended);
        assert_int_equal(burst->spikes, spikes[ended]);
        assert_int_equal(burst->first_ns, times[first[ended]]);
        assert_int_equal(burst->last_ns, times[first[ended] + spikes[ended] - 1]);
        assert_int_equal(burst->units, distinct);
        ended++;
    }
    assert_int_equal(ended, expected);
    sf_isi_n_close(&bursts);
    free(times);
    free(first);
    free(spikes);
    free(units);
    return expected;
}

static void isi_n_is_as_defined(void **state)
{
    (void)state;
    test_random random = test_random_start("ISI_N", 20);
    size_t bursts = 0;
    for (int round = 0; round < 3000; round++) {
        size_t needed = 2 + test_random_below(&random, 9);
        int64_t within = (1 + (int64_t)test_random_below(&random, 40 * needed)) * MS;
        bursts += hold_isi_n(&random, test_random_below(&random, 200), needed, within);
    }
    assert_true(bursts > 3000);
}

/* Three spikes within 2 ms: the fourth does not belong to the three before it, but begins three of its own,
 * two of which are the next ones. */
static void a_burst_may_follow_another_at_once(void **state)
{
    (void)state;
    static const int64_t times[] = {0, 1, 2, 4, 5, 6, 20};
    sf_isi_n bursts;
    unsigned brought[7];
    assert_int_equal(sf_isi_n_open(&bursts, 3, 2, 1, NULL), SF_OK);
    for (size_t i = 0; i < 7; i++)
        brought[i] = sf_isi_n_take(&bursts, times[i], 0);
    static const unsigned expected[] = {
        0, 0, SF_BURST_BEGAN, SF_BURST_ENDED, 0, SF_BURST_BEGAN, SF_BURST_ENDED};
    for (size_t i = 0; i < 7; i++)
        assert_int_equal(brought[i], expected[i]);
    assert_int_equal(bursts.burst.first_ns, 4);
    assert_int_equal(bursts.burst.number, 1);
    sf_isi_n_close(&bursts);
}

/* Without a threshold the valley is taken, and Poisson trains have none. */
static void isi_n_takes_the_valley(void **state)
{
    (void)state;
    test_random random = test_random_start("valley of ISI_N", 21);
    sf_network_rule rule = SF_NETWORK_RULE;
    rule.method = SF_NETWORK_ISI_N;
    for (int bursty = 0; bursty < 2; bursty++) {
        enum { SPIKES = 4000 };
        sf_spike spikes[SPIKES];
        sf_unit units[4] = {{.name = "a"}, {.name = "b"}, {.name = "c"}, {.name = "d"}};
        for (size_t i = 0; i < SPIKES; i++) {
            int64_t at = bursty
                             ? (int64_t)(i / 200) * 10000 * MS + (int64_t)(150e6 * test_random_unit(&random))
                             : (int64_t)(200e9 * test_random_unit(&random));
            if (i % 2 == 0) at = (int64_t)(200e9 * test_random_unit(&random));
            spikes[i] = (sf_spike){.time_ns = at, .unit = (uint32_t)(i / 2 % 4)};
        }
        assert_int_equal(sf_spikes_sort(spikes, SPIKES, NULL), SF_OK);
        const sf_recording recording = {.units = {.items = units, .count = 4},
                                        .spikes = spikes,
                                        .spike_count = SPIKES,
                                        .recorded = {0, 200000 * MS}};
        sf_bursts found;
        assert_int_equal(sf_bursts_find(&found, &recording, &rule, NULL), SF_OK);
        if (bursty) {
            assert_in_range(found.within_ns, 20 * MS, 600 * MS); /* of some 14 and 900 ms */
            assert_int_equal(found.count, 20);
            assert_in_range(found.members[3].units, 4, 4);
        } else
            assert_int_equal(found.count, 0);
        sf_bursts_free(&found);
    }
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
        cmocka_unit_test(adaptive_bursts_are_as_defined),
        cmocka_unit_test(adaptive_limits_part_bursts_from_pauses),
        cmocka_unit_test(network_bursts_are_as_defined),
        cmocka_unit_test(isi_n_is_as_defined),
        cmocka_unit_test(a_burst_may_follow_another_at_once),
        cmocka_unit_test(isi_n_takes_the_valley),
        cmocka_unit_test(planted_bursts_are_found_at_any_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
