/* SPDX-License-Identifier: Apache-2.0 */
/* Every engine and every way of mining against enumeration, on small streams full of ties and repeats. */
#include "support/support.h"

#include "core/episode.h"
#include "core/memory.h"
#include "mine/engine.h"
#include "mine/lanes.h"
#include "mine/mine.h"
#include "oracle/count_oracle.h"
#include "window/pair_counts.h"

#define HOURS_10 (INT64_C(36000) * 1000000000)

static uint64_t count_by(const char *engine, unsigned threads, const sf_spike *spikes, size_t count,
                         const sf_episode *episode, const sf_span *span)
{
    sf_counter *counter;
    uint64_t result = UINT64_MAX;
    assert_int_equal(sf_counter_open(&counter, spikes, count, 3, episode, 1, engine, threads, NULL), SF_OK);
    assert_int_equal(sf_counter_count(counter, span, &result, NULL), SF_OK);
    sf_counter_close(counter);
    return result;
}

static void engines_count_what_the_definition_says(void **state)
{
    (void)state;
    test_random random = test_random_start("engines", 2);
    uint64_t total = 0;
    for (int round = 0; round < test_rounds(5000); round++) {
        sf_spike *spikes;
        size_t count = test_random_stream(&random, &spikes, test_random_below(&random, 24), 3, 12);
        sf_episode episode = test_random_episode(&random, 4, 3, 6);
        uint64_t expected = oracle_count_brute(spikes, count, &episode);
        for (size_t i = 0; sf_engines[i] != NULL; i++) {
            uint64_t found = count_by(sf_engines[i]->name, 1, spikes, count, &episode, NULL);
            if (found != expected)
                fail_msg("round %d: %s counts %llu, not %llu", round, sf_engines[i]->name,
                         (unsigned long long)found, (unsigned long long)expected);
        }
        total += expected;
        free(spikes);
    }
    assert_true(test_is_short() || total > 5000);
}

/* Many episodes at once share prefixes, come back in their own order, and count slices as if alone. */
static void a_counter_counts_many_episodes_in_slices(void **state)
{
    (void)state;
    test_random random = test_random_start("counter", 3);
    for (int round = 0; round < test_rounds(600); round++) {
        sf_spike *spikes;
        size_t count = test_random_stream(&random, &spikes, test_random_below(&random, 120), 3, 100);
        sf_episode episodes[150];
        uint64_t counts[150];
        size_t episode_count = test_random_below(&random, 150);
        for (size_t i = 0; i < episode_count; i++)
            episodes[i] = test_random_episode(&random, 5, 3, 4);
        const sf_engine *chosen = sf_engines[round % 6];
        const char *engine = chosen->name;
        unsigned threads = chosen->threaded ? 1 + (unsigned)test_random_below(&random, 12) : 1;
        sf_counter *counter;
        assert_int_equal(
            sf_counter_open(&counter, spikes, count, 3, episodes, episode_count, engine, threads, NULL),
            SF_OK);
        assert_string_equal(sf_counter_engine(counter), engine);
        for (int slice = 0; slice < 3; slice++) {
            sf_span span = {.start_ns = (int64_t)test_random_below(&random, 120) - 10};
            span.stop_ns = span.start_ns + (int64_t)test_random_below(&random, 120);
            size_t first = sf_spikes_lower_bound(spikes, count, span.start_ns);
            size_t last = sf_spikes_lower_bound(spikes, count, span.stop_ns);
            assert_int_equal(sf_counter_count(counter, &span, counts, NULL), SF_OK);
            for (size_t i = 0; i < episode_count; i++)
                assert_int_equal(counts[i], oracle_count(spikes + first, last - first, &episodes[i]));
        }
        sf_counter_close(counter);
        free(spikes);
    }
}

/* ---- mining ---- */

typedef struct trial {
    sf_spike *spikes;
    size_t count;
    sf_units units;
    sf_delay delays[3];
    sf_mining_options options;
    sf_mine_input known; /* pairs, and how many spikes each unit has */
} trial;

static void random_delays(trial *t, test_random *random)
{
    t->options.delay_count = 1 + test_random_below(random, 3);
    t->options.delays = t->delays;
    for (size_t i = 0; i < t->options.delay_count;) {
        int64_t low = (int64_t)test_random_below(random, 8);
        t->delays[i] = (sf_delay){low, low + 1 + (int64_t)test_random_below(random, 25)};
        bool repeated = false;
        for (size_t k = 0; k < i; k++)
            repeated = repeated || memcmp(&t->delays[k], &t->delays[i], sizeof *t->delays) == 0;
        i += !repeated;
    }
}

static void make_units(sf_units *units, uint32_t count)
{
    *units = (sf_units){0};
    for (uint32_t i = 0; i < count; i++) {
        sf_unit unit = {.x_um = 10.0 * i, .y_um = 0, .electrode = -1};
        assert_int_equal(sf_units_add(units, &unit, NULL), SF_OK);
    }
    assert_int_equal(sf_units_finish(units, NULL), SF_OK);
}

/* A stream of at most 4 units, sometimes crowded enough for merging to be cheaper than walking. */
static void set_up_trial(trial *t, test_random *random)
{
    uint32_t units = 1 + (uint32_t)test_random_below(random, 4);
    make_units(&t->units, units);
    int64_t last = 20 + (int64_t)test_random_below(random, 200);
    t->count = test_random_stream(random, &t->spikes, test_random_below(random, 150), units, last);
    t->known = (sf_mine_input){0};
    t->options = sf_mining_options_default();
    random_delays(t, random);
    t->options.threshold = 0.5 + (double)test_random_below(random, 16) / 2;
    t->options.repeats = test_random_below(random, 2) != 0;
    t->options.min_distance_um = units > 1 && test_random_below(random, 4) == 0 ? 15 : 0;
    t->options.threads = 1;
    t->options.max_size = t->options.delay_count == 1 ? 4 : 3;
}

static void tear_down_trial(trial *t)
{
    free(t->spikes);
    sf_units_free(&t->units);
}

static sf_mine_input input_of(const trial *t)
{
    sf_mine_input input = t->known;
    input.spikes = t->spikes;
    input.spike_count = t->count;
    input.units = &t->units;
    input.duration_ns = 1000;
    return input;
}

static sf_mine_result *mine(const trial *t)
{
    sf_mine_input input = input_of(t);
    sf_mine_result *result;
    sf_error error;
    int status = sf_mine_spikes(&result, &input, &t->options, NULL, &error);
    if (status != SF_OK) fail_msg("%s", error.text);
    return result;
}

/* Whether the rules let the episode be a candidate at all. */
static bool is_allowed(const trial *t, const sf_episode *episode)
{
    for (uint32_t i = 0; i + 1 < episode->size; i++) {
        uint32_t from = episode->units[i], to = episode->units[i + 1];
        double distance = t->units.items[to].x_um - t->units.items[from].x_um;
        if (from == to ? !t->options.repeats
                       : distance * distance < t->options.min_distance_um * t->options.min_distance_um)
            return false;
    }
    return true;
}

/* Calls itself for every episode that continues this one; returns how many are frequent and checks that each
 * is in the result. */
static size_t enumerate(const trial *t, const sf_mine_result *result, const sf_episode *prefix)
{
    size_t frequent = 0;
    for (uint32_t u = 0; u < t->units.count; u++) {
        for (size_t d = 0; d < (prefix->size > 0 ? t->options.delay_count : 1); d++) {
            sf_episode episode = *prefix;
            if (episode.size > 0) episode.delays[episode.size - 1] = t->delays[d];
            episode.units[episode.size++] = u;
            uint64_t count = oracle_count(t->spikes, t->count, &episode);
            size_t found = 0;
            for (size_t i = 0; i < result->count; i++) {
                sf_episode other;
                sf_mine_result_episode(result, i, &other);
                if (sf_episode_compare(&episode, &other) == 0 && ++found == 1)
                    assert_int_equal(result->items[i].count, count);
            }
            bool is_frequent = (double)count >= t->options.threshold && is_allowed(t, &episode);
            assert_int_equal(found, is_frequent && episode.size > 1);
            frequent += found;
            if (episode.size < t->options.max_size) frequent += enumerate(t, result, &episode);
        }
    }
    return frequent;
}

static void assert_ordered(const sf_mine_result *result)
{
    for (size_t i = 1; i < result->count; i++) {
        const sf_mine_item *a = &result->items[i - 1], *b = &result->items[i];
        assert_true(a->size <= b->size);
        if (a->size < b->size) continue;
        assert_true(a->count >= b->count);
        sf_episode left, right;
        sf_mine_result_episode(result, i - 1, &left);
        sf_mine_result_episode(result, i, &right);
        assert_true(a->count > b->count || sf_episode_compare(&left, &right) < 0);
    }
}

static void assert_same_result(const sf_mine_result *a, const sf_mine_result *b)
{
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->level_count, b->level_count);
    for (uint32_t i = 0; i < a->level_count; i++) {
        assert_int_equal(a->levels[i].candidates, b->levels[i].candidates);
        assert_int_equal(a->levels[i].frequent, b->levels[i].frequent);
    }
    for (size_t i = 0; i < a->count; i++) {
        sf_episode left, right;
        sf_mine_result_episode(a, i, &left);
        sf_mine_result_episode(b, i, &right);
        assert_int_equal(sf_episode_compare(&left, &right), 0);
        assert_int_equal(a->items[i].count, b->items[i].count);
    }
}

static void mining_finds_what_enumeration_finds(void **state)
{
    (void)state;
    test_random random = test_random_start("mining", 4);
    size_t total = 0;
    for (int round = 0; round < test_rounds(600); round++) {
        trial t;
        set_up_trial(&t, &random);
        sf_mine_result *result = mine(&t);
        const sf_episode nothing = {0};
        size_t frequent = enumerate(&t, result, &nothing);
        assert_int_equal(frequent, result->count);
        assert_ordered(result);
        total += frequent;
        sf_mine_result_free(result);
        tear_down_trial(&t);
    }
    assert_true(test_is_short() || total > 10000);
}

/* All pairs of the trial that count `least` and more, those that the rules forbid too, in a random order. */
static size_t count_pairs(const trial *t, uint32_t least, sf_pair_count *pairs, test_random *random)
{
    size_t count = 0;
    for (uint32_t d = 0; d < t->options.delay_count; d++)
        for (uint32_t a = 0; a < t->units.count; a++)
            for (uint32_t b = 0; b < t->units.count; b++) {
                sf_episode pair = {.size = 2, .units = {a, b}, .delays = {t->delays[d]}};
                uint32_t times = (uint32_t)oracle_count(t->spikes, t->count, &pair);
                size_t at = test_random_below(random, count + 1);
                if (times < least) continue;
                pairs[count++] = pairs[at];
                pairs[at] = (sf_pair_count){a, b, d, times};
            }
    return count;
}

/* Known by the threshold or a lower one, pairs make no difference but that nobody counts them. */
static void known_pairs_change_nothing(void **state)
{
    (void)state;
    enum { MOST_PAIRS = 3 * 9 * 9 };
    static sf_pair_count pairs[MOST_PAIRS];
    test_random random = test_random_start("known pairs", 46);
    size_t longer = 0, without = 0;
    for (int round = 0; round < test_rounds(600); round++) {
        trial t;
        uint64_t unit_spikes[9] = {0};
        set_up_trial(&t, &random);
        if (round % 3 == 0) { /* so many units that few pairs chain */
            tear_down_trial(&t);
            make_units(&t.units, 9);
            t.count = test_random_stream(&random, &t.spikes, 150, 9, 300);
        }
        t.options.max_size = 2 + (uint32_t)test_random_below(&random, 4);
        t.options.threshold += (double)test_random_below(&random, 6);
        t.options.threads = 1 + (unsigned)test_random_below(&random, 3);
        for (size_t i = 0; i < t.count; i++)
            unit_spikes[t.spikes[i].unit]++;
        sf_mine_result *anew = mine(&t);
        uint32_t least = (uint32_t)test_random_below(&random, 2) == 0 ? anew->least : 1;
        t.known.pair_count = count_pairs(&t, least, pairs, &random);
        t.known.pairs = pairs;
        t.known.unit_spikes = unit_spikes;
        sf_mine_result *known = mine(&t);
        assert_same_result(anew, known);
        for (size_t i = 0; i < anew->count; i++) {
            test_assert_same(known->items[i].expected, anew->items[i].expected);
            test_assert_same(known->items[i].strength, anew->items[i].strength);
        }
        longer += anew->count > 0 && anew->items[anew->count - 1].size > 2;
        without += anew->count > 0 && anew->level_count == 2;
        sf_mine_result_free(anew);
        sf_mine_result_free(known);
        tear_down_trial(&t);
    }
    printf("%zu with longer episodes, %zu with pairs that nothing goes on from\n", longer, without);
    assert_true(test_is_short() || (longer > 100 && without > 20));
}

/* That they are believed shows where they are wrong. */
static void known_pairs_are_not_counted_again(void **state)
{
    (void)state;
    const sf_spike spikes[] = {{0, 0, 0}, {1, 1, 0}, {2, 2, 0}, {10, 0, 0}, {11, 1, 0}, {12, 2, 0}};
    const uint64_t unit_spikes[] = {2, 2, 2};
    trial t = {.count = 6, .delays = {{0, 1}}};
    sf_error error;
    t.spikes = calloc(t.count, sizeof *t.spikes);
    memcpy(t.spikes, spikes, sizeof spikes);
    make_units(&t.units, 3);
    t.options = sf_mining_options_default();
    t.options.delays = t.delays;
    t.options.delay_count = 1;
    t.options.threshold = 2;
    t.known.unit_spikes = unit_spikes;
    t.known.pairs = (const sf_pair_count[]){{1, 2, 0, 7}, {0, 1, 0, 1}};
    t.known.pair_count = 2;
    sf_mine_result *result = mine(&t);
    assert_int_equal(result->count, 1);
    assert_int_equal(result->items[0].count, 7);
    sf_mine_result_free(result);
    t.known.pairs = (const sf_pair_count[]){{1, 2, 0, 2}, {0, 1, 0, 2}};
    t.options.most = 1;
    sf_mine_input input = input_of(&t);
    test_assert_fails(sf_mine_spikes(&result, &input, &t.options, NULL, &error), &error, SF_DATA,
                      "more than 1 episodes");
    t.options.most = 2; /* with what is longer there are three */
    test_assert_fails(sf_mine_spikes(&result, &input, &t.options, NULL, &error), &error, SF_DATA,
                      "more than 2 episodes");
    t.options.threshold = 3;
    input.pairs = (const sf_pair_count[]){{1, 2, 0, 3}};
    input.pair_count = 1;
    test_assert_fails(sf_mine_spikes(&result, &input, &t.options, NULL, &error), &error, SF_INTERNAL,
                      "units #1 and #2 counts 3");
    tear_down_trial(&t);
}

static void engines_mine_the_same(void **state)
{
    (void)state;
    test_random random = test_random_start("engines mine", 5);
    for (int round = 0; round < test_rounds(300); round++) {
        trial t;
        set_up_trial(&t, &random);
        t.options.max_size = 2 + (uint32_t)test_random_below(&random, 5);
        t.options.threshold += 6;
        sf_mine_result *interval = mine(&t);
        for (size_t i = 0; sf_engines[i] != NULL; i++) {
            t.options.engine = sf_engines[i]->name;
            sf_mine_result *other = mine(&t);
            assert_string_equal(other->ran.engine, sf_engines[i]->name);
            assert_same_result(interval, other);
            for (uint32_t l = 0; l < other->level_count; l++)
                assert_true(other->levels[l].culled <=
                            (int64_t)(other->levels[l].candidates - other->levels[l].frequent));
            sf_mine_result_free(other);
        }
        sf_mine_result_free(interval);
        tear_down_trial(&t);
    }
}

static void ten_hours_later_and_on_two_threads_nothing_changes(void **state)
{
    (void)state;
    test_random random = test_random_start("shift", 6);
    for (int round = 0; round < test_rounds(150); round++) {
        trial t;
        set_up_trial(&t, &random);
        sf_mine_result *before = mine(&t);
        for (size_t i = 0; i < t.count; i++)
            t.spikes[i].time_ns += HOURS_10;
        t.options.threads = 2;
        sf_mine_result *after = mine(&t);
        assert_same_result(before, after);
        sf_mine_result_free(before);
        sf_mine_result_free(after);
        tear_down_trial(&t);
    }
}

/* More units than signature bits, and long episodes. */
static void many_units_and_long_episodes(void **state)
{
    (void)state;
    test_random random = test_random_start("many units", 7);
    trial t = {0};
    make_units(&t.units, 150);
    t.count = test_random_stream(&random, &t.spikes, 4000, 150, 30000);
    t.options = sf_mining_options_default();
    t.delays[0] = (sf_delay){0, 200};
    t.delays[1] = (sf_delay){200, 330};
    t.options.delays = t.delays;
    t.options.delay_count = 2;
    t.options.threshold = 6;
    sf_mine_result *interval = mine(&t);
    t.options.engine = "reference";
    sf_mine_result *reference = mine(&t);
    assert_same_result(interval, reference);
    assert_true(interval->levels[1].frequent > 100);
    sf_mine_result_free(interval);
    sf_mine_result_free(reference);
    tear_down_trial(&t);

    /* One unit that fires every millisecond is an episode of any size with itself. */
    trial u = {.count = 3000};
    make_units(&u.units, 1);
    u.spikes = calloc(u.count, sizeof *u.spikes);
    for (size_t i = 0; i < u.count; i++)
        u.spikes[i].time_ns = (int64_t)i * 1000;
    u.options = sf_mining_options_default();
    u.options.delays = u.delays;
    u.options.delay_count = 1;
    u.delays[0] = (sf_delay){0, 1000};
    u.options.threshold = 1;
    u.options.repeats = true;
    u.options.max_size = SF_EPISODE_MAX_SIZE;
    sf_mine_result *result = mine(&u);
    assert_int_equal(result->count, SF_EPISODE_MAX_SIZE - 1);
    for (size_t i = 0; i < result->count; i++)
        assert_int_equal(result->items[i].count, 3000 / (i + 2));
    sf_mine_result_free(result);
    tear_down_trial(&u);
}

/* Closed: exactly those that no longer episode of the result contains with the same count. */
static bool contains(const sf_episode *longer, const sf_episode *shorter)
{
    for (uint32_t at = 0; at + shorter->size <= longer->size; at++)
        if (memcmp(longer->units + at, shorter->units, shorter->size * sizeof *shorter->units) == 0 &&
            memcmp(longer->delays + at, shorter->delays, (shorter->size - 1) * sizeof *shorter->delays) == 0)
            return true;
    return false;
}

static void closed_leaves_out_what_a_longer_one_tells(void **state)
{
    (void)state;
    test_random random = test_random_start("closed", 8);
    size_t left_out = 0;
    for (int round = 0; round < test_rounds(300); round++) {
        trial t;
        set_up_trial(&t, &random);
        t.options.threshold += 1;
        sf_mine_result *all = mine(&t);
        t.options.closed = true;
        sf_mine_result *closed = mine(&t);
        size_t at = 0;
        for (size_t i = 0; i < all->count; i++) {
            sf_episode episode, other;
            sf_mine_result_episode(all, i, &episode);
            bool told = false;
            for (size_t k = 0; k < all->count && !told; k++) {
                sf_mine_result_episode(all, k, &other);
                told = all->items[k].size > episode.size && all->items[k].count == all->items[i].count &&
                       contains(&other, &episode);
            }
            left_out += told;
            if (told) continue;
            assert_true(at < closed->count);
            sf_mine_result_episode(closed, at++, &other);
            assert_int_equal(sf_episode_compare(&episode, &other), 0);
        }
        assert_int_equal(at, closed->count);
        sf_mine_result_free(all);
        sf_mine_result_free(closed);
        tear_down_trial(&t);
    }
    assert_true(test_is_short() || left_out > 50);
}

/* ---- occurrences ---- */

static bool fires(const sf_spike *spikes, size_t count, uint32_t unit, int64_t time)
{
    for (size_t i = 0; i < count; i++)
        if (spikes[i].unit == unit && spikes[i].time_ns == time) return true;
    return false;
}

static void occurrences_are_what_was_counted(void **state)
{
    (void)state;
    test_random random = test_random_start("occurrences", 9);
    for (int round = 0; round < test_rounds(1500); round++) {
        sf_spike *spikes;
        size_t count = test_random_stream(&random, &spikes, test_random_below(&random, 80), 3, 150);
        for (size_t i = 0; i < count; i++)
            spikes[i].time_ns -= 60;
        sf_episode episode = test_random_episode(&random, 5, 3, 12);
        int64_t *times;
        size_t found;
        assert_int_equal(check_occurrences(&times, &found, spikes, count, 3, &episode, NULL), SF_OK);
        assert_int_equal(found, oracle_count(spikes, count, &episode));
        for (size_t i = 0; i < found; i++) {
            const int64_t *own = times + i * episode.size;
            assert_true(i == 0 || own[0] >= own[-1]);
            for (uint32_t node = 0; node < episode.size; node++) {
                assert_true(fires(spikes, count, episode.units[node], own[node]));
                if (node == 0) continue;
                int64_t dt = own[node] - own[node - 1];
                assert_true(dt > episode.delays[node - 1].low_ns && dt <= episode.delays[node - 1].high_ns);
            }
        }
        sf_free(times);
        free(spikes);
    }
}

/* ---- parts ---- */

static void lanes_count_bits(void **state)
{
    (void)state;
    test_random random = test_random_start("lanes", 10);
    for (int round = 0; round < 200; round++) {
        sf_lanes lanes = {0};
        uint32_t counts[64] = {0};
        for (int batch = 0; batch < 12; batch++) {
            uint64_t words[8];
            for (int i = 0; i < 8; i++) {
                words[i] = test_random_bits(&random) & test_random_bits(&random);
                for (int lane = 0; lane < 64; lane++)
                    counts[lane] += (uint32_t)(words[i] >> lane & 1);
            }
            if (batch % 3 == 0)
                for (int i = 0; i < 8; i++)
                    sf_lanes_add(&lanes, words[i]);
            else
                sf_lanes_add_8(&lanes, words);
        }
        for (uint32_t least = 0; least < 40; least++) {
            uint64_t expected = 0;
            for (int lane = 0; lane < 64; lane++)
                expected |= (uint64_t)(counts[lane] >= least) << lane;
            assert_int_equal(sf_lanes_at_least(&lanes, least), expected);
        }
    }
}

/* ---- bad options and memory ---- */

static void expect_refusal(trial *t, sf_status code, const char *words)
{
    sf_mine_input input = {
        .spikes = t->spikes, .spike_count = t->count, .units = &t->units, .duration_ns = 1000};
    sf_mine_result *result;
    sf_error error;
    test_assert_fails(sf_mine_spikes(&result, &input, &t->options, NULL, &error), &error, code, words);
    assert_null(result);
}

static bool stop_at_once(void *user, const char *what, double done, double total)
{
    (void)user, (void)what, (void)done, (void)total;
    return false;
}

static void bad_input_is_refused(void **state)
{
    (void)state;
    test_random random = test_random_start("refusals", 11);
    trial t;
    set_up_trial(&t, &random);
    free(t.spikes);
    sf_units_free(&t.units);
    make_units(&t.units, 4);
    t.count = test_random_stream(&random, &t.spikes, 150, 4, 100);
    t.options.min_distance_um = 0;
    t.options.max_size = 4;
    const sf_mining_options good = t.options;
    t.options.max_size = 1;
    expect_refusal(&t, SF_USAGE, "2 to 16");
    t.options.max_size = 17;
    expect_refusal(&t, SF_USAGE, "2 to 16");
    t.options = good;
    t.options.threshold = 0;
    expect_refusal(&t, SF_USAGE, "more than 0");
    t.options = good;
    t.options.engine = "best";
    expect_refusal(&t, SF_USAGE, "auto, interval, reference");
    t.options.engine = "reference";
    t.options.threads = 2;
    expect_refusal(&t, SF_USAGE, "one thread");
    t.options = good;
    t.options.delay_count = 0;
    expect_refusal(&t, SF_USAGE, "no delay");
    t.options = good;
    t.options.delay_count = 2;
    t.delays[1] = t.delays[0];
    expect_refusal(&t, SF_USAGE, "the same");
    t.options = good;
    t.options.delay_count = 1;
    t.delays[0] = (sf_delay){3, 3};
    expect_refusal(&t, SF_DATA, "empty");
    t.delays[0] = (sf_delay){0, 50};
    t.options.threshold = 1;
    t.options.most = 20;
    expect_refusal(&t, SF_DATA, "more than 20 episodes");
    t.options.engine = "reference";
    expect_refusal(&t, SF_DATA, "more than 20 episodes");
    t.options = good;
    t.options.delay_count = 1;
    t.spikes[0].unit = 4;
    expect_refusal(&t, SF_DATA, "unit #4");
    t.spikes[0] = t.spikes[149];
    expect_refusal(&t, SF_DATA, "out of order");

    sf_mine_input input = {.spikes = t.spikes, .spike_count = 0, .units = &t.units, .duration_ns = 1000};
    sf_mine_result *result;
    assert_int_equal(sf_mine_spikes(&result, &input, &t.options, NULL, NULL), SF_OK);
    assert_int_equal(result->count, 0);
    sf_mine_result_free(result);
    sf_progress stop = {.update = stop_at_once};
    t.spikes[0] = t.spikes[1];
    input.spike_count = t.count;
    sf_error error;
    for (size_t i = 0; sf_engines[i] != NULL; i++) {
        t.options.engine = sf_engines[i]->name;
        test_assert_fails(sf_mine_spikes(&result, &input, &t.options, &stop, &error), &error, SF_CANCELLED,
                          "stopped");
    }
    tear_down_trial(&t);
}

static int mine_and_count(void *context)
{
    const trial *t = context;
    sf_mine_input input = {
        .spikes = t->spikes, .spike_count = t->count, .units = &t->units, .duration_ns = 1000};
    sf_mine_result *result;
    int status = sf_mine_spikes(&result, &input, &t->options, NULL, NULL);
    if (status != SF_OK) return status;
    sf_episode episode;
    sf_mine_result_episode(result, result->count - 1, &episode);
    sf_mine_result_free(result);
    sf_counter *counter;
    status = sf_counter_open(&counter, t->spikes, t->count, t->units.count, &episode, 1, t->options.engine, 1,
                             NULL);
    if (status != SF_OK) return status;
    uint64_t count;
    status = sf_counter_count(counter, NULL, &count, NULL);
    sf_counter_close(counter);
    int64_t *times = NULL;
    size_t found;
    if (status == SF_OK)
        status = check_occurrences(&times, &found, t->spikes, t->count, t->units.count, &episode, NULL);
    sf_free(times);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    test_random random = test_random_start("allocations", 12);
    trial t = {0};
    make_units(&t.units, 4);
    t.count = test_random_stream(&random, &t.spikes, 200, 4, 300);
    t.options = sf_mining_options_default();
    t.delays[0] = (sf_delay){0, 10};
    t.delays[1] = (sf_delay){10, 14};
    t.options.delays = t.delays;
    t.options.delay_count = 2;
    t.options.threshold = 4;
    t.options.threads = 1;
    for (size_t i = 0; sf_engines[i] != NULL; i++) {
        t.options.engine = sf_engines[i]->name;
        test_fail_every_allocation(mine_and_count, &t);
    }
    t.options.engine = NULL;
    t.options.threads = 2;
    test_fail_every_allocation(mine_and_count, &t);
    tear_down_trial(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(engines_count_what_the_definition_says),
        cmocka_unit_test(a_counter_counts_many_episodes_in_slices),
        cmocka_unit_test(mining_finds_what_enumeration_finds),
        cmocka_unit_test(known_pairs_change_nothing),
        cmocka_unit_test(known_pairs_are_not_counted_again),
        cmocka_unit_test(engines_mine_the_same),
        cmocka_unit_test(ten_hours_later_and_on_two_threads_nothing_changes),
        cmocka_unit_test(many_units_and_long_episodes),
        cmocka_unit_test(closed_leaves_out_what_a_longer_one_tells),
        cmocka_unit_test(occurrences_are_what_was_counted),
        cmocka_unit_test(lanes_count_bits),
        cmocka_unit_test(bad_input_is_refused),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
