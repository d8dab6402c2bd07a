/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/heartbeat.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/log.h"
#include "core/memory.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <zmq.h>

#define EVERY_NS (2 * SF_SECOND)
#define PATIENCE_NS (10 * SF_SECOND) /* without an answer the socket is made anew */

struct sf_heartbeat {
    void *context, *socket;
    char endpoint[256], uuid[40];
    int64_t due_ns, sent_ns;
    bool is_asked;          /* no answer yet */
    bool is_heard, is_mute; /* as was logged */
};

/* Random, of the fourth kind of RFC 4122. */
static int draw_uuid(sf_heartbeat *it, sf_error *error)
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

static int connect_socket(sf_heartbeat *it)
{
    const int none = 0;
    it->socket = zmq_socket(it->context, ZMQ_REQ);
    it->is_asked = false;
    if (it->socket == NULL || zmq_setsockopt(it->socket, ZMQ_LINGER, &none, sizeof none) != 0)
        return -1;
    return zmq_connect(it->socket, it->endpoint);
}

int sf_heartbeat_open(sf_heartbeat **out, void *context, const char *endpoint, sf_error *error)
{
    *out = NULL;
    sf_heartbeat *it = sf_alloc(1, sizeof *it);
    if (it == NULL)
        return sf_fail_memory(error);
    it->context = context;
    snprintf(it->endpoint, sizeof it->endpoint, "%s", endpoint);
    int status = draw_uuid(it, error);
    if (status == SF_OK && connect_socket(it) != 0)
        status = sf_fail(error, SF_USAGE, endpoint, "is no ZeroMQ endpoint to connect to: %s",
                         zmq_strerror(zmq_errno()));
    if (status != SF_OK) {
        sf_heartbeat_close(it);
        return status;
    }
    *out = it;
    return SF_OK;
}

static void take_answer(sf_heartbeat *it)
{
    char answer[64];
    if (!it->is_asked || zmq_recv(it->socket, answer, sizeof answer, ZMQ_DONTWAIT) < 0)
        return;
    it->is_asked = false;
    if (!it->is_heard || it->is_mute)
        sf_log(SF_LOG_INFO, "%s: the rig answers heartbeats", it->endpoint);
    it->is_heard = true;
    it->is_mute = false;
}

static void send_one(sf_heartbeat *it, int64_t now_ns)
{
    char text[160];
    snprintf(text, sizeof text, "{\"application\": \"synfire\", \"uuid\": \"%s\", \"type\": \"heartbeat\"}",
             it->uuid);
    it->due_ns = now_ns + EVERY_NS;
    it->sent_ns = now_ns;
    it->is_asked = zmq_send(it->socket, text, strlen(text), ZMQ_DONTWAIT) >= 0;
}

void sf_heartbeat_tend(sf_heartbeat *it, int64_t now_ns)
{
    if (it == NULL || it->socket == NULL || now_ns < it->due_ns)
        return;
    take_answer(it);
    if (!it->is_asked) {
        send_one(it, now_ns);
    } else if (now_ns - it->sent_ns >= PATIENCE_NS) {
        if (!it->is_mute)
            sf_log(SF_LOG_WARNING, "%s: the rig does not answer heartbeats; its data is taken all the same",
                   it->endpoint);
        it->is_mute = true;
        zmq_close(it->socket);
        connect_socket(it);
    }
}

void sf_heartbeat_close(sf_heartbeat *it)
{
    if (it == NULL)
        return;
    if (it->socket != NULL)
        zmq_close(it->socket);
    sf_free(it);
}
