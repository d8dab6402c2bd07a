/* SPDX-License-Identifier: Apache-2.0 */
/**
 * CURVE security of synfire's own ZeroMQ sockets: a server proves its identity by a key, accepts only clients
 * whose public keys it was given, and all traffic is encrypted. Key files have the format of ZeroMQ's own
 * tools (czmq, pyzmq's zmq.auth): NAME.key with the public key, NAME.key_secret with both, as Z85 texts of 40
 * characters.
 */
#ifndef SF_IO_CURVE_H
#define SF_IO_CURVE_H

#include "io/visitors.h"

#include <synfire/error.h>

#include <stddef.h>
#include <stdint.h>

#define SF_CURVE_TEXT_SIZE 41
#define SF_CURVE_NONE "none" /* in place of a path */

/** Additional file descriptors of a server with keys. */
#define SF_CURVE_DESCRIPTORS 4

typedef struct sf_curve_keys {
    char public_key[SF_CURVE_TEXT_SIZE];
    char secret_key[SF_CURVE_TEXT_SIZE]; /**< empty where there is none */
} sf_curve_keys;

/** Key settings of a server: paths; NULL or "none": not set. Either both or neither. */
typedef struct sf_curve_server {
    const char *key;     /**< its own secret file */
    const char *clients; /**< a public key file, or a folder of files *.key */
} sf_curve_server;

/** What a client is given, as above. */
typedef struct sf_curve_client {
    const char *key;        /**< its own secret file */
    const char *server_key; /**< public key file of the server to connect to */
} sf_curve_client;

/** Parses the text of a key file. SF_CONFIG with `place` and the line. */
int sf_curve_parse(sf_curve_keys *keys, const char *bytes, size_t length, const char *place, sf_error *error);

/** Generates a key pair and writes PATH.key and PATH.key_secret, readable by the owner only. SF_CANNOT_CREATE
 * if one of them exists; SF_UNAVAILABLE if libzmq was built without CURVE. */
int sf_curve_make(sf_curve_keys *keys, const char *path, sf_error *error);

/** Whether keys are configured. SF_CONFIG if only one of the two settings is given; its place is "key",
 * "clients" or "server_key". */
int sf_curve_server_wanted(bool *wanted, const sf_curve_server *server, sf_error *error);
int sf_curve_client_wanted(bool *wanted, const sf_curve_client *client, sf_error *error);

/** What is wrong with them, as sf_curve_connect and sf_curve_gate_open say it: their files are read. */
int sf_curve_server_check(const sf_curve_server *server, sf_error *error);
int sf_curve_client_check(const sf_curve_client *client, sf_error *error);

/** Before the socket connects: it shows its key, and speaks to that server alone. Without keys nothing is
 * done. SF_CONFIG with the place "key" or "server_key", SF_UNAVAILABLE as above. */
int sf_curve_connect(void *socket, const sf_curve_client *client, sf_error *error);

/** Admission control of a bound socket, in a thread of its own: limits the number of connections
 * (io/visitors.h) and, with keys, checks that a client's public key is among those given. */
typedef struct sf_curve_gate sf_curve_gate;

/** Call before the socket is bound; it must be the only one of its context. Errors as above. */
int sf_curve_gate_open(sf_curve_gate **gate, void *context, void *socket, const sf_curve_server *server,
                       sf_error *error);

/** Number of refused connections: no key, a wrong key, or one that is not among the clients'; -1: no keys are
 * configured. Any thread. */
int64_t sf_curve_gate_refused(const sf_curve_gate *gate);

/** Who is there; of the gate. */
sf_visitors *sf_curve_gate_visitors(const sf_curve_gate *gate);

/** Call after the socket is closed and before its context is, because libzmq admits everybody once no thread
 * answers its requests. NULL is allowed. */
void sf_curve_gate_close(sf_curve_gate *gate);

/* ---- what both sides share ---- */

#define SF_CURVE_KEY_BYTES 32

/** Reads a key file. With `secret` the file must be readable by its owner only and hold a matching key pair;
 * without, the secret is left out. The caller wipes a secret after use. SF_CONFIG, SF_NO_INPUT,
 * SF_UNAVAILABLE if libzmq has no CURVE. */
int sf_curve_read(sf_curve_keys *keys, const char *path, bool secret, sf_error *error);

bool sf_curve_is_given(const char *path);

/** Reports an error of sf_curve_read, with the setting that named the file in place of its path. */
int sf_curve_fail_at(const char *setting, int status, const sf_error *reason, sf_error *error);

#endif
