/* SPDX-License-Identifier: Apache-2.0 */
/** Watches the status of a run in progress. Errors are as in synfire/synfire.h; one object from one thread at
 * a time. */
#ifndef SF_TOOLS_WATCHER_H
#define SF_TOOLS_WATCHER_H

#include "tools/top.h"

typedef struct sf_watcher sf_watcher;

/**
 * Connects to a run: with a token file to its control socket, without one to a sink of type `zmq`. The run
 * need not exist yet. SF_USAGE for an invalid endpoint, SF_NO_INPUT and SF_CONFIG for the file.
 */
typedef struct sf_watcher_options {
    const char *endpoint;
    const char *token_file;
    const char *key, *server_key; /**< files of keys; NULL: none */
} sf_watcher_options;

int sf_watcher_open(sf_watcher **out, const sf_watcher_options *how, sf_error *error);

/** Receives the newest status. SF_AGAIN if none came within the time; SF_DATA for an invalid one;
 * SF_UNAVAILABLE if the run refuses the token. */
int sf_watcher_next(sf_watcher *watcher, sf_top *top, int timeout_ms, sf_error *error);
void sf_watcher_close(sf_watcher *watcher); /**< NULL is allowed */

#endif
