/* SPDX-License-Identifier: Apache-2.0 */
/**
 * WebSocket (RFC 6455) as bytes, without a socket: frames, messages and the opening handshake, of both ends.
 * No extensions. One thread.
 */
#ifndef SF_INGEST_WEBSOCKET_H
#define SF_INGEST_WEBSOCKET_H

#include "core/part.h"

#include <stdbool.h>
#include <stdint.h>
#include <synfire/error.h>

#define SF_WEBSOCKET_HEAD 14            /**< bytes of a frame's head, at most */
#define SF_WEBSOCKET_CONTROL 125        /**< bytes of a ping, pong or close, at most */
#define SF_WEBSOCKET_PASSED (64u << 20) /**< bytes of a message that is passed over, at most */
#define SF_WEBSOCKET_NONCE 16           /**< random bytes of a handshake */
#define SF_WEBSOCKET_KEY_SIZE 25        /**< Sec-WebSocket-Key, with its NUL */
#define SF_WEBSOCKET_ACCEPT_SIZE 29     /**< Sec-WebSocket-Accept, with its NUL */

typedef enum sf_websocket_kind {
    SF_WEBSOCKET_MORE = 0,
    SF_WEBSOCKET_TEXT = 1,
    SF_WEBSOCKET_BINARY = 2,
    SF_WEBSOCKET_CLOSE = 8,
    SF_WEBSOCKET_PING = 9,
    SF_WEBSOCKET_PONG = 10
} sf_websocket_kind;

/** Reads the messages of one connection. Zero-initialise, set the first two; sf_websocket_clear frees. */
typedef struct sf_websocket {
    bool is_server; /**< frames that come are masked; else none is */
    size_t most;    /**< bytes of a message that are kept; of a longer one only its length is told */
    unsigned char head[SF_WEBSOCKET_HEAD], mask[4], control[SF_WEBSOCKET_CONTROL];
    size_t head_size;              /**< of a frame whose head is not whole yet */
    uint64_t left, taken;          /**< bytes of the frame: yet to come, and that came */
    bool in_frame, is_final;       /**< of the frame */
    sf_websocket_kind frame, kind; /**< of the frame; of the message, MORE: none has begun */
    uint64_t length;               /**< of the message, so far */
    unsigned char *bytes;          /**< of the message, as long as it is no longer than `most` */
    size_t capacity;
} sf_websocket;

typedef struct sf_websocket_message {
    sf_websocket_kind kind; /**< none is MORE */
    uint64_t length;
    const unsigned char *bytes; /**< until the next call; NULL: it is longer than `most` */
} sf_websocket_message;

/**
 * Takes bytes until a message is whole: SF_OK, with how many bytes were *used; the rest is for the next call.
 * SF_AGAIN: all were used. SF_DATA: what comes is no WebSocket, and the connection is of no more use. Memory
 * is taken for bytes that came, not for what a head announces. SF_NO_MEMORY.
 */
int sf_websocket_read(sf_websocket *it, const void *bytes, size_t size, size_t *used,
                      sf_websocket_message *message, sf_error *error);

/** A message has begun and is not whole. */
bool sf_websocket_is_within(const sf_websocket *it);

/** Frees what was kept; a connection may begin anew. */
void sf_websocket_clear(sf_websocket *it);

/** Writes the head of a frame that is a whole message: how many bytes. `mask` NULL: of a server. */
size_t sf_websocket_put_head(unsigned char to[SF_WEBSOCKET_HEAD], sf_websocket_kind kind, uint64_t length,
                             const unsigned char mask[4]);

/** Masks bytes of a frame, or takes the mask off; `at` is the place of the first in the frame. */
void sf_websocket_mask(unsigned char *bytes, size_t size, const unsigned char mask[4], uint64_t at);

/** Random bytes as the key of a request, and the answer to a key. */
void sf_websocket_key(char key[SF_WEBSOCKET_KEY_SIZE], const unsigned char random[SF_WEBSOCKET_NONCE]);
void sf_websocket_accept(char accept[SF_WEBSOCKET_ACCEPT_SIZE], const char *key);

/** Length of the head of HTTP that bytes begin with, its blank line included; 0: it is not whole. */
size_t sf_websocket_head_length(const char *bytes, size_t size);

/** Holds a server's answer, a whole head, against the key that was sent. SF_DATA, with what it says instead.
 */
int sf_websocket_check_answer(sf_part head, const char *key, sf_error *error);

/** Takes a client's request, a whole head: its path and its key. SF_DATA where it asks for something else. */
int sf_websocket_take_request(sf_part head, char *path, size_t path_size, char key[SF_WEBSOCKET_KEY_SIZE],
                              sf_error *error);

#endif
