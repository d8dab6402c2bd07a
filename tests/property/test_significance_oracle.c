/* SPDX-License-Identifier: Apache-2.0 */
/* p of the segment-shift test against the test as its documentation tells it. */
#include "support/support.h"

#include "core/clock.h"
#include "core/units.h"
#include "mine/given.h"
#include "mine/significance.h"
#include "oracle/significance_oracle.h"
#include "replay/simulation.h"

#include <math.h>

typedef struct trial {
    sf_mine_input input;
    sf_mining_options mining;
    sf_significance_options options;
} trial;

static trial start(const sf_recording *recording, const sf_delay *delays, size_t delay_count)
{
    trial t = {.input = {.spikes = recording->spikes,
                         .spike_count = recording->spike_count,
                         .units = &recording->units,
                         .duration_ns = 1000}};
    t.mining = sf_mining_options_default();
    t.mining.delays = delays;
    t.mining.delay_count = delay_count;
    t.mining.threads = 1;
    t.mining.device = "cpu";
    t.options = sf_significance_options_default();
    t.options.always = true; /* numbers are compared, whatever they are worth */
    t.options.device = "cpu";
    return t;
}

/* The oracle integrates what counts are stretched by in small steps. */
static void assert_near(const char *what, uint32_t size, double found, double expected)
{
    if (isnan(expected) ? !isnan(found) : !(fabs(found - expected) <= 1e-8))
        fail_msg("size %u: %s is %.17g, expected %.17g", size, what, found, expected);
}

/* Returns how many episodes were compared; *taken_off is one in so many parts. */
static size_t compare(const trial *t, double *divisor)
{
    sf_mine_result *result;
    sf_significance told;
    size_t compared = 0;
    assert_int_equal(sf_mine_spikes(&result, &t->input, &t->mining, NULL, NULL), SF_OK);
    assert_int_equal(sf_significance_test(&told, result, &t->input, &t->mining, &t->options, NULL, NULL),
                     SF_OK);
    const oracle_shifting how = {t->input.spikes,         t->input.spike_count, told.options.width_ns,
                                 told.options.segment_ns, told.options.seed,    told.options.surrogates,
                                 told.sharpness.divisor};
    *divisor = told.sharpness.divisor;
    for (size_t i = 0; i < result->count; i++) {
        const sf_mine_item *item = &result->items[i];
        sf_episode episode;
        if (item->not_tested != SF_TESTABLE) continue;
        sf_mine_result_episode(result, i, &episode);
        oracle_verdict expected = oracle_significance(&how, &episode);
        assert_near("p", item->size, item->p, expected.p);
        assert_near("p_last", item->size, item->p_last, expected.p_last);
        assert_near("p_first", item->size, item->p_first, expected.p_first);
        assert_near("p_links", item->size, item->p_links, expected.p_links);
        test_assert_same(item->expected_given_rest, expected.expected);
        compared++;
    }
    sf_mine_result_free(result);
    return compared;
}

/* Ties, repeats and silent units; shifts and segments of a few ns. */
static void any_stream_has_the_p_of_the_documentation(void **state)
{
    (void)state;
    test_random random = test_random_start("oracle", 81);
    size_t compared = 0;
    for (int round = 0; round < 50; round++) {
        sf_recording recording = {0};
        sf_unit unit = {.electrode = -1};
        for (int u = 0; u < 5; u++)
            assert_int_equal(sf_units_add(&recording.units, &unit, NULL), SF_OK);
        assert_int_equal(sf_units_finish(&recording.units, NULL), SF_OK);
        recording.spike_count =
            test_random_stream(&random, &recording.spikes, 20 + test_random_below(&random, 60), 4,
                               30 + (int64_t)test_random_below(&random, 300));
        sf_delay delays[2];
        for (int64_t d = 0; d < 2; d++) {
            int64_t low = (int64_t)test_random_below(&random, 6) + 10 * d;
            delays[d] = (sf_delay){low, low + 1 + (int64_t)test_random_below(&random, 9)};
        }
        trial t = start(&recording, delays, 1 + test_random_below(&random, 2));
        t.mining.threshold = 3 + (double)test_random_below(&random, 4);
        t.mining.max_size = 2 + (uint32_t)test_random_below(&random, 3);
        t.options.surrogates = 1 + (uint32_t)test_random_below(&random, 30);
        t.options.seed = test_random_bits(&random);
        t.options.segment_ns = 10 + (int64_t)test_random_below(&random, 200);
        if (test_random_below(&random, 2) == 0)
            t.options.width_ns = 1 + (int64_t)test_random_below(&random, 40);
        double divisor;
        compared += compare(&t, &divisor);
        free(recording.spikes);
        sf_units_free(&recording.units);
    }
    assert_true(compared > 80);
}

/* Units that share bursts, so sharp that more is taken off than of smooth ones; everything is chosen. */
static void shared_bursts_have_the_p_of_the_documentation(void **state)
{
    (void)state;
    const sf_delay delay = {500000, 20 * SF_MILLISECOND};
    sf_simulation_settings settings;
    sf_simulation_settings_default(&settings);
    settings.seed = 82;
    settings.unit_count = 6;
    settings.rate_hz = 2;
    settings.duration_ns = 40 * SF_SECOND;
    settings.burst_rate_hz = 1;
    settings.burst_sigma_ns = 20 * SF_MILLISECOND;
    settings.burst_spikes = 4;
    sf_recording recording;
    assert_int_equal(sf_simulate(&recording, NULL, &settings, NULL, NULL), SF_OK);
    trial t = start(&recording, &delay, 1);
    t.mining.max_size = 2;
    t.mining.threshold = 5;
    t.options.surrogates = 19;
    double divisor;
    assert_true(compare(&t, &divisor) >= 20);
    assert_true(divisor < 40);
    sf_recording_clear(&recording);
}

/* A chain of different ones of five units. */
static sf_episode random_chain(test_random *random)
{
    sf_episode chain = {.size = 3 + (uint32_t)test_random_below(random, 3)};
    uint32_t units[] = {0, 1, 2, 3, 4};
    for (uint32_t k = 0; k < chain.size; k++) {
        uint32_t other = k + (uint32_t)test_random_below(random, 5 - k), swapped = units[other];
        units[other] = units[k];
        chain.units[k] = units[k] = swapped;
        int64_t low = (int64_t)test_random_below(random, 6);
        if (k > 0) chain.delays[k - 1] = (sf_delay){low, low + 5 + (int64_t)test_random_below(random, 20)};
    }
    return chain;
}

/* p of chains tested by all splits, q of two chains beside it, and the same on two threads. */
static void splits_have_the_p_of_the_documentation(void **state)
{
    (void)state;
    test_random random = test_random_start("splits", 83);
    size_t apart = 0;
    for (int round = 0; round < 40; round++) {
        sf_recording recording = {0};
        sf_unit unit = {.electrode = -1};
        for (int u = 0; u < 5; u++)
            assert_int_equal(sf_units_add(&recording.units, &unit, NULL), SF_OK);
        assert_int_equal(sf_units_finish(&recording.units, NULL), SF_OK);
        recording.spike_count =
            test_random_stream(&random, &recording.spikes, 60 + test_random_below(&random, 100), 5,
                               100 + (int64_t)test_random_below(&random, 500));
        const sf_episode chains[] = {random_chain(&random), random_chain(&random)};
        trial t = start(&recording, NULL, 0);
        t.options.splits = t.options.found_only = true;
        t.options.surrogates = 1 + (uint32_t)test_random_below(&random, 30);
        t.options.seed = test_random_bits(&random);
        t.options.segment_ns = 10 + (int64_t)test_random_below(&random, 200);
        if (test_random_below(&random, 2) == 0)
            t.options.width_ns = 1 + (int64_t)test_random_below(&random, 40);
        sf_mine_result *results[2];
        sf_significance told;
        for (unsigned threads = 1; threads <= 2; threads++) {
            sf_mine_result **result = &results[threads - 1];
            t.options.threads = threads;
            assert_int_equal(sf_mine_given(result, &t.mining, &t.input, chains, 2, 1, NULL, NULL), SF_OK);
            assert_int_equal(
                sf_significance_test(&told, *result, &t.input, &t.mining, &t.options, NULL, NULL), SF_OK);
        }
        const oracle_shifting how = {t.input.spikes,          t.input.spike_count, told.options.width_ns,
                                     told.options.segment_ns, told.options.seed,   told.options.surrogates,
                                     told.sharpness.divisor};
        for (int i = 0; i < 2; i++) {
            const sf_mine_item *item = &results[0]->items[i];
            oracle_verdict expected = oracle_splits(&how, &chains[i]);
            assert_near("p", item->size, item->p, expected.p);
            assert_near("expected given the rest", item->size, item->expected_given_rest, expected.expected);
            test_assert_same(item->p, results[1]->items[i].p);
            test_assert_same(item->q, results[1]->items[i].q);
            assert_true(item->q <= 1 && item->q > 0 && isnan(item->p_links));
            apart += item->p < 0.9;
        }
        sf_mine_result_free(results[0]);
        sf_mine_result_free(results[1]);
        free(recording.spikes);
        sf_units_free(&recording.units);
    }
    assert_true(apart > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_stream_has_the_p_of_the_documentation),
        cmocka_unit_test(shared_bursts_have_the_p_of_the_documentation),
        cmocka_unit_test(splits_have_the_p_of_the_documentation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
