/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/synfire_stream.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"
#include "decode/decoder.h"
#include "decode/wire.h"
#include "ingest/byte_guard.h"
#include "io/descriptors.h"

#include <errno.h>
#include <stdio.h>
#include <zmq.h>

/* libzmq counts the frames that wait, not their bytes: so many of the largest are 256 MiB. More wait in the
 * operating system's buffers and then with the sender. */
#define QUEUE_FRAMES 16
#define PATIENCE_MS 50 /* how often a wait looks whether it should stop */

typedef struct stream {
    sf_source source;
    void *context, *socket;
    sf_byte_guard *guard;
    char endpoint[256];
    sf_decoder *decoder;
} stream;

/* ---- the socket ---- */

/* Hands the next message to the decoder, part by part; SF_AGAIN where none came in time. */
static int receive(stream *it, zmq_msg_t *message, int64_t deadline_ns, sf_error *error)
{
    if (sf_byte_guard_gave_up(it->guard)) {
        zmq_disconnect(it->socket, it->endpoint); /* what libzmq has connected already it does not connect */
        zmq_connect(it->socket, it->endpoint);
    }
    int64_t left = (deadline_ns - sf_clock_monotonic_ns() + SF_MILLISECOND - 1) / SF_MILLISECOND;
    zmq_pollitem_t waiting = {.socket = it->socket, .events = ZMQ_POLLIN};
    if (zmq_msg_recv(message, it->socket, ZMQ_DONTWAIT) < 0 &&
        (left <= 0 || zmq_poll(&waiting, 1, (long)left) <= 0 ||
         zmq_msg_recv(message, it->socket, ZMQ_DONTWAIT) < 0))
        return SF_AGAIN;
    for (;;) { /* libzmq hands over whole messages: their parts are all there */
        bool more = zmq_msg_more(message);
        sf_byte_guard_note(it->guard, zmq_msg_size(message));
        int status = sf_decoder_feed(it->decoder, zmq_msg_data(message), zmq_msg_size(message),
                                     more ? SF_FEED_PART : SF_FEED_MESSAGE, error);
        if (status != SF_OK || !more || zmq_msg_recv(message, it->socket, ZMQ_DONTWAIT) < 0)
            return status;
    }
}

/* Connections that were cut off because what came made no frame. */
static void count_cuts(stream *it)
{
    for (uint64_t cuts = sf_byte_guard_cuts(it->guard); cuts > 0; cuts--)
        sf_decoder_leave_out(it->decoder, "a frame %s", sf_wire_fault_text(SF_WIRE_FOREIGN));
}

static int stream_read(sf_source *source, sf_batch *batch, int timeout_ms, sf_error *error)
{
    stream *it = (stream *)source;
    *batch = (sf_batch){.clock_ns = INT64_MIN};
    int64_t deadline = sf_clock_monotonic_ns() + timeout_ms * SF_MILLISECOND;
    zmq_msg_t message;
    zmq_msg_init(&message);
    int status = sf_decoder_next(it->decoder, batch, error);
    while (status == SF_AGAIN && (status = receive(it, &message, deadline, error)) == SF_OK) {
        status = sf_decoder_next(it->decoder, batch, error);
        if (status == SF_AGAIN && sf_clock_monotonic_ns() >= deadline)
            break;
    }
    zmq_msg_close(&message);
    count_cuts(it);
    if (status == SF_AGAIN && sf_decoder_has_counts(it->decoder)) {
        sf_decoder_give(it->decoder, batch);
        status = SF_OK;
    }
    return status == SF_OK      ? SF_READ_BATCH
           : status == SF_AGAIN ? SF_READ_NOTHING
           : status == SF_END   ? SF_READ_END
                                : status;
}

static void stream_close(sf_source *source)
{
    stream *it = (stream *)source;
    sf_byte_guard_close(it->guard);
    if (it->socket != NULL)
        zmq_close(it->socket);
    while (it->context != NULL && zmq_ctx_term(it->context) != 0 && zmq_errno() == EINTR)
        ;
    sf_decoder_close(it->decoder);
    sf_free(it);
}

static bool stream_connected(sf_source *source)
{
    return sf_byte_guard_connected(((stream *)source)->guard);
}

typedef struct stream_settings {
    sf_source_settings common;
    const char *endpoint;
    double timeout_s;
} stream_settings;

static const stream_settings defaults = {.common = {.ring = 65536, .policy = SF_RING_DROP_OLDEST},
                                         .endpoint = "tcp://127.0.0.1:7700",
                                         .timeout_s = 10};

static const sf_key keys[] = {
    {.name = "endpoint", .type = SF_KEY_TEXT, .offset = offsetof(stream_settings, endpoint)},
    {.name = "timeout_s",
     .type = SF_KEY_REAL,
     .offset = offsetof(stream_settings, timeout_s),
     .least = 0.001,
     .most = 86400},
    {0},
};

static int open_settings(sf_source **out, const sf_source_settings *common, const sf_progress *progress,
                         sf_error *error)
{
    const stream_settings *settings = (const stream_settings *)common;
    int timeout_ms = (int)(settings->timeout_s * 1e3);
    sf_error reason;
    int status = sf_stream_open(out, settings->endpoint, timeout_ms, progress, &reason);
    if (status == SF_USAGE)
        return sf_fail(error, SF_CONFIG, "endpoint", "%s %s", reason.place, reason.text);
    if (status != SF_OK)
        return sf_fail(error, status, reason.place, "%s", reason.text);
    (*out)->patience_ns = timeout_ms * SF_MILLISECOND;
    return SF_OK;
}

const sf_source_kind sf_source_zmq = {
    .settings = {"zmq", keys, sizeof(stream_settings), &defaults},
    .is_live = true,
    .descriptors = SF_ZMQ_DESCRIPTORS,
    .open = open_settings,
    .read = stream_read,
    .close = stream_close,
    .connected = stream_connected,
};

static int set_option(stream *it, int option, int value)
{
    return zmq_setsockopt(it->socket, option, &value, sizeof value);
}

/* A host that vanished without a word is noticed in about ten seconds. */
static bool keep_alive(stream *it)
{
    return set_option(it, ZMQ_TCP_KEEPALIVE, 1) == 0 && set_option(it, ZMQ_TCP_KEEPALIVE_IDLE, 4) == 0 &&
           set_option(it, ZMQ_TCP_KEEPALIVE_INTVL, 2) == 0 && set_option(it, ZMQ_TCP_KEEPALIVE_CNT, 3) == 0;
}

static int connect_socket(stream *it, sf_error *error)
{
    const int64_t most = SF_WIRE_MOST_BYTES; /* a larger frame closes the connection */
    int status = sf_descriptors_check(SF_ZMQ_DESCRIPTORS, it->endpoint, error);
    if (status != SF_OK)
        return status;
    it->context = zmq_ctx_new();
    if (it->context != NULL)
        it->socket = zmq_socket(it->context, ZMQ_SUB);
    if (it->socket == NULL || set_option(it, ZMQ_RCVHWM, QUEUE_FRAMES) != 0 ||
        set_option(it, ZMQ_LINGER, 0) != 0 || !keep_alive(it) ||
        zmq_setsockopt(it->socket, ZMQ_MAXMSGSIZE, &most, sizeof most) != 0 ||
        zmq_setsockopt(it->socket, ZMQ_SUBSCRIBE, "", 0) != 0)
        return sf_fail(error, SF_UNAVAILABLE, it->endpoint, "cannot make a ZeroMQ socket: %s",
                       zmq_strerror(zmq_errno()));
    status = sf_byte_guard_open(&it->guard, it->context, it->socket, it->endpoint, error);
    if (status != SF_OK)
        return status;
    if (zmq_connect(it->socket, it->endpoint) != 0)
        return sf_fail(error, SF_USAGE, it->endpoint,
                       "is no ZeroMQ endpoint to connect to (%s): expected tcp://HOST:PORT or ipc://PATH",
                       zmq_strerror(zmq_errno()));
    return SF_OK;
}

/* ---- waiting for the first hello ---- */

/* What came instead of a stream, if anything did. */
static int refuse(const stream *it, int timeout_ms, sf_error *error)
{
    if (it->decoder->fault[0] != '\0')
        return sf_fail(error, SF_DATA, it->endpoint,
                       "what comes from there is no synfire stream: %s; is another program sending?",
                       it->decoder->fault);
    return sf_fail(
        error, SF_UNAVAILABLE, it->endpoint,
        "no stream came within %g s: start its sender, as `synfire play RECORDING --to %s`, or correct the "
        "endpoint",
        timeout_ms * 1e-3, it->endpoint);
}

/* Until the hello came; what was left out before it is forgotten. */
static int wait_for_hello(stream *it, int timeout_ms, const sf_progress *progress, sf_error *error)
{
    int64_t start = sf_clock_monotonic_ns();
    int64_t deadline = timeout_ms < 0 ? INT64_MAX : start + timeout_ms * SF_MILLISECOND;
    sf_batch hello;
    zmq_msg_t message;
    zmq_msg_init(&message);
    int status = SF_AGAIN;
    while (status == SF_AGAIN) {
        int64_t now = sf_clock_monotonic_ns(), look = now + PATIENCE_MS * SF_MILLISECOND;
        status = receive(it, &message, deadline < look ? deadline : look, error);
        if (status == SF_OK)
            status = sf_decoder_next(it->decoder, &hello, error);
        count_cuts(it);
        if (status == SF_AGAIN && now >= deadline)
            status = refuse(it, timeout_ms, error);
        else if (status == SF_AGAIN &&
                 !sf_progress_update(progress, "waiting for the stream", (double)(now - start) * 1e-9,
                                     (double)timeout_ms * 1e-3))
            status = sf_fail(error, SF_CANCELLED, it->endpoint, "stopped");
    }
    zmq_msg_close(&message);
    return status;
}

static int open_decoder(stream *it, sf_error *error)
{
    const sf_decoder_options options = {
        .size = sizeof options, .protocol = sf_decoder_synfire.name, .name = it->endpoint};
    return sf_decoder_open(&it->decoder, &options, error);
}

int sf_stream_open(sf_source **out, const char *endpoint, int timeout_ms, const sf_progress *progress,
                   sf_error *error)
{
    *out = NULL;
    stream *it = sf_alloc(1, sizeof *it);
    if (it == NULL)
        return sf_fail_memory(error);
    it->source.kind = &sf_source_zmq;
    snprintf(it->source.name, sizeof it->source.name, "%s", endpoint);
    snprintf(it->endpoint, sizeof it->endpoint, "%s", endpoint);
    int status = open_decoder(it, error);
    if (status == SF_OK)
        status = connect_socket(it, error);
    if (status == SF_OK)
        status = wait_for_hello(it, timeout_ms, progress, error);
    if (status != SF_OK) {
        stream_close(&it->source);
        return status;
    }
    const sf_decoder *decoder = it->decoder;
    it->source.units = decoder->about.units; /* borrowed; about owns them */
    it->source.origin = &decoder->about;
    it->source.can_wait = decoder->can_wait;
    it->source.virtual_clock = decoder->virtual_clock;
    it->source.own_pace = decoder->own_pace;
    *out = &it->source;
    return SF_OK;
}
