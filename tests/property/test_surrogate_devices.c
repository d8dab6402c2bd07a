/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Significance on every device that is found against the CPU, to the last bit; and, with a plugin that needs
 * no device, that all devices share the surrogates and that what a device loses or refuses the CPU does.
 */
#include "support/support.h"

#include "core/backend/crew.h"
#include "core/backend/find.h"
#include "core/memory.h"
#include "core/units.h"
#include "mine/engine.h"
#include "mine/significance.h"
#include "mine/surrogate_run.h"
#include "mine/surrogates.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

typedef struct trial {
    sf_spike *spikes;
    size_t count;
    sf_units units;
    sf_delay delays[3];
    sf_mining_options mining;
    sf_significance_options options;
} trial;

/* Streams with ties, repeats and silent units; from a few spikes in a few ns to thousands. */
static void set_up(trial *t, test_random *random, uint32_t most_units, size_t most_spikes, int64_t most_time)
{
    *t = (trial){0};
    uint32_t units = 1 + (uint32_t)test_random_below(random, most_units);
    for (uint32_t i = 0; i < units + 2; i++) {
        sf_unit unit = {.x_um = 10.0 * i, .y_um = 0, .electrode = -1};
        assert_int_equal(sf_units_add(&t->units, &unit, NULL), SF_OK);
    }
    assert_int_equal(sf_units_finish(&t->units, NULL), SF_OK);
    t->count = test_random_stream(random, &t->spikes, test_random_below(random, most_spikes), units,
                                  20 + (int64_t)test_random_below(random, (uint64_t)most_time));
    t->mining = sf_mining_options_default();
    t->mining.delays = t->delays;
    t->mining.delay_count = 1 + test_random_below(random, 3);
    for (size_t i = 0; i < t->mining.delay_count; i++) {
        int64_t low = (int64_t)(test_random_below(random, 8) + 9 * i);
        t->delays[i] = (sf_delay){low, low + 1 + (int64_t)test_random_below(random, 25)};
    }
    t->mining.threshold = 2 + (double)test_random_below(random, 12);
    t->mining.repeats = test_random_below(random, 2) != 0;
    t->mining.min_distance_um = test_random_below(random, 4) == 0 ? 15 : 0;
    t->mining.max_size = 2 + (uint32_t)test_random_below(random, t->mining.delay_count == 1 ? 4 : 2);
    t->mining.threads = 1;
    t->mining.device = "cpu";
    t->options = sf_significance_options_default();
    t->options.always = true; /* numbers are compared, whatever they are worth */
    t->options.kind = (sf_significance_kind)(1 + test_random_below(random, 3));
    t->options.surrogates = 1 + (uint32_t)test_random_below(random, 150);
    t->options.seed = test_random_bits(random);
    t->options.segment_ns = 10 + (int64_t)test_random_below(random, 200);
    t->options.width_ns = test_random_below(random, 3) == 0 ? 1 + (int64_t)test_random_below(random, 60) : 0;
    t->options.correction = (sf_correction)test_random_below(random, 2);
    t->options.found_only = test_random_below(random, 4) == 0;
    t->options.threads = 1;
}

static void tear_down(trial *t)
{
    free(t->spikes);
    sf_units_free(&t->units);
}

static sf_mine_result *test_on(trial *t, const char *device, sf_significance *told)
{
    sf_mine_input input = {
        .spikes = t->spikes, .spike_count = t->count, .units = &t->units, .duration_ns = 1000};
    sf_mine_result *result;
    sf_error error;
    t->options.device = device;
    if (sf_mine_spikes(&result, &input, &t->mining, NULL, &error) != SF_OK ||
        sf_significance_test(told, result, &input, &t->mining, &t->options, NULL, &error) != SF_OK)
        fail_msg("on %s: %s", device, error.text);
    return result;
}

/* Returns how many episodes were compared. */
static size_t compare(trial *t, const char *device, sf_significance *told)
{
    sf_significance expected_told;
    sf_mine_result *expected = test_on(t, "cpu", &expected_told), *found = test_on(t, device, told);
    assert_int_equal(expected->count, found->count);
    for (size_t i = 0; i < found->count; i++) {
        test_assert_same(found->items[i].p, expected->items[i].p);
        test_assert_same(found->items[i].q, expected->items[i].q);
        test_assert_same(found->items[i].expected_given_rest, expected->items[i].expected_given_rest);
        assert_int_equal(found->items[i].not_tested, expected->items[i].not_tested);
    }
    for (uint32_t size = 0; size <= SF_EPISODE_MAX_SIZE; size++) {
        assert_int_equal(told->candidates[size], expected_told.candidates[size]);
        for (int side = 0; side < 2; side++)
            test_assert_same(told->critical[size][side], expected_told.critical[size][side]);
    }
    size_t count = found->count;
    sf_mine_result_free(expected);
    sf_mine_result_free(found);
    return count;
}

/* ---- the devices of this machine ---- */

static void compare_many(const char *device, test_random *random)
{
    static const struct {
        int rounds;
        uint32_t units;
        size_t spikes;
        int64_t time;
    } sizes[] = {{60, 5, 150, 200}, {12, 100, 5000, 20000}, {4, 600, 20000, 60000}, {3, 3, 4000, 3000}};
    size_t episodes = 0;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int round = 0; round < test_rounds(sizes[s].rounds); round++) {
            trial t;
            sf_significance told;
            set_up(&t, random, sizes[s].units, sizes[s].spikes, sizes[s].time);
            t.options.surrogates = s > 0 ? 1 + t.options.surrogates / 8 : t.options.surrogates;
            t.mining.threshold += s == 3 ? 40 : 0;
            size_t found = compare(&t, device, &told);
            if (found > 0) {
                assert_string_equal(told.ran.note, "");
                assert_int_equal(strncmp(told.ran.device, device, strcspn(device, ":")), 0);
            }
            episodes += found;
            tear_down(&t);
        }
    assert_true(episodes > (size_t)test_rounds(100) / 10);
}

static void devices_test_as_the_cpu_does(void **state)
{
    (void)state;
    sf_devices_set_worth(0, SF_MOST_DEVICES); /* the smallest job is divided */
    if (test_no_device()) skip();
    uint32_t count = sf_device_count();
    for (uint32_t i = 0; i < count; i++) {
        test_random random = test_random_start(sf_device_name(sf_device_at(i)), 61); /* the same jobs */
        compare_many(sf_device_name(sf_device_at(i)), &random);
    }
    if (count > 1) {
        char all[48];
        const char *first = sf_device_name(sf_device_at(0));
        snprintf(all, sizeof all, "%.*s%s", (int)strcspn(first, ":"), first, SF_ALL_DEVICES);
        test_random random = test_random_start(all, 61);
        compare_many(all, &random);
    }
}

/* ---- devices of the test plugin ---- */

static void use_devices(const char *characters)
{
    sf_error error;
    setenv("TEST_PLUGIN_DEVICES", characters, 1);
    if (sf_devices_use(TEST_PLUGIN, &error) != SF_OK) fail_msg("%s", error.text);
}

static void use_plugin(void)
{
    use_devices("wlrbsv");
}

/* Fills *t with one in which something is frequent. */
static void set_up_frequent(trial *t, test_random *random)
{
    for (;;) {
        sf_significance told;
        set_up(t, random, 5, 150, 200);
        sf_mine_result *result = test_on(t, "cpu", &told);
        bool frequent = result->count > 10 && t->options.surrogates > 8;
        sf_mine_result_free(result);
        if (frequent) return;
        tear_down(t);
    }
}

static void a_device_that_works_refuses_or_fails_changes_no_number(void **state)
{
    (void)state;
    test_random random = test_random_start("plugin", 62);
    use_plugin();
    trial t;
    sf_significance told;
    set_up_frequent(&t, &random);
    assert_true(compare(&t, "test:0", &told) > 10);
    assert_string_equal(told.ran.device, "test:0");
    assert_string_equal(told.ran.note, "");
    compare(&t, "test:2", &told);
    assert_string_equal(told.ran.device, "cpu");
    assert_non_null(strstr(told.ran.note, "too large"));
    for (int round = 0; round < 3; round++) /* lost in its second job, and from then on not used */
        compare(&t, "test:1", &told);
    assert_string_equal(told.ran.device, "cpu");
    assert_non_null(strstr(told.ran.note, "fallen off the bus"));
    tear_down(&t);
    sf_devices_close();
}

/* The pairs of a trial's units, all of which are candidates. */
typedef struct pairs {
    sf_events events;
    sf_tree tree;
    sf_surrogate_side side;
} pairs;

static void set_up_pairs(pairs *p, const trial *t)
{
    *p = (pairs){0};
    assert_int_equal(sf_events_open(&p->events, t->spikes, t->count, t->units.count, NULL, NULL), SF_OK);
    p->tree.unit_count = p->events.unit_count;
    p->tree.delay_count = (uint32_t)t->mining.delay_count;
    for (uint32_t u = 0; u < p->events.unit_count; u++)
        assert_int_equal(sf_level_append(&p->tree.levels[0], 0, u, 0), SF_OK);
    sf_surrogate_request request = {.events = &p->events,
                                    .tree = &p->tree,
                                    .max_size = 2,
                                    .delays = t->delays,
                                    .trains = p->events.unit,
                                    .rule = {SF_SURROGATE_SEGMENT_SHIFT, 20, 50, 9}};
    assert_int_equal(sf_surrogate_side_open(&p->side, &request, false, NULL), SF_OK);
    for (uint64_t i = 0; i < sf_surrogate_candidates(&p->side.plan); i++)
        p->side.observed[0][i] = (uint32_t)(i % 50);
    p->side.ratios[0] = 0.8;
}

static void assert_same_outcome(const sf_surrogate_outcome *found, const sf_surrogate_outcome *expected)
{
    assert_int_equal(found->candidate_count, expected->candidate_count);
    for (uint64_t c = 0; c < expected->candidate_count; c++) {
        assert_int_equal(found->tallies[c].sum, expected->tallies[c].sum);
        assert_int_equal(found->tallies[c].sum_squares, expected->tallies[c].sum_squares);
        test_assert_same(found->scales[c].scale, expected->scales[c].scale);
        assert_int_equal(found->scales[c].recorded, expected->scales[c].recorded);
        assert_int_equal(found->reached[c].as_much, expected->reached[c].as_much);
        assert_int_equal(found->reached[c].more, expected->reached[c].more);
    }
    for (uint32_t s = 0; s < expected->surrogates; s++)
        test_assert_same(found->maxima[s], expected->maxima[s]);
}

/* By as many devices, of which `left` are left at the end; and the same on the CPU. */
static void compare_outcomes(const pairs *p, uint32_t surrogates, const char *devices, uint32_t left)
{
    sf_surrogate_outcome alone, shared;
    sf_choice none, crew;
    sf_surrogate_work work = {.core_seconds = 1, .threads = 1};
    sf_ran ran;
    use_devices(devices);
    sf_how here = {.device = "cpu"}, there = {.device = "test:all", .most = SF_MOST_DEVICES};
    assert_int_equal(sf_choose(&none, sf_surrogate_ways, &here, &work, NULL), SF_OK);
    assert_int_equal(sf_choose(&crew, sf_surrogate_ways, &there, &work, NULL), SF_OK);
    assert_int_equal(sf_surrogate_run(&alone, &p->side, surrogates, 2, &none, 2, NULL), SF_OK);
    assert_int_equal(sf_surrogate_run(&shared, &p->side, surrogates, 2, &crew, 2, NULL), SF_OK);
    sf_choice_tell(&crew, &ran);
    assert_int_equal(sf_crew_left(&crew.crew), left);
    assert_true((ran.note[0] == '\0') == (left == strlen(devices)));
    assert_same_outcome(&shared, &alone);
    sf_surrogate_outcome_free(&alone);
    sf_surrogate_outcome_free(&shared);
    sf_devices_close();
}

/* With fewer surrogates than devices, and no multiple of them; a device that leaves does so in its share. */
static void devices_share_the_surrogates(void **state)
{
    (void)state;
    test_random random = test_random_start("sharing", 64);
    static const struct {
        const char *devices;
        uint32_t left;
    } crews[] = {{"w", 1}, {"ww", 2}, {"wwww", 4}, {"wdww", 3}, {"rwd", 1}, {"drd", 0}};
    static const uint32_t surrogates[] = {3, 41};
    trial t;
    set_up_frequent(&t, &random);
    pairs p;
    set_up_pairs(&p, &t);
    for (size_t c = 0; c < sizeof crews / sizeof *crews; c++)
        for (size_t i = 0; i < sizeof surrogates / sizeof *surrogates; i++)
            compare_outcomes(&p, surrogates[i], crews[c].devices, crews[c].left);
    compare_outcomes(&p, 1, "wwww", 4);
    sf_surrogate_side_close(&p.side);
    sf_events_close(&p.events);
    sf_tree_free(&p.tree);
    tear_down(&t);
}

/* Trains that are dithered are moved on the CPU, and that is said. */
static void devices_leave_dithering_to_the_cpu(void **state)
{
    (void)state;
    static const sf_surrogate_kind kinds[] = {SF_SURROGATE_DITHER, SF_SURROGATE_JOINT_ISI};
    for (size_t k = 0; k < 2; k++) {
        sf_choice choice;
        sf_surrogate_work work = {.kind = kinds[k], .core_seconds = 1e6, .threads = 1};
        sf_ran ran;
        use_devices("w");
        sf_how there = {.device = "test:0", .most = 1, .forgiving = true};
        assert_int_equal(sf_choose(&choice, sf_surrogate_ways, &there, &work, NULL), SF_OK);
        sf_choice_tell(&choice, &ran);
        assert_string_equal(ran.device, "cpu");
        assert_non_null(strstr(ran.note, "does not dither"));
        sf_devices_close();
    }
}

/* The whole test divided among all, one of which is lost before the second side. */
static void a_test_goes_on_with_the_devices_that_are_left(void **state)
{
    (void)state;
    test_random random = test_random_start("leaving", 65);
    trial t;
    sf_significance told;
    sf_devices_set_worth(0, SF_MOST_DEVICES);
    set_up_frequent(&t, &random);
    t.mining.max_size = 3;
    use_devices("wlw");
    assert_true(compare(&t, "test:all", &told) > 10);
    assert_string_equal(told.ran.device, "test:all (2)");
    assert_non_null(strstr(told.ran.note, "test:1 has failed"));
    sf_devices_set_worth(1e9, SF_MOST_DEVICES);
    assert_true(compare(&t, "test:all", &told) > 10);
    assert_string_equal(told.ran.device, "test:0");
    tear_down(&t);
    sf_devices_close();
}

/* Another who wants the device, and got it while the test went on. */
typedef struct passer_by {
    pthread_t thread;
    bool begun;
    atomic_bool there, ends, passed;
} passer_by;

static void *pass_by(void *argument)
{
    passer_by *other = argument;
    atomic_store(&other->there, true);
    assert_int_equal(sf_device_hold(sf_device_at(0), NULL), SF_OK);
    atomic_store(&other->passed, !atomic_load(&other->ends));
    sf_error none = {0};
    sf_device_release(sf_device_at(0), SF_OK, &none, NULL);
    return NULL;
}

/* Called while the device is held. */
static bool wait_for_the_other(void *user, const char *what, double done, double total)
{
    (void)what;
    passer_by *other = user;
    if (done >= total) return true;
    if (!other->begun) assert_int_equal(pthread_create(&other->thread, NULL, pass_by, other), 0);
    other->begun = true;
    for (int i = 0; i < 10000 && !atomic_load(&other->there); i++)
        usleep(1000);
    if (!atomic_load(&other->passed)) usleep(5000); /* it is about to wait */
    return true;
}

static void others_have_the_device_between_batches(void **state)
{
    (void)state;
    test_random random = test_random_start("giving way", 66);
    use_devices("w");
    trial t;
    set_up_frequent(&t, &random);
    pairs p;
    set_up_pairs(&p, &t);
    passer_by other = {0};
    const sf_progress progress = {.update = wait_for_the_other, .user = &other};
    p.side.plan.progress = &progress;
    sf_surrogate_outcome outcome;
    sf_surrogate_work work = {.core_seconds = 1, .threads = 1};
    sf_choice crew;
    sf_how there = {.device = "test:0", .most = 1};
    assert_int_equal(sf_choose(&crew, sf_surrogate_ways, &there, &work, NULL), SF_OK);
    assert_int_equal(sf_surrogate_run(&outcome, &p.side, 200, 2, &crew, 1, NULL), SF_OK);
    atomic_store(&other.ends, true);
    assert_true(other.begun);
    assert_int_equal(pthread_join(other.thread, NULL), 0);
    assert_true(atomic_load(&other.passed));
    sf_surrogate_outcome_free(&outcome);
    sf_surrogate_side_close(&p.side);
    sf_events_close(&p.events);
    sf_tree_free(&p.tree);
    tear_down(&t);
    sf_devices_close();
}

static int test_on_plugin(void *context)
{
    trial *t = context;
    sf_mine_input input = {
        .spikes = t->spikes, .spike_count = t->count, .units = &t->units, .duration_ns = 1000};
    sf_mine_result *result;
    sf_significance told;
    int status = sf_devices_use(TEST_PLUGIN, NULL);
    if (status == SF_OK) {
        status = sf_mine_spikes(&result, &input, &t->mining, NULL, NULL);
        t->options.device = "test:0";
        if (status == SF_OK)
            status = sf_significance_test(&told, result, &input, &t->mining, &t->options, NULL, NULL);
        sf_mine_result_free(result);
    }
    sf_devices_close();
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    test_random random = test_random_start("plugin allocations", 63);
    trial t;
    set_up_frequent(&t, &random);
    t.options.surrogates = 4;
    test_fail_every_allocation(test_on_plugin, &t);
    tear_down(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_test_as_the_cpu_does),
        cmocka_unit_test(a_device_that_works_refuses_or_fails_changes_no_number),
        cmocka_unit_test(devices_share_the_surrogates),
        cmocka_unit_test(devices_leave_dithering_to_the_cpu),
        cmocka_unit_test(a_test_goes_on_with_the_devices_that_are_left),
        cmocka_unit_test(others_have_the_device_between_batches),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
