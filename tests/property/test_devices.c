/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every device that is found against the CPU, on small streams full of ties and repeats; and, with a plugin
 * that needs no device, how plugins are loaded and refused and what happens when a device fails.
 */
#include "support/plugin_work.h"
#include "support/ranks.h"
#include "support/trials.h"

#include "core/backend/find.h"
#include "core/clock.h"
#include "core/memory.h"
#include "core/thread.h"
#include "core/units.h"
#include "mine/cao/crossover.h"
#include "mine/engine.h"
#include "mine/ways.h"
#include "oracle/count_oracle.h"

#include <synfire/device.h>

#define HOURS_10 (INT64_C(36000) * 1000000000)

/* ---- a mining job, on any device ---- */

/* Up to most_units units, of which some may be silent; delays overlap; chance decides the rules. */
static void set_up(test_trial *t, test_random *random, uint32_t most_units, size_t most_spikes,
                   int64_t most_time)
{
    uint32_t units = 1 + (uint32_t)test_random_below(random, most_units);
    test_trial_start(t, units + 2);
    t->count = test_random_stream(random, &t->spikes, test_random_below(random, most_spikes), units,
                                  20 + (int64_t)test_random_below(random, (uint64_t)most_time));
    t->options.delay_count = 1 + test_random_below(random, 3);
    for (size_t i = 0; i < t->options.delay_count; i++) {
        int64_t low = (int64_t)(test_random_below(random, 8) + 9 * i);
        t->delays[i] = (sf_delay){low, low + 1 + (int64_t)test_random_below(random, 25)};
    }
    t->options.threshold = 2 + (double)test_random_below(random, 12);
    t->options.repeats = test_random_below(random, 2) != 0;
    t->options.min_distance_um = test_random_below(random, 4) == 0 ? 15 : 0;
    t->options.max_size = 2 + (uint32_t)test_random_below(random, t->options.delay_count == 1 ? 5 : 3);
}

/* The engines that a device has, one after the other: NULL at the end. */
static const char *next_engine(const char *device, size_t *from)
{
    sf_device *there[SF_MOST_DEVICES];
    uint32_t count;
    assert_int_equal(sf_devices_find(there, SF_MOST_DEVICES, &count, device, NULL), SF_OK);
    while (sf_engines[*from] != NULL) {
        const char *name = sf_engines[(*from)++]->name;
        if (sf_device_supports(there[0], SF_OPERATION_COUNT, name)) return name;
    }
    return NULL;
}

/* Done by the device asked for, or by every one of all. */
static void assert_done_on(const char *found, const char *device)
{
    char expected[48];
    bool all = strchr(device, ':') != NULL && strcmp(strchr(device, ':'), SF_ALL_DEVICES) == 0;
    if (all && sf_device_count() == 1) device = sf_device_name(sf_device_at(0));
    snprintf(expected, sizeof expected, all && sf_device_count() > 1 ? "%s (%u)" : "%s", device,
             sf_device_count());
    assert_string_equal(found, expected);
}

static sf_mine_result *mine_on_cpu(test_trial *t)
{
    t->options.engine = NULL;
    return test_trial_mine(t, "cpu");
}

/* The device must find the same as the CPU, in the same order. */
static void compare_with(const sf_mine_result *expected, test_trial *t, const char *device,
                         const char *engine)
{
    t->options.engine = engine;
    sf_mine_result *found = test_trial_mine(t, device);
    assert_string_equal(found->ran.engine, engine);
    t->options.engine = NULL;
    if (expected->levels[0].frequent > 0) /* else there is nothing to do, and no device does it */
        assert_done_on(found->ran.device, device);
    assert_string_equal(found->ran.note, "");
    test_assert_same_result(expected, found);
    sf_mine_result_free(found);
}

/* Returns how much there is to find. */
static size_t compare_mining_by(test_trial *t, const char *device, const char *engine)
{
    sf_mine_result *expected = mine_on_cpu(t);
    compare_with(expected, t, device, engine);
    size_t count = expected->count;
    sf_mine_result_free(expected);
    return count;
}

static size_t compare_mining(test_trial *t, const char *device)
{
    sf_mine_result *expected = mine_on_cpu(t);
    size_t from = 0, count = expected->count;
    for (const char *engine; (engine = next_engine(device, &from)) != NULL;)
        compare_with(expected, t, device, engine);
    sf_mine_result_free(expected);
    return count;
}

#define EPISODES 40
#define SLICES 3

/* Random episodes in random slices of a random stream, and what the oracle counts. */
typedef struct questions {
    sf_spike *spikes;
    size_t count;
    sf_episode episodes[EPISODES];
    sf_span slices[SLICES];
    uint64_t answers[SLICES][EPISODES];
} questions;

static void ask(questions *q, test_random *random)
{
    q->count = test_random_stream(random, &q->spikes, test_random_below(random, 300), 3, 250);
    for (size_t i = 0; i < EPISODES; i++)
        q->episodes[i] = test_random_episode(random, 6, 3, 8);
    for (int s = 0; s < SLICES; s++) {
        sf_span *span = &q->slices[s];
        span->start_ns = (int64_t)test_random_below(random, 300) - 20;
        span->stop_ns = s == 0 ? INT64_MAX : span->start_ns + (int64_t)test_random_below(random, 250);
        size_t first = sf_spikes_lower_bound(q->spikes, q->count, span->start_ns);
        size_t last = sf_spikes_lower_bound(q->spikes, q->count, span->stop_ns);
        for (size_t i = 0; i < EPISODES; i++)
            q->answers[s][i] = oracle_count(q->spikes + first, last - first, &q->episodes[i]);
    }
}

/* The device must count what the oracle does. Returns the sum of counts. */
static uint64_t compare_answers(const questions *q, const char *device, const char *engine)
{
    sf_counter *counter;
    uint64_t counts[EPISODES], total = 0;
    assert_int_equal(
        sf_counter_open(&counter, q->spikes, q->count, 3, q->episodes, EPISODES, engine, 1, NULL), SF_OK);
    assert_int_equal(sf_counter_use(counter, device, NULL), SF_OK);
    for (int s = 0; s < SLICES; s++) {
        assert_int_equal(sf_counter_count(counter, &q->slices[s], counts, NULL), SF_OK);
        assert_done_on(sf_counter_device(counter, NULL), device);
        for (size_t i = 0; i < EPISODES; i++) {
            assert_int_equal(counts[i], q->answers[s][i]);
            total += counts[i];
        }
    }
    sf_counter_close(counter);
    return total;
}

static uint64_t compare_counting(test_random *random, const char *device)
{
    size_t from = 0;
    uint64_t total = 0;
    questions q;
    ask(&q, random);
    for (const char *engine; (engine = next_engine(device, &from)) != NULL;)
        total += compare_answers(&q, device, engine);
    free(q.spikes);
    return total;
}

/* ---- the devices of this machine ---- */

/* Calls check for each device, and for all together where there are several; or skips. */
static void for_devices(void (*check)(const char *device, test_random *random), const char *what)
{
    sf_devices_close();
    sf_devices_set_worth(0, SF_MOST_DEVICES); /* the smallest job is divided */
    if (test_no_device()) skip();
    uint32_t count = sf_device_count();
    for (uint32_t i = 0; i < count; i++) {
        test_random random = test_random_start(what, 20 + i);
        sf_device *device;
        sf_error error;
        if (sf_device_find(&device, sf_device_name(sf_device_at(i)), &error) != SF_OK)
            fail_msg("%s", error.text);
        check(sf_device_name(device), &random);
    }
    if (count < 2) return;
    char all[32];
    test_random random = test_random_start(what, 19);
    snprintf(all, sizeof all, "%.16s" SF_ALL_DEVICES, sf_device_backend(sf_device_at(0))->name);
    check(all, &random);
}

/* Delays that hold most spikes of many units, of which few may follow each other: what interval merges where
 * it walks elsewhere. */
static void set_up_crowded(test_trial *t, test_random *random)
{
    set_up(t, random, 30, 900, 100);
    double spikes = (double)t->count / (double)(t->units.count - 2);
    t->options.threshold = 3 + spikes * (0.12 + 0.01 * (double)test_random_below(random, 10));
    t->options.max_size = 3 + (uint32_t)test_random_below(random, 3);
}

/* Units of very different rates: a list that many spikes end is merged with few, and the reverse. */
static void set_up_uneven(test_trial *t, test_random *random)
{
    set_up(t, random, 6, 3000, 6000);
    uint64_t rare = 5 + test_random_below(random, 30);
    size_t kept = 0;
    for (size_t i = 0; i < t->count; i++)
        if (t->spikes[i].unit % 2 == 0 || test_random_below(random, rare) == 0)
            t->spikes[kept++] = t->spikes[i];
    t->count = kept;
    t->options.max_size = 3 + (uint32_t)test_random_below(random, 2);
}

/* So many units that what may follow each is bounded first, in one tile or in several. Returns how much there
 * is to find. */
static size_t check_many(const char *device, test_random *random)
{
    static const uint32_t unit_counts[] = {1100, 4300};
    size_t found = 0;
    for (size_t i = 0; i < sizeof unit_counts / sizeof unit_counts[0]; i++) {
        test_trial t;
        test_trial_start(&t, unit_counts[i]);
        size_t count = 6 * (size_t)unit_counts[i];
        t.count = test_random_stream(random, &t.spikes, count, unit_counts[i], (int64_t)count);
        t.delays[0] = (sf_delay){0, 2 + (int64_t)test_random_below(random, 40)};
        t.options.threshold = 2;
        t.options.max_size = 3;
        found += compare_mining_by(&t, device, "interval");
        test_trial_end(&t);
    }
    return found;
}

static void check_small(const char *device, test_random *random)
{
    size_t found = 0, crowded = 0, uneven = 0;
    for (int round = 0; round < test_rounds(300); round++) {
        test_trial t;
        set_up(&t, random, 5, 200, 400);
        found += compare_mining(&t, device);
        test_trial_end(&t);
    }
    assert_true(found > 5 * (size_t)test_rounds(300));
    for (int round = 0; round < test_rounds(100); round++) {
        test_trial t;
        set_up_crowded(&t, random);
        crowded += compare_mining(&t, device);
        test_trial_end(&t);
    }
    assert_true(test_is_short() || crowded > 2000); /* few rounds may find nothing */
    for (int round = 0; round < test_rounds(30); round++) {
        test_trial t;
        set_up_uneven(&t, random);
        uneven += compare_mining_by(&t, device, "interval");
        test_trial_end(&t);
    }
    assert_true(test_rounds(30) < 30 || uneven > 2000);
    size_t many = 0;
    for (int round = 0; round < test_rounds(2); round++)
        many += check_many(device, random);
    assert_true(test_rounds(2) < 2 || many > 5000);
    uint64_t counted = 0;
    for (int round = 0; round < test_rounds(150); round++)
        counted += compare_counting(random, device);
    assert_true(counted > 15 * (uint64_t)test_rounds(150));
}

static void devices_find_and_count_what_the_cpu_does(void **state)
{
    (void)state;
    for_devices(check_small, "devices, small");
}

/* More units than one tile holds, levels that outgrow their first room, long episodes, ten hours later. */
static void check_large(const char *device, test_random *random)
{
    test_trial t;
    set_up(&t, random, 1, 1, 1);
    test_trial_end(&t);
    test_make_units(&t.units, 5000);
    t.count = test_random_stream(random, &t.spikes, 60000, 5000, 60000);
    t.options.delay_count = 1;
    t.delays[0] = (sf_delay){0, 90};
    t.options.threshold = 3;
    t.options.max_size = 4;
    t.options.min_distance_um = 0;
    assert_true(compare_mining_by(&t, device, "interval") > 1000);
    t.options.threshold = 2;
    t.options.max_size = 2;
    assert_true(compare_mining_by(&t, device, "interval") > 70000);
    test_trial_end(&t);

    test_make_units(&t.units, 30);
    t.count = test_random_stream(random, &t.spikes, 9000, 30, 300000);
    for (size_t i = 0; i < t.count; i++)
        t.spikes[i].time_ns += HOURS_10;
    t.options.delay_count = 2;
    t.delays[0] = (sf_delay){0, 900};
    t.delays[1] = (sf_delay){900, 1400};
    t.options.threshold = 65;
    t.options.max_size = 16;
    assert_true(compare_mining(&t, device) > 1000);
    test_trial_end(&t);

    /* One unit that fires all the time, after itself; and bursts that windows far away hold whole. */
    test_make_units(&t.units, 2);
    t.count = test_random_stream(random, &t.spikes, 6000, 2, 4000000);
    t.options.delay_count = 1;
    t.delays[0] = (sf_delay){50000, 100000};
    t.options.repeats = true;
    t.options.threshold = 1;
    t.options.max_size = 8;
    assert_true(compare_mining(&t, device) > 500);
    test_trial_end(&t);
}

static void devices_take_large_jobs(void **state)
{
    (void)state;
    if (test_rounds(0) > 0) skip();
    for_devices(check_large, "devices, large");
}

/* ---- plugins and failures, without a device ---- */

static void use_test_plugin(void)
{
    test_use_devices("wlrbsv");
}

static void a_plugin_works(void **state)
{
    (void)state;
    use_test_plugin();
    test_random random = test_random_start("plugin", 1);
    size_t found = 0;
    for (int round = 0; round < 30; round++) {
        test_trial t;
        set_up(&t, &random, 4, 150, 200);
        t.options.min_distance_um = 0;
        if (t.count > 40) found += compare_mining(&t, "test:0");
        test_trial_end(&t);
    }
    assert_true(found > 100);
    for (int round = 0; round < 10; round++)
        compare_counting(&random, "test:0");
    sf_devices_close();
}

static void busy_trial(test_trial *t)
{
    test_random random = test_random_start("busy", 2);
    set_up(t, &random, 1, 1, 1);
    test_trial_end(t);
    test_make_units(&t->units, 3);
    t->count = test_random_stream(&random, &t->spikes, 300, 3, 900);
    t->options.threshold = 3;
    t->options.min_distance_um = 0;
    t->options.max_size = 5;
}

static void a_device_that_fails_is_left_and_the_cpu_goes_on(void **state)
{
    (void)state;
    use_test_plugin();
    test_trial t;
    busy_trial(&t);
    assert_true(compare_mining_by(&t, "test:1", "interval") > 10); /* its first job */
    sf_device *device;
    assert_int_equal(sf_device_find(&device, "test:1", NULL), SF_OK);
    assert_false(sf_device_sick(device, NULL));
    sf_mine_result *expected = test_trial_mine(&t, "cpu");
    for (int job = 2; job < 4; job++) { /* lost in the second, and not asked again */
        sf_mine_result *found = test_trial_mine(&t, "test:1");
        assert_string_equal(found->ran.device, "cpu");
        assert_non_null(strstr(found->ran.note, "test:1 has failed: the device has fallen off the bus"));
        test_assert_same_result(expected, found);
        sf_mine_result_free(found);
        assert_true(sf_device_sick(device, NULL));
    }
    sf_mine_result_free(expected);
    test_trial_end(&t);
    sf_devices_close();
}

static void a_device_that_fails_while_counting_is_left(void **state)
{
    (void)state;
    use_test_plugin();
    sf_spike spikes[] = {{.time_ns = 0, .unit = 0}, {.time_ns = 3, .unit = 1}, {.time_ns = 9, .unit = 0}};
    sf_episode episode = {.size = 2, .units = {0, 1}, .delays = {{0, 5}}};
    sf_counter *counter;
    const char *note;
    assert_int_equal(sf_counter_open(&counter, spikes, 3, 2, &episode, 1, NULL, 1, NULL), SF_OK);
    assert_int_equal(sf_counter_use(counter, "test:1", NULL), SF_OK);
    for (int job = 1; job < 4; job++) {
        uint64_t count = 0;
        assert_int_equal(sf_counter_count(counter, NULL, &count, NULL), SF_OK);
        assert_int_equal(count, 1);
        assert_string_equal(sf_counter_device(counter, &note), job == 1 ? "test:1" : "cpu");
        assert_true((strstr(note, "fallen off the bus") != NULL) == (job > 1));
    }
    sf_counter_close(counter);
    sf_devices_close();
}

static void a_device_may_refuse_a_job(void **state)
{
    (void)state;
    use_test_plugin();
    test_trial t;
    busy_trial(&t);
    sf_mine_result *found = test_trial_mine(&t, "test:2"), *expected = test_trial_mine(&t, "cpu");
    assert_string_equal(found->ran.device, "cpu");
    assert_string_equal(found->ran.note, "the job is too large for a test device");
    test_assert_same_result(expected, found);
    sf_device *device;
    assert_int_equal(sf_device_find(&device, "test:2", NULL), SF_OK);
    assert_false(sf_device_sick(device, NULL));
    sf_mine_result_free(found);
    sf_mine_result_free(expected);
    test_trial_end(&t);
    sf_devices_close();
}

/* Device 3 does not start; 2 refuses; 1 does its first share and is lost in its second; 4 takes small shares
 * only. What they leave, 0 and 5 do. */
static void all_devices_share_a_job(void **state)
{
    (void)state;
    test_random random = test_random_start("shared", 3);
    size_t found = 0;
    for (int round = 0; round < 30; round++) {
        use_test_plugin();
        test_trial t;
        set_up(&t, &random, 12, 400, 500);
        t.options.min_distance_um = 0;
        sf_mine_result *expected = test_trial_mine(&t, "cpu"), *shared = test_trial_mine(&t, "test:all");
        test_assert_same_result(expected, shared);
        found += shared->count;
        if (expected->levels[0].frequent > 0)
            assert_memory_equal(shared->ran.device, "test:", strlen("test:"));
        sf_mine_result_free(expected);
        sf_mine_result_free(shared);
        test_trial_end(&t);
        sf_devices_close();
    }
    assert_true(found > 1000);
}

static void all_devices_share_candidates(void **state)
{
    (void)state;
    test_random random = test_random_start("shared counting", 4);
    for (int round = 0; round < 20; round++) {
        use_test_plugin();
        sf_spike *spikes;
        size_t count = test_random_stream(&random, &spikes, test_random_below(&random, 300), 3, 250);
        sf_episode episodes[EPISODES];
        for (size_t i = 0; i < EPISODES; i++)
            episodes[i] = test_random_episode(&random, 6, 3, 8);
        sf_counter *counter;
        uint64_t counts[EPISODES];
        const char *note;
        assert_int_equal(sf_counter_open(&counter, spikes, count, 3, episodes, EPISODES, NULL, 1, NULL),
                         SF_OK);
        assert_int_equal(sf_counter_use(counter, "test:all", NULL), SF_OK);
        assert_int_equal(sf_counter_count(counter, NULL, counts, NULL), SF_OK);
        for (size_t i = 0; i < EPISODES; i++)
            assert_int_equal(counts[i], oracle_count(spikes, count, &episodes[i]));
        /* Whether 1 and 2 had a share, and left, is a matter of which thread came first. */
        assert_memory_equal(sf_counter_device(counter, &note), "test:", strlen("test:"));
        assert_true(note[0] != '\0');
        sf_counter_close(counter);
        free(spikes);
        sf_devices_close();
    }
}

/* Each device gets its share, whichever thread comes first. */
static void candidates_are_divided_among_devices(void **state)
{
    (void)state;
    test_use_devices("wwww");
    test_random random = test_random_start("divided", 7);
    sf_spike *spikes;
    size_t count = test_random_stream(&random, &spikes, 200, 3, 250);
    sf_episode episodes[EPISODES];
    for (size_t i = 0; i < EPISODES; i++)
        do
            episodes[i] = test_random_episode(&random, 2, 3, 8);
        while (episodes[i].size != 2);
    uint64_t counts[EPISODES];
    sf_counter *counter;
    assert_int_equal(sf_counter_open(&counter, spikes, count, 3, episodes, EPISODES, NULL, 1, NULL), SF_OK);
    assert_int_equal(sf_counter_use(counter, "test:all", NULL), SF_OK);
    uint32_t before = test_plugin_work_of(TEST_PLUGIN)->counted;
    assert_int_equal(sf_counter_count(counter, NULL, counts, NULL), SF_OK);
    assert_int_equal(test_plugin_work_of(TEST_PLUGIN)->counted - before, 4);
    sf_counter_close(counter);
    free(spikes);
    sf_devices_close();
}

/* One, two or four devices, and fewer units than devices: always what the CPU finds. */
static void any_number_of_devices_finds_the_same(void **state)
{
    (void)state;
    static const char *const crews[] = {"w", "ww", "wwww"};
    for (size_t c = 0; c < sizeof crews / sizeof crews[0]; c++) {
        test_random random = test_random_start("crews", 5);
        test_use_devices(crews[c]);
        size_t found = 0;
        for (int round = 0; round < 20; round++) {
            test_trial t;
            set_up(&t, &random, 9, 400, 500);
            t.options.min_distance_um = 0;
            found += compare_mining(&t, "test:all");
            test_trial_end(&t);
            compare_counting(&random, "test:all");
        }
        assert_true(found > 500);
        sf_devices_close();
    }
}

/* Where the devices of a crew leave in the middle of their shares, and who is left to do the job. */
static void shares_of_devices_that_leave_are_done_by_the_others(void **state)
{
    (void)state;
    static const struct {
        const char *devices, *left, *note;
    } crews[] = {
        {"dw", "test:1", "test:0 has failed"},
        {"wd", "test:0", "test:1 has failed"},
        {"ddwd", "test:2", "has failed"},
        {"wdww", "test:all (3)", "test:1 has failed"},
        {"dd", "cpu", "has failed"},
        {"bd", "cpu", "test:1 has failed"},
        {"rwrd", "test:1", ""},
        {"rr", "cpu", "too large"},
        {"sd", "test:0", "test:1 has failed"},
        {"ss", "test:all (2)", ""},
        {"ws", "test:0", "no room for raw spikes"},
    };
    test_trial t;
    busy_trial(&t);
    sf_mine_result *expected = test_trial_mine(&t, "cpu");
    for (size_t c = 0; c < sizeof crews / sizeof crews[0]; c++) {
        test_use_devices(crews[c].devices);
        sf_mine_result *found = test_trial_mine(&t, "test:all");
        test_assert_same_result(expected, found);
        assert_string_equal(found->ran.device, crews[c].left);
        if (strstr(found->ran.note, crews[c].note) == NULL)
            fail_msg("%s: the note is '%s'", crews[c].devices, found->ran.note);
        sf_mine_result_free(found);
        sf_devices_close();
    }
    sf_mine_result_free(expected);
    test_trial_end(&t);
}

static void a_small_job_is_not_divided(void **state)
{
    (void)state;
    test_use_devices("wwww");
    sf_devices_set_worth(4, SF_MOST_DEVICES);
    assert_int_equal(sf_devices_worth(0), 1);
    assert_int_equal(sf_devices_worth(7.9), 1);
    assert_int_equal(sf_devices_worth(12), 3);
    assert_int_equal(sf_devices_worth(1e300), SF_MOST_DEVICES);
    test_trial t;
    busy_trial(&t);
    sf_mine_result *found = test_trial_mine(&t, "test:all");
    assert_string_equal(found->ran.device, "test:0");
    sf_mine_result_free(found);
    test_trial_end(&t);
    sf_devices_close();
}

/* By first unit, for which each needs all spikes: only where these have many within their delays. Chance
 * makes too many pairs frequent to divide them by time. */
static void sending_all_spikes_must_pay(void **state)
{
    (void)state;
    static const double followers[] = {200, 600};
    for (int many = 0; many < 2; many++) {
        test_use_devices("ww");
        sf_devices_set_worth(1e-9, SF_MOST_DEVICES);
        test_trial t;
        test_random random = test_random_start("dense", 3);
        test_trial_start(&t, 300);
        t.count = test_random_stream(&random, &t.spikes, 3000, 300, 3000000);
        double spikes = (double)t.count;
        int64_t span_ns = t.spikes[t.count - 1].time_ns - t.spikes[0].time_ns;
        t.delays[0] = (sf_delay){0, (int64_t)(followers[many] / spikes * (double)span_ns)};
        t.options.threshold = 2;
        t.options.max_size = 2;
        sf_mine_result *found = test_trial_mine(&t, "test:all");
        assert_string_equal(found->ran.device, many ? "test:all (2)" : "test:0");
        sf_mine_result_free(found);
        test_trial_end(&t);
        sf_devices_close();
    }
}

/* A job that does not fit is done in shares. */
static void a_job_too_large_for_a_device_is_halved(void **state)
{
    (void)state;
    use_test_plugin();
    test_trial t;
    busy_trial(&t);
    assert_true(compare_mining(&t, "test:4") > 10);
    test_trial_end(&t);
    sf_devices_close();
}

static void too_many_episodes_are_too_many_on_a_device(void **state)
{
    (void)state;
    use_test_plugin();
    test_trial t;
    busy_trial(&t);
    t.options.most = 5;
    t.options.device = "test:0";
    sf_mine_input input = {
        .spikes = t.spikes, .spike_count = t.count, .units = &t.units, .duration_ns = 1000};
    sf_mine_result *result;
    sf_error error;
    assert_int_equal(sf_mine_spikes(&result, &input, &t.options, NULL, &error), SF_DATA);
    assert_non_null(strstr(error.text, "more than 5 episodes are frequent"));
    test_trial_end(&t);
    sf_devices_close();
}

static void devices_that_are_not_there(void **state)
{
    (void)state;
    use_test_plugin();
    sf_device *device;
    sf_error error;
    assert_int_equal(sf_device_find(&device, "test:6", &error), SF_UNAVAILABLE);
    assert_string_equal(error.text, "there is no device test:6: there are 6 of test");
    assert_int_equal(sf_device_find(&device, "test:3", &error), SF_UNAVAILABLE);
    assert_string_equal(error.text, "test:3 has failed: it does not start");
    static const char *const wrong[] = {"gpu", "test:", "test:x", "tests", "", "test:all"};
    sf_device *devices[SF_MOST_DEVICES];
    uint32_t count;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(sf_device_find(&device, wrong[i], &error), SF_USAGE);
        if (i + 1 < sizeof wrong / sizeof wrong[0])
            assert_int_equal(sf_devices_find(devices, SF_MOST_DEVICES, &count, wrong[i], &error), SF_USAGE);
    }
    assert_int_equal(sf_devices_find(devices, SF_MOST_DEVICES, &count, "cpu", &error), SF_OK);
    assert_int_equal(count, 0);
    assert_int_equal(sf_device_find(&device, "cpu", &error), SF_OK);
    assert_null(device);

    assert_int_equal(sf_devices_use("/nowhere/plugin.so", &error), SF_UNAVAILABLE);
    assert_int_equal(sf_device_find(&device, "cuda", &error), SF_UNAVAILABLE);
    assert_non_null(strstr(error.text, "there is no device cuda: cannot load a plugin: /nowhere/plugin.so"));
    assert_int_equal(sf_devices_find(devices, SF_MOST_DEVICES, &count, "cuda:all", &error), SF_UNAVAILABLE);
    assert_null(sf_device_auto(1e9, SF_READY_SECONDS, NULL));
    sf_devices_close();
}

static void plugins_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    sf_error error;
    assert_int_equal(sf_devices_use(TEST_PLUGIN_OF_LATER, &error), SF_UNAVAILABLE);
    char expected[128];
    snprintf(expected, sizeof expected, "is a plugin of interface version %u, this program needs version %u",
             SF_BACKEND_VERSION + 1, SF_BACKEND_VERSION);
    assert_string_equal(error.text, expected);
    assert_string_equal(error.place, TEST_PLUGIN_OF_LATER);
    assert_int_equal(sf_device_count(), 0);
    assert_int_equal(sf_devices_use(TEST_PLUGIN_OF_OTHER, &error), SF_UNAVAILABLE);
    assert_string_equal(error.text, "is the plugin of synfire 0.0.0, this is " SYNFIRE_VERSION);
    assert_int_equal(sf_devices_use("libm.so.6", &error), SF_UNAVAILABLE);
    assert_string_equal(error.text, "is no plugin: it has no " SF_BACKEND_SYMBOL);
    sf_devices_close();
}

/* ---- turns ---- */

typedef struct turn {
    sf_device *device;
    atomic_bool had;
} turn;

static void *wait_for_turn(void *argument)
{
    turn *own = argument;
    sf_error failure = {0};
    if (sf_device_hold(own->device, NULL) == SF_OK) {
        atomic_store(&own->had, true);
        sf_device_release(own->device, SF_OK, &failure, NULL);
    }
    return NULL;
}

/* Who holds it all the time, but gives way, does not keep others out. */
static void a_long_job_gives_way(void **state)
{
    (void)state;
    sf_devices_close();
    assert_int_equal(sf_devices_use(TEST_PLUGIN, NULL), SF_OK);
    turn other = {.device = sf_device_at(0)};
    sf_error failure = {0};
    sf_thread thread = {0};
    assert_int_equal(sf_device_hold(other.device, NULL), SF_OK);
    sf_device_give_way(other.device); /* to nobody */
    assert_int_equal(sf_thread_start(&thread, "waits", wait_for_turn, &other, NULL), SF_OK);
    for (int i = 0; i < 5000 && !atomic_load(&other.had); i++) {
        sf_clock_sleep_until(sf_clock_monotonic_ns() + 1000000);
        sf_device_give_way(other.device);
    }
    bool had = atomic_load(&other.had);
    assert_int_equal(sf_device_release(other.device, SF_OK, &failure, NULL), SF_OK);
    sf_thread_join(&thread);
    assert_true(had);
    sf_devices_close();
}

typedef struct patience {
    sf_device *device;
    bool gives_way; /* has the device, and gives way, where others only come */
    atomic_bool holds, go, had;
} patience;

static void *be_patient(void *argument)
{
    patience *own = argument;
    sf_error failure = {0};
    sf_device_be_patient();
    if (own->gives_way) {
        sf_device_hold(own->device, NULL);
        atomic_store(&own->holds, true);
        while (!atomic_load(&own->go))
            sf_clock_sleep_until(sf_clock_monotonic_ns() + 100000);
        sf_device_give_way(own->device);
    } else {
        sf_device_hold(own->device, NULL);
    }
    atomic_store(&own->had, true);
    sf_device_release(own->device, SF_OK, &failure, NULL);
    return NULL;
}

/* Who is patient comes after a reservation, in which others come as they like. */
static void check_reservation(bool gives_way)
{
    patience p = {.device = sf_device_at(0), .gives_way = gives_way};
    sf_error failure = {0};
    sf_thread thread = {0};
    if (!gives_way) sf_device_reserve(p.device);
    assert_int_equal(sf_thread_start(&thread, "patient", be_patient, &p, NULL), SF_OK);
    while (gives_way && !atomic_load(&p.holds))
        sf_clock_sleep_until(sf_clock_monotonic_ns() + 100000);
    if (gives_way) sf_device_reserve(p.device);
    atomic_store(&p.go, true);
    for (int i = 0; i < 30; i++) {
        sf_clock_sleep_until(sf_clock_monotonic_ns() + 1000000);
        assert_int_equal(sf_device_hold(p.device, NULL), SF_OK);
        assert_false(atomic_load(&p.had));
        assert_int_equal(sf_device_release(p.device, SF_OK, &failure, NULL), SF_OK);
    }
    sf_device_unreserve(p.device);
    sf_thread_join(&thread);
    assert_true(atomic_load(&p.had));
}

/* Though each begins before the one before has ended. */
static void check_reservations(void)
{
    patience p = {.device = sf_device_at(0)};
    sf_thread thread = {0};
    sf_device_reserve(p.device);
    assert_int_equal(sf_thread_start(&thread, "patient", be_patient, &p, NULL), SF_OK);
    for (int i = 0; i < 5000 && !atomic_load(&p.had); i++) {
        sf_clock_sleep_until(sf_clock_monotonic_ns() + 1000000);
        sf_device_reserve(p.device);
        sf_device_unreserve(p.device);
    }
    assert_true(atomic_load(&p.had));
    sf_device_unreserve(p.device);
    sf_thread_join(&thread);
}

static void who_is_patient_lets_a_reservation_end(void **state)
{
    (void)state;
    use_test_plugin();
    check_reservation(false);
    check_reservation(true);
    check_reservations();
    sf_devices_close();
}

/* include/synfire/device.h: what each device is, and why one is not to be used. */
static void devices_are_listed(void **state)
{
    (void)state;
    sf_devices *list;
    sf_devices_columns columns = {.size = sizeof columns};
    use_test_plugin();
    sf_device_set_memory_limit(1 << 20);
    assert_int_equal(sf_devices_list(&list, NULL), SF_OK);
    sf_device_set_memory_limit(0);
    sf_devices_get_columns(list, &columns);
    assert_int_equal(columns.count, 6);
    assert_null(columns.why_none);
    for (size_t i = 0; i < columns.count; i++) {
        char name[32];
        snprintf(name, sizeof name, "test:%zu", i);
        assert_string_equal(columns.names[i], name);
        if (i == 3) {
            assert_string_equal(columns.why_not[i], "test:3 has failed: it does not start");
            assert_string_equal(columns.descriptions[i], "");
        } else {
            assert_null(columns.why_not[i]);
            assert_memory_equal(columns.descriptions[i], "test device ", 12);
            assert_int_equal(columns.memory_limit[i], 1 << 20);
        }
    }
    sf_devices_free(list);

    assert_int_equal(sf_devices_use("/nowhere/plugin.so", NULL), SF_UNAVAILABLE);
    assert_int_equal(sf_devices_list(&list, NULL), SF_OK);
    sf_devices_get_columns(list, &columns);
    assert_int_equal(columns.count, 0);
    assert_non_null(strstr(columns.why_none, "cannot load a plugin: /nowhere/plugin.so"));
    sf_devices_free(list);
    sf_devices_free(NULL);
    sf_devices_close();
}

static void names_are_checked_before_work(void **state)
{
    (void)state;
    sf_error error;
    use_test_plugin();
    assert_int_equal(sf_device_check(NULL, false, &error), SF_OK);
    assert_int_equal(sf_device_check("auto", false, &error), SF_OK);
    assert_int_equal(sf_device_check("cpu", false, &error), SF_OK);
    assert_int_equal(sf_device_check("test:1", false, &error), SF_OK);
    assert_int_equal(sf_device_check("test:3", false, &error), SF_UNAVAILABLE);
    assert_int_equal(sf_device_check("test:all", true, &error), SF_OK);
    assert_int_equal(sf_device_check("test:all", false, &error), SF_USAGE);
    assert_string_equal(error.text, "'test:all' is for work that is divided: expected cpu, cuda or cuda:N");
    assert_int_equal(sf_device_check("gpu", true, &error), SF_USAGE);
    sf_devices_close();
}

static double long_work(const void *context)
{
    (void)context;
    return 10;
}

static double short_work(const void *context)
{
    (void)context;
    return 1e-6;
}

/* The CPU does it then, and whoever waits for it learns why. */
static void auto_says_why_it_takes_none(void **state)
{
    (void)state;
    use_test_plugin();
    const sf_error failure = {.text = "there is no code for it"};
    for (uint32_t i = 0; i < sf_device_count(); i++)
        sf_device_answer(sf_device_at(i), SF_IO, &failure, NULL);
    sf_crew crew;
    sf_crew_request request = {.device = "auto", .seconds = long_work};
    assert_int_equal(sf_crew_open(&crew, &request, NULL), SF_OK);
    assert_int_equal(crew.count, 0);
    assert_string_equal(crew.note, "test:5 has failed: there is no code for it");
    request.seconds = short_work;
    assert_int_equal(sf_crew_open(&crew, &request, NULL), SF_OK);
    assert_string_equal(crew.note, "");
    sf_devices_close();
}

static void auto_takes_a_device_for_long_work(void **state)
{
    (void)state;
    use_test_plugin();
    assert_null(sf_device_auto(0.1, SF_READY_SECONDS, NULL)); /* none is running yet */
    sf_device *device = sf_device_auto(10, SF_READY_SECONDS, NULL);
    assert_string_equal(sf_device_name(device), "test:0");
    assert_ptr_equal(sf_device_auto(0.1, SF_READY_SECONDS, NULL), device); /* now it is */
    assert_null(sf_device_auto(1e-6, SF_READY_SECONDS, NULL));
    assert_true(sf_device_supports(device, SF_OPERATION_MINE, "interval"));
    assert_false(sf_device_supports(device, SF_OPERATION_MINE, "reference"));
    test_trial t;
    busy_trial(&t);
    t.options.engine = "reference";
    t.options.device = "test:0";
    sf_mine_input input = {
        .spikes = t.spikes, .spike_count = t.count, .units = &t.units, .duration_ns = 1000};
    sf_mine_result *result;
    sf_error error;
    assert_int_equal(sf_mine_spikes(&result, &input, &t.options, NULL, &error), SF_USAGE);
    assert_string_equal(error.text, "the engine reference does not run on test:0: choose another, or cpu");
    test_trial_end(&t);
    sf_devices_close();
}

/* Short jobs that would not pay for a start alone do together: one starts while they go on, once. */
static void auto_starts_a_device_for_many_short_jobs(void **state)
{
    (void)state;
    use_test_plugin();
    sf_device *device = NULL;
    for (int i = 0; i < 4; i++)
        assert_null(sf_device_auto(0.1, 0, NULL));
    assert_false(sf_device_ready(sf_device_at(0))); /* 0.4 s are lost */
    assert_null(sf_device_auto(0.001, 0.1, NULL));  /* which loses nothing */
    for (int i = 0; i < 1000 && device == NULL; i++) {
        device = sf_device_auto(0.2, 0, NULL);
        sf_clock_sleep_until(sf_clock_monotonic_ns() + (device == NULL ? 10 * SF_MILLISECOND : 0));
    }
    assert_ptr_equal(device, sf_device_at(0));
    assert_false(sf_device_ready(sf_device_at(1)));
    sf_devices_close();

    test_use_devices("bw"); /* one that does not start is not waited for, nor another tried */
    for (int i = 0, after = 0; i < 1000 && after < 20; i++) {
        assert_null(sf_device_auto(0.1, 0, NULL));
        after += sf_device_sick(sf_device_at(0), NULL);
        sf_clock_sleep_until(sf_clock_monotonic_ns() + 5 * SF_MILLISECOND);
    }
    sf_devices_close(); /* which waits for it */

    use_test_plugin(); /* what was lost before is over */
    assert_null(sf_device_auto(0.4, 0, NULL));
    assert_true(sf_devices_lose(0) < 0.5);
    sf_devices_close();
}

typedef struct taken {
    const sf_device *named[TEST_MOST_RANKS], *all[TEST_MOST_RANKS], *chosen[TEST_MOST_RANKS],
        *second[TEST_MOST_RANKS];
    uint32_t of_all[TEST_MOST_RANKS];
} taken;

static void take_devices(void *context, uint32_t rank)
{
    taken *t = context;
    sf_device *found, *all[SF_MOST_DEVICES] = {NULL};
    sf_device_find(&found, "test", NULL);
    t->named[rank] = found;
    sf_devices_find(all, SF_MOST_DEVICES, &t->of_all[rank], "test:all", NULL);
    t->all[rank] = all[0];
    t->chosen[rank] = sf_device_auto(10, SF_READY_SECONDS, NULL);
    sf_device_find(&found, "test:1", NULL);
    t->second[rank] = found;
}

/* Whoever names none has the one of its place on the machine; a number is a number on all ranks. */
static void each_rank_has_a_device_of_its_own(void **state)
{
    (void)state;
    for (uint32_t ranks = 2; ranks <= TEST_MOST_RANKS; ranks++) {
        taken t = {0};
        test_use_devices("www");
        test_ranks_run(ranks, 1, take_devices, &t);
        for (uint32_t r = 0; r < ranks; r++) {
            const sf_device *own = sf_device_at(r % 3);
            assert_ptr_equal(t.named[r], own);
            assert_ptr_equal(t.all[r], own);
            assert_int_equal(t.of_all[r], 1);
            assert_ptr_equal(t.chosen[r], own);
            assert_ptr_equal(t.second[r], sf_device_at(1));
        }
        sf_devices_close();
    }
}

/* What hybrid chooses by is measured on the device, by counting there with both of its engines. */
static void crossovers_are_of_the_device(void **state)
{
    (void)state;
    use_test_plugin();
    sf_device *works, *refuses;
    uint32_t episodes;
    sf_crossover crossover;
    assert_int_equal(sf_device_find(&works, "test:0", NULL), SF_OK);
    assert_int_equal(sf_device_find(&refuses, "test:2", NULL), SF_OK);
    assert_int_equal(sf_crossover_find(&crossover, works, 1, 2, NULL), SF_OK);
    assert_true(crossover.episodes >= 1);
    assert_int_equal(sf_crossover_for(&episodes, works, 1, 2, 100000, NULL), SF_OK);
    assert_int_equal(episodes, crossover.episodes);
    assert_int_equal(sf_crossover_for(&episodes, refuses, 1, 2, 100, NULL),
                     SF_OK); /* too few to measure for */
    assert_int_equal(episodes, 0);
    assert_int_equal(sf_crossover_find(&crossover, refuses, 1, 3, NULL), SF_UNAVAILABLE);
    sf_devices_close();
}

static void allocation_failures_leak_nothing(void **state)
{
    (void)state;
    static const char *const devices[] = {"test:0", "test:4", "test:all"};
    test_trial t;
    busy_trial(&t);
    for (size_t i = 0; i < sizeof devices / sizeof devices[0]; i++) {
        t.options.device = devices[i];
        test_fail_every_allocation(test_load_and_mine, &t);
    }
    test_trial_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_find_and_count_what_the_cpu_does),
        cmocka_unit_test(devices_take_large_jobs),
        cmocka_unit_test(a_plugin_works),
        cmocka_unit_test(a_device_that_fails_is_left_and_the_cpu_goes_on),
        cmocka_unit_test(a_device_that_fails_while_counting_is_left),
        cmocka_unit_test(a_device_may_refuse_a_job),
        cmocka_unit_test(crossovers_are_of_the_device),
        cmocka_unit_test(all_devices_share_a_job),
        cmocka_unit_test(all_devices_share_candidates),
        cmocka_unit_test(candidates_are_divided_among_devices),
        cmocka_unit_test(any_number_of_devices_finds_the_same),
        cmocka_unit_test(shares_of_devices_that_leave_are_done_by_the_others),
        cmocka_unit_test(a_small_job_is_not_divided),
        cmocka_unit_test(sending_all_spikes_must_pay),
        cmocka_unit_test(a_job_too_large_for_a_device_is_halved),
        cmocka_unit_test(too_many_episodes_are_too_many_on_a_device),
        cmocka_unit_test(devices_that_are_not_there),
        cmocka_unit_test(plugins_that_do_not_fit_are_refused),
        cmocka_unit_test(a_long_job_gives_way),
        cmocka_unit_test(who_is_patient_lets_a_reservation_end),
        cmocka_unit_test(devices_are_listed),
        cmocka_unit_test(names_are_checked_before_work),
        cmocka_unit_test(each_rank_has_a_device_of_its_own),
        cmocka_unit_test(auto_says_why_it_takes_none),
        cmocka_unit_test(auto_takes_a_device_for_long_work),
        cmocka_unit_test(auto_starts_a_device_for_many_short_jobs),
        cmocka_unit_test(allocation_failures_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
