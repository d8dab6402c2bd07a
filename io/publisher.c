/* SPDX-License-Identifier: Apache-2.0 */
#include "io/publisher.h"

#include "core/error.h"
#include "core/log.h"
#include "core/memory.h"
#include "core/thread.h"
#include "io/descriptors.h"
#include "io/endpoint.h"

#include <errno.h>
#include <zmq.h>

#define WAIT_MS 50           /* one try to send */
#define END_MS 2000          /* time for libzmq's own shutdown, after lingering */
#define MOST_FRAME 1024      /* maximum bytes of a subscriber's message, keys included */
#define MOST_SUBSCRIPTION 64 /* bytes of a subscription; topics are short words */
#define MOST_UNREAD 256      /* of what it says, that libzmq keeps */

static int set_option(sf_zmq_publisher *publisher, int option, int value)
{
    return zmq_setsockopt(publisher->socket, option, &value, sizeof value);
}

static int make_socket(sf_zmq_publisher *publisher, bool lossless)
{
    publisher->context = zmq_ctx_new();
    if (publisher->context == NULL) return -1;
    publisher->socket = zmq_socket(publisher->context, ZMQ_XPUB);
    if (publisher->socket == NULL || set_option(publisher, ZMQ_SNDHWM, publisher->queue) != 0 ||
        set_option(publisher, ZMQ_SNDTIMEO, WAIT_MS) != 0 ||
        set_option(publisher, ZMQ_RCVHWM, MOST_UNREAD) != 0 ||
        set_option(publisher, ZMQ_XPUB_VERBOSER, 1) != 0)
        return -1;
    const int64_t most = MOST_FRAME;
    if (zmq_setsockopt(publisher->socket, ZMQ_MAXMSGSIZE, &most, sizeof most) != 0) return -1;
    return set_option(publisher, ZMQ_XPUB_NODROP, lossless);
}

/* Checks the endpoint twice: as given, and as libzmq resolved it. */
static int bind_socket(sf_zmq_publisher *publisher, const sf_publisher_settings *settings, sf_error *error)
{
    const char *endpoint = settings->endpoint;
    int status = sf_endpoint_check(endpoint, error);
    if (status != SF_OK) return status;
    bool insecure = settings->insecure || sf_curve_gate_refused(publisher->gate) >= 0; /* it has keys */
    if (!insecure && sf_endpoint_is_public(endpoint))
        return sf_endpoint_refuse(endpoint, settings->permit, error);
    if (zmq_bind(publisher->socket, endpoint) == 0) {
        size_t size = sizeof publisher->address;
        zmq_getsockopt(publisher->socket, ZMQ_LAST_ENDPOINT, publisher->address, &size);
        bool exposed = !insecure && sf_endpoint_is_public(publisher->address);
        return exposed ? sf_endpoint_refuse(endpoint, settings->permit, error) : SF_OK;
    }
    switch (zmq_errno()) {
    case EADDRINUSE:
        return sf_fail(
            error, SF_UNAVAILABLE, endpoint,
            "the port is in use by another program: choose another one, or port 0 for any that is free");
    case EINVAL:
        return sf_fail(error, SF_USAGE, endpoint, "is no ZeroMQ endpoint: there is no such address");
    default:
        return sf_fail(error, SF_UNAVAILABLE, endpoint, "cannot bind: %s", zmq_strerror(zmq_errno()));
    }
}

int sf_publisher_open(sf_zmq_publisher *publisher, const sf_publisher_settings *settings, sf_error *error)
{
    *publisher = (sf_zmq_publisher){.queue = settings->queue};
    int status = sf_descriptors_check(SF_ZMQ_DESCRIPTORS, settings->endpoint, error);
    if (status != SF_OK) return status;
    if (make_socket(publisher, settings->lossless) != 0)
        status = sf_fail(error, SF_UNAVAILABLE, settings->endpoint, "cannot make a ZeroMQ socket: %s",
                         zmq_strerror(zmq_errno()));
    else
        status = sf_curve_gate_open(&publisher->gate, publisher->context, publisher->socket, &settings->curve,
                                    error);
    if (status == SF_OK) status = bind_socket(publisher, settings, error);
    if (status != SF_OK) sf_publisher_close(publisher, 0);
    return status;
}

/* A subscription arrives as one frame: byte 1 and the topic prefix; its end as byte 0 and the topic. */
int64_t sf_publisher_update(sf_zmq_publisher *publisher)
{
    sf_visitors *visitors = sf_curve_gate_visitors(publisher->gate);
    zmq_msg_t said;
    zmq_msg_init(&said);
    while (zmq_msg_recv(&said, publisher->socket, ZMQ_DONTWAIT) >= 0) {
        const unsigned char *what = zmq_msg_data(&said);
        if (zmq_msg_size(&said) == 0 || *what > 1) continue;
        int file = zmq_msg_get(&said, ZMQ_SRCFD); /* -1 where the connection is gone */
        publisher->subscriptions += *what == 1 ? 1 : -1;
        publisher->joined += *what;
        if (file >= 0)
            sf_visitors_subscribe(visitors, file,
                                  *what == 0                                 ? -1
                                  : zmq_msg_size(&said) <= MOST_SUBSCRIPTION ? 1
                                                                             : SF_VISITOR_SUBSCRIPTIONS + 1);
    }
    zmq_msg_close(&said);
    return publisher->subscriptions;
}

/* libzmq limits queues by the number of messages, not bytes: the larger the messages, the fewer may queue. */
static void bound_queue(sf_zmq_publisher *publisher, const sf_part *parts, size_t count)
{
    size_t size = 0;
    for (size_t i = 0; i < count; i++)
        size += parts[i].size;
    if (size <= publisher->largest) return;
    publisher->largest = size;
    size_t most = SF_PUBLISHER_BYTES / size;
    if (most >= (size_t)publisher->queue) return;
    publisher->queue = most > 0 ? (int)most : 1;
    set_option(publisher, ZMQ_SNDHWM, publisher->queue);
}

int sf_publisher_send(sf_zmq_publisher *publisher, const sf_part *parts, size_t count, sf_error *error)
{
    bound_queue(publisher, parts, count);
    for (size_t i = 0; i < count; i++) {
        if (zmq_send(publisher->socket, parts[i].data, parts[i].size, i + 1 < count ? ZMQ_SNDMORE : 0) >= 0)
            continue;
        /* A queue has room for whole messages: if the first frame was accepted, so are the others. */
        if (i == 0 && (zmq_errno() == EAGAIN || zmq_errno() == EINTR)) return SF_SENT_AGAIN;
        return sf_fail(error, SF_IO, publisher->address, "cannot send to %s: %s", publisher->address,
                       zmq_strerror(zmq_errno()));
    }
    return SF_SENT;
}

/* ---- closing ---- */

/* A context being closed, which the waiting thread may abandon. */
typedef struct ending {
    void *context;
    sf_thread thread;
    sf_bell bell;
} ending;

static void *end_context(void *argument)
{
    ending *e = argument;
    while (zmq_ctx_term(e->context) != 0 && zmq_errno() == EINTR)
        ;
    sf_bell_ring(&e->bell);
    return NULL;
}

/* libzmq 4.3.4 was seen to linger forever after its only subscriber had left; the program must not hang then.
 */
static void end_within(void *context, int linger_ms)
{
    ending *e = sf_alloc(1, sizeof *e);
    if (e == NULL || sf_bell_open(&e->bell, NULL) != SF_OK) {
        sf_free(e);
        return;
    }
    e->context = context;
    if (sf_thread_start(&e->thread, "synfire-zmq-end", end_context, e, NULL) == SF_OK &&
        !sf_bell_wait(&e->bell, linger_ms + END_MS)) {
        sf_log(SF_LOG_DEBUG, "a ZeroMQ context does not end and is left behind");
        pthread_detach(e->thread.id);
        return;
    }
    sf_thread_join(&e->thread);
    sf_bell_close(&e->bell);
    sf_free(e);
}

void sf_publisher_close(sf_zmq_publisher *publisher, int linger_ms)
{
    if (publisher->socket != NULL) {
        set_option(publisher, ZMQ_LINGER, linger_ms);
        zmq_close(publisher->socket);
    }
    sf_curve_gate_close(publisher->gate);
    publisher->gate = NULL;
    if (publisher->context != NULL && linger_ms >= 0) end_within(publisher->context, linger_ms);
    while (publisher->context != NULL && linger_ms < 0 && zmq_ctx_term(publisher->context) != 0 &&
           zmq_errno() == EINTR)
        ;
    publisher->socket = publisher->context = NULL;
}
