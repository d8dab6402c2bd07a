/* SPDX-License-Identifier: Apache-2.0 */
/* TCP server that sends the same bytes to all connected clients, and waits for the slowest. */
#include "core/error.h"
#include "core/memory.h"
#include "ingest/sending.h"
#include "ingest/tcp.h"
#include "io/descriptors.h"
#include "io/endpoint.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MOST_CLIENTS 16
#define MOST_BYTES 65536 /* of a message */
#define WAIT_MS 50

typedef struct server {
    sf_sending sending;
    int listener, clients[MOST_CLIENTS];
    size_t client_count;
    size_t sent[MOST_CLIENTS]; /* of the message that waits, by client */
    char message[MOST_BYTES];
} server;

static int64_t update(sf_sending *sending)
{
    server *it = (server *)sending;
    const int yes = 1;
    for (int peer; it->client_count < MOST_CLIENTS &&
                   (peer = accept4(it->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;) {
        setsockopt(peer, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        it->sent[it->client_count] = 0;
        it->clients[it->client_count++] = peer;
        sending->joined++;
    }
    return (int64_t)it->client_count;
}

static void drop_client(server *it, size_t index)
{
    close(it->clients[index]);
    it->client_count--;
    it->clients[index] = it->clients[it->client_count];
    it->sent[index] = it->sent[it->client_count];
}

/* Continues sending to one client; true once it has everything, or is gone. */
static bool send_rest(server *it, size_t *index, size_t size)
{
    size_t *sent = &it->sent[*index];
    while (*sent < size) {
        ssize_t count = send(it->clients[*index], it->message + *sent, size - *sent, MSG_NOSIGNAL);
        if (count < 0 && errno == EAGAIN) return false;
        if (count < 0 && errno != EINTR) {
            drop_client(it, (*index)--);
            return true;
        }
        *sent += count > 0 ? (size_t)count : 0;
    }
    return true;
}

/* When called again with the same message, continues where each client left off. */
static int put(sf_sending *sending, const sf_part *parts, size_t count, sf_error *error)
{
    server *it = (server *)sending;
    size_t size = 0;
    int waits_for = -1;
    for (size_t i = 0; i < count; size += parts[i++].size) {
        if (parts[i].size > MOST_BYTES - size)
            return sf_fail(error, SF_IO, sending->address, "a message of more than %d bytes", MOST_BYTES);
        memcpy(it->message + size, parts[i].data, parts[i].size);
    }
    for (size_t i = 0; i < it->client_count; i++)
        if (!send_rest(it, &i, size)) waits_for = it->clients[i];
    if (waits_for >= 0) {
        struct pollfd waiting = {.fd = waits_for, .events = POLLOUT};
        poll(&waiting, 1, WAIT_MS);
        return SF_SENT_AGAIN;
    }
    memset(it->sent, 0, sizeof it->sent);
    return SF_SENT;
}

static void close_server(sf_sending *sending, int linger_ms)
{
    server *it = (server *)sending;
    (void)linger_ms; /* the system still sends what it accepted */
    while (it->client_count > 0)
        drop_client(it, it->client_count - 1);
    if (it->listener >= 0) close(it->listener);
    sf_free(it);
}

static int listen_at(server *it, const sf_sending_settings *settings, sf_error *error)
{
    char place[SF_TCP_PLACE_SIZE];
    if (!settings->insecure && sf_endpoint_is_public(settings->endpoint))
        return sf_endpoint_refuse(settings->endpoint, "--insecure", error);
    int status = sf_tcp_listen(&it->listener, place, settings->endpoint, MOST_CLIENTS, error);
    if (status == SF_OK) snprintf(it->sending.address, sizeof it->sending.address, "tcp://%s", place);
    return status;
}

static int open_server(sf_sending **out, const sf_sending_settings *settings, sf_error *error)
{
    *out = NULL;
    server *it = sf_alloc(1, sizeof *it);
    if (it == NULL) return sf_fail_memory(error);
    it->sending.kind = &sf_sending_tcp;
    it->listener = -1;
    int status = sf_descriptors_check(2, settings->endpoint, error);
    if (status == SF_OK) status = listen_at(it, settings, error);
    if (status != SF_OK) {
        close_server(&it->sending, 0);
        return status;
    }
    *out = &it->sending;
    return SF_OK;
}

const sf_sending_kind sf_sending_tcp = {
    .open = open_server, .update = update, .put = put, .close = close_server};
