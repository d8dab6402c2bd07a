/* SPDX-License-Identifier: Apache-2.0 */
/* The expected count against simulated independent Poisson trains. */
#include "support/support.h"

#include "core/memory.h"
#include "core/recording.h"
#include "core/text.h"
#include "mine/mine.h"

#include <math.h>

static size_t add_train(test_random *random, sf_spike *spikes, size_t room, uint32_t unit, double rate_hz,
                        double seconds)
{
    size_t count = 0;
    for (double t = 0; (t += -log(1 - test_random_unit(random)) / rate_hz) < seconds && count < room; count++)
        spikes[count] = (sf_spike){.time_ns = sf_seconds_to_ns(t), .unit = unit};
    assert_true(count < room);
    return count;
}

/* Relative difference of the formula from the simulated count; *error: its standard error, of a Poisson
 * number (that of counts whose occurrences often overlap is smaller). */
static double deviation(test_random *random, const sf_episode *episode, const double *rates_hz,
                        double seconds, double *error)
{
    double total = 0;
    for (uint32_t i = 0; i < episode->size; i++)
        total += rates_hz[i] * seconds;
    size_t room = (size_t)(total * 1.2) + 1000, count = 0;
    sf_spike *spikes = calloc(room, sizeof *spikes);
    for (uint32_t i = 0; i < episode->size; i++)
        count += add_train(random, spikes + count, room - count, i, rates_hz[i], seconds);
    assert_int_equal(sf_spikes_sort(spikes, count, NULL), SF_OK);
    sf_counter *counter;
    uint64_t counted;
    assert_int_equal(sf_counter_open(&counter, spikes, count, episode->size, episode, 1, NULL, 1, NULL),
                     SF_OK);
    assert_int_equal(sf_counter_count(counter, NULL, &counted, NULL), SF_OK);
    sf_counter_close(counter);
    free(spikes);
    assert_true(counted > 10000);
    *error = 1 / sqrt((double)counted);
    return sf_expected_count(episode->size, rates_hz, episode->delays, seconds) / (double)counted - 1;
}

#define MS INT64_C(1000000)

static void pairs_and_chains_of_poisson_trains(void **state)
{
    (void)state;
    static const struct {
        sf_episode episode;
        double rates_hz[4], seconds;
    } cases[] = {
        {{2, {0, 1}, {{0, 20 * MS}}}, {0.5, 0.5}, 3000000},
        {{2, {0, 1}, {{0, 20 * MS}}}, {5, 5}, 30000},
        {{2, {0, 1}, {{0, 20 * MS}}}, {50, 20}, 2000},
        {{2, {0, 1}, {{5 * MS, 10 * MS}}}, {20, 80}, 2000},
        {{2, {0, 1}, {{4 * MS, 6 * MS}}}, {50, 50}, 4000},
        {{2, {0, 1}, {{20 * MS, 100 * MS}}}, {50, 80}, 1500}, /* an occurrence lasts longer than the wait */
        {{3, {0, 1, 2}, {{0, 20 * MS}, {0, 20 * MS}}}, {20, 20, 20}, 8000},
        {{3, {0, 1, 2}, {{4 * MS, 6 * MS}, {4 * MS, 6 * MS}}}, {50, 50, 50}, 25000},
        {{3, {0, 1, 2}, {{5 * MS, 10 * MS}, {0, 30 * MS}}}, {80, 20, 30}, 4000},
        {{3, {0, 1, 2}, {{0, 20 * MS}, {0, 20 * MS}}}, {50, 50, 50}, 1500},
        {{3, {0, 1, 2}, {{0, 20 * MS}, {0, 20 * MS}}}, {5, 5, 5}, 300000},
        {{3, {0, 1, 2}, {{0, 80 * MS}, {0, 80 * MS}}}, {50, 50, 50}, 1000},
        {{4, {0, 1, 2, 3}, {{0, 20 * MS}, {0, 20 * MS}, {0, 20 * MS}}}, {20, 20, 20, 20}, 20000},
        {{4, {0, 1, 2, 3}, {{0, 5 * MS}, {0, 20 * MS}, {10 * MS, 15 * MS}}}, {50, 40, 50, 60}, 15000},
        {{4, {0, 1, 2, 3}, {{0, 20 * MS}, {0, 20 * MS}, {0, 20 * MS}}}, {50, 50, 50, 50}, 2500},
        {{4, {0, 1, 2, 3}, {{0, 80 * MS}, {0, 80 * MS}, {0, 80 * MS}}}, {50, 50, 50, 50}, 1200},
    };
    test_random random = test_random_start("expected", 1);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double error, d = deviation(&random, &cases[i].episode, cases[i].rates_hz, cases[i].seconds, &error);
        print_message("case %zu: %+.2f %%, standard error %.2f %%\n", i, 100 * d, 100 * error);
        double bias = cases[i].episode.size == 2 ? 0 : 0.02; /* of pairs the formula is exact */
        assert_true(fabs(d) < bias + 4 * error);
    }
}

static void limits_are_sensible(void **state)
{
    (void)state;
    const sf_delay delay = {0, 5000000};
    const double rare[2] = {0.001, 0.001};
    /* For rare spikes: rate times chance that the other follows. */
    double chance = 0.001 * (1 - exp(-0.001 * 0.005)) * 1e6;
    assert_true(fabs(sf_expected_count(2, rare, &delay, 1e6) / chance - 1) < 1e-4);
    const double busy[2] = {1e9, 1e9};
    assert_true(sf_expected_count(2, busy, &delay, 1) > 1e8);
    const sf_episode pair = {.size = 2, .units = {0, 1}, .delays = {{0, 5000000}}};
    const uint64_t silent[2] = {100, 0}, some[2] = {100, 100};
    assert_true(sf_expected_episode(&pair, silent, 1000000000) == 0);
    assert_true(isnan(sf_expected_episode(&pair, some, 0)));
    const double rates[2] = {100, 100};
    assert_true(sf_expected_episode(&pair, some, 1000000000) == sf_expected_count(2, rates, pair.delays, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_and_chains_of_poisson_trains),
        cmocka_unit_test(limits_are_sensible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
