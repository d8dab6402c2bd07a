/* SPDX-License-Identifier: Apache-2.0 */
/*
 * WebSocket server that behaves like a CL1's: a client that connects is told the timing, subscribes to
 * streams by name, and gets a text and bytes for each message. The server waits for the slowest client, so
 * that nothing is lost.
 */
#include "core/error.h"
#include "core/hash.h"
#include "core/memory.h"
#include "core/text.h"
#include "decode/fields.h"
#include "ingest/cortical.h"
#include "ingest/tcp.h"
#include "ingest/websocket.h"
#include "io/descriptors.h"
#include "io/endpoint.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MOST_CLIENTS 16
#define MOST_STREAMS 32    /* that one subscribes to */
#define MOST_BYTES 4096    /* of a request, and of a message that a client sends */
#define MOST_WAITING 16384 /* maximum bytes of answers that a client does not read; then it is cut off */
#define WAIT_MS 50
#define GOING_AWAY 1001
#define PROTOCOL_ERROR 1002

typedef struct peer {
    int socket;
    bool is_open,
        is_ending; /* is_open: the handshake is over; is_ending: what waits is the last to be sent */
    sf_text request;
    sf_text waiting; /* answers, which go before messages */
    size_t waiting_sent;
    size_t sent; /* of the message that goes out */
    sf_websocket frames;
    uint64_t streams[MOST_STREAMS]; /* hashes of their names */
    size_t stream_count;
} peer;

typedef struct server {
    sf_sending sending;
    int listener;
    peer peers[MOST_CLIENTS];
    size_t peer_count;
    sf_text greeting; /* a frame */
    sf_text message;  /* frames */
    char path[256];
} server;

static uint64_t hash_of(const char *name, size_t size)
{
    return sf_hash_bytes(SF_HASH_START, name, size);
}

static bool has_stream(const peer *it, uint64_t stream)
{
    for (size_t i = 0; i < it->stream_count; i++)
        if (it->streams[i] == stream) return true;
    return false;
}

static void put_frame(sf_text *to, sf_websocket_kind kind, const void *bytes, size_t size)
{
    unsigned char head[SF_WEBSOCKET_HEAD];
    size_t length = sf_websocket_put_head(head, kind, size, NULL);
    sf_text_append(to, (const char *)head, length);
    sf_text_append(to, bytes, size);
}

/* ---- one client ---- */

static void drop_peer(server *it, size_t index)
{
    peer *gone = &it->peers[index];
    close(gone->socket);
    sf_text_free(&gone->request);
    sf_text_free(&gone->waiting);
    sf_websocket_clear(&gone->frames);
    it->peers[index] = it->peers[--it->peer_count];
}

/* Sends the unsent rest of `bytes`; false if the client is gone. */
static bool send_rest(const peer *to, const sf_text *bytes, size_t *sent)
{
    while (*sent < bytes->length) {
        ssize_t count = send(to->socket, bytes->data + *sent, bytes->length - *sent, MSG_NOSIGNAL);
        if (count < 0 && errno != EINTR) return errno == EAGAIN;
        *sent += count > 0 ? (size_t)count : 0;
    }
    return true;
}

/* Answers go out between messages. */
static bool send_answers(peer *to)
{
    if (!send_rest(to, &to->waiting, &to->waiting_sent)) return false;
    if (to->waiting_sent < to->waiting.length)
        return to->waiting.length <= MOST_WAITING && !to->waiting.failed;
    sf_text_clear(&to->waiting);
    to->waiting_sent = 0;
    return !to->is_ending;
}

static void close_with(peer *to, unsigned code, const char *reason)
{
    char bytes[SF_WEBSOCKET_CONTROL] = {(char)(code >> 8), (char)code};
    int length = snprintf(bytes + 2, sizeof bytes - 2, "%s", reason);
    put_frame(&to->waiting, SF_WEBSOCKET_CLOSE, bytes, (size_t)length + 2);
    to->is_ending = true;
}

static void subscribe(server *it, peer *from, sf_part text)
{
    struct {
        char action[SF_FIELD_TEXT_SIZE], name[SF_FIELD_TEXT_SIZE];
    } asked = {0};
    static const sf_field rows[] = {{"action", SF_FIELD_TEXT, 0},
                                    {"name", SF_FIELD_TEXT, SF_FIELD_TEXT_SIZE}};
    sf_fields fields = {.rows = rows, .count = 2};
    sf_fields_from_json(&fields, &asked, text);
    uint64_t stream = hash_of(asked.name, strlen(asked.name));
    if (fields.found != 3 || strcmp(asked.action, "subscribe") != 0 || has_stream(from, stream) ||
        from->stream_count == MOST_STREAMS)
        return;
    from->streams[from->stream_count++] = stream;
    it->sending.joined += strcmp(asked.name, SF_CORTICAL_SPIKES) == 0;
}

static void take_message(server *it, peer *from, const sf_websocket_message *message)
{
    if (message->bytes == NULL) return;
    if (message->kind == SF_WEBSOCKET_TEXT)
        subscribe(it, from, (sf_part){message->bytes, (size_t)message->length});
    else if (message->kind == SF_WEBSOCKET_PING)
        put_frame(&from->waiting, SF_WEBSOCKET_PONG, message->bytes, (size_t)message->length);
    else if (message->kind == SF_WEBSOCKET_CLOSE)
        close_with(from, 1000, "");
}

/* False if the data is not WebSocket. */
static bool take_frames(server *it, peer *from, const char *bytes, size_t size)
{
    while (size > 0 && !from->is_ending) {
        sf_websocket_message message;
        size_t used;
        int status = sf_websocket_read(&from->frames, bytes, size, &used, &message, NULL);
        if (status != SF_OK) return status == SF_AGAIN;
        take_message(it, from, &message);
        bytes += used;
        size -= used;
    }
    return true;
}

/* For any other path a CL1 opens the WebSocket and closes it with a reason. */
static bool answer(server *it, peer *to, size_t length)
{
    char path[sizeof it->path], key[SF_WEBSOCKET_KEY_SIZE], accept[SF_WEBSOCKET_ACCEPT_SIZE];
    const sf_part head = {to->request.data, length};
    if (sf_websocket_take_request(head, path, sizeof path, key, NULL) != SF_OK) {
        static const char refusal[] =
            "HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
        sf_text_append(&to->waiting, refusal, sizeof refusal - 1);
        to->is_ending = true;
        return true;
    }
    sf_websocket_accept(accept, key);
    sf_text_printf(&to->waiting,
                   "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                   "Sec-WebSocket-Accept: %s\r\n\r\n",
                   accept);
    if (strcmp(path, it->path) != 0) {
        close_with(to, PROTOCOL_ERROR, "Unknown path");
        return true;
    }
    to->is_open = true;
    sf_text_append(&to->waiting, it->greeting.data, it->greeting.length);
    return take_frames(it, to, to->request.data + length, to->request.length - length);
}

static bool take_request(server *it, peer *from, const char *bytes, size_t size)
{
    sf_text_append(&from->request, bytes, size);
    if (from->request.failed) return false;
    size_t length = sf_websocket_head_length(from->request.data, from->request.length);
    return length > 0 ? answer(it, from, length) : from->request.length <= MOST_BYTES;
}

/* Reads a client's requests and answers them; false if it is gone or misbehaves. */
static bool tend_peer(server *it, peer *of)
{
    char bytes[MOST_BYTES];
    ssize_t size = of->is_ending ? 0 : recv(of->socket, bytes, sizeof bytes, 0);
    if (!of->is_ending && (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR))) return false;
    bool is_fine = size <= 0     ? true
                   : of->is_open ? take_frames(it, of, bytes, (size_t)size)
                                 : take_request(it, of, bytes, (size_t)size);
    return is_fine && send_answers(of);
}

static void accept_peers(server *it)
{
    const int yes = 1;
    for (int socket; it->peer_count < MOST_CLIENTS &&
                     (socket = accept4(it->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;) {
        setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        it->peers[it->peer_count++] =
            (peer){.socket = socket, .frames = {.is_server = true, .most = MOST_BYTES}};
    }
}

static int64_t update(sf_sending *sending)
{
    static const char spikes[] = SF_CORTICAL_SPIKES;
    server *it = (server *)sending;
    const uint64_t stream = hash_of(spikes, sizeof spikes - 1);
    int64_t listeners = 0;
    accept_peers(it);
    for (size_t i = it->peer_count; i-- > 0;)
        if (!tend_peer(it, &it->peers[i])) drop_peer(it, i);
    for (size_t i = 0; i < it->peer_count; i++)
        listeners += has_stream(&it->peers[i], stream);
    return listeners;
}

/* ---- messages ---- */

/* True once this client has the message, does not want it, or is gone. */
static bool send_message(server *it, size_t *index, uint64_t stream)
{
    peer *to = &it->peers[*index];
    if (to->sent == 0 && (!to->is_open || to->is_ending || !has_stream(to, stream))) return true;
    bool is_there = to->sent > 0 || send_answers(to);
    if (is_there && (to->sent > 0 || to->waiting.length == 0))
        is_there = send_rest(to, &it->message, &to->sent);
    if (!is_there) drop_peer(it, (*index)--);
    return !is_there || to->sent == it->message.length;
}

static int set_greeting(server *it, sf_part text, sf_error *error)
{
    sf_text_clear(&it->greeting);
    put_frame(&it->greeting, SF_WEBSOCKET_TEXT, text.data, text.size);
    return it->greeting.failed ? sf_fail_memory(error) : SF_SENT;
}

/* When called again with the same message, continues where each client left off. */
static int put(sf_sending *sending, const sf_part *parts, size_t count, sf_error *error)
{
    server *it = (server *)sending;
    int waits_for = -1;
    if (count == 1) return set_greeting(it, parts[0], error);
    sf_text_clear(&it->message);
    put_frame(&it->message, SF_WEBSOCKET_TEXT, parts[1].data, parts[1].size);
    if (count > 2) put_frame(&it->message, SF_WEBSOCKET_BINARY, parts[2].data, parts[2].size);
    if (it->message.failed) return sf_fail_memory(error);
    const uint64_t stream = hash_of(parts[0].data, parts[0].size);
    for (size_t i = 0; i < it->peer_count; i++)
        if (!send_message(it, &i, stream)) waits_for = it->peers[i].socket;
    if (waits_for >= 0) {
        struct pollfd waiting = {.fd = waits_for, .events = POLLOUT};
        poll(&waiting, 1, WAIT_MS);
        return SF_SENT_AGAIN;
    }
    for (size_t i = 0; i < it->peer_count; i++)
        it->peers[i].sent = 0;
    return SF_SENT;
}

/* ---- opening and closing ---- */

static void close_server(sf_sending *sending, int linger_ms)
{
    server *it = (server *)sending;
    (void)linger_ms; /* the system still sends what it accepted */
    while (it->peer_count > 0) {
        peer *last = &it->peers[it->peer_count - 1];
        if (last->is_open && last->sent == 0) {
            close_with(last, GOING_AWAY, "the recording ended");
            send_answers(last);
        }
        drop_peer(it, it->peer_count - 1);
    }
    if (it->listener >= 0) close(it->listener);
    sf_text_free(&it->greeting);
    sf_text_free(&it->message);
    sf_free(it);
}

static int listen_at(server *it, const sf_cortical_place *place, sf_error *error)
{
    char at[SF_TCP_PLACE_SIZE];
    int status = sf_tcp_listen(&it->listener, at, place->tcp, MOST_CLIENTS, error);
    if (status != SF_OK) return status;
    snprintf(it->path, sizeof it->path, "%s", place->path);
    snprintf(it->sending.address, sizeof it->sending.address, "ws://%s", at);
    return SF_OK;
}

static int open_server(sf_sending **out, const sf_sending_settings *settings, sf_error *error)
{
    *out = NULL;
    sf_cortical_place place;
    server *it = sf_alloc(1, sizeof *it);
    if (it == NULL) return sf_fail_memory(error);
    it->sending.kind = &sf_sending_cortical;
    it->listener = -1;
    int status = sf_descriptors_check(2, settings->endpoint, error);
    if (status == SF_OK) status = sf_cortical_parse(&place, settings->endpoint, error);
    if (status == SF_OK && !settings->insecure && sf_endpoint_is_public(place.tcp))
        status = sf_endpoint_refuse(settings->endpoint, "--insecure", error);
    if (status == SF_OK) status = listen_at(it, &place, error);
    if (status != SF_OK) {
        close_server(&it->sending, 0);
        return status;
    }
    *out = &it->sending;
    return SF_OK;
}

const sf_sending_kind sf_sending_cortical = {
    .open = open_server, .update = update, .put = put, .close = close_server};
