/* SPDX-License-Identifier: Apache-2.0 */
/* However a window moves over a stream, the counts of all pairs are those of its spikes taken alone, on the
 * CPU, on devices, and on one after the other. */
#include "support/plugin_work.h"
#include "support/support.h"

#include "core/backend/find.h"
#include "core/memory.h"
#include "oracle/count_oracle.h"
#include "pipeline/pairing.h"
#include "window/tally.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_UNITS = 60, MOST_DELAYS = 3 };

/* A window over a stream that moves at random. */
typedef struct scene {
    const sf_spike *spikes;
    size_t count;
    uint32_t units;
    sf_delay delays[MOST_DELAYS];
    size_t delay_count;
    bool self;
    sf_device *device; /* NULL: the CPU */
    unsigned threads;
    size_t compared, there;
} scene;

/* Counts that were found, by delay and pair. */
static void spread_out(const sf_pair_count *found, size_t count, uint32_t *counts, const scene *s)
{
    memset(counts, 0, s->delay_count * s->units * s->units * sizeof *counts);
    for (size_t i = 0; i < count; i++) {
        uint32_t *of_pair = &counts[(found[i].delay * s->units + found[i].from) * s->units + found[i].to];
        assert_int_equal(*of_pair, 0);
        *of_pair = found[i].count;
    }
}

static void check_window(scene *s, const sf_pairing *pairs, uint64_t begin, uint64_t end, uint32_t least)
{
    static uint32_t counts[MOST_DELAYS * MOST_UNITS * MOST_UNITS];
    size_t count;
    const sf_pair_count *found = sf_pairing_found(pairs, &count);
    spread_out(found, count, counts, s);
    for (uint32_t d = 0; d < s->delay_count; d++)
        for (uint32_t a = 0; a < s->units; a++)
            for (uint32_t b = 0; b < s->units; b++) {
                sf_episode pair = {.size = 2, .units = {a, b}, .delays = {s->delays[d]}};
                uint64_t expected =
                    a == b && !s->self ? 0 : oracle_count(s->spikes + begin, (size_t)(end - begin), &pair);
                assert_int_equal(counts[(d * s->units + a) * s->units + b], expected < least ? 0 : expected);
                s->compared += expected >= least;
            }
}

/* Steps of all lengths, also none, beyond the end of the window and to an empty one; the history forgets what
 * it may. */
static void move_along(scene *s, test_random *random, uint64_t longest_step, uint64_t longest_window)
{
    sf_history history = {0};
    sf_pairing pairs;
    uint64_t begin = 0, end = 0;
    const sf_pairing_setup setup = {.unit_count = s->units,
                                    .delays = s->delays,
                                    .delay_count = s->delay_count,
                                    .self = s->self,
                                    .most = MOST_DELAYS * MOST_UNITS * MOST_UNITS,
                                    .threads = s->threads,
                                    .device = s->device,
                                    .always = test_random_below(random, 2) == 0,
                                    .piece = test_random_below(random, 2) * test_random_below(random, 20)};
    assert_int_equal(sf_pairing_open(&pairs, &setup, NULL), SF_OK);
    pairs.contest.worth_ns = -1;
    pairs.sure_ns = test_random_below(random, 3) == 0 ? -1 : pairs.sure_ns;
    while (end < s->count) {
        uint64_t step = test_random_below(random, 4) == 0 ? 0 : test_random_below(random, longest_step + 1);
        uint64_t stop = end + step < s->count ? end + step : s->count;
        assert_int_equal(sf_history_append(&history, s->spikes + end, (size_t)(stop - end), NULL), SF_OK);
        end = stop;
        uint64_t length = test_random_below(random, longest_window + 1);
        if (end - begin > length && test_random_below(random, 3) > 0) begin = end - length;
        uint32_t least = 1 + (uint32_t)test_random_below(random, 4);
        pairs.contest.patience = test_random_below(random, 2) == 0 ? 1 : pairs.contest.patience;
        assert_int_equal(sf_pairing_slide(&pairs, &history, begin, end, least, NULL), SF_OK);
        check_window(s, &pairs, begin, end, least);
        s->there += pairs.there != NULL;
        sf_history_drop_before(&history, begin);
    }
    sf_pairing_close(&pairs);
    sf_history_free(&history);
}

static void report(const sf_device *device, size_t compared, size_t there, size_t least)
{
    printf("%s: %zu counts compared, %zu windows on it\n", sf_device_name(device), compared, there);
    assert_true(test_is_short() || compared > least || least == 0);
    assert_true(device == NULL || least == 0 || there > 10);
}

static void choose_delays(scene *s, test_random *random, uint64_t longest)
{
    s->delay_count = 1 + test_random_below(random, MOST_DELAYS);
    for (size_t d = 0; d < s->delay_count; d++) {
        int64_t low = (int64_t)test_random_below(random, longest) * (int64_t)test_random_below(random, 2);
        s->delays[d] = (sf_delay){low, low + 1 + (int64_t)test_random_below(random, longest)};
    }
    s->self = test_random_below(random, 2) == 0;
    s->threads = 1 + (unsigned)test_random_below(random, 2) * (unsigned)test_random_below(random, 4);
}

static void compare_random(sf_device *device, int rounds, uint64_t seed, size_t least)
{
    test_random random = test_random_start("pairs", seed);
    size_t compared = 0, there = 0;
    for (int round = 0; round < rounds; round++) {
        scene s = {.units = 1 + (uint32_t)test_random_below(&random, 4), .device = device};
        sf_spike *spikes;
        size_t count = 40 + test_random_below(&random, 120);
        s.count = test_random_stream(&random, &spikes, count, s.units,
                                     (int64_t)(20 + test_random_below(&random, 300)));
        s.spikes = spikes;
        choose_delays(&s, &random, 25);
        move_along(&s, &random, 1 + test_random_below(&random, 30), 1 + test_random_below(&random, 60));
        compared += s.compared;
        there += s.there;
        free(spikes);
    }
    report(device, compared, there, least);
}

/* Trains so regular that chains from two beginnings seldom or never meet. */
static void compare_regular(sf_device *device, int rounds, size_t least)
{
    test_random random = test_random_start("regular pairs", 42);
    size_t compared = 0, there = 0;
    for (int round = 0; round < rounds; round++) {
        scene s = {.count = 150, .units = 1 + (uint32_t)test_random_below(&random, 3), .device = device};
        sf_spike spikes[150];
        int64_t step = 1 + (int64_t)test_random_below(&random, 4);
        for (size_t i = 0; i < s.count; i++)
            spikes[i] = (sf_spike){.time_ns = step * (int64_t)(i / s.units), .unit = (uint32_t)(i % s.units)};
        s.spikes = spikes;
        choose_delays(&s, &random, (uint64_t)(6 * step));
        move_along(&s, &random, 1 + test_random_below(&random, 20), 1 + test_random_below(&random, 100));
        compared += s.compared;
        there += s.there;
    }
    report(device, compared, there, least);
}

/* Among so many units most do not follow each other within a window. */
static void compare_sparse(sf_device *device, int rounds, size_t least)
{
    test_random random = test_random_start("sparse pairs", 43);
    size_t compared = 0, there = 0;
    for (int round = 0; round < rounds; round++) {
        scene s = {.units = MOST_UNITS, .device = device};
        sf_spike *spikes;
        s.count = test_random_stream(&random, &spikes, 1500, s.units, 30000);
        s.spikes = spikes;
        choose_delays(&s, &random, round % 2 ? 25 : 400);
        move_along(&s, &random, 200, 600);
        compared += s.compared;
        there += s.there;
        free(spikes);
    }
    report(device, compared, there, least);
}

static void the_cpu_counts_each_window_alone(void **state)
{
    (void)state;
    compare_random(NULL, test_rounds(400), 41, 20000);
    compare_regular(NULL, test_rounds(150), 10000);
    compare_sparse(NULL, 6, 1000);
}

static void devices_count_each_window_alone(void **state)
{
    (void)state;
    sf_devices_close();
    for (uint32_t i = 0; i < sf_device_count(); i++) {
        compare_random(sf_device_at(i), test_rounds(100), 41, 0);
        compare_regular(sf_device_at(i), test_rounds(40), 0);
        compare_sparse(sf_device_at(i), test_rounds(2), 0);
    }
    assert_int_equal(sf_devices_use(TEST_PLUGIN, NULL), SF_OK);
    sf_device *device = sf_device_at(0);
    compare_random(device, test_rounds(200), 41, 10000);
    compare_regular(device, test_rounds(75), 5000);
    compare_sparse(device, 2, 300);
    sf_devices_close();
}

/* A spike a nanosecond of three units in turn, for pairs of the test's device. */
static void open_on_test_device(sf_pairing *pairs, sf_history *history, sf_pairing_setup setup, size_t count)
{
    *history = (sf_history){0};
    sf_devices_close();
    assert_int_equal(sf_devices_use(TEST_PLUGIN, NULL), SF_OK);
    setup.unit_count = 3;
    setup.delay_count = 1;
    setup.most = 100;
    setup.threads = 1;
    setup.device = sf_device_at(0);
    assert_int_equal(sf_pairing_open(pairs, &setup, NULL), SF_OK);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(sf_history_append(history, &(sf_spike){.time_ns = i, .unit = i % 3}, 1, NULL),
                         SF_OK);
}

/* Whoever waits for the device has it between two of them. */
static void long_moves_are_made_in_pieces(void **state)
{
    (void)state;
    enum { SPIKES = 120, PIECE = 10 };
    const sf_delay delay = {0, 5};
    for (uint64_t piece = 0; piece <= PIECE; piece += PIECE) {
        sf_history history;
        sf_pairing pairs;
        open_on_test_device(&pairs, &history,
                            (sf_pairing_setup){.delays = &delay, .always = true, .piece = piece}, SPIKES);
        const test_plugin_work *work = test_plugin_work_of(TEST_PLUGIN);
        assert_int_equal(sf_pairing_slide(&pairs, &history, 0, SPIKES / 2, 1, NULL), SF_OK);
        assert_int_equal(work->counted, piece == 0 ? 1 : SPIKES / 2 / PIECE);
        assert_int_equal(sf_pairing_slide(&pairs, &history, SPIKES / 2, SPIKES, 1, NULL), SF_OK);
        assert_true(piece == 0 ? work->counted < 6 : work->counted >= 3 * (SPIKES / 2 / PIECE));
        sf_pairing_close(&pairs);
        sf_history_free(&history);
    }
    sf_devices_close();
}

/* A million pairs of spikes take the CPU some milliseconds: from where on they are the device's at once. */
static void dense_spikes_are_the_devices_from_the_first_hop_on(void **state)
{
    (void)state;
    enum { SPIKES = 2000 };
    const sf_delay delay = {0, 500};
    for (int sure = 0; sure < 2; sure++) {
        sf_history history;
        sf_pairing pairs;
        open_on_test_device(&pairs, &history, (sf_pairing_setup){.delays = &delay}, SPIKES);
        pairs.sure_ns = sure != 0 ? 1e6 : 5e6;
        assert_int_equal(sf_pairing_slide(&pairs, &history, 0, SPIKES, 1, NULL), SF_OK);
        assert_string_equal(sf_pairing_device(&pairs), sure != 0 ? "test:0" : "cpu");
        sf_pairing_close(&pairs);
        sf_history_free(&history);
    }
    sf_devices_close();
}

/* Devices that are lost, refuse, and lose windows: the CPU goes on. */
static void a_device_that_leaves_is_made_up_for(void **state)
{
    (void)state;
    static const uint32_t devices[] = {1, 2, 5};
    for (size_t d = 0; d < 3; d++)
        for (int round = 0; round < 10; round++) {
            sf_devices_close();
            assert_int_equal(sf_devices_use(TEST_PLUGIN, NULL), SF_OK);
            compare_random(sf_device_at(devices[d]), 1, 50 + (uint64_t)round, 0);
        }
    sf_devices_close();
}

/* ---- the counts of one unit ---- */

static void tallies_count_few_and_many(void **state)
{
    (void)state;
    test_random random = test_random_start("tally", 44);
    enum { UNITS = 1000, MOVES = 4000 };
    static uint32_t expected[UNITS], in_play[MOVES * 4];
    static sf_tally_entry entries[UNITS];
    for (int round = 0; round < 40; round++) {
        sf_tally tally = {0};
        uint32_t among = 1 + (uint32_t)test_random_below(&random, round % 2 ? UNITS : 40);
        size_t first = 0, last = 0;
        memset(expected, 0, sizeof expected);
        int wide_from = (int)test_random_below(&random, 2 * MOVES);
        for (int move = 0; move < MOVES; move++) {
            if (move == wide_from) assert_int_equal(sf_tally_widen(&tally, UNITS), 0);
            size_t more = test_random_below(&random, 4);
            for (size_t i = 0; i < more; i++) {
                in_play[last + i] = (uint32_t)test_random_below(&random, among) * 7 % UNITS;
                expected[in_play[last + i]]++;
            }
            assert_int_equal(sf_tally_add(&tally, in_play + last, more, UNITS), 0);
            last += more;
            size_t gone = last - first > 300 ? test_random_below(&random, 8) : 0;
            for (size_t i = 0; i < gone; i++)
                expected[in_play[first + i]]--;
            sf_tally_subtract(&tally, in_play + first, gone);
            first += gone;
            if (move % 100 > 0) continue;
            uint32_t least = 1 + (uint32_t)test_random_below(&random, 3);
            size_t found = sf_tally_reaching(&tally, UNITS, least, entries), reach = 0;
            for (size_t u = 0; u < UNITS; u++)
                reach += expected[u] >= least;
            assert_int_equal(found, reach);
            for (size_t i = 0; i < found; i++)
                assert_int_equal(entries[i].count, expected[entries[i].unit]);
        }
        bool has_array = tally.narrow != NULL || tally.wide != NULL;
        assert_true(has_array || tally.capacity * sizeof *tally.slots < UNITS * sizeof(uint16_t));
        assert_true(among > 40 || !has_array);
        sf_tally_free(&tally);
    }
}

/* ---- memory and refusals ---- */

static int slide_twice_there(void *context)
{
    const scene *s = context;
    sf_history history = {0};
    sf_pairing pairs = {0};
    int status = sf_devices_use(TEST_PLUGIN, NULL);
    const sf_pairing_setup setup = {.unit_count = s->units,
                                    .delays = s->delays,
                                    .delay_count = s->delay_count,
                                    .most = 100,
                                    .threads = 1,
                                    .device = status == SF_OK ? sf_device_at(0) : NULL,
                                    .always = true};
    if (status == SF_OK) status = sf_pairing_open(&pairs, &setup, NULL);
    if (status == SF_OK) status = sf_history_append(&history, s->spikes, s->count, NULL);
    if (status == SF_OK) status = sf_pairing_slide(&pairs, &history, 0, s->count / 2, 1, NULL);
    if (status == SF_OK) status = sf_pairing_slide(&pairs, &history, s->count / 4, s->count, 1, NULL);
    sf_pairing_close(&pairs);
    sf_devices_close();
    sf_history_free(&history);
    return status;
}

static int slide_twice(void *context)
{
    const scene *s = context;
    sf_history history = {0};
    sf_pair_counts *pairs = NULL;
    uint64_t half = s->count / 2;
    int status = sf_pair_counts_open(&pairs, s->units, s->delays, s->delay_count, s->self, SIZE_MAX,
                                     s->threads, 0, NULL);
    if (status == SF_OK) status = sf_history_append(&history, s->spikes, s->count, NULL);
    if (status == SF_OK) status = sf_pair_counts_slide(pairs, &history, 0, half, 1, NULL);
    if (status == SF_OK) status = sf_pair_counts_slide(pairs, &history, half / 2, s->count, 1, NULL);
    sf_pair_counts_close(pairs);
    sf_history_free(&history);
    return status;
}

static void failed_allocations_leak_nothing(void **state)
{
    (void)state;
    test_random random = test_random_start("pairs allocations", 45);
    sf_spike *spikes;
    scene s = {.units = 40, .delays = {{0, 5}, {3, 20}}, .delay_count = 2, .self = true, .threads = 1};
    s.count = test_random_stream(&random, &spikes, 300, s.units, 900);
    s.spikes = spikes;
    test_fail_every_allocation(slide_twice, &s);
    free(spikes);
    sf_devices_close();
    s.units = 4;
    s.count = test_random_stream(&random, &spikes, 40, s.units, 120);
    s.spikes = spikes;
    test_fail_every_allocation(slide_twice_there, &s);
    free(spikes);
}

/* All four pairs of the two units and the two delays that count 60,000 or more. */
static void check_turns(const sf_pair_count *found, size_t count, const sf_spike *spikes, size_t spike_count)
{
    size_t expected = 0;
    for (uint32_t p = 0; p < 4; p++) {
        uint64_t alone = 0; /* neighbours are the only ones close enough, and never overlap */
        for (size_t i = 0; i + 1 < spike_count; i++)
            alone += spikes[i].unit == p % 2;
        expected += alone >= 60000;
        for (size_t i = 0; i < count; i++)
            if (found[i].from == p % 2 && found[i].delay == p / 2) assert_int_equal(found[i].count, alone);
    }
    assert_int_equal(count, expected);
}

/* Of two units that take turns, one follows the other more often than 16 bits hold, for a while. */
static void counts_may_be_large(void **state)
{
    (void)state;
    enum { SPIKES = 150000, STEP = 10000, LENGTH = 140000 };
    static const sf_delay delays[] = {{0, 3}, {1, 4}};
    static const size_t units[] = {2, 1000};
    sf_spike *spikes = calloc(SPIKES, sizeof *spikes);
    for (uint32_t i = 0; i < SPIKES; i++)
        spikes[i] = (sf_spike){.time_ns = (int64_t)i * 2, .unit = i % 2};
    for (int round = 0; round < 2; round++) {
        sf_history history = {0};
        sf_pair_counts *pairs;
        assert_int_equal(sf_pair_counts_open(&pairs, units[round], delays, 2, false, 9, 1, 0, NULL), SF_OK);
        for (uint64_t stop = STEP; stop <= SPIKES + LENGTH; stop += STEP) {
            uint64_t end = stop < SPIKES ? stop : SPIKES, begin = stop > LENGTH ? stop - LENGTH : 0;
            assert_int_equal(
                sf_history_append(&history, spikes + history.end, (size_t)(end - history.end), NULL), SF_OK);
            assert_int_equal(sf_pair_counts_slide(pairs, &history, begin, end, 60000, NULL), SF_OK);
            size_t count;
            const sf_pair_count *found = sf_pair_counts_found(pairs, &count);
            check_turns(found, count, spikes + begin, (size_t)(end - begin));
            sf_history_drop_before(&history, begin);
        }
        sf_pair_counts_close(pairs);
        sf_history_free(&history);
    }
    free(spikes);
}

static void more_than_asked_for_and_unknown_units_are_told(void **state)
{
    (void)state;
    const sf_spike spikes[] = {{0, 0, 0}, {1, 1, 0}, {2, 2, 0}, {3, 3, 0}, {4, 9, 0}};
    const sf_delay delay = {0, 10};
    sf_error error;
    for (size_t most = 1; most < 9; most++) {
        sf_history history = {0};
        sf_pair_counts *pairs;
        size_t count;
        assert_int_equal(sf_history_append(&history, spikes, 5, NULL), SF_OK);
        assert_int_equal(sf_pair_counts_open(&pairs, 4, &delay, 1, false, most, 1, 0, NULL), SF_OK);
        assert_int_equal(sf_pair_counts_slide(pairs, &history, 0, 4, 1, NULL), SF_OK);
        sf_pair_counts_found(pairs, &count);
        assert_true(most < 6 ? count > most : count == 6);
        test_assert_fails(sf_pair_counts_slide(pairs, &history, 0, 5, 1, &error), &error, SF_DATA, "unit #9");
        sf_pair_counts_close(pairs);
        sf_history_free(&history);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cpu_counts_each_window_alone),
        cmocka_unit_test(devices_count_each_window_alone),
        cmocka_unit_test(long_moves_are_made_in_pieces),
        cmocka_unit_test(dense_spikes_are_the_devices_from_the_first_hop_on),
        cmocka_unit_test(a_device_that_leaves_is_made_up_for),
        cmocka_unit_test(counts_may_be_large),
        cmocka_unit_test(tallies_count_few_and_many),
        cmocka_unit_test(failed_allocations_leak_nothing),
        cmocka_unit_test(more_than_asked_for_and_unknown_units_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
