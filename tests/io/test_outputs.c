/* SPDX-License-Identifier: Apache-2.0 */
/* What machines get of triggers with names: bytes over a pseudo-terminal, commands to servers of the test. */
#include "sinks/sink.h"
#include "sinks/template.h"
#include "support/support.h"

#include "core/clock.h"
#include "core/keys.h"
#include "core/memory.h"
#include "io/last_words.h"
#include "live/config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>
#include <zmq.h>

/* ---- sinks from configurations, triggers to them ---- */

static sf_stream_info no_stream(void)
{
    static sf_units units;
    return (sf_stream_info){.name = "test", .units = &units};
}

/* A sink as a configuration describes it; the status of opening it. */
static int open_sink(sf_sink **sink, const char *yaml, sf_error *error)
{
    static sf_stream_info stream;
    stream = no_stream();
    char text[1024];
    snprintf(
        text, sizeof text,
        "triggers: [{name: a, episode: 'x -(0,5]-> y'}, {name: b, episode: 'x -(0,5]-> y'}]\nsinks: [%s]\n",
        yaml);
    sf_config config;
    *sink = NULL;
    int status = sf_config_parse(&config, text, strlen(text), "t.yaml", NULL, 0, error);
    if (status != SF_OK) return status;
    status = sf_sink_open_kind(sink, sf_config_sink_kind(&config, 0), sf_config_sink(&config, 0), &stream,
                               NULL, error);
    sf_config_free(&config);
    return status;
}

static sf_sink *open_well(const char *yaml)
{
    sf_sink *sink;
    sf_error error;
    if (open_sink(&sink, yaml, &error) != SF_OK) fail_msg("%s: %s", error.place, error.text);
    return sink;
}

static void trigger(sf_sink *sink, uint64_t seq, const char *name, bool is_named, int64_t expires_ns)
{
    sf_message message = {
        .topic = SF_TOPIC_TRIGGER, .seq = seq, .time_ns = 42, .arrival_ns = sf_clock_monotonic_ns()};
    message.trigger.occurrence = 7;
    message.trigger.is_named = is_named;
    message.trigger.expires_ns = expires_ns;
    snprintf(message.trigger.name, sizeof message.trigger.name, "%s", name);
    sf_sink_trigger(sink, &message);
}

static void expect_delivery(sf_sink *sink, uint64_t seq, const char *outcome)
{
    sf_delivered told;
    int64_t until_ns = sf_clock_monotonic_ns() + 30 * SF_SECOND;
    while (!sf_sink_delivered(sink, &told)) {
        assert_true(sf_clock_monotonic_ns() < until_ns);
        sf_clock_sleep_until(sf_clock_monotonic_ns() + SF_MILLISECOND);
    }
    assert_int_equal(told.trigger_seq, seq);
    assert_string_equal(told.outcome, outcome);
    assert_int_equal(told.time_ns, 42);
    assert_true(told.at_ns >= told.arrival_ns);
}

/* ---- templates ---- */

static void templates_are_filled(void **state)
{
    (void)state;
    static const struct {
        const char *text, *bytes;
        size_t length;
    } cases[] = {
        {"go", "go", 2},
        {"{name} {occurrence} {seq} {time_ns} {id}", "a 7 3 -42 00ff", 14},
        {"{{{name}}}", "{a}", 3},
        {"\\x01\\x00\\xfF\\n\\r\\t\\0\\\\", "\x01\0\xff\n\r\t\0\\", 8},
    };
    sf_message message = {.topic = SF_TOPIC_TRIGGER, .seq = 3, .time_ns = -42};
    message.trigger.occurrence = 7;
    strcpy(message.trigger.name, "a");
    strcpy(message.trigger.id, "00ff");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sf_text text = {0};
        assert_int_equal(sf_template_check(cases[i].text, "send", NULL), SF_OK);
        sf_template_fill(&text, cases[i].text, &message);
        assert_int_equal(text.length, cases[i].length);
        assert_memory_equal(text.data, cases[i].bytes, cases[i].length);
        sf_text_free(&text);
    }
    static const char *const wrong[] = {"{", "{nam}", "{name", "}", "\\", "\\q", "\\x1", "\\x1g", "a {} b"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        sf_error error = {0};
        test_assert_fails(sf_template_check(wrong[i], "send", &error), &error, SF_CONFIG, "expected {name}");
        assert_string_equal(error.place, "send");
    }
}

/* ---- a serial line ---- */

static int open_terminal(void)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    assert_true(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
    return master;
}

static void expect_bytes(int fd, const char *bytes, size_t length)
{
    char found[256];
    size_t count = 0;
    while (count < length) {
        struct pollfd waiting = {.fd = fd, .events = POLLIN};
        assert_int_equal(poll(&waiting, 1, 30000), 1);
        ssize_t got = read(fd, found + count, length - count);
        assert_true(got > 0);
        count += (size_t)got;
    }
    assert_memory_equal(found, bytes, length);
}

static void a_serial_line_gets_pulses(void **state)
{
    (void)state;
    int master = open_terminal();
    char yaml[256];
    snprintf(yaml, sizeof yaml,
             "{type: serial, path: '%s', trigger: a, send: '\\x01{name}\\n', then: '\\x00'}",
             ptsname(master));
    sf_sink *sink = open_well(yaml);
    assert_string_equal(sf_sink_address(sink), ptsname(master));
    trigger(sink, 1, "a", true, INT64_MAX);
    trigger(sink, 2, "b", true, INT64_MAX);  /* another's */
    trigger(sink, 3, "a", false, INT64_MAX); /* an episode that is only watched */
    trigger(sink, 4, "a", true, sf_clock_monotonic_ns() - 1);
    trigger(sink, 5, "a", true, INT64_MAX);
    expect_bytes(master,
                 "\x01"
                 "a\n\0\x01"
                 "a\n\0",
                 8);
    expect_delivery(sink, 1, "sent");
    expect_delivery(sink, 4, "too old");
    expect_delivery(sink, 5, "sent");
    while (sf_sink_is_busy(sink))
        sf_clock_sleep_until(sf_clock_monotonic_ns() + SF_MILLISECOND);
    sf_sink_status status;
    sf_sink_status_get(sink, &status);
    assert_int_equal(status.published, 2);
    assert_int_equal(status.dropped, 1);
    assert_int_equal(sf_sink_close(sink, NULL), SF_OK);
    close(master);
}

static void await_quiet(sf_sink *sink)
{
    while (sf_sink_is_busy(sink))
        sf_clock_sleep_until(sf_clock_monotonic_ns() + SF_MILLISECOND);
}

/* A pulse is the longest there is, and is reported sent while it lasts. A halt ends it and keeps what waits
 * from going out. */
static void a_halt_ends_a_pulse(void **state)
{
    (void)state;
    int master = open_terminal();
    char yaml[256];
    snprintf(yaml, sizeof yaml, "{type: serial, path: '%s', pulse_ms: 1000}", ptsname(master));
    sf_sink *sink = open_well(yaml);
    trigger(sink, 1, "a", true, INT64_MAX);
    expect_bytes(master, "\x01", 1);
    sf_delivered told;
    while (!sf_sink_delivered(sink, &told))
        sf_clock_sleep_until(sf_clock_monotonic_ns() + SF_MILLISECOND);
    assert_string_equal(told.outcome, "sent");
    trigger(sink, 2, "a", true, INT64_MAX);
    sf_sink_halt(sink);
    expect_bytes(master, "\0", 1);
    await_quiet(sink);
    expect_delivery(sink, 2, "failed");
    sf_sink_status status;
    sf_sink_status_get(sink, &status);
    assert_int_equal(status.published, 1);
    assert_int_equal(status.dropped, 1);
    assert_int_equal(sf_sink_close(sink, NULL), SF_OK);
    struct pollfd more = {.fd = master, .events = POLLIN};
    assert_true(poll(&more, 1, 0) == 0 || (more.revents & POLLIN) == 0);
    close(master);
}

/* What a handler of a signal sends while a line is up, and nothing once it is down again. */
static void a_line_is_lowered_by_last_words(void **state)
{
    (void)state;
    int master = open_terminal();
    char yaml[256];
    snprintf(yaml, sizeof yaml, "{type: serial, path: '%s', pulse_ms: 1000, then: 'down {name}'}",
             ptsname(master));
    sf_sink *sink = open_well(yaml);
    trigger(sink, 1, "a", true, INT64_MAX);
    expect_bytes(master, "\x01", 1);
    sf_last_words_say();
    expect_bytes(master, "down a", 6);
    sf_sink_halt(sink);
    expect_bytes(master, "down a", 6);
    await_quiet(sink);
    sf_last_words_say();
    struct pollfd more = {.fd = master, .events = POLLIN};
    assert_int_equal(poll(&more, 1, 0), 0);
    assert_int_equal(sf_sink_close(sink, NULL), SF_OK);
    close(master);
}

static void a_line_that_is_none_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *yaml;
        sf_status status;
        const char *words;
    } cases[] = {
        {"{type: serial, path: /dev/nowhere}", SF_UNAVAILABLE, "cannot open the serial line"},
        {"{type: serial, path: /dev/null}", SF_UNAVAILABLE, "is no serial line"},
        {"{type: serial, path: /dev/null, baud: 9601}", SF_CONFIG, "found '9601', expected one of 9600, "},
        {"{type: serial, path: /dev/null, then: '{x}'}", SF_CONFIG, "expected {name}"},
        {"{type: serial, path: /dev/null, send: '{x}'}", SF_CONFIG, "expected {name}"},
        {"{type: command, endpoint: 'tcp://127.0.0.1:1', via: http, target: \"/a\\r\\nX: y\"}", SF_CONFIG,
         "found the byte 0x0d"},
        {"{type: command, endpoint: 'tcp://127.0.0.1:1', pulse_ms: 5}", SF_CONFIG, "what ends the pulse"},
        {"{type: serial, path: /dev/null, trigger: c}", SF_CONFIG, "the name of a trigger"},
        {"{type: command, endpoint: 'udp://127.0.0.1:9'}", SF_CONFIG, "expected tcp://HOST:PORT"},
        {"{type: command, endpoint: 'tcp://127.0.0.1'}", SF_CONFIG, "expected tcp://HOST:PORT"},
        {"{type: command, endpoint: 'tcp://127.0.0.1:1', via: tcp}", SF_UNAVAILABLE, "cannot connect"},
        {"{type: command, endpoint: 'tcp://127.0.0.1:1', target: /x}", SF_CONFIG, "has no meaning here"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sf_sink *sink;
        sf_error error = {0};
        test_assert_fails(open_sink(&sink, cases[i].yaml, &error), &error, cases[i].status, cases[i].words);
        assert_null(sink);
    }
}

/* ---- a server that answers each request as it is told ---- */

typedef struct server {
    int fd;
    uint16_t port;
    const char *const *answers; /* up to NULL; "": the connection is closed without one */
    char requests[8][512];
    size_t count;
    pthread_t thread;
} server;

/* A request is over at a newline, of HTTP with its body. */
static bool is_whole(const char *request, size_t length)
{
    const char *body = strstr(request, "\r\n\r\n"), *told = strstr(request, "Content-Length: ");
    if (told == NULL) return length > 0 && request[length - 1] == '\n';
    return body != NULL && length >= (size_t)(body + 4 - request) + strtoul(told + 16, NULL, 10);
}

static void *serve(void *argument)
{
    server *it = argument;
    int peer = -1;
    for (; it->answers[it->count] != NULL;) {
        if (peer < 0) peer = accept(it->fd, NULL, NULL);
        char *request = it->requests[it->count];
        size_t length = 0;
        ssize_t got = 1;
        while (!is_whole(request, length) && (got = read(peer, request + length, 511 - length)) > 0)
            length += (size_t)got;
        if (got > 0) {
            const char *answer = it->answers[it->count++];
            got = answer[0] != '\0' ? write(peer, answer, strlen(answer)) : 0;
        }
        if (got > 0 && strstr(request, "Connection: close") == NULL) continue;
        close(peer);
        peer = -1;
    }
    if (peer >= 0) close(peer);
    return NULL;
}

static void start_server(server *it, const char *const *answers)
{
    *it = (server){.answers = answers, .fd = socket(AF_INET, SOCK_STREAM, 0)};
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    assert_int_equal(bind(it->fd, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(it->fd, 8), 0);
    assert_int_equal(getsockname(it->fd, (struct sockaddr *)&address, &size), 0);
    it->port = ntohs(address.sin_port);
    assert_int_equal(pthread_create(&it->thread, NULL, serve, it), 0);
}

static void end_server(server *it)
{
    pthread_join(it->thread, NULL);
    close(it->fd);
}

static void a_tcp_server_gets_commands(void **state)
{
    (void)state;
    static const char *const answers[] = {"OK 1\n", "NO\n", "OK 3\n", "", "OK 5\n", NULL};
    static const char *const outcomes[] = {"sent", "failed", "sent", "failed", "sent"};
    server it;
    char yaml[256];
    start_server(&it, answers);
    snprintf(yaml, sizeof yaml,
             "{type: command, endpoint: 'tcp://127.0.0.1:%u', via: tcp, timeout_ms: 30000, "
             "send: 'go {name} {seq}\\n', expect: OK}",
             it.port);
    sf_sink *sink = open_well(yaml);
    for (uint64_t i = 0; i < 5; i++) {
        trigger(sink, i + 1, "a", true, INT64_MAX);
        expect_delivery(sink, i + 1, outcomes[i]);
    }
    sf_error error;
    test_assert_fails(sf_sink_close(sink, &error), &error, SF_IO, "found the answer 'NO");
    end_server(&it);
    for (size_t i = 0; i < 5; i++) {
        char expected[32];
        snprintf(expected, sizeof expected, "go a %zu\n", i + 1);
        assert_string_equal(it.requests[i], expected);
    }
}

static void an_http_server_gets_requests(void **state)
{
    (void)state;
    static const char *const answers[] = {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
                                          "HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n",
                                          "HTTP/1.0 204 Nothing\r\n\r\n", NULL};
    static const char *const outcomes[] = {"sent", "failed", "sent"};
    server it;
    char yaml[256];
    start_server(&it, answers);
    snprintf(
        yaml, sizeof yaml,
        "{type: command, endpoint: 'http://127.0.0.1:%u', via: http, target: /api/message, timeout_ms: 30000,"
        " send: '{{\"text\": \"{name} {occurrence}\"}}'}",
        it.port);
    sf_sink *sink = open_well(yaml);
    for (uint64_t i = 0; i < 3; i++) {
        trigger(sink, i + 1, "b", true, INT64_MAX);
        expect_delivery(sink, i + 1, outcomes[i]);
    }
    sf_error error;
    test_assert_fails(sf_sink_close(sink, &error), &error, SF_IO, "HTTP/1.1 500 No");
    end_server(&it);
    assert_non_null(strstr(it.requests[0], "PUT /api/message HTTP/1.1\r\nHost: 127.0.0.1:"));
    assert_non_null(strstr(it.requests[0], "Content-Type: application/json\r\nContent-Length: 15\r\n"));
    assert_non_null(strstr(it.requests[0], "\r\n\r\n{\"text\": \"b 7\"}"));
}

/* ---- a REP socket ---- */

static void a_rep_socket_is_asked(void **state)
{
    (void)state;
    void *context = zmq_ctx_new(), *socket = zmq_socket(context, ZMQ_REP);
    char endpoint[128], yaml[256];
    size_t size = sizeof endpoint;
    int wait_ms = 30000;
    zmq_setsockopt(socket, ZMQ_RCVTIMEO, &wait_ms, sizeof wait_ms);
    assert_int_equal(zmq_bind(socket, "tcp://127.0.0.1:*"), 0);
    zmq_getsockopt(socket, ZMQ_LAST_ENDPOINT, endpoint, &size);
    snprintf(yaml, sizeof yaml,
             "{type: command, endpoint: '%s', timeout_ms: 2000, send: 'sequence_send {name}', expect: Ok}",
             endpoint);
    sf_sink *sink = open_well(yaml);
    static const char *const answers[] = {"Ok", NULL, "Error: no sequence", "Ok, sent"};
    static const char *const outcomes[] = {"sent", "failed", "failed", "sent"};
    for (uint64_t i = 0; i < 4; i++) {
        char request[64] = {0};
        trigger(sink, i + 1, "a", true, INT64_MAX);
        assert_int_equal(zmq_recv(socket, request, sizeof request, 0), 15);
        assert_string_equal(request, "sequence_send a");
        if (answers[i] == NULL) { /* it is too late for the asker, who has connected anew */
            expect_delivery(sink, i + 1, outcomes[i]);
            zmq_send(socket, "Ok", 2, 0);
            continue;
        }
        zmq_send(socket, answers[i], strlen(answers[i]), 0);
        expect_delivery(sink, i + 1, outcomes[i]);
    }
    sf_error error;
    test_assert_fails(sf_sink_close(sink, &error), &error, SF_IO, "no answer within 2000 ms");
    zmq_close(socket);
    zmq_ctx_term(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(templates_are_filled),
        cmocka_unit_test(a_serial_line_gets_pulses),
        cmocka_unit_test(a_halt_ends_a_pulse),
        cmocka_unit_test(a_line_is_lowered_by_last_words),
        cmocka_unit_test(a_line_that_is_none_is_refused),
        cmocka_unit_test(a_tcp_server_gets_commands),
        cmocka_unit_test(an_http_server_gets_requests),
        cmocka_unit_test(a_rep_socket_is_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
