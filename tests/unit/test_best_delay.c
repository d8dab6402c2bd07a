/* SPDX-License-Identifier: Apache-2.0 */
/* Delays that are searched: `0:16/8` is an interval and its parts, and each pair of units keeps the one in
 * which it stands out most. */
#include "support/support.h"

#include "core/clock.h"
#include "core/memory.h"
#include "core/recording.h"
#include "mine/best_delay.h"
#include "mine/significance.h"

#include <math.h>

#define MS SF_MILLISECOND
#define UNITS 5
#define LEAST 5
#define SECONDS 40

/* ---- how they are written ---- */

static void expect_delays(const char *text, const sf_delay *expected, size_t expected_count)
{
    sf_delay delays[64];
    size_t count;
    assert_int_equal(sf_delays_parse(delays, 64, &count, text, NULL), SF_OK);
    assert_int_equal(count, expected_count);
    assert_memory_equal(delays, expected, count * sizeof *delays);
}

static void an_interval_is_cut_into_halves_and_halves_again(void **state)
{
    (void)state;
    expect_delays("0.5:20/4",
                  (const sf_delay[]){{500000, 20000000},
                                     {500000, 10250000},
                                     {10250000, 20000000},
                                     {500000, 5375000},
                                     {5375000, 10250000},
                                     {10250000, 15125000},
                                     {15125000, 20000000}},
                  7);
    expect_delays("20:40,0:0.000003/2", (const sf_delay[]){{20 * MS, 40 * MS}, {0, 3}, {0, 1}, {1, 3}}, 4);
    sf_delay delays[64];
    size_t count;
    assert_int_equal(sf_delays_parse(delays, 64, &count, "0:16/16", NULL), SF_OK);
    assert_int_equal(count, 31);
    assert_true(delays[30].low_ns == 15 * MS && delays[30].high_ns == 16 * MS);
}

static void parts_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {"0:5/",    "0:5/1",        "0:5/3",       "0:5/32", "0/2:5",
                                        "0:5/2/2", "0:0.000001/2", "0:5/2,0:2.5", "0:5/-2"};
    sf_delay delays[64];
    size_t count;
    sf_error error;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(sf_delays_parse(delays, 64, &count, wrong[i], &error), SF_USAGE);
    assert_int_equal(sf_delays_parse(delays, 64, &count, "0:5/3", &error), SF_USAGE);
    assert_non_null(strstr(error.text, "with /2, /4, /8 or /16 to search its parts"));
    assert_int_equal(sf_delays_parse(delays, 6, &count, "0:5/4", &error), SF_USAGE);
    assert_non_null(strstr(error.text, "at most 6 delay intervals"));
}

static void intervals_that_overlap_are_one_question(void **state)
{
    (void)state;
    const sf_delay delays[] = {{5, 8}, {0, 4}, {3, 5}, {7, 9}, {20, 30}, {9, 10}};
    const uint32_t expected[] = {0, 1, 1, 0, 4, 5};
    uint32_t groups[6];
    assert_int_equal(sf_delays_group(groups, delays, 6, NULL), SF_OK);
    assert_memory_equal(groups, expected, sizeof expected);
    assert_true(sf_delays_overlap(delays, 6) && sf_delays_overlap(delays, 3));
    assert_false(sf_delays_overlap(delays, 2) || sf_delays_overlap(delays + 4, 2) ||
                 sf_delays_overlap(delays, 0));
}

/* ---- a recording in memory ---- */

static sf_recording recording;
static sf_delay delays[15];
static size_t delay_count;

static int by_time_and_unit(const void *a, const void *b)
{
    const sf_spike *left = a, *right = b;
    if (left->time_ns != right->time_ns) return left->time_ns < right->time_ns ? -1 : 1;
    return (left->unit > right->unit) - (left->unit < right->unit);
}

/* Unit 1 often follows unit 0 after 2 to 4 ms, and unit 2 follows that after 10 to 12 ms. */
static int set_up(void **state)
{
    (void)state;
    static sf_spike room[20000];
    test_random random = test_random_start("best delay", 5);
    size_t count = 0;
    recording = (sf_recording){.recorded = {0, SECONDS * SF_SECOND}, .declared = true};
    for (uint32_t u = 0; u < UNITS; u++) {
        sf_unit unit = {.electrode = -1};
        assert_int_equal(sf_units_add(&recording.units, &unit, NULL), SF_OK);
        for (int64_t ms = 0; ms < SECONDS * 1000; ms++) {
            if (test_random_unit(&random) >= 0.01 || count + 3 > sizeof room / sizeof *room) continue;
            int64_t at = ms * MS + (int64_t)test_random_below(&random, MS);
            room[count++] = (sf_spike){.time_ns = at, .unit = u};
            if (u != 0 || test_random_below(&random, 100) >= 30) continue;
            at += 2 * MS + 1 + (int64_t)test_random_below(&random, 2 * MS);
            room[count++] = (sf_spike){.time_ns = at, .unit = 1};
            at += 10 * MS + 1 + (int64_t)test_random_below(&random, 2 * MS);
            room[count++] = (sf_spike){.time_ns = at, .unit = 2};
        }
    }
    assert_int_equal(sf_units_finish(&recording.units, NULL), SF_OK);
    qsort(room, count, sizeof *room, by_time_and_unit);
    while (count > 0 && room[count - 1].time_ns >= recording.recorded.stop_ns)
        count--;
    recording.spikes = sf_resize(NULL, count, sizeof *room);
    memcpy(recording.spikes, room, count * sizeof *room);
    recording.spike_count = count;
    return sf_delays_parse(delays, 15, &delay_count, "0:16/8", NULL);
}

static int tear_down(void **state)
{
    (void)state;
    sf_recording_clear(&recording);
    return 0;
}

static sf_mining_options options_for(uint32_t max_size)
{
    sf_mining_options options = sf_mining_options_default();
    options.delays = delays;
    options.delay_count = delay_count;
    options.threshold = LEAST;
    options.max_size = max_size;
    options.device = "cpu";
    return options;
}

static sf_episodes *mine(const sf_mining_options *options, sf_episodes_columns *told)
{
    sf_episodes *episodes;
    assert_int_equal(sf_mine(&episodes, &recording, options, NULL, NULL), SF_OK);
    *told = (sf_episodes_columns){.size = sizeof *told};
    sf_episodes_get_columns(episodes, told);
    return episodes;
}

/* ---- what is kept ---- */

/* By enumeration: a count in each interval, against constant rates. */
static sf_delay slow_best(uint32_t from, uint32_t to, uint64_t *best_count)
{
    sf_episode pairs[15];
    sf_episodes *counted;
    sf_episodes_columns told = {.size = sizeof told};
    for (size_t d = 0; d < delay_count; d++)
        pairs[d] = (sf_episode){.size = 2, .units = {from, to}, .delays = {delays[d]}};
    assert_int_equal(sf_count(&counted, &recording, pairs, delay_count, NULL, NULL, NULL), SF_OK);
    sf_episodes_get_columns(counted, &told);
    double best = -INFINITY;
    sf_delay found = {0, 0};
    for (size_t d = 0; d < delay_count; d++) {
        double above = ((double)told.counts[d] - told.expected[d]) / sqrt(fmax(told.expected[d], 1));
        if (told.counts[d] >= LEAST && above > best) {
            best = above;
            found = delays[d];
            *best_count = told.counts[d];
        }
    }
    sf_episodes_free(counted);
    return found;
}

static void each_pair_keeps_the_interval_it_stands_out_most_in(void **state)
{
    (void)state;
    sf_mining_options options = options_for(2);
    sf_episodes_columns told;
    sf_episodes *episodes = mine(&options, &told);
    assert_int_equal(told.count, UNITS * (UNITS - 1));
    assert_int_equal(told.levels[1].candidates, UNITS * (UNITS - 1) * delay_count);
    for (size_t i = 0; i < told.count; i++) {
        uint64_t count = 0;
        const sf_episode *pair = &told.episodes[i];
        sf_delay best = slow_best(pair->units[0], pair->units[1], &count);
        assert_memory_equal(&best, &pair->delays[0], sizeof best);
        assert_int_equal(told.counts[i], count);
    }
    sf_episodes_free(episodes);
}

static bool is_chain(const sf_episode *e)
{
    return e->size == 3 && e->units[0] == 0 && e->units[1] == 1 && e->units[2] == 2;
}

static void a_chain_has_the_delays_of_its_links_by_every_engine(void **state)
{
    (void)state;
    static const char *const engines[] = {"interval", "reference", "ptpe", "two-pass"};
    sf_mining_options options = options_for(3);
    sf_episodes_columns first, other;
    sf_episodes *episodes = mine(&options, &first);
    size_t chains = 0;
    for (size_t i = 0; i < first.count; i++)
        if (is_chain(&first.episodes[i])) {
            chains++;
            assert_true(first.episodes[i].delays[0].low_ns == 2 * MS &&
                        first.episodes[i].delays[0].high_ns == 4 * MS);
            assert_true(first.episodes[i].delays[1].low_ns == 10 * MS &&
                        first.episodes[i].delays[1].high_ns == 12 * MS);
        }
    assert_int_equal(chains, 1);
    for (size_t e = 1; e < sizeof engines / sizeof *engines; e++) {
        options.engine = engines[e];
        options.threads = 1;
        sf_episodes *again = mine(&options, &other);
        assert_int_equal(other.count, first.count);
        assert_memory_equal(other.episodes, first.episodes, first.count * sizeof *first.episodes);
        assert_memory_equal(other.counts, first.counts, first.count * sizeof *first.counts);
        sf_episodes_free(again);
    }
    sf_episodes_free(episodes);
}

static void intervals_that_do_not_overlap_are_links_of_their_own(void **state)
{
    (void)state;
    sf_mining_options options = options_for(2);
    options.delays = delays + 1; /* the halves */
    options.delay_count = 2;
    sf_episodes_columns told;
    sf_episodes *episodes = mine(&options, &told);
    assert_int_equal(told.count, 2 * UNITS * (UNITS - 1));
    sf_episodes_free(episodes);
}

/* ---- what q and p are of ---- */

/* All pairs in all intervals, tested as one family. */
static sf_mine_result *test_all(sf_mining_options *mining, const sf_significance_options *test)
{
    sf_mine_result *result;
    sf_significance told;
    sf_mine_input input = {.spikes = recording.spikes,
                           .spike_count = recording.spike_count,
                           .units = &recording.units,
                           .duration_ns = SECONDS * SF_SECOND};
    *mining = sf_mining_options_default();
    mining->delays = delays;
    mining->delay_count = delay_count;
    mining->threshold = LEAST;
    mining->max_size = 2;
    assert_int_equal(sf_mine_spikes(&result, &input, mining, NULL, NULL), SF_OK);
    assert_int_equal(sf_significance_test(&told, result, &input, mining, test, NULL, NULL), SF_OK);
    return result;
}

static const sf_mine_item *find(const sf_mine_result *all, const sf_episode *pair)
{
    for (size_t i = 0; i < all->count; i++) {
        sf_episode episode;
        sf_mine_result_episode(all, i, &episode);
        if (memcmp(&episode, pair, sizeof episode) == 0) return &all->items[i];
    }
    return NULL;
}

static void q_is_of_all_pairs_in_all_intervals_and_p_of_all_of_the_pair(void **state)
{
    (void)state;
    sf_significance_options test = sf_significance_options_default();
    test.surrogates = 200;
    test.device = "cpu";
    sf_mining_options options = options_for(2);
    sf_mining_options mining;
    options.significance = &test;
    sf_episodes_columns told;
    sf_episodes *episodes = mine(&options, &told);
    sf_mine_result *all = test_all(&mining, &test);
    size_t links = 0, reverses = 0, multiplied = 0;
    for (size_t i = 0; i < told.count; i++) {
        const sf_episode *pair = &told.episodes[i];
        const sf_mine_item *item = find(all, pair);
        assert_non_null(item);
        bool link = told.q[i] < 0.05;
        links += link;
        reverses += told.not_tested[i] == SF_REVERSE_OF_LINK;
        if (told.not_tested[i] == SF_REVERSE_OF_LINK) {
            assert_true(isnan(told.p[i]) && pair->units[0] > pair->units[1]);
            continue;
        }
        test_assert_same(told.q[i], item->q);
        test_assert_same(told.p[i], fmin(15 * item->p, item->q));
        multiplied += told.p[i] < item->q;
    }
    /* 0 -> 1, 1 -> 2 and 0 -> 2; backwards another interval stands out, but it is of the same question */
    assert_true(links == 3 && reverses == 3 && multiplied > 0);
    test.correction = SF_CORRECTION_RATE;
    assert_int_equal(sf_episodes_test(episodes, &test, NULL, NULL), SF_OK);
    sf_episodes_get_columns(episodes, &told);
    for (size_t i = 0; i < told.count; i++)
        if (told.not_tested[i] == SF_TESTABLE)
            test_assert_same(told.p[i], fmin(15 * find(all, &told.episodes[i])->p, 1));
    sf_mine_result_free(all);
    sf_episodes_free(episodes);
}

static void a_sentence_says_that_one_was_chosen(void **state)
{
    (void)state;
    sf_mining_options options = options_for(2);
    sf_episodes_columns told;
    char *words;
    sf_episodes *episodes = mine(&options, &told);
    assert_int_equal(sf_episodes_methods(episodes, NULL, &words, NULL), SF_OK);
    assert_non_null(
        strstr(words, "; of intervals that overlap each pair has the one in which it stands out most"));
    sf_release(words);
    sf_episodes_free(episodes);
}

static int search(void *context)
{
    (void)context;
    sf_mining_options options = options_for(2);
    sf_significance_options test = sf_significance_options_default();
    sf_episodes *episodes = NULL;
    test.surrogates = 2;
    options.delay_count = 3;
    options.significance = &test;
    options.threads = test.threads = 1;
    int status = sf_mine(&episodes, &recording, &options, NULL, NULL);
    sf_episodes_free(episodes);
    return status;
}

static void it_survives_a_lack_of_memory(void **state)
{
    (void)state;
    test_fail_every_allocation(search, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_interval_is_cut_into_halves_and_halves_again),
        cmocka_unit_test(parts_that_make_no_sense_are_refused),
        cmocka_unit_test(intervals_that_overlap_are_one_question),
        cmocka_unit_test(each_pair_keeps_the_interval_it_stands_out_most_in),
        cmocka_unit_test(a_chain_has_the_delays_of_its_links_by_every_engine),
        cmocka_unit_test(intervals_that_do_not_overlap_are_links_of_their_own),
        cmocka_unit_test(q_is_of_all_pairs_in_all_intervals_and_p_of_all_of_the_pair),
        cmocka_unit_test(a_sentence_says_that_one_was_chosen),
        cmocka_unit_test(it_survives_a_lack_of_memory),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
