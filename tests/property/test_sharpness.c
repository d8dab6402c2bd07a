/* SPDX-License-Identifier: Apache-2.0 */
/* How sharp shared bursts are: what it is by enumeration, and what it says of simulated recordings. */
#include "core/reals.h"
#include "support/support.h"

#include "core/clock.h"
#include "core/memory.h"
#include "core/random.h"
#include "mine/shared_groups.h"
#include "mine/significance.h"
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

static sf_survey_job job_of(const sf_recording *recording, sf_delay asked, int64_t width_ns)
{
    return (sf_survey_job){.spikes = recording->spikes,
                           .count = recording->spike_count,
                           .unit_count = recording->units.count,
                           .delay = asked,
                           .width_ns = width_ns,
                           .segment_ns = 5 * SF_SECOND,
                           .threads = 2};
}

static sf_sharpness measure(const sf_recording *recording, sf_delay asked)
{
    sf_sharpness sharpness;
    sf_survey_job job = job_of(recording, asked, sf_significance_width(&asked, 1));
    assert_int_equal(sf_sharpness_measure(&sharpness, NULL, &job, NULL), SF_OK);
    return sharpness;
}

/* ---- by enumeration ---- */

/* Occurrences that do not overlap of a pair whose second spike is in the segment, moved by so much. */
static uint32_t count_slowly(const sf_recording *recording, uint32_t from, uint32_t to, int64_t segment,
                             int64_t by_ns)
{
    int64_t origin = recording->spikes[0].time_ns, last = INT64_MIN;
    uint32_t count = 0;
    for (size_t j = 0; j < recording->spike_count; j++) {
        int64_t time = recording->spikes[j].time_ns;
        if (recording->spikes[j].unit != to || (time - origin) / (5 * SF_SECOND) != segment) continue;
        for (size_t i = 0; i < recording->spike_count; i++) {
            int64_t lag = time + by_ns - recording->spikes[i].time_ns;
            if (recording->spikes[i].unit == from && lag > delay.low_ns && lag <= delay.high_ns &&
                recording->spikes[i].time_ns > last) {
                last = time + by_ns;
                count++;
                break;
            }
        }
    }
    return count;
}

/* Twelve stops, 5 ms apart, from -27.5 to 27.5 ms. */
static sf_surveyed_pair survey_slowly(const sf_recording *recording, uint32_t from, uint32_t to)
{
    enum { STOPS = 12 };
    sf_surveyed_pair pair = {0};
    for (int64_t segment = 0; segment < 4; segment++) {
        double mean = 0, square = 0;
        pair.here += count_slowly(recording, from, to, segment, 0);
        for (int side = -1; side <= 1; side += 2)
            pair.far += count_slowly(recording, from, to, segment, side * 90 * SF_MILLISECOND) / 2.0;
        for (int k = 0; k < STOPS; k++) {
            double at = (k + 0.5) / STOPS * 2 - 1, weight = (1 - fabs(at)) * 2 / STOPS;
            double counted = count_slowly(recording, from, to, segment, llrint(at * 30e6));
            mean += weight * counted;
            square += weight * counted * counted;
        }
        pair.shifted += mean;
        pair.variance += square - mean * mean;
    }
    return pair;
}

static void pairs_count_what_enumeration_gives(void **state)
{
    (void)state;
    sf_recording recording = simulate(3, 20, 0.5, 20, NULL);
    size_t kept = 0;
    for (size_t i = 0; i < recording.spike_count; i++)
        if (recording.spikes[i].unit < 5) recording.spikes[kept++] = recording.spikes[i];
    recording.spike_count = kept;
    sf_survey_job job = job_of(&recording, delay, 30 * SF_MILLISECOND);
    sf_pair_survey survey;
    assert_int_equal(sf_pair_survey_open(&survey, &job), SF_OK);
    assert_true(survey.units == 5 && survey.stride == 1);
    for (size_t a = 0; a < 5; a++)
        for (size_t b = 0; b < 5; b++) {
            if (a == b) continue;
            const sf_surveyed_pair *told = &survey.pairs[a * 5 + b];
            sf_surveyed_pair slow = survey_slowly(&recording, survey.unit_of[a], survey.unit_of[b]);
            assert_true(told->here == slow.here && told->far == slow.far && told->here > 0);
            assert_true(fabs(told->shifted - slow.shifted) < 1e-6 * slow.shifted);
            assert_true(fabs(told->variance - slow.variance) < 1e-6 * slow.variance);
        }
    sf_pair_survey_close(&survey);
    sf_recording_clear(&recording);
}

/* ---- recordings of few units ---- */

/* Of six units there are thirty pairs, and a chain of three makes six of them stand out or in. */
static void links_of_few_units_are_no_bursts(void **state)
{
    (void)state;
    sf_episode planted = {.size = 3, .units = {0, 1, 2}, .delays = {{4000000, 6000000}, {4000000, 6000000}}};
    const sf_simulation_chain chain = {.episode = planted, .rate_hz = 2};
    for (uint64_t seed = 1; seed <= 20; seed++) {
        sf_simulation_settings settings;
        sf_simulation_settings_default(&settings);
        settings.seed = seed;
        settings.unit_count = 6;
        settings.rate_hz = 5;
        settings.duration_ns = 60 * SF_SECOND;
        settings.chains = &chain;
        settings.chain_count = 1;
        sf_recording recording;
        assert_int_equal(sf_simulate(&recording, NULL, &settings, NULL, NULL), SF_OK);
        sf_sharpness told = measure(&recording, (sf_delay){4000000, 6000000});
        if (!told.testable) fail_msg("seed %d: %g", (int)seed, told.sharpness);
        sf_recording_clear(&recording);
    }
}

/* ---- recordings without a link ---- */

static void sharp_bursts_are_not_testable_and_smooth_ones_are(void **state)
{
    (void)state;
    static const struct {
        int64_t sigma_ms;
        double least, most;
        bool testable;
    } cases[] = {{4, 0.5, 20, false}, {20, 0, 0.17, true}, {30, 0, 0.17, true}, {100, 0, 0.1, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (uint64_t seed = 700; seed < 702; seed++) {
            sf_recording recording = simulate(seed, cases[i].sigma_ms, 0.1, 1800, NULL);
            sf_sharpness told = measure(&recording, delay);
            if (told.sharpness < cases[i].least || told.sharpness > cases[i].most ||
                told.testable != cases[i].testable)
                fail_msg("bursts of %d ms, seed %d: %g, %s", (int)cases[i].sigma_ms, (int)seed,
                         told.sharpness, told.testable ? "testable" : "not testable");
            assert_true(told.divisor <= 54 && told.divisor >= 4 && told.groups == 0 && told.bursts);
            assert_true(cases[i].sigma_ms > 20 || told.divisor < 20);
            assert_true((told.low_share > 0.1) == !told.testable);
            sf_recording_clear(&recording);
        }
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
    assert_true(told.sharpness < 0.1 && told.divisor == 54 && told.testable && told.groups == 0);
    sf_recording_clear(&recording);
}

/* Of four units in a row each pair is linked one way. */
static void links_alone_tell_nothing(void **state)
{
    (void)state;
    sf_simulation_chain chain = {.episode = {.size = 4, .units = {0, 1, 2, 3}}, .rate_hz = 2};
    for (uint32_t i = 0; i < 3; i++)
        chain.episode.delays[i] = (sf_delay){3 * SF_MILLISECOND, 5 * SF_MILLISECOND};
    sf_recording recording = simulate(713, 100, 0, 600, &chain);
    size_t kept = 0;
    for (size_t i = 0; i < recording.spike_count; i++)
        if (recording.spikes[i].unit < 4) recording.spikes[kept++] = recording.spikes[i];
    recording.spike_count = kept;
    sf_sharpness told = measure(&recording, delay);
    assert_true(told.pairs == 12 && isnan(told.low_share) && told.testable);
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
        sf_recording recording = {.spikes = spikes, .spike_count = count, .units.count = 2};
        sf_survey_job job = job_of(&recording, delay, 30 * SF_MILLISECOND);
        assert_int_equal(sf_sharpness_measure(&told, NULL, &job, NULL), SF_OK);
        assert_true(told.pairs == 0 && told.sharpness == 0 && told.divisor == 54);
        assert_true(told.testable && isnan(told.low_share));
    }
}

/* Of two independent trains nothing is known but that they may be tested; with those that were left out it
 * is.
 */
static void units_that_were_left_out_are_looked_at_too(void **state)
{
    (void)state;
    sf_recording recording = simulate(712, 4, 0.1, 600, NULL);
    sf_spike *others = calloc(recording.spike_count, sizeof *others);
    size_t kept = 0, left = 0;
    for (size_t i = 0; i < recording.spike_count; i++)
        if (recording.spikes[i].unit < 2)
            recording.spikes[kept++] = recording.spikes[i];
        else
            others[left++] = recording.spikes[i];
    recording.spike_count = kept;
    sf_sharpness told = measure(&recording, delay);
    assert_true(told.pairs == 2 && told.testable && isnan(told.low_share));
    sf_survey_job job = job_of(&recording, delay, 30 * SF_MILLISECOND);
    job.others = others;
    job.other_count = left;
    assert_int_equal(sf_sharpness_measure(&told, NULL, &job, NULL), SF_OK);
    assert_true(told.pairs == 552 && !told.testable);
    free(others);
    sf_recording_clear(&recording);
}

/* More than a million spikes, which all cores take: of 100 units the busiest, among them those of `others`,
 * in the order of one walk through both; and segments that begin where a walk finds them. */
static void many_spikes_are_chosen_as_few_are(void **state)
{
    (void)state;
    enum { SPIKES = 1300000, OTHERS = 3 * SPIKES / 10, UNITS = 100 };
    sf_spike *spikes = calloc(SPIKES, sizeof *spikes), *others = calloc(OTHERS, sizeof *others);
    uint64_t counts[UNITS] = {0};
    for (size_t i = 0; i < SPIKES; i++) { /* ten at each time, so that parts begin within one */
        spikes[i] = (sf_spike){.time_ns = (int64_t)(i / 10 * 1000 + 77),
                               .unit = (uint32_t)((i * 2654435761u >> 9) % 70 * (i % 3 > 0))};
        counts[spikes[i].unit]++;
    }
    for (size_t i = 0; i < OTHERS; i++) {
        others[i] =
            (sf_spike){.time_ns = (int64_t)(i / 3 * 1000 + 77), .unit = (uint32_t)(70 + i % 7 * (i % 5))};
        counts[others[i].unit]++;
    }
    sf_survey_job job = {
        .spikes = spikes, .count = SPIKES, .others = others, .other_count = OTHERS, .unit_count = UNITS};
    sf_survey_spikes chosen;
    assert_int_equal(sf_survey_spikes_open(&chosen, &job), SF_OK);
    assert_true(chosen.units == SF_SURVEY_UNITS);
    uint8_t slots[UNITS];
    memset(slots, UINT8_MAX, sizeof slots);
    for (size_t s = 0; s < chosen.units; s++) {
        slots[chosen.unit_of[s]] = (uint8_t)s;
        assert_true(s == 0 || counts[chosen.unit_of[s - 1]] >= counts[chosen.unit_of[s]]);
    }
    size_t found = 0, other = 0;
    for (size_t i = 0; i < SPIKES || other < OTHERS;) {
        bool is_other = i == SPIKES || (other < OTHERS && others[other].time_ns < spikes[i].time_ns);
        const sf_spike *spike = is_other ? &others[other++] : &spikes[i++];
        if (slots[spike->unit] == UINT8_MAX) continue;
        assert_true(found < chosen.count && chosen.times[found] == spike->time_ns - 77);
        assert_int_equal(chosen.slots[found++], slots[spike->unit]);
    }
    assert_int_equal(found, chosen.count);
    sf_survey_spikes_close(&chosen);
    free(spikes);
    free(others);
}

/* Pairs of spikes within the delay grow with the square: only a part of them is looked at. */
static void spikes_at_one_instant_take_no_longer(void **state)
{
    (void)state;
    enum { SPIKES = 200000 };
    sf_spike *spikes = calloc(SPIKES, sizeof *spikes);
    for (size_t i = 0; i < SPIKES; i++)
        spikes[i] = (sf_spike){.time_ns = (int64_t)(i / 2000), .unit = (uint32_t)(i % 2000 / 100)};
    sf_recording recording = {.spikes = spikes, .spike_count = SPIKES, .units.count = 20};
    sf_survey_job job = job_of(&recording, (sf_delay){0, delay.high_ns}, 30 * SF_MILLISECOND);
    sf_pair_survey survey; /* 40 thousand million pairs */
    assert_int_equal(sf_pair_survey_open(&survey, &job), SF_OK);
    assert_true(survey.stride > 5000);
    sf_pair_survey_close(&survey);
    free(spikes);
}

/* 64 units of 20 Hz, which share nothing or, with a latency of each unit's own, 2,000 to 3,000 events. */
static sf_recording simulate_long(uint64_t seed, double seconds, bool sharing)
{
    sf_simulation_settings settings;
    sf_simulation_settings_default(&settings);
    settings.seed = seed;
    settings.unit_count = 64;
    settings.rate_hz = 20;
    settings.duration_ns = (int64_t)(seconds * 1e9);
    sf_recording recording;
    assert_int_equal(sf_simulate(&recording, NULL, &settings, NULL, NULL), SF_OK);
    sf_random random = sf_random_start(seed, 9);
    for (double at = 0; sharing && (at += sf_random_exponential(&random) / 2) < seconds - 1;)
        for (uint32_t u = 0; u < 64; u++) {
            size_t i = (size_t)(sf_random_uniform(&random) * (double)recording.spike_count);
            if (sf_random_uniform(&random) < 0.7)
                recording.spikes[i] = (sf_spike){
                    .time_ns = (int64_t)((at + 0.03 * (u * 37 % 64) / 64) * 1e9) + (int64_t)(i % 4000000),
                    .unit = u};
        }
    assert_int_equal(sf_spikes_sort(recording.spikes, recording.spike_count, NULL), SF_OK);
    return recording;
}

/* Of what is looked at only in part the scatter is known to a few per cent, which is no burst; bursts are
 * seen all the same. */
static void fast_units_of_long_recordings_are_judged_as_those_of_short_ones(void **state)
{
    (void)state;
    const sf_delay wide = {500000, 50 * SF_MILLISECOND};
    static const uint64_t seeds[] = {906, 907, 912, 916, 918};
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++) {
        sf_recording recording = simulate_long(seeds[i], 1500, false);
        sf_survey_job job = job_of(&recording, wide, 75 * SF_MILLISECOND);
        sf_sharpness told;
        assert_int_equal(sf_sharpness_measure(&told, NULL, &job, NULL), SF_OK);
        if (!told.testable || told.low_share > 0.12)
            fail_msg("seed %d: %g, spread %g", (int)seeds[i], told.sharpness, told.spread);
        sf_recording_clear(&recording);
    }
    sf_recording recording = simulate_long(904, 1500, true);
    sf_sharpness told = measure(&recording, wide);
    assert_true(!told.testable && told.pairs > 2000);
    sf_recording_clear(&recording);
}

/* ---- groups ---- */

/* Of a set of 20 units those below `part` share events, each of 20 ms. */
static sf_recording share(uint64_t seed, uint32_t part, double seconds)
{
    sf_recording recording = simulate(seed, 100, 0, seconds, NULL);
    sf_random random = sf_random_start(seed, 7);
    size_t capacity = recording.spike_count;
    void *room = recording.spikes;
    for (double at = 0; (at += sf_random_exponential(&random)) < seconds - 1;)
        for (uint32_t u = 0; u < part; u++)
            if (sf_random_uniform(&random) < 0.7) {
                assert_int_equal(sf_reserve(&room, &capacity, recording.spike_count + 1, sizeof(sf_spike)),
                                 0);
                recording.spikes = room;
                recording.spikes[recording.spike_count++] = (sf_spike){
                    .time_ns = (int64_t)((at + 0.02 * sf_random_uniform(&random)) * 1e9), .unit = u};
            }
    assert_int_equal(sf_spikes_sort(recording.spikes, recording.spike_count, NULL), SF_OK);
    return recording;
}

static void a_group_is_found_and_the_others_are_tested(void **state)
{
    (void)state;
    for (uint64_t seed = 740; seed < 743; seed++) {
        sf_recording recording = share(seed, 8, 900);
        uint32_t groups[24];
        sf_survey_job job = job_of(&recording, delay, 30 * SF_MILLISECOND);
        sf_sharpness told;
        assert_int_equal(sf_sharpness_measure(&told, groups, &job, NULL), SF_OK);
        assert_true(told.testable && told.groups == 1 && told.grouped >= 7 && told.grouped <= 9);
        for (uint32_t u = 0, in = 0; u < 24; u++) {
            in += groups[u] == 1;
            assert_true(u != 7 || in >= 7);
        }
        sf_recording_clear(&recording);
    }
}

/* A group that narrower shifts do not show, among others whose pairs scatter somewhat. */
static void a_group_keeps_the_shifts_that_show_it(void **state)
{
    (void)state;
    sf_recording recording = share(1309, 12, 60);
    uint32_t groups[24];
    sf_sharpness told;
    sf_survey_job job = job_of(&recording, delay, 30 * SF_MILLISECOND);
    assert_int_equal(sf_sharpness_measure(&told, groups, &job, NULL), SF_OK);
    assert_true(told.groups == 0);
    assert_int_equal(sf_significance_choose_width(&told, groups, &job, SF_SECOND, NULL), SF_OK);
    assert_true(told.sharpness > 0.09 && told.testable && told.groups == 1);
    assert_int_equal(told.width_ns, 60 * SF_MILLISECOND);
    sf_recording_clear(&recording);
}

static void what_all_share_is_no_group(void **state)
{
    (void)state;
    sf_recording recording = share(743, 24, 900);
    sf_sharpness told = measure(&recording, delay);
    assert_true(told.groups == 0 && told.grouped == 0);
    sf_recording_clear(&recording);
}

static void sets_of_pairs_that_stand_out_both_ways_are_groups(void **state)
{
    (void)state;
    enum { N = 12 };
    double worth[N * N] = {0}, together[N * N] = {0};
    uint32_t groups[N];
    assert_int_equal(sf_shared_groups_find(groups, worth, together, N), 0);
    for (size_t a = 0; a < N; a++)
        for (size_t b = 0; b < N; b++)
            worth[a * N + b] = a == b ? 0 : a < 4 && b < 4 ? 4 : a >= 9 && b >= 9 ? 3.9 : -0.1;
    assert_int_equal(sf_shared_groups_find(groups, worth, together, N), 2);
    for (size_t u = 0; u < N; u++)
        assert_int_equal(groups[u], u < 4 ? 1 : u >= 9 ? 2 : 0);
    for (size_t u = 0; u < 4; u++) /* a little with every member, which no pair alone would tell */
        together[5 * N + u] = together[u * N + 5] = 1.6;
    assert_int_equal(sf_shared_groups_find(groups, worth, together, N), 2);
    for (size_t u = 0; u < N; u++)
        assert_int_equal(groups[u], u < 4 || u == 5 ? 1 : u >= 9 ? 2 : 0);
    for (size_t a = 0; a < N; a++)
        for (size_t b = 0; b < N; b++)
            worth[a * N + b] = a + 1 == b || b + 1 == a ? 4 : -0.5; /* neighbours alone */
    assert_int_equal(sf_shared_groups_find(groups, worth, together, N), 0);
    assert_true(fabs(sf_shared_together(1, 2) - 3 / sqrt(2)) < 1e-12 && sf_shared_together(9, 9) == 4);
    assert_true(fabs(sf_shared_worth(1, 3) - (1 + 0.5641896) / 0.8256453) < 1e-5);
    assert_true(sf_shared_worth(3, 1) == sf_shared_worth(1, 3));
}

/* ---- a recording to test ---- */

typedef struct verdict {
    size_t items, judged, low, returning;
    sf_significance told;
} verdict;

static sf_mine_result *test_recording(verdict *v, const sf_recording *recording, sf_delay asked,
                                      uint32_t max_size, sf_significance_options options)
{
    sf_mine_input input = {.spikes = recording->spikes,
                           .spike_count = recording->spike_count,
                           .units = &recording->units,
                           .duration_ns = sf_recording_duration_ns(recording)};
    sf_mining_options mining;
    mining = sf_mining_options_default();
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
        assert_true((item->not_tested != SF_TESTABLE) == none);
        v->items++;
        v->judged += item->not_tested == SF_TESTABLE;
        v->low += item->q < 0.05;
        v->returning += item->not_tested == SF_UNIT_RETURNS;
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
    sf_recording recording = simulate(720, 4, 0.1, 600, NULL);
    verdict v;
    sf_mine_result_free(test_recording(&v, &recording, delay, 2, usual(19)));
    assert_int_equal(v.told.not_tested, SF_BURSTS_TOO_SHARP);
    assert_true(v.items == 552 && v.judged == 0 && v.told.candidates[2] == 0);
    sf_recording_clear(&recording);
}

static void a_group_has_no_verdict_and_the_others_have(void **state)
{
    (void)state;
    sf_recording recording = share(744, 8, 600);
    verdict v;
    sf_mine_result *result = test_recording(&v, &recording, delay, 2, usual(19));
    assert_true(v.told.not_tested == SF_TESTABLE && v.told.sharpness.groups == 1);
    assert_int_equal(v.told.cautions, SF_CAUTION_SHARED);
    for (size_t i = 0; i < result->count; i++) {
        sf_episode e;
        sf_mine_result_episode(result, i, &e);
        bool inside = e.units[0] < 8 && e.units[1] < 8;
        assert_int_equal(result->items[i].not_tested, inside ? SF_SHARED_EVENTS : SF_TESTABLE);
    }
    sf_mine_result_free(result);
    sf_significance_options always = usual(19);
    always.always = true;
    sf_mine_result_free(test_recording(&v, &recording, delay, 2, always));
    assert_int_equal(v.judged, v.items);
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
    assert_true(v.told.not_tested == SF_TESTABLE && v.judged == v.items);
    sf_mine_result_free(test_recording(&v, &recording, (sf_delay){0, longest + SF_MILLISECOND}, 2, options));
    assert_true(v.told.not_tested == SF_DELAYS_TOO_LONG && v.judged == 0);
    options.segment_ns = 2 * SF_SECOND;
    sf_mine_result_free(test_recording(&v, &recording, (sf_delay){0, longest + SF_MILLISECOND}, 2, options));
    assert_true(v.told.not_tested == SF_TESTABLE && v.judged == v.items);
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
            assert_int_equal(result->items[i].not_tested, returns ? SF_UNIT_RETURNS : SF_TESTABLE);
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
        for (unsigned t = 0; t < 3; t++) {
            sf_survey_job job = job_of(&recording, delay, 30 * SF_MILLISECOND);
            job.threads = 1 + 2 * t;
            job.segment_ns = SF_SECOND;
            assert_int_equal(sf_sharpness_measure(&told[t], NULL, &job, NULL), SF_OK);
        }
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
    uint32_t groups[24];
    sf_survey_job job = job_of(recording, delay, 30 * SF_MILLISECOND);
    return sf_sharpness_measure(&told, groups, &job, NULL);
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
        cmocka_unit_test(pairs_count_what_enumeration_gives),
        cmocka_unit_test(links_of_few_units_are_no_bursts),
        cmocka_unit_test(sharp_bursts_are_not_testable_and_smooth_ones_are),
        cmocka_unit_test(links_do_not_make_it_sharp),
        cmocka_unit_test(links_alone_tell_nothing),
        cmocka_unit_test(spikes_seen_twice_do_not_make_it_sharp),
        cmocka_unit_test(few_spikes_tell_nothing),
        cmocka_unit_test(fast_units_of_long_recordings_are_judged_as_those_of_short_ones),
        cmocka_unit_test(spikes_at_one_instant_take_no_longer),
        cmocka_unit_test(units_that_were_left_out_are_looked_at_too),
        cmocka_unit_test(many_spikes_are_chosen_as_few_are),
        cmocka_unit_test(a_group_is_found_and_the_others_are_tested),
        cmocka_unit_test(a_group_keeps_the_shifts_that_show_it),
        cmocka_unit_test(what_all_share_is_no_group),
        cmocka_unit_test(sets_of_pairs_that_stand_out_both_ways_are_groups),
        cmocka_unit_test(a_sharp_recording_has_no_verdict),
        cmocka_unit_test(a_group_has_no_verdict_and_the_others_have),
        cmocka_unit_test(delays_that_no_segment_holds_have_no_verdict),
        cmocka_unit_test(segments_are_longer_where_units_are_fast),
        cmocka_unit_test(returning_chains_are_neither_judged_nor_counted),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(memory_that_runs_out_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
