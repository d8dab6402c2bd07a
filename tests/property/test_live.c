/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of synfire/live.h: what is pushed gives what replaying the same recording gives, message by message.
 */
#include "oracle/count_oracle.h"
#include "support/support.h"

#include "core/clock.h"
#include "core/memory.h"
#include "pipeline/live.h"
#include "pipeline/pushed.h"
#include "replay/player.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>

#define UNITS 6

/* ---- streams ---- */

typedef struct stream {
    sf_recording recording;
    sf_live_unit units[UNITS];
} stream;

static void make_units(sf_recording *recording, sf_live_unit *units, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sf_unit unit = {.x_um = (double)i * 10, .y_um = (double)(i * i), .electrode = -1};
        assert_int_equal(sf_units_add(&recording->units, &unit, NULL), SF_OK);
        units[i] = (sf_live_unit){.x_um = unit.x_um, .y_um = unit.y_um};
    }
    assert_int_equal(sf_units_finish(&recording->units, NULL), SF_OK);
}

static void make_stream(stream *made, test_random *random, size_t spikes, size_t units)
{
    *made = (stream){0};
    sf_recording *recording = &made->recording;
    make_units(recording, made->units, units);
    recording->spikes = sf_alloc(spikes, sizeof *recording->spikes);
    recording->spike_count = spikes;
    int64_t origin_ns = (int64_t)test_random_below(random, 36000) * SF_SECOND;
    for (size_t i = 0; i < spikes; i++)
        recording->spikes[i] =
            (sf_spike){.time_ns = origin_ns + (int64_t)test_random_below(random, 3000) * SF_MILLISECOND,
                       .unit = (uint32_t)test_random_below(random, units),
                       .amplitude = NAN};
    assert_int_equal(sf_spikes_sort(recording->spikes, spikes, NULL), SF_OK);
    recording->recorded = (sf_span){recording->spikes[0].time_ns, recording->spikes[spikes - 1].time_ns + 1};
}

/* The spikes of units first .. first + count - 1 alone, as a stream of its own. */
static void take_part(stream *part, const stream *whole, uint32_t first, uint32_t count)
{
    *part = (stream){0};
    make_units(&part->recording, part->units, count);
    part->recording.spikes = sf_alloc(whole->recording.spike_count, sizeof(sf_spike));
    for (size_t i = 0; i < whole->recording.spike_count; i++) {
        sf_spike spike = whole->recording.spikes[i];
        if (spike.unit < first || spike.unit >= first + count) continue;
        spike.unit -= first;
        part->recording.spikes[part->recording.spike_count++] = spike;
    }
    part->recording.recorded = whole->recording.recorded;
}

static void free_stream(stream *made)
{
    sf_recording_clear(&made->recording);
}

/* ---- what came ---- */

/* All messages but triggers as text, in order, and the triggers as text. */
typedef struct heard {
    sf_text messages, triggers;
    size_t count, trigger_count;
} heard;

/* What a clock or the moment decides is left out. */
static void keep(heard *all, const sf_live *live, sf_message *message)
{
    message->arrival_ns = 0;
    if (message->topic == SF_TOPIC_STATUS) {
        sf_status_message *status = &message->status;
        status->spikes = status->source_count = status->sink_count = status->stage_count = 0;
        status->run_s = 0;
        status->window_fill = status->window_size = 0;
        status->latency = (sf_took){0};
        status->discovery_ms = status->test_ms = status->test_share = NAN;
    }
    char *json;
    assert_int_equal(sf_live_json(live, message, &json, NULL), SF_OK);
    bool trigger = message->topic == SF_TOPIC_TRIGGER;
    sf_text_printf(trigger ? &all->triggers : &all->messages, "%s\n", json);
    all->count += !trigger;
    all->trigger_count += trigger;
    sf_release(json);
    sf_message_release(message);
}

/* Takes what waits; true once the run has ended. */
static bool take_all(heard *all, sf_live *live, int timeout_ms)
{
    sf_message *message;
    int status;
    while ((status = sf_live_next(live, &message, timeout_ms, NULL)) == SF_OK)
        keep(all, live, message);
    assert_true(status == SF_AGAIN || status == SF_END);
    assert_null(message);
    return status == SF_END;
}

static void to_the_end(heard *all, sf_live *live)
{
    sf_error error = {0};
    while (!take_all(all, live, 1000))
        ;
    if (sf_live_close(live, &error) != SF_OK) fail_msg("%s: %s", error.place, error.text);
}

static void assert_same(heard *a, heard *b)
{
    assert_int_equal(a->count, b->count);
    assert_string_equal(a->messages.data, b->messages.data);
    assert_int_equal(a->trigger_count, b->trigger_count);
    if (a->trigger_count > 0) assert_string_equal(a->triggers.data, b->triggers.data);
}

static void free_heard(heard *all)
{
    sf_text_free(&all->messages);
    sf_text_free(&all->triggers);
}

/* ---- runs ---- */

static const char *const tracked[] = {"#0 -(0,9]-> #1", "#1 -(0,15]-> #0 -(2,20]-> #1"};
static const char *const watched[] = {"#0 -(0,9]-> #1", "#0 -(1,7]-> #0"};
static const sf_live_reach reach = {.from = "#0", .hops = 2};
static const sf_live_pattern pattern = {.pattern = "feed-forward-loop", .limit = 3};
static sf_live_density densities[3];

static sf_live_options make_options(test_random *random)
{
    sf_live_options options = sf_live_options_default();
    options.window.hop_s = 0.1 * (1 + (double)test_random_below(random, 3));
    options.window.length_s = options.window.hop_s * (double)(1 + test_random_below(random, 5));
    options.mine.every = (uint32_t)test_random_below(random, 4);
    options.mine.delays_ms = "0:3,3:12";
    options.mine.min_count = 3;
    options.mine.max_size = 3;
    options.track = tracked;
    options.track_count = 2;
    options.watch = watched;
    options.watch_count = 2;
    options.graph.reach = &reach;
    options.graph.reach_count = 1;
    options.graph.patterns = &pattern;
    options.graph.pattern_count = 1;
    options.graph.components = true;
    densities[0] = sf_live_density_default(SF_QUANTITY_ISI);
    densities[0].unit = "*";
    densities[1] = sf_live_density_default(SF_QUANTITY_DELAY);
    densities[1].episode = tracked[0];
    densities[2] = sf_live_density_default(SF_QUANTITY_POSITION);
    options.density = densities;
    options.density_count = 3;
    options.significance.kind =
        test_random_below(random, 3) ? SF_SIGNIFICANCE_SHIFT : (sf_significance_kind)0;
    options.significance.length_s = options.window.hop_s * (double)test_random_below(random, 3);
    options.significance.surrogates = 20;
    options.device = "cpu"; /* the memory that a device's jobs took at most is that of all runs so far */
    return options;
}

/* Recordings played by the pipeline's own players, at once and on a virtual clock. */
static void replay(heard *all, const sf_live_options *options, stream *const *streams, size_t count)
{
    sf_live_options resolved = *options;
    sf_input inputs[2];
    sf_pipeline *pipeline;
    sf_live *live;
    assert_int_equal(sf_live_resolve(&resolved, NULL), SF_OK);
    for (size_t i = 0; i < count; i++) {
        inputs[i] = (sf_input){.ring = 1024, .policy = SF_RING_BLOCK};
        assert_int_equal(sf_player_open(&inputs[i].source, &streams[i]->recording, 0, NULL), SF_OK);
    }
    const sf_pipeline_options wanted = {.live = &resolved, .sources = inputs, .source_count = count};
    assert_int_equal(sf_pipeline_open(&pipeline, &wanted, NULL), SF_OK);
    assert_int_equal(sf_live_start(&live, pipeline, &resolved, (sf_live_owner){0}, NULL), SF_OK);
    to_the_end(all, live);
}

/* A source being pushed in pieces of any size. */
typedef struct pusher {
    const stream *from;
    size_t next;
    size_t most; /* spikes in a piece */
    bool ended;
} pusher;

/* One piece, or the end; SF_AGAIN where there is no room. */
static int push_piece(pusher *it, sf_live *live, uint32_t source, test_random *random)
{
    const sf_recording *recording = &it->from->recording;
    size_t rest = recording->spike_count - it->next;
    size_t count = test_random_below(random, it->most + 1);
    count = count < rest ? count : rest;
    const sf_spike *spikes = recording->spikes + it->next;
    int64_t promised_ns = count < rest ? spikes[count].time_ns : recording->recorded.stop_ns;
    if (count < rest && test_random_below(random, 3) == 0)
        promised_ns = INT64_MIN; /* the next one will promise */
    int status = sf_live_push(live, source, spikes, count, promised_ns, NULL);
    if (status != SF_OK) return status;
    it->next += count;
    if (it->next == recording->spike_count) {
        status = sf_live_push(live, source, NULL, 0, INT64_MAX, NULL);
        it->ended = status == SF_OK;
    }
    return status;
}

static void push_all(heard *all, sf_live_options *options, stream *const *streams, uint32_t count,
                     test_random *random)
{
    sf_live_source sources[2];
    pusher pushers[2];
    sf_live *live;
    sf_error error = {0};
    for (uint32_t i = 0; i < count; i++) {
        sources[i] = (sf_live_source){.name = "recording",
                                      .units = streams[i]->units,
                                      .unit_count = (uint32_t)streams[i]->recording.units.count,
                                      .virtual_clock = true};
        pushers[i] = (pusher){.from = streams[i], .most = 1 + test_random_below(random, 300)};
    }
    options->sources = sources;
    options->source_count = count;
    if (sf_live_open(&live, options, &error) != SF_OK) fail_msg("%s: %s", error.place, error.text);
    while (!pushers[0].ended || (count == 2 && !pushers[1].ended)) {
        uint32_t source = (uint32_t)test_random_below(random, count);
        if (pushers[source].ended) continue;
        int status = push_piece(&pushers[source], live, source, random);
        assert_true(status == SF_OK || status == SF_AGAIN);
        if (status == SF_AGAIN || test_random_below(random, 4) == 0)
            take_all(all, live, status == SF_AGAIN ? 1 : 0);
    }
    to_the_end(all, live);
}

/* ---- tests ---- */

static void pushing_gives_what_the_replay_gives(void **state)
{
    (void)state;
    test_random random = test_random_start("live pushed", 31);
    size_t messages = 0, triggers = 0;
    for (int round = 0; round < test_rounds(12); round++) {
        stream whole;
        make_stream(&whole, &random, 300 + test_random_below(&random, 2000),
                    2 + test_random_below(&random, 5));
        stream *const streams[] = {&whole};
        heard played = {0}, pushed = {0};
        sf_live_options options = make_options(&random);
        replay(&played, &options, streams, 1);
        push_all(&pushed, &options, streams, 1, &random);
        assert_same(&played, &pushed);
        messages += pushed.count;
        triggers += pushed.trigger_count;
        free_heard(&played);
        free_heard(&pushed);
        free_stream(&whole);
    }
    printf("%zu messages and %zu triggers compared\n", messages, triggers);
    assert_true(test_is_short() || (messages > 300 && triggers > 100));
}

static void two_sources_are_merged_by_their_watermarks(void **state)
{
    (void)state;
    test_random random = test_random_start("live two sources", 32);
    for (int round = 0; round < test_rounds(8); round++) {
        stream whole, first, second;
        make_stream(&whole, &random, 1500, UNITS);
        take_part(&first, &whole, 0, 2);
        take_part(&second, &whole, 2, UNITS - 2);
        first.recording.path = sf_copy_string("recording");
        second.recording.path = sf_copy_string("recording");
        stream *const streams[] = {&first, &second};
        heard played = {0}, pushed = {0};
        sf_live_options options = make_options(&random);
        replay(&played, &options, streams, 2);
        push_all(&pushed, &options, streams, 2, &random);
        assert_same(&played, &pushed);
        free_heard(&played);
        free_heard(&pushed);
        free_stream(&whole);
        free_stream(&first);
        free_stream(&second);
    }
}

static void a_source_that_promises_nothing_holds_the_others(void **state)
{
    (void)state;
    test_random random = test_random_start("live held", 33);
    stream whole;
    make_stream(&whole, &random, 1000, 3);
    const sf_live_source sources[2] = {
        {.name = "a", .units = whole.units, .unit_count = 3, .virtual_clock = true},
        {.name = "b", .units = whole.units, .unit_count = 3, .virtual_clock = true}};
    sf_live_options options = sf_live_options_default();
    options.window.length_s = options.window.hop_s = 0.5;
    options.sources = sources;
    options.source_count = 2;
    sf_live *live;
    heard all = {0};
    assert_int_equal(sf_live_open(&live, &options, NULL), SF_OK);
    assert_string_equal(sf_live_unit_name(live, 1), "a/e2");
    assert_string_equal(sf_live_unit_name(live, 3), "b/e1");
    assert_null(sf_live_unit_name(live, 6));
    assert_int_equal(sf_live_push(live, 0, whole.recording.spikes, 1000, INT64_MAX, NULL), SF_OK);
    assert_false(take_all(&all, live, 50));
    assert_int_equal(all.count, 0); /* b may still send something as early */
    assert_int_equal(sf_live_push(live, 1, NULL, 0, whole.recording.recorded.stop_ns, NULL), SF_OK);
    sf_live_finish(live);
    to_the_end(&all, live);
    assert_true(all.count > 5 * 2); /* counts, graph and status of every window */
    free_heard(&all);
    free_stream(&whole);
}

/* One pushed source, and so many spikes that may wait for the window thread. */
static sf_live *start_with_little_room(sf_live_options *options, uint64_t room, sf_pipeline **pipeline)
{
    sf_input input;
    sf_live *live;
    assert_int_equal(sf_live_resolve(options, NULL), SF_OK);
    assert_int_equal(sf_pushed_open(&input, options->sources, NULL), SF_OK);
    const sf_pipeline_options wanted = {
        .live = options, .sources = &input, .source_count = 1, .handoff_room = room};
    assert_int_equal(sf_pipeline_open(pipeline, &wanted, NULL), SF_OK);
    assert_int_equal(sf_live_start(&live, *pipeline, options, (sf_live_owner){0}, NULL), SF_OK);
    return live;
}

/* With little room everywhere and nobody who takes messages, the push does not go on; nothing is lost by it.
 */
static void back_pressure_reaches_the_push(void **state)
{
    (void)state;
    test_random random = test_random_start("live back pressure", 34);
    stream whole;
    make_stream(&whole, &random, 5000, 4);
    stream *const streams[] = {&whole};
    sf_live_options options = make_options(&random);
    heard played = {0}, pushed = {0};
    replay(&played, &options, streams, 1);

    const sf_live_source source = {
        .name = "recording", .units = whole.units, .unit_count = 4, .ring = 64, .virtual_clock = true};
    options.queue = 1;
    options.sources = &source;
    options.source_count = 1;
    options.topics = (1u << SF_TOPIC_COUNT) - 1 - (1u << SF_TOPIC_TRIGGER);
    sf_pipeline *pipeline;
    sf_live *live = start_with_little_room(&options, 64, &pipeline);
    sf_error error;
    test_assert_fails(sf_live_push(live, 0, whole.recording.spikes, 65, INT64_MIN, &error), &error, SF_USAGE,
                      "at most 64");
    test_assert_fails(sf_live_push(live, 1, whole.recording.spikes, 1, INT64_MIN, &error), &error, SF_USAGE,
                      "source 1");
    pusher it = {.from = &whole, .most = 64};
    while (push_piece(&it, live, 0, &random) != SF_AGAIN)
        assert_false(it.ended);
    for (int i = 0; i < 20; i++) { /* the same again is refused until there is room */
        int status = push_piece(&it, live, 0, &random);
        assert_true(status == SF_AGAIN || status == SF_OK);
        assert_false(it.ended);
    }
    while (!it.ended)
        if (push_piece(&it, live, 0, &random) == SF_AGAIN) take_all(&pushed, live, 1);
    to_the_end(&pushed, live);
    assert_int_equal(played.count, pushed.count);
    assert_string_equal(played.messages.data, pushed.messages.data);
    free_heard(&played);
    free_heard(&pushed);
    free_stream(&whole);
}

/* A queue that nobody empties drops what its policy says, and `seq` shows the hole. */
static void a_queue_may_drop_instead(void **state)
{
    (void)state;
    test_random random = test_random_start("live dropped", 35);
    stream whole;
    make_stream(&whole, &random, 3000, 3);
    const sf_live_source source = {.units = whole.units, .unit_count = 3, .virtual_clock = true};
    sf_live_options options = sf_live_options_default();
    options.window.length_s = options.window.hop_s = 0.1;
    options.sources = &source;
    options.source_count = 1;
    options.topics = 1u << SF_TOPIC_EPISODES;
    options.queue = 4;
    options.queue_policy = SF_RING_DROP_OLDEST;
    sf_pipeline *pipeline;
    sf_live *live = start_with_little_room(&options, 1u << 20, &pipeline);
    assert_int_equal(sf_live_push(live, 0, whole.recording.spikes, 3000, INT64_MAX, NULL), SF_OK);
    while (!sf_pipeline_wait(pipeline, 100))
        ; /* the run does not wait for anybody */
    sf_message *message;
    for (uint64_t i = 0; i < 4; i++) {
        assert_int_equal(sf_live_next(live, &message, 0, NULL), SF_OK);
        assert_int_equal(message->topic, SF_TOPIC_EPISODES);
        assert_int_equal(message->episodes.hop, message->seq - 1);
        assert_true(message->seq > 20);
        assert_int_equal(message->episodes.partial, i == 3);
        sf_message_release(message);
    }
    assert_int_equal(sf_live_next(live, &message, 0, NULL), SF_END);
    assert_int_equal(sf_live_close(live, NULL), SF_OK);
    free_stream(&whole);
}

typedef struct acted {
    atomic_size_t count;
    _Atomic int64_t last_ns;
} acted;

static void act(void *user, const sf_message *trigger)
{
    acted *told = user;
    int64_t time_ns = trigger->trigger.spike_times_ns[trigger->trigger.size - 1];
    assert_int_equal(time_ns, trigger->time_ns);
    assert_true(time_ns >= atomic_load(&told->last_ns));
    atomic_store(&told->last_ns, time_ns);
    atomic_fetch_add(&told->count, 1);
}

static void triggers_come_by_callback_and_as_messages(void **state)
{
    (void)state;
    test_random random = test_random_start("live triggers", 36);
    stream whole;
    make_stream(&whole, &random, 2000, 3);
    stream *const streams[] = {&whole};
    acted told = {0};
    heard all = {0};
    sf_live_options options = make_options(&random);
    options.on_trigger = act;
    options.user = &told;
    push_all(&all, &options, streams, 1, &random);
    size_t expected = 0;
    for (int i = 0; i < 2; i++) {
        sf_episode episode;
        assert_int_equal(sf_episode_parse(&episode, watched[i], &whole.recording.units, NULL), SF_OK);
        expected += oracle_count(whole.recording.spikes, whole.recording.spike_count, &episode);
    }
    assert_true(expected > 50);
    assert_int_equal(atomic_load(&told.count), expected);
    assert_int_equal(all.trigger_count, expected);
    free_heard(&all);
    free_stream(&whole);
}

/* ---- watching at once ---- */

/* A thread that pushes one source, spike by spike. */
typedef struct hasty {
    pthread_t thread;
    sf_live *live;
    uint32_t source;
    const stream *from;
} hasty;

static void *push_each(void *argument)
{
    const hasty *it = argument;
    const sf_recording *recording = &it->from->recording;
    for (size_t next = 0; next < recording->spike_count;)
        next += sf_live_push(it->live, it->source, recording->spikes + next, 1,
                             recording->spikes[next].time_ns, NULL) == SF_OK;
    while (sf_live_push(it->live, it->source, NULL, 0, INT64_MAX, NULL) == SF_AGAIN)
        ;
    return NULL;
}

typedef struct watchers {
    hasty pushers[2];
    atomic_size_t by_pusher, by_another;
} watchers;

static void note_who_watches(void *user, const sf_message *trigger)
{
    watchers *all = user;
    (void)trigger;
    bool pushes = pthread_equal(pthread_self(), all->pushers[0].thread) ||
                  pthread_equal(pthread_self(), all->pushers[1].thread);
    atomic_fetch_add(pushes ? &all->by_pusher : &all->by_another, 1);
}

/* Two threads push; the triggers are those of all spikes in order, whoever watches. */
static void who_pushes_may_watch(void **state)
{
    (void)state;
    test_random random = test_random_start("live at once", 40);
    static const char *const across[] = {"#0 -(0,9]-> #3", "#4 -(0,15]-> #1 -(0,15]-> #2"};
    for (int round = 0; round < 4; round++) {
        bool at_once = round % 2 == 0;
        stream whole, parts[2];
        make_stream(&whole, &random, 4000, UNITS);
        take_part(&parts[0], &whole, 0, 2);
        take_part(&parts[1], &whole, 2, UNITS - 2);
        const sf_live_source sources[2] = {{.name = "a", .units = parts[0].units, .unit_count = 2},
                                           {.name = "b", .units = parts[1].units, .unit_count = UNITS - 2}};
        watchers all = {0};
        sf_live_options options = sf_live_options_default();
        options.device = "cpu";
        options.mine.every = 0;
        options.merge.stall_ms = 1e5;
        options.watch = across;
        options.watch_count = 2;
        options.sources = sources;
        options.source_count = 2;
        options.topics = 1u << SF_TOPIC_TRIGGER;
        options.queue_policy = SF_RING_DROP_OLDEST;
        options.on_trigger = note_who_watches;
        options.user = &all;
        options.watch_at_once = at_once;
        sf_live *live;
        assert_int_equal(sf_live_open(&live, &options, NULL), SF_OK);
        for (uint32_t i = 0; i < 2; i++)
            all.pushers[i] = (hasty){.live = live, .source = i, .from = &parts[i]};
        for (int i = 0; i < 2; i++)
            assert_int_equal(pthread_create(&all.pushers[i].thread, NULL, push_each, &all.pushers[i]), 0);
        for (int i = 0; i < 2; i++)
            pthread_join(all.pushers[i].thread, NULL);
        heard told = {0};
        to_the_end(&told, live);
        size_t expected = 0;
        for (int i = 0; i < 2; i++) {
            sf_episode episode;
            assert_int_equal(sf_episode_parse(&episode, across[i], &whole.recording.units, NULL), SF_OK);
            expected += oracle_count(whole.recording.spikes, whole.recording.spike_count, &episode);
        }
        assert_true(expected > 50);
        assert_int_equal(all.by_pusher + all.by_another, expected);
        assert_int_equal(at_once, all.by_pusher > 0);
        free_heard(&told);
        free_stream(&whole);
        free_stream(&parts[0]);
        free_stream(&parts[1]);
    }
}

/* A loop that takes each trigger and releases it is handed the same memory again, and may keep some. */
static void triggers_are_handed_out_of_memory_that_is_there(void **state)
{
    (void)state;
    const sf_live_unit unit = {.name = "a", .x_um = NAN, .y_um = NAN};
    const sf_live_source source = {.units = &unit, .unit_count = 1};
    static const char *const again[] = {"a -(0,5]-> a"};
    sf_live_options options = sf_live_options_default();
    options.device = "cpu";
    options.watch = again;
    options.watch_count = 1;
    options.sources = &source;
    options.source_count = 1;
    options.topics = 1u << SF_TOPIC_TRIGGER;
    options.queue_policy = SF_RING_DROP_OLDEST;
    options.watch_at_once = true;
    sf_live *live;
    enum { KEPT = 12 };
    sf_message *kept[KEPT];
    assert_int_equal(sf_live_open(&live, &options, NULL), SF_OK);
    const sf_message *first = NULL;
    for (int i = 0; i < 2 * KEPT; i++) { /* pairs, of which no two overlap */
        const sf_spike spikes[2] = {{.time_ns = i * SF_SECOND, .amplitude = NAN},
                                    {.time_ns = i * SF_SECOND + SF_MILLISECOND, .amplitude = NAN}};
        sf_message *message;
        assert_int_equal(sf_live_push(live, 0, spikes, 2, spikes[1].time_ns + 1, NULL), SF_OK);
        assert_int_equal(sf_live_next(live, &message, 10000, NULL), SF_OK);
        assert_int_equal(message->time_ns, spikes[1].time_ns);
        assert_int_equal(message->trigger.occurrence, i + 1);
        first = i == 0 ? message : first;
        if (i < KEPT) {
            assert_ptr_equal(message, first);
            sf_message_release(message);
        } else {
            kept[i - KEPT] = message;
        }
    }
    for (int i = 0; i < KEPT; i++)
        assert_int_equal(kept[i]->trigger.occurrence, KEPT + i + 1);
    assert_int_equal(sf_live_close(live, NULL), SF_OK);
    for (int i = 0; i < KEPT; i++) {
        assert_int_equal(kept[i]->trigger.occurrence, KEPT + i + 1);
        sf_message_release(kept[i]);
    }
}

/* ---- a push and its triggers in one call ---- */

enum { TICK_SPIKES = 10, TICK_TRIGGERS = 3 }; /* so few that some wait for the next tick */

/* What two runs of the same spikes have alike. */
static void note_trigger(sf_text *notes, const sf_message *message)
{
    const sf_trigger_message *of = &message->trigger;
    assert_int_equal(message->topic, SF_TOPIC_TRIGGER);
    sf_text_printf(notes, "%lu %ld %s %lu %u", (unsigned long)message->seq, (long)message->time_ns, of->id,
                   (unsigned long)of->occurrence, of->size);
    for (uint32_t i = 0; i < of->size; i++)
        sf_text_printf(notes, " %ld", (long)of->spike_times_ns[i]);
    sf_text_printf(notes, "\n");
}

/* Returns the ticks that gave triggers of their own spikes. */
static size_t tick_all(sf_text *notes, sf_live *live, const sf_recording *recording, size_t expected)
{
    size_t at_once = 0, taken, total = 0;
    sf_message triggers[TICK_TRIGGERS];
    for (size_t next = 0, ticks = 0; next < recording->spike_count || total < expected; ticks++) {
        assert_true(ticks < 10000000);
        const sf_spike *spikes = recording->spikes + next;
        size_t left = recording->spike_count - next, count = left < TICK_SPIKES ? left : TICK_SPIKES;
        int64_t until_ns = recording->spikes[next + count - 1].time_ns + (count == 0 ? SF_SECOND : 0);
        assert_int_equal(
            sf_live_tick(live, 0, spikes, count, until_ns, triggers, TICK_TRIGGERS, &taken, NULL), SF_OK);
        assert_true(taken <= TICK_TRIGGERS);
        for (size_t i = 0; i < taken; i++)
            note_trigger(notes, &triggers[i]);
        at_once += count > 0 && taken > 0 && triggers[taken - 1].time_ns >= spikes[0].time_ns;
        next += count;
        total += taken;
    }
    return at_once;
}

static void a_tick_is_a_push_and_its_triggers(void **state)
{
    (void)state;
    test_random random = test_random_start("live tick", 41);
    stream whole;
    make_stream(&whole, &random, 4000, UNITS);
    const sf_recording *recording = &whole.recording;
    const sf_live_source source = {.units = whole.units, .unit_count = UNITS};
    sf_live_options options = sf_live_options_default();
    options.device = "cpu";
    options.mine.every = 0;
    options.watch = watched;
    options.watch_count = 2;
    options.sources = &source;
    options.source_count = 1;
    options.topics = 1u << SF_TOPIC_TRIGGER;
    options.queue = 65536;
    options.queue_policy = SF_RING_DROP_OLDEST;
    options.watch_at_once = true;
    sf_live *live;
    sf_text by_two = {0}, by_one = {0};
    size_t expected = 0;
    assert_int_equal(sf_live_open(&live, &options, NULL), SF_OK);
    for (size_t next = 0; next < recording->spike_count; next += TICK_SPIKES) {
        size_t left = recording->spike_count - next, count = left < TICK_SPIKES ? left : TICK_SPIKES;
        const sf_spike *spikes = recording->spikes + next;
        assert_int_equal(sf_live_push(live, 0, spikes, count, spikes[count - 1].time_ns, NULL), SF_OK);
    }
    sf_live_finish(live);
    for (sf_message *message; sf_live_next(live, &message, 1000, NULL) == SF_OK; expected++) {
        note_trigger(&by_two, message);
        sf_message_release(message);
    }
    assert_int_equal(sf_live_close(live, NULL), SF_OK);
    assert_true(expected > 50);

    assert_int_equal(sf_live_open(&live, &options, NULL), SF_OK);
    size_t at_once = tick_all(&by_one, live, recording, expected);
    assert_string_equal(by_one.data, by_two.data);
    assert_true(at_once > 10);
    size_t taken = 7;
    sf_message trigger;
    assert_int_equal(sf_live_tick(live, 1, NULL, 0, INT64_MIN, &trigger, 1, &taken, NULL), SF_USAGE);
    assert_int_equal(taken, 0);
    assert_int_equal(sf_live_close(live, NULL), SF_OK);
    sf_text_free(&by_one);
    sf_text_free(&by_two);
    free_stream(&whole);
}

/* ---- closing ---- */

typedef struct feeding {
    pthread_t thread;
    sf_live *live;
    const stream *from;
    uint64_t seed;
    atomic_bool stop;
} feeding;

static void *feed(void *argument)
{
    feeding *it = argument;
    const sf_recording *recording = &it->from->recording;
    for (size_t next = 0; next < recording->spike_count && !atomic_load(&it->stop);) {
        size_t count = recording->spike_count - next < 50 ? recording->spike_count - next : 50;
        int64_t promised_ns = recording->spikes[next].time_ns;
        if (sf_live_push(it->live, 0, recording->spikes + next, count, promised_ns, NULL) == SF_OK)
            next += count;
    }
    return NULL;
}

static void a_run_is_closed_in_the_middle(void **state)
{
    (void)state;
    test_random random = test_random_start("live closed", 37);
    stream whole;
    make_stream(&whole, &random, 20000, 4);
    for (int round = 0; round < 12; round++) {
        const sf_live_source source = {.units = whole.units,
                                       .unit_count = 4,
                                       .ring = 256,
                                       .policy = (sf_ring_policy)(round % 3),
                                       .virtual_clock = round % 2 == 0};
        sf_live_options options = make_options(&random);
        options.sources = &source;
        options.source_count = 1;
        options.queue = 2;
        feeding it = {.from = &whole};
        assert_int_equal(sf_live_open(&it.live, &options, NULL), SF_OK);
        assert_int_equal(pthread_create(&it.thread, NULL, feed, &it), 0);
        size_t wanted = test_random_below(&random, 10);
        for (size_t taken = 0; taken < wanted; taken++) {
            sf_message *message;
            if (sf_live_next(it.live, &message, 20, NULL) == SF_OK) sf_message_release(message);
        }
        atomic_store(&it.stop, true);
        pthread_join(it.thread, NULL);
        if (round % 4 == 3) {
            sf_live_finish(it.live);
            assert_int_equal(sf_live_push(it.live, 0, whole.recording.spikes, 1, INT64_MIN, NULL), SF_END);
        }
        assert_int_equal(sf_live_close(it.live, NULL), SF_OK);
    }
    assert_int_equal(sf_live_close(NULL, NULL), SF_OK);
    free_stream(&whole);
}

/* ---- options ---- */

static void wrong_options_are_refused_by_their_key(void **state)
{
    (void)state;
    const sf_live_unit units[2] = {{.x_um = NAN, .y_um = NAN}, {.x_um = NAN, .y_um = NAN}};
    sf_live_source source = {.units = units, .unit_count = 2};
    static const char *const nobody[] = {"nobody -(0,5]-> #1"};
    static const sf_live_density no_unit = {.quantity = SF_QUANTITY_ISI, .method = "isj", .grid = 64};
    const sf_live_density no_quantity = sf_live_density_default((sf_quantity)99);
    enum { CASES = 14 };
    static const char *const places[CASES][2] = {
        {"window.length_s", "from 0.001 to 86400"},
        {"window.hop_s", "found nan"},
        {"window.length_s", "whole number of hops"},
        {"mine.max_size", "from 2 to 16"},
        {"mine", "more than one"},
        {"watch.0", "nobody"},
        {"density.0.unit", "no text"},
        {"density.0.quantity", "the value 99"},
        {"sources", "at least one source"},
        {"queue", "at least one message"},
        {"track", "found no items"},
        {"device", "expected auto, cpu"},
        {"watch_at_once", "queue_policy of block"},
        {"watch_at_once", "virtual clock"},
    };
    for (int i = 0; i < CASES; i++) {
        sf_live_options options = sf_live_options_default();
        options.sources = &source;
        options.source_count = i != 8;
        options.window.length_s = i == 0 ? -1 : i == 2 ? 2.5 : 10;
        options.window.hop_s = i == 1 ? NAN : 1;
        options.mine.max_size = i == 3 ? 17 : 4;
        options.mine.min_count = options.mine.min_rate_hz = i == 4;
        options.watch = nobody;
        options.watch_count = i == 5;
        options.density = i == 6 ? &no_unit : &no_quantity;
        options.density_count = i == 6 || i == 7;
        options.queue = i != 9;
        options.track_count = i == 10;
        options.device = i == 11 ? "tpu" : "cpu";
        options.watch_at_once = i >= 12;
        options.queue_policy = i == 13 ? SF_RING_DROP_NEWEST : SF_RING_BLOCK;
        source.virtual_clock = i == 13;
        sf_live *live;
        sf_error error = {0};
        test_assert_fails(sf_live_open(&live, &options, &error), &error, SF_CONFIG, places[i][1]);
        assert_string_equal(error.place, places[i][0]);
        assert_null(live);
    }
}

/* A program that was built when the struct ended with `mine` gets the defaults of all that came later. */
static void options_of_an_older_program_are_understood(void **state)
{
    (void)state;
    struct {
        sf_live_options known;
        unsigned char beyond[8];
    } older;
    memset(&older, 0xa5, sizeof older);
    const size_t size = offsetof(sf_live_options, track);
    sf_live_options_init(&older.known, size);
    for (size_t i = size; i < sizeof older; i++)
        assert_int_equal(((unsigned char *)&older)[i], 0xa5);
    assert_int_equal(older.known.size, size);
    sf_live *live;
    sf_error error;
    test_assert_fails(sf_live_open(&live, &older.known, &error), &error, SF_CONFIG, "at least one source");
    older.known.size = 3;
    test_assert_fails(sf_live_open(&live, &older.known, &error), &error, SF_USAGE, "size of its struct");
}

static int open_and_close(void *context)
{
    const sf_live_options *options = context;
    sf_live *live;
    int status = sf_live_open(&live, options, NULL);
    return status == SF_OK ? sf_live_close(live, NULL) : status;
}

static void failed_allocations_leak_nothing(void **state)
{
    (void)state;
    test_random random = test_random_start("live allocations", 39);
    stream whole;
    make_stream(&whole, &random, 100, 3);
    const sf_live_source source = {.units = whole.units, .unit_count = 3, .virtual_clock = true};
    sf_live_options options = make_options(&random);
    options.sources = &source;
    options.source_count = 1;
    test_fail_every_allocation(open_and_close, &options);
    free_stream(&whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pushing_gives_what_the_replay_gives),
        cmocka_unit_test(two_sources_are_merged_by_their_watermarks),
        cmocka_unit_test(a_source_that_promises_nothing_holds_the_others),
        cmocka_unit_test(back_pressure_reaches_the_push),
        cmocka_unit_test(a_queue_may_drop_instead),
        cmocka_unit_test(triggers_come_by_callback_and_as_messages),
        cmocka_unit_test(who_pushes_may_watch),
        cmocka_unit_test(triggers_are_handed_out_of_memory_that_is_there),
        cmocka_unit_test(a_tick_is_a_push_and_its_triggers),
        cmocka_unit_test(a_run_is_closed_in_the_middle),
        cmocka_unit_test(wrong_options_are_refused_by_their_key),
        cmocka_unit_test(options_of_an_older_program_are_understood),
        cmocka_unit_test(failed_allocations_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
