/* SPDX-License-Identifier: Apache-2.0 */
/* Asking a run: requests and tokens, and a run that is armed, marked and stopped over its socket. */
#include "support/runs.h"

#include "core/clock.h"
#include "live/control_request.h"
#include "replay/recording_file.h"

#include <jansson.h>
#include <math.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zmq.h>

#define TOKEN "correct horse battery"

/* ---- requests ---- */

static int parse(sf_request *request, const char *text, sf_error *error)
{
    *error = (sf_error){0};
    return sf_request_parse(request, text, strlen(text), TOKEN, error);
}

static void requests_are_read(void **state)
{
    (void)state;
    sf_request request;
    sf_error error;
    assert_int_equal(parse(&request, "{\"token\": \"" TOKEN "\", \"command\": \"status\"}", &error), SF_OK);
    assert_int_equal(request.kind, SF_REQUEST_STATUS);
    assert_int_equal(parse(&request,
                           "{\"seconds\": 2.5, \"trigger\": \"a\", \"command\": \"arm\", \"token\": \"" TOKEN
                           "\"}",
                           &error),
                     SF_OK);
    assert_int_equal(request.kind, SF_REQUEST_ARM);
    assert_string_equal(request.trigger, "a");
    assert_true(request.seconds == 2.5);
    assert_int_equal(
        parse(&request, "{\"token\": \"" TOKEN "\", \"command\": \"mark\", \"text\": \"light on\"}", &error),
        SF_OK);
    assert_int_equal(request.kind, SF_REQUEST_MARK);
    assert_string_equal(request.text, "light on");
    assert_int_equal(parse(&request,
                           "{\"token\": \"" TOKEN "\", \"command\": \"aggregate\", \"density\": \"isi A\", "
                           "\"op\": \"avg\", \"from\": -1, \"to\": 0.5}",
                           &error),
                     SF_OK);
    assert_int_equal(request.kind, SF_REQUEST_AGGREGATE);
    assert_string_equal(request.density, "isi A");
    assert_true(request.op == SF_AGGREGATE_AVERAGE && request.from == -1 && request.to == 0.5);
    assert_int_equal(parse(&request,
                           "{\"token\": \"" TOKEN "\", \"command\": \"state\", \"density\": \"rate B\"}",
                           &error),
                     SF_OK);
    assert_int_equal(request.kind, SF_REQUEST_STATE);
    assert_true(request.from == -INFINITY && request.to == INFINITY);
}

static void wrong_tokens_get_no_other_answer(void **state)
{
    (void)state;
    static const char *const tokens[] = {"\"\"",
                                         "\"correct horse batterx\"",
                                         "\"Correct horse battery\"",
                                         "\"correct horse\"",
                                         "\"correct horse battery \"",
                                         "null",
                                         "7",
                                         "[\"correct horse battery\"]"};
    sf_request request;
    sf_error error;
    char text[256];
    for (size_t i = 0; i < sizeof tokens / sizeof tokens[0]; i++) {
        snprintf(text, sizeof text, "{\"token\": %s, \"command\": \"nonsense\", \"x\": 1}", tokens[i]);
        test_assert_fails(parse(&request, text, &error), &error, SF_UNAVAILABLE, "the token is wrong");
    }
    test_assert_fails(parse(&request, "{\"command\": \"stop\"}", &error), &error, SF_UNAVAILABLE, "token");
}

static void wrong_requests_are_refused(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"", "one JSON object"},
        {"[]", "one JSON object"},
        {"{\"token\": \"" TOKEN "\"", "one JSON object"},
        {"{\"token\": \"" TOKEN "\", \"token\": \"" TOKEN "\"}", "one JSON object"},
        {"{\"token\": \"" TOKEN "\"}", "expected status, arm"},
        {"{\"token\": \"" TOKEN "\", \"command\": \"fire\"}", "expected status, arm"},
        {"{\"token\": \"" TOKEN "\", \"command\": 3}", "expected status, arm"},
        {"{\"token\": \"" TOKEN "\", \"command\": \"arm\", \"seconds\": 0}", "a number over 0"},
        {"{\"token\": \"" TOKEN "\", \"command\": \"arm\", \"seconds\": \"9\"}", "a number over 0"},
        {"{\"token\": \"" TOKEN "\", \"command\": \"arm\", \"trigger\": 1}", "a text of at most 63"},
        {"{\"token\": \"" TOKEN "\", \"command\": \"disarm\", \"seconds\": 1}",
         "no key 'seconds' for disarm"},
        {"{\"token\": \"" TOKEN "\", \"command\": \"stop\", \"trigger\": \"a\"}",
         "no key 'trigger' for stop"},
        {"{\"token\": \"" TOKEN "\", \"command\": \"mark\"}", "is missing"},
        {"{\"token\": \"" TOKEN "\", \"command\": \"aggregate\"}", "is missing: expected one of the run"},
        {"{\"token\": \"" TOKEN "\", \"command\": \"state\", \"density\": \"a\", \"op\": \"avg\"}",
         "no key 'op' for state"},
        {"{\"token\": \"" TOKEN "\", \"command\": \"stop\", \"density\": \"a\"}",
         "no key 'density' for stop"},
        {"{\"token\": \"" TOKEN "\", \"command\": \"aggregate\", \"density\": \"a\", \"op\": \"max\"}",
         "expected count, sum, avg or var"},
        {"{\"token\": \"" TOKEN "\", \"command\": \"aggregate\", \"density\": \"a\", \"to\": \"9\"}",
         "expected a number, in the unit"},
        {"{\"token\": \"" TOKEN "\", \"command\": \"aggregate\", \"density\": \"a\", \"from\": 2, \"to\": 2}",
         "expected from < to"},
        {"{\"token\": \"" TOKEN "\", \"command\": \"mark\", \"text\": \"a\\u0000b\"}", "one JSON object"},
    };
    sf_request request;
    sf_error error;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        test_assert_fails(parse(&request, cases[i][0], &error), &error, SF_USAGE, cases[i][1]);
    char *large = calloc(1, SF_REQUEST_MOST + 2);
    memset(large, ' ', SF_REQUEST_MOST + 1);
    large[0] = '{';
    large[1] = '}';
    test_assert_fails(sf_request_parse(&request, large, SF_REQUEST_MOST + 1, TOKEN, &error), &error, SF_USAGE,
                      "at most 4096 bytes");
    free(large);
}

static char *write_token(const char *token, mode_t mode)
{
    char *path = test_temporary_path(".token");
    FILE *file = fopen(path, "w");
    fputs(token, file);
    fclose(file);
    chmod(path, mode);
    return path;
}

static void tokens_are_secrets(void **state)
{
    (void)state;
    char token[SF_TOKEN_MOST + 1];
    sf_error error = {0};
    char *path = write_token(TOKEN "\nmore\n", 0600);
    assert_int_equal(sf_token_read(token, path, &error), SF_OK);
    assert_string_equal(token, TOKEN);
    chmod(path, 0640);
    test_assert_fails(sf_token_read(token, path, &error), &error, SF_CONFIG, "chmod 600");
    unlink(path);
    test_assert_fails(sf_token_read(token, path, &error), &error, SF_NO_INPUT, "No such file");
    free(path);
    path = write_token("short\n", 0600);
    test_assert_fails(sf_token_read(token, path, &error), &error, SF_CONFIG,
                      "of 5 bytes, expected 16 to 256");
    unlink(path);
    free(path);
}

/* ---- a run ---- */

static json_t *ask(void *socket, const char *format, ...) __attribute__((format(printf, 2, 3)));

static json_t *ask(void *socket, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    assert_true(zmq_send(socket, text, strlen(text), 0) >= 0);
    zmq_msg_t message;
    zmq_msg_init(&message);
    assert_true(zmq_msg_recv(&message, socket, 0) >= 0);
    json_t *answer = json_loadb(zmq_msg_data(&message), zmq_msg_size(&message), 0, NULL);
    assert_non_null(answer);
    zmq_msg_close(&message);
    return answer;
}

static void expect(json_t *answer, const char *error)
{
    const char *found = json_string_value(json_object_get(answer, "error"));
    assert_int_equal(json_is_true(json_object_get(answer, "ok")), error == NULL);
    if (error != NULL && (found == NULL || strstr(found, error) == NULL))
        fail_msg("'%s' is not in '%s'", error, found != NULL ? found : "");
    json_decref(answer);
}

static void expect_ok(void *socket, const char *rest)
{
    expect(ask(socket, "{\"token\": \"" TOKEN "\", %s}", rest), NULL);
}

/* Waits for a status whose first trigger is as asked for. */
static void await(void *socket, bool armed, long least_sent)
{
    int64_t until_ns = sf_clock_monotonic_ns() + 60 * SF_SECOND;
    for (bool there = false; !there;) {
        assert_true(sf_clock_monotonic_ns() < until_ns);
        json_t *answer = ask(socket, "{\"token\": \"" TOKEN "\", \"command\": \"status\"}");
        const json_t *status = json_object_get(answer, "status"),
                     *trigger = json_array_get(json_object_get(status, "triggers"), 0);
        there = trigger != NULL && json_is_true(json_object_get(trigger, "armed")) == armed &&
                json_integer_value(json_object_get(trigger, "sent")) >= least_sent;
        json_decref(answer);
        if (!there) sf_clock_sleep_until(sf_clock_monotonic_ns() + 20 * SF_MILLISECOND);
    }
}

static void await_armed_for(void *socket, double more_than_s)
{
    int64_t until_ns = sf_clock_monotonic_ns() + 60 * SF_SECOND;
    for (double left_s = 0; !(left_s > more_than_s);) {
        assert_true(sf_clock_monotonic_ns() < until_ns);
        json_t *answer = ask(socket, "{\"token\": \"" TOKEN "\", \"command\": \"status\"}");
        const json_t *status = json_object_get(answer, "status"),
                     *trigger = json_array_get(json_object_get(status, "triggers"), 0);
        left_s = json_number_value(json_object_get(trigger, "armed_s"));
        json_decref(answer);
        sf_clock_sleep_until(sf_clock_monotonic_ns() + 5 * SF_MILLISECOND);
    }
}

/* ---- what others do ---- */

#define GUESSERS 200

/* All guess before the owner asks; what the owner gets does not wait for their answers, which take 40 s one
 * after the other. */
static void guesses_hold_nobody_else(void *context, void *owner, const char *address)
{
    static const char guess[] = "{\"token\": \"wrong horse battery..\", \"command\": \"stop\"}";
    void *guessers[GUESSERS];
    int none = 0, wait_ms = 60000;
    for (int i = 0; i < GUESSERS; i++) {
        guessers[i] = zmq_socket(context, ZMQ_REQ);
        zmq_setsockopt(guessers[i], ZMQ_LINGER, &none, sizeof none);
        zmq_setsockopt(guessers[i], ZMQ_RCVTIMEO, &wait_ms, sizeof wait_ms);
        assert_int_equal(zmq_connect(guessers[i], address), 0);
        assert_true(zmq_send(guessers[i], guess, sizeof guess - 1, 0) >= 0);
    }
    int64_t asked_ns = sf_clock_monotonic_ns();
    for (int i = 0; i < 5; i++)
        expect_ok(owner, "\"command\": \"disarm\"");
    assert_true(sf_clock_monotonic_ns() - asked_ns < 30 * SF_SECOND);
    for (int i = 0; i < GUESSERS; i++) {
        char answer[256];
        int length = zmq_recv(guessers[i], answer, sizeof answer - 1, 0);
        assert_true(length > 0 && length < (int)sizeof answer);
        answer[length] = '\0';
        assert_non_null(strstr(answer, "the token is wrong"));
        zmq_close(guessers[i]);
    }
    assert_true(sf_clock_monotonic_ns() - asked_ns < 35 * SF_SECOND);
}

/* A connection that asks on while its guess is held back is not listened to: of ten guesses one is answered
 * before a request that comes after the answer. */
static void a_guesser_guesses_slowly(void *context, const char *address)
{
    static const char guess[] = "{\"token\": \"wrong horse battery..\", \"command\": \"stop\"}",
                      right[] = "{\"token\": \"" TOKEN "\", \"command\": \"status\"}";
    void *socket = zmq_socket(context, ZMQ_DEALER);
    int none = 0, wait_ms = 60000, wrong = 0;
    zmq_setsockopt(socket, ZMQ_LINGER, &none, sizeof none);
    zmq_setsockopt(socket, ZMQ_RCVTIMEO, &wait_ms, sizeof wait_ms);
    assert_int_equal(zmq_connect(socket, address), 0);
    for (int i = 0; i < 10; i++) {
        assert_true(zmq_send(socket, "", 0, ZMQ_SNDMORE) >= 0);
        assert_true(zmq_send(socket, guess, sizeof guess - 1, 0) >= 0);
    }
    for (bool is_right = false; !is_right;) {
        zmq_msg_t frame;
        zmq_msg_init(&frame);
        assert_true(zmq_msg_recv(&frame, socket, 0) >= 0); /* the empty one */
        assert_true(zmq_msg_recv(&frame, socket, 0) >= 0);
        is_right = zmq_msg_size(&frame) > 11 && memcmp(zmq_msg_data(&frame), "{\"ok\":true,", 11) == 0;
        wrong += !is_right;
        zmq_msg_close(&frame);
        if (wrong == 1 && !is_right) {
            assert_true(zmq_send(socket, "", 0, ZMQ_SNDMORE) >= 0);
            assert_true(zmq_send(socket, right, sizeof right - 1, 0) >= 0);
        }
    }
    assert_true(wrong < 10); /* the ten came within one wait, or nearly so on a busy machine */
    zmq_close(socket);
}

static void a_long_request_is_refused(void *socket)
{
    char long_one[SF_REQUEST_MOST + 1000];
    memset(long_one, ' ', sizeof long_one);
    memcpy(long_one, "{}", 2);
    assert_true(zmq_send(socket, long_one, sizeof long_one, 0) >= 0);
    char answer[256];
    int length = zmq_recv(socket, answer, sizeof answer - 1, 0);
    assert_true(length > 0);
    answer[length < 255 ? length : 255] = '\0';
    assert_non_null(strstr(answer, "at most 4096 bytes"));
}

static atomic_bool reads, may_read;

/* Files that come from a slow disk. */
static int read_slowly(void *user, sf_config *next, sf_error *error)
{
    (void)user;
    (void)next;
    atomic_store(&reads, true);
    while (!atomic_load(&may_read))
        sf_clock_sleep_until(sf_clock_monotonic_ns() + SF_MILLISECOND);
    snprintf(error->text, sizeof error->text, "there is no such file");
    return SF_NO_INPUT;
}

static void a_reload_holds_nobody(void *context, void *owner, const char *address)
{
    static const char text[] = "{\"token\": \"" TOKEN "\", \"command\": \"reload\"}";
    void *other = zmq_socket(context, ZMQ_REQ);
    int wait_ms = 60000;
    zmq_setsockopt(other, ZMQ_RCVTIMEO, &wait_ms, sizeof wait_ms);
    assert_int_equal(zmq_connect(other, address), 0);
    assert_true(zmq_send(other, text, sizeof text - 1, 0) >= 0);
    while (!atomic_load(&reads))
        sf_clock_sleep_until(sf_clock_monotonic_ns() + SF_MILLISECOND);
    expect_ok(owner, "\"command\": \"disarm\"");
    expect_ok(owner, "\"command\": \"status\"");
    char answer[256];
    assert_int_equal(zmq_recv(other, answer, sizeof answer, ZMQ_DONTWAIT), -1);
    atomic_store(&may_read, true);
    int length = zmq_recv(other, answer, sizeof answer - 1, 0);
    assert_true(length > 0 && length < 256);
    answer[length] = '\0';
    assert_non_null(strstr(answer, "there is no such file"));
    zmq_close(other);
}

static void ask_run(const char *address)
{
    void *context = zmq_ctx_new(), *socket = zmq_socket(context, ZMQ_REQ);
    int wait_ms = 60000;
    zmq_setsockopt(socket, ZMQ_RCVTIMEO, &wait_ms, sizeof wait_ms);
    assert_int_equal(zmq_connect(socket, address), 0);
    await(socket, false, 0);
    int64_t guessed_ns = sf_clock_monotonic_ns();
    expect(ask(socket, "{\"token\": \"wrong horse battery..\", \"command\": \"arm\"}"), "the token is wrong");
    assert_true(sf_clock_monotonic_ns() - guessed_ns >= 200 * SF_MILLISECOND);
    expect(ask(socket, "{\"token\": \"" TOKEN "\", \"command\": \"arm\", \"trigger\": \"z\"}"),
           "no trigger is named 'z'");
    assert_true(zmq_send(socket, "{", 1, ZMQ_SNDMORE) >= 0);
    expect(ask(socket, "}"), "expected one frame");
    a_long_request_is_refused(socket);
    guesses_hold_nobody_else(context, socket, address);
    a_guesser_guesses_slowly(context, address);
    a_reload_holds_nobody(context, socket, address);
    expect_ok(socket, "\"command\": \"arm\", \"trigger\": \"pair\", \"seconds\": 1000");
    await(socket, true, 3);
    expect_ok(socket, "\"command\": \"mark\", \"text\": \"light on\"");
    expect_ok(socket, "\"command\": \"renew\", \"seconds\": 2000");
    await_armed_for(socket, 1000);
    expect_ok(socket, "\"command\": \"disarm\"");
    expect_ok(socket, "\"command\": \"renew\", \"trigger\": \"pair\""); /* which it comes too late for */
    await(socket, false, 3);
    expect_ok(socket, "\"command\": \"stop\"");
    zmq_close(socket);
    zmq_ctx_term(context);
}

static void note_address(void *user, const char *name, const char *address)
{
    if (strcmp(name, "control") == 0) snprintf(user, 256, "%s", address);
}

static void a_run_is_armed_marked_and_stopped(void **state)
{
    (void)state;
    test_random random = test_random_start("control", 3);
    sf_recording recording = test_random_recording(&random, 60000, 2, INT64_C(600000000000), 1000);
    char *token = write_token(TOKEN, 0600), *file = test_temporary_path(".h5"), yaml[1024], address[256] = "";
    snprintf(yaml, sizeof yaml,
             "window: {length_s: 0.2, hop_s: 0.1}\nmine: {every: 0}\nsignificance: {kind: 'off'}\n"
             "triggers: [{name: pair, episode: 'e1 -(0,9]-> e2', armed: false, max_age_ms: 0}]\n"
             "control: [{endpoint: 'tcp://127.0.0.1:*', token_file: '%s'}]\n"
             "sinks: [{type: hdf5, path: '%s'}]\n",
             token, file);
    sf_config config = test_config(yaml);
    test_collector *all = test_collector_new();
    sf_run_options options = {.config = &config,
                              .recording = &recording,
                              .speed = 1,
                              .outlet = test_outlet(all),
                              .opened = note_address,
                              .user = address,
                              .configure = read_slowly};
    sf_run *run;
    sf_error error = {0};
    if (sf_run_open(&run, &options, &error) != SF_OK) fail_msg("%s: %s", error.place, error.text);
    assert_int_equal(sf_pipeline_start(sf_run_pipeline(run), &error), SF_OK);
    assert_false(sf_pipeline_wait(sf_run_pipeline(run), 1));
    ask_run(address);
    while (!sf_pipeline_wait(sf_run_pipeline(run), 100))
        ;
    assert_int_equal(sf_run_close(run, &error), SF_OK);
    assert_true(all->triggers >= 3);
    sf_recording back;
    assert_int_equal(sf_recording_read(&back, file, NULL, NULL, &error), SF_OK);
    assert_int_equal(back.marker_count, 1);
    assert_string_equal(back.markers[0].text, "light on");
    sf_recording_clear(&back);
    test_collector_free(all);
    sf_config_free(&config);
    sf_recording_clear(&recording);
    unlink(token);
    unlink(file);
    free(token);
    free(file);
}

static void others_cannot_connect(void **state)
{
    (void)state;
    test_random random = {.state = 1};
    sf_recording recording = test_random_recording(&random, 10, 2, 1000000, 1);
    char *token = write_token(TOKEN, 0600), yaml[512];
    snprintf(yaml, sizeof yaml, "control: [{token_file: '%s', endpoint: 'tcp://*:7740'}]", token);
    sf_config config = test_config(yaml);
    sf_run_options options = {.config = &config, .recording = &recording};
    sf_run *run;
    sf_error error = {0};
    test_assert_fails(sf_run_open(&run, &options, &error), &error, SF_CONFIG, "other machines could connect");
    assert_non_null(strstr(error.place, "control.0.endpoint"));
    sf_config_free(&config);
    sf_recording_clear(&recording);
    unlink(token);
    free(token);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_are_read),
        cmocka_unit_test(wrong_tokens_get_no_other_answer),
        cmocka_unit_test(wrong_requests_are_refused),
        cmocka_unit_test(tokens_are_secrets),
        cmocka_unit_test(a_run_is_armed_marked_and_stopped),
        cmocka_unit_test(others_cannot_connect),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
