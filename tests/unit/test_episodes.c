/* SPDX-License-Identifier: Apache-2.0 */
/* <synfire/mine.h>: what sf_mine, sf_count and the test tell of episodes, and that all of them can be
 * stopped. */
#include "support/support.h"

#include "core/clock.h"
#include "core/memory.h"
#include "core/recording.h"
#include "mine/mine.h"
#include "oracle/count_oracle.h"

#include <limits.h>
#include <math.h>
#include <time.h>

#define MS SF_MILLISECOND
#define UNITS 6

/* ---- a recording in memory ---- */

static int by_time_and_unit(const void *a, const void *b)
{
    const sf_spike *left = a, *right = b;
    if (left->time_ns != right->time_ns) return left->time_ns < right->time_ns ? -1 : 1;
    return (left->unit > right->unit) - (left->unit < right->unit);
}

/* Six units for a minute, the first three a chain of 4 to 6 ms; units 0 and 1 are seen by one electrode. In
 * every tenth second all fire ten times as much. */
static void make_recording(sf_recording *recording, test_random *random)
{
    static sf_spike room[40000];
    size_t count = 0;
    *recording = (sf_recording){.recorded = {0, 60 * SF_SECOND}, .declared = true};
    for (uint32_t u = 0; u < UNITS; u++) {
        sf_unit unit = {.electrode = u < 2 ? 7 : (int32_t)(10 + u), .x_um = u, .y_um = 0};
        assert_int_equal(sf_units_add(&recording->units, &unit, NULL), SF_OK);
        for (int64_t ms = 0; ms < 60000; ms++) {
            double chance = ms / 1000 % 10 == 9 ? 0.04 : 0.004;
            if (test_random_unit(random) >= chance || count + 3 > sizeof room / sizeof *room) continue;
            int64_t at = ms * MS + (int64_t)test_random_below(random, MS);
            room[count++] = (sf_spike){.time_ns = at, .unit = u};
            for (uint32_t v = u + 1; u == 0 && v < 3 && test_random_below(random, 100) < 60; v++) {
                at += 4 * MS + 1 + (int64_t)test_random_below(random, 2 * MS);
                room[count++] = (sf_spike){.time_ns = at, .unit = v};
            }
        }
    }
    assert_int_equal(sf_units_finish(&recording->units, NULL), SF_OK);
    qsort(room, count, sizeof *room, by_time_and_unit);
    while (count > 0 && room[count - 1].time_ns >= recording->recorded.stop_ns)
        count--;
    recording->spikes = sf_resize(NULL, count, sizeof *room);
    memcpy(recording->spikes, room, count * sizeof *room);
    recording->spike_count = count;
}

static sf_recording recording;
static const sf_delay delay = {4 * MS, 6 * MS};

static int set_up(void **state)
{
    (void)state;
    test_random random = test_random_start("episodes", 11);
    make_recording(&recording, &random);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    sf_recording_clear(&recording);
    return 0;
}

static sf_mining_options options_for(double threshold)
{
    sf_mining_options options = sf_mining_options_default();
    options.delays = &delay;
    options.delay_count = 1;
    options.threshold = threshold;
    options.details = true;
    return options;
}

static sf_episodes_columns columns_of(const sf_episodes *episodes)
{
    sf_episodes_columns columns = {.size = sizeof columns};
    sf_episodes_get_columns(episodes, &columns);
    assert_int_equal(columns.size, sizeof columns);
    return columns;
}

/* The spikes of a span, and the count in them alone. */
static uint64_t count_within(const sf_episode *episode, sf_span span)
{
    size_t first = sf_spikes_lower_bound(recording.spikes, recording.spike_count, span.start_ns);
    size_t last = sf_spikes_lower_bound(recording.spikes, recording.spike_count, span.stop_ns);
    return oracle_count(recording.spikes + first, last - first, episode);
}

static const sf_span all = {INT64_MIN, INT64_MAX};

/* ---- what is told ---- */

static void check_columns(const sf_episodes_columns *told)
{
    size_t folded = 0;
    for (size_t i = 0; i < told->count; i++) {
        const sf_episode *episode = &told->episodes[i];
        sf_episode back = {
            .size = 2, .units = {episode->units[1], episode->units[0]}, .delays = {episode->delays[0]}};
        bool pair = episode->size == 2 && episode->units[0] != episode->units[1];
        assert_int_equal(told->counts[i], count_within(episode, all));
        assert_int_equal(told->details[i].occurrences, told->counts[i]);
        assert_int_equal(told->reverse[i], pair ? count_within(&back, all) : SF_NO_COUNT);
        double both = (double)told->counts[i] + (double)told->reverse[i];
        test_assert_same(told->asymmetry[i],
                         pair ? ((double)told->counts[i] - (double)told->reverse[i]) / both : NAN);
        for (uint32_t link = 0; link + 1 < episode->size; link++) {
            bool one = episode->units[link] + episode->units[link + 1] == 1;
            assert_int_equal(told->one_electrode[i] >> link & 1, one);
        }
        folded += told->parents[i] != SF_NO_PARENT;
        if (told->parents[i] != SF_NO_PARENT)
            assert_int_equal(told->episodes[told->parents[i]].size, episode->size + 1);
        for (size_t k = 0; k < told->span_count; k++)
            assert_true(told->span_counts[k * told->count + i] <= told->counts[i]);
    }
    assert_true(folded > 0);
}

static void what_is_found_is_told_as_slow_twins_have_it(void **state)
{
    (void)state;
    const sf_span spans[] = {{0, 9 * SF_SECOND}, {9 * SF_SECOND, 30 * SF_SECOND}};
    sf_mining_options options = options_for(30);
    options.repeats = true;
    options.spans = spans;
    options.span_count = 2;
    sf_episodes *episodes;
    assert_int_equal(sf_mine(&episodes, &recording, &options, NULL, NULL), SF_OK);
    sf_episodes_columns told = columns_of(episodes);
    assert_true(told.count > 10 && told.found == told.count && told.level_count >= 3);
    assert_int_equal(told.burst_count, 6);
    check_columns(&told);
    for (size_t i = 0; i < told.count; i++) {
        uint64_t within = 0;
        for (size_t k = 0; k < 2; k++) {
            assert_int_equal(told.span_counts[k * told.count + i], count_within(&told.episodes[i], spans[k]));
            within += told.span_counts[k * told.count + i] > 0;
        }
        assert_int_equal(told.stretches[i],
                         told.details[i].bursts > within ? told.details[i].bursts : within);
        assert_true(isnan(told.p[i]) && !told.worth_showing[i]);
    }
    assert_null(told.significance);
    assert_string_equal(told.ran.engine, "interval");
    assert_string_equal(told.ran.device, "cpu");
    sf_episodes_free(episodes);
}

static void the_defaults_are_those_of_the_command(void **state)
{
    (void)state;
    sf_episodes *episodes;
    assert_int_equal(sf_mine(&episodes, &recording, NULL, NULL, NULL), SF_OK);
    sf_episodes_columns told = columns_of(episodes);
    assert_true(told.count > 0 && told.threshold == 20 && told.details == NULL);
    assert_true(told.episodes[0].delays[0].low_ns == MS / 2 && told.episodes[0].delays[0].high_ns == 5 * MS);
    sf_episodes_free(episodes);
}

/* One unit that fires every so often, and what is frequent where nothing was asked for. */
static void expect_default(int64_t every_ns, size_t spikes, double threshold, const char *why)
{
    sf_recording regular = {
        .recorded = {0, (int64_t)spikes * every_ns}, .declared = true, .spike_count = spikes};
    sf_unit unit = {.electrode = -1};
    assert_int_equal(sf_units_add(&regular.units, &unit, NULL), SF_OK);
    regular.spikes = sf_alloc(regular.spike_count, sizeof *regular.spikes);
    for (size_t i = 0; i < regular.spike_count; i++)
        regular.spikes[i].time_ns = (int64_t)i * every_ns;
    assert_int_equal(sf_recording_finish(&regular, NULL), SF_OK);
    sf_episodes *episodes;
    assert_int_equal(sf_mine(&episodes, &regular, NULL, NULL, NULL), SF_OK);
    assert_true(fabs(columns_of(episodes).threshold - threshold) < 1e-6 * threshold);
    assert_string_equal(columns_of(episodes).threshold_why, why);
    assert_int_equal(columns_of(episodes).tick_ns, every_ns);
    sf_episodes_free(episodes);
    sf_recording_clear(&regular);
}

/* Ten times a second chance links units by (0.5,5] ms less often than one spike in 40; 500 times a second
 * more often. */
static void the_threshold_grows_with_the_recording(void **state)
{
    (void)state;
    expect_default(100 * MS, 300, 20, "the least by default");
    expect_default(100 * MS, 30000, 750, "a fortieth of a mean unit's spikes");
    const double rates_hz[] = {500, 500, 500};
    const sf_delay delays[] = {{MS / 2, 5 * MS}, {MS / 2, 5 * MS}};
    double two = sf_expected_count(2, rates_hz, delays, 60),
           three = sf_expected_count(3, rates_hz, delays, 60);
    assert_true(three < two && three > 750);
    expect_default(2 * MS, 30000, three + (two - three) / 4,
                   "a quarter of the way from what chance gives three mean units to what it gives two");
}

/* ---- which are told of ---- */

static void the_top_of_each_size_and_what_is_worth_it(void **state)
{
    (void)state;
    sf_mining_options options = options_for(30);
    sf_significance_options test = sf_significance_options_default();
    test.surrogates = 99;
    options.significance = &test;
    sf_episodes *every, *few;
    assert_int_equal(sf_mine(&every, &recording, &options, NULL, NULL), SF_OK);
    options.top = 1;
    options.top_worth = 2;
    assert_int_equal(sf_mine(&few, &recording, &options, NULL, NULL), SF_OK);
    sf_episodes_columns of_all = columns_of(every), told = columns_of(few);
    assert_true(of_all.worth >= 2 && of_all.worth < of_all.count);
    assert_int_equal(told.found, of_all.count);
    assert_int_equal(told.worth, of_all.worth);
    size_t next = 0, of_size = 0, worth = 0, total = 0;
    for (size_t i = 0; i < of_all.count; i++) {
        bool first = i == 0 || of_all.episodes[i].size != of_all.episodes[i - 1].size;
        of_size = first ? 1 : of_size + 1;
        bool is_worth = of_all.q[i] < 0.05 && of_all.counts[i] >= 20; /* all fire above 0.1 Hz */
        worth = (first ? 0 : worth) + is_worth;
        total += is_worth;
        assert_int_equal(of_all.worth_showing[i], is_worth);
        if (of_size > 1 && !(is_worth && worth <= 2)) continue;
        assert_memory_equal(&told.episodes[next], &of_all.episodes[i], sizeof *told.episodes);
        assert_int_equal(told.counts[next], of_all.counts[i]);
        test_assert_same(told.p[next], of_all.p[i]);
        test_assert_same(told.q[next++], of_all.q[i]);
    }
    assert_int_equal(next, told.count);
    assert_int_equal(total, of_all.worth);
    sf_episodes_free(every);
    sf_episodes_free(few);
}

/* A test that comes later tells what one asked for with the mining does. */
static void a_result_can_be_tested(void **state)
{
    (void)state;
    sf_mining_options options = options_for(30);
    sf_significance_options test = sf_significance_options_default();
    test.surrogates = 49;
    test.correction = SF_CORRECTION_RATE;
    sf_episodes *later, *at_once;
    assert_int_equal(sf_mine(&later, &recording, &options, NULL, NULL), SF_OK);
    size_t folded_before = 0, count = columns_of(later).count;
    double by_rates = 0, of_ratios = 0;
    for (size_t i = 0; i < count; i++) {
        sf_episodes_columns untested = columns_of(later);
        folded_before += untested.parents[i] != SF_NO_PARENT;
        by_rates += untested.expected[i];
        of_ratios += untested.ratio_low[i] + untested.ratio_high[i];
        assert_true(isnan(untested.expected_given_rest[i]));
    }
    assert_int_equal(sf_episodes_test(later, &test, NULL, NULL), SF_OK);
    options.significance = &test;
    assert_int_equal(sf_mine(&at_once, &recording, &options, NULL, NULL), SF_OK);
    sf_episodes_columns a = columns_of(later), b = columns_of(at_once);
    assert_true(a.count == b.count && a.count == count && folded_before > 0);
    size_t returning = 0;
    for (size_t i = 0; i < a.count; i++) {
        by_rates -= a.expected[i]; /* a test leaves what is expected by rates as it was, and what is of it */
        of_ratios -= a.ratio_low[i] + a.ratio_high[i];
        assert_int_equal(isnan(a.expected_given_rest[i]), isnan(a.p[i]));
        test_assert_same(a.expected_given_rest[i], b.expected_given_rest[i]);
        test_assert_same(a.p[i], b.p[i]);
        test_assert_same(a.q[i], b.q[i]);
        test_assert_same(a.p_first[i], b.p_first[i]);
        test_assert_same(a.p_last[i], b.p_last[i]);
        test_assert_same(a.expected[i], b.expected[i]);
        assert_int_equal(a.parents[i], b.parents[i]);
        assert_int_equal(a.not_tested[i], b.not_tested[i]);
        returning += a.not_tested[i] == SF_UNIT_RETURNS;
    }
    assert_true(fabs(by_rates) < 1e-6 && fabs(of_ratios) < 1e-6);
    assert_int_equal(a.returning, returning);
    assert_int_equal(a.significance->options.surrogates, 49);
    assert_true(a.significance->options.width_ns == 18 * MS &&
                a.significance->options.segment_ns == 1000 * MS);
    assert_true(a.significance->longest_delay_ns == 66666666);

    sf_significance_options analytic = sf_significance_options_default();
    analytic.kind = SF_SIGNIFICANCE_ANALYTIC;
    analytic.link = 0.01; /* below what rates give: 4 Hz and more, 2 ms */
    assert_int_equal(sf_episodes_test(later, &analytic, NULL, NULL), SF_OK);
    a = columns_of(later);
    assert_true(a.significance->by_chance > 0 && a.significance->by_chance <= a.count);
    for (size_t i = 0; i < a.count; i++)
        assert_true(isnan(a.q[i]) && !a.worth_showing[i]);
    sf_episodes_free(later);
    sf_episodes_free(at_once);
}

/* The sentence names what was asked, what was looked at and what was tested. */
static void a_paper_can_print_what_was_done(void **state)
{
    (void)state;
    sf_mining_options options = options_for(29.25); /* counts are whole */
    options.repeats = true;
    sf_episodes *episodes;
    char *words, looked_at[100];
    assert_int_equal(sf_mine(&episodes, &recording, &options, NULL, NULL), SF_OK);
    assert_int_equal(sf_episodes_methods(episodes, NULL, &words, NULL), SF_OK);
    snprintf(looked_at, sizeof looked_at, "from %zu spikes of 6 units in 60 s (data ", recording.spike_count);
    assert_non_null(
        strstr(words, "delays of (4,6] ms, units following themselves included, and a count of 30 or more"));
    assert_non_null(strstr(words, looked_at));
    assert_non_null(strstr(words, "; no test was made."));
    sf_release(words);
    sf_significance_options test = sf_significance_options_default();
    test.surrogates = 7;
    test.seed = 9;
    assert_int_equal(sf_episodes_test(episodes, &test, NULL, NULL), SF_OK);
    assert_int_equal(sf_episodes_methods(episodes, "cortex", &words, NULL), SF_OK);
    assert_non_null(strstr(words, "with the defaults of the preset cortex"));
    assert_non_null(strstr(words, "7 surrogates (seed 9, each spike train shifted by up to 18 ms"));
    sf_release(words);
    sf_episodes_free(episodes);
}

/* ---- counting ---- */

static const sf_episode chains[] = {
    {.size = 3, .units = {0, 1, 2}, .delays = {{4 * MS, 6 * MS}, {4 * MS, 6 * MS}}},
    {.size = 2, .units = {1, 0}, .delays = {{0, 20 * MS}}},
    {.size = 1, .units = {5}},
    {.size = 3, .units = {3, 4, 3}, .delays = {{0, 30 * MS}, {0, 300 * MS}}},
};
#define CHAINS (sizeof chains / sizeof *chains)

static void windows_count_as_if_they_were_all(void **state)
{
    (void)state;
    const sf_span span = {3 * SF_SECOND, 44 * SF_SECOND};
    sf_counting_options options = sf_counting_options_default();
    options.window_ns = 7 * SF_SECOND;
    options.hop_ns = 3 * SF_SECOND;
    options.from_ns = SF_SECOND;
    options.to_ns = 58 * SF_SECOND;
    options.spans = &span;
    options.span_count = 1;
    options.details = options.correlograms = true;
    static const char *const engines[] = {NULL, "reference", "mtpe"};
    for (size_t k = 0; k < 3; k++) {
        options.engine = engines[k];
        sf_episodes *counted;
        assert_int_equal(sf_count(&counted, &recording, chains, CHAINS, &options, NULL, NULL), SF_OK);
        sf_episodes_columns told = columns_of(counted);
        assert_true(told.count == CHAINS && told.window_count == 18 && told.last_is_partial);
        for (size_t i = 0; i < CHAINS; i++) {
            assert_int_equal(told.counts[i], count_within(&chains[i], all));
            assert_int_equal(told.span_counts[i], count_within(&chains[i], span));
            assert_int_equal(told.details[i].occurrences, told.counts[i]);
            for (size_t w = 0; w < told.window_count; w++)
                assert_int_equal(told.window_counts[w * CHAINS + i],
                                 count_within(&chains[i], told.windows[w]));
        }
        assert_int_equal(told.windows[17].start_ns, 52 * SF_SECOND);
        assert_int_equal(told.windows[17].stop_ns, 58 * SF_SECOND);
        assert_int_equal(told.correlogram_count, 5);
        assert_true(told.correlograms[2].from == 1 && told.correlograms[2].to == 0);
        assert_true(told.correlograms[4].bin_ns == 3 * MS && told.correlograms[4].half == 200);
        assert_true(told.p == NULL && told.levels == NULL && told.significance == NULL);
        assert_true(told.reverse[1] ==
                    count_within(&(sf_episode){.size = 2, .units = {0, 1}, .delays = {{0, 20 * MS}}}, all));
        assert_true(told.reverse[3] == SF_NO_COUNT && told.parents[1] == SF_NO_PARENT);
        sf_episodes_free(counted);
    }
}

/* The share that chance has in each bin of a pair's delays, and of a chain's. */
static void delays_are_told_beside_chance(void **state)
{
    (void)state;
    sf_counting_options options = sf_counting_options_default();
    options.details = true;
    sf_episodes *counted;
    assert_int_equal(sf_count(&counted, &recording, chains, CHAINS, &options, NULL, NULL), SF_OK);
    const sf_details *details = columns_of(counted).details;
    uint64_t spikes = 0;
    for (size_t i = 0; i < recording.spike_count; i++)
        spikes += recording.spikes[i].unit < 2;
    double fall = exp(-0.002 * (double)spikes / 60), sum = 0;
    for (size_t k = 0; k < SF_DELAY_BINS; k++) {
        assert_true(details[0].links[1].by_chance[k] == 0.1);
        sum += details[1].links[0].by_chance[k];
        if (k > 0)
            assert_true(fabs(details[1].links[0].by_chance[k] / details[1].links[0].by_chance[k - 1] - fall) <
                        1e-9);
    }
    assert_true(fabs(sum - 1) < 1e-9);
    sf_episodes_free(counted);
}

static void spikes_of_each_occurrence(void **state)
{
    (void)state;
    static const double told_on[] = {1, 2, 3, 4};
    for (int given = 0; given < 2; given++) {
        sf_occurrences *occurrences;
        assert_int_equal(
            sf_occurrences_list(&occurrences, &recording, chains, given ? told_on : NULL, CHAINS, NULL, NULL),
            SF_OK);
        sf_occurrences_columns told = {.size = sizeof told};
        sf_occurrences_get_columns(occurrences, &told);
        assert_true(told.count == CHAINS && told.recording == &recording);
        for (size_t i = 0; i < CHAINS; i++) {
            assert_int_equal(told.counts[i], count_within(&chains[i], all));
            assert_true(given ? told.expected[i] == told_on[i] : told.expected[i] > 0);
            for (size_t k = 0; k < told.counts[i]; k++)
                for (uint32_t link = 0; link + 1 < chains[i].size; link++) {
                    const int64_t *at = told.times_ns[i] + k * chains[i].size + link;
                    assert_true(at[1] - at[0] > chains[i].delays[link].low_ns &&
                                at[1] - at[0] <= chains[i].delays[link].high_ns);
                }
        }
        sf_occurrences_free(occurrences);
    }
}

static void episodes_as_text(void **state)
{
    (void)state;
    sf_episode read;
    sf_error error;
    char text[100], cut[10], id[SF_EPISODE_ID_SIZE], other[SF_EPISODE_ID_SIZE];
    const char *spelt = "e1 -(4,6]-> e2 -(4,6]-> e3";
    size_t length = sf_recording_print_episode(&recording, &chains[0], text, sizeof text);
    assert_string_equal(text, spelt);
    assert_int_equal(length, strlen(spelt));
    assert_int_equal(sf_recording_print_episode(&recording, &chains[0], NULL, 0), length);
    assert_int_equal(sf_recording_print_episode(&recording, &chains[0], cut, sizeof cut), length);
    assert_string_equal(cut, "e1 -(4,6]");
    assert_int_equal(sf_recording_parse_episode(&recording, text, &read, &error), SF_OK);
    assert_memory_equal(&read, &chains[0], sizeof read);
    sf_recording_episode_id(&recording, &read, id);
    sf_recording_episode_id(&recording, &chains[3], other);
    assert_true(strlen(id) == 16 && strcmp(id, other) != 0);
}

static void sharpness_of_delays(void **state)
{
    (void)state;
    sf_sharpness told;
    sf_error error;
    assert_int_equal(sf_recording_sharpness(&recording, &(sf_delay){MS, 5 * MS}, 1, &told, NULL, &error),
                     SF_OK);
    assert_true(told.pairs == UNITS * (UNITS - 1) && told.width_ns == 15 * MS && told.testable);
    test_assert_fails(sf_recording_sharpness(&recording, &(sf_delay){5, 5}, 1, &told, NULL, &error), &error,
                      SF_USAGE, NULL);
    test_assert_fails(
        sf_recording_sharpness(&recording, &(sf_delay){0, INT64_C(1) << 57}, 1, &told, NULL, &error), &error,
        SF_USAGE, "longer");
    test_assert_fails(sf_recording_sharpness(&recording, &(sf_delay){0, INT64_MAX}, 1, &told, NULL, &error),
                      &error, SF_USAGE, "too large");
}

/* ---- programs of another version ---- */

static void older_programs_know_fewer_fields(void **state)
{
    (void)state;
    sf_mining_options options = options_for(30);
    options.size = offsetof(sf_mining_options, top); /* what comes after is not read */
    options.top = 1;
    options.spans = (const sf_span *)(uintptr_t)8;
    options.span_count = 5;
    options.significance = (const sf_significance_options *)(uintptr_t)8;
    sf_episodes *episodes;
    assert_int_equal(sf_mine(&episodes, &recording, &options, NULL, NULL), SF_OK);
    struct {
        sf_episodes_columns columns;
        const char *after;
    } older = {.after = "untouched"};
    memset(&older.columns, 0x5a, sizeof older.columns);
    older.columns.size = offsetof(sf_episodes_columns, counts);
    sf_episodes_get_columns(episodes, &older.columns);
    assert_true(older.columns.count > 0 && older.columns.episodes[0].size == 2);
    unsigned char kept[sizeof older.columns.counts];
    memcpy(kept, &older.columns.counts, sizeof kept);
    for (size_t i = 0; i < sizeof kept; i++)
        assert_int_equal(kept[i], 0x5a);
    sf_episodes_free(episodes);
}

/* ---- what cannot be ---- */

static void refuse_mining(sf_mining_options options, sf_status code, const char *place, const char *words)
{
    sf_episodes *episodes;
    sf_error error = {0};
    test_assert_fails(sf_mine(&episodes, &recording, &options, NULL, &error), &error, code, words);
    assert_null(episodes);
    if (place != NULL) assert_string_equal(error.place, place);
}

static void what_makes_no_sense_is_refused(void **state)
{
    (void)state;
    sf_mining_options wrong = options_for(30);
    wrong.delay_count = 0;
    refuse_mining(wrong, SF_USAGE, NULL, "delay");
    wrong = options_for(-1);
    refuse_mining(wrong, SF_USAGE, "threshold", "found -1");
    wrong = options_for(0);
    wrong.threshold_kind = SF_THRESHOLD_RATE;
    refuse_mining(wrong, SF_USAGE, "threshold", "only a count has a default");
    wrong = options_for(30);
    wrong.max_size = 17;
    refuse_mining(wrong, SF_USAGE, "max_size", "2 to 16");
    wrong = options_for(30);
    wrong.engine = "best";
    refuse_mining(wrong, SF_USAGE, "engine", "best");
    wrong = options_for(30);
    wrong.device = "tpu";
    refuse_mining(wrong, SF_USAGE, "device", "tpu");
    wrong = options_for(30);
    wrong.most = 3;
    refuse_mining(wrong, SF_DATA, NULL, "more than 3");
    const sf_span backward = {5, 4};
    wrong = options_for(30);
    wrong.spans = &backward;
    wrong.span_count = 1;
    refuse_mining(wrong, SF_USAGE, "spans", "before");
    sf_significance_options test = sf_significance_options_default();
    test.surrogates = 0;
    wrong = options_for(30);
    wrong.significance = &test;
    refuse_mining(wrong, SF_USAGE, "surrogates", "found 0");
    wrong = options_for(30);
    wrong.size = 0;
    refuse_mining(wrong, SF_USAGE, "mining", "size");
}

static void refuse_counting(const sf_episode *episode, sf_counting_options options, sf_status code,
                            const char *place, const char *words)
{
    sf_episodes *counted;
    sf_error error = {0};
    test_assert_fails(sf_count(&counted, &recording, episode, 1, &options, NULL, &error), &error, code,
                      words);
    assert_null(counted);
    assert_string_equal(error.place, place);
}

static void what_cannot_be_counted_is_refused(void **state)
{
    (void)state;
    const sf_episode nobody = {.size = 2, .units = {0, 99}, .delays = {{0, 5}}};
    sf_counting_options options = sf_counting_options_default();
    refuse_counting(&nobody, options, SF_DATA, "", "#99");
    options.engine = "best";
    refuse_counting(chains, options, SF_USAGE, "engine", "best");
    options = sf_counting_options_default();
    options.hop_ns = 5;
    refuse_counting(chains, options, SF_USAGE, "window_ns", "0 ns");
    options.window_ns = 1;
    options.hop_ns = 1;
    refuse_counting(chains, options, SF_USAGE, "hop_ns", "10000000 windows");
    sf_episodes *counted;
    sf_error error;
    assert_int_equal(sf_count(&counted, &recording, chains, CHAINS, NULL, NULL, NULL), SF_OK);
    sf_significance_options none = sf_significance_options_default();
    none.surrogates = 0;
    test_assert_fails(sf_episodes_test(counted, &none, NULL, &error), &error, SF_USAGE, "found 0");
    sf_episodes_free(counted);
    sf_counting_options limited = sf_counting_options_default();
    limited.max_q = 0.05;
    test_assert_fails(sf_count(&counted, &recording, chains, CHAINS, &limited, NULL, &error), &error,
                      SF_USAGE, "needs a test");
    assert_string_equal(error.place, "max_q");
}

/* Given episodes are tested for themselves: as by the option of counting, in the order given, and what one
 * says does not depend on its parts; of limits what is counted too has what is left. */
static void given_episodes_are_tested(void **state)
{
    (void)state;
    static const sf_episode named[] = {
        {.size = 3, .units = {0, 1, 2}, .delays = {{4 * MS, 6 * MS}, {4 * MS, 6 * MS}}},
        {.size = 2, .units = {1, 0}, .delays = {{0, 9 * MS}}},
        {.size = 1, .units = {5}},
        {.size = 3, .units = {3, 4, 3}, .delays = {{0, 9 * MS}, {4 * MS, 6 * MS}}},
        {.size = 2, .units = {0, 1}, .delays = {{4 * MS, 6 * MS}}},
    };
    enum { NAMED = sizeof named / sizeof *named };
    sf_episodes *later, *at_once, *kept;
    sf_significance_options test = sf_significance_options_default();
    test.surrogates = 99;
    assert_int_equal(sf_count(&later, &recording, named, NAMED, NULL, NULL, NULL), SF_OK);
    assert_null(columns_of(later).p);
    assert_null(columns_of(later).expected_given_rest);
    double untested[NAMED];
    memcpy(untested, columns_of(later).expected, sizeof untested);
    assert_int_equal(sf_episodes_test(later, &test, NULL, NULL), SF_OK);
    sf_counting_options options = sf_counting_options_default();
    options.significance = &test;
    options.window_ns = 20 * SF_SECOND;
    assert_int_equal(sf_count(&at_once, &recording, named, NAMED, &options, NULL, NULL), SF_OK);
    options.max_p = 0.05;
    assert_int_equal(sf_count(&kept, &recording, named, NAMED, &options, NULL, NULL), SF_OK);
    sf_episodes_columns a = columns_of(later), b = columns_of(at_once), c = columns_of(kept);
    assert_true(a.count == NAMED && b.count == NAMED && c.count < NAMED && c.count > 0);
    assert_true(c.found == NAMED && c.passing == c.count && c.significance->options.found_only);
    size_t next = 0;
    for (size_t i = 0; i < NAMED; i++) {
        test_assert_same(a.p[i], b.p[i]);
        test_assert_same(a.q[i], b.q[i]);
        test_assert_same(a.expected[i], b.expected[i]);
        test_assert_same(a.expected[i], untested[i]);
        test_assert_same(a.expected_given_rest[i], b.expected_given_rest[i]);
        assert_int_equal(isnan(a.expected_given_rest[i]), isnan(a.p[i]));
        assert_true(a.counts[i] == b.counts[i] && a.needed[i] == b.needed[i]);
        if (!isnan(a.p[i])) assert_true((a.counts[i] >= a.needed[i]) == (a.q[i] < 0.05) && a.p[i] <= a.q[i]);
        if (!(a.p[i] <= 0.05)) continue;
        test_assert_same(c.q[next], a.q[i]);
        test_assert_same(c.expected_given_rest[next], a.expected_given_rest[i]);
        assert_true(c.counts[next] == a.counts[i] && c.windows != NULL);
        for (size_t w = 0; w < c.window_count; w++)
            assert_int_equal(c.window_counts[w * c.count + next], b.window_counts[w * b.count + i]);
        next++;
    }
    assert_int_equal(next, c.count);
    char *words;
    assert_int_equal(sf_episodes_methods(at_once, NULL, &words, NULL), SF_OK);
    assert_non_null(strstr(words, "given episodes in "));
    assert_non_null(strstr(words, "corrected for all candidates given, of all sizes and delays together"));
    sf_release(words);
    sf_episodes_free(later);
    sf_episodes_free(at_once);
    sf_episodes_free(kept);
}

/* ---- stopping ---- */

/* Stops at the n-th look, and notes at which steps it could have. */
typedef struct stopper {
    long left;
    const char *until; /* of look_until */
    char steps[400];
} stopper;

static bool look(void *user, const char *what, double done, double total)
{
    stopper *s = user;
    assert_true(done >= 0 && done <= total);
    if (strstr(s->steps, what) == NULL) {
        strcat(s->steps, what);
        strcat(s->steps, ";");
    }
    return s->left-- != 0;
}

static int mine_and_test(const sf_progress *progress, sf_error *error)
{
    sf_mining_options options = options_for(30);
    const sf_span span = {0, SF_SECOND};
    options.spans = &span;
    options.span_count = 1;
    options.engine = "reference";
    sf_significance_options test = sf_significance_options_default();
    test.surrogates = 5;
    options.significance = &test;
    sf_episodes *episodes;
    int status = sf_mine(&episodes, &recording, &options, progress, error);
    if (status == SF_OK) status = sf_episodes_test(episodes, &test, progress, error);
    char *words = NULL;
    if (status == SF_OK) status = sf_episodes_methods(episodes, NULL, &words, error);
    sf_release(words);
    sf_episodes_free(episodes);
    return status;
}

static int count_everything(const sf_progress *progress, sf_error *error)
{
    sf_counting_options options = sf_counting_options_default();
    options.window_ns = 20 * SF_SECOND;
    options.details = options.correlograms = true;
    sf_episodes *counted;
    int status = sf_count(&counted, &recording, chains, CHAINS, &options, progress, error);
    sf_episodes_free(counted);
    return status;
}

static int list_occurrences(const sf_progress *progress, sf_error *error)
{
    sf_occurrences *occurrences;
    int status = sf_occurrences_list(&occurrences, &recording, chains, NULL, CHAINS, progress, error);
    sf_occurrences_free(occurrences);
    return status;
}

static void every_long_call_can_be_stopped(void **state)
{
    (void)state;
    const struct {
        int (*call)(const sf_progress *progress, sf_error *error);
        const char *steps[6]; /* at which it looks */
    } calls[] = {
        {mine_and_test,
         {"counting size 2", "shifting trains", "counting spans", "counting", "looking at occurrences"}},
        {count_everything, {"counting", "counting windows", "looking at occurrences", "correlating"}},
        {list_occurrences, {"finding occurrences"}},
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        long looks = 0, live = sf_memory_live();
        for (int status = SF_CANCELLED; status != SF_OK; looks++) {
            stopper stop = {.left = looks};
            sf_progress progress = {look, &stop};
            sf_error error = {0};
            status = calls[i].call(&progress, &error);
            assert_int_equal(sf_memory_live(), live);
            if (stop.left < 0)
                test_assert_fails(status, &error, SF_CANCELLED, "stopped");
            else
                for (size_t k = 0; calls[i].steps[k] != NULL; k++)
                    assert_non_null(strstr(stop.steps, calls[i].steps[k]));
        }
        assert_true(looks > 3);
    }
}

/* Stops at a look, and lets so much time pass at each that the next question is a look again. */
static bool look_slowly(void *user, const char *what, double done, double total)
{
    nanosleep(&(struct timespec){.tv_nsec = 6 * MS}, NULL);
    return look(user, what, done, total);
}

static bool look_until(void *user, const char *what, double done, double total)
{
    const stopper *s = user;
    return look(user, what, done, total) && strcmp(what, s->until) != 0;
}

static size_t find_episode(const sf_episodes_columns *among, const sf_episode *episode)
{
    size_t i = 0;
    while (i < among->count && memcmp(&among->episodes[i], episode, sizeof *episode) != 0)
        i++;
    return i;
}

/* What is there is right, and what is said to be complete is. */
static void check_stopped(const sf_episodes_columns *told, const sf_episodes_columns *whole)
{
    size_t of_size[SF_EPISODE_MAX_SIZE + 1] = {0};
    for (size_t i = 0; i < told->count; i++) {
        size_t same = find_episode(whole, &told->episodes[i]);
        assert_true(same < whole->count);
        assert_int_equal(told->counts[i], whole->counts[same]);
        assert_true(isnan(told->p[i]) && isnan(told->q[i]) && told->not_tested[i] == SF_TESTABLE);
        if (told->details == NULL) assert_int_equal(told->reverse[i], SF_NO_COUNT);
        of_size[told->episodes[i].size]++;
    }
    for (size_t k = 0; k < told->level_count; k++) {
        const sf_mine_level *level = &told->levels[k];
        if (level->size > 1) assert_int_equal(level->frequent, of_size[level->size]);
        if (level->complete) assert_int_equal(level->frequent, whole->levels[k].frequent);
        assert_int_equal(level->candidates == SF_NO_COUNT, k > 0 && !told->levels[k - 1].complete);
        assert_true(k == 0 || told->levels[k - 1].complete || !level->complete);
        assert_true(level->complete || told->stopped == SF_STOPPED_SEARCHING);
    }
    assert_null(told->span_counts);
    assert_null(told->significance);
}

static void what_is_stopped_keeps_what_it_has(void **state)
{
    (void)state;
    static const char *const engines[] = {"interval", "ptpe"};
    sf_mining_options options = options_for(8);
    sf_significance_options test = sf_significance_options_default();
    test.surrogates = 40;
    options.repeats = options.keep_stopped = true;
    options.threads = 1;
    options.max_size = 5;
    options.spans = &all;
    options.span_count = 1;
    for (size_t e = 0; e < 2; e++) {
        options.engine = engines[e];
        options.significance = NULL;
        sf_episodes *complete, *stopped;
        assert_int_equal(sf_mine(&complete, &recording, &options, NULL, NULL), SF_OK);
        sf_episodes_columns whole = columns_of(complete);
        assert_int_equal(whole.stopped, SF_NOT_STOPPED);
        options.significance = &test;
        bool seen[4] = {false}, cut = false;
        for (int looks = 0; !seen[SF_NOT_STOPPED]; looks = looks < 8 ? looks + 1 : looks * 4 / 3) {
            stopper stop = {.left = looks};
            sf_progress progress = {e == 0 && looks < 20 ? look_slowly : look, &stop};
            sf_error error = {0};
            int status = sf_mine(&stopped, &recording, &options, &progress, &error);
            assert_non_null(stopped);
            sf_episodes_columns told = columns_of(stopped);
            seen[told.stopped] = true;
            if (told.stopped == SF_STOPPED_SEARCHING) check_stopped(&told, &whole);
            for (size_t k = 0; k < told.level_count; k++)
                cut = cut || (!told.levels[k].complete && told.levels[k].frequent > 0 &&
                              told.levels[k].frequent < whole.levels[k].frequent);
            if (told.stopped != SF_NOT_STOPPED) test_assert_fails(status, &error, SF_CANCELLED, "stopped");
            sf_episodes_free(stopped);
        }
        assert_true(seen[SF_STOPPED_SEARCHING]);
        assert_true(cut || e == 1); /* that engine looks once a size */
        static const struct {
            const char *step;
            sf_stopped stopped;
        } later[] = {{"shifting trains", SF_STOPPED_TESTING}, {"counting spans", SF_STOPPED_TELLING}};
        for (size_t i = 0; i < 2; i++) {
            stopper stop = {.left = LONG_MAX, .until = later[i].step};
            sf_progress progress = {look_until, &stop};
            assert_int_equal(sf_mine(&stopped, &recording, &options, &progress, NULL), SF_CANCELLED);
            sf_episodes_columns told = columns_of(stopped);
            assert_int_equal(told.stopped, later[i].stopped);
            assert_int_equal(told.count, whole.count);
            if (told.stopped == SF_STOPPED_TESTING) check_stopped(&told, &whole);
            sf_episodes_free(stopped);
        }
        sf_episodes_free(complete);
    }
}

/* Windows until then, and all that is known at once. */
static void counting_that_is_stopped_keeps_its_windows(void **state)
{
    (void)state;
    sf_counting_options options = sf_counting_options_default();
    options.window_ns = 7 * SF_SECOND;
    options.details = options.correlograms = options.keep_stopped = true;
    sf_episodes *complete, *stopped;
    assert_int_equal(sf_count(&complete, &recording, chains, CHAINS, &options, NULL, NULL), SF_OK);
    sf_episodes_columns whole = columns_of(complete);
    size_t kept = 0, cut = 0;
    int status = SF_CANCELLED;
    for (int looks = 0; status != SF_OK; looks++) {
        stopper stop = {.left = looks};
        sf_progress progress = {look, &stop};
        status = sf_count(&stopped, &recording, chains, CHAINS, &options, &progress, NULL);
        if (stopped == NULL) {
            assert_int_equal(kept, 0); /* later ones keep what is counted */
            continue;
        }
        sf_episodes_columns told = columns_of(stopped);
        kept++;
        assert_memory_equal(told.counts, whole.counts, CHAINS * sizeof *whole.counts);
        assert_memory_equal(told.window_counts, whole.window_counts,
                            told.window_count * CHAINS * sizeof *whole.window_counts);
        cut += told.window_count > 0 && told.window_count < whole.window_count;
        assert_int_equal(told.last_is_partial, told.window_count == whole.window_count);
        assert_int_equal(told.stopped, status == SF_OK ? SF_NOT_STOPPED : SF_STOPPED_TELLING);
        assert_int_equal(told.correlograms == NULL, status != SF_OK);
        assert_true(told.reverse != NULL && told.parents != NULL);
        sf_episodes_free(stopped);
    }
    assert_true(kept > 5 && cut > 3 && whole.last_is_partial);
    sf_episodes_free(complete);
}

static int everything(void *context)
{
    (void)context;
    int status = mine_and_test(NULL, NULL);
    if (status == SF_OK) status = count_everything(NULL, NULL);
    return status == SF_OK ? list_occurrences(NULL, NULL) : status;
}

/* Of fewer spikes, so that there are fewer allocations to fail. */
static void memory_may_be_out(void **state)
{
    (void)state;
    size_t count = recording.spike_count;
    recording.spike_count = 600;
    test_fail_every_allocation(everything, NULL);
    recording.spike_count = count;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_found_is_told_as_slow_twins_have_it),
        cmocka_unit_test(the_defaults_are_those_of_the_command),
        cmocka_unit_test(the_threshold_grows_with_the_recording),
        cmocka_unit_test(the_top_of_each_size_and_what_is_worth_it),
        cmocka_unit_test(a_result_can_be_tested),
        cmocka_unit_test(a_paper_can_print_what_was_done),
        cmocka_unit_test(windows_count_as_if_they_were_all),
        cmocka_unit_test(delays_are_told_beside_chance),
        cmocka_unit_test(spikes_of_each_occurrence),
        cmocka_unit_test(episodes_as_text),
        cmocka_unit_test(sharpness_of_delays),
        cmocka_unit_test(older_programs_know_fewer_fields),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(what_cannot_be_counted_is_refused),
        cmocka_unit_test(given_episodes_are_tested),
        cmocka_unit_test(every_long_call_can_be_stopped),
        cmocka_unit_test(what_is_stopped_keeps_what_it_has),
        cmocka_unit_test(counting_that_is_stopped_keeps_its_windows),
        cmocka_unit_test(memory_may_be_out),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
