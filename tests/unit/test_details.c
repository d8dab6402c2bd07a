/* SPDX-License-Identifier: Apache-2.0 */
/* What is told of an episode beside its count: bursts, delays, and what a longer one accounts for. */
#include "mine/details.h"
#include "mine/folding.h"

#include "core/clock.h"
#include "core/memory.h"
#include "mine/mine.h"
#include "oracle/count_oracle.h"
#include "support/support.h"

#include <math.h>

#define MS SF_MILLISECOND

/* One spike every 100 ms for 10 s, and `extra` more in each of the tenths listed. */
static size_t make_stream(sf_spike *spikes, size_t room, const int *tenths, size_t count, size_t extra)
{
    size_t made = 0;
    for (int tenth = 0; tenth < 100; tenth++) {
        size_t here = 1;
        for (size_t i = 0; i < count; i++)
            here += tenths[i] == tenth ? extra : 0;
        for (size_t k = 0; k < here && made < room; k++)
            spikes[made++] = (sf_spike){.time_ns = SF_SECOND + (tenth * 100 + (int)k) * MS};
    }
    return made;
}

/* Of two units, which fire in turn. */
static int find_bursts(sf_bursts *bursts, sf_spike *spikes, size_t count)
{
    sf_unit units[2] = {{.name = "a"}, {.name = "b"}};
    for (size_t i = 0; i < count; i++)
        spikes[i].unit = i % 2;
    const sf_recording recording = {.units = {.items = units, .count = 2},
                                    .spikes = spikes,
                                    .spike_count = count,
                                    .recorded = {SF_SECOND, 11 * SF_SECOND}};
    return sf_bursts_find(bursts, &recording, &SF_NETWORK_RULE, NULL);
}

static void bursts_are_runs_above_the_mean(void **state)
{
    (void)state;
    sf_spike spikes[1000];
    sf_bursts bursts;
    static const int tenths[] = {20, 21, 50};
    size_t count = make_stream(spikes, 1000, tenths, 3, 30);
    assert_int_equal(find_bursts(&bursts, spikes, count), SF_OK);
    assert_int_equal(bursts.count, 2);
    assert_int_equal(bursts.items[0].start_ns, SF_SECOND + 2000 * MS);
    assert_int_equal(bursts.items[0].stop_ns, SF_SECOND + 2200 * MS);
    assert_int_equal(sf_bursts_at(&bursts, SF_SECOND + 1999 * MS), SIZE_MAX);
    assert_int_equal(sf_bursts_at(&bursts, SF_SECOND + 2000 * MS), 0);
    assert_int_equal(sf_bursts_at(&bursts, SF_SECOND + 2200 * MS), SIZE_MAX);
    assert_int_equal(sf_bursts_at(&bursts, SF_SECOND + 5050 * MS), 1);
    assert_int_equal(sf_bursts_at(&bursts, SF_SECOND + 5100 * MS), SIZE_MAX);
    sf_bursts_free(&bursts);
}

/* Two Poisson trains, about 20 and 35 Hz for an hour. */
static void delays_of_independent_units_fall_off_as_told(void **state)
{
    (void)state;
    static const double rates[] = {20, 35};
    test_random random = test_random_start("delays by chance", 5);
    static sf_spike spikes[250000];
    size_t count = 0;
    for (int64_t tick = 0; tick < INT64_C(36000000) && count + 2 < sizeof spikes / sizeof *spikes; tick++)
        for (uint32_t unit = 0; unit < 2; unit++)
            if (test_random_unit(&random) < rates[unit] * 1e-4)
                spikes[count++] = (sf_spike){.time_ns = tick * 100000 + 7 * unit, .unit = unit};
    const sf_episode pair = {.size = 2, .units = {0, 1}, .delays = {{2 * MS, 22 * MS}}};
    sf_bursts none = {0};
    sf_details details;
    int64_t *times;
    size_t found;
    assert_int_equal(check_occurrences(&times, &found, spikes, count, 2, &pair, NULL), SF_OK);
    assert_int_equal(sf_details_make(&details, &pair, times, found, &none, NULL), SF_OK);
    double shares[SF_DELAY_BINS], sum = 0, squares = 0;
    sf_delay_chance(shares, pair.delays[0], rates[0] + rates[1]);
    for (size_t k = 0; k < SF_DELAY_BINS; k++) {
        double expected = shares[k] * (double)found;
        sum += shares[k];
        squares += pow((double)details.links[0].histogram[k] - expected, 2) / expected;
    }
    assert_true(found > 20000 && fabs(sum - 1) < 1e-12 && shares[0] > 2.5 * shares[SF_DELAY_BINS - 1]);
    assert_true(squares < 40); /* chi-square with 9 degrees of freedom: 1e-5 */
    sf_free(times);
    sf_delay_chance(shares, pair.delays[0], 0);
    for (size_t k = 0; k < SF_DELAY_BINS; k++)
        assert_true(shares[k] == 0.1);
}

static void few_spikes_are_no_burst(void **state)
{
    (void)state;
    sf_spike spikes[1000];
    sf_bursts bursts;
    static const int tenths[] = {20};
    size_t count = make_stream(spikes, 1000, tenths, 1, 8); /* nine times the mean, but nine spikes */
    assert_int_equal(find_bursts(&bursts, spikes, count), SF_OK);
    assert_int_equal(bursts.count, 0);
    assert_int_equal(sf_bursts_at(&bursts, 0), SIZE_MAX);
    sf_bursts_free(&bursts);
    count = make_stream(spikes, 1000, tenths, 1, 9);
    assert_int_equal(find_bursts(&bursts, spikes, count), SF_OK);
    assert_int_equal(bursts.count, 1);
    sf_bursts_free(&bursts);
    assert_int_equal(find_bursts(&bursts, spikes, 0), SF_OK);
    assert_int_equal(bursts.count, 0);
}

static void delays_and_bursts_of_occurrences(void **state)
{
    (void)state;
    sf_span spans[] = {{0, 100 * MS}, {200 * MS, 300 * MS}};
    sf_bursts bursts = {.items = spans, .count = 2};
    sf_episode episode = {.size = 3, .units = {0, 1, 2}, .delays = {{0, 10 * MS}, {5 * MS, 6 * MS}}};
    int64_t times[][3] = {{0, 1 * MS, 7 * MS}, /* at most a tenth of the interval: the first bin */
                          {10 * MS, 20 * MS, 25 * MS + 1},
                          {90 * MS, 99 * MS, 104 * MS + 500001},
                          {150 * MS, 152 * MS, 157 * MS + 500000},
                          {299 * MS, 299 * MS + 1, 305 * MS}};
    sf_details details;
    assert_int_equal(sf_details_make(&details, &episode, times[0], 5, &bursts, NULL), SF_OK);
    assert_int_equal(details.occurrences, 5);
    assert_int_equal(details.bursts, 2);
    assert_int_equal(details.in_bursts, 4);
    static const int64_t first[] = {1, MS, 2 * MS, 9 * MS, 10 * MS};
    for (size_t q = 0; q < 5; q++)
        assert_int_equal(details.links[0].quantiles_ns[q], first[q]);
    static const uint64_t bins[2][SF_DELAY_BINS] = {{2, 1, 0, 0, 0, 0, 0, 0, 1, 1},
                                                    {1, 0, 0, 0, 1, 1, 0, 0, 0, 2}};
    for (size_t link = 0; link < 2; link++)
        for (size_t bin = 0; bin < SF_DELAY_BINS; bin++)
            assert_int_equal(details.links[link].histogram[bin], bins[link][bin]);
    assert_int_equal(sf_details_make(&details, &episode, times[0], 0, &bursts, NULL), SF_OK);
    assert_true(details.occurrences == 0 && details.bursts == 0 && details.links[0].quantiles_ns[2] == 0);
}

static sf_episode chain(uint32_t size, uint32_t first)
{
    sf_episode episode = {.size = size};
    for (uint32_t i = 0; i < size; i++)
        episode.units[i] = first + i;
    for (uint32_t i = 0; i + 1 < size; i++)
        episode.delays[i] = (sf_delay){0, 5};
    return episode;
}

/* A part is folded unless it counts more than its longer one and chance together. */
static void parts_are_folded(void **state)
{
    (void)state;
    sf_episode episodes[] = {chain(2, 0), chain(2, 1), chain(2, 7), chain(3, 0), chain(4, 0), chain(4, 1)};
    episodes[5].delays[2].high_ns = 6; /* other delays: the part of none here */
    const uint64_t counts[] = {120, 300, 120, 100, 90, 100};
    const double expected[] = {10, 20, 10, 1, 0.1, 0.1};
    size_t parents[6];
    assert_int_equal(sf_fold(parents, episodes, counts, expected, NULL, 6, NULL), SF_OK);
    assert_int_equal(parents[0], 3);        /* 20 beyond it, and chance is 10 + 2 sqrt(120) */
    assert_int_equal(parents[1], SIZE_MAX); /* 200 beyond it: a link of its own */
    assert_int_equal(parents[2], SIZE_MAX);
    assert_int_equal(parents[3], 4);
    assert_int_equal(parents[4], SIZE_MAX);
    assert_int_equal(parents[5], SIZE_MAX);
    const double q[] = {0.01, 0.01, NAN, 0.05, 0.06, NAN};
    assert_int_equal(sf_fold(parents, episodes, counts, expected, q, 6, NULL), SF_OK);
    assert_int_equal(parents[0], 3);        /* both are significant */
    assert_int_equal(parents[3], SIZE_MAX); /* the longer one is not */
    const double others[] = {0.06, 0.01, NAN, 0.05, 0.05, NAN};
    assert_int_equal(sf_fold(parents, episodes, counts, expected, others, 6, NULL), SF_OK);
    assert_true(parents[0] == 3 && parents[3] == 4);
}

static int do_all(void *context)
{
    (void)context;
    sf_spike spikes[1000];
    sf_bursts bursts;
    sf_details details;
    static const int tenths[] = {20};
    sf_episode episodes[] = {chain(2, 0), chain(3, 0)};
    const int64_t times[] = {0, 1, 2, 4};
    const uint64_t counts[] = {2, 2};
    const double expected[] = {1, 1};
    size_t parents[2], count = make_stream(spikes, 1000, tenths, 1, 30);
    int status = find_bursts(&bursts, spikes, count);
    if (status == SF_OK) status = sf_details_make(&details, &episodes[0], times, 2, &bursts, NULL);
    if (status == SF_OK) status = sf_fold(parents, episodes, counts, expected, NULL, 2, NULL);
    sf_bursts_free(&bursts);
    return status;
}

static void allocation_failures_leak_nothing(void **state)
{
    (void)state;
    test_fail_every_allocation(do_all, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bursts_are_runs_above_the_mean),
        cmocka_unit_test(few_spikes_are_no_burst),
        cmocka_unit_test(delays_of_independent_units_fall_off_as_told),
        cmocka_unit_test(delays_and_bursts_of_occurrences),
        cmocka_unit_test(parts_are_folded),
        cmocka_unit_test(allocation_failures_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
