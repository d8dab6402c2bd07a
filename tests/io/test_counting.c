/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tracked episodes counted in every window, on the CPU, on devices, and on one after the other: always what
 * the same slice of the stream gives alone.
 */
#include "oracle/count_oracle.h"
#include "support/plugin_work.h"
#include "support/support.h"

#include "core/backend/find.h"
#include "core/memory.h"
#include "core/units.h"
#include "pipeline/counting.h"

#include <stdlib.h>
#include <string.h>

#define UNITS 4
#define MOST 12

typedef struct run {
    test_random random;
    sf_history history;
    sf_cutter cutter;
    sf_counting counting;
    sf_episode wanted[MOST], present[MOST];
    size_t wanted_count, present_count;
    size_t compared, on_device;
    size_t sure; /* of sf_counting */
} run;

/* Lists are made for a device now and then. */
static int prepare(run *r, size_t count)
{
    sf_counted next = {0};
    sf_episode *episodes = sf_resize(NULL, count, sizeof *episodes);
    int status = episodes != NULL ? SF_OK : SF_NO_MEMORY;
    if (status == SF_OK && count > 0) memcpy(episodes, r->wanted, count * sizeof *episodes);
    if (status == SF_OK) status = sf_counted_make(&next, episodes, count, r->compared % 2 == 0, NULL);
    if (status == SF_OK) status = sf_counting_prepare(&r->counting, &next, &r->history, NULL);
    sf_counted_free(&next);
    return status;
}

static void want_something_else(run *r)
{
    r->wanted_count = test_random_below(&r->random, MOST);
    for (size_t i = 0; i < r->wanted_count; i++)
        r->wanted[i] = i < r->present_count && test_random_below(&r->random, 2) == 0
                           ? r->present[i]
                           : test_random_episode(&r->random, 4, UNITS, 20);
    assert_int_equal(prepare(r, r->wanted_count), SF_OK);
}

static void go_on(run *r)
{
    bool ready;
    int64_t until_ns = test_random_below(&r->random, 2) == 0 ? 0 : INT64_MAX;
    bool prepares = r->counting.preparing;
    assert_int_equal(sf_counting_go_on(&r->counting, &r->history, until_ns, &ready, NULL), SF_OK);
    assert_true(ready == prepares || until_ns == 0); /* whoever leaves meanwhile */
    if (!ready) return;
    memcpy(r->present, r->wanted, sizeof r->wanted);
    r->present_count = r->wanted_count;
}

static void check(run *r, const sf_segment *segment)
{
    uint64_t first = sf_history_find(&r->history, segment->window.start_ns), counts[MOST];
    const sf_spike *spikes = sf_history_view(&r->history, first);
    assert_int_equal(sf_counting_counts(&r->counting, &r->history, counts, NULL), SF_OK);
    for (size_t i = 0; i < r->present_count; i++) {
        uint64_t expected = oracle_count(spikes, (size_t)(segment->end - first), &r->present[i]);
        if (counts[i] != expected)
            fail_msg("hop %d, episode %zu on %s: %d, expected %d", (int)segment->hop, i,
                     sf_counting_device(&r->counting), (int)counts[i], (int)expected);
        r->compared++;
    }
    r->on_device += strcmp(sf_counting_device(&r->counting), "cpu") != 0;
    sf_history_drop_before(&r->history, first);
}

/* Lets the next counts be compared, as if the CPU had taken for ever, or no time at all. */
static void force_comparison(run *r, bool device_wins)
{
    r->counting.contest.patience = 1;
    r->counting.contest.here_ns = device_wins ? INT64_MAX : SF_CONTEST_WORTH_NS + 1;
}

static void take(run *r, const sf_segment *segment)
{
    assert_int_equal(sf_counting_push(&r->counting, segment, &r->history, NULL), SF_OK);
    if (!segment->closes) return;
    if (test_random_below(&r->random, 5) == 0) want_something_else(r);
    go_on(r);
    if (test_random_below(&r->random, 8) == 0) force_comparison(r, test_random_below(&r->random, 4) == 0);
    check(r, segment);
}

/* The device of the configuration, and how often it is chosen by what counting costs. */
static void count_stream(run *r, const char *name, bool always)
{
    sf_live_options options = sf_live_options_default();
    options.device = always ? name : "auto";
    sf_device *device;
    assert_int_equal(sf_device_find(&device, name, NULL), SF_OK);
    assert_int_equal(sf_counting_open(&r->counting, &options, device, UNITS, NULL), SF_OK);
    if (test_random_below(&r->random, 3) == 0) r->counting.sure = 2;
    int64_t window = 1 + (int64_t)test_random_below(&r->random, 80),
            hop = 1 + (int64_t)test_random_below(&r->random, 40);
    assert_int_equal(sf_cutter_open(&r->cutter, INT64_MIN, window, hop, NULL), SF_OK);
    r->present_count = 0;
    want_something_else(r);
    sf_spike *spikes;
    size_t count = test_random_stream(&r->random, &spikes, 300, UNITS, 500), done = 0;
    while (done < count) {
        size_t piece = 1 + test_random_below(&r->random, 60);
        piece = piece < count - done ? piece : count - done;
        assert_int_equal(sf_history_append(&r->history, spikes + done, piece, NULL), SF_OK);
        done += piece;
        int64_t watermark = done < count ? spikes[done].time_ns : spikes[count - 1].time_ns + 1;
        sf_segment segment;
        while (sf_cutter_next(&r->cutter, &r->history, watermark, &segment))
            take(r, &segment);
    }
    free(spikes);
    sf_counting_close(&r->counting);
    sf_history_free(&r->history);
}

static void compare_on(const char *name, int rounds, bool lasts)
{
    run r = {.random = test_random_start(name != NULL ? name : "cpu", 8)};
    for (int round = 0; round < rounds; round++)
        count_stream(&r, name != NULL ? name : "cpu", round % 2 == 0);
    printf("%s: %zu counts, %zu hops on the device\n", name != NULL ? name : "cpu", r.compared, r.on_device);
    assert_true(r.compared > 100);
    assert_true(!lasts || r.on_device > 10);
}

/* Fewer, by SYNFIRE_TEST_ROUNDS, where a checker makes every launch slow. */
static int rounds(int usual)
{
    const char *asked = getenv("SYNFIRE_TEST_ROUNDS");
    return asked != NULL ? atoi(asked) : usual;
}

/* It has done all that a hop asks of it. */
static void a_device_is_warm_before_it_counts(void)
{
    const sf_live_options options = sf_live_options_default();
    sf_device *device;
    const test_plugin_work *work = test_plugin_work_of(TEST_PLUGIN);
    uint32_t laid_out = work->from_windows;
    assert_int_equal(sf_device_find(&device, "test:0", NULL), SF_OK);
    assert_int_equal(sf_counting_warm_up(&options, device, NULL), SF_OK);
    assert_true(work->from_windows >= laid_out + 4); /* a hop each */
}

static void windows_are_counted_as_their_slices_alone(void **state)
{
    (void)state;
    sf_devices_close();
    compare_on(NULL, 20, false);
    for (uint32_t i = 0; i < sf_device_count(); i++)
        compare_on(sf_device_name(sf_device_at(i)), rounds(20), true);
    assert_int_equal(sf_devices_use(TEST_PLUGIN, NULL), SF_OK);
    compare_on("test:0", 40, true);
    assert_true(test_plugin_work_of(TEST_PLUGIN)->kept > 100);
    a_device_is_warm_before_it_counts();
    sf_devices_close();
}

static void a_device_that_leaves_is_made_up_for(void **state)
{
    (void)state;
    static const char *const devices[] = {"test:1", "test:2", "test:5"};
    for (size_t d = 0; d < 3; d++)
        for (int round = 0; round < 10; round++) {
            sf_devices_close();
            assert_int_equal(sf_devices_use(TEST_PLUGIN, NULL), SF_OK);
            run r = {.random = test_random_start(devices[d], 20 + (uint64_t)round)};
            const sf_live_options options = sf_live_options_default();
            sf_device *device;
            assert_int_equal(sf_device_find(&device, devices[d], NULL), SF_OK);
            if (round % 3 == 0) assert_int_equal(sf_counting_warm_up(&options, device, NULL), SF_OK);
            count_stream(&r, devices[d], round % 2 == 0);
            assert_int_equal(sf_device_find(&device, devices[d], NULL), SF_OK);
        }
    sf_devices_close();
}

static int count_for_a_while(void *context)
{
    run *r = context;
    sf_live_options options = sf_live_options_default();
    options.device = "test:0";
    sf_device *device = NULL;
    bool ready;
    uint64_t counts[MOST];
    int status = sf_devices_use(TEST_PLUGIN, NULL);
    if (status == SF_OK) status = sf_device_find(&device, "test:0", NULL);
    if (status == SF_OK) status = sf_counting_warm_up(&options, device, NULL);
    if (status == SF_OK) status = sf_counting_open(&r->counting, &options, device, UNITS, NULL);
    r->counting.sure = r->sure;
    if (status == SF_OK) status = prepare(r, r->wanted_count);
    if (status == SF_OK) status = sf_counting_go_on(&r->counting, &r->history, INT64_MAX, &ready, NULL);
    for (uint64_t i = 0; i < 4 && status == SF_OK; i++) {
        sf_segment segment = {.begin = 10 * i,
                              .end = 10 * i + 10,
                              .span = {(int64_t)(10 * i), (int64_t)(10 * i + 10)},
                              .closes = i > 1,
                              .window = {10, 10 * (int64_t)i + 10}};
        status = sf_counting_push(&r->counting, &segment, &r->history, NULL);
        if (status == SF_OK && i == 2) status = prepare(r, r->wanted_count);
        if (status == SF_OK && i == 2)
            status = sf_counting_go_on(&r->counting, &r->history, INT64_MAX, &ready, NULL);
        if (status == SF_OK) status = sf_counting_counts(&r->counting, &r->history, counts, NULL);
    }
    sf_counting_close(&r->counting);
    sf_devices_close();
    return status;
}

/* Counts a window on the CPU, with `auto`, as if that had taken so long, and says who counts the next one. */
static const char *who_counts_next(int64_t cpu_ns)
{
    run r = {.wanted = {{.size = 2, .units = {0, 0}, .delays = {{0, 5}}}}, .wanted_count = 1};
    sf_live_options options = sf_live_options_default();
    sf_device *device;
    bool ready;
    uint64_t counts[MOST];
    for (int i = 0; i < 50; i++)
        assert_int_equal(sf_history_append(&r.history, &(sf_spike){.time_ns = i}, 1, NULL), SF_OK);
    const sf_segment segment = {.end = 50, .span = {0, 1000}, .closes = true, .window = {0, 1000}};
    assert_int_equal(sf_device_find(&device, "test:0", NULL), SF_OK);
    assert_int_equal(sf_counting_open(&r.counting, &options, device, UNITS, NULL), SF_OK);
    assert_int_equal(prepare(&r, 1), SF_OK);
    assert_int_equal(sf_counting_go_on(&r.counting, &r.history, INT64_MAX, &ready, NULL), SF_OK);
    assert_int_equal(sf_counting_push(&r.counting, &segment, &r.history, NULL), SF_OK);
    assert_string_equal(sf_counting_device(&r.counting), "cpu");
    r.counting.contest.here_ns = cpu_ns;
    r.counting.contest.patience = 1;
    assert_int_equal(sf_counting_counts(&r.counting, &r.history, counts, NULL), SF_OK);
    assert_int_equal(counts[0], 25); /* that share no spike */
    const char *name = sf_counting_device(&r.counting);
    sf_counting_close(&r.counting);
    sf_history_free(&r.history);
    return name;
}

/* With `auto` who counts is decided by what it costs: the device takes 5 ms, the CPU less than twice that, or
 * more than it ever would. */
static void a_device_counts_where_it_is_faster(void **state)
{
    (void)state;
    sf_devices_close();
    assert_int_equal(sf_devices_use(TEST_PLUGIN, NULL), SF_OK);
    test_plugin_work_of(TEST_PLUGIN)->wait_ms = 5;
    assert_string_equal(who_counts_next(INT64_MAX), "test:0");
    assert_string_equal(who_counts_next(10 * INT64_C(1000000)), "cpu");
    test_plugin_work_of(TEST_PLUGIN)->wait_ms = 0;
    sf_devices_close();
}

/* A list that is long enough the device prepares while the CPU counts the one before, and then counts. */
static void a_long_list_is_the_devices_without_a_comparison(void **state)
{
    (void)state;
    sf_devices_close();
    assert_int_equal(sf_devices_use(TEST_PLUGIN, NULL), SF_OK);
    run r = {.wanted = {{.size = 2, .units = {0, 0}, .delays = {{0, 5}}},
                        {.size = 2, .units = {0, 0}, .delays = {{0, 9}}}}};
    const sf_live_options options = sf_live_options_default();
    const sf_segment segment = {.end = 50, .span = {0, 1000}, .closes = true, .window = {0, 1000}};
    sf_device *device;
    uint64_t counts[MOST];
    assert_int_equal(sf_device_find(&device, "test:0", NULL), SF_OK);
    assert_int_equal(sf_counting_open(&r.counting, &options, device, UNITS, NULL), SF_OK);
    r.counting.sure = 2;
    for (int i = 0; i < 50; i++)
        assert_int_equal(sf_history_append(&r.history, &(sf_spike){.time_ns = i}, 1, NULL), SF_OK);
    for (size_t count = 1; count <= 2; count++) {
        bool ready;
        assert_int_equal(prepare(&r, count), SF_OK);
        assert_string_equal(sf_counting_device(&r.counting), "cpu");
        assert_int_equal(sf_counting_go_on(&r.counting, &r.history, INT64_MAX, &ready, NULL), SF_OK);
        assert_true(ready);
        assert_string_equal(sf_counting_device(&r.counting), count < 2 ? "cpu" : "test:0");
    }
    assert_int_equal(sf_counting_push(&r.counting, &segment, &r.history, NULL), SF_OK);
    assert_int_equal(sf_counting_counts(&r.counting, &r.history, counts, NULL), SF_OK);
    assert_int_equal(counts[0], 25);
    sf_counting_close(&r.counting);
    sf_history_free(&r.history);
    sf_devices_close();
}

static void failed_allocations_leak_nothing(void **state)
{
    (void)state;
    sf_devices_close();
    run r = {.wanted = {{.size = 2, .units = {0, 0}, .delays = {{0, 5}}}}, .wanted_count = 1};
    for (int i = 0; i < 50; i++)
        assert_int_equal(sf_history_append(&r.history, &(sf_spike){.time_ns = i}, 1, NULL), SF_OK);
    for (r.sure = 1; r.sure <= 2; r.sure++)
        test_fail_every_allocation(count_for_a_while, &r);
    sf_history_free(&r.history);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_are_counted_as_their_slices_alone),
        cmocka_unit_test(a_device_that_leaves_is_made_up_for),
        cmocka_unit_test(a_device_counts_where_it_is_faster),
        cmocka_unit_test(a_long_list_is_the_devices_without_a_comparison),
        cmocka_unit_test(failed_allocations_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
