/* SPDX-License-Identifier: Apache-2.0 */
/* The whole pipeline in one process: what it publishes is held against plain counts of the same slices. */
#include "oracle/count_oracle.h"
#include "support/runs.h"

#include "mine/mine.h"
#include "replay/recording_file.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

/* ---- recorded time ---- */

enum { UNITS = 3 };

/* What lies in a span of the stretches that were observed. */
static int64_t observed_in(const sf_span *observed, size_t count, sf_span span)
{
    int64_t total_ns = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t from = observed[i].start_ns > span.start_ns ? observed[i].start_ns : span.start_ns;
        int64_t to = observed[i].stop_ns < span.stop_ns ? observed[i].stop_ns : span.stop_ns;
        total_ns += to > from ? to - from : 0;
    }
    return total_ns;
}

/* Spikes of each unit in a span. */
static void count_in(uint64_t *counts, const sf_recording *recording, sf_span span)
{
    memset(counts, 0, UNITS * sizeof *counts);
    for (size_t i = 0; i < recording->spike_count; i++)
        if (recording->spikes[i].time_ns >= span.start_ns && recording->spikes[i].time_ns < span.stop_ns)
            counts[recording->spikes[i].unit]++;
}

static void keep_observed_spikes(sf_recording *recording)
{
    size_t kept = 0;
    for (size_t i = 0; i < recording->spike_count; i++) {
        int64_t at = recording->spikes[i].time_ns;
        if (observed_in(recording->observed, recording->observed_count, (sf_span){at, at + 1}) > 0)
            recording->spikes[kept++] = recording->spikes[i];
    }
    recording->spike_count = kept;
}

/* Rates of all units of the window that ends there; whether any of it was observed. */
static bool check_rates(const sf_status_message *status, int64_t stop_ns, const sf_recording *recording)
{
    const sf_span span = {stop_ns - INT64_C(4000000000), stop_ns};
    double seconds = (double)observed_in(recording->observed, recording->observed_count, span) * 1e-9,
           all = 0;
    uint64_t counts[UNITS];
    count_in(counts, recording, span);
    for (size_t u = 0; u < UNITS && seconds > 0; u++) {
        all += (double)counts[u] / seconds;
        assert_true(fabs(status->unit_rates_hz[u] - (double)counts[u] / seconds) < 1e-9);
    }
    for (size_t u = 0; u < UNITS && seconds == 0; u++)
        assert_true(isnan(status->unit_rates_hz[u]));
    assert_true(seconds > 0 ? fabs(status->rate_hz - all) < 1e-9 : isnan(status->rate_hz));
    return seconds > 0;
}

/* What chance gives in a window; that all of it counts as observed, or not, makes a difference. */
static bool check_chance(const sf_episodes_message *told, const sf_recording *recording)
{
    uint64_t counts[UNITS];
    int64_t observed_ns = observed_in(recording->observed, recording->observed_count, told->window);
    count_in(counts, recording, told->window);
    for (size_t i = 0; i < told->count; i++) {
        double expected = sf_expected_episode(&told->items[i].episode, counts, observed_ns);
        assert_true(isnan(expected) ? isnan(told->items[i].expected)
                                    : fabs(told->items[i].expected - expected) <= 1e-9 * expected);
    }
    return observed_ns > 0 && observed_ns < told->window.stop_ns - told->window.start_ns && told->count > 0;
}

static bool check_edge(const sf_edge_change *edge, sf_span window, const sf_recording *recording)
{
    uint64_t counts[UNITS];
    const sf_episode pair = {.size = 2, .units = {edge->from, edge->to}, .delays = {edge->delay}};
    count_in(counts, recording, window);
    double expected = sf_expected_episode(
        &pair, counts, observed_in(recording->observed, recording->observed_count, window));
    assert_true(edge->removed || fabs(edge->expected - expected) <= 1e-9 * expected);
    return !edge->removed;
}

/* A recording that paused is replayed: rates and what chance gives are of what was recorded of each window.
 */
static void pauses_are_no_silence(void **state)
{
    (void)state;
    test_random random = test_random_start("pauses", 4);
    sf_recording recording = test_random_recording(&random, 6000, UNITS, INT64_C(60000000000), 1000);
    int64_t first_ns = recording.spikes[0].time_ns, second_ns = INT64_C(1000000000);
    sf_span observed[] = {{first_ns, first_ns + 10 * second_ns + 300000000},
                          {first_ns + 12 * second_ns, first_ns + 21 * second_ns},
                          {first_ns + 33 * second_ns, first_ns + 70 * second_ns}};
    recording.observed = observed;
    recording.observed_count = 3;
    keep_observed_spikes(&recording);
    sf_config config = test_config("window: {length_s: 4, hop_s: 1}\n"
                                   "mine: {every: 1, delays_ms: '0:15', min_count: 2, max_size: 2}\n");
    test_collector *all = test_collector_new();
    test_run_to_end(&config, &recording, 0, all);
    size_t rates = 0, none = 0, cut = 0, edges = 0;
    for (size_t i = 0; i < all->count; i++) {
        const sf_message *message = all->messages[i];
        bool is_full =
            message->time_ns >= first_ns + 4 * second_ns && (message->time_ns - first_ns) % second_ns == 0;
        if (message->topic == SF_TOPIC_STATUS && is_full) {
            bool any = check_rates(&message->status, message->time_ns, &recording);
            rates += any;
            none += !any;
        }
        if (message->topic == SF_TOPIC_EPISODES) cut += check_chance(&message->episodes, &recording);
        for (size_t k = 0; message->topic == SF_TOPIC_GRAPH && k < message->graph.change_count; k++)
            edges += check_edge(&message->graph.changes[k], message->graph.window, &recording);
    }
    print_message("%zu statuses with rates, %zu without, %zu windows cut by a pause, %zu edges\n", rates,
                  none, cut, edges);
    assert_true(rates > 20 && none > 4 && cut > 5 && edges > 20);
    test_collector_free(all);
    sf_config_free(&config);
    recording.observed = NULL;
    recording.observed_count = 0;
    sf_recording_clear(&recording);
}

/* ---- tests ---- */

static void every_window_counts_as_its_slice_alone(void **state)
{
    (void)state;
    test_random random = test_random_start("pipeline windows", 21);
    size_t compared = 0;
    for (int round = 0; round < 40; round++) {
        sf_recording recording = test_random_recording(&random, 200 + test_random_below(&random, 1200),
                                                       2 + test_random_below(&random, 4), INT64_C(3000000000),
                                                       round % 2 ? 1000000 : 1);
        char yaml[512];
        unsigned hop_ms = 20 + (unsigned)test_random_below(&random, 300);
        snprintf(
            yaml, sizeof yaml,
            "window: {length_s: %g, hop_s: %g}\n"
            "mine: {every: %u, delays_ms: '0:3,3:12', min_count: %u, max_size: 3, track_most: 60, self: %s}\n"
            "track: ['e1 -(0,9]-> e2', 'e2 -(0,15]-> e1 -(2,20]-> e2']\n"
            "watch: ['e1 -(0,9]-> e2', 'e1 -(1,7]-> e1']\n",
            (double)(hop_ms * (1 + (unsigned)test_random_below(&random, 6))) / 1e3, (double)hop_ms / 1e3,
            (unsigned)test_random_below(&random, 4), 2 + (unsigned)test_random_below(&random, 8),
            round % 3 ? "true" : "false");
        sf_config config = test_config(yaml);
        test_collector *all = test_collector_new();
        test_run_to_end(&config, &recording, 0, all);
        compared += test_check_counts(all, recording.spikes, recording.spike_count);
        assert_int_equal(test_last_status(all)->spikes, recording.spike_count);

        sf_episode watched;
        uint64_t triggers = 0;
        for (uint32_t i = 0; i < config.live.watch_count; i++) {
            assert_int_equal(sf_episode_parse(&watched, config.live.watch[i], &recording.units, NULL), SF_OK);
            triggers += oracle_count(recording.spikes, recording.spike_count, &watched);
        }
        assert_int_equal(all->triggers, triggers);
        test_collector_free(all);
        sf_config_free(&config);
        sf_recording_clear(&recording);
    }
    printf("%zu counts compared\n", compared);
    assert_true(compared > 1000);
}

static void the_same_run_twice_publishes_the_same(void **state)
{
    (void)state;
    test_random random = test_random_start("pipeline twice", 5);
    sf_recording recording = test_random_recording(&random, 3000, 5, INT64_C(10000000000), 1000);
    sf_config config = test_config("window: {length_s: 2, hop_s: 0.5}\n"
                                   "mine: {every: 2, delays_ms: '0:10', min_count: 5, max_size: 3}\n"
                                   "density: [{quantity: isi, unit: e1}]\n"
                                   "graph: {reach: [{from: e1, hops: 2}]}\n");
    test_collector *runs[2] = {test_collector_new(), test_collector_new()};
    for (int i = 0; i < 2; i++)
        test_run_to_end(&config, &recording, 0, runs[i]);
    assert_int_equal(runs[0]->count, runs[1]->count);
    size_t densities = 0, edges = 0;
    for (size_t i = 0; i < runs[0]->count; i++) {
        const sf_message *a = runs[0]->messages[i], *b = runs[1]->messages[i];
        assert_int_equal(a->topic, b->topic);
        assert_int_equal(a->seq, b->seq);
        assert_int_equal(a->time_ns, b->time_ns);
        if (a->topic == SF_TOPIC_EPISODES)
            assert_memory_equal(a->episodes.items, b->episodes.items,
                                a->episodes.count * sizeof(sf_episode_count));
        if (a->topic == SF_TOPIC_DENSITY) {
            assert_memory_equal(a->density.values, b->density.values, a->density.count * sizeof(double));
            densities++;
        }
        if (a->topic == SF_TOPIC_GRAPH) edges += a->graph.edges;
    }
    assert_true(densities > 3 && edges > 3);
    for (int i = 0; i < 2; i++)
        test_collector_free(runs[i]);
    sf_config_free(&config);
    sf_recording_clear(&recording);
}

static void a_density_of_the_window_integrates_to_one(void **state)
{
    (void)state;
    test_random random = test_random_start("pipeline density", 6);
    sf_recording recording = test_random_recording(&random, 4000, 2, INT64_C(20000000000), 1000);
    sf_config config = test_config("window: {length_s: 10, hop_s: 5}\n"
                                   "mine: {every: 0}\n"
                                   "density: [{quantity: isi, unit: e1, grid: 200},"
                                   " {quantity: delay, episode: 'e1 -(0,30]-> e2', grid: 200}]\n");
    test_collector *all = test_collector_new();
    test_run_to_end(&config, &recording, 0, all);
    size_t seen[2] = {0};
    for (size_t i = 0; i < all->count; i++) {
        if (all->messages[i]->topic != SF_TOPIC_DENSITY) continue;
        const sf_density_message *density = &all->messages[i]->density;
        double mass = 0;
        for (size_t k = 0; k < density->count; k++)
            mass += density->values[k] * density->grid_step * (k == 0 ? 0.5 : 1);
        assert_true(mass > 0.9 && mass < 1.02); /* the grid leaves out the longest hundredth */
        seen[strncmp(density->quantity, "delay", 5) == 0]++;
    }
    assert_true(seen[0] >= 3 && seen[1] >= 3);
    test_collector_free(all);
    sf_config_free(&config);
    sf_recording_clear(&recording);
}

static void what_does_not_fit_is_counted(void **state)
{
    (void)state;
    test_random random = test_random_start("pipeline drops", 7);
    sf_recording recording = test_random_recording(&random, 200000, 8, INT64_C(20000000000), 1000);
    char *path = test_temporary_path(".csv");
    FILE *file = fopen(path, "w");
    for (size_t i = 0; i < recording.spike_count; i++)
        fprintf(file, "e%u,%lld.%09lld\n", recording.spikes[i].unit + 1,
                (long long)(recording.spikes[i].time_ns / 1000000000),
                (long long)(recording.spikes[i].time_ns % 1000000000));
    fclose(file);
    for (int policy = 0; policy < 3; policy++) {
        static const char *const names[] = {"block", "drop-oldest", "drop-newest"};
        char yaml[1024];
        snprintf(yaml, sizeof yaml,
                 "sources: [{type: replay, recording: '%s', speed: max, ring: 64, policy: %s}]\n"
                 "window: {length_s: 2, hop_s: 1}\nmine: {every: 1, delays_ms: '0:2', min_count: 100}\n",
                 path, names[policy]);
        sf_config config = test_config(yaml);
        test_collector *all = test_collector_new();
        test_run_to_end(&config, NULL, 0, all);
        const sf_status_message *status = test_last_status(all);
        const sf_source_status *source = &status->sources[0];
        assert_int_equal(source->spikes, recording.spike_count);
        assert_int_equal(status->spikes + source->dropped + source->late + source->out_of_range +
                             status->window_dropped,
                         recording.spike_count);
        if (policy == 0) assert_int_equal(status->spikes, recording.spike_count);
        printf("%s: %llu of %zu dropped\n", names[policy], (unsigned long long)source->dropped,
               recording.spike_count);
        test_collector_free(all);
        sf_config_free(&config);
    }
    unlink(path);
    free(path);
    sf_recording_clear(&recording);
}

/* What the analysis has no room for is recorded all the same. */
static void the_recorder_does_not_depend_on_the_analysis(void **state)
{
    (void)state;
    test_random random = test_random_start("pipeline recorder", 12);
    sf_recording recording = test_random_recording(&random, 20000, 12, INT64_C(20000000000), 1000);
    char *csv = test_temporary_path(".csv"), *path = test_temporary_path(".h5");
    FILE *file = fopen(csv, "w");
    for (size_t i = 0; i < recording.spike_count; i++)
        fprintf(file, "e%u,%lld.%09lld\n", recording.spikes[i].unit + 1,
                (long long)(recording.spikes[i].time_ns / 1000000000),
                (long long)(recording.spikes[i].time_ns % 1000000000));
    fclose(file);
    char yaml[1024];
    snprintf(yaml, sizeof yaml,
             "sources: [{type: replay, recording: '%s', speed: max, ring: 65536, policy: drop-oldest}]\n"
             "window: {length_s: 5, hop_s: 0.1}\nmine: {every: 1, delays_ms: '0:20', min_count: 2}\n"
             "sinks: [{type: hdf5, path: '%s', ring: 1, policy: drop-oldest}]\n",
             csv, path);
    sf_config config = test_config(yaml);
    test_collector *all = test_collector_new();
    sf_run_options options = {.config = &config, .handoff_room = 1, .outlet = test_outlet(all)};
    test_run_all(&options);
    const sf_status_message *status = test_last_status(all);
    assert_int_equal(status->sources[0].spikes, recording.spike_count);
    assert_int_equal(status->sources[0].dropped, 0);
    assert_true(status->window_dropped > 0);
    assert_int_equal(status->spikes + status->window_dropped, recording.spike_count);
    sf_recording back;
    assert_int_equal(sf_recording_read(&back, path, NULL, NULL, NULL), SF_OK);
    assert_int_equal(back.spike_count, recording.spike_count);
    for (size_t i = 0; i < back.spike_count; i++)
        assert_int_equal(back.spikes[i].time_ns, recording.spikes[i].time_ns);
    printf("%llu of %zu spikes were not analysed, all are recorded\n",
           (unsigned long long)status->window_dropped, recording.spike_count);
    sf_recording_clear(&back);
    test_collector_free(all);
    sf_config_free(&config);
    unlink(path);
    unlink(csv);
    free(path);
    free(csv);
    sf_recording_clear(&recording);
}

static size_t count_episodes(test_collector *all)
{
    size_t count = 0;
    pthread_mutex_lock(&all->lock);
    for (size_t i = 0; i < all->count; i++)
        count += all->messages[i]->topic == SF_TOPIC_EPISODES;
    pthread_mutex_unlock(&all->lock);
    return count;
}

/* Stopped once a few windows are out: at this speed the recording would last for ten minutes. */
static void stopping_drains_and_ends(void **state)
{
    (void)state;
    test_random random = test_random_start("pipeline stop", 8);
    sf_recording recording = test_random_recording(&random, 60000, 4, INT64_C(60000000000), 1000);
    sf_config config = test_config("window: {length_s: 0.02, hop_s: 0.01}\nmine: {every: 1, min_count: 3}\n"
                                   "track: ['e1 -(0,9]-> e2']\n");
    test_collector *all = test_collector_new();
    sf_run_options options = {
        .config = &config, .recording = &recording, .speed = 0.1, .outlet = test_outlet(all)};
    sf_run *run;
    sf_error error = {0};
    assert_int_equal(sf_run_open(&run, &options, &error), SF_OK);
    assert_int_equal(sf_pipeline_start(sf_run_pipeline(run), &error), SF_OK);
    while (count_episodes(all) < 3)
        assert_false(sf_pipeline_wait(sf_run_pipeline(run), 10));
    sf_pipeline_stop(sf_run_pipeline(run));
    while (!sf_pipeline_wait(sf_run_pipeline(run), 100))
        ;
    assert_int_equal(sf_run_close(run, &error), SF_OK);
    const sf_status_message *status = test_last_status(all);
    assert_true(status->spikes > 0 && status->spikes < recording.spike_count);
    assert_int_equal(status->sources[0].state, SF_SOURCE_LIVE); /* it was left before its end */
    assert_true(test_check_counts(all, recording.spikes, (size_t)status->spikes) > 0);
    test_collector_free(all);
    sf_config_free(&config);
    sf_recording_clear(&recording);
}

/* Of a recording that lasts for 20 s; it has ended where the run took all of it, however far its thread is.
 */
static void a_duration_ends_the_run_exactly(void **state)
{
    (void)state;
    static const struct {
        int64_t duration_ns;
        sf_source_state state;
    } cases[] = {{INT64_C(4500000000), SF_SOURCE_LIVE},
                 {INT64_C(19900000000), SF_SOURCE_LIVE},
                 {INT64_C(30000000000), SF_SOURCE_ENDED},
                 {0, SF_SOURCE_ENDED}};
    test_random random = test_random_start("pipeline duration", 9);
    sf_recording recording = test_random_recording(&random, 20000, 4, INT64_C(20000000000), 1000);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sf_config config = test_config("window: {length_s: 2, hop_s: 1}\nmine: {every: 1, min_count: 3}\n");
        test_collector *all = test_collector_new();
        sf_run_options options = {.config = &config,
                                  .recording = &recording,
                                  .duration_ns = cases[i].duration_ns,
                                  .outlet = test_outlet(all)};
        test_run_all(&options);
        size_t within = options.duration_ns == 0
                            ? recording.spike_count
                            : sf_spikes_lower_bound(recording.spikes, recording.spike_count,
                                                    recording.spikes[0].time_ns + options.duration_ns);
        assert_int_equal(test_last_status(all)->spikes, within);
        assert_int_equal(test_last_status(all)->sources[0].state, cases[i].state);
        test_check_counts(all, recording.spikes, within);
        test_collector_free(all);
        sf_config_free(&config);
    }
    sf_recording_clear(&recording);
}

/* A recorder that is behind when the stream ends. */
typedef struct slow_recorder {
    test_collector *all;
    atomic_int asked;
} slow_recorder;

enum { ASKED_UNTIL_DONE = 20, RECORDED = 7 };

static void hand_to_collector(void *self, sf_message *message)
{
    sf_outlet collector = test_outlet(((slow_recorder *)self)->all);
    collector.kind->publish(collector.self, message);
}

static bool is_behind(void *self)
{
    return atomic_fetch_add(&((slow_recorder *)self)->asked, 1) < ASKED_UNTIL_DONE;
}

static void tell_recorded(void *self, sf_sink_status *status)
{
    bool done = atomic_load(&((slow_recorder *)self)->asked) > ASKED_UNTIL_DONE;
    *status = (sf_sink_status){.name = "slow", .state = "ok", .spikes = done ? RECORDED : RECORDED - 1};
}

static void the_last_status_has_all_that_was_recorded(void **state)
{
    (void)state;
    static const sf_outlet_kind kind = {
        .publish = hand_to_collector, .busy = is_behind, .status = tell_recorded};
    test_random random = test_random_start("pipeline last status", 11);
    sf_recording recording = test_random_recording(&random, 2000, 4, INT64_C(2000000000), 1000);
    sf_config config = test_config("window: {length_s: 1, hop_s: 0.5}\nmine: {every: 0}\n");
    slow_recorder slow = {.all = test_collector_new()};
    sf_run_options options = {.config = &config, .recording = &recording, .outlet = {&kind, &slow}};
    test_run_all(&options);
    const sf_status_message *status = test_last_status(slow.all);
    assert_int_equal(status->sink_count, 1);
    assert_int_equal(status->sinks[0].spikes, RECORDED);
    test_collector_free(slow.all);
    sf_config_free(&config);
    sf_recording_clear(&recording);
}

static void several_sources_become_one_stream(void **state)
{
    (void)state;
    test_random random = test_random_start("pipeline sources", 10);
    char *paths[2];
    sf_spike merged[4000];
    size_t count = 0;
    for (uint32_t s = 0; s < 2; s++) {
        sf_recording recording = test_random_recording(&random, 2000, 3, INT64_C(5000000000), 1000000);
        paths[s] = test_temporary_path(s == 0 ? ".a.csv" : ".b.csv");
        FILE *file = fopen(paths[s], "w");
        for (size_t i = 0; i < recording.spike_count; i++) {
            const sf_spike *spike = &recording.spikes[i];
            int64_t time_ns = spike->time_ns - recording.spikes[0].time_ns;
            fprintf(file, "u%u,%.9f\n", spike->unit, (double)time_ns * 1e-9);
            merged[count++] = (sf_spike){.time_ns = time_ns, .unit = s * 3 + spike->unit};
        }
        fclose(file);
        sf_recording_clear(&recording);
    }
    assert_int_equal(sf_spikes_sort(merged, count, NULL), SF_OK);
    char yaml[2048];
    snprintf(yaml, sizeof yaml,
             "sources:\n- {type: replay, recording: '%s', speed: max}\n- {type: replay, recording: '%s', "
             "speed: max}\n"
             "window: {length_s: 1, hop_s: 0.25}\n"
             "mine: {every: 2, delays_ms: '0:4', min_count: 4, max_size: 3}\ntrack: ['#1 -(0,5]-> #4']\n",
             paths[0], paths[1]);
    sf_config config = test_config(yaml);
    test_collector *all = test_collector_new();
    test_run_to_end(&config, NULL, 0, all);
    assert_int_equal(test_last_status(all)->spikes, count);
    assert_true(test_check_counts(all, merged, count) > 20);
    test_collector_free(all);
    sf_config_free(&config);
    for (int s = 0; s < 2; s++) {
        unlink(paths[s]);
        free(paths[s]);
    }
}

/* One time stamp a year ahead, twice: what lies between costs nothing, and no count is lost. */
static void a_year_of_silence_is_passed_over(void **state)
{
    (void)state;
    test_random random = test_random_start("pipeline silence", 14);
    sf_recording recording = test_random_recording(&random, 900, 3, INT64_C(3000000000), 1000);
    for (size_t i = 300; i < recording.spike_count; i++)
        recording.spikes[i].time_ns += (int64_t)(1 + i / 600) * 31536000 * INT64_C(1000000000);
    recording.recorded.stop_ns = recording.spikes[recording.spike_count - 1].time_ns + 1;
    sf_config config = test_config("window: {length_s: 1, hop_s: 0.1}\nmine: {every: 1, min_count: 3}\n"
                                   "track: ['e1 -(0,9]-> e2']\n");
    test_collector *all = test_collector_new();
    test_run_to_end(&config, &recording, 0, all);
    uint64_t spikes = 0, hop = 0;
    for (size_t i = 0; i < all->count; i++) {
        if (all->messages[i]->topic != SF_TOPIC_EPISODES) continue;
        const sf_episodes_message *episodes = &all->messages[i]->episodes;
        size_t first =
            sf_spikes_lower_bound(recording.spikes, recording.spike_count, episodes->window.start_ns);
        size_t last =
            sf_spikes_lower_bound(recording.spikes, recording.spike_count, episodes->window.stop_ns);
        assert_int_equal(episodes->items[0].count,
                         oracle_count(recording.spikes + first, last - first, &episodes->items[0].episode));
        spikes += episodes->items[0].count;
        hop = episodes->hop;
    }
    assert_true(spikes > 100 && hop > 2 * UINT64_C(315360000) && all->count < 1000);
    assert_int_equal(test_last_status(all)->spikes, recording.spike_count);
    test_collector_free(all);
    sf_config_free(&config);
    sf_recording_clear(&recording);
}

static void words_that_cannot_be_are_refused_with_their_place(void **state)
{
    (void)state;
    test_random random = test_random_start("pipeline words", 11);
    sf_recording recording = test_random_recording(&random, 100, 2, INT64_C(1000000000), 1000);
    static const char *const bad[][3] = {
        {"watch: ['e1 -(0,5]-> x9']\n", "test.yaml:1:9: watch.0", "no unit is named 'x9'"},
        {"track: ['e1 -(0,5]-> e2', 'e1 -(0,5]-> e2']\n", "test.yaml:1:27: track.1", "listed twice"},
        {"track: ['e1 -(5,5]-> e2']\n", "test.yaml:1:9: track.0", "empty"},
        {"graph: {reach: [{from: zz}]}\n", "test.yaml:1:24: graph.reach.0.from", "zz"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        test_pipeline_refuses(bad[i][0], &recording, SF_CONFIG, bad[i][1], bad[i][2]);
    sf_config nothing = test_config("");
    sf_run_options options = {.config = &nothing};
    sf_run *run;
    sf_error error = {0};
    test_assert_fails(sf_run_open(&run, &options, &error), &error, SF_CONFIG, "no sources");
    sf_config_free(&nothing);
    sf_recording_clear(&recording);
}

typedef struct open_and_close {
    sf_config config;
    sf_recording recording;
} open_and_close;

static int open_then_close(void *context)
{
    open_and_close *what = context;
    sf_run_options options = {.config = &what->config, .recording = &what->recording};
    sf_run *run;
    int status = sf_run_open(&run, &options, NULL);
    int closed = sf_run_close(run, NULL);
    return status == SF_OK ? closed : status;
}

static void failed_allocations_leak_nothing(void **state)
{
    (void)state;
    test_random random = test_random_start("pipeline allocations", 12);
    open_and_close what = {.recording = test_random_recording(&random, 100, 2, INT64_C(1000000000), 1000),
                           .config =
                               test_config("window: {length_s: 1, hop_s: 0.5}\n"
                                           "track: ['e1 -(0,5]-> e2']\nwatch: ['e1 -(0,5]-> e2']\n"
                                           "density: [{quantity: rate, unit: e1}]\n"
                                           "graph: {reach: [{from: e1}]}\n"
                                           "sinks: [{type: jsonl, path: /dev/null, overwrite: true}]\n")};
    test_fail_every_allocation(open_then_close, &what);
    sf_config_free(&what.config);
    sf_recording_clear(&what.recording);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_window_counts_as_its_slice_alone),
        cmocka_unit_test(pauses_are_no_silence),
        cmocka_unit_test(the_same_run_twice_publishes_the_same),
        cmocka_unit_test(a_density_of_the_window_integrates_to_one),
        cmocka_unit_test(what_does_not_fit_is_counted),
        cmocka_unit_test(the_recorder_does_not_depend_on_the_analysis),
        cmocka_unit_test(stopping_drains_and_ends),
        cmocka_unit_test(a_duration_ends_the_run_exactly),
        cmocka_unit_test(the_last_status_has_all_that_was_recorded),
        cmocka_unit_test(several_sources_become_one_stream),
        cmocka_unit_test(a_year_of_silence_is_passed_over),
        cmocka_unit_test(words_that_cannot_be_are_refused_with_their_place),
        cmocka_unit_test(failed_allocations_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
