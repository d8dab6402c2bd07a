/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A ZeroMQ socket, to be asked by REQ, by which a program arms and disarms triggers, sets marks, stops a run
 * and asks how it is: a request of control_request.h, an answer {"ok": true, ...} or {"ok": false, "error":
 * "..."}. It is bound on this machine only, unless clients show keys, and answers nobody without the token.
 * Its thread waits for nobody: the answer to a wrong token is held back on its own connection alone, and what
 * takes long (reload, aggregate, state) is done by a second thread.
 */
#ifndef SF_LIVE_CONTROL_SOCKET_H
#define SF_LIVE_CONTROL_SOCKET_H

#include "pipeline/pipeline.h"

typedef struct sf_control_settings {
    const char *endpoint;
    const char *token_file;
    const char *key, *clients; /**< of sf_curve_server */
    bool hold;                 /**< nothing is read of the sources before `start` */
} sf_control_settings;

/** What else a run does when it is told to; NULL: it cannot. The socket's second
 * thread. */
typedef struct sf_control_calls {
    int (*reload)(void *user, sf_error *error);
    void *user;
} sf_control_calls;

typedef struct sf_control_socket sf_control_socket;

/** What is wrong with the settings and the files that they name; nothing is bound. SF_CONFIG with the key for
 * its place, SF_USAGE with the endpoint. */
int sf_control_socket_examine(const sf_control_settings *settings, sf_error *error);

/** Examines, binds, and is asked from the call of sf_control_socket_start on. SF_CONFIG with the key for its
 * place, SF_UNAVAILABLE. */
int sf_control_socket_open(sf_control_socket **out, const sf_control_settings *settings,
                           const sf_live_options *options, sf_pipeline *pipeline,
                           const sf_control_calls *calls, sf_error *error);

/** Gets the status messages; its pipeline closes it, which ends the thread. */
sf_outlet sf_control_socket_outlet(sf_control_socket *socket);
int sf_control_socket_start(sf_control_socket *socket, sf_error *error);

/** What was really bound. */
const char *sf_control_socket_address(const sf_control_socket *socket);

#endif
