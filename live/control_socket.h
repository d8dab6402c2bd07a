/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A ZeroMQ REP socket by which a program arms and disarms triggers, sets marks, stops a run and queries its
 * state: a request of control_request.h, an answer {"ok": true, ...} or {"ok": false, "error": "..."}. It is
 * bound on this machine only, unless clients show keys, and answers nobody without the token. Its thread
 * never blocks: the answer to a wrong token is delayed on its own connection only, and a second thread does
 * what takes long (reload, aggregate, state).
 */
#ifndef SF_LIVE_CONTROL_SOCKET_H
#define SF_LIVE_CONTROL_SOCKET_H

#include "pipeline/pipeline.h"

typedef struct sf_control_settings {
    const char *endpoint;
    const char *token_file;
    const char *key, *clients; /**< of sf_curve_server */
    bool hold;                 /**< sources are not read before `start` */
} sf_control_settings;

/** Further actions of a run on request; NULL: it cannot. Called on the socket's second thread. */
typedef struct sf_control_calls {
    int (*reload)(void *user, sf_error *error);
    void *user;
} sf_control_calls;

typedef struct sf_control_socket sf_control_socket;

/** Checks the settings and the files that they name; binds nothing. SF_CONFIG with the key as the place,
 * SF_USAGE with the endpoint. */
int sf_control_socket_examine(const sf_control_settings *settings, sf_error *error);

/** Checks the same and binds; requests are answered from sf_control_socket_start on. SF_CONFIG with the key
 * as the place, SF_UNAVAILABLE. */
int sf_control_socket_open(sf_control_socket **out, const sf_control_settings *settings,
                           const sf_live_options *options, sf_pipeline *pipeline,
                           const sf_control_calls *calls, sf_error *error);

/** The outlet that takes the status messages; its pipeline closes it, which ends the thread. */
sf_outlet sf_control_socket_outlet(sf_control_socket *socket);
int sf_control_socket_start(sf_control_socket *socket, sf_error *error);

/** The address actually bound. */
const char *sf_control_socket_address(const sf_control_socket *socket);

#endif
