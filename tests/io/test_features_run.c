/* SPDX-License-Identifier: Apache-2.0 */
/* Features of a whole run: an hour of them on a virtual clock, and what a loss does to their flag. */
#include "support/runs.h"

#include "core/clock.h"
#include "core/memory.h"
#include "window/watch.h"

/* ---- an hour ---- */

enum { UNITS = 6, EPISODES = 3, WIDTH = UNITS + EPISODES, MOST = 100000 };

typedef struct hour {
    int64_t next_ns, bin_ns;
    uint64_t next, partial, sums[WIDTH], episodes_sent[EPISODES];
    size_t names;
} hour;

static void take_bin(void *self, sf_message *message)
{
    hour *all = self;
    all->names += message->topic == SF_TOPIC_FEATURES_NAMES;
    if (message->topic == SF_TOPIC_STATUS) assert_int_equal(message->status.features_lost, 0);
    if (message->topic != SF_TOPIC_FEATURES) return;
    const sf_features_message *bin = &message->features;
    assert_true(bin->bin == all->next++ && message->seq == all->next);
    assert_true(bin->window.start_ns == all->next_ns && !bin->lost && bin->count == WIDTH);
    all->next_ns = bin->window.stop_ns;
    all->partial += bin->partial;
    for (int i = 0; i < WIDTH; i++)
        all->sums[i] += bin->values[i];
}

static void take_trigger(void *self, const sf_message *trigger)
{
    static const char *const names[] = {"e1 -(0,9]-> e2", "e2 -(1,7]-> e3 -(0,20]-> e1"};
    hour *all = self;
    for (int i = 0; i < 2; i++)
        all->episodes_sent[i] += strcmp(trigger->trigger.name, names[i]) == 0;
}

static void an_hour_has_every_bin_once(void **state)
{
    (void)state;
    test_random random = test_random_start("features of an hour", 72);
    const int64_t hour_ns = INT64_C(3600000000000), bin_ns = 20000000;
    sf_recording recording = test_random_recording(&random, MOST, UNITS, hour_ns, 10000);
    /* The first half of the spikes comes twice as fast: then there is silence for a quarter of an hour. */
    int64_t origin_ns = recording.spikes[0].time_ns;
    for (size_t i = 0; i < MOST / 2; i++)
        recording.spikes[i].time_ns = origin_ns + (recording.spikes[i].time_ns - origin_ns) / 2;
    sf_config config =
        test_config("window: {length_s: 60, hop_s: 60}\nmine: {every: 0}\nsignificance: {kind: 'off'}\n"
                    "graph: {enabled: false}\nwatch: ['e1 -(0,9]-> e2', 'e2 -(1,7]-> e3 -(0,20]-> e1']\n"
                    "features: {bin_ms: 20, units: ['*'], episodes: ['*'], edges: ['e4 -(0,50]-> e5']}\n");
    hour all = {.next_ns = origin_ns};
    static const sf_outlet_kind kind = {.publish = take_bin, .trigger = take_trigger};
    const sf_run_options options = {.config = &config, .recording = &recording, .outlet = {&kind, &all}};
    sf_run *run;
    assert_int_equal(sf_run_open(&run, &options, NULL), SF_OK);
    assert_int_equal(sf_pipeline_start(sf_run_pipeline(run), NULL), SF_OK);
    while (!sf_pipeline_wait(sf_run_pipeline(run), 100))
        ;
    assert_int_equal(sf_run_close(run, NULL), SF_OK);

    int64_t end_ns = recording.spikes[MOST - 1].time_ns + 1;
    assert_true(end_ns - origin_ns > hour_ns - INT64_C(10000000000));
    assert_int_equal(all.next, (uint64_t)((end_ns - origin_ns + bin_ns - 1) / bin_ns));
    assert_int_equal(all.next_ns, end_ns);
    assert_true(all.partial <= 1 && all.names > 200);
    uint64_t spikes[UNITS] = {0};
    for (size_t i = 0; i < MOST; i++)
        spikes[recording.spikes[i].unit]++;
    for (int u = 0; u < UNITS; u++)
        assert_int_equal(all.sums[u], spikes[u]);
    sf_episode edge;
    assert_int_equal(sf_episode_parse(&edge, "e4 -(0,50]-> e5", &recording.units, NULL), SF_OK);
    uint64_t edges = 0;
    sf_watch *watch;
    assert_int_equal(sf_watch_open(&watch, &edge, 1, UNITS, 0, NULL), SF_OK);
    for (size_t i = 0; i < MOST; i++) {
        const sf_completion *completions;
        edges += sf_watch_advance(watch, &recording.spikes[i], &completions);
    }
    sf_watch_close(watch);
    assert_int_equal(all.sums[WIDTH - 1], edges);
    for (int e = 0; e < 2; e++)
        assert_int_equal(all.sums[UNITS + e], all.episodes_sent[e]);
    printf("%llu bins, %llu and %llu episodes, %llu edges\n", (unsigned long long)all.next,
           (unsigned long long)all.episodes_sent[0], (unsigned long long)all.episodes_sent[1],
           (unsigned long long)edges);
    assert_true(all.episodes_sent[0] > 100 && all.episodes_sent[1] > 0 && edges > 100);
    sf_config_free(&config);
    sf_recording_clear(&recording);
}

/* ---- a pause ---- */

typedef struct pauses {
    sf_span pause;
    size_t lost, sound, wrong;
} pauses;

static void hold_bin_to_pause(void *self, sf_message *message)
{
    pauses *all = self;
    if (message->topic != SF_TOPIC_FEATURES) return;
    sf_span bin = message->features.window;
    bool is_pause = bin.start_ns < all->pause.stop_ns && all->pause.start_ns < bin.stop_ns;
    all->wrong += message->features.lost != is_pause;
    all->lost += message->features.lost;
    all->sound += !message->features.lost;
}

static void a_pause_of_a_recording_is_a_loss(void **state)
{
    (void)state;
    test_random random = test_random_start("features of a pause", 73);
    sf_recording recording = test_random_recording(&random, 1000, 3, INT64_C(9) * SF_SECOND, 1);
    pauses all = {.pause = {INT64_C(3050000000), INT64_C(5050000000)}}; /* ends within bins */
    size_t kept = 0;
    int64_t origin_ns = recording.spikes[0].time_ns;
    for (size_t i = 0; i < recording.spike_count; i++) {
        recording.spikes[i].time_ns -= origin_ns;
        int64_t time_ns = recording.spikes[i].time_ns;
        if (time_ns < all.pause.start_ns || time_ns >= all.pause.stop_ns)
            recording.spikes[kept++] = recording.spikes[i];
    }
    recording.spike_count = kept;
    recording.recorded = (sf_span){0, INT64_C(10) * SF_SECOND};
    recording.observed = sf_alloc(2, sizeof *recording.observed);
    recording.observed[0] = (sf_span){0, all.pause.start_ns};
    recording.observed[1] = (sf_span){all.pause.stop_ns, recording.recorded.stop_ns};
    recording.observed_count = 2;
    sf_config config = test_config("window: {length_s: 2, hop_s: 1}\nmine: {every: 0}\n"
                                   "significance: {kind: 'off'}\ngraph: {enabled: false}\n"
                                   "features: {bin_ms: 100, units: ['*']}\n");
    static const sf_outlet_kind kind = {.publish = hold_bin_to_pause};
    const sf_run_options options = {.config = &config, .recording = &recording, .outlet = {&kind, &all}};
    sf_run *run;
    assert_int_equal(sf_run_open(&run, &options, NULL), SF_OK);
    assert_int_equal(sf_pipeline_start(sf_run_pipeline(run), NULL), SF_OK);
    while (!sf_pipeline_wait(sf_run_pipeline(run), 100))
        ;
    assert_int_equal(sf_run_close(run, NULL), SF_OK);
    assert_int_equal(all.wrong, 0);
    assert_in_range(all.lost, 20, 22);
    assert_in_range(all.sound, 75, 80);
    sf_recording_clear(&recording);
    sf_config_free(&config);
}

/* ---- a loss ---- */

/* One spike in each bin of 10 ms. */
static void push_bins(sf_live *live, int64_t from, int64_t count)
{
    sf_spike spikes[1000];
    assert_true(count <= 1000);
    for (int64_t i = 0; i < count; i++)
        spikes[i] = (sf_spike){.time_ns = (from + i) * 10000000};
    assert_int_equal(sf_live_push(live, 0, spikes, (size_t)count, INT64_MIN, NULL), SF_OK);
}

/* Holds bins against what was pushed, up to the one with this number: of an empty one it is said that
 * something was lost. Returns how many were empty. */
static size_t read_bins(sf_live *live, uint64_t last, bool *lost)
{
    size_t empty = 0;
    for (;;) {
        sf_message *message;
        assert_int_equal(sf_live_next(live, &message, 20000, NULL), SF_OK);
        if (message->topic != SF_TOPIC_FEATURES) {
            sf_message_release(message);
            continue;
        }
        sf_features_message bin = message->features;
        uint32_t value = bin.values[0];
        sf_message_release(message);
        if (value == 0) assert_true(bin.lost);
        empty += value == 0;
        *lost = bin.lost;
        if (bin.bin == last) return empty;
    }
}

static void a_bin_that_lost_spikes_says_so(void **state)
{
    (void)state;
    static const sf_live_unit units[] = {{.name = "A"}};
    static const char *const all[] = {"*"};
    const sf_live_source source = {
        .units = units, .unit_count = 1, .ring = 64, .policy = SF_RING_DROP_NEWEST, .virtual_clock = true};
    sf_live_options options = sf_live_options_default();
    options.sources = &source;
    options.source_count = 1;
    options.features = (sf_live_features){.bin_ms = 10, .units = all, .unit_count = 1};
    options.mine.every = 0;
    options.significance.kind = 0;
    sf_live *live;
    assert_int_equal(sf_live_open(&live, &options, NULL), SF_OK);
    bool lost = true;
    push_bins(live, 0, 6);
    assert_int_equal(read_bins(live, 4, &lost), 0);
    assert_false(lost);
    push_bins(live, 6, 400); /* of which a ring of 64 drops most */
    assert_int_equal(read_bins(live, 60, &lost), 0);
    push_bins(live, 406, 10); /* after what was lost */
    assert_true(read_bins(live, 412, &lost) > 300);
    push_bins(live, 416, 10);
    assert_int_equal(read_bins(live, 424, &lost), 0);
    assert_false(lost);
    assert_int_equal(sf_live_close(live, NULL), SF_OK);
}

/* ---- what is refused ---- */

static void refuse(const char *text, const char *place, const char *words)
{
    sf_config config;
    sf_error error = {0};
    test_assert_fails(sf_config_parse(&config, text, strlen(text), "t.yaml", NULL, 0, &error), &error,
                      SF_CONFIG, words);
    assert_non_null(strstr(error.place, place));
}

static void wrong_features_are_refused(void **state)
{
    (void)state;
    refuse("features: {bin_ms: 0.5, units: ['*']}", "features.bin_ms", "from 1 to 100");
    refuse("features: {bin_ms: 101, units: ['*']}", "features.bin_ms", "to 100");
    refuse("features: {units: ['*']}", "features.bin_ms", "from 1 to 100");
    refuse("features: {bin_ms: 20}", "features", "found no units");
    test_random random = {.state = 1};
    sf_recording recording = test_random_recording(&random, 10, 3, 1000000, 1);
    test_pipeline_refuses("features: {bin_ms: 20, units: [e1, '#0']}", &recording, SF_CONFIG,
                          "test.yaml:1:36: features.units.1", "twice");
    test_pipeline_refuses("features: {bin_ms: 20, units: [e1, nobody]}", &recording, SF_CONFIG,
                          "test.yaml:1:36: features.units.1", "nobody");
    test_pipeline_refuses("features: {bin_ms: 20, episodes: ['e1 -(0,5]-> nobody']}", &recording, SF_CONFIG,
                          "test.yaml:1:35: features.episodes.0", "nobody");
    test_pipeline_refuses("features: {bin_ms: 20, edges: ['e1 -(0,5]-> e2 -(0,5]-> e3']}", &recording,
                          SF_CONFIG, "test.yaml:1:32: features.edges.0", "found 3 units");
    test_pipeline_refuses("features: {bin_ms: 20, episodes: ['*']}", &recording, SF_CONFIG,
                          "test.yaml:1:34: features.episodes", "no episode that is watched");
    sf_recording_clear(&recording);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_hour_has_every_bin_once),
        cmocka_unit_test(a_pause_of_a_recording_is_a_loss),
        cmocka_unit_test(a_bin_that_lost_spikes_says_so),
        cmocka_unit_test(wrong_features_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
