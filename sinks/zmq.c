/* SPDX-License-Identifier: Apache-2.0 */
/**
 * ZeroMQ: a bound XPUB socket; every message is two frames, the topic and one MessagePack map (or one JSON
 * object). XPUB is PUB that also hands over the subscriptions, which are counted for `wait_subscribers`.
 *
 * With the policy `block` the socket refuses to send where a subscriber's queue is full (ZMQ_XPUB_NODROP) and
 * the message is offered again. With the others libzmq leaves out the subscriber whose queue is full and
 * tells nobody but that subscriber, by the hole in `seq`: it has no count of such losses, and holding the
 * message back would take it from the other subscribers.
 */
#include "core/error.h"
#include "core/memory.h"
#include "sinks/sink.h"

#include <errno.h>
#include <string.h>
#include <zmq.h>

#define WAIT_MS 50     /* one try to send, with the policy `block` */
#define LINGER_MS 5000 /* at the end subscribers get so long to fetch what was sent to them */

typedef struct zmq_sink {
    const sf_stream_info *stream;
    void *context;
    void *socket;
    bool json;
    int64_t wanted, subscriptions;
    sf_text body;
    char endpoint[256];
} zmq_sink;

static int close_zmq(void *self, sf_error *error)
{
    (void)error;
    zmq_sink *sink = self;
    if (sink->socket != NULL)
        zmq_close(sink->socket);
    while (sink->context != NULL && zmq_ctx_term(sink->context) != 0 && zmq_errno() == EINTR)
        ;
    sf_text_free(&sink->body);
    sf_free(sink);
    return SF_OK;
}

static int set_option(zmq_sink *sink, int option, int value)
{
    return zmq_setsockopt(sink->socket, option, &value, sizeof value);
}

static int make_socket(zmq_sink *sink, const sf_sink_settings *settings, sf_error *error)
{
    int ring = settings->ring <= INT32_MAX ? (int)settings->ring : INT32_MAX;
    int blocks = settings->policy == SF_RING_BLOCK;
    sink->context = zmq_ctx_new();
    if (sink->context != NULL)
        sink->socket = zmq_socket(sink->context, ZMQ_XPUB);
    if (sink->socket == NULL || set_option(sink, ZMQ_SNDHWM, ring) != 0 ||
        set_option(sink, ZMQ_SNDTIMEO, WAIT_MS) != 0 || set_option(sink, ZMQ_LINGER, LINGER_MS) != 0 ||
        set_option(sink, ZMQ_XPUB_VERBOSER, 1) != 0 || set_option(sink, ZMQ_XPUB_NODROP, blocks) != 0)
        return sf_fail(error, SF_UNAVAILABLE, settings->endpoint, "cannot make a ZeroMQ socket: %s",
                       zmq_strerror(zmq_errno()));
    return SF_OK;
}

static int bind_socket(zmq_sink *sink, const char *endpoint, sf_error *error)
{
    if (zmq_bind(sink->socket, endpoint) == 0) {
        size_t size = sizeof sink->endpoint;
        zmq_getsockopt(sink->socket, ZMQ_LAST_ENDPOINT, sink->endpoint, &size);
        return SF_OK;
    }
    switch (zmq_errno()) {
    case EADDRINUSE:
        return sf_fail(
            error, SF_UNAVAILABLE, endpoint,
            "the port is in use by another program: choose another one, or port 0 for any that is free");
    case EINVAL:
    case EPROTONOSUPPORT:
        return sf_fail(
            error, SF_CONFIG, endpoint,
            "is no ZeroMQ endpoint: expected tcp://ADDRESS:PORT (address * for all) or ipc://PATH");
    default:
        return sf_fail(error, SF_UNAVAILABLE, endpoint, "cannot bind: %s", zmq_strerror(zmq_errno()));
    }
}

static int open_zmq(void **self, const sf_sink_settings *settings, const sf_stream_info *stream,
                    sf_error *error)
{
    if (settings->endpoint == NULL || settings->endpoint[0] == '\0')
        return sf_fail(error, SF_CONFIG, "endpoint",
                       "a zmq sink needs an endpoint to bind, such as tcp://127.0.0.1:7710");
    zmq_sink *sink = sf_alloc(1, sizeof *sink);
    if (sink == NULL)
        return sf_fail_memory(error);
    sink->stream = stream;
    sink->json = settings->encoding == SF_ENCODE_JSON;
    sink->wanted = settings->wait_subscribers;
    int status = make_socket(sink, settings, error);
    if (status == SF_OK)
        status = bind_socket(sink, settings->endpoint, error);
    if (status != SF_OK) {
        close_zmq(sink, NULL);
        return status;
    }
    *self = sink;
    return SF_OK;
}

static int encode(zmq_sink *sink, const sf_message *message, sf_error *error)
{
    sf_text_clear(&sink->body);
    if (sink->json)
        sf_message_to_json(&sink->body, message, sink->stream);
    else
        sf_message_to_msgpack(&sink->body, message, sink->stream);
    if (!sink->body.failed)
        return SF_OK;
    sf_text_free(&sink->body);
    return sf_fail_memory(error);
}

static int publish_zmq(void *self, const sf_message *message, sf_error *error)
{
    zmq_sink *sink = self;
    if (encode(sink, message, error) != SF_OK)
        return SF_NO_MEMORY;
    const char *topic = sf_topic_name(message->topic);
    int sent = zmq_send(sink->socket, topic, strlen(topic), ZMQ_SNDMORE);
    if (sent < 0 && zmq_errno() == EAGAIN)
        return SF_PUBLISH_AGAIN;
    /* Queues count whole messages, so where the first frame had room the second one has. */
    if (sent >= 0)
        sent = zmq_send(sink->socket, sink->body.data, sink->body.length, 0);
    if (sent < 0)
        return sf_fail(error, SF_IO, sink->endpoint, "cannot send to %s: %s", sink->endpoint,
                       zmq_strerror(zmq_errno()));
    return SF_PUBLISH_TAKEN;
}

/* A subscription arrives as one frame: 1 and the topic it begins with; its end as 0 and the topic. */
static bool ready_zmq(void *self)
{
    zmq_sink *sink = self;
    unsigned char what;
    for (;;) {
        int size = zmq_recv(sink->socket, &what, 1, ZMQ_DONTWAIT);
        if (size < 0)
            return sink->subscriptions >= sink->wanted;
        if (size > 0 && what <= 1)
            sink->subscriptions += what == 1 ? 1 : -1;
    }
}

static const char *address_zmq(void *self)
{
    return ((zmq_sink *)self)->endpoint;
}

const sf_sink_kind sf_sink_zmq = {
    .type = "zmq",
    .open = open_zmq,
    .publish = publish_zmq,
    .close = close_zmq,
    .address = address_zmq,
    .ready = ready_zmq,
};
