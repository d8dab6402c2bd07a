/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/responder.h"

#include "core/error.h"
#include "core/log.h"
#include "core/memory.h"
#include "core/text.h"

#include <stdio.h>
#include <string.h>
#include <zmq.h>

#define MOST_BYTES 64000 /* of a request; libzmq closes the connection of a longer one */

struct sf_responder {
    void *socket;
    const char *(*answer)(const char *request, size_t size);
    char request[MOST_BYTES];
};

static int bind_next(sf_responder *it, const char *address)
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

int sf_responder_open(sf_responder **out, void *context, const char *address,
                      const char *(*answer)(const char *request, size_t size), sf_error *error)
{
    *out = NULL;
    sf_responder *it = sf_alloc(1, sizeof *it);
    if (it == NULL)
        return sf_fail_memory(error);
    it->answer = answer;
    it->socket = zmq_socket(context, ZMQ_REP);
    if (bind_next(it, address) != 0)
        sf_responder_close(it);
    else
        *out = it;
    return SF_OK;
}

void sf_responder_tend(sf_responder *it)
{
    int size;
    while (it != NULL && (size = zmq_recv(it->socket, it->request, MOST_BYTES, ZMQ_DONTWAIT)) >= 0) {
        const char *text = it->answer(it->request, (size_t)size < MOST_BYTES ? (size_t)size : MOST_BYTES);
        zmq_send(it->socket, text, strlen(text), ZMQ_DONTWAIT);
    }
}

void sf_responder_close(sf_responder *it)
{
    if (it == NULL)
        return;
    if (it->socket != NULL)
        zmq_close(it->socket);
    sf_free(it);
}
