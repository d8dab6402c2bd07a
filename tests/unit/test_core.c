/* SPDX-License-Identifier: Apache-2.0 */
#include "support/support.h"

#include "core/arena.h"
#include "core/episode.h"
#include "core/error.h"
#include "core/json.h"
#include "core/log.h"
#include "core/memory.h"
#include "core/options.h"
#include "core/reals.h"
#include "core/recording.h"
#include "core/text.h"
#include "core/thread.h"

#include <math.h>
#include <stdalign.h>

static void the_word_that_was_meant_is_found(void **state)
{
    (void)state;
    static const char *const words[] = {"mine",      "match",     "count",   "info",
                                        "bandwidth", "min-count", "min-rate"};
    static const char *const cases[][2] = {
        {"mien", "mine"},
        {"mnie", "mine"},
        {"coutn", "count"},
        {"min", "mine"},
        {"matsch", "match"},
        {"bandwidt", "bandwidth"},
        {"in", "info"},
        {"mincount", "min-count"},
        {"min_rate", "min-rate"},
        {"frobnicate", NULL},
        {"time", NULL},
        {"", NULL},
        {"x", NULL},
        {"mine-rate", "min-rate"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sf_nearest nearest = {.word = cases[i][0]};
        for (size_t k = 0; k < sizeof words / sizeof words[0]; k++)
            sf_nearest_offer(&nearest, words[k]);
        if (cases[i][1] == NULL ? nearest.best != NULL
                                : nearest.best == NULL || strcmp(nearest.best, cases[i][1]) != 0)
            fail_msg("%s: %s", cases[i][0], nearest.best != NULL ? nearest.best : "none");
    }
    char longest[4000];
    memset(longest, 'm', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    sf_nearest nearest = {.word = longest};
    sf_nearest_offer(&nearest, "mine");
    nearest.word = "mine";
    sf_nearest_offer(&nearest, longest);
    assert_null(nearest.best);
}

static int of_sign(int value)
{
    return (value > 0) - (value < 0);
}

static void names_are_ordered_as_people_count(void **state)
{
    (void)state;
    static const char *const order[] = {"",
                                        "007",
                                        "07",
                                        "7",
                                        "10",
                                        "A-002",
                                        "A-010",
                                        "A-010:1",
                                        "B-1",
                                        "ch",
                                        "ch2",
                                        "ch2b1",
                                        "ch2b10",
                                        "ch10",
                                        "ch10/3",
                                        "e99999999999999999998",
                                        "e99999999999999999999",
                                        "unit_2",
                                        "unit_10"};
    enum { COUNT = sizeof order / sizeof order[0] };
    for (int i = 0; i < COUNT; i++)
        for (int k = 0; k < COUNT; k++)
            if (of_sign(sf_text_compare(order[i], order[k])) != of_sign(i - k))
                fail_msg("'%s' and '%s'", order[i], order[k]);
}

static void numbers_parse_exactly(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int exponent;
        bool good;
        int64_t value;
    } cases[] = {
        {"0", 9, true, 0},
        {"1", 9, true, 1000000000},
        {"3600.022", 9, true, INT64_C(3600022000000)},
        {"-1.5", 6, true, -1500000},
        {"+5", 9, true, 5000000000},
        {"1.0654e-4", 9, true, 106540},
        {"0.0000000005", 9, true, 1},
        {"0.00000000049", 9, true, 0},
        {"9223372036.854775807", 9, true, INT64_MAX},
        {"9223372036.854775808", 9, false, 0},
        {"1e300", 9, false, 0},
        {".5", 6, true, 500000},
        {"", 9, false, 0},
        {".", 9, false, 0},
        {"1x", 9, false, 0},
        {"nan", 9, false, 0},
        {"1e", 9, false, 0},
        {" 1", 9, false, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t value = 0;
        bool good = sf_parse_scaled(cases[i].text, cases[i].exponent, &value);
        if (good != cases[i].good || value != cases[i].value)
            fail_msg("'%s': %d %lld", cases[i].text, good, (long long)value);
    }
    assert_int_equal(sf_seconds_to_ns(3600.022), INT64_C(3600022000000));
    assert_int_equal(sf_seconds_to_ns(-0.25), -250000000);
}

static sf_units make_units(void)
{
    sf_units units = {0};
    static const char *const names[] = {"A", "B", "odd name", "7", "A", "quote\"d"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        sf_unit unit = {.name = names[i], .x_um = NAN, .y_um = NAN, .electrode = -1};
        assert_int_equal(sf_units_add(&units, &unit, NULL), SF_OK);
    }
    assert_int_equal(sf_units_finish(&units, NULL), SF_OK);
    return units;
}

static void units_are_found_by_name_and_index(void **state)
{
    (void)state;
    sf_units units = make_units();
    sf_error error;
    uint32_t unit;
    assert_int_equal(sf_units_resolve(&units, "7", &unit, &error), SF_OK);
    assert_int_equal(unit, 3);
    assert_int_equal(sf_units_resolve(&units, "#2", &unit, &error), SF_OK);
    assert_int_equal(unit, 2);
    assert_int_equal(sf_units_resolve(&units, "A_2", &unit, &error), SF_OK);
    assert_int_equal(unit, 4);
    test_assert_fails(sf_units_resolve(&units, "2", &unit, &error), &error, SF_USAGE, "#2");
    test_assert_fails(sf_units_resolve(&units, "#6", &unit, &error), &error, SF_USAGE, "6 units");
    test_assert_fails(sf_units_resolve(&units, "odd", &unit, &error), &error, SF_USAGE, "'odd name'");
    test_assert_fails(sf_units_resolve(&units, "#x", &unit, &error), &error, SF_USAGE,
                      "expected # and a number");
    test_assert_fails(sf_units_resolve(&(sf_units){0}, "#0", &unit, &error), &error, SF_USAGE,
                      "there are none");
    assert_false(sf_units_have_geometry(&units));
    sf_units_free(&units);
}

static void units_of_one_electrode_are_known(void **state)
{
    (void)state;
    static const sf_unit list[] = {
        {.name = "a", .x_um = 0, .y_um = 0, .electrode = -1},
        {.name = "b", .x_um = 0, .y_um = 0, .electrode = -1},
        {.name = "c", .x_um = 60, .y_um = 0, .electrode = -1},
        {.name = "d", .x_um = 0, .y_um = 0, .electrode = 4},
        {.name = "e", .x_um = 60, .y_um = 0, .electrode = 4},
        {.name = "f", .x_um = 0, .y_um = 0, .electrode = 5},
        {.name = "g", .x_um = NAN, .y_um = NAN, .electrode = -1},
        {.name = "h", .x_um = NAN, .y_um = NAN, .electrode = -1},
        {.name = "i", .x_um = 0, .y_um = 0, .electrode = 4, .well = "A1"},
        {.name = "j", .x_um = 0, .y_um = 0, .electrode = 4, .well = "A2"},
    };
    static const char *const shared[] = {"ab", "ad", "af", "ai", "aj", "bd", "bf", "bi",
                                         "bj", "ce", "de", "di", "dj", "ei", "ej"};
    sf_units units = {0};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        assert_int_equal(sf_units_add(&units, &list[i], NULL), SF_OK);
    size_t pairs = 0;
    for (uint32_t a = 0; a < units.count; a++)
        for (uint32_t b = a; b < units.count; b++)
            if (sf_units_share_electrode(&units, a, b)) {
                assert_true(sf_units_share_electrode(&units, b, a));
                assert_true(pairs < sizeof shared / sizeof *shared);
                assert_int_equal(shared[pairs][0], units.items[a].name[0]);
                assert_int_equal(shared[pairs++][1], units.items[b].name[0]);
            }
    assert_int_equal(pairs, sizeof shared / sizeof *shared);
    units.count = 2; /* positions that are all the same are none */
    assert_false(sf_units_share_electrode(&units, 0, 1));
    units.count = sizeof list / sizeof *list;
    sf_units_free(&units);
}

static void episodes_read_back_as_printed(void **state)
{
    (void)state;
    sf_units units = make_units();
    static const char *const texts[] = {
        "A -(0,5]-> B -(5,10.25]-> A",
        "\"odd name\" -(0.5,0.500001]-> 7",
        "\"quote\\\"d\" -(1,2]-> A_2",
        "B",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        sf_episode episode;
        sf_error error;
        if (sf_episode_parse(&episode, texts[i], &units, &error) != SF_OK)
            fail_msg("%s: %s", texts[i], error.text);
        sf_text text = {0};
        sf_episode_print(&text, &episode, &units);
        assert_string_equal(text.data, texts[i]);
        sf_text_free(&text);
    }
    static const char *const bad[] = {
        "",      "A -(5,5]-> B", "A -(-1,5]-> B", "A -(0,5)-> B",    "A -(0,5]-> C",
        "A ->B", "A -(0,5]->",   "\"odd name",    "A -(0,1e30]-> B", "A -(0,5]-> B B",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        sf_episode episode;
        sf_error error = {0};
        test_assert_fails(sf_episode_parse(&episode, bad[i], &units, &error), &error, SF_USAGE, "column");
    }
    sf_units_free(&units);
}

/* Intan's channels, and what a person types. */
static void names_that_want_quotes_are_told(void **state)
{
    (void)state;
    static const char *const names[] = {"A-007", "A-008", "B/2"};
    static const struct {
        const char *text, *told;
    } cases[] = {
        {"A-007 -(0,5]-> A-008", "column 1: the name A-007 takes double quotes here: \"A-007\""},
        {"\"A-007\" -(0,5]-> A-008", "column 18: the name A-008 takes double quotes here: \"A-008\""},
        {"B/2-(0,5]-> \"A-007\"", "column 1: the name B/2 takes double quotes here: \"B/2\""},
        {"A-0070 -(0,5]-> \"A-007\"", "column 1: no unit is named 'A'"},
    };
    sf_units units = {0};
    sf_episode episode;
    uint32_t index;
    assert_int_equal(sf_units_finish(&units, NULL), SF_OK);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_int_equal(sf_units_intern(&units, names[i], &index, NULL), SF_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sf_error error = {0};
        test_assert_fails(sf_episode_parse(&episode, cases[i].text, &units, &error), &error, SF_USAGE,
                          cases[i].told);
    }
    sf_units_free(&units);
}

/* Of wells and units of a channel, and many, so that their table grows. */
static void names_that_are_learnt_have_dots(void **state)
{
    (void)state;
    sf_units units = {0};
    assert_int_equal(sf_units_finish(&units, NULL), SF_OK);
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < 1000; i++) {
            char name[16];
            uint32_t index;
            snprintf(name, sizeof name, "ch%u.%u", i / 4, i % 4);
            assert_int_equal(sf_units_intern(&units, name, &index, NULL), SF_OK);
            assert_int_equal(index, i);
        }
    sf_episode episode;
    assert_int_equal(sf_episode_parse(&episode, "ch0.1 -(4,6]-> ch249.3", &units, NULL), SF_OK);
    assert_true(episode.size == 2 && episode.units[0] == 1 && episode.units[1] == 999);
    sf_units_free(&units);
}

static void json_escapes_and_rounds_trip(void **state)
{
    (void)state;
    sf_text text = {0};
    sf_json json = sf_json_start(&text);
    sf_json_object(&json, NULL);
    sf_json_string(&json, "a", "x\"\\\n\xff\xc3\xa9");
    sf_json_array(&json, "b");
    sf_json_real(&json, NULL, 0.1);
    sf_json_real(&json, NULL, NAN);
    sf_json_seconds(&json, NULL, INT64_C(-1500000001));
    sf_json_milliseconds(&json, NULL, 5000000);
    sf_json_end_array(&json);
    sf_json_end_object(&json);
    assert_string_equal(text.data,
                        "{\"a\":\"x\\\"\\\\\\u000a\xef\xbf\xbd\xc3\xa9\",\"b\":[0.1,null,-1.500000001,5]}");
    sf_text_free(&text);
}

static int compare_spikes(const void *a, const void *b)
{
    const sf_spike *x = a, *y = b;
    if (x->time_ns != y->time_ns) return x->time_ns < y->time_ns ? -1 : 1;
    if (x->unit != y->unit) return x->unit < y->unit ? -1 : 1;
    return x->amplitude < y->amplitude ? -1 : x->amplitude > y->amplitude; /* the original place */
}

static void spikes_sort_as_a_comparison_sort_does(void **state)
{
    (void)state;
    test_random random = test_random_start("sort", 11);
    for (int round = 0; round < 300; round++) {
        size_t count = test_random_below(&random, round % 50 == 0 ? 30000 : 400) + 1;
        sf_spike *spikes = calloc(count, sizeof *spikes), *expected = calloc(count, sizeof *expected);
        uint64_t range = UINT64_C(1) << test_random_below(&random, 62);
        int64_t origin = (int64_t)test_random_bits(&random) / 4;
        bool crowded = round % 3 == 0; /* ever closer together: bins in bins */
        for (size_t i = 0; i < count; i++)
            spikes[i] =
                (sf_spike){.time_ns = origin + (int64_t)(test_random_below(&random, range) >>
                                                         (crowded ? test_random_below(&random, 62) : 0)),
                           .unit = (uint32_t)test_random_below(&random, round % 2 ? 5 : 100000),
                           .amplitude = (float)i};
        memcpy(expected, spikes, count * sizeof *spikes);
        qsort(expected, count, sizeof *expected, compare_spikes);
        assert_int_equal(sf_spikes_sort(spikes, count, NULL), SF_OK);
        assert_memory_equal(spikes, expected, count * sizeof *spikes);
        free(spikes);
        free(expected);
    }
}

/* More than a million, which all cores look at: one out of order, between parts and within them. */
static void one_spike_out_of_order_is_seen_among_many(void **state)
{
    (void)state;
    const size_t count = SF_SPIKES_FOR_THREADS + 7, second = sf_spikes_part(count, 1);
    const size_t places[] = {1, second - 1, second, second + 1, sf_spikes_part(count, 63), count - 1};
    sf_spike *spikes = calloc(count, sizeof *spikes);
    for (size_t i = 0; i < count; i++)
        spikes[i] = (sf_spike){.time_ns = (int64_t)i / 2, .unit = i % 2};
    assert_true(sf_spikes_are_sorted(spikes, count));
    for (size_t k = 0; k < sizeof places / sizeof places[0]; k++) {
        sf_spike was = spikes[places[k]];
        spikes[places[k]] = (sf_spike){.time_ns = spikes[places[k] - 1].time_ns - 1, .unit = was.unit};
        assert_false(sf_spikes_are_sorted(spikes, count));
        spikes[places[k]] = was;
    }
    free(spikes);
}

typedef struct handed {
    sf_spike *to;
    atomic_size_t count, pieces;
    bool fails;
} handed;

static int take_ordered(void *context, const sf_spike *ordered, size_t first, size_t count)
{
    handed *h = context;
    memcpy(h->to + first, ordered, count * sizeof *ordered);
    atomic_fetch_add(&h->count, count);
    return atomic_fetch_add(&h->pieces, 1) == 3 && h->fails ? SF_CANCELLED : SF_OK;
}

/* Trains that each ascend, one behind the other, as files have them. */
static sf_spike *make_trains(test_random *random, size_t count, size_t trains, uint64_t range)
{
    sf_spike *spikes = calloc(count, sizeof *spikes);
    for (size_t t = 0; t < trains; t++) {
        size_t begin = count * t / trains, end = count * (t + 1) / trains;
        uint32_t unit = (uint32_t)test_random_below(random, trains); /* some go on in another train */
        for (size_t i = begin; i < end; i++)
            spikes[i] = (sf_spike){(int64_t)test_random_below(random, range), unit, 0};
        qsort(spikes + begin, end - begin, sizeof *spikes, compare_spikes);
    }
    for (size_t i = 0; i < count; i++)
        spikes[i].amplitude = (float)i;
    return spikes;
}

static void trains_are_merged_as_a_sort_does(void **state)
{
    (void)state;
    static const size_t trains[] = {1, 2, 3, 60, 4000, 5000};
    static const uint64_t ranges[] = {1, 5, 40000, UINT64_C(1) << 60};
    test_random random = test_random_start("trains", 13);
    for (size_t round = 0; round < 24; round++) {
        size_t count = 90000 + test_random_below(&random, 20000);
        sf_spike *spikes = make_trains(&random, count, trains[round % 6], ranges[round / 6]);
        sf_spike *expected = calloc(count, sizeof *expected);
        memcpy(expected, spikes, count * sizeof *spikes);
        qsort(expected, count, sizeof *expected, compare_spikes);
        handed h = {.to = calloc(count, sizeof *spikes)};
        assert_int_equal(sf_spikes_order(spikes, count, take_ordered, &h), SF_OK);
        assert_int_equal(h.count, count);
        assert_memory_equal(h.to, expected, count * sizeof *spikes);
        free(spikes);
        free(expected);
        free(h.to);
    }
    handed none = {0};
    assert_int_equal(sf_spikes_order(NULL, 0, take_ordered, &none), SF_OK);
    assert_int_equal(none.pieces, 0);
}

static void a_merge_ends_where_its_spikes_are_not_taken(void **state)
{
    (void)state;
    test_random random = test_random_start("refused", 14);
    size_t count = 200000;
    sf_spike *spikes = make_trains(&random, count, 50, 1 << 30);
    handed h = {.to = calloc(count, sizeof *spikes), .fails = true};
    assert_int_equal(sf_spikes_order(spikes, count, take_ordered, &h), SF_CANCELLED);
    free(h.to);
    long before = sf_memory_live();
    for (long successes = 0; successes < 8; successes++) {
        sf_memory_fail_after(successes);
        handed few = {.to = calloc(count, sizeof *spikes)};
        int status = sf_spikes_order(spikes, count, take_ordered, &few);
        sf_memory_fail_after(-1);
        assert_true(status == SF_NO_MEMORY || few.count == count);
        assert_int_equal(sf_memory_live(), before);
        free(few.to);
    }
    free(spikes);
}

static void a_bound_among_reals_is_where_a_look_at_each_finds_it(void **state)
{
    (void)state;
    test_random random = test_random_start("reals", 12);
    for (int round = 0; round < 300; round++) {
        double values[40];
        size_t count = test_random_below(&random, 40), under = 0;
        for (size_t i = 0; i < count; i++)
            values[i] = (double)test_random_below(&random, 20) - 10;
        sf_reals_sort(values, count);
        for (size_t i = 1; i < count; i++)
            assert_true(values[i - 1] <= values[i]);
        double least = (double)test_random_below(&random, 24) - 12;
        for (size_t i = 0; i < count; i++)
            under += values[i] < least;
        assert_int_equal(sf_reals_lower_bound(values, count, least), under);
    }
}

static void times_are_sorted_however_far_they_are_out_of_order(void **state)
{
    (void)state;
    test_random random = test_random_start("times", 13);
    for (int round = 0; round < 300; round++) {
        int64_t times[60], copy[60];
        size_t count = test_random_below(&random, 60), swaps = test_random_below(&random, 8) * 10;
        for (size_t i = 0; i < count; i++)
            times[i] = (int64_t)i;
        for (size_t i = 0; i < swaps && count > 0; i++) {
            size_t a = test_random_below(&random, count), b = test_random_below(&random, count);
            int64_t other = times[a];
            times[a] = times[b];
            times[b] = other;
        }
        memcpy(copy, times, sizeof copy);
        bool settled = sf_times_settle(copy, count);
        sf_times_sort(times, count);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(times[i], i);
            assert_true(!settled || copy[i] == times[i]);
        }
    }
}

static void a_median_lies_between_the_two_in_the_middle(void **state)
{
    (void)state;
    double odd[] = {5, -1, 3}, even[] = {5, -1, 4, 3};
    assert_true(sf_reals_median(odd, 3) == 3 && sf_reals_median(even, 4) == 3.5);
    assert_true(isnan(sf_reals_median(even, 0)));
}

static void ranks_ascend_and_equal_ones_keep_their_order(void **state)
{
    (void)state;
    sf_rank ranks[] = {{2, 0}, {-1, 1}, {2, 2}, {-1, 3}, {0.5, 4}};
    static const size_t order[] = {1, 3, 4, 0, 2};
    sf_ranks_sort(ranks, 5);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(ranks[i].index, order[i]);
}

static void collect(void *user, sf_log_level level, const char *line)
{
    (void)level;
    (void)line;
    ++*(int *)user;
}

static void *log_many(void *argument)
{
    for (int i = 0; i < 1000; i++)
        sf_log(SF_LOG_INFO, "line %d of %p", i, argument);
    return NULL;
}

static void every_log_line_arrives_or_is_counted(void **state)
{
    (void)state;
    sf_thread threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(sf_thread_start(&threads[i], "log", log_many, &threads[i], NULL), SF_OK);
    int seen = 0;
    uint64_t lost = 0;
    for (int i = 0; i < 100; i++)
        lost += sf_log_drain(collect, &seen);
    for (int i = 0; i < 4; i++)
        sf_thread_join(&threads[i]);
    lost += sf_log_drain(collect, &seen);
    assert_int_equal((uint64_t)seen + lost, 4000);
}

static int add_item(void *context, unsigned worker, size_t item)
{
    (void)worker;
    atomic_fetch_add((atomic_size_t *)context, item);
    return item == 5000 ? 7 : 0;
}

static void parallel_loops_visit_every_item_once(void **state)
{
    (void)state;
    atomic_size_t sum = 0;
    assert_int_equal(sf_parallel_for(3, 5000, add_item, &sum), 0);
    assert_int_equal(sum, 5000 * 4999 / 2);
    assert_int_equal(sf_parallel_for(2, 10000, add_item, &sum), 7);
}

enum { FAILING_ITEMS = 8 };

static int fail_item(void *context, unsigned worker, size_t item)
{
    (void)worker;
    ((bool *)context)[item] = true;
    return item > 0;
}

/* However late the thread comes that was to do them. */
static void what_lies_before_an_item_that_fails_is_done(void **state)
{
    (void)state;
    for (int round = 0; round < 1000; round++) {
        bool done[FAILING_ITEMS] = {false};
        size_t last = FAILING_ITEMS - 1;
        assert_int_equal(sf_parallel_for(4, FAILING_ITEMS, fail_item, done), 1);
        while (!done[last])
            last--;
        for (size_t item = 0; item < last; item++)
            assert_true(done[item]);
    }
}

typedef struct watched {
    atomic_int watches;
    atomic_bool begun; /* another thread has an item */
    pthread_t caller;
} watched;

static void watch(void *context)
{
    watched *w = context;
    assert_true(pthread_equal(pthread_self(), w->caller));
    atomic_fetch_add(&w->watches, 1);
}

static void wait_a_little(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* The caller's item ends once another thread has one, and that once the caller has watched. */
static int wait_for_watches(void *context, unsigned worker, size_t item)
{
    (void)item;
    watched *w = context;
    if (worker != 0) atomic_store(&w->begun, true);
    while (worker == 0 && !atomic_load(&w->begun))
        wait_a_little();
    while (worker != 0 && atomic_load(&w->watches) < 2)
        wait_a_little();
    return 0;
}

static void a_thread_without_work_watches_the_others(void **state)
{
    (void)state;
    watched w = {.caller = pthread_self()};
    assert_int_equal(sf_parallel_watched(2, 2, wait_for_watches, watch, &w), 0);
    assert_true(atomic_load(&w.watches) >= 2);
    assert_int_equal(sf_parallel_watched(1, 2, wait_for_watches, watch, &w), 0);
}

static int copy_units(void *context)
{
    sf_units copy;
    int status = sf_units_copy(&copy, context, NULL);
    sf_units_free(&copy);
    return status;
}

static void failed_allocations_leak_nothing(void **state)
{
    (void)state;
    sf_units units = make_units();
    test_fail_every_allocation(copy_units, &units);
    sf_units_free(&units);
}

static void sizes_in_bytes_are_read_whole(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t bytes; /* 0: refused */
    } cases[] = {{"1", 1},
                 {"8G", UINT64_C(8) << 30},
                 {"512M", 512 << 20},
                 {"3K", 3072},
                 {"2T", UINT64_C(2) << 40},
                 {"18446744073709551615", UINT64_MAX},
                 {"17179869183G", UINT64_C(17179869183) << 30},
                 {"17179869184G", 0},
                 {"", 0},
                 {"G", 0},
                 {"8g", 0},
                 {"8GB", 0},
                 {"8 G", 0},
                 {"-8G", 0},
                 {"1.5G", 0},
                 {"99999999999999999999999999", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t bytes = 0;
        assert_int_equal(sf_parse_bytes(cases[i].text, &bytes), cases[i].bytes != 0);
        assert_true(bytes == cases[i].bytes);
    }
}

/* ---- what a person reads ---- */

static size_t encode(uint32_t code, char *to)
{
    if (code < 0x80) return (size_t)sprintf(to, "%c", (int)code);
    if (code < 0x800)
        return (size_t)sprintf(to, "%c%c", (int)(0xc0 | code >> 6), (int)(0x80 | (code & 0x3f)));
    if (code < 0x10000)
        return (size_t)sprintf(to, "%c%c%c", (int)(0xe0 | code >> 12), (int)(0x80 | (code >> 6 & 0x3f)),
                               (int)(0x80 | (code & 0x3f)));
    return (size_t)sprintf(to, "%c%c%c%c", (int)(0xf0 | code >> 18), (int)(0x80 | (code >> 12 & 0x3f)),
                           (int)(0x80 | (code >> 6 & 0x3f)), (int)(0x80 | (code & 0x3f)));
}

/* Every character there is, in a sentence, in a log line, in a growing text and in JSON: shown as it is, or
 * escaped where it would command a terminal, turn text round or break a line. */
static void every_character_is_shown_or_escaped(void **state)
{
    (void)state;
    static const uint32_t ranges[][2] = {{0x00, 0x1f},     {0x7f, 0x9f},     {0x61c, 0x61c},
                                         {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2066, 0x2069},
                                         {0xd800, 0xdfff}};
    for (uint32_t code = 0; code <= 0x10ffff; code++) {
        char raw[8], expected[16], whole[32];
        size_t length = encode(code, raw);
        bool hidden = false, surrogate = code >= 0xd800 && code < 0xe000;
        for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
            hidden = hidden || (code >= ranges[i][0] && code <= ranges[i][1]);
        if (!hidden)
            snprintf(expected, sizeof expected, "%.*s", (int)length, raw);
        else if (surrogate) /* no UTF-8: byte by byte */
            snprintf(expected, sizeof expected, "\\x%02x\\x%02x\\x%02x", raw[0] & 0xff, raw[1] & 0xff,
                     raw[2] & 0xff);
        else
            snprintf(expected, sizeof expected, code < 0x80 ? "\\x%02x" : "\\u%04x", code);
        sf_text text = {0};
        sf_text_append(&text, raw, length);
        sf_text_make_visible(&text, false);
        assert_string_equal(text.data, expected);
        sf_text_free(&text);
        if (code == 0) continue; /* the end of a text elsewhere */
        sf_visible_printf(whole, sizeof whole, "<%s>", raw);
        assert_memory_equal(whole + 1, expected, strlen(expected));
        sf_json json = sf_json_start(&text);
        sf_json_string(&json, NULL, raw);
        for (const char *s = text.data; *s != '\0'; s += sf_utf8_length(s))
            assert_false(sf_utf8_is_hidden(sf_utf8_code(s, sf_utf8_length(s))));
        sf_text_free(&text);
    }
    sf_text lines = {0};
    sf_text_printf(&lines, "a\n\tb\x1b[2J");
    sf_text_make_visible(&lines, true);
    assert_string_equal(lines.data, "a\n\\x09b\\x1b[2J");
    sf_text_free(&lines);
}

/* Bytes that are no UTF-8: a lone continuation, an overlong slash, a beginning, Latin-1. */
static void broken_characters_are_escaped_and_none_is_cut(void **state)
{
    (void)state;
    static const struct {
        const char *raw, *shown;
    } cases[] = {{"\x80", "\\x80"},
                 {"\xc0\xaf", "\\xc0\\xaf"},
                 {"\xe2\x80", "\\xe2\\x80"},
                 {"m\xfc"
                  "de",
                  "m\\xfc"
                  "de"},
                 {"\xf5\x80\x80\x80", "\\xf5\\x80\\x80\\x80"},
                 {"\xc3\xbc \xc2\xb5V \xe6\x97\xa5", "\xc3\xbc \xc2\xb5V \xe6\x97\xa5"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sf_error error;
        sf_fail(&error, SF_DATA, cases[i].raw, "found '%s'", cases[i].raw);
        char expected[64];
        snprintf(expected, sizeof expected, "found '%s'", cases[i].shown);
        assert_string_equal(error.text, expected);
        assert_string_equal(error.place, cases[i].shown);
    }
    /* A sentence that is too long ends with a whole character or a whole escape, at every length. */
    for (int shift = 0; shift < 8; shift++) {
        static const char *const fillers[] = {"\xc3\xbc", "\xe6\x97\xa5", "\xf0\x9f\xa7\xa0", "\x1b", "\xff"};
        for (size_t f = 0; f < sizeof fillers / sizeof fillers[0]; f++) {
            sf_error error;
            sf_text text = {0};
            for (int i = 0; i < 1000; i++)
                sf_text_printf(&text, "%s", fillers[f]);
            sf_fail(&error, SF_DATA, NULL, "%.*s%s", shift, "12345678", text.data);
            size_t length = strlen(error.text);
            assert_true(length > sizeof error.text - 10 && length < sizeof error.text);
            for (const char *s = error.text; *s != '\0'; s += sf_utf8_length(s))
                assert_true(sf_utf8_length(s) > 0);
            if (f >= 3) assert_int_equal((length - (size_t)shift) % 4, 0);
            sf_text_free(&text);
        }
    }
}

/* A struct of options as a program of another version has it. */
typedef struct old_options {
    size_t size;
    int64_t window;
} old_options;

typedef struct now_options {
    size_t size;
    int64_t window;
    double share;
} now_options;

typedef struct new_options {
    size_t size;
    int64_t window;
    double share;
    int64_t later;
} new_options;

static void options_of_other_versions_are_understood(void **state)
{
    (void)state;
    const now_options defaults = {sizeof defaults, 7, 0.5};
    struct {
        old_options options;
        int64_t after;
    } old = {.after = -1};
    sf_options_init(&old.options, sizeof old.options, &defaults, sizeof defaults);
    assert_int_equal(old.options.size, sizeof old.options);
    assert_int_equal(old.options.window, 7);
    assert_int_equal(old.after, -1);
    new_options later;
    memset(&later, 0xff, sizeof later);
    sf_options_init(&later, sizeof later, &defaults, sizeof defaults);
    assert_int_equal(later.size, sizeof later);
    assert_true(later.share == 0.5);
    assert_int_equal(later.later, 0);

    now_options own;
    sf_error error;
    old.options.window = 9;
    assert_int_equal(sf_options_read(&own, &defaults, sizeof own, &old, "options", &error), SF_OK);
    assert_int_equal(own.size, sizeof own);
    assert_int_equal(own.window, 9);
    assert_true(own.share == 0.5);
    later.share = 0.25;
    assert_int_equal(sf_options_read(&own, &defaults, sizeof own, &later, "options", &error), SF_OK);
    assert_true(own.share == 0.25);
    assert_int_equal(sf_options_read(&own, &defaults, sizeof own, NULL, "options", &error), SF_OK);
    assert_true(own.window == 7 && own.share == 0.5);
    later.later = 1;
    test_assert_fails(sf_options_read(&own, &defaults, sizeof own, &later, "options", &error), &error,
                      SF_USAGE, "newer");
    const old_options forgotten = {.window = 3};
    test_assert_fails(sf_options_read(&own, &defaults, sizeof own, &forgotten, "options", &error), &error,
                      SF_USAGE, "size");

    struct {
        old_options columns;
        int64_t after;
    } columns = {{.size = sizeof columns.columns}, -1};
    sf_columns_fill(&columns, &defaults, sizeof defaults);
    assert_int_equal(columns.columns.size, sizeof columns.columns);
    assert_int_equal(columns.columns.window, 7);
    assert_int_equal(columns.after, -1);
}

/* Blocks of many sizes at once, each full of its own byte: none touches another, and what is given back is
 * taken again, within chunks and after all are empty. */
static void blocks_of_an_arena_lie_apart(void **state)
{
    (void)state;
    test_random random = test_random_start("arena", 18);
    sf_arena arena = {0};
    for (int round = 0; round < 3; round++) {
        unsigned char *blocks[200];
        size_t sizes[200];
        for (int i = 0; i < 200; i++) {
            sizes[i] = test_random_below(&random, i % 50 == 49 ? 100000 : 500);
            blocks[i] = sf_arena_take(&arena, 3, sizes[i]);
            assert_non_null(blocks[i]);
            assert_int_equal((uintptr_t)blocks[i] % alignof(max_align_t), 0);
            memset(blocks[i], i, 3 * sizes[i]);
            if (i % 3 == 0) sf_arena_trim(&arena, blocks[i], sizes[i]);
            sizes[i] *= i % 3 == 0 ? 1 : 3;
        }
        for (int i = 0; i < 200; i++)
            for (size_t k = 0; k < sizes[i]; k++)
                assert_int_equal(blocks[i][k], i);
        sf_arena_empty(&arena);
    }
    void *block = sf_arena_take(&arena, 1, 500);
    sf_arena_trim(&arena, block, 0);
    assert_ptr_equal(sf_arena_take(&arena, 1, 500), block);
    assert_null(sf_arena_take(&arena, SIZE_MAX / 2, 4));
    assert_null(sf_arena_take(&arena, SIZE_MAX - 8, 1));
    sf_arena_free(&arena);
    long before = sf_memory_live();
    assert_int_equal(sf_arena_open(&arena, 1000), SF_OK);
    sf_memory_fail_after(0);
    assert_non_null(sf_arena_take(&arena, 1000, 1)); /* there already */
    assert_null(sf_arena_take(&arena, 1, 1));
    sf_memory_fail_after(-1);
    sf_arena_free(&arena);
    assert_int_equal(sf_memory_live(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_in_bytes_are_read_whole),
        cmocka_unit_test(every_character_is_shown_or_escaped),
        cmocka_unit_test(broken_characters_are_escaped_and_none_is_cut),
        cmocka_unit_test(the_word_that_was_meant_is_found),
        cmocka_unit_test(names_are_ordered_as_people_count),
        cmocka_unit_test(numbers_parse_exactly),
        cmocka_unit_test(units_are_found_by_name_and_index),
        cmocka_unit_test(units_of_one_electrode_are_known),
        cmocka_unit_test(episodes_read_back_as_printed),
        cmocka_unit_test(names_that_want_quotes_are_told),
        cmocka_unit_test(names_that_are_learnt_have_dots),
        cmocka_unit_test(json_escapes_and_rounds_trip),
        cmocka_unit_test(spikes_sort_as_a_comparison_sort_does),
        cmocka_unit_test(one_spike_out_of_order_is_seen_among_many),
        cmocka_unit_test(trains_are_merged_as_a_sort_does),
        cmocka_unit_test(a_merge_ends_where_its_spikes_are_not_taken),
        cmocka_unit_test(a_bound_among_reals_is_where_a_look_at_each_finds_it),
        cmocka_unit_test(times_are_sorted_however_far_they_are_out_of_order),
        cmocka_unit_test(a_median_lies_between_the_two_in_the_middle),
        cmocka_unit_test(ranks_ascend_and_equal_ones_keep_their_order),
        cmocka_unit_test(every_log_line_arrives_or_is_counted),
        cmocka_unit_test(parallel_loops_visit_every_item_once),
        cmocka_unit_test(what_lies_before_an_item_that_fails_is_done),
        cmocka_unit_test(a_thread_without_work_watches_the_others),
        cmocka_unit_test(failed_allocations_leak_nothing),
        cmocka_unit_test(blocks_of_an_arena_lie_apart),
        cmocka_unit_test(options_of_other_versions_are_understood),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
