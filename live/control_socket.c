/* SPDX-License-Identifier: Apache-2.0 */
#include "live/control_socket.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/json.h"
#include "core/log.h"
#include "core/memory.h"
#include "core/ring.h"
#include "core/thread.h"
#include "io/curve.h"
#include "io/endpoint.h"
#include "live/control_request.h"
#include "live/live_state.h"
#include "live/orders.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <zmq.h>

#define POLL_MS 50
#define WRONG_TOKEN_MS 200 /* so long the answer to a guess is held back */
#define MOST_GUESSES 256   /* answers held back at once; further guesses get none */
#define MOST_JOBS 16       /* requests that wait for the working thread */
#define MOST_SERVED 64     /* requests taken in one turn, before answers that are due */
#define MOST_QUEUED 16     /* requests and answers that libzmq keeps of a connection */
#define MOST_ROUTE 4       /* frames before a request: its connection, what REQ adds, and an empty one */
#define MOST_ROUTE_BYTES 256
#define MOST_RECEIVED (16 * SF_REQUEST_MOST) /* libzmq closes a connection that sends a longer frame */

/* Where an answer goes: the frames that came before the request. */
typedef struct route {
    zmq_msg_t frames[MOST_ROUTE];
    size_t count;
} route;

/* The answer to a guess. It holds its own connection, and nobody else's. */
typedef struct guess {
    route from;
    int64_t due_ns;
} guess;

/* A request that may take long, done by the working thread. */
typedef struct job {
    route from;
    sf_request request;
    sf_text answer;
} job;

struct sf_control_socket {
    const sf_live_options *options;
    sf_pipeline *pipeline;
    void *context, *socket;
    sf_curve_gate *gate; /* who connects; without keys whoever has the token is answered */
    char address[256], token[SF_TOKEN_MOST + 1];
    sf_thread thread, worker;
    sf_control_calls calls;
    atomic_bool stopping;
    atomic_bool started;  /* nothing waits for `start` (any more) */
    pthread_mutex_t lock; /* of status */
    sf_message *status;   /* the newest; NULL: none yet */
    sf_ring jobs, done;   /* of job *, to the working thread and back */
    sf_bell work, worked;
    /* The rest is the answering thread's. */
    sf_text answer;
    guess guesses[MOST_GUESSES]; /* a circle, in the order in which they are due */
    size_t first_guess, guess_count;
    sf_wrong_tokens wrong;
};

/* ---- where answers go ---- */

static void clear_route(route *it)
{
    for (size_t i = 0; i < it->count; i++)
        zmq_msg_close(&it->frames[i]);
    it->count = 0;
}

static void move_route(route *to, route *from)
{
    for (size_t i = 0; i < from->count; i++) {
        zmq_msg_init(&to->frames[i]);
        zmq_msg_move(&to->frames[i], &from->frames[i]);
    }
    to->count = from->count;
    clear_route(from);
}

static bool is_same_connection(route *a, route *b)
{
    size_t size = zmq_msg_size(&a->frames[0]);
    return size == zmq_msg_size(&b->frames[0]) &&
           memcmp(zmq_msg_data(&a->frames[0]), zmq_msg_data(&b->frames[0]), size) == 0;
}

/* What libzmq has no room for is lost: the asker does not read. */
static void send_answer(sf_control_socket *it, route *to, sf_text *answer)
{
    const char *text = answer->failed ? "{\"ok\":false,\"error\":\"memory is out\"}" : answer->data;
    bool sent = true;
    for (size_t i = 0; i < to->count && sent; i++)
        sent = zmq_msg_send(&to->frames[i], it->socket, ZMQ_SNDMORE | ZMQ_DONTWAIT) >= 0;
    if (sent) zmq_send(it->socket, text, strlen(text), ZMQ_DONTWAIT);
    if (answer->failed) sf_text_free(answer);
    clear_route(to);
}

/* ---- what is asked ---- */

static int order(sf_control_socket *it, sf_command command, const char *trigger, sf_error *error)
{
    return sf_order_trigger(it->pipeline, it->options, command, trigger, error);
}

static int obey(sf_control_socket *it, const sf_request *request, sf_error *error)
{
    sf_command command = {.arm_ns = sf_seconds_to_ns(request->seconds), .by = "control"};
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
        sf_pipeline_halt(it->pipeline);
        sf_pipeline_stop(it->pipeline);
        return SF_OK;
    case SF_REQUEST_START:
        atomic_store(&it->started, true);
        return SF_OK;
    case SF_REQUEST_STATUS:
    case SF_REQUEST_RELOAD:
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
    if (status != NULL) sf_message_keep(status);
    pthread_mutex_unlock(&it->lock);
    sf_text_printf(&it->answer, "{\"ok\":true,\"status\":");
    if (status != NULL)
        sf_message_to_json(&it->answer, status, sf_pipeline_stream(it->pipeline));
    else
        sf_text_printf(&it->answer, "null");
    sf_text_printf(&it->answer, "}");
    sf_message_release(status);
}

static void answer_error(sf_text *answer, const sf_error *error)
{
    char sentence[sizeof error->place + sizeof error->text + 4];
    bool placed = error->place[0] != '\0';
    snprintf(sentence, sizeof sentence, "%s%s%s", error->place, placed ? ": " : "", error->text);
    sf_json json = sf_json_start(answer);
    sf_json_object(&json, NULL);
    sf_json_bool(&json, "ok", false);
    sf_json_string(&json, "error", sentence);
    sf_json_end_object(&json);
}

static void answer_ok(sf_text *answer)
{
    sf_text_printf(answer, "{\"ok\":true}");
}

/* ---- what may take long: reading files, copying densities ---- */

static bool takes_long(sf_request_kind kind)
{
    return kind == SF_REQUEST_RELOAD || kind == SF_REQUEST_AGGREGATE || kind == SF_REQUEST_STATE;
}

static int reload(sf_control_socket *it, sf_error *error)
{
    if (it->calls.reload == NULL) return sf_fail(error, SF_USAGE, NULL, "this run has no file to read again");
    return it->calls.reload(it->calls.user, error);
}

static int answer_density(sf_control_socket *it, job *asked, sf_error *error)
{
    sf_density_copy copy;
    int status = sf_pipeline_copy_density(it->pipeline, &copy, asked->request.density, error);
    if (status == SF_OK) status = sf_live_state_answer(&asked->answer, &copy, &asked->request, error);
    sf_density_copy_close(&copy);
    return status;
}

static void do_job(sf_control_socket *it, job *asked)
{
    sf_error error = {0};
    bool reloads = asked->request.kind == SF_REQUEST_RELOAD;
    int status = reloads ? reload(it, &error) : answer_density(it, asked, &error);
    if (status != SF_OK)
        answer_error(&asked->answer, &error);
    else if (reloads)
        answer_ok(&asked->answer);
}

static void *run_worker(void *argument)
{
    sf_control_socket *it = argument;
    while (!atomic_load(&it->stopping)) {
        job *asked;
        sf_bell_wait(&it->work, -1);
        while (!atomic_load(&it->stopping) && sf_ring_pop(&it->jobs, &asked, 1, NULL) == 1) {
            do_job(it, asked);
            sf_ring_push(&it->done, &asked, 1); /* which has room for all there are */
            sf_bell_ring(&it->worked);
        }
    }
    return NULL;
}

static void free_job(job *asked)
{
    clear_route(&asked->from);
    sf_text_free(&asked->answer);
    sf_free(asked);
}

static int give_job(sf_control_socket *it, route *from, const sf_request *request, sf_error *error)
{
    job *asked = sf_alloc(1, sizeof *asked);
    if (asked == NULL) return sf_fail_memory(error);
    asked->request = *request;
    if (sf_ring_push(&it->jobs, &asked, 1) == 0) {
        sf_free(asked);
        return sf_fail(error, SF_AGAIN, NULL, "too many requests wait: ask again");
    }
    move_route(&asked->from, from);
    sf_bell_ring(&it->work);
    return SF_OK;
}

static void send_done(sf_control_socket *it)
{
    for (job *asked; sf_ring_pop(&it->done, &asked, 1, NULL) == 1; free_job(asked))
        send_answer(it, &asked->from, &asked->answer);
}

/* ---- guesses ---- */

static guess *guess_at(sf_control_socket *it, size_t index)
{
    return &it->guesses[(it->first_guess + index) % MOST_GUESSES];
}

static bool is_held(sf_control_socket *it, route *from)
{
    for (size_t i = 0; i < it->guess_count; i++)
        if (is_same_connection(&guess_at(it, i)->from, from)) return true;
    return false;
}

static void hold(sf_control_socket *it, route *from)
{
    int64_t now_ns = sf_clock_monotonic_ns();
    sf_wrong_token(&it->wrong, "control: a request with a wrong token");
    if (it->guess_count == MOST_GUESSES) return;
    guess *held = guess_at(it, it->guess_count++);
    held->due_ns = now_ns + WRONG_TOKEN_MS * SF_MILLISECOND;
    move_route(&held->from, from);
}

static void send_held(sf_control_socket *it)
{
    const sf_error wrong = {.text = SF_REQUEST_WRONG_TOKEN};
    while (it->guess_count > 0 && guess_at(it, 0)->due_ns <= sf_clock_monotonic_ns()) {
        sf_text_clear(&it->answer);
        answer_error(&it->answer, &wrong);
        send_answer(it, &guess_at(it, 0)->from, &it->answer);
        it->first_guess = (it->first_guess + 1) % MOST_GUESSES;
        it->guess_count--;
    }
}

/* ---- the answering thread: it never waits for anybody ---- */

static void answer(sf_control_socket *it, route *from, zmq_msg_t *bytes, bool whole)
{
    sf_request request = {0};
    sf_error error = {0};
    int status = whole
                     ? sf_request_parse(&request, zmq_msg_data(bytes), zmq_msg_size(bytes), it->token, &error)
                     : sf_fail(&error, SF_USAGE, NULL, "expected one frame");
    if (status == SF_UNAVAILABLE) {
        hold(it, from);
        return;
    }
    if (status == SF_OK) sf_visitors_know(sf_curve_gate_visitors(it->gate), zmq_msg_get(bytes, ZMQ_SRCFD));
    if (status == SF_OK && takes_long(request.kind)) {
        status = give_job(it, from, &request, &error);
        if (status == SF_OK) return;
    }
    if (status == SF_OK) status = obey(it, &request, &error);
    sf_text_clear(&it->answer);
    if (status != SF_OK)
        answer_error(&it->answer, &error);
    else if (request.kind == SF_REQUEST_STATUS)
        answer_status(it);
    else
        answer_ok(&it->answer);
    send_answer(it, from, &it->answer);
}

/* Takes the frames up to the first empty one; false where these are not what REQ sends. */
static bool receive_route(sf_control_socket *it, route *from)
{
    for (bool over = false; !over; from->count++) {
        zmq_msg_t *frame = &from->frames[from->count];
        zmq_msg_init(frame);
        bool is_first = from->count == 0;
        if (zmq_msg_recv(frame, it->socket, ZMQ_DONTWAIT) < 0) {
            zmq_msg_close(frame);
            return false;
        }
        over = !is_first && zmq_msg_size(frame) == 0;
        bool fits = zmq_msg_more(frame) && zmq_msg_size(frame) <= MOST_ROUTE_BYTES;
        if (!fits || (!over && from->count + 1 == MOST_ROUTE)) {
            from->count++;
            return false;
        }
    }
    return true;
}

/* What is left of a message is taken and forgotten. */
static void skip_rest(sf_control_socket *it)
{
    zmq_msg_t frame;
    int more = 0;
    size_t size = sizeof more;
    zmq_msg_init(&frame);
    while (zmq_getsockopt(it->socket, ZMQ_RCVMORE, &more, &size) == 0 && more != 0 &&
           zmq_msg_recv(&frame, it->socket, ZMQ_DONTWAIT) >= 0)
        ;
    zmq_msg_close(&frame);
}

/* False where nothing waits. */
static bool serve(sf_control_socket *it)
{
    route from = {.count = 0};
    zmq_msg_t bytes;
    zmq_msg_init(&bytes);
    bool routed = receive_route(it, &from), any = from.count > 0;
    if (routed && zmq_msg_recv(&bytes, it->socket, ZMQ_DONTWAIT) >= 0 && !is_held(it, &from))
        answer(it, &from, &bytes, !zmq_msg_more(&bytes));
    if (any) skip_rest(it);
    zmq_msg_close(&bytes);
    clear_route(&from);
    return any;
}

static long wait_ms(sf_control_socket *it)
{
    if (it->guess_count == 0) return POLL_MS;
    int64_t left_ms = (guess_at(it, 0)->due_ns - sf_clock_monotonic_ns()) / SF_MILLISECOND + 1;
    return left_ms < 0 ? 0 : left_ms < POLL_MS ? (long)left_ms : POLL_MS;
}

static void *run(void *argument)
{
    sf_control_socket *it = argument;
    while (!atomic_load(&it->stopping)) {
        zmq_pollitem_t waiting[] = {{.socket = it->socket, .events = ZMQ_POLLIN},
                                    {.fd = it->worked.fd, .events = ZMQ_POLLIN}};
        zmq_poll(waiting, 2, wait_ms(it));
        if (waiting[1].revents != 0) sf_bell_wait(&it->worked, 0);
        for (int i = 0; i < MOST_SERVED && serve(it); i++)
            ;
        send_done(it);
        send_held(it);
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
    if (it->worker.running) sf_bell_ring(&it->work);
    sf_thread_join(&it->worker);
    for (job *left;
         sf_ring_pop(&it->jobs, &left, 1, NULL) == 1 || sf_ring_pop(&it->done, &left, 1, NULL) == 1;)
        free_job(left);
    for (size_t i = 0; i < it->guess_count; i++)
        clear_route(&guess_at(it, i)->from);
    if (it->socket != NULL) zmq_close(it->socket);
    sf_curve_gate_close(it->gate);
    if (it->context != NULL) zmq_ctx_term(it->context);
    sf_message_release(it->status);
    pthread_mutex_destroy(&it->lock);
    sf_ring_close(&it->jobs);
    sf_ring_close(&it->done);
    sf_bell_close(&it->work);
    sf_bell_close(&it->worked);
    sf_text_free(&it->answer);
    sf_free(it);
    return SF_OK;
}

static int read_token(char token[SF_TOKEN_MOST + 1], const char *path, sf_error *error)
{
    sf_error reason = {0};
    int status = sf_token_read(token, path, &reason);
    if (status == SF_OK || status == SF_NO_MEMORY) return status == SF_OK ? SF_OK : sf_fail_memory(error);
    return sf_fail(error, SF_CONFIG, "token_file", "%s: %s", reason.place, reason.text);
}

int sf_control_socket_examine(const sf_control_settings *settings, sf_error *error)
{
    char token[SF_TOKEN_MOST + 1];
    const sf_curve_server curve = {settings->key, settings->clients};
    int status = read_token(token, settings->token_file, error);
    explicit_bzero(token, sizeof token);
    if (status == SF_OK) status = sf_endpoint_check(settings->endpoint, error);
    if (status == SF_OK) status = sf_curve_server_check(&curve, error);
    if (status == SF_OK && !sf_curve_is_given(settings->key) && sf_endpoint_is_public(settings->endpoint))
        status = sf_fail(
            error, SF_CONFIG, "endpoint",
            "found '%.80s', to which other machines could connect: expected one of this machine alone, "
            "as tcp://127.0.0.1:7740 or ipc://PATH, or `key` and `clients`",
            settings->endpoint);
    return status;
}

static int bind_socket(sf_control_socket *it, const sf_control_settings *settings, sf_error *error)
{
    const sf_curve_server curve = {settings->key, settings->clients};
    const char *endpoint = settings->endpoint;
    int64_t most = MOST_RECEIVED;
    int linger_ms = 100, queued = MOST_QUEUED;
    size_t size = sizeof it->address;
    it->context = zmq_ctx_new();
    it->socket = it->context != NULL ? zmq_socket(it->context, ZMQ_ROUTER) : NULL;
    if (it->socket == NULL)
        return sf_fail(error, SF_UNAVAILABLE, endpoint, "cannot make a socket: %s",
                       zmq_strerror(zmq_errno()));
    zmq_setsockopt(it->socket, ZMQ_MAXMSGSIZE, &most, sizeof most);
    zmq_setsockopt(it->socket, ZMQ_LINGER, &linger_ms, sizeof linger_ms);
    zmq_setsockopt(it->socket, ZMQ_RCVHWM, &queued, sizeof queued);
    zmq_setsockopt(it->socket, ZMQ_SNDHWM, &queued, sizeof queued);
    int status = sf_curve_gate_open(&it->gate, it->context, it->socket, &curve, error);
    if (status != SF_OK) return status;
    if (zmq_bind(it->socket, endpoint) != 0)
        return sf_fail(error, SF_UNAVAILABLE, endpoint, "cannot bind: %s", zmq_strerror(zmq_errno()));
    zmq_getsockopt(it->socket, ZMQ_LAST_ENDPOINT, it->address, &size);
    return SF_OK;
}

static int open_worker(sf_control_socket *it, sf_error *error)
{
    int status = sf_ring_open(&it->jobs, sizeof(job *), MOST_JOBS, SF_RING_DROP_NEWEST, error);
    if (status == SF_OK) /* for what is done in one turn of the answering thread */
        status = sf_ring_open(&it->done, sizeof(job *), MOST_SERVED + 2 * MOST_JOBS, SF_RING_BLOCK, error);
    if (status == SF_OK) status = sf_bell_open(&it->work, error);
    return status == SF_OK ? sf_bell_open(&it->worked, error) : status;
}

int sf_control_socket_open(sf_control_socket **out, const sf_control_settings *settings,
                           const sf_live_options *options, sf_pipeline *pipeline,
                           const sf_control_calls *calls, sf_error *error)
{
    *out = NULL;
    sf_control_socket *it = sf_alloc(1, sizeof *it);
    if (it == NULL) return sf_fail_memory(error);
    pthread_mutex_init(&it->lock, NULL);
    it->options = options;
    it->pipeline = pipeline;
    it->calls = *calls;
    atomic_store(&it->started, !settings->hold);
    int status = sf_control_socket_examine(settings, error);
    if (status == SF_OK) status = read_token(it->token, settings->token_file, error);
    if (status == SF_OK) status = open_worker(it, error);
    if (status == SF_OK) status = bind_socket(it, settings, error);
    if (status == SF_OK)
        *out = it;
    else
        close_socket(it, NULL);
    return status;
}

int sf_control_socket_start(sf_control_socket *it, sf_error *error)
{
    int status = sf_thread_start(&it->worker, "synfire-answers", run_worker, it, error);
    return status == SF_OK ? sf_thread_start(&it->thread, "synfire-control", run, it, error) : status;
}

const char *sf_control_socket_address(const sf_control_socket *it)
{
    return it->address;
}

static void keep_status(void *self, sf_message *message)
{
    sf_control_socket *it = self;
    if (message->topic != SF_TOPIC_STATUS) return;
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
