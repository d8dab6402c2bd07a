/* SPDX-License-Identifier: Apache-2.0 */
#include "live/asker.h"

#include "core/error.h"
#include "core/json.h"
#include "live/control_request.h"

#include <string.h>
#include <zmq.h>

#define MOST_BYTES (INT64_C(8) << 20) /* a status of 100,000 units is a quarter of it */

/* A request that is never answered, as when the run ends, must not hold up the next. */
static int connect_socket(sf_asker *asker, const char *topic, const sf_curve_client *curve, sf_error *error)
{
    int one = 1, none = 0;
    int64_t most = MOST_BYTES;
    asker->socket = zmq_socket(asker->context, topic == NULL ? ZMQ_REQ : ZMQ_SUB);
    if (asker->socket == NULL)
        return sf_fail(error, SF_UNAVAILABLE, asker->endpoint, "cannot make a socket: %s",
                       zmq_strerror(zmq_errno()));
    zmq_setsockopt(asker->socket, ZMQ_LINGER, &none, sizeof none);
    zmq_setsockopt(asker->socket, ZMQ_MAXMSGSIZE, &most, sizeof most);
    if (topic == NULL) {
        zmq_setsockopt(asker->socket, ZMQ_REQ_RELAXED, &one, sizeof one);
        zmq_setsockopt(asker->socket, ZMQ_REQ_CORRELATE, &one, sizeof one);
    } else {
        zmq_setsockopt(asker->socket, ZMQ_SUBSCRIBE, topic, strlen(topic));
    }
    int status = sf_curve_connect(asker->socket, curve, error);
    if (status != SF_OK) return status;
    if (zmq_connect(asker->socket, asker->endpoint) != 0)
        return sf_fail(error, SF_USAGE, asker->endpoint, "cannot connect: %s", zmq_strerror(zmq_errno()));
    return SF_OK;
}

int sf_asker_open(sf_asker *asker, const char *endpoint, const char *topic, const sf_curve_client *curve,
                  sf_error *error)
{
    *asker = (sf_asker){.context = zmq_ctx_new(), .endpoint = endpoint};
    int status = asker->context != NULL ? connect_socket(asker, topic, curve, error) : sf_fail_memory(error);
    if (status != SF_OK) sf_asker_close(asker);
    return status;
}

void sf_asker_close(sf_asker *asker)
{
    if (asker->socket != NULL) zmq_close(asker->socket);
    if (asker->context != NULL) zmq_ctx_term(asker->context);
    *asker = (sf_asker){0};
}

int sf_asker_request(sf_text *request, const char *token_file, const char *command, const char *key,
                     const char *value, sf_error *error)
{
    char token[SF_TOKEN_MOST + 1];
    int status = sf_token_read(token, token_file, error);
    if (status != SF_OK) return status;
    sf_json json = sf_json_start(request);
    sf_json_object(&json, NULL);
    sf_json_string(&json, "token", token);
    sf_json_string(&json, "command", command);
    if (key != NULL) sf_json_string(&json, key, value);
    sf_json_end_object(&json);
    return request->failed ? sf_fail_memory(error) : SF_OK;
}

int sf_asker_send(const sf_asker *asker, const sf_text *request, sf_error *error)
{
    if (zmq_send(asker->socket, request->data, request->length, ZMQ_DONTWAIT) >= 0 || zmq_errno() == EAGAIN)
        return SF_OK;
    return sf_fail(error, SF_IO, asker->endpoint, "cannot ask: %s", zmq_strerror(zmq_errno()));
}

/* The last part of a message is what counts: a subscriber gets its topic first. */
int sf_asker_receive(const sf_asker *asker, int timeout_ms,
                     int (*take)(void *user, const char *bytes, size_t length, sf_error *error), void *user,
                     sf_error *error)
{
    zmq_pollitem_t waiting = {.socket = asker->socket, .events = ZMQ_POLLIN};
    if (zmq_poll(&waiting, 1, timeout_ms) <= 0) return SF_AGAIN;
    zmq_msg_t part;
    zmq_msg_init(&part);
    int got;
    do
        got = zmq_msg_recv(&part, asker->socket, ZMQ_DONTWAIT);
    while (got >= 0 && zmq_msg_more(&part));
    int status = got >= 0 ? take(user, zmq_msg_data(&part), zmq_msg_size(&part), error) : SF_AGAIN;
    zmq_msg_close(&part);
    return status;
}
