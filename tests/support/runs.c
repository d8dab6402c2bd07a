/* SPDX-License-Identifier: Apache-2.0 */
#include "support/runs.h"

#include "oracle/count_oracle.h"

#include "core/memory.h"

#include <math.h>

sf_recording test_random_recording(test_random *random, size_t spikes, size_t units, int64_t duration_ns,
                                   int64_t tick_ns)
{
    sf_recording recording = {0};
    for (size_t i = 0; i < units; i++) {
        sf_unit unit = {.x_um = NAN, .y_um = NAN, .electrode = -1};
        assert_int_equal(sf_units_add(&recording.units, &unit, NULL), SF_OK);
    }
    assert_int_equal(sf_units_finish(&recording.units, NULL), SF_OK);
    recording.path = sf_copy_string("random");
    recording.spikes = sf_alloc(spikes, sizeof(sf_spike));
    recording.spike_count = spikes;
    int64_t origin_ns = (int64_t)test_random_below(random, 36000) * 1000000000; /* up to ten hours */
    for (size_t i = 0; i < spikes; i++)
        recording.spikes[i] = (sf_spike){
            .time_ns =
                origin_ns + (int64_t)test_random_below(random, (uint64_t)(duration_ns / tick_ns)) * tick_ns,
            .unit = (uint32_t)test_random_below(random, units),
            .amplitude = NAN};
    assert_int_equal(sf_spikes_sort(recording.spikes, spikes, NULL), SF_OK);
    recording.recorded = (sf_span){recording.spikes[0].time_ns, recording.spikes[spikes - 1].time_ns + 1};
    return recording;
}

static void collect(void *user, sf_message *message)
{
    test_collector *all = user;
    pthread_mutex_lock(&all->lock);
    if (all->count < sizeof all->messages / sizeof all->messages[0]) {
        sf_message_keep(message);
        all->messages[all->count++] = message;
    }
    pthread_mutex_unlock(&all->lock);
}

static void count_trigger(void *user, const sf_message *trigger)
{
    test_collector *all = user;
    assert_int_equal(trigger->topic, SF_TOPIC_TRIGGER);
    pthread_mutex_lock(&all->lock);
    all->triggers++;
    pthread_mutex_unlock(&all->lock);
}

sf_outlet test_outlet(test_collector *all)
{
    static const sf_outlet_kind kind = {.publish = collect, .trigger = count_trigger};
    return (sf_outlet){&kind, all};
}

test_collector *test_collector_new(void)
{
    test_collector *all = calloc(1, sizeof *all);
    pthread_mutex_init(&all->lock, NULL);
    return all;
}

void test_collector_free(test_collector *all)
{
    for (size_t i = 0; i < all->count; i++)
        sf_message_release(all->messages[i]);
    pthread_mutex_destroy(&all->lock);
    free(all);
}

sf_config test_config(const char *yaml)
{
    sf_config config;
    sf_error error = {0};
    if (sf_config_parse(&config, yaml, strlen(yaml), "test.yaml", NULL, 0, &error) != SF_OK)
        fail_msg("%s: %s", error.place, error.text);
    return config;
}

void test_run_to_end(const sf_config *config, const sf_recording *recording, double speed,
                     test_collector *all)
{
    test_run_all(&(sf_run_options){
        .config = config, .recording = recording, .speed = speed, .outlet = test_outlet(all)});
}

void test_run_all(const sf_run_options *options)
{
    sf_run *run;
    sf_error error = {0};
    if (sf_run_open(&run, options, &error) != SF_OK) fail_msg("%s: %s", error.place, error.text);
    assert_int_equal(sf_pipeline_start(sf_run_pipeline(run), &error), SF_OK);
    while (!sf_pipeline_wait(sf_run_pipeline(run), 100))
        ;
    if (sf_run_close(run, &error) != SF_OK) fail_msg("%s: %s", error.place, error.text);
}

void test_pipeline_refuses(const char *yaml, const sf_recording *recording, sf_status status,
                           const char *place, const char *words)
{
    sf_config config = test_config(yaml);
    sf_run_options options = {.config = &config, .recording = recording};
    sf_run *run;
    sf_error error = {0};
    test_assert_fails(sf_run_open(&run, &options, &error), &error, status, words);
    assert_string_equal(error.place, place);
    assert_null(run);
    sf_config_free(&config);
}

/* Holds each count against the slice taken alone; returns how many were compared. */
size_t test_check_counts(const test_collector *all, const sf_spike *spikes, size_t count)
{
    size_t compared = 0;
    uint64_t hops = 0;
    for (size_t i = 0; i < all->count; i++) {
        if (all->messages[i]->topic != SF_TOPIC_EPISODES) continue;
        const sf_episodes_message *episodes = &all->messages[i]->episodes;
        assert_int_equal(episodes->hop, hops++);
        size_t first = sf_spikes_lower_bound(spikes, count, episodes->window.start_ns);
        size_t last = sf_spikes_lower_bound(spikes, count, episodes->window.stop_ns);
        assert_int_equal(episodes->spikes, last - first);
        for (size_t e = 0; e < episodes->count; e++) {
            uint64_t expected = oracle_count(spikes + first, last - first, &episodes->items[e].episode);
            if (episodes->items[e].count != expected)
                fail_msg("hop %d episode %zu: %d, expected %d", (int)episodes->hop, e,
                         (int)episodes->items[e].count, (int)expected);
            compared++;
        }
    }
    return compared;
}

const sf_status_message *test_last_status(const test_collector *all)
{
    const sf_status_message *status = NULL;
    for (size_t i = 0; i < all->count; i++)
        if (all->messages[i]->topic == SF_TOPIC_STATUS) status = &all->messages[i]->status;
    assert_non_null(status);
    assert_true(status->last);
    return status;
}
