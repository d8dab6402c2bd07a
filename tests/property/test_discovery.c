/* SPDX-License-Identifier: Apache-2.0 */
/* However windows follow each other, discovery finds in each what mining its spikes alone finds, in the same
 * order; and it does not count all pairs anew for it. */
#include "support/support.h"

#include "core/episode.h"
#include "mine/mine.h"
#include "oracle/count_oracle.h"
#include "pipeline/discovery.h"

enum { MOST_UNITS = 12 };

/* A stream, and windows that move over it. */
typedef struct scene {
    sf_spike *spikes;
    size_t count;
    sf_units units;
    sf_live_options config;
    uint64_t unit_spikes[MOST_UNITS];
    size_t windows, followed, found; /* episodes of followed windows */
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
    s->config.mine.self = test_random_below(random, 2) == 0;
    s->config.mine.max_size = 2 + (uint32_t)test_random_below(random, 3);
    s->config.mine.min_count = 3 + (uint32_t)test_random_below(random, 9);
    s->config.mine.min_rate_hz = 0;
    s->config.mine.threads = 1 + (uint32_t)test_random_below(random, 3);
    s->config.mine.track_most = 100000;
}

static void tear_down(scene *s)
{
    free(s->spikes);
    sf_units_free(&s->units);
}

static void open_discovery(sf_discovery *discovery, const scene *s, const char *device)
{
    sf_error error;
    int status = sf_discovery_open(discovery, &s->config, &s->units, device, true, &error);
    if (status != SF_OK)
        fail_msg("%s", error.text);
}

static void discover(sf_discovery *discovery, const sf_discovery_window *window, sf_episode **found,
                     size_t *count)
{
    bool ready;
    assert_true(sf_discovery_idle(discovery));
    assert_int_equal(sf_discovery_start(discovery, window, NULL), SF_OK);
    assert_int_equal(sf_discovery_take(discovery, &ready, found, count, NULL), SF_OK);
    assert_true(ready);
}

/* Each is frequent in the window alone, by the definition; a discovery that knows nothing finds the same. */
static void check_window(scene *s, sf_discovery *discovery, const sf_discovery_window *window)
{
    sf_discovery alone;
    sf_episode *found, *expected;
    size_t count, expected_count, window_spikes = (size_t)(window->end - window->begin);
    uint64_t followed = discovery->kept.followed;
    discover(discovery, window, &found, &count);
    open_discovery(&alone, s, "cpu");
    discover(&alone, window, &expected, &expected_count);
    assert_int_equal(alone.kept.followed, 0);
    assert_int_equal(count, expected_count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(sf_episode_compare(&found[i], &expected[i]), 0);
        assert_true((double)oracle_count(window->spikes, window_spikes, &found[i]) >=
                    s->config.mine.min_count);
    }
    sf_discovery_close(&alone);
    s->windows++;
    s->followed += discovery->kept.followed > followed;
    s->found += discovery->kept.followed > followed ? count : 0;
}

static void move_along(scene *s, test_random *random)
{
    sf_discovery discovery;
    uint64_t begin = 0, end = 0, length = 20 + test_random_below(random, 180),
             step = 1 + test_random_below(random, length / 4);
    open_discovery(&discovery, s, "cpu");
    while (end < s->count) {
        uint64_t by = test_random_below(random, 12) == 0 ? 2 * length : test_random_below(random, 2 * step);
        end = end + by < s->count ? end + by : s->count;
        begin = end - begin > length ? end - length + test_random_below(random, step) : begin;
        begin = begin < end ? begin : end;
        memset(s->unit_spikes, 0, sizeof s->unit_spikes);
        for (uint64_t i = begin; i < end; i++)
            s->unit_spikes[s->spikes[i].unit]++;
        const sf_discovery_window window = {.span = {0, 1000000000},
                                            .begin = begin,
                                            .end = end,
                                            .spikes = s->spikes + begin,
                                            .unit_spikes = s->unit_spikes};
        check_window(s, &discovery, &window);
    }
    sf_discovery_close(&discovery);
}

static void windows_are_mined_as_if_alone(void **state)
{
    (void)state;
    test_random random = test_random_start("discovery", 61);
    size_t windows = 0, followed = 0, found = 0;
    for (int round = 0; round < 120; round++) {
        scene s;
        set_up(&s, &random);
        move_along(&s, &random);
        windows += s.windows;
        followed += s.followed;
        found += s.found;
        tear_down(&s);
    }
    printf("%zu windows, %zu of them followed, with %zu episodes\n", windows, followed, found);
    assert_true(followed > windows / 3 && followed < windows && found > 5000);
}

/* ---- where windows are mined anew ---- */

/* Windows that move by a few spikes: from the third on followed, if at all. */
static uint64_t follow_five(scene *s, uint64_t step, const sf_kept_pairs_setup *instead)
{
    sf_discovery discovery;
    sf_episode *found;
    size_t count;
    open_discovery(&discovery, s, "cpu");
    if (instead != NULL)
        sf_kept_pairs_open(&discovery.kept, instead);
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
    const sf_kept_pairs_setup many = {.unit_count = 8192, .delay_count = 9};
    assert_int_equal(follow_five(&s, 4, &many), 0); /* 1.1 GiB */
    tear_down(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_are_mined_as_if_alone),
        cmocka_unit_test(some_windows_are_mined_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
