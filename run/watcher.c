/* SPDX-License-Identifier: Apache-2.0 */
/* The status of a run that goes on: asked of its control socket, or as a ZeroMQ sink publishes it. */
#include "core/error.h"
#include "core/json.h"
#include "core/memory.h"
#include "io/curve.h"
#include "run/control_request.h"
#include "run/top.h"

#include <stdio.h>
#include <string.h>
#include <zmq.h>

#define MOST_BYTES (INT64_C(8) << 20) /* a status of 100,000 units is a quarter of it */

struct sf_tool_watcher {
    void *context, *socket;
    bool asks; /* a control socket; else a subscriber */
    sf_text request;
    sf_tool_top before,
        told; /* what came last, its `busy` since the start, and as it was told; count 0: nothing yet */
    char endpoint[256];
};

/* ---- opening and closing ---- */

static int write_request(sf_tool_watcher *it, const char *token_file, sf_error *error)
{
    char token[SF_TOKEN_MOST + 1];
    int status = sf_token_read(token, token_file, error);
    if (status != SF_OK)
        return status;
    sf_json json = sf_json_start(&it->request);
    sf_json_object(&json, NULL);
    sf_json_string(&json, "token", token);
    sf_json_string(&json, "command", "status");
    sf_json_end_object(&json);
    return it->request.failed ? sf_fail_memory(error) : SF_OK;
}

/* A request that is never answered, as when the run ends, must not hold up the next. */
static int connect_socket(sf_tool_watcher *it, const sf_curve_client *curve, sf_error *error)
{
    int one = 1, none = 0;
    int64_t most = MOST_BYTES;
    it->socket = zmq_socket(it->context, it->asks ? ZMQ_REQ : ZMQ_SUB);
    if (it->socket == NULL)
        return sf_fail(error, SF_UNAVAILABLE, it->endpoint, "cannot make a socket: %s",
                       zmq_strerror(zmq_errno()));
    zmq_setsockopt(it->socket, ZMQ_LINGER, &none, sizeof none);
    zmq_setsockopt(it->socket, ZMQ_MAXMSGSIZE, &most, sizeof most);
    if (it->asks) {
        zmq_setsockopt(it->socket, ZMQ_REQ_RELAXED, &one, sizeof one);
        zmq_setsockopt(it->socket, ZMQ_REQ_CORRELATE, &one, sizeof one);
    } else {
        zmq_setsockopt(it->socket, ZMQ_SUBSCRIBE, "status", strlen("status"));
    }
    int status = sf_curve_connect(it->socket, curve, error);
    if (status != SF_OK)
        return status;
    if (zmq_connect(it->socket, it->endpoint) != 0)
        return sf_fail(error, SF_USAGE, it->endpoint, "cannot connect: %s", zmq_strerror(zmq_errno()));
    return SF_OK;
}

int sf_tool_watch(sf_tool_watcher **out, const sf_tool_watching *how, sf_error *error)
{
    *out = NULL;
    sf_tool_watcher *it = sf_alloc(1, sizeof *it);
    if (it == NULL)
        return sf_fail_memory(error);
    snprintf(it->endpoint, sizeof it->endpoint, "%s", how->endpoint);
    it->asks = how->token_file != NULL;
    it->context = zmq_ctx_new();
    int status = it->context != NULL ? SF_OK : sf_fail_memory(error);
    if (status == SF_OK && it->asks)
        status = write_request(it, how->token_file, error);
    if (status == SF_OK)
        status = connect_socket(it, &(sf_curve_client){how->key, how->server_key}, error);
    if (status == SF_OK)
        *out = it;
    else
        sf_tool_watch_close(it);
    return status;
}

void sf_tool_watch_close(sf_tool_watcher *it)
{
    if (it == NULL)
        return;
    if (it->socket != NULL)
        zmq_close(it->socket);
    if (it->context != NULL)
        zmq_ctx_term(it->context);
    sf_text_free(&it->request);
    sf_free(it);
}

/* ---- asking ---- */

/* The last part of a message is what counts: a subscriber gets its topic first. */
static int receive(sf_tool_watcher *it, sf_tool_top *top, sf_error *error)
{
    zmq_msg_t part;
    zmq_msg_init(&part);
    int got;
    do
        got = zmq_msg_recv(&part, it->socket, ZMQ_DONTWAIT);
    while (got >= 0 && zmq_msg_more(&part));
    int status = got >= 0 ? sf_top_read(top, zmq_msg_data(&part), zmq_msg_size(&part), error) : SF_AGAIN;
    zmq_msg_close(&part);
    return status;
}

static bool is_of_another_run(const sf_tool_top *top, const sf_tool_top *before)
{
    return before->count == 0 || top->run_s < before->run_s || strcmp(top->stream, before->stream) != 0;
}

int sf_tool_watch_next(sf_tool_watcher *it, sf_tool_top *top, int timeout_ms, sf_error *error)
{
    if (it->asks && zmq_send(it->socket, it->request.data, it->request.length, ZMQ_DONTWAIT) < 0 &&
        zmq_errno() != EAGAIN)
        return sf_fail(error, SF_IO, it->endpoint, "cannot ask: %s", zmq_strerror(zmq_errno()));
    zmq_pollitem_t waiting = {.socket = it->socket, .events = ZMQ_POLLIN};
    if (zmq_poll(&waiting, 1, timeout_ms) <= 0)
        return SF_AGAIN;
    sf_error reason = {0};
    int status = receive(it, top, &reason);
    if (status != SF_OK)
        return status == SF_AGAIN ? status
                                  : sf_fail(error, (sf_status)status, it->endpoint, "%s", reason.text);
    if (!is_of_another_run(top, &it->before) && top->run_s <= it->before.run_s) {
        *top = it->told; /* asked sooner than the run has something new */
        return SF_OK;
    }
    sf_tool_top came = *top;
    if (!is_of_another_run(top, &it->before))
        sf_top_since(top, &it->before);
    it->before = came;
    it->told = *top;
    return SF_OK;
}
