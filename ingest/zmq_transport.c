/* SPDX-License-Identifier: Apache-2.0 */
#include "core/clock.h"
#include "core/error.h"
#include "core/log.h"
#include "core/memory.h"
#include "ingest/byte_guard.h"
#include "ingest/transport.h"
#include "io/descriptors.h"
#include "io/endpoint.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <synfire/error.h>
#include <sys/random.h>
#include <zmq.h>

/* ---- heartbeats ---- */

#define EVERY_NS (2 * SF_SECOND)
#define PATIENCE_NS (10 * SF_SECOND) /* without an answer the socket is made anew */

/*
 * Tells a rig every two seconds that somebody listens, over a ZeroMQ REQ socket, as Open Ephys' ZMQ Interface
 * lists its clients by. A rig that does not answer loses nothing: the socket is made anew, and the heartbeat
 * goes on.
 */
typedef struct heartbeat {
    void *context, *socket;
    char endpoint[256], uuid[40];
    int64_t due_ns, sent_ns;
    bool is_asked;          /* no answer yet */
    bool is_heard, is_mute; /* as was logged */
} heartbeat;

/* NULL is allowed */
static void heartbeat_close(heartbeat *it)
{
    if (it == NULL) return;
    if (it->socket != NULL) zmq_close(it->socket);
    sf_free(it);
}

/* Random, of the fourth kind of RFC 4122. */
static int draw_uuid(heartbeat *it, sf_error *error)
{
    unsigned char b[16];
    if (getrandom(b, sizeof b, 0) != sizeof b)
        return sf_fail(error, SF_INTERNAL, NULL, "no random number for the heartbeat");
    b[6] = (unsigned char)((b[6] & 0x0f) | 0x40);
    b[8] = (unsigned char)((b[8] & 0x3f) | 0x80);
    snprintf(it->uuid, sizeof it->uuid,
             "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1], b[2], b[3],
             b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
    return SF_OK;
}

static int connect_asker(heartbeat *it)
{
    const int none = 0;
    it->socket = zmq_socket(it->context, ZMQ_REQ);
    it->is_asked = false;
    if (it->socket == NULL || zmq_setsockopt(it->socket, ZMQ_LINGER, &none, sizeof none) != 0) return -1;
    return zmq_connect(it->socket, it->endpoint);
}

/* Opens a heartbeat in a ZeroMQ context, which outlives it. */
static int heartbeat_open(heartbeat **out, void *context, const char *endpoint, sf_error *error)
{
    *out = NULL;
    heartbeat *it = sf_alloc(1, sizeof *it);
    if (it == NULL) return sf_fail_memory(error);
    it->context = context;
    snprintf(it->endpoint, sizeof it->endpoint, "%s", endpoint);
    int status = draw_uuid(it, error);
    if (status == SF_OK && connect_asker(it) != 0)
        status = sf_fail(error, SF_UNAVAILABLE, endpoint, "cannot connect: %s", zmq_strerror(zmq_errno()));
    if (status != SF_OK) {
        heartbeat_close(it);
        return status;
    }
    *out = it;
    return SF_OK;
}

static void take_answer(heartbeat *it)
{
    char answer[64];
    if (!it->is_asked || zmq_recv(it->socket, answer, sizeof answer, ZMQ_DONTWAIT) < 0) return;
    it->is_asked = false;
    if (!it->is_heard || it->is_mute) sf_log(SF_LOG_INFO, "%s: the rig answers heartbeats", it->endpoint);
    it->is_heard = true;
    it->is_mute = false;
}

static void send_one(heartbeat *it, int64_t now_ns)
{
    char text[160];
    snprintf(text, sizeof text, "{\"application\": \"synfire\", \"uuid\": \"%s\", \"type\": \"heartbeat\"}",
             it->uuid);
    it->due_ns = now_ns + EVERY_NS;
    it->sent_ns = now_ns;
    it->is_asked = zmq_send(it->socket, text, strlen(text), ZMQ_DONTWAIT) >= 0;
}

/* Sends one where it is due, and takes answers; now_ns is the monotonic clock. NULL is allowed. */
static void heartbeat_tend(heartbeat *it, int64_t now_ns)
{
    if (it == NULL || it->socket == NULL || now_ns < it->due_ns) return;
    take_answer(it);
    if (!it->is_asked) {
        send_one(it, now_ns);
    } else if (now_ns - it->sent_ns >= PATIENCE_NS) {
        if (!it->is_mute)
            sf_log(SF_LOG_WARNING, "%s: the rig does not answer heartbeats; its data is taken all the same",
                   it->endpoint);
        it->is_mute = true;
        zmq_close(it->socket);
        connect_asker(it);
    }
}

/* ---- the transport ---- */

typedef struct subscriber {
    sf_transport transport;
    const sf_transport_settings *settings;
    void *context, *socket;
    sf_byte_guard *guard;
    heartbeat *heartbeat; /* NULL: the rig wants none */
    zmq_msg_t message;
    char endpoint[256];
} subscriber;

/* libzmq does not reconnect after a peer sent bytes that are no ZMTP frame, nor does it connect an endpoint
 * twice: so we disconnect and connect ourselves. */
static void connect_again(subscriber *it)
{
    zmq_disconnect(it->socket, it->endpoint);
    zmq_connect(it->socket, it->endpoint);
}

/* Counts the connections that were cut off because what came was no frame. */
static void count_cuts(subscriber *it, sf_decoder *decoder)
{
    for (uint64_t cuts = sf_byte_guard_cuts(it->guard); cuts > 0; cuts--)
        sf_decoder_leave_out(decoder, "a connection that was cut off: what came made no frame");
}

static bool wait_for_message(subscriber *it, int64_t now_ns, int64_t deadline_ns)
{
    int64_t left = (deadline_ns - now_ns + SF_MILLISECOND - 1) / SF_MILLISECOND;
    zmq_pollitem_t waiting = {.socket = it->socket, .events = ZMQ_POLLIN};
    return left > 0 && zmq_poll(&waiting, 1, (long)left) > 0 &&
           zmq_msg_recv(&it->message, it->socket, ZMQ_DONTWAIT) >= 0;
}

static int receive(sf_transport *transport, sf_decoder *decoder, int64_t deadline_ns, sf_error *error)
{
    subscriber *it = (subscriber *)transport;
    int64_t now = sf_clock_monotonic_ns();
    if (sf_byte_guard_gave_up(it->guard)) connect_again(it);
    count_cuts(it, decoder);
    heartbeat_tend(it->heartbeat, now);
    if (zmq_msg_recv(&it->message, it->socket, ZMQ_DONTWAIT) < 0 && !wait_for_message(it, now, deadline_ns))
        return SF_AGAIN;
    for (;;) { /* libzmq hands over whole messages: their parts are all there */
        bool more = zmq_msg_more(&it->message);
        size_t size = zmq_msg_size(&it->message);
        sf_byte_guard_note(it->guard, size);
        int status = sf_decoder_feed(decoder, zmq_msg_data(&it->message), size,
                                     more ? SF_FEED_PART : SF_FEED_MESSAGE, error);
        if (status != SF_OK || !more || zmq_msg_recv(&it->message, it->socket, ZMQ_DONTWAIT) < 0)
            return status;
    }
}

static bool is_connected(const sf_transport *transport)
{
    return sf_byte_guard_connected(((const subscriber *)transport)->guard);
}

static void close_subscriber(sf_transport *transport)
{
    subscriber *it = (subscriber *)transport;
    heartbeat_close(it->heartbeat);
    sf_byte_guard_close(it->guard);
    zmq_msg_close(&it->message);
    if (it->socket != NULL) zmq_close(it->socket);
    while (it->context != NULL && zmq_ctx_term(it->context) != 0 && zmq_errno() == EINTR)
        ;
    sf_free(it);
}

static int set_option(subscriber *it, int option, int value)
{
    return zmq_setsockopt(it->socket, option, &value, sizeof value);
}

/* A host that vanished without a word is noticed in about ten seconds. */
static bool keep_alive(subscriber *it)
{
    return set_option(it, ZMQ_TCP_KEEPALIVE, 1) == 0 && set_option(it, ZMQ_TCP_KEEPALIVE_IDLE, 4) == 0 &&
           set_option(it, ZMQ_TCP_KEEPALIVE_INTVL, 2) == 0 && set_option(it, ZMQ_TCP_KEEPALIVE_CNT, 3) == 0;
}

static int connect_socket(subscriber *it, sf_error *error)
{
    const sf_transport_settings *settings = it->settings;
    const int64_t most = (int64_t)settings->most_bytes; /* a larger frame closes the connection */
    int status = sf_descriptors_check(SF_ZMQ_DESCRIPTORS, it->endpoint, error);
    if (status != SF_OK) return status;
    it->context = zmq_ctx_new();
    if (it->context != NULL) it->socket = zmq_socket(it->context, ZMQ_SUB);
    if (it->socket == NULL || set_option(it, ZMQ_RCVHWM, settings->queue) != 0 ||
        set_option(it, ZMQ_LINGER, 0) != 0 || !keep_alive(it) ||
        zmq_setsockopt(it->socket, ZMQ_MAXMSGSIZE, &most, sizeof most) != 0 ||
        zmq_setsockopt(it->socket, ZMQ_SUBSCRIBE, "", 0) != 0)
        return sf_fail(error, SF_UNAVAILABLE, it->endpoint, "cannot make a ZeroMQ socket: %s",
                       zmq_strerror(zmq_errno()));
    bool has_keys = false;
    status = sf_curve_connect(it->socket, &settings->curve, error);
    if (status == SF_OK) status = sf_curve_client_wanted(&has_keys, &settings->curve, error);
    if (status == SF_OK)
        status = sf_byte_guard_open(&it->guard, it->context, it->socket, it->endpoint, has_keys, error);
    if (status != SF_OK) return status;
    if (zmq_connect(it->socket, it->endpoint) != 0)
        return sf_fail(error, SF_UNAVAILABLE, it->endpoint, "cannot connect: %s", zmq_strerror(zmq_errno()));
    return SF_OK;
}

static int connect_subscriber(sf_transport *transport, sf_error *error)
{
    subscriber *it = (subscriber *)transport;
    const char *request = it->settings->request;
    int status = connect_socket(it, error);
    return status == SF_OK && request != NULL ? heartbeat_open(&it->heartbeat, it->context, request, error)
                                              : status;
}

static int check_request(const char *request, sf_error *error)
{
    sf_error reason = {0};
    if (request == NULL || sf_endpoint_check_peer(request, &reason) == SF_OK) return SF_OK;
    return sf_fail(error, SF_CONFIG, "heartbeat", "%s %s", reason.place, reason.text);
}

static int open_subscriber(sf_transport **out, const sf_transport_settings *settings, sf_error *error)
{
    *out = NULL;
    subscriber *it = sf_alloc(1, sizeof *it);
    if (it == NULL) return sf_fail_memory(error);
    it->transport.kind = &sf_transport_zmq;
    zmq_msg_init(&it->message);
    it->settings = settings;
    snprintf(it->endpoint, sizeof it->endpoint, "%s", settings->endpoint);
    int status = sf_endpoint_check_peer(it->endpoint, error);
    if (status == SF_OK) status = check_request(settings->request, error);
    if (status == SF_OK) status = sf_curve_client_check(&settings->curve, error);
    if (status != SF_OK) {
        close_subscriber(&it->transport);
        return status;
    }
    *out = &it->transport;
    return SF_OK;
}

const sf_transport_kind sf_transport_zmq = {
    .descriptors = SF_ZMQ_DESCRIPTORS + 2,
    .open = open_subscriber,
    .connect = connect_subscriber,
    .receive = receive,
    .connected = is_connected,
    .close = close_subscriber,
};
