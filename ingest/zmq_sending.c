/* SPDX-License-Identifier: Apache-2.0 */
#include "core/error.h"
#include "core/log.h"
#include "core/memory.h"
#include "core/text.h"
#include "ingest/sending.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <synfire/error.h>
#include <zmq.h>

/* ---- answers to what clients ask beside what is published ---- */

#define MOST_BYTES 64000 /* maximum bytes of a request; libzmq closes the connection of a longer one */

/* Answers requests on a ZeroMQ REP socket beside what a sender publishes. */
typedef struct responder {
    void *socket;
    const char *(*answer)(const char *request, size_t size);
    char request[MOST_BYTES];
} responder;

/* before its context; NULL is allowed */
static void responder_close(responder *it)
{
    if (it == NULL) return;
    if (it->socket != NULL) zmq_close(it->socket);
    sf_free(it);
}

static int bind_next(responder *it, const char *address)
{
    const char *colon = strrchr(address, ':');
    const int none = 0;
    const int64_t most = MOST_BYTES;
    char endpoint[280];
    uint64_t port;
    if (strncmp(address, "tcp://", 6) != 0 || !sf_parse_uint(colon + 1, 65534, &port) || it->socket == NULL)
        return -1;
    snprintf(endpoint, sizeof endpoint, "%.*s:%u", (int)(colon - address), address, (unsigned)port + 1);
    if (zmq_setsockopt(it->socket, ZMQ_LINGER, &none, sizeof none) != 0 ||
        zmq_setsockopt(it->socket, ZMQ_MAXMSGSIZE, &most, sizeof most) != 0)
        return -1;
    int bound = zmq_bind(it->socket, endpoint);
    if (bound != 0)
        sf_log(SF_LOG_WARNING, "%s: cannot be bound (%s): heartbeats are not answered", endpoint,
               zmq_strerror(zmq_errno()));
    return bound;
}

/* Binds the port after that of `address`, which is bound (tcp://HOST:PORT). If it is no TCP port, or the next
 * one is in use, logs a warning and sets *out to NULL. */
static int responder_open(responder **out, void *context, const char *address,
                          const char *(*answer)(const char *request, size_t size), sf_error *error)
{
    *out = NULL;
    responder *it = sf_alloc(1, sizeof *it);
    if (it == NULL) return sf_fail_memory(error);
    it->answer = answer;
    it->socket = zmq_socket(context, ZMQ_REP);
    if (bind_next(it, address) != 0)
        responder_close(it);
    else
        *out = it;
    return SF_OK;
}

/* Answers waiting requests. NULL is allowed. */
static void responder_tend(responder *it)
{
    int size;
    while (it != NULL && (size = zmq_recv(it->socket, it->request, MOST_BYTES, ZMQ_DONTWAIT)) >= 0) {
        const char *text = it->answer(it->request, (size_t)size < MOST_BYTES ? (size_t)size : MOST_BYTES);
        zmq_send(it->socket, text, strlen(text), ZMQ_DONTWAIT);
    }
}

/* ---- sending ---- */

#define QUEUE_MESSAGES 1000

typedef struct zmq_sending {
    sf_sending sending;
    sf_zmq_publisher publisher;
    responder *responder; /* NULL: none */
} zmq_sending;

static int64_t update(sf_sending *sending)
{
    zmq_sending *it = (zmq_sending *)sending;
    responder_tend(it->responder);
    int64_t listeners = sf_publisher_update(&it->publisher);
    sending->joined = it->publisher.joined;
    return listeners;
}

static int put(sf_sending *sending, const sf_part *parts, size_t count, sf_error *error)
{
    return sf_publisher_send(&((zmq_sending *)sending)->publisher, parts, count, error);
}

static void close_sending(sf_sending *sending, int linger_ms)
{
    zmq_sending *it = (zmq_sending *)sending;
    responder_close(it->responder);
    sf_publisher_close(&it->publisher, linger_ms);
    sf_free(it);
}

static int open_sending(sf_sending **out, const sf_sending_settings *settings, sf_error *error)
{
    *out = NULL;
    zmq_sending *it = sf_alloc(1, sizeof *it);
    if (it == NULL) return sf_fail_memory(error);
    const sf_publisher_settings wanted = {.endpoint = settings->endpoint,
                                          .queue = QUEUE_MESSAGES,
                                          .lossless = true,
                                          .insecure = settings->insecure,
                                          .permit = "--insecure",
                                          .curve = settings->curve};
    it->sending.kind = &sf_sending_zmq;
    int status = sf_publisher_open(&it->publisher, &wanted, error);
    if (status == SF_OK && settings->answer != NULL)
        status = responder_open(&it->responder, it->publisher.context, it->publisher.address,
                                settings->answer, error);
    snprintf(it->sending.address, sizeof it->sending.address, "%s", it->publisher.address);
    if (status != SF_OK) {
        close_sending(&it->sending, 0);
        return status;
    }
    *out = &it->sending;
    return SF_OK;
}

const sf_sending_kind sf_sending_zmq = {
    .open = open_sending, .update = update, .put = put, .close = close_sending};
