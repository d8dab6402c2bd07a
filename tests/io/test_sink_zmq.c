/* SPDX-License-Identifier: Apache-2.0 */
#include "sinks/sink.h"
#include "support/messages.h"
#include "support/published.h"
#include "support/sinks.h"

#include "core/clock.h"
#include "core/memory.h"
#include "core/thread.h"
#include "io/publisher.h"

#include <zmq.h>

static int open_zmq(sf_sink **sink, const char *endpoint, const sf_stream_info *stream, uint32_t ring,
                    sf_ring_policy policy, uint32_t subscribers, sf_error *error)
{
    sf_sink_settings settings;
    test_sink_settings(&settings);
    settings.type = "zmq";
    settings.endpoint = endpoint;
    settings.ring = ring;
    settings.policy = policy;
    settings.wait_subscribers = subscribers;
    return test_sink_open(sink, &settings, stream, NULL, error);
}

static sf_sink *open_any_port(const sf_stream_info *stream, uint32_t ring, sf_ring_policy policy,
                              uint32_t subscribers)
{
    sf_sink *sink;
    sf_error error;
    if (open_zmq(&sink, "tcp://127.0.0.1:*", stream, ring, policy, subscribers, &error) != SF_OK)
        fail_msg("%s: %s", error.place, error.text);
    return sink;
}

static void set_patience(void *socket, int wait_ms)
{
    zmq_setsockopt(socket, ZMQ_RCVTIMEO, &wait_ms, sizeof wait_ms);
}

/* A subscriber; `queue` is how many messages it holds itself. */
static void *subscribe(void *context, const char *endpoint, const char *topic, int queue)
{
    void *socket = zmq_socket(context, ZMQ_SUB);
    zmq_setsockopt(socket, ZMQ_RCVHWM, &queue, sizeof queue);
    set_patience(socket, 30000);
    zmq_setsockopt(socket, ZMQ_SUBSCRIBE, topic, strlen(topic));
    assert_int_equal(zmq_connect(socket, endpoint), 0);
    return socket;
}

static void wait_ready(sf_sink *sink)
{
    while (!sf_sink_ready(sink))
        sf_clock_sleep_until(sf_clock_monotonic_ns() + SF_MILLISECOND);
}

/* The next message as a map; NULL where none comes. Free with json_decref. */
static json_t *receive(void *socket, bool json)
{
    zmq_msg_t topic, body;
    zmq_msg_init(&topic);
    zmq_msg_init(&body);
    json_t *map = NULL;
    if (zmq_msg_recv(&topic, socket, 0) >= 0) {
        assert_true(zmq_msg_more(&topic));
        assert_true(zmq_msg_recv(&body, socket, 0) >= 0);
        assert_false(zmq_msg_more(&body));
        map = (json ? test_parse_json(zmq_msg_data(&body), zmq_msg_size(&body))
                    : test_parse_msgpack(zmq_msg_data(&body), zmq_msg_size(&body)));
        const char *name = json_string_value(json_object_get(map, "topic"));
        assert_int_equal(strlen(name), zmq_msg_size(&topic));
        assert_memory_equal(name, zmq_msg_data(&topic), strlen(name));
    }
    zmq_msg_close(&topic);
    zmq_msg_close(&body);
    return map;
}

static void subscribers_get_every_field(void **state)
{
    (void)state;
    test_random random = test_random_start("zmq", 13);
    test_stream stream;
    test_stream_make(&stream, &random, 8);
    for (int json = 0; json < 2; json++) {
        sf_sink_settings settings;
        test_sink_settings(&settings);
        settings.type = "zmq";
        settings.endpoint = "tcp://127.0.0.1:*";
        settings.wait_subscribers = 2;
        settings.encoding = json ? SF_ENCODE_JSON : SF_ENCODE_MSGPACK;
        sf_sink *sink;
        assert_int_equal(test_sink_open(&sink, &settings, &stream.info, NULL, NULL), SF_OK);
        void *context = zmq_ctx_new();
        void *all = subscribe(context, sf_sink_address(sink), "", 1000);
        sf_clock_sleep_until(sf_clock_monotonic_ns() + 50 * SF_MILLISECOND);
        assert_false(sf_sink_ready(sink)); /* it waits for two */
        void *some = subscribe(context, sf_sink_address(sink), "graph", 1000);
        wait_ready(sink);
        for (int i = 0; i < 50; i++) {
            sf_message *message = test_message_random(&random, (sf_topic)(i % SF_TOPIC_COUNT), &stream.units);
            message->seq = (uint64_t)i / SF_TOPIC_COUNT + 1;
            sf_sink_publish(sink, message);
            json_t *map = receive(all, json);
            test_check_published(map, message, &stream.info);
            json_decref(map);
            if (message->topic == SF_TOPIC_GRAPH) {
                map = receive(some, json);
                test_check_published(map, message, &stream.info);
                json_decref(map);
            }
            sf_message_release(message);
        }
        zmq_close(all);
        zmq_close(some);
        zmq_ctx_term(context);
        assert_int_equal(sf_sink_close(sink, NULL), SF_OK);
    }
    test_stream_free(&stream);
}

/* A message large enough that the system's socket buffers hold few. */
static sf_message *make_large(uint64_t seq)
{
    sf_message *message = sf_message_new(SF_TOPIC_DENSITY);
    assert_non_null(message);
    message->seq = seq;
    message->density.count = 5000;
    message->density.values = sf_alloc(message->density.count, sizeof(double));
    assert_non_null(message->density.values);
    return message;
}

typedef struct publisher {
    sf_sink *sink;
    uint64_t count;
} publisher;

static void *publish_large(void *argument)
{
    publisher *self = argument;
    for (uint64_t seq = 1; seq <= self->count; seq++) {
        sf_message *message = make_large(seq);
        sf_sink_publish(self->sink, message);
        sf_message_release(message);
    }
    return NULL;
}

static uint64_t receive_seq(void *socket)
{
    json_t *map = receive(socket, false);
    if (map == NULL) return 0;
    uint64_t seq = (uint64_t)json_integer_value(json_object_get(map, "seq"));
    json_decref(map);
    return seq;
}

static void block_loses_nothing_to_a_slow_subscriber(void **state)
{
    (void)state;
    test_random random = {.state = 1};
    test_stream stream;
    test_stream_make(&stream, &random, 1);
    sf_sink *sink = open_any_port(&stream.info, 4, SF_RING_BLOCK, 1);
    void *context = zmq_ctx_new();
    void *slow = subscribe(context, sf_sink_address(sink), "", 2);
    wait_ready(sink);
    publisher publishing = {sink, 400};
    sf_thread thread = {0};
    assert_int_equal(sf_thread_start(&thread, "publish", publish_large, &publishing, NULL), SF_OK);
    for (uint64_t seq = 1; seq <= publishing.count; seq++) {
        if (seq % 100 == 1) sf_clock_sleep_until(sf_clock_monotonic_ns() + 100 * SF_MILLISECOND);
        assert_int_equal(receive_seq(slow), seq);
    }
    sf_thread_join(&thread);
    sf_sink_status status;
    sf_sink_status_get(sink, &status);
    assert_int_equal(status.dropped, 0);
    zmq_close(slow);
    zmq_ctx_term(context);
    assert_int_equal(sf_sink_close(sink, NULL), SF_OK);
    test_stream_free(&stream);
}

/* A subscriber that reads nothing misses messages, sees that by seq, and takes none from the other one. */
static void a_slow_subscriber_loses_alone(void **state)
{
    (void)state;
    test_random random = {.state = 1};
    test_stream stream;
    test_stream_make(&stream, &random, 1);
    sf_sink *sink = open_any_port(&stream.info, 64, SF_RING_DROP_OLDEST, 2);
    void *context = zmq_ctx_new();
    void *slow = subscribe(context, sf_sink_address(sink), "density", 2);
    void *fast = subscribe(context, sf_sink_address(sink), "", 1000);
    wait_ready(sink);
    const uint64_t most = 2000; /* 90 MB: more than any queue on the way */
    for (uint64_t seq = 1; seq <= most; seq++) {
        sf_message *message = make_large(seq);
        sf_sink_publish(sink, message);
        sf_message_release(message);
        assert_int_equal(receive_seq(fast), seq);
    }
    sf_sink_status status;
    sf_sink_status_get(sink, &status);
    assert_int_equal(status.dropped, 0);
    uint64_t last = 0, got = 0, holes = 0;
    set_patience(slow, 300);
    for (uint64_t next; (next = receive_seq(slow)) != 0; last = next, got++) {
        assert_true(next > last);
        holes += next - last - 1;
    }
    holes += most - last;
    assert_int_equal(got + holes, most);
    assert_true(holes > 0);
    zmq_close(fast);
    zmq_close(slow);
    zmq_ctx_term(context);
    assert_int_equal(sf_sink_close(sink, NULL), SF_OK);
    test_stream_free(&stream);
}

/* What was accepted reaches a subscriber even where it reads only after the sink has begun to close. */
static void *close_sink(void *argument)
{
    sf_sink_close(argument, NULL);
    return NULL;
}

static void close_delivers_what_was_accepted(void **state)
{
    (void)state;
    test_random random = {.state = 1};
    test_stream stream;
    test_stream_make(&stream, &random, 1);
    sf_sink *sink = open_any_port(&stream.info, 64, SF_RING_BLOCK, 1);
    void *context = zmq_ctx_new();
    void *socket = subscribe(context, sf_sink_address(sink), "", 1000);
    wait_ready(sink);
    publisher publishing = {sink, 60};
    publish_large(&publishing);
    sf_thread thread = {0};
    assert_int_equal(sf_thread_start(&thread, "close", close_sink, sink, NULL), SF_OK);
    sf_clock_sleep_until(sf_clock_monotonic_ns() + 100 * SF_MILLISECOND);
    for (uint64_t seq = 1; seq <= 60; seq++)
        assert_int_equal(receive_seq(socket), seq);
    sf_thread_join(&thread);
    zmq_close(socket);
    zmq_ctx_term(context);
    test_stream_free(&stream);
}

/* The queue of a subscriber is bounded in bytes: of messages so large only some wait for one who does not
 * read. */
static void large_messages_wait_by_their_bytes(void **state)
{
    (void)state;
    enum { SIZE = 16 << 20, MESSAGES = 64 };
    const sf_publisher_settings settings = {.endpoint = "tcp://127.0.0.1:*", .queue = 1024};
    sf_zmq_publisher sending;
    sf_error error;
    assert_int_equal(sf_publisher_open(&sending, &settings, &error), SF_OK);
    void *context = zmq_ctx_new();
    void *socket = subscribe(context, sending.address, "", 1);
    while (sf_publisher_update(&sending) == 0)
        sf_clock_sleep_until(sf_clock_monotonic_ns() + SF_MILLISECOND);
    char *body = calloc(SIZE, 1);
    const sf_part parts[] = {{"graph", 5}, {body, SIZE - 5}};
    for (int i = 0; i < MESSAGES; i++)
        assert_int_equal(sf_publisher_send(&sending, parts, 2, &error), SF_SENT);
    assert_int_equal(sending.queue, SF_PUBLISHER_BYTES / SIZE);
    int received = 0;
    while (zmq_recv(socket, body, SIZE, 0) == 5) {
        assert_int_equal(zmq_recv(socket, body, SIZE, 0), SIZE - 5);
        set_patience(socket, 1000); /* for those after it */
        received++;
    }
    assert_in_range(received, 1, 2 * (int)(SF_PUBLISHER_BYTES / SIZE));
    free(body);
    zmq_close(socket);
    zmq_ctx_term(context);
    sf_publisher_close(&sending, 0);
}

/* A subscriber that left no longer counts towards those that the start waits for. */
static void subscribers_that_left_do_not_count(void **state)
{
    (void)state;
    sf_units units = {0};
    const sf_stream_info stream = {.name = "s", .units = &units};
    sf_sink_settings settings;
    test_sink_settings(&settings);
    settings.endpoint = "tcp://127.0.0.1:*";
    settings.wait_subscribers = 1;
    void *self; /* without a thread of its own: this one asks it */
    assert_int_equal(sf_sink_zmq.open(&self, &settings, &stream, NULL), SF_OK);
    assert_false(sf_sink_zmq.ready(self));
    void *context = zmq_ctx_new();
    void *socket = subscribe(context, sf_sink_zmq.address(self), "", 10);
    while (!sf_sink_zmq.ready(self))
        ;
    zmq_close(socket);
    while (sf_sink_zmq.ready(self))
        ;
    zmq_ctx_term(context);
    assert_int_equal(sf_sink_zmq.close(self, NULL), SF_OK);
}

static void endpoints_that_cannot_be_bound_are_refused(void **state)
{
    (void)state;
    sf_units units = {0};
    const sf_stream_info stream = {.name = "s", .units = &units};
    sf_sink *sink = open_any_port(&stream, 16, SF_RING_BLOCK, 1), *other;
    assert_non_null(strstr(sf_sink_address(sink), "tcp://127.0.0.1:"));
    assert_null(strchr(sf_sink_address(sink), '*'));
    sf_error error;
    test_assert_fails(open_zmq(&other, sf_sink_address(sink), &stream, 16, SF_RING_BLOCK, 1, &error), &error,
                      SF_UNAVAILABLE, "in use by another program");
    assert_null(other);
    assert_string_equal(error.place, sf_sink_address(sink));
    sf_sink_settings open_to_all;
    test_sink_settings(&open_to_all);
    open_to_all.type = "zmq";
    open_to_all.endpoint = "tcp://*:0";
    open_to_all.insecure = true;
    assert_int_equal(test_sink_open(&other, &open_to_all, &stream, NULL, &error), SF_OK);
    assert_true(atoi(strrchr(sf_sink_address(other), ':') + 1) > 0);
    sf_sink_close(other, NULL);
    static const struct {
        const char *endpoint;
        sf_status code;
        const char *words;
    } cases[] = {
        {"7710", SF_CONFIG, "tcp://ADDRESS:PORT"},
        {"tcp://127.0.0.1", SF_CONFIG, "tcp://ADDRESS:PORT"},
        {"http://127.0.0.1:80", SF_CONFIG, "tcp://ADDRESS:PORT"},
        {"tcp://127.0.0.1:7710:", SF_CONFIG, "tcp://ADDRESS:PORT"},
        {"tcp://203.0.113.7:7710", SF_CONFIG, "say `insecure: true`"},
        {"tcp://192.168.1.5:7710", SF_CONFIG, "other machines could connect"},
        {"tcp://10.0.0.1:0", SF_CONFIG, "other machines could connect"},
        {"tcp://*:7710", SF_CONFIG, "other machines could connect"},
        {"tcp://0.0.0.0:7710", SF_CONFIG, "other machines could connect"},
        {"tcp://0:7710", SF_CONFIG, "other machines could connect"},
        {"tcp://[::]:7710", SF_CONFIG, "other machines could connect"},
        {"tcp://:::7710", SF_CONFIG, "other machines could connect"},
        {"tcp://[2001:db8::1]:7710", SF_CONFIG, "other machines could connect"},
        {"tcp://[::ffff:192.168.1.5]:7710", SF_CONFIG, "other machines could connect"},
        {"epgm://eth0;239.192.1.1:5555", SF_CONFIG, "other machines could connect"},
        {"", SF_CONFIG, "endpoint"},
        {NULL, SF_CONFIG, "endpoint"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        test_assert_fails(open_zmq(&other, cases[i].endpoint, &stream, 16, SF_RING_BLOCK, 1, &error), &error,
                          cases[i].code, cases[i].words);
    sf_sink_close(sink, NULL);
}

static int open_and_close(void *context)
{
    sf_sink *sink;
    int status = open_zmq(&sink, "tcp://127.0.0.1:*", context, 16, SF_RING_BLOCK, 1, NULL);
    sf_sink_close(sink, NULL);
    return status;
}

static int publish_one(void *context)
{
    sf_message *message = sf_message_new(SF_TOPIC_STATUS);
    if (message == NULL) return SF_NO_MEMORY;
    sf_sink *sink;
    int status = open_zmq(&sink, "tcp://127.0.0.1:*", context, 16, SF_RING_BLOCK, 1, NULL);
    if (status == SF_OK) {
        sf_sink_publish(sink, message);
        status = sf_sink_close(sink, NULL);
    }
    sf_message_release(message);
    return status;
}

static void failed_allocations_leak_nothing(void **state)
{
    (void)state;
    sf_units units = {0};
    sf_stream_info stream = {.name = "s", .units = &units};
    test_fail_every_allocation(open_and_close, &stream);
    test_fail_every_allocation(publish_one, &stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(subscribers_get_every_field),
        cmocka_unit_test(block_loses_nothing_to_a_slow_subscriber),
        cmocka_unit_test(a_slow_subscriber_loses_alone),
        cmocka_unit_test(close_delivers_what_was_accepted),
        cmocka_unit_test(large_messages_wait_by_their_bytes),
        cmocka_unit_test(subscribers_that_left_do_not_count),
        cmocka_unit_test(endpoints_that_cannot_be_bound_are_refused),
        cmocka_unit_test(failed_allocations_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
