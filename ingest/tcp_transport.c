/* SPDX-License-Identifier: Apache-2.0 */
/* Connects to a TCP server and takes its bytes; where it is not there, or goes, it is tried again. */
#include "core/clock.h"
#include "core/error.h"
#include "core/log.h"
#include "core/memory.h"
#include "ingest/tcp.h"
#include "ingest/transport.h"
#include "io/descriptors.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define AGAIN_NS (SF_SECOND / 2)
#define CHUNK 65536 /* bytes handed over at once: what a sender asks for is no larger */

typedef struct client {
    sf_transport transport;
    struct addrinfo *addresses;
    char endpoint[256];
    int socket;      /* -1: none */
    bool is_pending; /* is being connected */
    atomic_bool connected;
    int64_t again_ns;
    char bytes[CHUNK];
} client;

static void hang_up(client *it, sf_decoder *decoder, int64_t now_ns)
{
    if (atomic_exchange(&it->connected, false)) {
        sf_log(SF_LOG_WARNING, "%s: the connection ended; connecting again", it->endpoint);
        sf_decoder_break(decoder);
    }
    if (it->socket >= 0)
        close(it->socket);
    it->socket = -1;
    it->again_ns = now_ns + AGAIN_NS;
}

static void call(client *it, sf_decoder *decoder, int64_t now_ns)
{
    const struct addrinfo *to = it->addresses;
    it->socket = socket(to->ai_family, to->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, to->ai_protocol);
    const int yes = 1;
    if (it->socket >= 0)
        setsockopt(it->socket, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
    it->is_pending = it->socket >= 0 && connect(it->socket, to->ai_addr, to->ai_addrlen) != 0;
    if (it->socket < 0 || (it->is_pending && errno != EINPROGRESS))
        hang_up(it, decoder, now_ns);
    else if (!it->is_pending)
        atomic_store(&it->connected, true);
}

/* Sleeps where there is nothing to wait on. */
static void wait_for_socket(const client *it, int64_t now_ns, int64_t until_ns)
{
    if (until_ns <= now_ns)
        return;
    if (it->socket < 0) {
        sf_clock_sleep_until(until_ns < it->again_ns ? until_ns : it->again_ns);
        return;
    }
    struct pollfd waiting = {.fd = it->socket, .events = it->is_pending ? POLLOUT : POLLIN};
    poll(&waiting, 1, (int)((until_ns - now_ns + SF_MILLISECOND - 1) / SF_MILLISECOND));
}

static void finish_call(client *it, sf_decoder *decoder, int64_t now_ns)
{
    struct pollfd waiting = {.fd = it->socket, .events = POLLOUT};
    int failure = 0;
    socklen_t size = sizeof failure;
    if (poll(&waiting, 1, 0) <= 0)
        return;
    it->is_pending = false;
    if (getsockopt(it->socket, SOL_SOCKET, SO_ERROR, &failure, &size) != 0 || failure != 0)
        hang_up(it, decoder, now_ns);
    else
        atomic_store(&it->connected, true);
}

static int receive(sf_transport *transport, sf_decoder *decoder, int64_t deadline_ns, sf_error *error)
{
    client *it = (client *)transport;
    for (bool waited = false;; waited = true) {
        int64_t now = sf_clock_monotonic_ns();
        if (it->socket < 0 && now >= it->again_ns)
            call(it, decoder, now);
        if (it->socket >= 0 && it->is_pending)
            finish_call(it, decoder, now);
        if (atomic_load(&it->connected)) {
            ssize_t size = recv(it->socket, it->bytes, sizeof it->bytes, 0);
            if (size > 0)
                return sf_decoder_feed(decoder, it->bytes, (size_t)size, SF_FEED_BYTES, error);
            if (size == 0 || (errno != EAGAIN && errno != EINTR))
                hang_up(it, decoder, now);
        }
        if (now >= deadline_ns || (waited && errno == EINTR))
            return SF_AGAIN;
        wait_for_socket(it, now, deadline_ns);
    }
}

static bool is_connected(const sf_transport *transport)
{
    return atomic_load(&((const client *)transport)->connected);
}

static void close_client(sf_transport *transport)
{
    client *it = (client *)transport;
    if (it->socket >= 0)
        close(it->socket);
    if (it->addresses != NULL)
        freeaddrinfo(it->addresses);
    sf_free(it);
}

static int open_client(sf_transport **out, const sf_transport_settings *settings, sf_error *error)
{
    *out = NULL;
    client *it = sf_alloc(1, sizeof *it);
    if (it == NULL)
        return sf_fail_memory(error);
    it->transport.kind = &sf_transport_tcp;
    it->socket = -1;
    snprintf(it->endpoint, sizeof it->endpoint, "%s", settings->endpoint);
    int status = sf_descriptors_check(1, it->endpoint, error);
    if (status == SF_OK)
        status = sf_tcp_addresses(&it->addresses, it->endpoint, false, error);
    if (status != SF_OK) {
        close_client(&it->transport);
        return status;
    }
    *out = &it->transport;
    return SF_OK;
}

const sf_transport_kind sf_transport_tcp = {
    .descriptors = 1,
    .open = open_client,
    .receive = receive,
    .connected = is_connected,
    .close = close_client,
};
