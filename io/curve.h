/* SPDX-License-Identifier: Apache-2.0 */
/**
 * CURVE for synfire's own ZeroMQ sockets: who binds shows who it is by a key, lets in only those whose public
 * keys it was given, and all that goes between is encrypted. Key files are those of ZeroMQ's own tools (czmq,
 * pyzmq's zmq.auth): NAME.key with the public key, NAME.key_secret with both, as Z85 texts of 40 characters.
 */
#ifndef SF_IO_CURVE_H
#define SF_IO_CURVE_H

#include "io/visitors.h"

#include <synfire/error.h>

#include <stddef.h>
#include <stdint.h>

#define SF_CURVE_TEXT_SIZE 41
#define SF_CURVE_NONE "none" /* in place of a path */

/** Files and sockets that a server with keys takes besides its own. */
#define SF_CURVE_DESCRIPTORS 4

typedef struct sf_curve_keys {
    char public_key[SF_CURVE_TEXT_SIZE];
    char secret_key[SF_CURVE_TEXT_SIZE]; /**< empty where there is none */
} sf_curve_keys;

/** What a server is given; paths, NULL or "none": none. Both or neither. */
typedef struct sf_curve_server {
    const char *key;     /**< its own secret file */
    const char *clients; /**< a public file, or a folder of them: *.key */
} sf_curve_server;

/** What a client is given, as above. */
typedef struct sf_curve_client {
    const char *key;        /**< its own secret file */
    const char *server_key; /**< the public file of the server that it wants */
} sf_curve_client;

/** Reads the text of a key file. SF_CONFIG with `place` and the line. */
int sf_curve_parse(sf_curve_keys *keys, const char *bytes, size_t length, const char *place, sf_error *error);

/** Makes a pair: the files PATH.key and PATH.key_secret, which only the owner may read. SF_CANNOT_CREATE
 * where one of them is there; SF_UNAVAILABLE where libzmq was built without CURVE. */
int sf_curve_make(sf_curve_keys *keys, const char *path, sf_error *error);

/** Whether keys are wanted. SF_CONFIG where one of two is missing: the place is "key", "clients" or
 * "server_key". */
int sf_curve_server_wanted(bool *wanted, const sf_curve_server *server, sf_error *error);
int sf_curve_client_wanted(bool *wanted, const sf_curve_client *client, sf_error *error);

/** What is wrong with them, as sf_curve_connect and sf_curve_gate_open say it: their files are read. */
int sf_curve_server_check(const sf_curve_server *server, sf_error *error);
int sf_curve_client_check(const sf_curve_client *client, sf_error *error);

/** Before the socket connects: it shows its key, and speaks to that server alone. Without keys nothing is
 * done. SF_CONFIG with the place "key" or "server_key", SF_UNAVAILABLE as above. */
int sf_curve_connect(void *socket, const sf_curve_client *client, sf_error *error);

/** Follows who connects, in a thread of its own: bounds how many they are (io/visitors.h) and asks, with
 * keys, whether theirs is among those of the clients. */
typedef struct sf_curve_gate sf_curve_gate;

/** Before the socket is bound, the only one of its context. Errors as above. */
int sf_curve_gate_open(sf_curve_gate **gate, void *context, void *socket, const sf_curve_server *server,
                       sf_error *error);

/** Connections that showed no key, a wrong one, or one that is not among those of the clients; -1: nobody is
 * asked. Any thread. */
int64_t sf_curve_gate_refused(const sf_curve_gate *gate);

/** Who is there; of the gate. */
sf_visitors *sf_curve_gate_visitors(const sf_curve_gate *gate);

/** After the socket was closed and before its context is: where nobody answers, libzmq lets everybody in.
 * NULL is allowed. */
void sf_curve_gate_close(sf_curve_gate *gate);

/* ---- what both sides share ---- */

#define SF_CURVE_KEY_BYTES 32

/** Reads a key file; of one with `secret` nobody else may be able to read it, and its keys are a pair:
 * without it the secret is left out. SF_CONFIG, SF_NO_INPUT, SF_UNAVAILABLE where libzmq has no CURVE. Who
 * has read a secret wipes it. */
int sf_curve_read(sf_curve_keys *keys, const char *path, bool secret, sf_error *error);

bool sf_curve_is_given(const char *path);

/** A failure of sf_curve_read with the setting that named the file in place of its path. */
int sf_curve_fail_at(const char *setting, int status, const sf_error *reason, sf_error *error);

#endif
