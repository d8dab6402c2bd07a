/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A text command for each trigger to a program that takes such: a ZeroMQ REP socket (mxwserver's
 * sequence_send, the network events of the Open Ephys GUI), a TCP server, or an HTTP server (the GUI's
 * /api/message). Where an answer is expected and another comes, or none in time, the trigger has failed; the
 * connection is then made anew, so that a late answer is not taken for that to the next.
 */
#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/row_macros.h"
#include "io/descriptors.h"
#include "io/endpoint.h"
#include "sinks/output.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zmq.h>

#define MOST_ANSWER 4096 /* bytes that are read of an answer */
#define NO_THEN "none"   /* the default of `then`: nothing ends a pulse */

typedef enum via { VIA_REQ, VIA_TCP, VIA_HTTP } via;
typedef enum method { METHOD_PUT, METHOD_POST } method;

typedef struct command_settings {
    sf_output_settings output;
    via via;
    const char *expect; /* what an answer begins with; "*": any, and of TCP none is waited for */
    double timeout_ms;
    const char *target; /* HTTP: what is asked for, as /api/message */
    method method;
} command_settings;

typedef struct command_sink {
    sf_output output; /* first */
    char *endpoint, *expect, *target;
    char host[256], port[8];
    via via;
    method method;
    int timeout_ms;
    void *context, *socket; /* ZeroMQ */
    int fd;                 /* -1: not connected */
    sf_text request;
    char answer[MOST_ANSWER + 1];
} command_sink;

/* ---- connections ---- */

static void disconnect(command_sink *sink)
{
    if (sink->socket != NULL) zmq_close(sink->socket);
    if (sink->fd >= 0) close(sink->fd);
    sink->socket = NULL;
    sink->fd = -1;
}

static int connect_zmq(command_sink *sink, sf_error *error)
{
    int none = 0;
    sink->socket = zmq_socket(sink->context, ZMQ_REQ);
    if (sink->socket == NULL)
        return sf_fail(error, SF_UNAVAILABLE, sink->endpoint, "cannot make a socket: %s",
                       zmq_strerror(errno));
    zmq_setsockopt(sink->socket, ZMQ_LINGER, &none, sizeof none);
    zmq_setsockopt(sink->socket, ZMQ_SNDTIMEO, &sink->timeout_ms, sizeof sink->timeout_ms);
    int64_t most = MOST_ANSWER;
    zmq_setsockopt(sink->socket, ZMQ_MAXMSGSIZE, &most, sizeof most);
    if (zmq_connect(sink->socket, sink->endpoint) == 0) return SF_OK;
    return sf_fail(error, SF_UNAVAILABLE, sink->endpoint, "cannot connect: %s", zmq_strerror(errno));
}

static int left_ms(int64_t until_ns)
{
    int64_t left = (until_ns - sf_clock_monotonic_ns() + SF_MILLISECOND - 1) / SF_MILLISECOND;
    return left > 0 ? (int)left : 0;
}

/* Waits until the socket is ready; SF_IO where that takes too long. */
static int await(const command_sink *sink, short events, int64_t until_ns, sf_error *error)
{
    struct pollfd waiting = {.fd = sink->fd, .events = events};
    int ready;
    do
        ready = poll(&waiting, 1, left_ms(until_ns));
    while (ready < 0 && errno == EINTR);
    if (ready > 0) return SF_OK;
    return sf_fail(error, SF_IO, sink->endpoint, "nothing within %d ms", sink->timeout_ms);
}

static int try_address(command_sink *sink, const struct addrinfo *address, int64_t until_ns, sf_error *error)
{
    int one = 1, failure = 0;
    socklen_t size = sizeof failure;
    sink->fd = socket(address->ai_family, address->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (sink->fd < 0)
        return sf_fail(error, SF_UNAVAILABLE, sink->endpoint, "cannot make a socket: %s", strerror(errno));
    setsockopt(sink->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (connect(sink->fd, address->ai_addr, address->ai_addrlen) == 0) return SF_OK;
    if (errno != EINPROGRESS)
        return sf_fail(error, SF_UNAVAILABLE, sink->endpoint, "cannot connect: %s", strerror(errno));
    int status = await(sink, POLLOUT, until_ns, error);
    if (status == SF_OK && getsockopt(sink->fd, SOL_SOCKET, SO_ERROR, &failure, &size) == 0 && failure != 0)
        status = sf_fail(error, SF_UNAVAILABLE, sink->endpoint, "cannot connect: %s", strerror(failure));
    return status;
}

static int connect_tcp(command_sink *sink, int64_t until_ns, sf_error *error)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    int failure = getaddrinfo(sink->host, sink->port, &hints, &found), status = SF_UNAVAILABLE;
    if (failure != 0)
        return sf_fail(error, SF_UNAVAILABLE, sink->endpoint, "cannot find the host: %s",
                       gai_strerror(failure));
    for (const struct addrinfo *at = found; at != NULL && status != SF_OK; at = at->ai_next) {
        status = try_address(sink, at, until_ns, error);
        if (status != SF_OK) disconnect(sink);
    }
    freeaddrinfo(found);
    return status;
}

static int send_all(const command_sink *sink, const sf_text *bytes, int64_t until_ns, sf_error *error)
{
    for (size_t done = 0; done < bytes->length;) {
        ssize_t count = send(sink->fd, bytes->data + done, bytes->length - done, MSG_NOSIGNAL);
        if (count >= 0)
            done += (size_t)count;
        else if (errno != EAGAIN && errno != EINTR)
            return sf_fail(error, SF_IO, sink->endpoint, "cannot send: %s", strerror(errno));
        else if (await(sink, POLLOUT, until_ns, error) != SF_OK)
            return SF_IO;
    }
    return SF_OK;
}

/* Reads until the answer is long enough to tell, or a line is over. */
static int receive(command_sink *sink, size_t enough, int64_t until_ns, sf_error *error)
{
    size_t length = 0;
    while (length < enough && memchr(sink->answer, '\n', length) == NULL) {
        ssize_t count = recv(sink->fd, sink->answer + length, enough - length, 0);
        if (count == 0) break;
        if (count > 0)
            length += (size_t)count;
        else if (errno != EAGAIN && errno != EINTR)
            return sf_fail(error, SF_IO, sink->endpoint, "cannot receive: %s", strerror(errno));
        else if (await(sink, POLLIN, until_ns, error) != SF_OK)
            return SF_IO;
    }
    sink->answer[length] = '\0';
    return SF_OK;
}

/* What came before and nobody waited for. */
static void drain(command_sink *sink)
{
    ssize_t count;
    while ((count = recv(sink->fd, sink->answer, MOST_ANSWER, 0)) > 0)
        ;
    if (count == 0 || (errno != EAGAIN && errno != EINTR)) disconnect(sink); /* it is gone: connect anew */
}

/* ---- the ways ---- */

static int check_answer(const command_sink *sink, const char *expected, sf_error *error)
{
    if (strcmp(expected, "*") == 0 || strncmp(sink->answer, expected, strlen(expected)) == 0) return SF_OK;
    return sf_fail(error, SF_IO, sink->endpoint, "found the answer '%.80s', expected '%.80s'", sink->answer,
                   expected);
}

static int ask_zmq(command_sink *sink, const sf_text *bytes, int64_t until_ns, sf_error *error)
{
    int status = sink->socket != NULL ? SF_OK : connect_zmq(sink, error);
    if (status != SF_OK) return status;
    if (zmq_send(sink->socket, bytes->data, bytes->length, 0) < 0)
        return sf_fail(error, SF_IO, sink->endpoint, "cannot send: %s", zmq_strerror(errno));
    zmq_pollitem_t waiting = {.socket = sink->socket, .events = ZMQ_POLLIN};
    if (zmq_poll(&waiting, 1, left_ms(until_ns)) <= 0)
        return sf_fail(error, SF_IO, sink->endpoint, "no answer within %d ms", sink->timeout_ms);
    int length = zmq_recv(sink->socket, sink->answer, MOST_ANSWER, 0);
    sink->answer[length < 0 ? 0 : length < MOST_ANSWER ? length : MOST_ANSWER] = '\0';
    return check_answer(sink, sink->expect, error);
}

static int ask_tcp(command_sink *sink, const sf_text *bytes, int64_t until_ns, sf_error *error)
{
    if (sink->fd >= 0) drain(sink);
    int status = sink->fd >= 0 ? SF_OK : connect_tcp(sink, until_ns, error);
    if (status == SF_OK) status = send_all(sink, bytes, until_ns, error);
    if (status != SF_OK || strcmp(sink->expect, "*") == 0) return status;
    status = receive(sink, strlen(sink->expect), until_ns, error);
    return status == SF_OK ? check_answer(sink, sink->expect, error) : status;
}

/* One connection a request. */
static int ask_http(command_sink *sink, const sf_text *bytes, int64_t until_ns, sf_error *error)
{
    sf_text *request = &sink->request;
    const char *type = bytes->length > 0 && bytes->data[0] == '{' ? "application/json" : "text/plain";
    sf_text_clear(request);
    sf_text_printf(request,
                   "%s %s HTTP/1.1\r\nHost: %s:%s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
                   "Connection: close\r\n\r\n",
                   sink->method == METHOD_PUT ? "PUT" : "POST", sink->target, sink->host, sink->port, type,
                   bytes->length);
    sf_text_append(request, bytes->data, bytes->length);
    if (request->failed) {
        sf_text_free(request);
        return sf_fail_memory(error);
    }
    int status = connect_tcp(sink, until_ns, error);
    if (status == SF_OK) status = send_all(sink, request, until_ns, error);
    if (status == SF_OK) status = receive(sink, MOST_ANSWER, until_ns, error);
    disconnect(sink);
    if (status != SF_OK) return status;
    if (strncmp(sink->answer, "HTTP/1.", 7) == 0 && strncmp(sink->answer + 8, " 2", 2) == 0) return SF_OK;
    return sf_fail(error, SF_IO, sink->endpoint, "found the answer '%.*s', expected HTTP/1.1 200",
                   (int)strcspn(sink->answer, "\r\n") < 80 ? (int)strcspn(sink->answer, "\r\n") : 80,
                   sink->answer);
}

static int ask(command_sink *sink, const sf_text *bytes, sf_error *error)
{
    static int (*const by[])(command_sink *, const sf_text *, int64_t, sf_error *) = {ask_zmq, ask_tcp,
                                                                                      ask_http};
    int status =
        by[sink->via](sink, bytes, sf_clock_monotonic_ns() + sink->timeout_ms * SF_MILLISECOND, error);
    if (status != SF_OK) disconnect(sink);
    return status;
}

static int end_pulse(void *self, sf_error *error)
{
    command_sink *sink = self;
    return ask(sink, &sink->output.after, error);
}

static int publish_command(void *self, const sf_message *message, sf_error *error)
{
    command_sink *sink = self;
    if (!sf_output_takes(&sink->output, message)) return SF_PUBLISH_PASSED;
    const sf_text *bytes = sf_output_text(&sink->output, message, error);
    if (bytes == NULL) return SF_NO_MEMORY;
    int status = ask(sink, bytes, error);
    if (status != SF_OK && sink->output.pulse_ms > 0)
        end_pulse(sink, NULL); /* the command may have come, and its answer not */
    return status;
}

/* ---- opening and closing ---- */

static int close_command(void *self, sf_error *error)
{
    (void)error;
    command_sink *sink = self;
    disconnect(sink);
    if (sink->context != NULL) zmq_ctx_term(sink->context);
    sf_output_close(&sink->output);
    sf_text_free(&sink->request);
    sf_free(sink->endpoint);
    sf_free(sink->expect);
    sf_free(sink->target);
    sf_free(sink);
    return SF_OK;
}

/* It stands in the first line of a request, which a space ends and a line's end would add others to. */
static int check_target(const char *target, sf_error *error)
{
    for (const char *at = target; at != NULL && *at != '\0'; at++)
        if ((unsigned char)*at <= ' ' || (unsigned char)*at >= 127)
            return sf_fail(error, SF_CONFIG, "target",
                           "found the byte 0x%02x, expected a path of visible ASCII characters without "
                           "spaces, as /api/message",
                           (unsigned)(unsigned char)*at);
    return SF_OK;
}

/* tcp://HOST:PORT, but for ZeroMQ also http://HOST:PORT; HOST may be [an IPv6 address]. */
static int split_endpoint(command_sink *sink, sf_error *error)
{
    const char *start = strstr(sink->endpoint, "://"), *colon = strrchr(sink->endpoint, ':');
    uint64_t port = 0;
    bool known = strncmp(sink->endpoint, "tcp://", 6) == 0 || strncmp(sink->endpoint, "http://", 7) == 0;
    if (sink->via == VIA_REQ) known = known && sf_endpoint_check_peer(sink->endpoint, NULL) == SF_OK;
    if (!known || colon <= start + 3 || !sf_parse_uint(colon + 1, UINT16_MAX, &port) || port == 0 ||
        (size_t)(colon - start) >= sizeof sink->host)
        return sf_fail(error, SF_CONFIG, "endpoint", "found '%.80s', expected tcp://HOST:PORT",
                       sink->endpoint);
    bool bracketed = start[3] == '[' && colon[-1] == ']';
    const char *host = start + 3 + bracketed;
    snprintf(sink->host, sizeof sink->host, "%.*s", (int)(colon - bracketed - host), host);
    snprintf(sink->port, sizeof sink->port, "%u", (unsigned)port);
    return SF_OK;
}

static int open_way(command_sink *sink, sf_error *error)
{
    int status;
    int64_t until_ns = sf_clock_monotonic_ns() + sink->timeout_ms * SF_MILLISECOND;
    if (sink->via == VIA_REQ) {
        sink->context = zmq_ctx_new();
        status = sink->context != NULL ? connect_zmq(sink, error) : sf_fail_memory(error);
    } else {
        status = connect_tcp(sink, until_ns, error); /* what is not there is told at the start */
    }
    if (sink->via == VIA_HTTP) disconnect(sink);
    return status;
}

/* All but the connection. */
static int prepare(void **self, const sf_sink_settings *settings, sf_error *error)
{
    const command_settings *wanted = (const command_settings *)settings;
    command_sink *sink = sf_alloc(1, sizeof *sink);
    if (sink == NULL) return sf_fail_memory(error);
    sink->fd = -1;
    sink->via = wanted->via;
    sink->method = wanted->method;
    sink->timeout_ms = (int)(wanted->timeout_ms + 0.5);
    sink->endpoint = sf_copy_string(settings->endpoint);
    sink->expect = sf_copy_string(wanted->expect != NULL ? wanted->expect : "*");
    sink->target = sf_copy_string(wanted->target != NULL ? wanted->target : "/");
    int status = sf_output_open(&sink->output, &wanted->output, error);
    if (status == SF_OK) status = check_target(sink->target, error);
    if (status == SF_OK && wanted->output.pulse_ms > 0 && strcmp(wanted->output.then, NO_THEN) == 0)
        status = sf_fail(error, SF_CONFIG, "then", "is missing: expected what ends the pulse after pulse_ms");
    if (status == SF_OK && (sink->endpoint == NULL || sink->expect == NULL || sink->target == NULL))
        status = sf_fail_memory(error);
    if (status == SF_OK) status = split_endpoint(sink, error);
    if (status != SF_OK) {
        close_command(sink, NULL);
        return status;
    }
    *self = sink;
    return SF_OK;
}

static int open_command(void **self, const sf_sink_settings *settings, const sf_stream_info *stream,
                        sf_error *error)
{
    (void)stream;
    int status = prepare(self, settings, error);
    if (status != SF_OK) return status;
    status = open_way(*self, error);
    if (status != SF_OK) {
        close_command(*self, NULL);
        *self = NULL;
    }
    return status;
}

static int examine_command(const sf_sink_settings *settings, sf_error *error)
{
    void *sink = NULL;
    int status = prepare(&sink, settings, error);
    return status == SF_OK ? close_command(sink, NULL) : status;
}

static const char *address_command(void *self)
{
    return ((command_sink *)self)->endpoint;
}

static const command_settings defaults = {.output = {SF_OUTPUT_DEFAULTS, .send = "{name}", .then = NO_THEN},
                                          .via = VIA_REQ,
                                          .expect = "*",
                                          .timeout_ms = 200,
                                          .target = "/",
                                          .method = METHOD_PUT};

static const char *const ways[] = {"req", "tcp", "http", NULL};
static const char *const methods[] = {"PUT", "POST", NULL};

#define ROW command_settings
static const sf_key keys[] = {
    TEXT("endpoint", output.sink.endpoint, .needed = true, .example = "tcp://127.0.0.1:7210",
         .what = "HOST:PORT of a server, connected"),
    CHOICE("via", via, ways, .what = "how: by a ZeroMQ REP socket, TCP or HTTP"),
    TEXT("trigger", output.trigger, .what = "the name of the one that is sent; \"*\": all"),
    TEXT("send", output.send, .what = "{name}, {occurrence}, ...: docs/closed-loop.md"),
    SF_OUTPUT_PULSE_KEYS,
    TEXT("expect", expect, .where = "via=req,tcp",
         .what = "what its answer begins with; \"*\": any, and with tcp none is waited for"),
    REAL("timeout_ms", timeout_ms, 1, 60000, .what = "an answer that takes longer has failed"),
    TEXT("target", target, .where = "via=http", .what = "what is asked for, as /api/message"),
    CHOICE("method", method, methods, .where = "via=http", .what = "of the request"),
    {0},
};
#undef ROW

const sf_sink_kind sf_sink_command = {
    .settings = {"command", keys, sizeof(command_settings), &defaults, "a text for each trigger with a name"},
    .descriptors = SF_ZMQ_DESCRIPTORS,
    .acts = true,
    .open = open_command,
    .examine = examine_command,
    .publish = publish_command,
    .pulse_ms = sf_output_pulse_ms,
    .end_pulse = end_pulse,
    .close = close_command,
    .address = address_command,
};
