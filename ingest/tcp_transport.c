/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connects to a TCP server and takes its bytes; where it is not there, or goes, it is tried again.
 *
 * A rig that has room for one client may leave its connection open and silent, and listen anew (Disconnect
 * and Connect of Intan's RHX). So while the connection is silent another one is tried beside it: the first
 * that sends is kept, and the other one closed.
 */
#include "core/clock.h"
#include "core/error.h"
#include "core/log.h"
#include "core/memory.h"
#include "ingest/tcp.h"
#include "ingest/transport.h"
#include "io/descriptors.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define AGAIN_NS (SF_SECOND / 2)
#define SILENT_NS (2 * SF_SECOND) /* then another connection is tried */
#define CHUNK 65536               /* bytes handed over at once: what a sender asks for is no larger */

/* A connection. */
typedef struct connection {
    int socket;      /* -1: none */
    bool is_pending; /* is being connected */
    int64_t again_ns;
} connection;

typedef struct client {
    sf_transport transport;
    struct addrinfo *addresses;
    char endpoint[256];
    connection first, other; /* the second is tried while the first is silent */
    int64_t heard_ns;
    uint64_t ended;   /* connections, so far */
    bool was_advised; /* of this silence */
    atomic_bool connected;
    char bytes[CHUNK];
} client;

/* ---- one connection ---- */

static void end_connection(connection *it, int64_t now_ns)
{
    if (it->socket >= 0) close(it->socket);
    *it = (connection){.socket = -1, .again_ns = now_ns + AGAIN_NS};
}

static bool is_open(const connection *it)
{
    return it->socket >= 0 && !it->is_pending;
}

/* Begins to connect, or sees whether it has; errno of why it cannot be, 0 where it can or may. */
static int call(connection *it, const struct addrinfo *to, int64_t now_ns)
{
    const int yes = 1;
    int failure = 0;
    socklen_t size = sizeof failure;
    struct pollfd waiting = {.fd = it->socket, .events = POLLOUT};
    if (is_open(it) || (it->socket < 0 && now_ns < it->again_ns) ||
        (it->is_pending && poll(&waiting, 1, 0) <= 0))
        return 0;
    if (it->socket < 0) {
        it->socket = socket(to->ai_family, to->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, to->ai_protocol);
        if (it->socket >= 0) setsockopt(it->socket, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
        it->is_pending = it->socket >= 0 && connect(it->socket, to->ai_addr, to->ai_addrlen) != 0;
        failure = it->socket < 0 || (it->is_pending && errno != EINPROGRESS) ? errno : 0;
    } else {
        failure = getsockopt(it->socket, SOL_SOCKET, SO_ERROR, &failure, &size) != 0 ? errno : failure;
        it->is_pending = false;
    }
    if (failure != 0) end_connection(it, now_ns);
    return failure;
}

/* Bytes that came; 0: none yet; -1: it ended. */
static ssize_t read_connection(const connection *it, char *bytes, size_t most)
{
    ssize_t size = recv(it->socket, bytes, most, 0);
    if (size > 0) return size;
    return size < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
}

/* ---- two of them ---- */

static void call_first(client *it, int64_t now_ns)
{
    int failure = call(&it->first, it->addresses, now_ns);
    if (failure != 0) it->transport.seen.failure = failure;
    if (is_open(&it->first)) {
        it->transport.seen.failure = 0;
        it->transport.seen.connections++;
    }
    it->heard_ns = now_ns;
    atomic_store(&it->connected, is_open(&it->first));
}

static void hang_up(client *it, sf_decoder *decoder, int64_t now_ns)
{
    it->transport.seen.ended = ++it->ended;
    if ((it->ended & (it->ended - 1)) == 0) /* a server may close each at once */
        sf_log(SF_LOG_WARNING, "%s: the connection ended (%" PRIu64 " so far); connecting again",
               it->endpoint, it->ended);
    sf_decoder_break(decoder);
    end_connection(&it->first, now_ns);
    if (it->other.socket >= 0) {
        it->first = it->other;
        it->other = (connection){.socket = -1};
    }
    atomic_store(&it->connected, is_open(&it->first));
}

static ssize_t read_first(client *it, sf_decoder *decoder, int64_t now_ns)
{
    ssize_t size = read_connection(&it->first, it->bytes, sizeof it->bytes);
    if (size < 0) hang_up(it, decoder, now_ns);
    if (size > 0) {
        it->heard_ns = now_ns;
        it->was_advised = false;
        end_connection(&it->other, now_ns);
    }
    return size;
}

/* What came by another connection, to which this goes over. */
static ssize_t read_other(client *it, sf_decoder *decoder, int64_t now_ns)
{
    if (now_ns - it->heard_ns < SILENT_NS) return 0;
    int failure = call(&it->other, it->addresses, now_ns);
    if (failure == ECONNREFUSED && !it->was_advised) {
        it->was_advised = true;
        sf_log(
            SF_LOG_WARNING,
            "%s: the connection is silent, and nothing else listens there: where the rig was disconnected, "
            "let it listen again (Connect)",
            it->endpoint);
    }
    ssize_t size = is_open(&it->other) ? read_connection(&it->other, it->bytes, sizeof it->bytes) : 0;
    if (size < 0) end_connection(&it->other, now_ns);
    if (size <= 0) return 0;
    sf_log(SF_LOG_WARNING, "%s: the connection was silent, and a new one is not: it is read from here on",
           it->endpoint);
    sf_decoder_break(decoder);
    end_connection(&it->first, now_ns);
    it->first = it->other;
    it->other = (connection){.socket = -1};
    it->heard_ns = now_ns;
    return size;
}

/* Sleeps where there is nothing to wait on. */
static void wait_for_sockets(const client *it, int64_t now_ns, int64_t until_ns)
{
    if (until_ns <= now_ns) return;
    if (it->first.socket < 0) {
        sf_clock_sleep_until(until_ns < it->first.again_ns ? until_ns : it->first.again_ns);
        return;
    }
    struct pollfd waiting[2];
    nfds_t count = 0;
    for (int i = 0; i < 2; i++) {
        const connection *at = i == 0 ? &it->first : &it->other;
        if (at->socket >= 0)
            waiting[count++] = (struct pollfd){.fd = at->socket, .events = at->is_pending ? POLLOUT : POLLIN};
    }
    poll(waiting, count, (int)((until_ns - now_ns + SF_MILLISECOND - 1) / SF_MILLISECOND));
}

static int receive(sf_transport *transport, sf_decoder *decoder, int64_t deadline_ns, sf_error *error)
{
    client *it = (client *)transport;
    for (bool waited = false;; waited = true) {
        int64_t now = sf_clock_monotonic_ns();
        if (!is_open(&it->first)) call_first(it, now);
        ssize_t size = is_open(&it->first) ? read_first(it, decoder, now) : 0;
        if (size == 0 && is_open(&it->first)) size = read_other(it, decoder, now);
        if (size > 0) return sf_decoder_feed(decoder, it->bytes, (size_t)size, SF_FEED_BYTES, error);
        if (now >= deadline_ns || (waited && errno == EINTR)) return SF_AGAIN;
        wait_for_sockets(it, now, deadline_ns);
    }
}

static bool is_connected(const sf_transport *transport)
{
    return atomic_load(&((const client *)transport)->connected);
}

static void close_client(sf_transport *transport)
{
    client *it = (client *)transport;
    end_connection(&it->first, 0);
    end_connection(&it->other, 0);
    if (it->addresses != NULL) freeaddrinfo(it->addresses);
    sf_free(it);
}

/* The connection itself is tried again and again, while it is waited for. */
static int find_server(sf_transport *transport, sf_error *error)
{
    client *it = (client *)transport;
    int status = sf_descriptors_check(2, it->endpoint, error);
    return status == SF_OK ? sf_tcp_addresses(&it->addresses, it->endpoint, false, error) : status;
}

static int open_client(sf_transport **out, const sf_transport_settings *settings, sf_error *error)
{
    *out = NULL;
    client *it = sf_alloc(1, sizeof *it);
    if (it == NULL) return sf_fail_memory(error);
    it->transport.kind = &sf_transport_tcp;
    it->first.socket = it->other.socket = -1;
    snprintf(it->endpoint, sizeof it->endpoint, "%s", settings->endpoint);
    int status = sf_tcp_check(it->endpoint, error);
    if (status != SF_OK) {
        close_client(&it->transport);
        return status;
    }
    *out = &it->transport;
    return SF_OK;
}

const sf_transport_kind sf_transport_tcp = {
    .descriptors = 2,
    .open = open_client,
    .connect = find_server,
    .receive = receive,
    .connected = is_connected,
    .close = close_client,
};
