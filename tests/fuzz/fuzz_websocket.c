/* SPDX-License-Identifier: Apache-2.0 */
/* WebSocket, of both ends: however what comes is cut, it is the same messages; a handshake is read or
 * refused. The first byte says which end it is and how much of a message is kept. */
#include "ingest/websocket.h"

#include "core/hash.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct sum {
    uint64_t messages, hash;
    bool is_broken;
} sum;

static void require(bool condition)
{
    if (!condition) abort();
}

static void add(sum *to, const sf_websocket *it, const sf_websocket_message *message)
{
    require((message->bytes == NULL) == (message->length > it->most && message->kind <= SF_WEBSOCKET_BINARY));
    to->messages++;
    to->hash = sf_hash_bytes(to->hash, &message->kind, sizeof message->kind);
    to->hash = sf_hash_bytes(to->hash, &message->length, sizeof message->length);
    if (message->bytes != NULL) to->hash = sf_hash_bytes(to->hash, message->bytes, (size_t)message->length);
}

/* A block of its own for each piece, so that reading on is found. */
static sum read_in(const uint8_t *data, size_t size, uint8_t first, size_t piece)
{
    sf_websocket it = {.is_server = (first & 1) != 0, .most = first};
    sum told = {.hash = SF_HASH_START};
    for (size_t at = 0; at < size && !told.is_broken;) {
        size_t count = size - at < piece ? size - at : piece, used;
        uint8_t *cut = malloc(count);
        sf_websocket_message message;
        memcpy(cut, data + at, count);
        int status = sf_websocket_read(&it, cut, count, &used, &message, NULL);
        require(used <= count && (status == SF_OK || status == SF_DATA || used == count));
        require(it.capacity <= 2u * (size_t)first + 64);
        if (status == SF_OK) add(&told, &it, &message);
        told.is_broken = status < 0;
        free(cut);
        at += used;
    }
    sf_websocket_clear(&it);
    return told;
}

static void shake_hands(const uint8_t *data, size_t size)
{
    char path[32], key[SF_WEBSOCKET_KEY_SIZE], accept[SF_WEBSOCKET_ACCEPT_SIZE];
    char *head = malloc(size > 0 ? size : 1);
    memcpy(head, data, size);
    size_t length = sf_websocket_head_length(head, size);
    require(length <= size);
    sf_websocket_check_answer((sf_part){head, length}, "dGhlIHNhbXBsZSBub25jZQ==", NULL);
    if (sf_websocket_take_request((sf_part){head, length}, path, sizeof path, key, NULL) == SF_OK) {
        sf_websocket_accept(accept, key);
        require(strlen(accept) == SF_WEBSOCKET_ACCEPT_SIZE - 1);
    }
    free(head);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) return 0;
    sum whole = read_in(data + 1, size - 1, data[0], size), cut = read_in(data + 1, size - 1, data[0], 1);
    require(whole.messages == cut.messages && whole.hash == cut.hash && whole.is_broken == cut.is_broken);
    shake_hands(data + 1, size - 1);
    return 0;
}
