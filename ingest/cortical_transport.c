/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A WebSocket client: connects to a CL1, subscribes, and takes its messages one by one; where it is not
 * there, or goes, it is tried again.
 *
 * libwebsockets, which the page is served by, has an event loop of its own that takes the thread and hands
 * pieces of messages to callbacks. Here a thread asks for the next message until a deadline, so that loop
 * would need another thread and a queue between them; the client's part of RFC 6455 is less
 * (ingest/websocket.c), and is there in every build.
 */
#include "core/clock.h"
#include "core/error.h"
#include "core/json.h"
#include "core/log.h"
#include "core/memory.h"
#include "core/text.h"
#include "ingest/cortical.h"
#include "ingest/tcp.h"
#include "ingest/websocket.h"
#include "io/descriptors.h"

#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define AGAIN_NS (SF_SECOND / 2)
#define GREETING_NS (5 * SF_SECOND) /* for the whole handshake */
#define CHUNK 65536
#define MOST_HEAD 8192    /* bytes of the server's answer */
#define MOST_WAITING 4096 /* bytes of pongs that the server does not take; then it gets no more */
#define MOST_STREAMS 16
#define MOST_NAME 128

typedef enum stage { AWAY, CALLING, GREETING, OPEN } stage;

typedef struct client {
    sf_transport transport;
    sf_cortical_place place;
    char endpoint[256];
    struct addrinfo *addresses;
    sf_text subscriptions; /* frames */
    stage stage;
    int socket; /* -1: AWAY */
    int64_t again_ns, until_ns;
    char key[SF_WEBSOCKET_KEY_SIZE];
    sf_text waiting; /* for the socket to take it */
    size_t sent;     /* of what waits */
    sf_websocket frames;
    char bytes[CHUNK]; /* from .. to came and were not read */
    size_t from, to;
    uint64_t ended;   /* connections, so far */
    bool was_refused; /* since it was open: told once */
    atomic_bool connected;
} client;

/* ---- what goes out ---- */

/* The mask is there for proxies that might take a frame for a request; a server takes it off. */
static int put_frame(sf_text *to, sf_websocket_kind kind, const void *bytes, size_t size)
{
    unsigned char head[SF_WEBSOCKET_HEAD], mask[4];
    if (getrandom(mask, sizeof mask, 0) != sizeof mask) return SF_AGAIN;
    size_t length = sf_websocket_put_head(head, kind, size, mask);
    sf_text_append(to, (const char *)head, length);
    size_t begin = to->length;
    sf_text_append(to, bytes, size);
    if (to->failed) return SF_NO_MEMORY;
    sf_websocket_mask((unsigned char *)to->data + begin, size, mask, 0);
    return SF_OK;
}

/* False where the connection is broken. */
static bool send_waiting(client *it)
{
    while (it->sent < it->waiting.length) {
        ssize_t count =
            send(it->socket, it->waiting.data + it->sent, it->waiting.length - it->sent, MSG_NOSIGNAL);
        if (count < 0 && errno != EINTR) return errno == EAGAIN;
        it->sent += count > 0 ? (size_t)count : 0;
    }
    sf_text_clear(&it->waiting);
    it->sent = 0;
    return true;
}

/* A server that takes no pongs gets no more. */
static int pong(client *it, const sf_websocket_message *ping)
{
    return it->waiting.length + ping->length + SF_WEBSOCKET_HEAD > MOST_WAITING
               ? SF_OK
               : put_frame(&it->waiting, SF_WEBSOCKET_PONG, ping->bytes, (size_t)ping->length);
}

/* ---- the connection ---- */

static void hang_up(client *it, int64_t now_ns)
{
    if (it->socket >= 0) close(it->socket);
    it->socket = -1;
    it->stage = AWAY;
    it->again_ns = now_ns + AGAIN_NS;
    it->from = it->to = it->sent = 0;
    sf_text_clear(&it->waiting);
    sf_websocket_clear(&it->frames);
    atomic_store(&it->connected, false);
}

/* An open connection ended; the reason is what the server says, or what is wrong with it. */
static void end_stream(client *it, sf_decoder *decoder, int64_t now_ns, const char *reason)
{
    if (sf_websocket_is_within(&it->frames)) sf_decoder_leave_out(decoder, "a message that broke off");
    it->ended++;
    if ((it->ended & (it->ended - 1)) == 0) /* a server may close each at once */
        sf_log(SF_LOG_WARNING, "%s: the connection ended (%s; %" PRIu64 " so far); connecting again",
               it->endpoint, reason, it->ended);
    hang_up(it, now_ns);
}

static void lose(client *it, sf_decoder *decoder, int64_t now_ns)
{
    if (it->stage == OPEN)
        end_stream(it, decoder, now_ns, "the server is gone");
    else
        hang_up(it, now_ns);
}

/* There was no stream to end: it is told once until there is one. */
static void refuse(client *it, sf_decoder *decoder, int64_t now_ns, const char *reason)
{
    if (!it->was_refused) sf_decoder_leave_out(decoder, "%s", reason);
    it->was_refused = true;
    hang_up(it, now_ns);
}

static void set_options(int socket)
{
    const int yes = 1, idle_s = 4, interval_s = 2,
              probes = 3; /* one that vanished is noticed in ten seconds */
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
    setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
    setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof interval_s);
    setsockopt(socket, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
}

static void call(client *it, int64_t now_ns)
{
    const struct addrinfo *to = it->addresses;
    it->socket = socket(to->ai_family, to->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, to->ai_protocol);
    if (it->socket < 0) {
        hang_up(it, now_ns);
        return;
    }
    set_options(it->socket);
    it->stage = CALLING;
    it->until_ns = now_ns + GREETING_NS;
    if (connect(it->socket, to->ai_addr, to->ai_addrlen) != 0 && errno != EINPROGRESS) hang_up(it, now_ns);
}

static int put_request(client *it, sf_error *error)
{
    unsigned char random[SF_WEBSOCKET_NONCE];
    if (getrandom(random, sizeof random, 0) != sizeof random)
        return sf_fail(error, SF_INTERNAL, NULL, "no random number for a WebSocket: %s", strerror(errno));
    sf_websocket_key(it->key, random);
    sf_text_printf(&it->waiting,
                   "GET %s HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                   "Sec-WebSocket-Key: %s\r\nSec-WebSocket-Version: 13\r\n\r\n",
                   it->place.path, it->place.host, it->key);
    return it->waiting.failed ? sf_fail_memory(error) : SF_OK;
}

static int see_whether_called(client *it, int64_t now_ns, sf_error *error)
{
    struct pollfd waiting = {.fd = it->socket, .events = POLLOUT};
    int failure = 0;
    socklen_t size = sizeof failure;
    if (poll(&waiting, 1, 0) <= 0) return SF_OK;
    if (getsockopt(it->socket, SOL_SOCKET, SO_ERROR, &failure, &size) != 0 || failure != 0) {
        hang_up(it, now_ns);
        return SF_OK;
    }
    it->stage = GREETING;
    return put_request(it, error);
}

/* Bytes that are not read yet: false where none can come any more. */
static bool fill(client *it, size_t most)
{
    if (it->from > 0) memmove(it->bytes, it->bytes + it->from, it->to - it->from);
    it->to -= it->from;
    it->from = 0;
    if (it->to >= most) return true;
    ssize_t size = recv(it->socket, it->bytes + it->to, most - it->to, 0);
    if (size > 0) it->to += (size_t)size;
    return size > 0 || (size < 0 && (errno == EAGAIN || errno == EINTR));
}

/* SF_OK: it is open, and the decoder was told. */
static int read_answer(client *it, sf_decoder *decoder, int64_t now_ns, sf_error *error)
{
    sf_error reason = {0};
    bool is_there = fill(it, MOST_HEAD);
    size_t length = sf_websocket_head_length(it->bytes, it->to);
    if (length == 0) {
        if (!is_there || it->to == MOST_HEAD)
            refuse(it, decoder, now_ns,
                   is_there ? "the server answers with more than a WebSocket's head"
                            : "the server closed the connection before it was a WebSocket");
        return SF_AGAIN;
    }
    if (sf_websocket_check_answer((sf_part){it->bytes, length}, it->key, &reason) != SF_OK) {
        refuse(it, decoder, now_ns, reason.text);
        return SF_AGAIN;
    }
    it->from = length;
    it->stage = OPEN;
    it->was_refused = false;
    atomic_store(&it->connected, true);
    sf_text_append(&it->waiting, it->subscriptions.data, it->subscriptions.length);
    if (it->waiting.failed) return sf_fail_memory(error);
    return sf_decoder_feed(decoder, "open", 4, SF_FEED_MESSAGE, error);
}

/* ---- messages ---- */

static int feed(sf_decoder *decoder, const sf_websocket_message *message, sf_error *error)
{
    const char *word = message->bytes == NULL               ? "passed"
                       : message->kind == SF_WEBSOCKET_TEXT ? "text"
                                                            : "binary";
    const void *bytes = message->bytes != NULL ? (const void *)message->bytes : &message->length;
    size_t size = message->bytes != NULL ? (size_t)message->length : sizeof message->length;
    int status = sf_decoder_feed(decoder, word, strlen(word), SF_FEED_PART, error);
    return status == SF_OK ? sf_decoder_feed(decoder, bytes, size, SF_FEED_MESSAGE, error) : status;
}

/* What a server says as it closes: a number and a text. */
static void note_close(client *it, sf_decoder *decoder, const sf_websocket_message *message, int64_t now_ns)
{
    char reason[SF_WEBSOCKET_CONTROL + 32];
    if (message->length >= 2)
        snprintf(reason, sizeof reason, "the server says %u%s%.*s",
                 message->bytes[0] << 8 | message->bytes[1], message->length > 2 ? " " : "",
                 (int)message->length - 2, (const char *)message->bytes + 2);
    else
        snprintf(reason, sizeof reason, "the server closed it");
    end_stream(it, decoder, now_ns, reason);
}

static int take_message(client *it, sf_decoder *decoder, const sf_websocket_message *message, int64_t now_ns,
                        sf_error *error)
{
    switch (message->kind) {
    case SF_WEBSOCKET_TEXT:
    case SF_WEBSOCKET_BINARY:
        return feed(decoder, message, error);
    case SF_WEBSOCKET_PING:
        return pong(it, message) == SF_NO_MEMORY ? sf_fail_memory(error) : SF_AGAIN;
    case SF_WEBSOCKET_CLOSE:
        note_close(it, decoder, message, now_ns);
        return SF_AGAIN;
    default:
        return SF_AGAIN;
    }
}

/* The next of what came, as long as the connection is open. */
static int read_message(client *it, sf_decoder *decoder, int64_t now_ns, sf_error *error)
{
    int status = SF_AGAIN;
    while (status == SF_AGAIN && it->stage == OPEN && it->from < it->to) {
        sf_websocket_message message;
        sf_error reason = {0};
        size_t used;
        status =
            sf_websocket_read(&it->frames, it->bytes + it->from, it->to - it->from, &used, &message, &reason);
        it->from += used;
        if (status == SF_NO_MEMORY) return sf_fail_memory(error);
        if (status == SF_DATA) {
            sf_decoder_leave_out(decoder, "a connection that was cut off: %s", reason.text);
            sf_websocket_clear(&it->frames);
            end_stream(it, decoder, now_ns, reason.text);
            return SF_AGAIN;
        }
        if (status == SF_OK) status = take_message(it, decoder, &message, now_ns, error);
    }
    return status;
}

static int read_stream(client *it, sf_decoder *decoder, int64_t now_ns, sf_error *error)
{
    int status = read_message(it, decoder, now_ns, error);
    if (status != SF_AGAIN || it->stage != OPEN) return status;
    if (!fill(it, sizeof it->bytes)) {
        lose(it, decoder, now_ns);
        return SF_AGAIN;
    }
    return read_message(it, decoder, now_ns, error);
}

/* ---- the transport ---- */

/* One step; SF_OK: something was fed. */
static int go_on(client *it, sf_decoder *decoder, int64_t now_ns, sf_error *error)
{
    int status = SF_OK;
    if (it->stage == AWAY && now_ns >= it->again_ns) call(it, now_ns);
    if (it->stage == CALLING) status = see_whether_called(it, now_ns, error);
    if (status != SF_OK) return status;
    if (it->stage >= GREETING && !send_waiting(it)) lose(it, decoder, now_ns);
    if ((it->stage == CALLING || it->stage == GREETING) && now_ns >= it->until_ns)
        refuse(it, decoder, now_ns, "nothing answers as a WebSocket");
    return it->stage == GREETING ? read_answer(it, decoder, now_ns, error)
           : it->stage == OPEN   ? read_stream(it, decoder, now_ns, error)
                                 : SF_AGAIN;
}

/* False where a signal came. */
static bool wait_for_socket(const client *it, int64_t now_ns, int64_t until_ns)
{
    if (it->stage == AWAY && it->again_ns < until_ns) until_ns = it->again_ns;
    if (until_ns <= now_ns) return true;
    if (it->stage == AWAY) {
        sf_clock_sleep_until(until_ns);
        return true;
    }
    short events = it->stage == CALLING ? POLLOUT : it->waiting.length > 0 ? POLLIN | POLLOUT : POLLIN;
    struct pollfd waiting = {.fd = it->socket, .events = events};
    return poll(&waiting, 1, (int)((until_ns - now_ns + SF_MILLISECOND - 1) / SF_MILLISECOND)) >= 0;
}

static int receive(sf_transport *transport, sf_decoder *decoder, int64_t deadline_ns, sf_error *error)
{
    client *it = (client *)transport;
    for (;;) {
        int64_t now = sf_clock_monotonic_ns();
        int status = go_on(it, decoder, now, error);
        if (status != SF_AGAIN) return status;
        if (now >= deadline_ns || !wait_for_socket(it, now, deadline_ns)) return SF_AGAIN;
    }
}

static bool is_connected(const sf_transport *transport)
{
    return atomic_load(&((const client *)transport)->connected);
}

static void close_client(sf_transport *transport)
{
    client *it = (client *)transport;
    hang_up(it, 0);
    if (it->addresses != NULL) freeaddrinfo(it->addresses);
    sf_text_free(&it->subscriptions);
    sf_text_free(&it->waiting);
    sf_free(it);
}

/* ---- opening ---- */

static int refuse_endpoint(const char *endpoint, sf_error *error)
{
    return sf_fail(error, SF_USAGE, endpoint, "is no endpoint: expected ws://HOST:PORT");
}

int sf_cortical_parse(sf_cortical_place *place, const char *endpoint, sf_error *error)
{
    const char *host = endpoint + strlen("ws://");
    if (strncmp(endpoint, "wss://", 6) == 0)
        return sf_fail(error, SF_USAGE, endpoint,
                       "is encrypted, which is not read here: expected ws://HOST:PORT");
    const char *path = strncmp(endpoint, "ws://", 5) == 0 ? strchr(host, '/') : NULL;
    size_t length = path != NULL ? (size_t)(path - host) : strlen(endpoint) - 5;
    bool is_one = strncmp(endpoint, "ws://", 5) == 0 && length > 0 && length < sizeof place->host &&
                  strpbrk(endpoint, " \t\r\n") == NULL && (path == NULL || strlen(path) < sizeof place->path);
    if (!is_one) return refuse_endpoint(endpoint, error);
    snprintf(place->host, sizeof place->host, "%.*s", (int)length, host);
    snprintf(place->tcp, sizeof place->tcp, "tcp://%s", place->host);
    snprintf(place->path, sizeof place->path, "%s",
             path != NULL && path[1] != '\0' ? path : SF_CORTICAL_PATH);
    return SF_OK;
}

static int subscribe(client *it, const char *stream, size_t length, sf_error *error)
{
    char name[MOST_NAME];
    sf_text text = {0};
    snprintf(name, sizeof name, "%.*s", (int)length, stream);
    sf_json json = sf_json_start(&text);
    sf_json_object(&json, NULL);
    sf_json_string(&json, "action", "subscribe");
    sf_json_string(&json, "type", "data_stream");
    sf_json_string(&json, "name", name);
    sf_json_end_object(&json);
    int status =
        text.failed ? SF_NO_MEMORY : put_frame(&it->subscriptions, SF_WEBSOCKET_TEXT, text.data, text.length);
    sf_text_free(&text);
    return status == SF_OK      ? SF_OK
           : status == SF_AGAIN ? sf_fail(error, SF_INTERNAL, NULL, "no random number for a WebSocket")
                                : sf_fail_memory(error);
}

/* Names with commas between them. */
static int subscribe_to_streams(client *it, const char *names, sf_error *error)
{
    int status = SF_OK;
    size_t count = 0;
    if (names == NULL || strcmp(names, "none") == 0) return SF_OK;
    for (const char *at = names; status == SF_OK;) {
        at += strspn(at, " ");
        size_t length = strcspn(at, ","), kept = length;
        while (kept > 0 && at[kept - 1] == ' ')
            kept--;
        if (kept == 0 || kept >= MOST_NAME || ++count > MOST_STREAMS)
            return sf_fail(
                error, SF_CONFIG, "data_streams",
                "found '%s', expected none, or at most %d names of at most %d bytes with commas between them",
                names, MOST_STREAMS, MOST_NAME - 1);
        status = subscribe(it, at, kept, error);
        if (at[length] == '\0') break;
        at += length + 1;
    }
    return status;
}

/* Spikes last: whoever has asked for them has asked for everything. */
static int subscribe_to_all(client *it, const char *names, sf_error *error)
{
    int status = subscribe_to_streams(it, names, error);
    if (status == SF_OK) status = subscribe(it, SF_CORTICAL_STIMS, strlen(SF_CORTICAL_STIMS), error);
    return status == SF_OK ? subscribe(it, SF_CORTICAL_SPIKES, strlen(SF_CORTICAL_SPIKES), error) : status;
}

/* The connection itself is tried again and again, while it is waited for. */
static int find_server(sf_transport *transport, sf_error *error)
{
    client *it = (client *)transport;
    int status = sf_descriptors_check(1, it->endpoint, error);
    return status == SF_OK ? sf_tcp_addresses(&it->addresses, it->place.tcp, false, error) : status;
}

static int open_client(sf_transport **out, const sf_transport_settings *settings, sf_error *error)
{
    *out = NULL;
    client *it = sf_alloc(1, sizeof *it);
    if (it == NULL) return sf_fail_memory(error);
    it->transport.kind = &sf_transport_cortical;
    it->socket = -1;
    snprintf(it->endpoint, sizeof it->endpoint, "%s", settings->endpoint);
    it->frames.most = settings->most_bytes - 16; /* beside the word that goes first */
    int status = sf_cortical_parse(&it->place, settings->endpoint, error);
    if (status == SF_OK && sf_tcp_check(it->place.tcp, NULL) != SF_OK)
        status = refuse_endpoint(settings->endpoint, error);
    if (status == SF_OK) status = subscribe_to_all(it, settings->markers, error);
    if (status != SF_OK) {
        close_client(&it->transport);
        return status;
    }
    *out = &it->transport;
    return SF_OK;
}

const sf_transport_kind sf_transport_cortical = {
    .descriptors = 1,
    .open = open_client,
    .connect = find_server,
    .receive = receive,
    .connected = is_connected,
    .close = close_client,
};
