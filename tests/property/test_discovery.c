/* SPDX-License-Identifier: Apache-2.0 */
/* However windows follow each other, discovery finds in each what mining its spikes alone finds, in the same
 * order; and it does not count all pairs anew for it. */
#include "support/plugin_work.h"
#include "support/support.h"

#include "core/backend/device.h"
#include "core/episode.h"
#include "mine/mine.h"
#include "oracle/count_oracle.h"
#include "pipeline/discovery.h"

enum { MOST_UNITS = 12 };

/* Where a discovery mines, and what it begins with. */
typedef struct way {
    sf_device *device; /* NULL: the CPU */
    bool is_given;     /* the pairs of its window; else it follows those of the one before */
} way;

/* A stream, and windows that move over it. */
typedef struct scene {
    sf_spike *spikes;
    size_t count;
    sf_units units;
    sf_live_options config;
    uint64_t unit_spikes[MOST_UNITS];
    sf_history history; /* all of it */
    sf_pairing pairs;   /* in the window, of a way that is given them */
    sf_resident *resident;
    double piece;                 /* of what a device grows */
    size_t windows, begun, found; /* that began with pairs; episodes of those */
} scene;

static void make_units(sf_units *units, uint32_t count)
{
    *units = (sf_units){0};
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(sf_units_add(units, &(sf_unit){.electrode = -1}, NULL), SF_OK);
    assert_int_equal(sf_units_finish(units, NULL), SF_OK);
}

/* Ties, and now and then a silence longer than any window. */
static void set_up(scene *s, test_random *random)
{
    uint32_t units = 1 + (uint32_t)test_random_below(random, MOST_UNITS);
    *s = (scene){.config = sf_live_options_default()};
    make_units(&s->units, units);
    s->count = test_random_stream(random, &s->spikes, 200 + test_random_below(random, 600), units,
                                  300 + (int64_t)test_random_below(random, 3000));
    int64_t silent_ns = 0;
    for (size_t i = 0; i < s->count; i++) {
        silent_ns += test_random_below(random, 300) == 0 ? 100000 : 0;
        s->spikes[i].time_ns = s->spikes[i].time_ns * 1000000 + silent_ns;
    }
    static const char *const delays[] = {"0:2", "0:5", "1:4,4:9", "0:3,2:6"};
    s->config.mine.delays_ms = delays[test_random_below(random, 4)];
    s->config.mine.repeats = test_random_below(random, 2) == 0;
    s->config.mine.max_size = 2 + (uint32_t)test_random_below(random, 3);
    s->config.mine.min_count = 3 + (uint32_t)test_random_below(random, 9);
    s->config.mine.min_rate_hz = 0;
    s->config.mine.threads = 1 + (uint32_t)test_random_below(random, 3);
    s->config.mine.track_most = 100000;
    s->piece = test_random_below(random, 2) == 0 ? 30 : SF_DISCOVERY_PIECE;
}

/* Five units instead, each of which follows the one before. */
static void chain_units(scene *s)
{
    sf_units_free(&s->units);
    make_units(&s->units, 5);
    s->config.mine.delays_ms = "0:2";
    s->config.mine.max_size = 3;
    for (size_t i = 0; i < s->count; i++)
        s->spikes[i] = (sf_spike){.time_ns = (int64_t)i * 1000000, .unit = (uint32_t)(i % s->units.count)};
}

static void tear_down(scene *s)
{
    sf_history_free(&s->history);
    free(s->spikes);
    sf_units_free(&s->units);
}

static void open_discovery(sf_discovery *discovery, const scene *s, sf_device *device)
{
    sf_error error;
    const sf_discovery_setup setup = {.config = &s->config,
                                      .units = &s->units,
                                      .device = sf_device_name(device),
                                      .there = device,
                                      .inside = true};
    int status = sf_discovery_open(discovery, &setup, &error);
    if (status != SF_OK) fail_msg("%s", error.text);
    discovery->kept.cost_there = 0; /* so that windows are followed wherever they are few */
    discovery->piece = s->piece;
}

/* What is found is what is to be tracked, in order, and ready to be counted. */
static void check_list(const sf_tracking *next, const sf_discovery *discovery)
{
    assert_int_equal(next->count, discovery->found_count);
    assert_int_equal(next->counted.count, discovery->found_count);
    assert_true(next->counted.has_list == (discovery->there != NULL));
    for (size_t i = 0; i < next->count; i++) {
        assert_true(i == 0 || sf_episode_compare(&next->items[i - 1].episode, &next->items[i].episode) < 0);
        assert_int_equal(sf_episode_compare(&next->counted.episodes[i], &next->items[i].episode), 0);
    }
}

static void discover(sf_discovery *discovery, const sf_discovery_window *window, sf_episode **found,
                     size_t *count)
{
    sf_tracking next;
    bool ready;
    assert_true(sf_discovery_may_start(discovery));
    assert_int_equal(sf_discovery_start(discovery, window, NULL), SF_OK);
    assert_int_equal(sf_discovery_take(discovery, &ready, &next, NULL), SF_OK);
    assert_true(ready);
    check_list(&next, discovery);
    sf_tracking_free(&next);
    *found = discovery->found;
    *count = discovery->found_count;
}

/* Each is frequent in the window alone, by the definition; a discovery that knows nothing finds the same. */
static void check_window(scene *s, sf_discovery *discovery, const sf_discovery_window *window)
{
    sf_discovery alone;
    sf_discovery_window bare = *window;
    sf_episode *found, *expected;
    size_t count, expected_count, window_spikes = (size_t)(window->end - window->begin);
    uint64_t followed = discovery->kept.followed;
    bare.pairs_known = false;
    bare.resident = NULL;
    discover(discovery, window, &found, &count);
    open_discovery(&alone, s, NULL);
    discover(&alone, &bare, &expected, &expected_count);
    assert_int_equal(alone.kept.followed, 0);
    assert_int_equal(count, expected_count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(sf_episode_compare(&found[i], &expected[i]), 0);
        assert_true((double)oracle_count(window->spikes, window_spikes, &found[i]) >=
                    s->config.mine.min_count);
    }
    sf_discovery_close(&alone);
    s->windows++;
    bool begun = window->pairs_known || discovery->kept.followed > followed;
    s->begun += begun;
    s->found += begun ? count : 0;
}

/* A hop between two discoveries hands its spikes over, so that few are left to the next. */
static void see(scene *s, sf_discovery *discovery, uint64_t begin, uint64_t end)
{
    const sf_discovery_window window = {.begin = begin, .end = end, .spikes = s->spikes + begin};
    assert_int_equal(sf_discovery_see(discovery, &window, NULL), SF_OK);
    assert_int_equal(discovery->arrived[1].end, end);
}

/* What a hop hands over with the window. */
static sf_discovery_window make_window(scene *s, const way *w, uint64_t begin, uint64_t end)
{
    sf_discovery_window window = {.span = {0, 1000000000},
                                  .observed_ns = 1000000000,
                                  .begin = begin,
                                  .end = end,
                                  .spikes = s->spikes + begin,
                                  .unit_spikes = s->unit_spikes,
                                  .pairs_known = w->is_given};
    memset(s->unit_spikes, 0, sizeof s->unit_spikes);
    for (uint64_t i = begin; i < end; i++)
        s->unit_spikes[s->spikes[i].unit]++;
    if (w->is_given) {
        assert_int_equal(sf_pairing_slide(&s->pairs, &s->history, begin, end,
                                          sf_threshold_least(s->config.mine.min_count), NULL),
                         SF_OK);
        window.pairs = sf_pairing_found(&s->pairs, &window.pair_count);
    }
    if (s->resident != NULL && sf_resident_hold(s->resident, &s->history, begin, end, NULL) == SF_OK)
        window.resident = s->resident;
    return window;
}

static void move_along(scene *s, const way *w, test_random *random)
{
    sf_discovery discovery;
    uint64_t begin = 0, end = 0, length = 20 + test_random_below(random, 180),
             step = 1 + test_random_below(random, length / 4);
    open_discovery(&discovery, s, w->device);
    const sf_pairing_setup setup = {.unit_count = s->units.count,
                                    .delays = discovery.delays,
                                    .delay_count = discovery.delay_count,
                                    .self = s->config.mine.repeats,
                                    .most = SF_PAIRING_MOST,
                                    .threads = 1};
    assert_int_equal(sf_pairing_open(&s->pairs, &setup, NULL), SF_OK);
    assert_int_equal(sf_history_append(&s->history, s->spikes, s->count, NULL), SF_OK);
    if (test_random_below(random, 2) == 0 && w->device != NULL)
        sf_resident_open(&s->resident, w->device, NULL);
    while (end < s->count) {
        uint64_t by = test_random_below(random, 12) == 0 ? 2 * length : test_random_below(random, 2 * step);
        if (by > 1 && end + by / 2 < s->count && test_random_below(random, 2) == 0)
            see(s, &discovery, begin, end + by / 2);
        end = end + by < s->count ? end + by : s->count;
        begin = end - begin > length ? end - length + test_random_below(random, step) : begin;
        begin = begin < end ? begin : end;
        const sf_discovery_window window = make_window(s, w, begin, end);
        check_window(s, &discovery, &window);
    }
    sf_discovery_close(&discovery);
    sf_pairing_close(&s->pairs);
    sf_resident_close(s->resident);
    s->resident = NULL;
}

/* share: of the windows, that begin with pairs at least. */
static void mine_windows(const way *w, int rounds, double share)
{
    test_random random = test_random_start("discovery", 61);
    size_t windows = 0, begun = 0, found = 0;
    for (int round = 0; round < rounds; round++) {
        scene s;
        set_up(&s, &random);
        move_along(&s, w, &random);
        windows += s.windows;
        begun += s.begun;
        found += s.found;
        tear_down(&s);
    }
    printf("%s: %zu windows, %zu of them %s, with %zu episodes\n", sf_device_name(w->device), windows, begun,
           w->is_given ? "given their pairs" : "followed", found);
    bool are_many = rounds >= 10;
    assert_true(!are_many || ((double)begun >= share * (double)windows && (w->is_given || begun < windows)));
    assert_true(!are_many || found > 15 * (size_t)rounds);
}

static void windows_are_mined_as_if_alone(void **state)
{
    (void)state;
    mine_windows(&(way){NULL, false}, test_rounds(120), 0.33);
    mine_windows(&(way){NULL, true}, test_rounds(60), 1);
}

/* On the devices of this machine, and on one of the tests' own: pairs are known there, too. */
static void devices_mine_windows_as_if_alone(void **state)
{
    (void)state;
    sf_devices_close();
    for (uint32_t i = 0; i < sf_device_count(); i++) {
        mine_windows(&(way){sf_device_at(i), false}, test_rounds(12), 0.33);
        mine_windows(&(way){sf_device_at(i), true}, test_rounds(12), 1);
    }
    assert_int_equal(sf_devices_use(TEST_PLUGIN, NULL), SF_OK);
    mine_windows(&(way){sf_device_at(0), false}, 60, 0.33);
    const test_plugin_work *work = test_plugin_work_of(TEST_PLUGIN);
    uint32_t followed = work->paired, counted = work->counted;
    mine_windows(&(way){sf_device_at(0), true}, 60, 1);
    printf("%u searches went on from pairs that the device followed, %u from given ones\n", followed,
           work->paired - followed);
    assert_true(followed > 100 && work->paired > followed + 100);
    assert_true(counted > 1000 && work->counted == counted); /* pairs that moved along there */
    sf_devices_close();
}

/* The first window has no spikes, and the second is mined there: it tells where the others are followed. */
static void a_silent_beginning_says_nothing_of_the_place(void **state)
{
    (void)state;
    test_random random = test_random_start("silent", 66);
    scene s;
    sf_discovery discovery;
    sf_episode *found;
    size_t count;
    sf_devices_close();
    assert_int_equal(sf_devices_use(TEST_PLUGIN, NULL), SF_OK);
    const test_plugin_work *work = test_plugin_work_of(TEST_PLUGIN);
    set_up(&s, &random);
    chain_units(&s);
    s.config.mine.min_count = 3;
    open_discovery(&discovery, &s, sf_device_at(0));
    uint32_t paired = work->paired;
    for (uint64_t i = 0; i < 6; i++) {
        const sf_discovery_window window = make_window(&s, &(way){0}, 4 * i, i == 0 ? 0 : 4 * i + 100);
        discover(&discovery, &window, &found, &count);
        assert_int_equal(discovery.place, i == 0 ? SF_DISCOVERY_NOWHERE_YET : SF_DISCOVERY_THERE);
    }
    assert_int_equal(discovery.kept.followed, 3);
    assert_int_equal(work->paired, paired + 5);
    sf_discovery_close(&discovery);
    tear_down(&s);
    sf_devices_close();
}

/* Searches of a device for the chains of a window: from pairs that are known, or anew. */
static uint32_t count_searches(test_random *random, double piece, bool known)
{
    const test_plugin_work *work = test_plugin_work_of(TEST_PLUGIN);
    const sf_pair_count chain[] = {{0, 1, 0, 7}, {1, 2, 0, 6}, {2, 3, 0, 8}, {3, 4, 0, 9}};
    scene s;
    sf_discovery discovery;
    sf_episode *found;
    size_t count;
    set_up(&s, random);
    chain_units(&s);
    s.config.mine.min_count = 3;
    s.piece = piece;
    open_discovery(&discovery, &s, sf_device_at(0));
    sf_discovery_window window = make_window(&s, &(way){0}, 0, s.count);
    window.pairs_known = known;
    window.pairs = known ? chain : NULL;
    window.pair_count = known ? 4 : 0;
    uint32_t before = work->searches, paired = work->paired;
    discover(&discovery, &window, &found, &count);
    assert_int_equal(work->paired - paired, work->searches - before - !known); /* pairs come first */
    if (known) assert_int_equal(count, 4 + 3);                                 /* to size 3 */
    sf_discovery_close(&discovery);
    tear_down(&s);
    return work->searches - before;
}

/* Whoever waits for the device has it between two of them. */
static void a_device_mines_in_pieces(void **state)
{
    (void)state;
    test_random random = test_random_start("pieces", 65);
    sf_devices_close();
    assert_int_equal(sf_devices_use(TEST_PLUGIN, NULL), SF_OK);
    for (int known = 0; known < 2; known++) {
        uint32_t whole = known ? 1 : 2;
        assert_int_equal(count_searches(&random, SF_DISCOVERY_PIECE, known), whole);
        assert_true(count_searches(&random, 20, known) > whole);
    }
    sf_devices_close();
}

/* Devices that are lost, refuse, have little room, and lose windows: the CPU goes on. */
static void a_device_that_leaves_is_made_up_for(void **state)
{
    (void)state;
    for (uint32_t device = 1; device < 6; device++)
        for (int given = 0; given < 2 && device != 3; given++) {
            sf_devices_close();
            assert_int_equal(sf_devices_use(TEST_PLUGIN, NULL), SF_OK);
            mine_windows(&(way){sf_device_at(device), given}, 5, 0);
        }
    sf_devices_close();
}

/* ---- pairs that come with a window ---- */

/* Nobody counts them again: of those that are kept back nothing is found, nor what is longer and holds one.
 */
static void pairs_that_are_given_are_believed(void **state)
{
    (void)state;
    test_random random = test_random_start("given", 63);
    scene s;
    sf_discovery discovery;
    sf_episode *found;
    size_t all, some, longer = 0;
    set_up(&s, &random);
    chain_units(&s);
    s.config.mine.min_count = 2;
    open_discovery(&discovery, &s, NULL);
    sf_discovery_window window = make_window(&s, &(way){0}, 0, s.count);
    discover(&discovery, &window, &found, &all);
    window.pairs_known = true;
    discover(&discovery, &window, &found, &some);
    assert_int_equal(some, 0);
    const sf_pair_count chain[] = {{0, 1, 0, 7}, {1, 2, 0, 6}};
    window.pairs = chain;
    window.pair_count = 2;
    discover(&discovery, &window, &found, &some);
    for (size_t i = 0; i < some; i++)
        longer += found[i].size == 3;
    assert_true(some == 3 && longer == 1 && all > some);
    sf_discovery_close(&discovery);
    tear_down(&s);
}

/* More than anybody looks at: what was tracked before stays. */
static void too_many_pairs_are_not_taken_up(void **state)
{
    (void)state;
    test_random random = test_random_start("too many", 64);
    scene s;
    sf_discovery discovery;
    sf_tracking next = {0};
    bool ready = true;
    set_up(&s, &random);
    open_discovery(&discovery, &s, NULL);
    sf_discovery_window window = make_window(&s, &(way){0}, 0, s.count);
    window.pairs_known = true;
    window.pair_count = SF_DISCOVERY_MOST + 1;
    assert_int_equal(sf_discovery_start(&discovery, &window, NULL), SF_OK);
    assert_int_equal(sf_discovery_take(&discovery, &ready, &next, NULL), SF_OK);
    assert_true(!ready && next.items == NULL);
    assert_string_equal(discovery.error.text,
                        "more than 1000000 episodes are frequent: ask for a higher threshold, fewer or "
                        "narrower delays, or a smaller size");
    uint32_t passed_over[8], expected[] = {1, 3, 7, 15, 31, 63, 63, 1};
    for (size_t i = 0; i < 8; i++) { /* it is looked again, ever more rarely, until one is fewer */
        for (passed_over[i] = 0; !sf_discovery_may_start(&discovery); passed_over[i]++)
            continue;
        window.pair_count = i == 6 ? 0 : SF_DISCOVERY_MOST + 1;
        assert_int_equal(sf_discovery_start(&discovery, &window, NULL), SF_OK);
        assert_int_equal(sf_discovery_take(&discovery, &ready, &next, NULL), SF_OK);
        assert_true(ready == (i == 6));
        if (ready && sf_discovery_may_start(&discovery)) { /* and then as often as before */
            window.pair_count = SF_DISCOVERY_MOST + 1;
            assert_int_equal(sf_discovery_start(&discovery, &window, NULL), SF_OK);
            assert_int_equal(sf_discovery_take(&discovery, &ready, &next, NULL), SF_OK);
        }
    }
    assert_memory_equal(passed_over, expected, sizeof expected);
    sf_tracking_free(&next);
    sf_discovery_close(&discovery);
    tear_down(&s);
}

/* What was mined when a run is halted is neither taken up nor a failure. */
static void a_halted_run_leaves_its_mining(void **state)
{
    (void)state;
    test_random random = test_random_start("halted mining", 65);
    scene s;
    sf_discovery discovery;
    sf_tracking next = {0};
    bool ready = true;
    set_up(&s, &random);
    open_discovery(&discovery, &s, NULL);
    const sf_discovery_window window = make_window(&s, &(way){0}, 0, s.count);
    sf_background_halt(&discovery.background);
    for (int i = 0; i < 2; i++) {
        assert_true(sf_discovery_may_start(&discovery));
        assert_int_equal(sf_discovery_start(&discovery, &window, NULL), SF_OK);
        assert_int_equal(sf_discovery_take(&discovery, &ready, &next, NULL), SF_OK);
        assert_int_equal(discovery.status, SF_CANCELLED);
        assert_true(!ready && next.items == NULL);
    }
    sf_discovery_close(&discovery);
    tear_down(&s);
}

/* ---- where windows are mined anew ---- */

/* Windows that move by a few spikes: from the third on followed, if at all. */
static uint64_t follow_five(scene *s, uint64_t step, const sf_pairing_setup *instead)
{
    sf_discovery discovery;
    sf_episode *found;
    size_t count;
    open_discovery(&discovery, s, NULL);
    if (instead != NULL) sf_kept_pairs_open(&discovery.kept, instead);
    for (uint64_t i = 0; i < 5; i++) {
        const sf_discovery_window window = {.span = {0, 1000000000},
                                            .begin = step * i,
                                            .end = step * i + 100,
                                            .spikes = s->spikes + step * i,
                                            .unit_spikes = s->unit_spikes};
        discover(&discovery, &window, &found, &count);
    }
    uint64_t followed = discovery.kept.followed;
    sf_discovery_close(&discovery);
    return followed;
}

/* Nor kept, however long nothing is mined; the next discovery has its whole window all the same. */
static void what_no_window_holds_is_let_go(void **state)
{
    (void)state;
    enum { LENGTH = 24, STEP = 3 };
    test_random random = test_random_start("let go", 68);
    for (int round = 0; round < 20; round++) {
        scene s;
        sf_discovery discovery, alone;
        sf_episode *found, *expected;
        size_t count, expected_count;
        uint64_t begin = 0;
        set_up(&s, &random);
        s.config.mine.min_count = 3;
        s.config.window.length_s = 1e-9; /* as short as no window here: no room is made ahead */
        open_discovery(&discovery, &s, NULL);
        open_discovery(&alone, &s, NULL);
        for (int mined = 0; mined < 2; mined++) {
            uint64_t until = (uint64_t)(mined + 1) * (s.count - LENGTH - STEP) / 2;
            for (; begin < until; begin += STEP)
                see(&s, &discovery, begin, begin + LENGTH);
            assert_true(discovery.arrived[0].room + discovery.arrived[1].room < 4 * LENGTH);
            const sf_discovery_window window = make_window(&s, &(way){0}, begin, begin + LENGTH);
            discover(&discovery, &window, &found, &count);
            discover(&alone, &window, &expected, &expected_count);
            assert_int_equal(count, expected_count);
            for (size_t e = 0; e < count; e++)
                assert_int_equal(sf_episode_compare(&found[e], &expected[e]), 0);
        }
        sf_discovery_close(&discovery);
        sf_discovery_close(&alone);
        tear_down(&s);
    }
}

/* Hops do not wait for a device that mines for long: it follows windows from the second on, though they
 * hardly overlap. */
static void long_windows_are_followed(void **state)
{
    (void)state;
    test_random random = test_random_start("long", 67);
    sf_devices_close();
    assert_int_equal(sf_devices_use(TEST_PLUGIN, NULL), SF_OK);
    for (int is_long = 0; is_long < 2; is_long++) {
        scene s;
        sf_discovery discovery, alone;
        sf_episode *found, *expected;
        size_t count, expected_count;
        set_up(&s, &random);
        chain_units(&s);
        open_discovery(&discovery, &s, sf_device_at(0));
        open_discovery(&alone, &s, NULL);
        discovery.kept.cost_there = 1e9;
        discovery.kept.most_anew = is_long ? 0 : 1e9;
        for (uint64_t i = 0; i < 4; i++) {
            const sf_discovery_window window = make_window(&s, &(way){0}, 30 * i, 30 * i + 50);
            discover(&discovery, &window, &found, &count);
            discover(&alone, &window, &expected, &expected_count);
            assert_int_equal(count, expected_count);
            for (size_t e = 0; e < count; e++)
                assert_int_equal(sf_episode_compare(&found[e], &expected[e]), 0);
        }
        assert_int_equal(discovery.kept.followed, is_long ? 2 : 0); /* the second begins it */
        sf_discovery_close(&discovery);
        sf_discovery_close(&alone);
        tear_down(&s);
    }
    sf_devices_close();
}

static void some_windows_are_mined_anew(void **state)
{
    (void)state;
    test_random random = test_random_start("anew", 62);
    scene s;
    set_up(&s, &random);
    for (size_t u = 0; u < MOST_UNITS; u++)
        s.unit_spikes[u] = 100;
    assert_int_equal(follow_five(&s, 4, NULL), 3);
    assert_int_equal(follow_five(&s, 24, NULL), 3); /* 48 spikes come and go: just less than half of 100 */
    assert_int_equal(follow_five(&s, 25, NULL), 0);
    s.config.mine.engine = "interval";
    assert_int_equal(follow_five(&s, 4, NULL), 3);
    s.config.mine.engine = "ptpe"; /* which was asked for by name */
    assert_int_equal(follow_five(&s, 4, NULL), 0);
    s.config.mine.engine = "auto";
    const sf_pairing_setup many = {.unit_count = 8192, .delay_count = 9};
    assert_int_equal(follow_five(&s, 4, &many), 0); /* 1.1 GiB */
    tear_down(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_are_mined_as_if_alone),
        cmocka_unit_test(devices_mine_windows_as_if_alone),
        cmocka_unit_test(a_silent_beginning_says_nothing_of_the_place),
        cmocka_unit_test(a_device_mines_in_pieces),
        cmocka_unit_test(a_device_that_leaves_is_made_up_for),
        cmocka_unit_test(pairs_that_are_given_are_believed),
        cmocka_unit_test(too_many_pairs_are_not_taken_up),
        cmocka_unit_test(a_halted_run_leaves_its_mining),
        cmocka_unit_test(some_windows_are_mined_anew),
        cmocka_unit_test(what_no_window_holds_is_let_go),
        cmocka_unit_test(long_windows_are_followed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
