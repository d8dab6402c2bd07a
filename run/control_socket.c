/* SPDX-License-Identifier: Apache-2.0 */
#include "run/control_socket.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/json.h"
#include "core/log.h"
#include "core/memory.h"
#include "core/thread.h"
#include "io/curve.h"
#include "io/endpoint.h"
#include "run/control_request.h"
#include "run/live_state.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <zmq.h>

#define POLL_MS 50
#define WRONG_TOKEN_MS 200 /* so long a guess takes at least */

struct sf_control_socket {
    const sf_live_options *options;
    sf_pipeline *pipeline;
    void *context, *socket;
    sf_curve_gate *gate; /* NULL: whoever has the token is answered */
    char address[256], token[SF_TOKEN_MOST + 1];
    sf_thread thread;
    sf_control_calls calls;
    atomic_bool stopping;
    atomic_bool started;  /* nothing waits for `start` (any more) */
    pthread_mutex_t lock; /* of status */
    sf_message *status;   /* the newest; NULL: none yet */
    sf_text answer;
};

/* ---- what is asked ---- */

static int order(sf_control_socket *it, sf_command command, const char *trigger, sf_error *error)
{
    command.trigger = SF_ALL_TRIGGERS;
    if (trigger[0] != '\0')
        command.trigger = sf_live_find_trigger(it->options, trigger);
    if (trigger[0] != '\0' && command.trigger == it->options->trigger_count)
        return sf_fail(error, SF_USAGE, "trigger", "no trigger is named '%s'", trigger);
    if (sf_pipeline_order(it->pipeline, &command))
        return SF_OK;
    return sf_fail(error, SF_AGAIN, NULL, "too many commands wait: ask again");
}

static int obey(sf_control_socket *it, const sf_request *request, sf_error *error)
{
    sf_command command = {.arm_ns = sf_seconds_to_ns(request->seconds)};
    switch (request->kind) {
    case SF_REQUEST_ARM:
        command.kind = SF_COMMAND_ARM;
        return order(it, command, request->trigger, error);
    case SF_REQUEST_RENEW:
        command.kind = SF_COMMAND_RENEW;
        return order(it, command, request->trigger, error);
    case SF_REQUEST_DISARM:
        command.kind = SF_COMMAND_DISARM;
        return order(it, command, request->trigger, error);
    case SF_REQUEST_MARK:
        command.kind = SF_COMMAND_MARK;
        memcpy(command.text, request->text, sizeof command.text);
        return order(it, command, "", error);
    case SF_REQUEST_STOP:
        sf_pipeline_stop(it->pipeline);
        return SF_OK;
    case SF_REQUEST_START:
        atomic_store(&it->started, true);
        return SF_OK;
    case SF_REQUEST_RELOAD:
        if (it->calls.reload == NULL)
            return sf_fail(error, SF_USAGE, NULL, "this run has no file to read again");
        return it->calls.reload(it->calls.user, error);
    case SF_REQUEST_STATUS:
    case SF_REQUEST_AGGREGATE:
    case SF_REQUEST_STATE:
        return SF_OK;
    }
    return SF_OK;
}

/* ---- what is answered ---- */

static void answer_status(sf_control_socket *it)
{
    pthread_mutex_lock(&it->lock);
    sf_message *status = it->status;
    if (status != NULL)
        sf_message_keep(status);
    pthread_mutex_unlock(&it->lock);
    sf_text_printf(&it->answer, "{\"ok\":true,\"status\":");
    if (status != NULL)
        sf_message_to_json(&it->answer, status, sf_pipeline_stream(it->pipeline));
    else
        sf_text_printf(&it->answer, "null");
    sf_text_printf(&it->answer, "}");
    sf_message_release(status);
}

static int answer_density(sf_control_socket *it, const sf_request *request, sf_error *error)
{
    sf_density_copy copy;
    int status = sf_pipeline_copy_density(it->pipeline, &copy, request->density, error);
    if (status == SF_OK)
        status = sf_live_state_answer(&it->answer, &copy, request, error);
    sf_density_copy_close(&copy);
    return status;
}

static void answer_error(sf_control_socket *it, const sf_error *error)
{
    char sentence[sizeof error->place + sizeof error->text + 4];
    bool placed = error->place[0] != '\0';
    snprintf(sentence, sizeof sentence, "%s%s%s", error->place, placed ? ": " : "", error->text);
    sf_json json = sf_json_start(&it->answer);
    sf_json_object(&json, NULL);
    sf_json_bool(&json, "ok", false);
    sf_json_string(&json, "error", sentence);
    sf_json_end_object(&json);
}

static void answer(sf_control_socket *it, const char *bytes, size_t length, bool whole)
{
    sf_request request = {0};
    sf_error error = {0};
    sf_text_clear(&it->answer);
    int status = whole ? sf_request_parse(&request, bytes, length, it->token, &error)
                       : sf_fail(&error, SF_USAGE, NULL, "expected one frame");
    if (status == SF_UNAVAILABLE) {
        sf_log(SF_LOG_WARNING, "control: a request with a wrong token");
        sf_clock_sleep_until(sf_clock_monotonic_ns() + WRONG_TOKEN_MS * SF_MILLISECOND);
    }
    if (status == SF_OK)
        status = obey(it, &request, &error);
    bool of_density = request.kind == SF_REQUEST_AGGREGATE || request.kind == SF_REQUEST_STATE;
    if (status == SF_OK && of_density)
        status = answer_density(it, &request, &error);
    if (status != SF_OK)
        answer_error(it, &error);
    else if (request.kind == SF_REQUEST_STATUS)
        answer_status(it);
    else if (!of_density)
        sf_text_printf(&it->answer, "{\"ok\":true}");
}

static void serve(sf_control_socket *it)
{
    zmq_msg_t request;
    zmq_msg_init(&request);
    if (zmq_msg_recv(&request, it->socket, ZMQ_DONTWAIT) >= 0) {
        bool whole = !zmq_msg_more(&request);
        while (zmq_msg_more(&request) && zmq_msg_recv(&request, it->socket, 0) >= 0)
            ;
        answer(it, zmq_msg_data(&request), zmq_msg_size(&request), whole);
        const char *text = it->answer.failed ? "{\"ok\":false,\"error\":\"memory is out\"}" : it->answer.data;
        zmq_send(it->socket, text, strlen(text), ZMQ_DONTWAIT);
        if (it->answer.failed)
            sf_text_free(&it->answer);
    }
    zmq_msg_close(&request);
}

static void *run(void *argument)
{
    sf_control_socket *it = argument;
    while (!atomic_load(&it->stopping)) {
        zmq_pollitem_t waiting = {.socket = it->socket, .events = ZMQ_POLLIN};
        if (zmq_poll(&waiting, 1, POLL_MS) > 0)
            serve(it);
    }
    return NULL;
}

/* ---- opening and closing ---- */

static int close_socket(void *self, sf_error *error)
{
    (void)error;
    sf_control_socket *it = self;
    atomic_store(&it->stopping, true);
    sf_thread_join(&it->thread);
    if (it->socket != NULL)
        zmq_close(it->socket);
    sf_curve_gate_close(it->gate);
    if (it->context != NULL)
        zmq_ctx_term(it->context);
    sf_message_release(it->status);
    pthread_mutex_destroy(&it->lock);
    sf_text_free(&it->answer);
    sf_free(it);
    return SF_OK;
}

static int bind_socket(sf_control_socket *it, const sf_control_settings *settings, sf_error *error)
{
    const sf_curve_server curve = {settings->key, settings->clients};
    const char *endpoint = settings->endpoint;
    bool has_keys;
    int status = sf_curve_server_wanted(&has_keys, &curve, error);
    if (status != SF_OK)
        return status;
    if (!has_keys && sf_endpoint_is_public(endpoint))
        return sf_fail(
            error, SF_CONFIG, "endpoint",
            "found '%.80s', to which other machines could connect: expected one of this machine alone, "
            "as tcp://127.0.0.1:7740 or ipc://PATH, or `key` and `clients`",
            endpoint);
    int64_t most = SF_REQUEST_MOST;
    int linger_ms = 100;
    size_t size = sizeof it->address;
    it->context = zmq_ctx_new();
    it->socket = it->context != NULL ? zmq_socket(it->context, ZMQ_REP) : NULL;
    if (it->socket == NULL)
        return sf_fail(error, SF_UNAVAILABLE, endpoint, "cannot make a socket: %s",
                       zmq_strerror(zmq_errno()));
    zmq_setsockopt(it->socket, ZMQ_MAXMSGSIZE, &most, sizeof most);
    zmq_setsockopt(it->socket, ZMQ_LINGER, &linger_ms, sizeof linger_ms);
    status = sf_curve_gate_open(&it->gate, it->context, it->socket, &curve, error);
    if (status != SF_OK)
        return status;
    if (zmq_bind(it->socket, endpoint) != 0)
        return sf_fail(error, SF_UNAVAILABLE, endpoint, "cannot bind: %s", zmq_strerror(zmq_errno()));
    zmq_getsockopt(it->socket, ZMQ_LAST_ENDPOINT, it->address, &size);
    return SF_OK;
}

int sf_control_socket_open(sf_control_socket **out, const sf_control_settings *settings,
                           const sf_live_options *options, sf_pipeline *pipeline,
                           const sf_control_calls *calls, sf_error *error)
{
    *out = NULL;
    sf_control_socket *it = sf_alloc(1, sizeof *it);
    if (it == NULL)
        return sf_fail_memory(error);
    pthread_mutex_init(&it->lock, NULL);
    it->options = options;
    it->pipeline = pipeline;
    it->calls = *calls;
    atomic_store(&it->started, !settings->hold);
    sf_error reason;
    int status = sf_token_read(it->token, settings->token_file, &reason);
    if (status != SF_OK)
        status = sf_fail(error, SF_CONFIG, "token_file", "%s: %s", reason.place, reason.text);
    if (status == SF_OK)
        status = bind_socket(it, settings, error);
    if (status == SF_OK)
        *out = it;
    else
        close_socket(it, NULL);
    return status;
}

int sf_control_socket_start(sf_control_socket *it, sf_error *error)
{
    return sf_thread_start(&it->thread, "synfire-control", run, it, error);
}

const char *sf_control_socket_address(const sf_control_socket *it)
{
    return it->address;
}

static void keep_status(void *self, sf_message *message)
{
    sf_control_socket *it = self;
    if (message->topic != SF_TOPIC_STATUS)
        return;
    sf_message_keep(message);
    pthread_mutex_lock(&it->lock);
    sf_message *before = it->status;
    it->status = message;
    pthread_mutex_unlock(&it->lock);
    sf_message_release(before);
}

static void tell_refused(void *self, sf_status_message *status)
{
    status->control_refused = sf_curve_gate_refused(((sf_control_socket *)self)->gate);
}

static bool is_started(void *self)
{
    return atomic_load(&((sf_control_socket *)self)->started);
}

sf_outlet sf_control_socket_outlet(sf_control_socket *it)
{
    static const sf_outlet_kind kind = {
        .publish = keep_status, .ready = is_started, .tell = tell_refused, .close = close_socket};
    return (sf_outlet){&kind, it};
}
