/* SPDX-License-Identifier: Apache-2.0 */
/* The host that all sinks share, with a sink that is slow, fails or has no room as the test asks. */
#include "sinks/sink.h"
#include "support/sinks.h"
#include "support/support.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/log.h"
#include "core/memory.h"
#include "core/thread.h"

#include <pthread.h>

#define MOST 20000

typedef struct test_sink {
    atomic_bool gate_closed; /* publish waits while this is set */
    atomic_bool waiting;     /* a message stands at the gate */
    atomic_bool no_room;     /* publish says SF_PUBLISH_AGAIN */
    sf_sink *host;
    uint64_t part, parts; /* so many go out before the last of a message, each followed by a trigger */
    uint64_t fail_every;  /* of the messages offered; 0: none */
    uint64_t offered, flushes, closes;
    pthread_t thread;
    size_t count; /* what was taken, in order */
    atomic_bool fail_raw;
    size_t rows; /* episodes of the newest message */
    uint64_t raw_spikes, raw_markers;
    bool raw_in_order; /* each spike's time is its number */
    uint64_t seqs[MOST];
    sf_topic topics[MOST];
} test_sink;

static test_sink sink_state;

static int open_test(void **self, const sf_sink_settings *settings, const sf_stream_info *stream,
                     sf_error *error)
{
    (void)stream;
    (void)error;
    if (settings->path == NULL) return sf_fail(error, SF_CANNOT_CREATE, "test", "asked to fail");
    *self = &sink_state;
    return SF_OK;
}

static void trigger(sf_sink *sink, uint64_t seq)
{
    sf_message message = {.topic = SF_TOPIC_TRIGGER, .seq = seq};
    sf_sink_trigger(sink, &message);
}

static int publish_test(void *self, const sf_message *message, sf_error *error)
{
    test_sink *sink = self;
    sink->thread = pthread_self();
    while (atomic_load(&sink->gate_closed))
        atomic_store(&sink->waiting, true);
    atomic_store(&sink->waiting, false);
    if (atomic_load(&sink->no_room)) {
        sf_clock_sleep_until(sf_clock_monotonic_ns() + 5 * SF_MILLISECOND);
        return SF_PUBLISH_AGAIN;
    }
    if (message->topic != SF_TOPIC_TRIGGER && sink->part < sink->parts) {
        trigger(sink->host, 101 + sink->part++); /* comes while the message goes out */
        return SF_PUBLISH_PART;
    }
    sink->offered++;
    if (sink->fail_every != 0 && sink->offered % sink->fail_every == 0)
        return sf_fail(error, SF_IO, "test", "message %llu is the first to fail",
                       (unsigned long long)message->seq);
    sink->rows = message->topic == SF_TOPIC_EPISODES ? message->episodes.count : 0;
    if (sink->count < MOST) {
        sink->seqs[sink->count] = message->seq;
        sink->topics[sink->count] = message->topic;
    }
    sink->count++;
    return SF_PUBLISH_TAKEN;
}

static int record_test(void *self, const sf_raw_batch *batch, sf_error *error)
{
    test_sink *sink = self;
    while (atomic_load(&sink->gate_closed))
        atomic_store(&sink->waiting, true);
    atomic_store(&sink->waiting, false);
    if (atomic_load(&sink->fail_raw)) return sf_fail(error, SF_IO, "test", "raw data fail");
    for (size_t i = 0; i < batch->spike_count; i++)
        sink->raw_in_order = sink->raw_in_order && batch->spikes[i].time_ns == (int64_t)sink->raw_spikes++;
    sink->raw_markers += batch->marker_count;
    return SF_OK;
}

static int flush_test(void *self, sf_error *error)
{
    (void)error;
    ((test_sink *)self)->flushes++;
    return SF_OK;
}

static int close_test(void *self, sf_error *error)
{
    (void)error;
    ((test_sink *)self)->closes++;
    return SF_OK;
}

static const char *address_test(void *self)
{
    (void)self;
    return "/somewhere/with a rather long name of its own";
}

static const sf_sink_kind test_kind = {
    .settings = {.name = "test"},
    .open = open_test,
    .publish = publish_test,
    .flush = flush_test,
    .close = close_test,
    .address = address_test,
};

static const sf_sink_kind stored_kind = {
    .settings = {.name = "stored"},
    .on_storage_thread = true,
    .record = record_test,
    .open = open_test,
    .publish = publish_test,
    .flush = flush_test,
    .close = close_test,
    .address = address_test,
};

static sf_units no_units;
static const sf_stream_info stream_info = {.name = "test", .units = &no_units};

static sf_sink *open_kind(const sf_sink_kind *kind, const sf_stream_info *stream, sf_ring_policy policy,
                          uint32_t ring)
{
    memset(&sink_state, 0, sizeof sink_state);
    sf_sink_settings settings;
    test_sink_settings(&settings);
    settings.path = "x";
    settings.policy = policy;
    settings.ring = ring;
    sf_sink *sink;
    assert_int_equal(sf_sink_open_kind(&sink, kind, &settings, stream, NULL, NULL), SF_OK);
    return sink;
}

static sf_sink *open_sink(sf_ring_policy policy, uint32_t ring)
{
    return open_kind(&test_kind, &stream_info, policy, ring);
}

static void publish(sf_sink *sink, uint64_t seq)
{
    sf_message *message = sf_message_new(SF_TOPIC_STATUS);
    assert_non_null(message);
    message->seq = seq;
    message->status.unit_rates_hz = sf_alloc(1, sizeof(double));
    sf_sink_publish(sink, message);
    sf_message_release(message);
}

/* Waits until the sink's thread stands at the gate with a message it has taken. */
static void wait_at_gate(void)
{
    while (!atomic_load(&sink_state.waiting))
        ;
}

static sf_sink_status settled_status(sf_sink *sink, uint64_t accepted)
{
    sf_sink_status status;
    do
        sf_sink_status_get(sink, &status);
    while (status.published + status.dropped + status.failed < accepted);
    assert_int_equal(status.published + status.dropped + status.failed, accepted);
    return status;
}

static void block_loses_nothing_and_keeps_order(void **state)
{
    (void)state;
    long before = sf_memory_live();
    sf_sink *sink = open_sink(SF_RING_BLOCK, 4);
    for (uint64_t seq = 1; seq <= 5000; seq++)
        publish(sink, seq);
    sf_sink_status status = settled_status(sink, 5000);
    assert_int_equal(status.published, 5000);
    assert_int_equal(status.ring_size, 4);
    assert_int_equal(sf_sink_close(sink, NULL), SF_OK);
    assert_int_equal(sink_state.count, 5000);
    for (size_t i = 0; i < 5000; i++)
        assert_int_equal(sink_state.seqs[i], i + 1);
    assert_true(sink_state.flushes >= 1);
    assert_int_equal(sink_state.closes, 1);
    assert_int_equal(sf_memory_live(), before);
}

/* Of 15 messages the ring of 8 keeps the newest, beside the one that was taken. */
static void check_drop_oldest(const sf_sink_kind *kind, const sf_stream_info *stream)
{
    long before = sf_memory_live();
    sf_sink *sink = open_kind(kind, stream, SF_RING_DROP_OLDEST, 8);
    atomic_store(&sink_state.gate_closed, true);
    publish(sink, 1);
    wait_at_gate();
    for (uint64_t seq = 2; seq <= 15; seq++)
        publish(sink, seq);
    atomic_store(&sink_state.gate_closed, false);
    sf_sink_status status = settled_status(sink, 15);
    assert_int_equal(status.published, 9);
    assert_int_equal(status.dropped, 6);
    assert_int_equal(sf_sink_close(sink, NULL), SF_OK);
    assert_int_equal(sink_state.seqs[0], 1);
    for (size_t i = 1; i < 9; i++)
        assert_int_equal(sink_state.seqs[i], i + 7); /* 8..15 */
    assert_int_equal(sf_memory_live(), before);
}

static void drop_oldest_keeps_the_newest(void **state)
{
    (void)state;
    check_drop_oldest(&test_kind, &stream_info);
}

static sf_sink *open_for(const sf_sink_kind *kind, char **topics, uint32_t topic_count, uint32_t top)
{
    memset(&sink_state, 0, sizeof sink_state);
    sf_sink_settings settings;
    test_sink_settings(&settings);
    settings.path = "x";
    settings.topics = topics;
    settings.topic_count = topic_count;
    settings.top = top;
    sf_sink *sink;
    assert_int_equal(sf_sink_open_kind(&sink, kind, &settings, &stream_info, NULL, NULL), SF_OK);
    return sink;
}

static void publish_episodes(sf_sink *sink, size_t count)
{
    sf_message *message = sf_message_new(SF_TOPIC_EPISODES);
    message->episodes.items = sf_alloc(count, sizeof *message->episodes.items);
    message->episodes.count = count;
    assert_int_equal(sf_message_rank(message, NULL, NULL), SF_OK);
    sf_sink_publish(sink, message);
    sf_message_release(message);
}

/* What a sink does not ask for is neither handed to it nor counted. */
static void a_sink_gets_the_topics_that_it_asks_for(void **state)
{
    (void)state;
    char *topics[] = {"episodes", "trigger"};
    for (uint32_t count = 0; count <= 2; count++) {
        sf_sink *sink = open_for(&test_kind, topics, count, 0);
        publish(sink, 1);
        publish_episodes(sink, 3);
        trigger(sink, 1);
        uint32_t wanted = count == 0 ? 3 : count;
        assert_int_equal(settled_status(sink, wanted).published, wanted);
        assert_int_equal(sf_sink_close(sink, NULL), SF_OK);
        assert_int_equal(sink_state.count, wanted);
    }
}

static void a_sink_gets_the_top_of_the_episodes(void **state)
{
    (void)state;
    long before = sf_memory_live();
    sf_sink_kind own_kind = test_kind;
    own_kind.picks = true;
    static const struct {
        uint32_t top;
        bool picks;
        size_t rows;
    } cases[] = {{0, false, 5}, {2, false, 2}, {5, false, 5}, {7, false, 5}, {2, true, 5}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sf_sink *sink = open_for(cases[i].picks ? &own_kind : &test_kind, NULL, 0, cases[i].top);
        publish_episodes(sink, 5);
        settled_status(sink, 1);
        assert_int_equal(sf_sink_close(sink, NULL), SF_OK);
        assert_int_equal(sink_state.rows, cases[i].rows);
    }
    assert_int_equal(sf_memory_live(), before);
}

/* Whatever the policy; files in real time are not, nor is anybody else. */
static void files_are_waited_for_on_a_virtual_clock(void **state)
{
    (void)state;
    const sf_stream_info replayed = {.name = "test", .units = &no_units, .virtual_clock = true};
    sf_sink_kind file_kind = test_kind;
    file_kind.keeps = true;
    sf_sink *sink = open_kind(&file_kind, &replayed, SF_RING_DROP_OLDEST, 4);
    for (uint64_t seq = 1; seq <= 5000; seq++)
        publish(sink, seq);
    assert_int_equal(settled_status(sink, 5000).published, 5000);
    assert_int_equal(sf_sink_close(sink, NULL), SF_OK);
    check_drop_oldest(&file_kind, &stream_info);
    check_drop_oldest(&test_kind, &replayed);
}

static void drop_newest_keeps_the_oldest(void **state)
{
    (void)state;
    long before = sf_memory_live();
    sf_sink *sink = open_sink(SF_RING_DROP_NEWEST, 8);
    atomic_store(&sink_state.gate_closed, true);
    publish(sink, 1);
    wait_at_gate();
    for (uint64_t seq = 2; seq <= 15; seq++)
        publish(sink, seq);
    atomic_store(&sink_state.gate_closed, false);
    sf_sink_status status = settled_status(sink, 15);
    assert_int_equal(status.published, 9);
    assert_int_equal(status.dropped, 6);
    assert_int_equal(sf_sink_close(sink, NULL), SF_OK);
    for (size_t i = 0; i < 9; i++)
        assert_int_equal(sink_state.seqs[i], i + 1);
    assert_int_equal(sf_memory_live(), before);
}

/* Of one message again and again, which takes an eighth of what may wait: of forty that come while none is
 * taken, the one at the gate and eight wait, or seven, since a message is a little more than its array. */
static void bytes_that_wait_are_bounded(void **state)
{
    (void)state;
    long before = sf_memory_live();
    sf_sink *sink = open_sink(SF_RING_DROP_NEWEST, 1024);
    sf_message *message = sf_message_new(SF_TOPIC_DENSITY);
    assert_non_null(message);
    message->density.count = SF_SINK_BYTES / 8 / sizeof(double);
    message->density.values = sf_alloc(message->density.count, sizeof(double));
    assert_non_null(message->density.values);
    atomic_store(&sink_state.gate_closed, true);
    publish(sink, 1);
    wait_at_gate();
    for (int i = 0; i < 40; i++)
        sf_sink_publish(sink, message);
    atomic_store(&sink_state.gate_closed, false);
    sf_sink_status status = settled_status(sink, 41);
    assert_int_equal(status.published, 8);
    assert_int_equal(status.dropped, 33);
    sf_sink_publish(sink, message); /* there is room again */
    settled_status(sink, 42);
    sf_sink_status_get(sink, &status);
    assert_int_equal(status.published, 9);
    assert_int_equal(sf_sink_close(sink, NULL), SF_OK);
    sf_message_release(message);
    assert_int_equal(sf_memory_live(), before);
}

static void triggers_go_first(void **state)
{
    (void)state;
    sf_sink *sink = open_sink(SF_RING_DROP_OLDEST, 16);
    atomic_store(&sink_state.gate_closed, true);
    publish(sink, 1);
    wait_at_gate();
    for (uint64_t seq = 2; seq <= 10; seq++)
        publish(sink, seq);
    for (uint64_t seq = 101; seq <= 103; seq++)
        trigger(sink, seq);
    atomic_store(&sink_state.gate_closed, false);
    settled_status(sink, 13);
    sf_sink_close(sink, NULL);
    static const uint64_t order[] = {1, 101, 102, 103, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    assert_memory_equal(sink_state.seqs, order, sizeof order);
    assert_int_equal(sink_state.topics[1], SF_TOPIC_TRIGGER);
    assert_int_equal(sink_state.topics[4], SF_TOPIC_STATUS);
}

/* A long message goes out in parts: a trigger waits for one of them, not for all. */
static void triggers_go_between_parts(void **state)
{
    (void)state;
    long before = sf_memory_live();
    sf_sink *sink = open_sink(SF_RING_BLOCK, 16);
    sink_state.host = sink;
    sink_state.parts = 2;
    publish(sink, 1);
    publish(sink, 2);
    sf_sink_status status = settled_status(sink, 4);
    assert_int_equal(status.published, 4);
    assert_int_equal(status.took.count, 4); /* of all parts of a message together */
    sf_sink_close(sink, NULL);
    static const uint64_t order[] = {101, 102, 1, 2};
    assert_memory_equal(sink_state.seqs, order, sizeof order);
    assert_int_equal(sf_memory_live(), before);
}

/* Whatever the policy says of messages, the watch path does not wait. */
static void triggers_never_wait(void **state)
{
    (void)state;
    sf_sink *sink = open_sink(SF_RING_BLOCK, 2);
    atomic_store(&sink_state.gate_closed, true);
    publish(sink, 1);
    wait_at_gate();
    for (uint64_t seq = 1; seq <= 3000; seq++)
        trigger(sink, seq);
    sf_sink_status status;
    sf_sink_status_get(sink, &status);
    assert_true(status.dropped > 0);
    uint64_t dropped = status.dropped;
    atomic_store(&sink_state.gate_closed, false);
    status = settled_status(sink, 3001);
    assert_int_equal(status.dropped, dropped);
    sf_sink_close(sink, NULL);
}

static void collect(void *user, sf_log_level level, const char *line)
{
    assert_int_equal(level, SF_LOG_ERROR);
    sf_text_printf(user, "%s\n", line);
}

/* Failures are counted and told once; they neither stop the sink nor hold its publisher. */
static void failures_are_counted(void **state)
{
    (void)state;
    sf_sink *sink = open_sink(SF_RING_BLOCK, 2);
    sink_state.fail_every = 3;
    for (uint64_t seq = 1; seq <= 3000; seq++)
        publish(sink, seq);
    sf_sink_status status = settled_status(sink, 3000);
    assert_int_equal(status.failed, 1000);
    assert_int_equal(status.published, 2000);
    sf_error error;
    test_assert_fails(sf_sink_close(sink, &error), &error, SF_IO, "message 3 is the first to fail");
    sf_text log = {0};
    sf_log_drain(collect, &log);
    assert_string_equal(log.data,
                        "sink test with a rather long name of its own: message 3 is the first to fail; "
                        "what fails is counted and the run goes on\n");
    sf_text_free(&log);
}

static void accounts_are_exact_for_random_sinks(void **state)
{
    (void)state;
    test_random random = test_random_start("sink accounts", 5);
    for (int round = 0; round < 60; round++) {
        long before = sf_memory_live();
        sf_sink *sink = open_sink((sf_ring_policy)test_random_below(&random, 3),
                                  (uint32_t)test_random_below(&random, 20) + 1);
        sink_state.fail_every = test_random_below(&random, 4);
        uint64_t accepted = test_random_below(&random, 600);
        for (uint64_t seq = 1; seq <= accepted; seq++) {
            if (test_random_below(&random, 4) == 0)
                trigger(sink, seq);
            else
                publish(sink, seq);
        }
        settled_status(sink, accepted);
        sf_sink_close(sink, NULL);
        assert_int_equal(sf_memory_live(), before);
    }
}

/* What was accepted before close is served, not thrown away. */
static void close_drains(void **state)
{
    (void)state;
    sf_sink *sink = open_sink(SF_RING_DROP_OLDEST, 1024);
    for (uint64_t seq = 1; seq <= 1000; seq++)
        publish(sink, seq);
    sf_sink_close(sink, NULL);
    assert_int_equal(sink_state.count, 1000);
}

static void *end_soon(void *argument)
{
    sf_clock_sleep_until(sf_clock_monotonic_ns() + 50 * SF_MILLISECOND);
    sf_sink_ending(argument);
    return NULL;
}

/* A receiver that takes nothing holds a blocking publisher, but not the end of the run. */
static void the_end_frees_a_blocked_publisher(void **state)
{
    (void)state;
    long before = sf_memory_live();
    sf_sink *sink = open_sink(SF_RING_BLOCK, 2);
    atomic_store(&sink_state.no_room, true);
    sf_thread helper = {0};
    assert_int_equal(sf_thread_start(&helper, "end", end_soon, sink, NULL), SF_OK);
    int64_t began = sf_clock_monotonic_ns();
    for (uint64_t seq = 1; seq <= 100; seq++)
        publish(sink, seq);
    assert_true(sf_clock_monotonic_ns() - began >= 5 * SF_SECOND);
    sf_thread_join(&helper);
    sf_sink_status status = settled_status(sink, 100);
    assert_int_equal(status.dropped, 100);
    assert_int_equal(sf_sink_close(sink, NULL), SF_OK);
    assert_int_equal(sink_state.count, 0);
    assert_int_equal(sf_memory_live(), before);
}

static int store_pthread(void *argument)
{
    *(pthread_t *)argument = pthread_self();
    return SF_OK;
}

static void the_storage_thread_serves_recorders(void **state)
{
    (void)state;
    long before = sf_memory_live();
    sf_storage *storage;
    assert_int_equal(sf_storage_open(&storage, NULL), SF_OK);
    pthread_t storage_thread;
    sf_storage_call(storage, store_pthread, &storage_thread);
    for (int policy = 0; policy < 3; policy++) {
        memset(&sink_state, 0, sizeof sink_state);
        sf_sink_settings settings;
        test_sink_settings(&settings);
        settings.path = "x";
        settings.ring = 16;
        settings.policy = (sf_ring_policy)policy;
        sf_sink *sink;
        sf_error error;
        test_assert_fails(sf_sink_open_kind(&sink, &stored_kind, &settings, &stream_info, NULL, &error),
                          &error, SF_INTERNAL, "storage thread");
        assert_int_equal(sf_sink_open_kind(&sink, &stored_kind, &settings, &stream_info, storage, NULL),
                         SF_OK);
        for (uint64_t seq = 1; seq <= 2000; seq++)
            publish(sink, seq);
        sf_sink_status status = settled_status(sink, 2000);
        assert_true(policy != SF_RING_BLOCK || status.published == 2000);
        assert_int_equal(sf_sink_close(sink, NULL), SF_OK);
        assert_int_equal(sink_state.closes, 1);
        assert_true(pthread_equal(sink_state.thread, storage_thread));
    }
    sf_storage_close(storage);
    assert_int_equal(sf_memory_live(), before);
}

/* ---- raw spikes and markers ---- */

static sf_spike numbered[4096];
static const sf_marker some_markers[4];

/* Hands over `count` spikes, numbered from `first` on, and four markers. */
static void record(sf_sink *sink, size_t first, size_t count, bool wait)
{
    for (size_t i = 0; i < count; i++)
        numbered[i] = (sf_spike){.time_ns = (int64_t)(first + i)};
    const sf_raw_batch batch = {
        .spikes = numbered, .spike_count = count, .markers = some_markers, .marker_count = 4};
    sf_sink_record(sink, &batch, wait);
}

/* Spikes are for recorders; others never see them. */
static void raw_data_pass_over_other_sinks(void **state)
{
    (void)state;
    sf_sink *sink = open_sink(SF_RING_BLOCK, 2);
    record(sink, 0, 100, true);
    sf_sink_status status;
    sf_sink_status_get(sink, &status);
    assert_int_equal(status.spikes + status.spikes_lost + status.markers + status.markers_lost, 0);
    assert_string_equal(status.state, "ok");
    sf_sink_close(sink, NULL);
    assert_int_equal(sink_state.offered, 0);
}

static sf_sink *open_recorder(sf_storage *storage)
{
    memset(&sink_state, 0, sizeof sink_state);
    sink_state.raw_in_order = true;
    sf_sink_settings settings;
    test_sink_settings(&settings);
    settings.path = "x";
    settings.ring = 1; /* of messages: raw data have rings of their own */
    sf_sink *sink;
    assert_int_equal(sf_sink_open_kind(&sink, &stored_kind, &settings, &stream_info, storage, NULL), SF_OK);
    return sink;
}

static sf_sink_status raw_settled(sf_sink *sink, uint64_t spikes)
{
    sf_sink_status status;
    do
        sf_sink_status_get(sink, &status);
    while (status.spikes + status.spikes_lost < spikes);
    return status;
}

/* One who waits loses nothing to a recorder that is held up; for one who does not, what finds no room is lost
 * and counted, and nothing else is. */
static void raw_data_wait_or_are_counted(void **state)
{
    (void)state;
    sf_storage *storage;
    assert_int_equal(sf_storage_open(&storage, NULL), SF_OK);
    sf_sink *sink = open_recorder(storage);
    const size_t batches = 3 * SF_RAW_SPIKES / 4096;
    for (size_t i = 0; i < batches; i++)
        record(sink, i * 4096, 4096, true);
    sf_sink_status status = raw_settled(sink, batches * 4096);
    assert_int_equal(status.spikes, batches * 4096);
    assert_int_equal(status.spikes_lost + status.markers_lost, 0);
    sf_sink_close(sink, NULL);
    assert_true(sink_state.raw_in_order);
    assert_int_equal(sink_state.raw_spikes, batches * 4096);
    assert_int_equal(sink_state.raw_markers, batches * 4);

    sink = open_recorder(storage);
    atomic_store(&sink_state.gate_closed, true);
    record(sink, 0, 4096, false);
    while (!atomic_load(&sink_state.waiting)) /* else it makes room while the rest is put */
        ;
    assert_true(sf_sink_is_busy(sink));
    for (size_t i = 1; i < batches; i++)
        record(sink, i * 4096, 4096, false);
    atomic_store(&sink_state.gate_closed, false);
    status = raw_settled(sink, batches * 4096);
    while (sf_sink_is_busy(sink)) /* with the markers of the last batch */
        ;
    assert_true(status.spikes >= SF_RAW_SPIKES && status.spikes_lost > 0);
    assert_int_equal(status.spikes + status.spikes_lost, batches * 4096);
    sf_sink_close(sink, NULL);
    assert_true(sink_state.raw_in_order);
    assert_int_equal(sink_state.raw_spikes, status.spikes);
    sf_storage_close(storage);
}

static void *open_gate_late(void *unused)
{
    (void)unused;
    sf_clock_sleep_until(sf_clock_monotonic_ns() + 3 * SF_SECOND / 2);
    atomic_store(&sink_state.gate_closed, false);
    return NULL;
}

static void collect_any(void *user, sf_log_level level, const char *line)
{
    (void)level;
    sf_text_printf(user, "%s\n", line);
}

/* A recorder that is behind at the end writes all of it, and says how much is left. */
static void what_is_left_at_the_end_is_told(void **state)
{
    (void)state;
    sf_storage *storage;
    pthread_t gate;
    const size_t batches = SF_RAW_SPIKES / 4096;
    assert_int_equal(sf_storage_open(&storage, NULL), SF_OK);
    sf_sink *sink = open_recorder(storage);
    atomic_store(&sink_state.gate_closed, true);
    record(sink, 0, 4096, false);
    while (!atomic_load(&sink_state.waiting)) /* else it makes room while the rest is put */
        ;
    for (size_t i = 1; i < batches; i++)
        record(sink, i * 4096, 4096, false);
    assert_int_equal(pthread_create(&gate, NULL, open_gate_late, NULL), 0);
    assert_int_equal(sf_sink_close(sink, NULL), SF_OK);
    pthread_join(gate, NULL);
    assert_int_equal(sink_state.raw_spikes, batches * 4096);
    sf_text log = {0};
    sf_log_drain(collect_any, &log);
    assert_non_null(strstr(log.data, " writes what it holds: "));
    sf_text_free(&log);
    sf_storage_close(storage);
}

static void raw_data_that_fail_are_lost_and_told(void **state)
{
    (void)state;
    sf_storage *storage;
    assert_int_equal(sf_storage_open(&storage, NULL), SF_OK);
    sf_sink *sink = open_recorder(storage);
    atomic_store(&sink_state.fail_raw, true);
    record(sink, 0, 1000, true);
    sf_sink_status status = raw_settled(sink, 1000);
    assert_int_equal(status.spikes_lost, 1000);
    assert_int_equal(status.failed, 0); /* no message did */
    assert_string_equal(status.state, "failed");
    assert_string_equal(status.note, "raw data fail");
    sf_error error;
    test_assert_fails(sf_sink_close(sink, &error), &error, SF_IO, "raw data fail");
    sf_storage_close(storage);
}

static void settings_that_cannot_be_are_refused(void **state)
{
    (void)state;
    sf_sink_settings settings;
    test_sink_settings(&settings);
    assert_int_equal(settings.ring, 1024);
    assert_int_equal(settings.policy, SF_RING_DROP_OLDEST);
    sf_sink *sink;
    sf_error error;
    settings.path = NULL;
    test_assert_fails(sf_sink_open_kind(&sink, &test_kind, &settings, &stream_info, NULL, &error), &error,
                      SF_CANNOT_CREATE, "asked to fail");
    assert_null(sink);
    assert_int_equal(sf_sink_close(NULL, NULL), SF_OK);
}

static int open_and_close(void *context)
{
    sf_sink_settings settings;
    test_sink_settings(&settings);
    settings.path = "x";
    sf_sink *sink;
    int status = sf_sink_open_kind(&sink, &test_kind, &settings, &stream_info, context, NULL);
    sf_sink_close(sink, NULL);
    return status;
}

static void failed_allocations_leak_nothing(void **state)
{
    (void)state;
    test_fail_every_allocation(open_and_close, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(block_loses_nothing_and_keeps_order),
        cmocka_unit_test(drop_oldest_keeps_the_newest),
        cmocka_unit_test(a_sink_gets_the_topics_that_it_asks_for),
        cmocka_unit_test(a_sink_gets_the_top_of_the_episodes),
        cmocka_unit_test(files_are_waited_for_on_a_virtual_clock),
        cmocka_unit_test(drop_newest_keeps_the_oldest),
        cmocka_unit_test(bytes_that_wait_are_bounded),
        cmocka_unit_test(triggers_go_first),
        cmocka_unit_test(triggers_go_between_parts),
        cmocka_unit_test(triggers_never_wait),
        cmocka_unit_test(failures_are_counted),
        cmocka_unit_test(accounts_are_exact_for_random_sinks),
        cmocka_unit_test(close_drains),
        cmocka_unit_test(the_end_frees_a_blocked_publisher),
        cmocka_unit_test(the_storage_thread_serves_recorders),
        cmocka_unit_test(raw_data_pass_over_other_sinks),
        cmocka_unit_test(raw_data_wait_or_are_counted),
        cmocka_unit_test(what_is_left_at_the_end_is_told),
        cmocka_unit_test(raw_data_that_fail_are_lost_and_told),
        cmocka_unit_test(settings_that_cannot_be_are_refused),
        cmocka_unit_test(failed_allocations_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
