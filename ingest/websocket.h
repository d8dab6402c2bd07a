/* SPDX-License-Identifier: Apache-2.0 */
/**
 * WebSocket (RFC 6455) as bytes, independent of a socket: frames, messages and the opening handshake, for
 * client and server. No extensions. One thread.
 */
#ifndef SF_INGEST_WEBSOCKET_H
#define SF_INGEST_WEBSOCKET_H

#include "core/part.h"

#include <stdbool.h>
#include <stdint.h>
#include <synfire/error.h>

#define SF_WEBSOCKET_HEAD 14            /**< bytes of a frame's head, at most */
#define SF_WEBSOCKET_CONTROL 125        /**< maximum bytes of a ping, pong or close */
#define SF_WEBSOCKET_PASSED (64u << 20) /**< maximum bytes of a message that is skipped */
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

/** Reads the messages of one connection. Zero-initialise and set the first two members; sf_websocket_clear
 * frees it. */
typedef struct sf_websocket {
    bool is_server; /**< incoming frames must be masked; otherwise none may be */
    size_t most; /**< maximum bytes of a message that are kept; of a longer one only the length is reported */
    unsigned char head[SF_WEBSOCKET_HEAD], mask[4], control[SF_WEBSOCKET_CONTROL];
    size_t head_size;              /**< bytes read of an incomplete frame head */
    uint64_t left, taken;          /**< bytes of the frame that are missing; that were read */
    bool in_frame, is_final;       /**< of the frame */
    sf_websocket_kind frame, kind; /**< kind of the frame; of the message, MORE if none has begun */
    uint64_t length;               /**< of the message, so far */
    unsigned char *bytes;          /**< of the message, while it is no longer than `most` */
    size_t capacity;
} sf_websocket;

typedef struct sf_websocket_message {
    sf_websocket_kind kind; /**< none is MORE */
    uint64_t length;
    const unsigned char *bytes; /**< valid until the next call; NULL: longer than `most` */
} sf_websocket_message;

/**
 * Reads bytes until a message is complete: SF_OK, with *used bytes consumed; pass the rest to the next call.
 * SF_AGAIN: all bytes were consumed. SF_DATA: the data violates the protocol, and the connection must be
 * closed. Memory is allocated for bytes received, not for the length that a head announces. SF_NO_MEMORY.
 */
int sf_websocket_read(sf_websocket *it, const void *bytes, size_t size, size_t *used,
                      sf_websocket_message *message, sf_error *error);

/** A message has begun and is not whole. */
bool sf_websocket_is_within(const sf_websocket *it);

/** Frees the buffers; the struct may be used for a new connection. */
void sf_websocket_clear(sf_websocket *it);

/** Writes the head of a frame that is a whole message; returns its length. `mask` NULL: as a server. */
size_t sf_websocket_put_head(unsigned char to[SF_WEBSOCKET_HEAD], sf_websocket_kind kind, uint64_t length,
                             const unsigned char mask[4]);

/** Masks or unmasks bytes of a frame; `at` is the offset of the first byte in the frame. */
void sf_websocket_mask(unsigned char *bytes, size_t size, const unsigned char mask[4], uint64_t at);

/** Encodes random bytes as the key of a request; and the answer to a key. */
void sf_websocket_key(char key[SF_WEBSOCKET_KEY_SIZE], const unsigned char random[SF_WEBSOCKET_NONCE]);
void sf_websocket_accept(char accept[SF_WEBSOCKET_ACCEPT_SIZE], const char *key);

/** Length of the HTTP head at the start of `bytes`, its blank line included; 0: incomplete. */
size_t sf_websocket_head_length(const char *bytes, size_t size);

/** Checks a server's answer, a complete head, against the key that was sent. SF_DATA, quoting the answer. */
int sf_websocket_check_answer(sf_part head, const char *key, sf_error *error);

/** Parses a client's request, a complete head: its path and its key. SF_DATA if it is another kind of
 * request. */
int sf_websocket_take_request(sf_part head, char *path, size_t path_size, char key[SF_WEBSOCKET_KEY_SIZE],
                              sf_error *error);

#endif
