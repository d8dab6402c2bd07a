/* SPDX-License-Identifier: Apache-2.0 */
/* How sharp shared bursts are: what it is by enumeration, and what it says of simulated recordings. */
#include "core/reals.h"
#include "support/support.h"

#include "core/clock.h"
#include "core/memory.h"
#include "mine/significance.h"
#include "mine/surrogate_scatter.h"
#include "replay/simulation.h"

#include <math.h>

static const sf_delay delay = {500000, 20 * SF_MILLISECOND};

static sf_recording simulate(uint64_t seed, int64_t sigma_ms, double burst_hz, double seconds,
                             const sf_simulation_chain *chain)
{
    sf_simulation_settings settings;
    sf_simulation_settings_default(&settings);
    settings.seed = seed;
    settings.unit_count = 24;
    settings.rate_hz = 4;
    settings.duration_ns = (int64_t)(seconds * 1e9);
    settings.burst_rate_hz = burst_hz;
    settings.burst_sigma_ns = sigma_ms * SF_MILLISECOND;
    settings.burst_spikes = 5;
    settings.chains = chain;
    settings.chain_count = chain != NULL;
    sf_recording recording;
    assert_int_equal(sf_simulate(&recording, NULL, &settings, NULL, NULL), SF_OK);
    return recording;
}

static sf_sharpness measure(const sf_recording *recording, sf_delay asked)
{
    sf_sharpness sharpness;
    assert_int_equal(sf_sharpness_measure(&sharpness, recording->spikes, recording->spike_count,
                                          recording->units.count, asked, sf_significance_width(&asked, 1), 2,
                                          NULL, NULL),
                     SF_OK);
    return sharpness;
}

/* ---- by enumeration ---- */

/* c(0), m and c(3 w) of a pair, by all its spikes and by shifts in small steps. */
typedef struct slow_pair {
    double here, shifted, far, z;
} slow_pair;

static slow_pair count_slowly(const sf_recording *recording, uint32_t from, uint32_t to, int64_t width)
{
    enum { STEPS = 3000 };
    slow_pair p = {0};
    for (size_t i = 0; i < recording->spike_count; i++)
        for (size_t j = 0; j < recording->spike_count; j++) {
            int64_t lag = recording->spikes[j].time_ns - recording->spikes[i].time_ns;
            if (recording->spikes[i].unit != from || recording->spikes[j].unit != to ||
                llabs(lag) > 4 * width)
                continue;
            p.here += lag > delay.low_ns && lag <= delay.high_ns;
            for (int side = -1; side <= 1; side += 2) {
                int64_t moved = lag + 3 * side * width;
                p.far += (moved > delay.low_ns && moved <= delay.high_ns) / 2.0;
            }
            double stands_for = llabs(lag) <= 500000 ? 0 : llabs(lag) <= 1000000 ? 2 : 1;
            for (int k = 0; k < STEPS && llabs(lag) <= 2 * width; k++) {
                double d = (k + 0.5) / STEPS * 2 - 1; /* widths */
                int64_t moved = lag + (int64_t)(d * (double)width);
                bool within = moved > delay.low_ns && moved <= delay.high_ns;
                p.shifted += stands_for * within * (1 - fabs(d)) * 2 / STEPS;
            }
        }
    return p;
}

static int by_z(const void *a, const void *b)
{
    const slow_pair *left = a, *right = b;
    return (left->z > right->z) - (left->z < right->z);
}

/* The mean of the middle half by z with one in so many parts taken off, its spread, and what is taken off it.
 */
static void look_at_middle(slow_pair *pairs, size_t count, double divisor, double *mean, double *spread,
                           double *taken)
{
    double variance = sf_surrogate_scatter_of(delay, 30 * SF_MILLISECOND, 1 / divisor).recorded, off = 0,
           fall = 0;
    for (size_t i = 0; i < count; i++)
        pairs[i].z = (pairs[i].here - pairs[i].shifted - (pairs[i].here - pairs[i].far) / divisor) /
                     sqrt(pairs[i].shifted * variance);
    qsort(pairs, count, sizeof *pairs, by_z);
    size_t first = count / 4, after = count - (count + 3) / 4;
    *mean = 0;
    for (size_t i = first; i < after; i++) {
        *mean += pairs[i].z / (double)(after - first);
        off += pairs[i].here - pairs[i].shifted;
        fall += pairs[i].here - pairs[i].far;
    }
    *spread = (pairs[after - 1].z - pairs[first].z) / 1.35;
    *taken = fall / off;
}

static void it_is_what_enumeration_gives(void **state)
{
    (void)state;
    sf_recording recording = simulate(3, 20, 0.5, 20, NULL);
    size_t kept = 0;
    for (size_t i = 0; i < recording.spike_count; i++)
        if (recording.spikes[i].unit < 5)
            recording.spikes[kept++] = recording.spikes[i];
    recording.spike_count = kept;
    slow_pair pairs[20];
    size_t count = 0;
    for (uint32_t a = 0; a < 5; a++)
        for (uint32_t b = 0; b < 5; b++) {
            slow_pair one = {0};
            if (a != b)
                one = count_slowly(&recording, a, b, 30 * SF_MILLISECOND);
            if (one.shifted >= 5)
                pairs[count++] = one;
        }
    assert_true(count >= 16);
    double shared, spread, left, taken;
    sf_sharpness told = measure(&recording, delay);
    look_at_middle(pairs, count, 54, &shared, &spread, &taken);
    assert_int_equal(told.pairs, count);
    assert_true(fabs(told.shared - shared) < 4e-3);
    assert_true(fabs(told.error - 1.1 * spread / sqrt((double)count)) < 4e-3);
    look_at_middle(pairs, count, told.divisor, &left, &spread, &taken);
    assert_true(told.divisor < 30 && fabs(told.divisor / taken - 1) < 0.02);
    assert_true(fabs(told.left - left) < 4e-3 && fabs(told.spread - spread) < 8e-3);
    sf_recording_clear(&recording);
}

/* ---- recordings without a link ---- */

static void sharp_bursts_are_not_testable_and_smooth_ones_are(void **state)
{
    (void)state;
    static const struct {
        int64_t sigma_ms;
        double least, most;
        bool testable;
    } cases[] = {{10, 0.9, 2, false}, {20, 0.1, 0.5, true}, {30, 0, 0.3, true}, {100, 0, 0.05, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (uint64_t seed = 700; seed < 702; seed++) {
            sf_recording recording = simulate(seed, cases[i].sigma_ms, 0.1, 1800, NULL);
            sf_sharpness told = measure(&recording, delay);
            if (told.sharpness < cases[i].least || told.sharpness > cases[i].most ||
                told.testable != cases[i].testable)
                fail_msg("bursts of %d ms, seed %d: %g, %s", (int)cases[i].sigma_ms, (int)seed,
                         told.sharpness, told.testable ? "testable" : "not testable");
            assert_true(told.divisor <= 54 && told.divisor >= 4);
            assert_true(cases[i].sigma_ms > 20 || told.divisor < 20);
            sf_recording_clear(&recording);
        }
    sf_recording recording = simulate(702, 10, 0.1, 1800, NULL);
    sf_sharpness told = measure(&recording, (sf_delay){500000, 5 * SF_MILLISECOND});
    assert_true(told.testable); /* by shorter shifts */
    sf_recording_clear(&recording);
}

/* What stands out of few pairs is no burst. */
static void links_do_not_make_it_sharp(void **state)
{
    (void)state;
    sf_simulation_chain chain = {.episode = {.size = 4, .units = {0, 7, 14, 21}}, .rate_hz = 3};
    for (uint32_t i = 0; i < 3; i++)
        chain.episode.delays[i] = (sf_delay){8 * SF_MILLISECOND, 12 * SF_MILLISECOND};
    sf_recording recording = simulate(710, 100, 0, 600, &chain);
    sf_sharpness told = measure(&recording, delay);
    assert_true(told.sharpness < 0.05 && told.divisor == 54 && told.testable);
    sf_recording_clear(&recording);
}

/* Neighbours that see each other's spikes again are a third of all pairs here. */
static void spikes_seen_twice_do_not_make_it_sharp(void **state)
{
    (void)state;
    sf_simulation_settings settings;
    sf_simulation_settings_default(&settings);
    settings.seed = 711;
    settings.unit_count = 24;
    settings.rate_hz = 4;
    settings.duration_ns = 1800 * SF_SECOND;
    settings.burst_rate_hz = 0.1;
    settings.burst_spikes = 5;
    settings.duplicates = 0.15;
    sf_recording recording;
    assert_int_equal(sf_simulate(&recording, NULL, &settings, NULL, NULL), SF_OK);
    for (int64_t high_ms = 5; high_ms <= 20; high_ms *= 2) {
        sf_sharpness told = measure(&recording, (sf_delay){500000, high_ms * SF_MILLISECOND});
        assert_true(told.sharpness < 0.1 && told.testable);
    }
    sf_recording_clear(&recording);
}

static void few_spikes_tell_nothing(void **state)
{
    (void)state;
    sf_spike spikes[] = {{.time_ns = 0, .unit = 0}, {.time_ns = 1000000, .unit = 1}};
    for (size_t count = 0; count <= 2; count++) {
        sf_sharpness told;
        assert_int_equal(sf_sharpness_measure(&told, spikes, count, 2, delay,
                                              sf_significance_width(&delay, 1), 1, NULL, NULL),
                         SF_OK);
        assert_true(told.pairs == 0 && told.sharpness == 0 && told.divisor == 54);
        assert_true(told.testable);
    }
}

/* Pairs of spikes within the delay grow with the square: only a part of them is looked at. */
static void spikes_at_one_instant_take_no_longer(void **state)
{
    (void)state;
    enum { SPIKES = 200000 };
    sf_spike *spikes = calloc(SPIKES, sizeof *spikes);
    for (size_t i = 0; i < SPIKES; i++)
        spikes[i] = (sf_spike){.time_ns = (int64_t)(i / 2000), .unit = (uint32_t)(i % 2000 / 100)};
    sf_sharpness told; /* 40 thousand million pairs */
    assert_int_equal(sf_sharpness_measure(&told, spikes, SPIKES, 20, (sf_delay){0, delay.high_ns},
                                          30 * SF_MILLISECOND, 2, NULL, NULL),
                     SF_OK);
    assert_true(told.pairs > 0);
    free(spikes);
}

/* ---- a recording to test ---- */

typedef struct verdict {
    size_t items, judged, low, returning;
    sf_significance told;
} verdict;

static sf_mine_result *test_recording(verdict *v, const sf_recording *recording, sf_delay asked,
                                      uint32_t max_size, sf_significance_options options)
{
    sf_mine_input input = {recording->spikes, recording->spike_count, &recording->units,
                           sf_recording_duration_ns(recording)};
    sf_mine_options mining;
    sf_mine_options_default(&mining);
    mining.delays = &asked;
    mining.delay_count = 1;
    mining.max_size = max_size;
    mining.threshold = 5;
    mining.device = options.device = "cpu";
    sf_mine_result *result;
    *v = (verdict){0};
    assert_int_equal(sf_mine_spikes(&result, &input, &mining, NULL, NULL), SF_OK);
    assert_int_equal(sf_significance_test(&v->told, result, &input, &mining, &options, NULL, NULL), SF_OK);
    for (size_t i = 0; i < result->count; i++) {
        const sf_mine_item *item = &result->items[i];
        bool none = isnan(item->p) && isnan(item->q) && isnan(item->p_last) && isnan(item->p_first);
        assert_true((item->not_testable != SF_TESTABLE) == none);
        v->items++;
        v->judged += item->not_testable == SF_TESTABLE;
        v->low += item->q < 0.05;
        v->returning += item->not_testable == SF_UNIT_RETURNS;
    }
    return result;
}

static sf_significance_options usual(uint32_t surrogates)
{
    sf_significance_options options = sf_significance_options_default();
    options.surrogates = surrogates;
    return options;
}

static void a_sharp_recording_has_no_verdict(void **state)
{
    (void)state;
    sf_recording recording = simulate(720, 10, 0.1, 600, NULL);
    verdict v;
    sf_mine_result_free(test_recording(&v, &recording, delay, 2, usual(19)));
    assert_int_equal(v.told.not_testable, SF_BURSTS_TOO_SHARP);
    assert_true(v.items == 552 && v.judged == 0 && v.told.candidates[2] == 0);
    sf_recording_clear(&recording);
}

static void delays_that_no_segment_holds_have_no_verdict(void **state)
{
    (void)state;
    sf_recording recording = simulate(721, 100, 0, 20, NULL);
    verdict v;
    int64_t longest = sf_significance_widest(0) * 2 / 3;
    sf_significance_options options = usual(19);
    sf_mine_result_free(test_recording(&v, &recording, (sf_delay){0, longest}, 2, options));
    assert_true(v.told.not_testable == SF_TESTABLE && v.judged == v.items);
    sf_mine_result_free(test_recording(&v, &recording, (sf_delay){0, longest + SF_MILLISECOND}, 2, options));
    assert_true(v.told.not_testable == SF_DELAYS_TOO_LONG && v.judged == 0);
    options.segment_ns = 2 * SF_SECOND;
    sf_mine_result_free(test_recording(&v, &recording, (sf_delay){0, longest + SF_MILLISECOND}, 2, options));
    assert_true(v.told.not_testable == SF_TESTABLE && v.judged == v.items);
    sf_recording_clear(&recording);
}

/* A 360th of the recording or a second; a 60th where a unit fires more than once in five delays. */
static void segments_are_longer_where_units_are_fast(void **state)
{
    (void)state;
    const int64_t span = 1800 * SF_SECOND, longest = 20 * SF_MILLISECOND;
    assert_int_equal(sf_significance_segment(span, 1800 * 10, longest), 5 * SF_SECOND);
    assert_int_equal(sf_significance_segment(span, 1800 * 10 + 1, longest), 30 * SF_SECOND);
    assert_int_equal(sf_significance_segment(span / 10, 180 * 5, longest), SF_SECOND);
    assert_int_equal(sf_significance_segment(0, 0, longest), SF_SECOND);
    sf_recording recording = simulate(724, 100, 0, 600, NULL); /* 4 Hz */
    verdict v;
    sf_mine_result_free(test_recording(&v, &recording, delay, 2, usual(9)));
    assert_int_equal(v.told.options.segment_ns, 2 * SF_SECOND);
    sf_mine_result_free(test_recording(&v, &recording, (sf_delay){500000, 60 * SF_MILLISECOND}, 2, usual(9)));
    assert_int_equal(v.told.options.segment_ns, 10 * SF_SECOND);
    sf_recording_clear(&recording);
}

/* Every pair is frequent, so that all chains of different units are candidates, and no others. */
static void returning_chains_are_neither_judged_nor_counted(void **state)
{
    (void)state;
    sf_recording recording = simulate(722, 100, 0, 400, NULL);
    for (int correction = 0; correction < 2; correction++) {
        verdict v;
        sf_significance_options options = usual(19);
        options.correction = (sf_correction)correction;
        sf_mine_result *result = test_recording(&v, &recording, delay, 3, options);
        assert_int_equal(result->levels[1].frequent, 24 * 23);
        assert_int_equal(v.told.candidates[2], 24 * 23);
        assert_int_equal(v.told.candidates[3], 24 * 23 * 22);
        assert_true(v.returning > 20 && v.judged == v.items - v.returning);
        for (size_t i = 0; i < result->count; i++) {
            sf_episode e;
            sf_mine_result_episode(result, i, &e);
            bool returns = e.size == 3 && e.units[0] == e.units[2];
            assert_int_equal(result->items[i].not_testable, returns ? SF_UNIT_RETURNS : SF_TESTABLE);
        }
        sf_mine_result_free(result);
    }
    sf_recording_clear(&recording);
}

/* Bursts in some 40,000 spikes, and twice as many where not every spike is a first one. */
static void threads_change_nothing(void **state)
{
    (void)state;
    for (uint32_t dense = 0; dense < 2; dense++) {
        sf_recording recording = simulate(724, 100, dense ? 200 : 1, dense ? 4 : 200, NULL);
        sf_sharpness told[3];
        for (unsigned t = 0; t < 3; t++)
            assert_int_equal(sf_sharpness_measure(&told[t], recording.spikes, recording.spike_count,
                                                  recording.units.count, delay, 30 * SF_MILLISECOND,
                                                  1 + 2 * t, NULL, NULL),
                             SF_OK);
        assert_true(told[0].pairs > 0);
        for (unsigned t = 1; t < 3; t++) {
            assert_int_equal(told[t].pairs, told[0].pairs);
            assert_true(told[t].sharpness == told[0].sharpness && told[t].divisor == told[0].divisor);
            assert_true(told[t].left == told[0].left && told[t].spread == told[0].spread);
        }
        sf_recording_clear(&recording);
    }
}

/* ---- failing ---- */

static int measure_once(void *context)
{
    sf_sharpness told;
    const sf_recording *recording = context;
    return sf_sharpness_measure(&told, recording->spikes, recording->spike_count, recording->units.count,
                                delay, 30 * SF_MILLISECOND, 2, NULL, NULL);
}

static void memory_that_runs_out_is_told(void **state)
{
    (void)state;
    sf_recording recording = simulate(723, 100, 0.1, 10, NULL);
    test_fail_every_allocation(measure_once, &recording);
    sf_recording_clear(&recording);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_what_enumeration_gives),
        cmocka_unit_test(sharp_bursts_are_not_testable_and_smooth_ones_are),
        cmocka_unit_test(links_do_not_make_it_sharp),
        cmocka_unit_test(spikes_seen_twice_do_not_make_it_sharp),
        cmocka_unit_test(few_spikes_tell_nothing),
        cmocka_unit_test(spikes_at_one_instant_take_no_longer),
        cmocka_unit_test(a_sharp_recording_has_no_verdict),
        cmocka_unit_test(delays_that_no_segment_holds_have_no_verdict),
        cmocka_unit_test(segments_are_longer_where_units_are_fast),
        cmocka_unit_test(returning_chains_are_neither_judged_nor_counted),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(memory_that_runs_out_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
