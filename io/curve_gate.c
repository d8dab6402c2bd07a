/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread answers libzmq's authentication requests (ZAP, RFC 27) with the keys read at the start, and
 * follows the socket's monitor, the only source for connections that failed before a request.
 */
#include "core/clock.h"
#include "core/error.h"
#include "core/log.h"
#include "core/memory.h"
#include "core/thread.h"
#include "io/curve.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <zmq.h>

#define ASKED "inproc://zeromq.zap.01" /* endpoint of libzmq's requests, by its specification */
#define WATCHED "inproc://curve"
#define DOMAIN "synfire"
#define POLL_MS 50
#define MOST_CLIENTS 10000
#define TELL_EVERY_NS SF_SECOND /* limits log lines about a client that tries again and again */

#define FAILURES                                                                                             \
    (ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL |                            \
     ZMQ_EVENT_HANDSHAKE_FAILED_AUTH)

#define FOLLOWED (FAILURES | ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED)

struct sf_curve_gate {
    bool has_keys;
    sf_visitors *visitors;
    void *socket, *asked, *monitor; /* asked: NULL without keys */
    uint8_t (*clients)[SF_CURVE_KEY_BYTES];
    size_t count, capacity;
    sf_thread thread;
    atomic_bool stopping;
    _Atomic uint64_t refused;
    int64_t told_ns; /* monotonic clock of the latest log line; 0: none yet */
};

/* ---- who is let in ---- */

static int add_client(sf_curve_gate *gate, const char *path, sf_error *error)
{
    sf_curve_keys keys;
    void *clients = gate->clients;
    int status = sf_curve_read(&keys, path, false, error);
    if (status != SF_OK) return status;
    if (gate->count == MOST_CLIENTS)
        return sf_fail(error, SF_CONFIG, path, "is one too many: expected at most %d clients", MOST_CLIENTS);
    if (sf_reserve(&clients, &gate->capacity, gate->count + 1, sizeof *gate->clients) != 0)
        return sf_fail_memory(error);
    gate->clients = clients;
    zmq_z85_decode(gate->clients[gate->count++], keys.public_key);
    return SF_OK;
}

static int add_folder(sf_curve_gate *gate, const char *path, DIR *folder, sf_error *error)
{
    int status = SF_OK;
    for (struct dirent *entry; status == SF_OK && (entry = readdir(folder)) != NULL;) {
        const char *ending = strrchr(entry->d_name, '.');
        char file[4096];
        if (entry->d_name[0] == '.' || ending == NULL || strcmp(ending, ".key") != 0) continue;
        snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
        status = add_client(gate, file, error);
    }
    if (status == SF_OK && gate->count == 0)
        return sf_fail(error, SF_CONFIG, path, "holds no file *.key: nobody could connect");
    return status;
}

static int read_clients(sf_curve_gate *gate, const char *path, sf_error *error)
{
    DIR *folder = opendir(path);
    if (folder == NULL) return add_client(gate, path, error);
    int status = add_folder(gate, path, folder, error);
    closedir(folder);
    return status;
}

static bool is_client(const sf_curve_gate *gate, const uint8_t key[SF_CURVE_KEY_BYTES])
{
    for (size_t i = 0; i < gate->count; i++)
        if (memcmp(gate->clients[i], key, SF_CURVE_KEY_BYTES) == 0) return true;
    return false;
}

/* ---- being asked ---- */

static bool may_tell(sf_curve_gate *gate)
{
    int64_t now_ns = sf_clock_monotonic_ns();
    if (gate->told_ns != 0 && now_ns - gate->told_ns < TELL_EVERY_NS) return false;
    gate->told_ns = now_ns;
    return true;
}

/* version, number of the request, domain, address, identity, mechanism, credentials */
enum { VERSION, NUMBER, SPACE, ADDRESS, IDENTITY, MECHANISM, KEY, REQUEST_FRAMES };

typedef struct request {
    zmq_msg_t frames[REQUEST_FRAMES];
    size_t count;
} request;

static bool receive(sf_curve_gate *gate, request *asked)
{
    bool more = true;
    for (size_t i = 0; i < REQUEST_FRAMES; i++)
        zmq_msg_init(&asked->frames[i]);
    for (asked->count = 0; more && asked->count < REQUEST_FRAMES; asked->count++) {
        if (zmq_msg_recv(&asked->frames[asked->count], gate->asked, ZMQ_DONTWAIT) < 0) return false;
        more = zmq_msg_more(&asked->frames[asked->count]);
    }
    return asked->count > NUMBER && !more;
}

static bool is_text(zmq_msg_t *frame, const char *text)
{
    return zmq_msg_size(frame) == strlen(text) && memcmp(zmq_msg_data(frame), text, strlen(text)) == 0;
}

static bool is_let_in(sf_curve_gate *gate, request *asked)
{
    zmq_msg_t *key = &asked->frames[KEY], *address = &asked->frames[ADDRESS];
    char text[SF_CURVE_TEXT_SIZE];
    if (asked->count != REQUEST_FRAMES || !is_text(&asked->frames[MECHANISM], "CURVE") ||
        zmq_msg_size(key) != SF_CURVE_KEY_BYTES)
        return false;
    if (is_client(gate, zmq_msg_data(key))) return true;
    if (may_tell(gate))
        sf_log(SF_LOG_WARNING, "refused a client at %.*s: its public key %s is not among those of `clients`",
               (int)zmq_msg_size(address), (const char *)zmq_msg_data(address),
               zmq_z85_encode(text, zmq_msg_data(key), SF_CURVE_KEY_BYTES));
    return false;
}

static void answer(sf_curve_gate *gate, request *asked)
{
    bool let_in = is_let_in(gate, asked);
    zmq_send(gate->asked, "1.0", 3, ZMQ_SNDMORE);
    zmq_send(gate->asked, zmq_msg_data(&asked->frames[NUMBER]), zmq_msg_size(&asked->frames[NUMBER]),
             ZMQ_SNDMORE);
    zmq_send(gate->asked, let_in ? "200" : "400", 3, ZMQ_SNDMORE);
    zmq_send(gate->asked, let_in ? "OK" : "not among the clients", let_in ? 2 : 21, ZMQ_SNDMORE);
    zmq_send(gate->asked, "", 0, ZMQ_SNDMORE);
    zmq_send(gate->asked, "", 0, 0);
}

static void serve(sf_curve_gate *gate)
{
    request asked;
    if (receive(gate, &asked)) answer(gate, &asked);
    for (size_t i = 0; i < REQUEST_FRAMES; i++)
        zmq_msg_close(&asked.frames[i]);
}

static void count_refused(sf_curve_gate *gate, uint16_t event, const char *endpoint)
{
    uint64_t refused = atomic_fetch_add(&gate->refused, 1) + 1;
    if (gate->has_keys && event != ZMQ_EVENT_HANDSHAKE_FAILED_AUTH && may_tell(gate)) /* told by its key */
        sf_log(SF_LOG_WARNING,
               "%s: refused a connection that showed no key, or knows another key of this server; %" PRIu64
               " so far",
               endpoint, refused);
}

/* An event is two frames: its number and value, and the endpoint. */
static void follow(sf_curve_gate *gate)
{
    unsigned char event[6];
    char endpoint[256];
    while (zmq_recv(gate->monitor, event, sizeof event, ZMQ_DONTWAIT) == sizeof event) {
        uint16_t number;
        int32_t value;
        memcpy(&number, event, sizeof number);
        memcpy(&value, event + sizeof number, sizeof value);
        int length = zmq_recv(gate->monitor, endpoint, sizeof endpoint - 1, ZMQ_DONTWAIT);
        endpoint[length < 0 ? 0 : length < (int)sizeof endpoint ? length : (int)sizeof endpoint - 1] = '\0';
        if (number == ZMQ_EVENT_ACCEPTED)
            sf_visitors_come(gate->visitors, value);
        else if (number == ZMQ_EVENT_DISCONNECTED)
            sf_visitors_go(gate->visitors, value);
        else if ((number & FAILURES) != 0)
            count_refused(gate, number, endpoint);
    }
}

static void *run(void *argument)
{
    sf_curve_gate *gate = argument;
    while (!atomic_load(&gate->stopping)) {
        zmq_pollitem_t waiting[] = {{.socket = gate->monitor, .events = ZMQ_POLLIN},
                                    {.socket = gate->asked, .events = ZMQ_POLLIN}};
        if (zmq_poll(waiting, gate->has_keys ? 2 : 1, POLL_MS) <= 0) continue;
        if (waiting[0].revents != 0) follow(gate);
        if (gate->has_keys && waiting[1].revents != 0) serve(gate);
    }
    return NULL;
}

/* ---- opening and closing ---- */

static int set_keys(sf_curve_gate *gate, const sf_curve_keys *own, sf_error *error)
{
    int one = 1, none = 0;
    bool set = zmq_setsockopt(gate->socket, ZMQ_CURVE_SERVER, &one, sizeof one) == 0 &&
               zmq_setsockopt(gate->socket, ZMQ_CURVE_SECRETKEY, own->secret_key, SF_CURVE_TEXT_SIZE) == 0 &&
               zmq_setsockopt(gate->socket, ZMQ_ZAP_DOMAIN, DOMAIN, strlen(DOMAIN)) == 0 &&
               zmq_setsockopt(gate->asked, ZMQ_LINGER, &none, sizeof none) == 0;
    return set ? SF_OK
               : sf_fail(error, SF_UNAVAILABLE, "key", "the socket takes no keys: %s",
                         zmq_strerror(zmq_errno()));
}

static int open_monitor(sf_curve_gate *gate, void *context, sf_error *error)
{
    gate->monitor = zmq_socket(context, ZMQ_PAIR);
    if (gate->monitor == NULL || zmq_socket_monitor(gate->socket, WATCHED, FOLLOWED) != 0 ||
        zmq_connect(gate->monitor, WATCHED) != 0)
        return sf_fail(error, SF_UNAVAILABLE, NULL, "cannot follow who connects: %s",
                       zmq_strerror(zmq_errno()));
    return SF_OK;
}

static int open_keys(sf_curve_gate *gate, void *context, const sf_curve_keys *own, sf_error *error)
{
    gate->asked = zmq_socket(context, ZMQ_REP);
    if (gate->asked == NULL || zmq_bind(gate->asked, ASKED) != 0)
        return sf_fail(error, SF_UNAVAILABLE, "key", "cannot ask who connects: %s",
                       zmq_strerror(zmq_errno()));
    return set_keys(gate, own, error);
}

/* Who is let in; `own` is wiped by the caller. */
static int read_server(sf_curve_gate *gate, sf_curve_keys *own, const sf_curve_server *server,
                       sf_error *error)
{
    sf_error reason = {0};
    *own = (sf_curve_keys){0};
    int status = sf_curve_server_wanted(&gate->has_keys, server, error);
    if (status != SF_OK || !gate->has_keys) return status;
    status = read_clients(gate, server->clients, &reason);
    if (status != SF_OK) return sf_curve_fail_at("clients", status, &reason, error);
    status = sf_curve_read(own, server->key, true, &reason);
    return status == SF_OK ? SF_OK : sf_curve_fail_at("key", status, &reason, error);
}

int sf_curve_server_check(const sf_curve_server *server, sf_error *error)
{
    sf_curve_gate gate = {0};
    sf_curve_keys own;
    int status = read_server(&gate, &own, server, error);
    explicit_bzero(&own, sizeof own);
    sf_free(gate.clients);
    return status;
}

static int open_gate(sf_curve_gate *gate, void *context, const sf_curve_server *server, sf_error *error)
{
    sf_curve_keys own;
    int status = read_server(gate, &own, server, error);
    if (status == SF_OK) status = sf_visitors_open(&gate->visitors, gate->socket, error);
    if (status == SF_OK && gate->has_keys) status = open_keys(gate, context, &own, error);
    explicit_bzero(&own, sizeof own);
    if (status == SF_OK) status = open_monitor(gate, context, error);
    return status == SF_OK ? sf_thread_start(&gate->thread, "synfire-keys", run, gate, error) : status;
}

int sf_curve_gate_open(sf_curve_gate **out, void *context, void *socket, const sf_curve_server *server,
                       sf_error *error)
{
    *out = NULL;
    sf_curve_gate *gate = sf_alloc(1, sizeof *gate);
    if (gate == NULL) return sf_fail_memory(error);
    gate->socket = socket;
    int status = open_gate(gate, context, server, error);
    if (status == SF_OK) {
        *out = gate;
    } else {
        zmq_socket_monitor(socket, NULL, 0);
        sf_curve_gate_close(gate);
    }
    return status;
}

sf_visitors *sf_curve_gate_visitors(const sf_curve_gate *gate)
{
    return gate->visitors;
}

int64_t sf_curve_gate_refused(const sf_curve_gate *gate)
{
    return gate->has_keys ? (int64_t)atomic_load(&gate->refused) : -1;
}

void sf_curve_gate_close(sf_curve_gate *gate)
{
    if (gate == NULL) return;
    atomic_store(&gate->stopping, true);
    sf_thread_join(&gate->thread);
    if (gate->monitor != NULL) zmq_close(gate->monitor);
    if (gate->asked != NULL) zmq_close(gate->asked);
    sf_visitors_close(gate->visitors);
    sf_free(gate->clients);
    sf_free(gate);
}
