/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows that lie on a device while they slide: mined there, they give what the same spikes give on the CPU,
 * on every device that is found and on one that is none; and a device that is lost leaves the work to the
 * CPU.
 */
#include "support/plugin_work.h"
#include "support/support.h"

#include "core/backend/find.h"
#include "core/memory.h"
#include "core/units.h"
#include "mine/mine.h"
#include "window/resident.h"

#include <stdlib.h>

#define UNITS 6
#define SILENT 2 /* units that never fire come before and after the others */
#define MOST_SPIKES 6000

/* ---- a stream that slides over a device ---- */

typedef struct slide {
    sf_units units;
    sf_history history;
    sf_resident *resident;
    int64_t now_ns;
    sf_mining_options options;
    sf_delay delays[2];
    const char *device;
} slide;

static void set_up(slide *s, test_random *random, const char *device)
{
    *s = (slide){.device = device, .now_ns = INT64_C(36000) * 1000000000};
    for (uint32_t i = 0; i < UNITS + 2 * SILENT; i++) {
        sf_unit unit = {.x_um = 10.0 * i, .y_um = 0, .electrode = -1};
        assert_int_equal(sf_units_add(&s->units, &unit, NULL), SF_OK);
    }
    assert_int_equal(sf_units_finish(&s->units, NULL), SF_OK);
    s->options = sf_mining_options_default();
    s->delays[0] = (sf_delay){0, 6};
    s->delays[1] = (sf_delay){6, 6 + 1 + (int64_t)test_random_below(random, 10)};
    s->options.delays = s->delays;
    s->options.delay_count = 2;
    s->options.max_size = 3;
    s->options.threads = 1;
    sf_device *there;
    sf_error error;
    assert_int_equal(sf_device_find(&there, device, NULL), SF_OK);
    if (sf_resident_open(&s->resident, there, &error) != SF_OK) fail_msg("%s: %s", device, error.text);
}

static void tear_down(slide *s)
{
    sf_resident_close(s->resident);
    sf_history_free(&s->history);
    sf_units_free(&s->units);
}

/* Spikes in stream order, with many ties; some units fire seldom. */
static void arrive(slide *s, test_random *random, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sf_spike spike = {.time_ns = s->now_ns, .unit = SILENT};
        while (spike.unit + 1 < SILENT + UNITS && test_random_below(random, 3) != 0)
            spike.unit++;
        uint64_t step = test_random_below(random, 3);
        const sf_spike *last = s->history.end > 0 ? sf_history_view(&s->history, s->history.end - 1) : NULL;
        if (last != NULL && last->time_ns == spike.time_ns && last->unit > spike.unit)
            spike.unit = last->unit;
        s->now_ns += (int64_t)step;
        assert_int_equal(sf_history_append(&s->history, &spike, 1, NULL), SF_OK);
    }
}

static sf_mine_result *mine(slide *s, uint64_t first, uint64_t last, bool resident, double threshold)
{
    uint64_t unit_spikes[UNITS + 2 * SILENT] = {0};
    const sf_spike *spikes = sf_history_view(&s->history, first);
    for (uint64_t i = 0; i < last - first; i++)
        unit_spikes[spikes[i].unit]++;
    sf_mine_input input = {
        .spikes = spikes, .spike_count = (size_t)(last - first), .units = &s->units, .duration_ns = 1000};
    s->options.threshold = threshold;
    s->options.device = resident ? s->device : "cpu";
    input.resident = resident ? s->resident : NULL;
    input.unit_spikes = unit_spikes;
    sf_mine_result *result;
    sf_error error;
    if (sf_mine_spikes(&result, &input, &s->options, NULL, &error) != SF_OK)
        fail_msg("on %s: %s", s->options.device, error.text);
    return result;
}

/* Returns how many episodes were the same. */
static size_t assert_same(const sf_mine_result *a, const sf_mine_result *b)
{
    size_t count = a->count;
    assert_int_equal(count, b->count);
    for (size_t i = 0; i < count; i++) {
        sf_episode left, right;
        sf_mine_result_episode(a, i, &left);
        sf_mine_result_episode(b, i, &right);
        assert_memory_equal(&left, &right, sizeof left);
        assert_int_equal(a->items[i].count, b->items[i].count);
        assert_true(a->items[i].expected == b->items[i].expected);
    }
    return count;
}

/* One hop: spikes arrive and are copied, old ones go, and the window is mined. Spikes that come after the
 * window was held are not in it. */
static size_t hop(slide *s, test_random *random, bool copied, const char *expected_device)
{
    arrive(s, random, test_random_below(random, 700));
    if (copied) sf_resident_append(s->resident, &s->history, NULL);
    uint64_t first = s->history.begin, last = s->history.end;
    if (last > first) last -= test_random_below(random, 20) % (last - first);
    int status = sf_resident_hold(s->resident, &s->history, first, last, NULL);
    arrive(s, random, test_random_below(random, 50));
    sf_resident_append(s->resident, &s->history, NULL);
    double threshold = 2 + (double)test_random_below(random, 60);
    sf_mine_result *expected = mine(s, first, last, false, threshold);
    sf_mine_result *found = mine(s, first, last, status == SF_OK, threshold);
    if (expected->levels[0].frequent > 0 && expected_device != NULL)
        assert_string_equal(found->ran.device, expected_device);
    size_t same = assert_same(expected, found);
    sf_mine_result_free(expected);
    sf_mine_result_free(found);
    if (s->history.end - s->history.begin > test_random_below(random, MOST_SPIKES))
        sf_history_drop_before(&s->history, s->history.begin + test_random_below(random, 900));
    return same;
}

static void compare(const char *device, int rounds)
{
    test_random random = test_random_start(device, 77);
    size_t same = 0;
    for (int round = 0; round < rounds; round++) {
        slide s;
        set_up(&s, &random, device);
        /* Sometimes copies stay out until the history has left them behind. */
        for (int i = 0; i < 40; i++)
            same += hop(&s, &random, i < 10 || i > 25, device);
        tear_down(&s);
    }
    printf("%s: %zu episodes\n", device, same);
    assert_true(same > 100);
}

/* ---- tests ---- */

static void a_window_on_every_device_is_mined_as_on_the_cpu(void **state)
{
    (void)state;
    sf_devices_close();
    if (test_no_device()) skip();
    for (uint32_t i = 0; i < sf_device_count(); i++)
        compare(sf_device_name(sf_device_at(i)), test_rounds(6));
}

static void a_window_on_a_device_of_the_test_is_too(void **state)
{
    (void)state;
    sf_devices_close();
    assert_int_equal(sf_devices_use(TEST_PLUGIN, NULL), SF_OK);
    compare("test:0", 4);
    sf_devices_close();
}

/* Who holds a part that lies far back, and then what is new, copies just those: no hop pays for a window. */
static void what_is_held_is_copied_and_no_more(void **state)
{
    (void)state;
    sf_devices_close();
    assert_int_equal(sf_devices_use(TEST_PLUGIN, NULL), SF_OK);
    const test_plugin_work *work = test_plugin_work_of(TEST_PLUGIN);
    test_random random = test_random_start("held", 78);
    slide s;
    set_up(&s, &random, "test:0");
    arrive(&s, &random, 1000);
    static const struct {
        uint64_t begin, end, copied;
    } parts[] = {{900, 1000, 100}, {0, 50, 50}, {40, 120, 70}, {100, 900, 780}, {800, 850, 0}, {0, 10, 0}};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        uint32_t before = work->appended;
        assert_int_equal(sf_resident_hold(s.resident, &s.history, parts[i].begin, parts[i].end, NULL), SF_OK);
        assert_int_equal(work->appended - before, parts[i].copied);
    }
    tear_down(&s);
    sf_devices_close();
}

/* Held when a thirtieth of it is there, and again when it is full. */
static void a_window_that_fills_is_copied_once(void **state)
{
    (void)state;
    enum { WINDOW = 6000, FIRST = 200 };
    sf_devices_close();
    assert_int_equal(sf_devices_use(TEST_PLUGIN, NULL), SF_OK);
    const test_plugin_work *work = test_plugin_work_of(TEST_PLUGIN);
    test_random random = test_random_start("filling", 79);
    slide s;
    set_up(&s, &random, "test:0");
    s.history.span_ns = WINDOW;
    arrive(&s, &random, FIRST);
    assert_int_equal(sf_resident_hold(s.resident, &s.history, 0, FIRST, NULL), SF_OK);
    arrive(&s, &random, WINDOW - FIRST);
    assert_int_equal(sf_resident_hold(s.resident, &s.history, 0, WINDOW, NULL), SF_OK);
    assert_int_equal(work->appended, WINDOW);
    tear_down(&s);
    sf_devices_close();
}

static void a_device_that_is_lost_leaves_its_windows_to_the_cpu(void **state)
{
    (void)state;
    static const char *const devices[] = {"test:1", "test:2", "test:5"};
    for (size_t d = 0; d < 3; d++) {
        sf_devices_close();
        assert_int_equal(sf_devices_use(TEST_PLUGIN, NULL), SF_OK);
        test_random random = test_random_start("lost windows", 5);
        slide s;
        size_t same = 0;
        set_up(&s, &random, devices[d]);
        for (int i = 0; i < 30; i++)
            same += hop(&s, &random, true, NULL);
        assert_true(same > 100);
        sf_error error;
        bool sick = sf_device_sick(sf_resident_device(s.resident), &error);
        assert_int_equal(sick, d != 1); /* test:2 refuses, which is no failure */
        if (d == 2) assert_string_equal(error.text, "test:5 has failed: the copy did not arrive");
        assert_int_equal(sf_resident_hold(s.resident, &s.history, s.history.begin, s.history.end, NULL),
                         sick ? SF_UNAVAILABLE : SF_OK);
        tear_down(&s);
    }
    sf_devices_close();
}

static int open_and_mine(void *context)
{
    slide *s = context;
    sf_device *device;
    int status = sf_devices_use(TEST_PLUGIN, NULL);
    if (status == SF_OK) status = sf_device_find(&device, "test:0", NULL);
    if (status == SF_OK) status = sf_resident_open(&s->resident, device, NULL);
    if (status == SF_OK) status = sf_resident_append(s->resident, &s->history, NULL);
    if (status == SF_OK)
        status = sf_resident_hold(s->resident, &s->history, s->history.begin, s->history.end, NULL);
    sf_mine_result *result = NULL;
    uint64_t unit_spikes[UNITS + 2 * SILENT] = {[SILENT] = s->history.end};
    sf_mine_input input = {.spikes = sf_history_view(&s->history, 0),
                           .spike_count = (size_t)s->history.end,
                           .units = &s->units,
                           .duration_ns = 1000};
    input.resident = s->resident;
    input.unit_spikes = unit_spikes;
    if (status == SF_OK) status = sf_mine_spikes(&result, &input, &s->options, NULL, NULL);
    sf_mine_result_free(result);
    sf_resident_close(s->resident);
    s->resident = NULL;
    sf_devices_close();
    return status;
}

static void failed_allocations_leak_nothing(void **state)
{
    (void)state;
    sf_devices_close();
    assert_int_equal(sf_devices_use(TEST_PLUGIN, NULL), SF_OK);
    test_random random = test_random_start("resident allocations", 3);
    slide s;
    set_up(&s, &random, "test:0");
    sf_resident_close(s.resident);
    s.resident = NULL;
    for (int i = 0; i < 200; i++)
        assert_int_equal(sf_history_append(&s.history, &(sf_spike){.time_ns = i, .unit = SILENT}, 1, NULL),
                         SF_OK);
    s.options.threshold = 3;
    s.options.repeats = true;
    s.options.device = "test:0";
    sf_devices_close();
    test_fail_every_allocation(open_and_mine, &s);
    tear_down(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_window_on_every_device_is_mined_as_on_the_cpu),
        cmocka_unit_test(a_window_on_a_device_of_the_test_is_too),
        cmocka_unit_test(what_is_held_is_copied_and_no_more),
        cmocka_unit_test(a_window_that_fills_is_copied_once),
        cmocka_unit_test(a_device_that_is_lost_leaves_its_windows_to_the_cpu),
        cmocka_unit_test(failed_allocations_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
