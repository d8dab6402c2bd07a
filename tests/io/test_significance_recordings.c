/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Significance on real recordings: the p of pairs against surrogates rebuilt one by one and counted by the
 * reference engine, less the blur that displaced trains tell, on any number of threads.
 */
#include "support/support.h"

#include "core/clock.h"
#include "core/memory.h"
#include "mine/significance.h"
#include "mine/surrogate_scatter.h"
#include "replay/recording_file.h"

#include <math.h>

enum { SURROGATES = 19, MOST_PAIRS = 6 };

static const sf_delay delay = {500000, 10 * SF_MILLISECOND};

/* The recording with one more unit: the last unit of the pair as surrogate `number` has it. */
static size_t rebuild(sf_spike *all, const sf_recording *recording, uint32_t unit,
                      const sf_surrogate_rule *rule, uint32_t number)
{
    size_t count = 0;
    uint32_t spike = 0, added = (uint32_t)recording->units.count;
    int64_t start = recording->spikes[0].time_ns;
    for (size_t i = 0; i < recording->spike_count; i++) {
        all[count++] = recording->spikes[i];
        if (recording->spikes[i].unit != unit) continue;
        int64_t goes = sf_surrogate_time(rule, number, unit, spike++, recording->spikes[i].time_ns - start);
        all[count++] = (sf_spike){.time_ns = start + goes, .unit = added};
    }
    assert_int_equal(sf_spikes_sort(all, count, NULL), SF_OK);
    return count;
}

/* The pair's count with its last unit moved as surrogate `number` has it; `all` has room for more spikes. */
static uint64_t count_moved(sf_spike *all, const sf_recording *recording, sf_episode pair,
                            const sf_surrogate_rule *rule, uint32_t number)
{
    size_t count = rebuild(all, recording, pair.units[1], rule, number), units = recording->units.count + 1;
    uint64_t found;
    sf_counter *counter;
    pair.units[1] = (uint32_t)recording->units.count;
    assert_int_equal(sf_counter_open(&counter, all, count, units, &pair, 1, "reference", 1, NULL), SF_OK);
    assert_int_equal(sf_counter_count(counter, NULL, &found, NULL), SF_OK);
    sf_counter_close(counter);
    return found;
}

/* By how much more the count deviates as the trains fill the delay. */
static double saturation(const sf_recording *recording, const sf_episode *pair, int64_t width_ns,
                         double divisor, double mean)
{
    double near = 0;
    size_t from = 0;
    const sf_spike *spikes = recording->spikes;
    for (size_t i = 0; i < recording->spike_count; i++) {
        while (spikes[from].time_ns < spikes[i].time_ns + delay.low_ns - width_ns)
            from++;
        for (size_t k = from; spikes[i].unit == pair->units[0] && k < recording->spike_count &&
                              spikes[k].time_ns <= spikes[i].time_ns + delay.high_ns + width_ns;
             k++)
            if (spikes[k].unit == pair->units[1])
                near += sf_surrogate_reach(delay, width_ns, (double)(spikes[k].time_ns - spikes[i].time_ns));
    }
    sf_surrogate_saturation of = sf_surrogate_saturation_of(delay, width_ns, 1 / divisor, 0);
    return sf_surrogate_saturated(&of, mean, near);
}

static void check_pair(const sf_recording *recording, sf_episode pair, const sf_mine_item *item,
                       const sf_surrogate_rule *rule, double divisor)
{
    sf_spike *all = malloc(2 * recording->spike_count * sizeof *all);
    sf_surrogate_rule displaced = {SF_SURROGATE_DISPLACED, 3 * rule->width_ns, rule->segment_ns, 0};
    double beyond = (double)(count_moved(all, recording, pair, &displaced, 0) +
                             count_moved(all, recording, pair, &displaced, 1)) /
                    2;
    double blur = rint((item->count - beyond) / divisor);
    uint64_t found[SURROGATES], sum = 0;
    for (uint32_t s = 0; s < SURROGATES; s++)
        sum += found[s] = count_moved(all, recording, pair, rule, s);
    sf_surrogate_scatter scatter = sf_surrogate_scatter_of(delay, rule->width_ns, 1 / divisor);
    double mean = (double)sum / SURROGATES, beyond_edge = 0;
    double ratio = sqrt(scatter.recorded / scatter.surrogates) *
                   saturation(recording, &pair, rule->width_ns, divisor, mean);
    double edge = mean + (item->count - blur - 0.5 - mean) / ratio;
    for (uint32_t s = 0; s < SURROGATES; s++) /* each lies evenly within half a count either way */
        beyond_edge += fmin(1, fmax(0, (double)found[s] + 0.5 - edge));
    assert_true(fabs(item->p - (1 + beyond_edge) / (1 + SURROGATES)) < 1e-12);
    test_assert_same(item->p_last, item->p);
    test_assert_same(item->expected_given_rest, mean + blur);
    free(all);
}

static sf_mine_result *test_pairs(const sf_recording *recording, unsigned threads, sf_significance *told)
{
    sf_mining_options mining;
    sf_significance_options options;
    mining = sf_mining_options_default();
    mining.delays = &delay;
    mining.delay_count = 1;
    mining.threshold = 5;
    mining.max_size = 2;
    mining.device = "cpu";
    options = sf_significance_options_default();
    options.surrogates = SURROGATES;
    options.threads = threads;
    options.device = "cpu";
    sf_mine_input input = {.spikes = recording->spikes,
                           .spike_count = recording->spike_count,
                           .units = &recording->units,
                           .duration_ns = sf_recording_duration_ns(recording)};
    sf_mine_result *result;
    assert_int_equal(sf_mine_spikes(&result, &input, &mining, NULL, NULL), SF_OK);
    assert_int_equal(sf_significance_test(told, result, &input, &mining, &options, NULL, NULL), SF_OK);
    return result;
}

static void check_recording(const char *relative)
{
    char *path = test_data_path(relative);
    if (path == NULL) skip();
    sf_recording recording = {0};
    sf_error error;
    if (sf_recording_read(&recording, path, NULL, NULL, &error) != SF_OK) fail_msg("%s", error.text);
    sf_significance told;
    sf_mine_result *result = test_pairs(&recording, 1, &told), *again = test_pairs(&recording, 3, &told);
    assert_true(result->count >= MOST_PAIRS && again->count == result->count);
    for (size_t i = 0; i < result->count; i++) {
        test_assert_same(result->items[i].p, again->items[i].p);
        test_assert_same(result->items[i].q, again->items[i].q);
        test_assert_same(result->items[i].expected_given_rest, again->items[i].expected_given_rest);
    }
    const sf_significance_options *used = &told.options;
    sf_surrogate_rule rule = {SF_SURROGATE_SEGMENT_SHIFT, used->width_ns, used->segment_ns, used->seed};
    for (size_t i = 0; i < MOST_PAIRS; i++) {
        size_t item = i * (result->count / MOST_PAIRS);
        sf_episode pair;
        sf_mine_result_episode(result, item, &pair);
        check_pair(&recording, pair, &result->items[item], &rule, told.sharpness.divisor);
    }
    sf_mine_result_free(result);
    sf_mine_result_free(again);
    sf_recording_clear(&recording);
    free(path);
}

static void a_retina(void **state)
{
    (void)state;
    check_recording("recordings/Stafford2009_WT_37C_Dorsal_2008-02-08-0.h5");
}

static void a_young_retina(void **state)
{
    (void)state;
    check_recording("recordings/Demas2003_P9_CTRL_MY1_1A.h5");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_retina),
        cmocka_unit_test(a_young_retina),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
