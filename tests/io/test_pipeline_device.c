/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs on a device: every count is that of the slice taken alone, whether the device works, refuses or is
 * lost in the middle of the run, and what became of it is published.
 */
#include "support/messages.h"
#include "support/plugin_work.h"
#include "support/runs.h"

#include "core/backend/crew.h"
#include "core/backend/find.h"

#include <math.h>
#include <string.h>
#include <synfire/device.h>

/* device: with what else is configured, on further lines. */
static sf_config device_config(const char *device, unsigned every)
{
    char yaml[512];
    snprintf(yaml, sizeof yaml,
             "device: %s\nwindow: {length_s: 1, hop_s: 0.1}\n"
             "mine: {every: %u, delays_ms: '0:8', min_count: 12, max_size: 3}\ntrack: ['e1 -(0,9]-> e2']\n",
             device, every);
    return test_config(yaml);
}

/* A discovery each `every` hops. */
static test_collector *run_each(const char *device, unsigned every, const sf_recording *recording)
{
    sf_config config = device_config(device, every);
    test_collector *all = test_collector_new();
    test_run_to_end(&config, recording, 0, all);
    sf_config_free(&config);
    assert_true(test_check_counts(all, recording->spikes, recording->spike_count) > 100);
    return all;
}

static test_collector *run_on(const char *device, const sf_recording *recording)
{
    return run_each(device, 1, recording);
}

static const sf_status_message *status_at(const test_collector *all, size_t number)
{
    for (size_t i = 0; i < all->count; i++)
        if (all->messages[i]->topic == SF_TOPIC_STATUS && number-- == 0) return &all->messages[i]->status;
    fail_msg("there is no such status");
    return NULL;
}

/* A step of a hop that was done there last, and took its share of the hop. */
static void assert_stage(const sf_status_message *status, const char *name, const char *device)
{
    for (size_t i = 0; i < status->stage_count; i++) {
        const sf_stage_status *stage = &status->stages[i];
        if (strcmp(stage->name, name) != 0) continue;
        assert_string_equal(stage->device, device);
        assert_true(stage->last_ms > 0);
        assert_true(fabs(stage->share * status->hop_ms / stage->last_ms - 1) < 1e-9);
        return;
    }
    fail_msg("there is no step %s", name);
}

/* Whether two runs publish the same episodes with the same counts, hop by hop. */
static void assert_same_episodes(const test_collector *a, const test_collector *b)
{
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        const sf_message *left = a->messages[i], *right = b->messages[i];
        assert_int_equal(left->topic, right->topic);
        if (left->topic != SF_TOPIC_EPISODES) continue;
        assert_int_equal(left->episodes.count, right->episodes.count);
        test_assert_same_counts(left->episodes.items, right->episodes.items, left->episodes.count);
    }
}

static uint32_t count_windows(const test_collector *all)
{
    uint32_t windows = 0;
    for (size_t i = 0; i < all->count; i++)
        windows += all->messages[i]->topic == SF_TOPIC_EPISODES;
    return windows;
}

static int load_devices(void **state)
{
    (void)state;
    sf_devices_close();
    return sf_devices_use(TEST_PLUGIN, NULL);
}

static int close_devices(void **state)
{
    (void)state;
    sf_devices_close();
    return 0;
}

static sf_recording busy_recording(void)
{
    test_random random = test_random_start("pipeline on devices", 31);
    return test_random_recording(&random, 3000, 5, INT64_C(6000000000), 1000);
}

static void a_device_finds_what_the_cpu_does(void **state)
{
    (void)state;
    sf_recording recording = busy_recording();
    test_collector *cpu = run_on("cpu", &recording), *device = run_on("test:0", &recording);
    assert_same_episodes(cpu, device);
    const sf_status_message *status = test_last_status(device);
    assert_string_equal(status->device, "test:0");
    assert_string_equal(status->device_state, "ok");
    assert_string_equal(status->device_note, "");
    assert_int_equal(status->device_memory, 1000);
    assert_string_equal(status->counting_device, "test:0");
    assert_string_equal(status->discovery_device, "test:0");
    assert_true(status->discovery_ms > 0);
    assert_stage(status, "count", "test:0");
    assert_stage(status, "mine", "test:0");
    assert_stage(status, "discover", "test:0"); /* on a virtual clock a window is mined inside its hop */
    /* Both mined the window and counted in its hop where it lies: nothing but the spikes of a hop was ever
     * sent. */
    const test_plugin_work *work = test_plugin_work_of(TEST_PLUGIN);
    assert_true(work->from_windows >= 2 * count_windows(device));
    assert_int_equal(work->copied + work->raw, 0);
    assert_true(work->paired >= count_windows(device) / 2); /* it began with the pairs that the hop counted */
    status = test_last_status(cpu);
    assert_string_equal(status->device, "cpu");
    assert_string_equal(status->device_state, "ok");
    assert_string_equal(status->discovery_device, "cpu");
    assert_stage(status, "count", "cpu");
    assert_stage(status, "mine", "cpu");
    test_collector_free(cpu);
    test_collector_free(device);
    sf_recording_clear(&recording);
}

/* The same p and q, wherever surrogates were counted. */
static void a_device_tests_as_the_cpu_does(void **state)
{
    (void)state;
    sf_recording recording = busy_recording();
    static const char tests[] = "\nsignificance: {length_s: 1, surrogates: 20}";
    test_collector *all[2];
    for (int i = 0; i < 2; i++) {
        char device[128];
        snprintf(device, sizeof device, "%s%s", i == 0 ? "cpu" : "test:0", tests);
        all[i] = run_on(device, &recording);
        const sf_status_message *status = test_last_status(all[i]);
        assert_true(status->tests > 0);
        assert_string_equal(status->test_device, i == 0 ? "cpu" : "test:0");
    }
    assert_same_episodes(all[0], all[1]);
    test_collector_free(all[0]);
    test_collector_free(all[1]);
    sf_recording_clear(&recording);
}

static void a_device_that_is_lost_is_published_and_the_cpu_goes_on(void **state)
{
    (void)state;
    sf_recording recording = busy_recording();
    test_collector *cpu = run_on("cpu", &recording), *device = run_on("test:1", &recording);
    assert_same_episodes(cpu, device);
    /* It is lost in its second job, of the first hop. */
    for (size_t hop = 0; hop < 3; hop++) {
        const sf_status_message *status = status_at(device, hop);
        assert_string_equal(status->device, "test:1");
        assert_string_equal(status->device_state, "sick");
        assert_string_equal(status->device_note, "test:1 has failed: the device has fallen off the bus");
        assert_string_equal(status->counting_device, "cpu");
    }
    assert_string_equal(status_at(device, 1)->discovery_device, "cpu");
    assert_string_equal(test_last_status(device)->device_state, "sick");
    test_collector_free(cpu);
    test_collector_free(device);
    sf_recording_clear(&recording);
}

static void a_device_that_refuses_says_why(void **state)
{
    (void)state;
    sf_recording recording = busy_recording();
    test_collector *device = run_on("test:2", &recording);
    const sf_status_message *status = test_last_status(device);
    assert_string_equal(status->device, "test:2");
    assert_string_equal(status->device_state, "ok");
    assert_string_equal(status->device_note, "the job is too large for a test device");
    assert_string_equal(status->discovery_device, "cpu");
    test_collector_free(device);
    sf_recording_clear(&recording);
}

static void a_device_keeps_to_the_memory_it_may_take(void **state)
{
    (void)state;
    sf_recording recording = busy_recording();
    test_collector *device = run_on("test:0\ndevice_memory: 999", &recording);
    const sf_status_message *status = test_last_status(device);
    assert_string_equal(status->device, "test:0");
    assert_string_equal(status->device_note, "the job needs more than the 999 bytes it may take");
    assert_string_equal(status->discovery_device, "cpu");
    sf_device_set_memory_limit(0);
    test_collector_free(device);
    sf_recording_clear(&recording);
}

/* Whether a status has told this of the devices, and discovery has run on the one named. */
static bool was_told(test_collector *all, const char *state, const char *discovery_device)
{
    bool told = false;
    pthread_mutex_lock(&all->lock);
    for (size_t i = 0; i < all->count; i++) {
        const sf_status_message *status = &all->messages[i]->status;
        told =
            told || (all->messages[i]->topic == SF_TOPIC_STATUS && strcmp(status->device_state, state) == 0 &&
                     strcmp(status->discovery_device, discovery_device) == 0);
    }
    pthread_mutex_unlock(&all->lock);
    return told;
}

/* A long recording in real time, stopped once that is told. */
static test_collector *run_until_told(const char *device, const sf_recording *recording, const char *state,
                                      const char *discovery_device)
{
    sf_config config = device_config(device, 1);
    test_collector *all = test_collector_new();
    sf_run_options options = {
        .config = &config, .recording = recording, .speed = 8, .outlet = test_outlet(all)};
    sf_run *run;
    assert_int_equal(sf_run_open(&run, &options, NULL), SF_OK);
    assert_int_equal(sf_pipeline_start(sf_run_pipeline(run), NULL), SF_OK);
    while (!was_told(all, state, discovery_device) && !sf_pipeline_wait(sf_run_pipeline(run), 10))
        ;
    sf_pipeline_stop(sf_run_pipeline(run));
    while (!sf_pipeline_wait(sf_run_pipeline(run), 100))
        ;
    assert_int_equal(sf_run_close(run, NULL), SF_OK);
    sf_config_free(&config);
    assert_true(test_check_counts(all, recording->spikes, (size_t)test_last_status(all)->spikes) > 0);
    return all;
}

/* In real time discovery has a thread of its own, and copies go on while it mines: test:5 loses one of them.
 */
static void a_run_in_real_time_outlives_its_device(void **state)
{
    (void)state;
    test_random random = test_random_start("pipeline on devices in time", 32);
    sf_recording recording = test_random_recording(&random, 120000, 5, INT64_C(240000000000), 1000);
    static const char *const devices[] = {"test:0", "test:1", "test:5"};
    for (size_t d = 0; d < 3; d++) {
        close_devices(NULL);
        load_devices(NULL);
        const char *fate = d == 0 ? "ok" : "sick", *discovery_device = d == 0 ? devices[0] : "cpu";
        test_collector *all = run_until_told(devices[d], &recording, fate, discovery_device);
        const sf_status_message *status = test_last_status(all);
        assert_string_equal(status->device_state, fate);
        assert_string_equal(status->discovery_device, discovery_device);
        if (d == 2) assert_string_equal(status->device_note, "test:5 has failed: the copy did not arrive");
        test_collector_free(all);
    }
    sf_recording_clear(&recording);
}

/* Windows that do not overlap are mined anew, but where the hop has counted their pairs for the graph. */
static void a_discovery_begins_with_the_pairs_of_the_graph(void **state)
{
    (void)state;
    sf_recording recording = busy_recording();
    const test_plugin_work *work = test_plugin_work_of(TEST_PLUGIN);
    test_collector *anew = run_each("test:0\ngraph: {enabled: false}", 10, &recording);
    assert_int_equal(work->paired, 0);
    test_collector *given = run_each("test:0", 10, &recording);
    assert_true(work->paired > 3);
    size_t compared = 0, k = 0;
    for (size_t i = 0; i < anew->count; i++) {
        if (anew->messages[i]->topic != SF_TOPIC_EPISODES) continue;
        while (given->messages[k]->topic != SF_TOPIC_EPISODES)
            k++;
        const sf_episodes_message *left = &anew->messages[i]->episodes,
                                  *right = &given->messages[k++]->episodes;
        assert_int_equal(left->count, right->count);
        test_assert_same_counts(left->items, right->items, left->count);
        compared += left->count;
    }
    assert_true(compared > 100);
    test_collector_free(anew);
    test_collector_free(given);
    sf_recording_clear(&recording);
}

/* A run has its window on the first device; discoveries that begin with nothing are divided where that is
 * worth it, and go on with the devices that are left. */
static void all_devices_discover(void **state)
{
    (void)state;
    static const struct {
        const char *devices, *device_state, *counting_device, *discovery_device;
        double worth;
    } cases[] = {
        {"ww", "ok", "test:0", "test:0", SF_DEVICE_SECONDS},
        {"ww", "ok", "test:0", "test:all (2)", 0},
        {"lw", "sick", "cpu", "test:1", SF_DEVICE_SECONDS},
        {"lw", "sick", "cpu", "test:1", 0},
    };
    sf_recording recording = busy_recording();
    test_collector *cpu = run_each("cpu\ngraph: {enabled: false}", 10, &recording);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        close_devices(NULL);
        setenv("TEST_PLUGIN_DEVICES", cases[i].devices, 1);
        sf_devices_set_worth(cases[i].worth, SF_MOST_DEVICES);
        load_devices(NULL);
        test_collector *all = run_each("test:all\ngraph: {enabled: false}", 10, &recording);
        assert_same_episodes(cpu, all);
        const sf_status_message *status = test_last_status(all);
        assert_string_equal(status->device, "test:0");
        assert_string_equal(status->device_state, cases[i].device_state);
        assert_string_equal(status->counting_device, cases[i].counting_device);
        assert_string_equal(status->discovery_device, cases[i].discovery_device);
        test_collector_free(all);
    }
    unsetenv("TEST_PLUGIN_DEVICES");
    sf_devices_set_worth(SF_DEVICE_SECONDS, SF_MOST_DEVICES);
    test_collector_free(cpu);
    sf_recording_clear(&recording);
}

static test_collector *run_as(const char *yaml, const sf_recording *recording)
{
    sf_config config = test_config(yaml);
    test_collector *all = test_collector_new();
    test_run_to_end(&config, recording, 0, all);
    sf_config_free(&config);
    return all;
}

/* 36 units that are all joined, of which 45 million ordered sets of five are found: milliseconds of a CPU,
 * which a device that runs is worth. */
static const char sets[] = "A -> B; A -> C; A -> D; A -> E; B -> C; B -> D; B -> E; C -> D; C -> E; D -> E";

static test_collector *run_dense(const char *device, const char *pattern, const sf_recording *recording)
{
    char yaml[512];
    snprintf(yaml, sizeof yaml,
             "device: %s\nwindow: {length_s: 1, hop_s: 1}\n"
             "mine: {every: 0, delays_ms: '0:20', min_count: 5}\n"
             "graph: {reach_all: 2, census: true, patterns: [{limit: 0, pattern: '%s'}]}\n",
             device, pattern);
    return run_as(yaml, recording);
}

static const sf_graph_message *graph_of(const test_collector *all)
{
    for (size_t i = 0; i < all->count; i++)
        if (all->messages[i]->topic == SF_TOPIC_GRAPH) return &all->messages[i]->graph;
    fail_msg("there is no graph");
    return NULL;
}

static void auto_matches_dense_graphs_on_a_device_that_runs(void **state)
{
    (void)state;
    test_random random = test_random_start("dense graphs on devices", 33);
    sf_recording recording = test_random_recording(&random, 6000, 36, INT64_C(999000000), 1000);
    test_collector *cpu = run_dense("cpu", sets, &recording), *any = run_dense("auto", sets, &recording);
    const sf_graph_message *here = graph_of(cpu), *there = graph_of(any);
    assert_int_equal(here->edges, 36 * 35);
    assert_int_equal(here->motifs[0].count, 36 * 35 * 34 * 33 * 32);
    assert_int_equal(there->motifs[0].count, here->motifs[0].count);
    assert_false(there->motifs[0].truncated);
    static const char *const parts[] = {"pairs", "reach", "census"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        assert_stage(test_last_status(cpu), parts[i], "cpu");
    assert_stage(test_last_status(cpu), "patterns", "cpu");
    assert_stage(test_last_status(any), "patterns", "test:0");
    test_collector_free(cpu);
    test_collector_free(any);
    sf_recording_clear(&recording);
}

/* Also a search that the CPU would be done with sooner. */
static void patterns_go_to_the_device_that_is_named(void **state)
{
    (void)state;
    test_random random = test_random_start("dense graphs on devices", 33);
    sf_recording recording = test_random_recording(&random, 6000, 36, INT64_C(999000000), 1000);
    test_collector *any = run_dense("auto", "A -> B; B -> C", &recording);
    test_collector *named = run_dense("test:0", "A -> B; B -> C", &recording);
    assert_stage(test_last_status(any), "patterns", "cpu");
    assert_stage(test_last_status(named), "patterns", "test:0");
    assert_int_equal(graph_of(named)->motifs[0].count, 36 * 35 * 34);
    assert_int_equal(graph_of(any)->motifs[0].count, 36 * 35 * 34);
    test_collector_free(any);
    test_collector_free(named);
    sf_recording_clear(&recording);
}

/* With so many bins that a hop takes the CPU some milliseconds. */
static test_collector *run_densities(const char *device, const sf_recording *recording)
{
    char yaml[512];
    snprintf(yaml, sizeof yaml,
             "device: %s\nwindow: {length_s: 2, hop_s: 0.1}\nmine: {every: 0}\ngraph: {enabled: false}\n"
             "density: [{quantity: isi, unit: e1}, {quantity: isi, unit: '*', grid: 4000}, {quantity: rate, "
             "unit: '*', "
             "method: silverman}]\n",
             device);
    return run_as(yaml, recording);
}

/* Whether two runs publish the same densities; returns how many. */
static size_t assert_same_densities(const test_collector *a, const test_collector *b)
{
    size_t compared = 0;
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        assert_int_equal(a->messages[i]->topic, b->messages[i]->topic);
        if (a->messages[i]->topic != SF_TOPIC_DENSITY) continue;
        const sf_density_message *left = &a->messages[i]->density, *right = &b->messages[i]->density;
        assert_string_equal(left->quantity, right->quantity);
        test_assert_same(left->h, right->h);
        test_assert_same(left->grid_start, right->grid_start);
        test_assert_same(left->grid_step, right->grid_step);
        test_assert_same(left->outside, right->outside);
        assert_int_equal(left->count, right->count);
        assert_memory_equal(left->values, right->values, left->count * sizeof *left->values);
        compared++;
    }
    return compared;
}

/* Those of every unit are drawn there; on a virtual clock, only where the device is named. A device that
 * refuses, or is lost in its first density or amid later ones, changes nothing that is published of them. */
static void a_device_draws_the_densities_that_the_cpu_does(void **state)
{
    (void)state;
    static const struct {
        const char *devices, *device, *drawn_on, *device_state;
        uint32_t least_drawn, most_drawn;
    } cases[] = {{"w", "test:0", "test:0", "ok", 100, 10000},
                 {"w", "auto", "cpu", "ok", 0, 0},
                 {"r", "test:0", "cpu", "ok", 0, 0},
                 {"d", "test:0", "cpu", "sick", 0, 5},
                 {"l", "test:0", "cpu", "sick", 1, 10}};
    sf_recording recording = busy_recording();
    test_collector *cpu = run_densities("cpu", &recording);
    assert_stage(test_last_status(cpu), "density", "cpu");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        close_devices(NULL);
        setenv("TEST_PLUGIN_DEVICES", cases[i].devices, 1);
        load_devices(NULL);
        test_collector *all = run_densities(cases[i].device, &recording);
        assert_true(assert_same_densities(cpu, all) > 100);
        assert_stage(test_last_status(all), "density", cases[i].drawn_on);
        assert_string_equal(test_last_status(all)->device_state, cases[i].device_state);
        uint32_t drawn = test_plugin_work_of(TEST_PLUGIN)->drawn;
        assert_in_range(drawn, cases[i].least_drawn, cases[i].most_drawn);
        test_collector_free(all);
    }
    unsetenv("TEST_PLUGIN_DEVICES");
    test_collector_free(cpu);
    sf_recording_clear(&recording);
}

static void a_device_is_asked_for_by_name(void **state)
{
    (void)state;
    sf_recording recording = busy_recording();
    static const struct {
        const char *yaml;
        sf_status status;
        const char *place, *text;
    } cases[] = {
        {"device: test:7\n", SF_UNAVAILABLE, "", "there is no device test:7: there are 6 of test"},
        {"device: test:3\n", SF_UNAVAILABLE, "", "test:3 has failed: it does not start"},
        {"device: test:0\nmine: {engine: reference}\n", SF_CONFIG, "test.yaml:2:16: mine.engine",
         "the engine reference does not run on test:0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        test_pipeline_refuses(cases[i].yaml, &recording, cases[i].status, cases[i].place, cases[i].text);
    sf_config config;
    sf_error error = {0};
    static const char wrong[] = "device: gpu\n";
    test_assert_fails(sf_config_parse(&config, wrong, strlen(wrong), "test.yaml", NULL, 0, &error), &error,
                      SF_CONFIG, "found 'gpu', expected auto, cpu, cuda, cuda:N or cuda:all");
    assert_string_equal(error.place, "test.yaml:1:9: device");
    sf_recording_clear(&recording);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_device_finds_what_the_cpu_does, load_devices, close_devices),
        cmocka_unit_test_setup_teardown(a_device_tests_as_the_cpu_does, load_devices, close_devices),
        cmocka_unit_test_setup_teardown(a_device_that_is_lost_is_published_and_the_cpu_goes_on, load_devices,
                                        close_devices),
        cmocka_unit_test_setup_teardown(a_device_that_refuses_says_why, load_devices, close_devices),
        cmocka_unit_test_setup_teardown(a_device_keeps_to_the_memory_it_may_take, load_devices,
                                        close_devices),
        cmocka_unit_test_setup_teardown(a_run_in_real_time_outlives_its_device, load_devices, close_devices),
        cmocka_unit_test_setup_teardown(a_discovery_begins_with_the_pairs_of_the_graph, load_devices,
                                        close_devices),
        cmocka_unit_test_setup_teardown(all_devices_discover, load_devices, close_devices),
        cmocka_unit_test_setup_teardown(auto_matches_dense_graphs_on_a_device_that_runs, load_devices,
                                        close_devices),
        cmocka_unit_test_setup_teardown(patterns_go_to_the_device_that_is_named, load_devices, close_devices),
        cmocka_unit_test_setup_teardown(a_device_draws_the_densities_that_the_cpu_does, load_devices,
                                        close_devices),
        cmocka_unit_test_setup_teardown(a_device_is_asked_for_by_name, load_devices, close_devices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
