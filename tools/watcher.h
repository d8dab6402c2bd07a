/* SPDX-License-Identifier: Apache-2.0 */
/** The status of a run that goes on. Errors are as in synfire/synfire.h; one object from one thread at a
 * time. */
#ifndef SF_TOOLS_WATCHER_H
#define SF_TOOLS_WATCHER_H

#include "tools/top.h"

typedef struct sf_watcher sf_watcher;

/**
 * Connects to a run: with a token's file to its control socket, without one to a sink of type `zmq`. Nobody
 * needs to be there yet. SF_USAGE for an endpoint that is none, SF_NO_INPUT and SF_CONFIG for the file.
 */
typedef struct sf_watcher_options {
    const char *endpoint;
    const char *token_file;
    const char *key, *server_key; /**< files of keys; NULL: none */
} sf_watcher_options;

int sf_watcher_open(sf_watcher **out, const sf_watcher_options *how, sf_error *error);

/** The newest status. SF_AGAIN where none came within the time; SF_DATA for what is none; SF_UNAVAILABLE
 * where the run refuses the token. */
int sf_watcher_next(sf_watcher *watcher, sf_top *top, int timeout_ms, sf_error *error);
void sf_watcher_close(sf_watcher *watcher); /**< NULL is allowed */

#endif
