/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/websocket.h"

#include "core/error.h"
#include "core/memory.h"

#include <stdio.h>
#include <string.h>

/* ---- frames ---- */

static bool is_control(sf_websocket_kind kind)
{
    return (kind & 8) != 0;
}

static bool is_known(unsigned opcode)
{
    return opcode <= SF_WEBSOCKET_BINARY || (opcode >= SF_WEBSOCKET_CLOSE && opcode <= SF_WEBSOCKET_PONG);
}

/* Length of a head whose first two bytes are known. */
static size_t head_length(const unsigned char *head)
{
    size_t length = head[1] & 0x7f;
    return 2u + (length == 126 ? 2u : length == 127 ? 8u : 0u) + ((head[1] & 0x80) != 0 ? 4u : 0u);
}

static uint64_t payload_length(const unsigned char *head)
{
    uint64_t length = head[1] & 0x7f;
    size_t bytes = length == 126 ? 2 : length == 127 ? 8 : 0;
    for (size_t i = 0; i < bytes; i++)
        length = (i == 0 ? 0 : length << 8) | head[2 + i];
    return length;
}

static int refuse(sf_error *error, const char *why)
{
    return sf_fail(error, SF_DATA, NULL, "what came is no WebSocket: %s", why);
}

/* The first two bytes of a head suffice to check its validity. */
static int check_head(const sf_websocket *it, sf_error *error)
{
    const unsigned char *head = it->head;
    sf_websocket_kind kind = (sf_websocket_kind)(head[0] & 0x0f);
    if ((head[0] & 0x70) != 0 || !is_known(head[0] & 0x0f))
        return refuse(error, "a frame of a kind that was not agreed on");
    if (((head[1] & 0x80) != 0) != it->is_server)
        return refuse(error,
                      it->is_server ? "a client's frame without a mask" : "a server's frame with a mask");
    if (is_control(kind))
        return (head[0] & 0x80) != 0 && (head[1] & 0x7f) <= SF_WEBSOCKET_CONTROL
                   ? SF_OK
                   : refuse(error, "a ping, pong or close of several frames or more than 125 bytes");
    if ((kind == SF_WEBSOCKET_MORE) != (it->kind != SF_WEBSOCKET_MORE))
        return refuse(error, kind == SF_WEBSOCKET_MORE ? "a message goes on that has not begun"
                                                       : "a message begins before the last one ended");
    return SF_OK;
}

/* The head is whole. */
static int begin_frame(sf_websocket *it, sf_error *error)
{
    it->frame = (sf_websocket_kind)(it->head[0] & 0x0f);
    it->is_final = (it->head[0] & 0x80) != 0;
    it->left = payload_length(it->head);
    it->taken = 0;
    it->in_frame = true;
    if (it->is_server) memcpy(it->mask, it->head + it->head_size - 4, 4);
    it->head_size = 0;
    if (is_control(it->frame)) return SF_OK;
    if (it->frame != SF_WEBSOCKET_MORE) {
        it->kind = it->frame;
        it->length = 0;
    }
    if (it->left > SF_WEBSOCKET_PASSED || it->length + it->left > SF_WEBSOCKET_PASSED)
        return sf_fail(error, SF_DATA, NULL, "a message of more than %u bytes", SF_WEBSOCKET_PASSED);
    return SF_OK;
}

static int take_head(sf_websocket *it, const unsigned char *bytes, size_t size, size_t *used, sf_error *error)
{
    while (*used < size) {
        it->head[it->head_size++] = bytes[(*used)++];
        if (it->head_size == 2 && check_head(it, error) != SF_OK) return SF_DATA;
        if (it->head_size >= 2 && it->head_size == head_length(it->head)) return begin_frame(it, error);
    }
    return SF_AGAIN;
}

/* Makes room for the bytes of the frame; *room is NULL if the message is too long to be kept. */
static int make_room(sf_websocket *it, size_t size, unsigned char **room, sf_error *error)
{
    *room = NULL;
    if (is_control(it->frame)) {
        *room = it->control + it->taken;
        return SF_OK;
    }
    if (size == 0 || it->length + size > it->most) return SF_OK;
    if (sf_reserve(&it->bytes, &it->capacity, (size_t)it->length + size, 1) != 0)
        return sf_fail_memory(error);
    *room = it->bytes + it->length;
    return SF_OK;
}

static int take_payload(sf_websocket *it, const unsigned char *bytes, size_t size, size_t *used,
                        sf_error *error)
{
    size_t count = it->left < size - *used ? (size_t)it->left : size - *used;
    unsigned char *room;
    int status = make_room(it, count, &room, error);
    if (status != SF_OK) return status;
    if (room != NULL) {
        memcpy(room, bytes + *used, count);
        if (it->is_server) sf_websocket_mask(room, count, it->mask, it->taken);
    }
    *used += count;
    it->taken += count;
    it->left -= count;
    if (!is_control(it->frame)) it->length += count;
    it->in_frame = it->left > 0;
    return it->in_frame ? SF_AGAIN : SF_OK;
}

/* Ends a frame; returns whether a message is complete, too. */
static bool end_frame(sf_websocket *it, sf_websocket_message *message)
{
    static const unsigned char nothing[1];
    if (is_control(it->frame)) {
        *message = (sf_websocket_message){it->frame, it->taken, it->control};
        return true;
    }
    if (!it->is_final) return false;
    const unsigned char *kept = it->length == 0 ? nothing : it->bytes;
    *message = (sf_websocket_message){it->kind, it->length, it->length <= it->most ? kept : NULL};
    it->kind = SF_WEBSOCKET_MORE;
    return true;
}

int sf_websocket_read(sf_websocket *it, const void *bytes, size_t size, size_t *used,
                      sf_websocket_message *message, sf_error *error)
{
    *used = 0;
    for (;;) {
        int status = it->in_frame ? SF_OK : take_head(it, bytes, size, used, error);
        if (status == SF_OK) status = take_payload(it, bytes, size, used, error);
        if (status != SF_OK) return status;
        if (end_frame(it, message)) return SF_OK;
    }
}

bool sf_websocket_is_within(const sf_websocket *it)
{
    return it->head_size > 0 || it->in_frame || it->kind != SF_WEBSOCKET_MORE;
}

void sf_websocket_clear(sf_websocket *it)
{
    sf_free(it->bytes);
    *it = (sf_websocket){.is_server = it->is_server, .most = it->most};
}

size_t sf_websocket_put_head(unsigned char to[SF_WEBSOCKET_HEAD], sf_websocket_kind kind, uint64_t length,
                             const unsigned char mask[4])
{
    size_t bytes = length < 126 ? 0 : length <= UINT16_MAX ? 2 : 8, size = 2;
    to[0] = (unsigned char)(0x80u | (unsigned)kind);
    to[1] = (unsigned char)((mask != NULL ? 0x80u : 0u) | (bytes == 0 ? length : bytes == 2 ? 126u : 127u));
    for (size_t i = 0; i < bytes; i++)
        to[size++] = (unsigned char)(length >> 8 * (bytes - 1 - i));
    if (mask != NULL) memcpy(to + size, mask, 4);
    return size + (mask != NULL ? 4 : 0);
}

void sf_websocket_mask(unsigned char *bytes, size_t size, const unsigned char mask[4], uint64_t at)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] ^= mask[(at + i) & 3];
}

/* ---- SHA-1 (FIPS 180-4), for what the handshake asks, and base64 ---- */

#define DIGEST 20
#define BLOCK 64

static uint32_t rotate(uint32_t value, unsigned bits)
{
    return value << bits | value >> (32 - bits);
}

static void digest_block(uint32_t state[5], const unsigned char *block)
{
    uint32_t w[80], a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];
    for (size_t t = 0; t < 16; t++)
        w[t] = (uint32_t)block[4 * t] << 24 | (uint32_t)block[4 * t + 1] << 16 |
               (uint32_t)block[4 * t + 2] << 8 | block[4 * t + 3];
    for (size_t t = 16; t < 80; t++)
        w[t] = rotate(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
    for (size_t t = 0; t < 80; t++) {
        static const uint32_t constants[] = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};
        uint32_t mixed = t < 20              ? (b & c) | (~b & d)
                         : t >= 40 && t < 60 ? (b & c) | (b & d) | (c & d)
                                             : b ^ c ^ d;
        uint32_t next = rotate(a, 5) + mixed + e + w[t] + constants[t / 20];
        e = d;
        d = c;
        c = rotate(b, 30);
        b = a;
        a = next;
    }
    const uint32_t added[] = {a, b, c, d, e};
    for (size_t i = 0; i < 5; i++)
        state[i] += added[i];
}

/* SHA-1 of data that fits into two blocks with its padding. */
static void digest(unsigned char to[DIGEST], const void *bytes, size_t size)
{
    unsigned char blocks[2 * BLOCK] = {0};
    uint32_t state[] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    size_t end = size + 9 <= BLOCK ? BLOCK : 2 * BLOCK;
    memcpy(blocks, bytes, size);
    blocks[size] = 0x80;
    blocks[end - 2] = (unsigned char)(size >> 5);
    blocks[end - 1] = (unsigned char)(size << 3);
    for (size_t at = 0; at < end; at += BLOCK)
        digest_block(state, blocks + at);
    for (size_t i = 0; i < DIGEST; i++)
        to[i] = (unsigned char)(state[i / 4] >> (24 - 8 * (i % 4)));
}

static void put_base64(char *to, const unsigned char *bytes, size_t size)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3) {
        size_t count = size - i < 3 ? size - i : 3;
        uint32_t group = (uint32_t)bytes[i] << 16;
        if (count > 1) group |= (uint32_t)bytes[i + 1] << 8;
        if (count > 2) group |= bytes[i + 2];
        for (size_t k = 0; k < 4; k++)
            *to++ = k <= count ? letters[group >> (18 - 6 * k) & 63] : '=';
    }
    *to = '\0';
}

void sf_websocket_key(char key[SF_WEBSOCKET_KEY_SIZE], const unsigned char random[SF_WEBSOCKET_NONCE])
{
    put_base64(key, random, SF_WEBSOCKET_NONCE);
}

void sf_websocket_accept(char accept[SF_WEBSOCKET_ACCEPT_SIZE], const char *key)
{
    char both[SF_WEBSOCKET_KEY_SIZE + 36];
    unsigned char sum[DIGEST];
    int length = snprintf(both, sizeof both, "%.24s258EAFA5-E914-47DA-95CA-C5AB0DC85B11", key);
    digest(sum, both, (size_t)length);
    put_base64(accept, sum, DIGEST);
}

/* ---- the opening handshake ---- */

size_t sf_websocket_head_length(const char *bytes, size_t size)
{
    for (size_t i = 4; i <= size; i++)
        if (memcmp(bytes + i - 4, "\r\n\r\n", 4) == 0) return i;
    return 0;
}

/* Compares ASCII letters without case, as HTTP compares names. */
static bool is_like(const char *text, size_t size, const char *word)
{
    size_t length = strlen(word);
    if (size != length) return false;
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        if ((c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c) != word[i]) return false;
    }
    return true;
}

static sf_part strip(const char *text, size_t size)
{
    for (; size > 0 && (*text == ' ' || *text == '\t'); size--)
        text++;
    while (size > 0 && (text[size - 1] == ' ' || text[size - 1] == '\t'))
        size--;
    return (sf_part){text, size};
}

/* The first line, without its end; *next is the rest. */
static sf_part first_line(sf_part rest, sf_part *next)
{
    const char *text = rest.data, *end = memchr(text, '\n', rest.size);
    size_t size = end != NULL ? (size_t)(end - text) : rest.size;
    *next = end != NULL ? (sf_part){end + 1, rest.size - size - 1} : (sf_part){"", 0};
    return (sf_part){text, size > 0 && text[size - 1] == '\r' ? size - 1 : size};
}

/* Value of the first field with this name (in lower case); size 0: none. */
static sf_part find_field(sf_part head, const char *name)
{
    sf_part rest, line = first_line(head, &rest);
    while (rest.size > 0) {
        line = first_line(rest, &rest);
        const char *text = line.data, *colon = memchr(text, ':', line.size);
        if (colon != NULL && is_like(text, (size_t)(colon - text), name))
            return strip(colon + 1, line.size - (size_t)(colon - text) - 1);
    }
    return (sf_part){"", 0};
}

/* Whether a comma-separated list contains this word (in lower case). */
static bool has_word(sf_part list, const char *word)
{
    const char *at = list.data, *end = at + list.size;
    while (at < end) {
        const char *comma = memchr(at, ',', (size_t)(end - at)), *stop = comma != NULL ? comma : end;
        sf_part item = strip(at, (size_t)(stop - at));
        if (is_like(item.data, item.size, word)) return true;
        at = stop + 1;
    }
    return false;
}

static bool is_upgrade(sf_part head)
{
    return has_word(find_field(head, "upgrade"), "websocket") &&
           has_word(find_field(head, "connection"), "upgrade");
}

int sf_websocket_check_answer(sf_part head, const char *key, sf_error *error)
{
    static const char agreed[] = "HTTP/1.1 101";
    char accept[SF_WEBSOCKET_ACCEPT_SIZE];
    sf_part rest, line = first_line(head, &rest), given = find_field(head, "sec-websocket-accept");
    if (line.size < sizeof agreed - 1 || memcmp(line.data, agreed, sizeof agreed - 1) != 0)
        return sf_fail(error, SF_DATA, NULL, "the server answers '%.*s', which is no WebSocket",
                       (int)(line.size < 60 ? line.size : 60), (const char *)line.data);
    sf_websocket_accept(accept, key);
    if (!is_upgrade(head) || given.size != strlen(accept) || memcmp(given.data, accept, given.size) != 0)
        return sf_fail(error, SF_DATA, NULL, "the server's answer does not belong to what was asked");
    return SF_OK;
}

int sf_websocket_take_request(sf_part head, char *path, size_t path_size, char key[SF_WEBSOCKET_KEY_SIZE],
                              sf_error *error)
{
    sf_part rest, line = first_line(head, &rest), given = find_field(head, "sec-websocket-key");
    const char *text = line.data, *blank = line.size > 4 ? memchr(text + 4, ' ', line.size - 4) : NULL;
    size_t length = blank != NULL ? (size_t)(blank - text) - 4 : 0;
    if (length == 0 || length >= path_size || memcmp(text, "GET ", 4) != 0)
        return sf_fail(error, SF_DATA, NULL, "the client asks '%.*s'", (int)(line.size < 60 ? line.size : 60),
                       text);
    if (!is_upgrade(head) || given.size != SF_WEBSOCKET_KEY_SIZE - 1 ||
        !is_like(find_field(head, "sec-websocket-version").data,
                 find_field(head, "sec-websocket-version").size, "13"))
        return sf_fail(error, SF_DATA, NULL, "the client asks for no WebSocket of version 13");
    memcpy(path, text + 4, length);
    path[length] = '\0';
    memcpy(key, given.data, given.size);
    key[given.size] = '\0';
    return SF_OK;
}
