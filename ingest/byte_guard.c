/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/byte_guard.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/log.h"
#include "core/memory.h"
#include "core/thread.h"
#include "decode/wire.h"

#include <inttypes.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <zmq.h>

#define LOOK_EVERY_MS 50
#define GIVEN_UP_NS SF_SECOND /* libzmq reconnects within a tenth of this, or never */

#define EVENTS                                                                                               \
    (ZMQ_EVENT_CONNECTED | ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_CONNECT_DELAYED | ZMQ_EVENT_CONNECT_RETRIED)
#define REFUSED                                                                                              \
    (ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL |                            \
     ZMQ_EVENT_HANDSHAKE_FAILED_AUTH)
#define OF_KEYS (REFUSED | ZMQ_EVENT_HANDSHAKE_SUCCEEDED)

/* What CURVE adds to each frame: name, nonce, authenticator and flags. */
#define SEALED_BYTES 33

struct sf_byte_guard {
    void *socket, *monitor;
    char endpoint[256];
    sf_thread thread;
    sf_bell stop;
    bool has_keys;
    bool refused;     /* keys were refused since the last connection, and that was logged */
    bool was_met;     /* the peer of the last connection speaks ZeroMQ, and publishes */
    int connection;   /* libzmq's; -1: none */
    int64_t ended_ns; /* monotonic clock at the end of a connection that libzmq has not retried; else 0 */
    _Atomic uint64_t handed_on, cuts;
    atomic_bool given_up, connected;
};

/* Logs a refusal once until the next connection, because libzmq retries ten times a second. */
static void follow_keys(sf_byte_guard *guard, uint16_t number, int32_t value)
{
    bool wants_keys = number == ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL &&
                      value == ZMQ_PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH && !guard->has_keys;
    bool refused = wants_keys || (guard->has_keys && number != ZMQ_EVENT_HANDSHAKE_SUCCEEDED);
    if (refused && !guard->refused)
        sf_log(SF_LOG_ERROR, "%s: %s", guard->endpoint,
               wants_keys ? "the sender lets in nobody without a key: `key` and `server_key`"
               : number == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH
                   ? "the sender refuses this key: is its public file among the sender's clients?"
                   : "no connection by keys: the sender has another key than `server_key`, or none");
    guard->refused = refused;
    if (guard->has_keys) atomic_store(&guard->connected, !refused);
}

/* An event is two frames: its number and value (a descriptor), and the endpoint. */
static void follow_connection(sf_byte_guard *guard)
{
    unsigned char event[6];
    char endpoint[256];
    while (zmq_recv(guard->monitor, event, sizeof event, ZMQ_DONTWAIT) == sizeof event) {
        uint16_t number;
        int32_t value;
        memcpy(&number, event, sizeof number);
        memcpy(&value, event + sizeof number, sizeof value);
        zmq_recv(guard->monitor, endpoint, sizeof endpoint, ZMQ_DONTWAIT);
        if ((number & OF_KEYS) != 0) {
            guard->was_met = number == ZMQ_EVENT_HANDSHAKE_SUCCEEDED;
            follow_keys(guard, number, value);
            continue;
        }
        guard->connection = number == ZMQ_EVENT_CONNECTED ? value : -1;
        atomic_store(&guard->connected, number == ZMQ_EVENT_CONNECTED && !guard->has_keys);
        if (number == ZMQ_EVENT_CONNECTED) {
            atomic_store(&guard->handed_on, 0);
            guard->was_met = false;
        }
        guard->ended_ns = number == ZMQ_EVENT_DISCONNECTED ? sf_clock_monotonic_ns() : 0;
    }
}

/* libzmq reconnects after a broken connection, but not after a protocol violation, such as a frame that is
 * too long. */
static void watch_end(sf_byte_guard *guard)
{
    if (guard->ended_ns == 0 || sf_clock_monotonic_ns() - guard->ended_ns < GIVEN_UP_NS) return;
    guard->ended_ns = 0;
    atomic_store(&guard->given_up, true);
    if (guard->refused) return;
    if (guard->was_met)
        sf_log(SF_LOG_ERROR, "%s: a frame was longer than %u MiB, or no frame of ZeroMQ; connecting again",
               guard->endpoint, SF_WIRE_MOST_BYTES >> 20);
    else
        sf_log(SF_LOG_ERROR,
               "%s: what answers there publishes nothing by ZeroMQ: has another program, or another socket "
               "of the same one, this port? connecting again",
               guard->endpoint);
    atomic_fetch_add(&guard->cuts, 1);
}

/* Bytes received over the connection and not handed on; 0 if the kernel does not report them, as for ipc. */
static uint64_t held(sf_byte_guard *guard)
{
    struct tcp_info info = {0};
    socklen_t size = sizeof info;
    uint64_t handed_on = atomic_load(&guard->handed_on);
    if (guard->connection < 0 || getsockopt(guard->connection, IPPROTO_TCP, TCP_INFO, &info, &size) != 0)
        return 0;
    return info.tcpi_bytes_received > handed_on ? info.tcpi_bytes_received - handed_on : 0;
}

static void *look(void *argument)
{
    sf_byte_guard *guard = argument;
    while (!sf_bell_wait(&guard->stop, LOOK_EVERY_MS)) {
        follow_connection(guard);
        watch_end(guard);
        if (held(guard) <= SF_GUARD_BYTES) continue;
        sf_log(SF_LOG_ERROR,
               "%s: cut off: it sent %" PRIu64 " MiB that make no frame; is another program sending?",
               guard->endpoint, SF_GUARD_BYTES >> 20);
        shutdown(guard->connection, SHUT_RDWR);
        guard->connection = -1;
        atomic_fetch_add(&guard->cuts, 1);
    }
    return NULL;
}

int sf_byte_guard_open(sf_byte_guard **out, void *context, void *socket, const char *endpoint, bool has_keys,
                       sf_error *error)
{
    *out = NULL;
    sf_byte_guard *guard = sf_alloc(1, sizeof *guard);
    if (guard == NULL) return sf_fail_memory(error);
    guard->socket = socket;
    guard->has_keys = has_keys;
    guard->connection = -1;
    snprintf(guard->endpoint, sizeof guard->endpoint, "%s", endpoint);
    int status = sf_bell_open(&guard->stop, error);
    const char name[] = "inproc://connection";
    if (status == SF_OK &&
        (zmq_socket_monitor(socket, name, EVENTS | OF_KEYS) != 0 ||
         (guard->monitor = zmq_socket(context, ZMQ_PAIR)) == NULL || zmq_connect(guard->monitor, name) != 0))
        status = sf_fail(error, SF_UNAVAILABLE, endpoint, "cannot watch the connection: %s",
                         zmq_strerror(zmq_errno()));
    if (status == SF_OK) status = sf_thread_start(&guard->thread, "synfire-guard", look, guard, error);
    if (status != SF_OK) {
        sf_byte_guard_close(guard);
        return status;
    }
    *out = guard;
    return SF_OK;
}

void sf_byte_guard_close(sf_byte_guard *guard)
{
    if (guard == NULL) return;
    if (guard->thread.running) sf_bell_ring(&guard->stop);
    sf_thread_join(&guard->thread);
    zmq_socket_monitor(guard->socket, NULL, 0);
    if (guard->monitor != NULL) zmq_close(guard->monitor);
    sf_bell_close(&guard->stop);
    sf_free(guard);
}

/* On the wire a frame begins with 2 bytes, or with 9 where it is longer than 255 (ZMTP 3). */
void sf_byte_guard_note(sf_byte_guard *guard, uint64_t bytes)
{
    bytes += guard->has_keys ? SEALED_BYTES : 0;
    atomic_fetch_add_explicit(&guard->handed_on, bytes + (bytes > 255 ? 9 : 2), memory_order_relaxed);
}

bool sf_byte_guard_gave_up(sf_byte_guard *guard)
{
    return atomic_exchange(&guard->given_up, false);
}

bool sf_byte_guard_connected(const sf_byte_guard *guard)
{
    return atomic_load(&guard->connected);
}

uint64_t sf_byte_guard_cuts(sf_byte_guard *guard)
{
    return atomic_exchange_explicit(&guard->cuts, 0, memory_order_relaxed);
}
