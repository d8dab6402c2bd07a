/* SPDX-License-Identifier: Apache-2.0 */
/**
 * ZeroMQ: a bound socket that sends to whoever subscribes (io/publisher.h); every message is two frames,
 * the topic and one MessagePack map (or one JSON object).
 *
 * With the policy `block` a message that a subscriber has no room for is offered again. With the others
 * libzmq leaves out the subscriber whose queue is full and tells nobody but that subscriber, by the hole in
 * `seq`: it has no count of such losses, and holding the message back would take it from the other
 * subscribers.
 */
#include "core/error.h"
#include "core/memory.h"
#include "core/row_macros.h"
#include "io/curve.h"
#include "io/descriptors.h"
#include "io/endpoint.h"
#include "io/publisher.h"
#include "sinks/sink.h"

#include <string.h>

#define PERMIT "`insecure: true`"
#define LINGER_MS 5000 /* at the end subscribers get so long to fetch what was sent to them */

typedef struct zmq_sink {
    const sf_stream_info *stream;
    sf_zmq_publisher publisher;
    bool json;
    int64_t wanted;
    sf_text body;
} zmq_sink;

static int close_zmq(void *self, sf_error *error)
{
    (void)error;
    zmq_sink *sink = self;
    sf_publisher_close(&sink->publisher, LINGER_MS);
    sf_text_free(&sink->body);
    sf_free(sink);
    return SF_OK;
}

/* Here the endpoint comes from a configuration. */
static int refuse_here(sf_error *error)
{
    if (error != NULL) error->code = SF_CONFIG;
    return SF_CONFIG;
}

static int bind_publisher(zmq_sink *sink, const sf_sink_settings *settings, sf_error *error)
{
    int queue = settings->ring <= INT32_MAX ? (int)settings->ring : INT32_MAX;
    const sf_publisher_settings wanted = {.endpoint = settings->endpoint,
                                          .queue = queue,
                                          .lossless = settings->policy == SF_RING_BLOCK,
                                          .insecure = settings->insecure,
                                          .permit = PERMIT,
                                          .curve = {settings->key, settings->clients}};
    int status = sf_publisher_open(&sink->publisher, &wanted, error);
    return status == SF_USAGE ? refuse_here(error) : status;
}

static int open_zmq(void **self, const sf_sink_settings *settings, const sf_stream_info *stream,
                    sf_error *error)
{
    zmq_sink *sink = sf_alloc(1, sizeof *sink);
    if (sink == NULL) return sf_fail_memory(error);
    sink->stream = stream;
    sink->json = settings->encoding == SF_ENCODE_JSON;
    sink->wanted = settings->wait_subscribers;
    int status = bind_publisher(sink, settings, error);
    if (status != SF_OK) {
        close_zmq(sink, NULL);
        return status;
    }
    *self = sink;
    return SF_OK;
}

/* Whoever else is bound there now. */
static int examine_zmq(const sf_sink_settings *settings, sf_error *error)
{
    if (settings->endpoint == NULL || settings->endpoint[0] == '\0')
        return sf_fail(error, SF_CONFIG, "endpoint",
                       "a zmq sink needs an endpoint to bind, such as tcp://127.0.0.1:7710");
    int status = sf_endpoint_check(settings->endpoint, error);
    bool open = settings->insecure || sf_curve_is_given(settings->key);
    if (status == SF_OK && !open && sf_endpoint_is_public(settings->endpoint))
        status = sf_endpoint_refuse(settings->endpoint, PERMIT, error);
    if (status == SF_USAGE) return refuse_here(error);
    return status == SF_OK
               ? sf_curve_server_check(&(sf_curve_server){settings->key, settings->clients}, error)
               : status;
}

static int encode(zmq_sink *sink, const sf_message *message, sf_error *error)
{
    sf_text_clear(&sink->body);
    if (sink->json)
        sf_message_to_json(&sink->body, message, sink->stream);
    else
        sf_message_to_msgpack(&sink->body, message, sink->stream);
    if (!sink->body.failed) return SF_OK;
    sf_text_free(&sink->body);
    return sf_fail_memory(error);
}

static int publish_zmq(void *self, const sf_message *message, sf_error *error)
{
    zmq_sink *sink = self;
    if (encode(sink, message, error) != SF_OK) return SF_NO_MEMORY;
    const char *topic = sf_topic_name(message->topic);
    const sf_part parts[] = {{topic, strlen(topic)}, {sink->body.data, sink->body.length}};
    int sent = sf_publisher_send(&sink->publisher, parts, 2, error);
    if (sent < 0) return sent;
    return sent == SF_SENT ? SF_PUBLISH_TAKEN : SF_PUBLISH_AGAIN;
}

static bool ready_zmq(void *self)
{
    zmq_sink *sink = self;
    return sf_publisher_update(&sink->publisher) >= sink->wanted;
}

static void account_zmq(void *self, sf_sink_status *status)
{
    status->refused = sf_curve_gate_refused(((zmq_sink *)self)->publisher.gate);
}

static const char *address_zmq(void *self)
{
    return ((zmq_sink *)self)->publisher.address;
}

static const sf_sink_settings defaults = {SF_SINK_DEFAULTS, .endpoint = "tcp://127.0.0.1:7710",
                                          .key = SF_CURVE_NONE, .clients = SF_CURVE_NONE};

static const char *const encodings[] = {"msgpack", "json", NULL};

#define ROW sf_sink_settings
static const sf_key keys[] = {
    SWITCH("insecure", insecure,
           .what = "true: the endpoint may be one that other machines can connect to, as tcp://*:7710"),
    TEXT("endpoint", endpoint, .use = SF_KEY_WRITES, .what = "bound"),
    TEXT("key", key,
         .what = "a secret file of `synfire keys`; other machines may then connect without `insecure`"),
    TEXT("clients", clients,
         .what = "beside it: the public file of who may subscribe, or a folder of such files, *.key"),
    CHOICE("encoding", encoding, encodings, .what = "of messages"),
    WHOLE("wait_subscribers", wait_subscribers, 0, 1000, .what = "begin only when so many have subscribed"),
    {0},
};
#undef ROW

const sf_sink_kind sf_sink_zmq = {
    .settings = {"zmq", keys, sizeof(sf_sink_settings), &defaults, "ZeroMQ PUB"},
    .descriptors = SF_ZMQ_DESCRIPTORS + SF_CURVE_DESCRIPTORS,
    .is_tried = true,
    .acts = true,
    .open = open_zmq,
    .examine = examine_zmq,
    .publish = publish_zmq,
    .close = close_zmq,
    .account = account_zmq,
    .address = address_zmq,
    .ready = ready_zmq,
};
