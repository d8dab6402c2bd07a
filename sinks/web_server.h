/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The page's server, on libwebsockets: serves a few files contained in the library, three texts, and a
 * WebSocket of frames. For a slow browser one frame waits in the system's buffers, and nobody waits for it.
 * One thread, except for open.
 */
#ifndef SF_SINKS_WEB_SERVER_H
#define SF_SINKS_WEB_SERVER_H

#include "core/orders.h"
#include "core/thread.h"
#include "sinks/web_board.h"

/** Maximum number of connections; more are refused. */
#define SF_WEB_BROWSERS 16

typedef struct sf_web_server sf_web_server;

/** Listens at HOST:PORT; port 0 takes any free port. `name` is a further host name that requests may use. The
 * board and the orders (NULL: none accepted) are borrowed until close. SF_CONFIG for an invalid address,
 * SF_UNAVAILABLE if it cannot be bound or the build has no libwebsockets. */
int sf_web_server_open(sf_web_server **server, sf_web_board *board, const char *endpoint, const char *name,
                       const sf_orders *orders, sf_error *error);

/** The page's URL, with the token behind the #; constant. */
const char *sf_web_server_address(const sf_web_server *server);

/** Number of browsers that have the page open. */
unsigned sf_web_server_browsers(const sf_web_server *server);

/** Serves until something happened, the bell rang, or a frame interval has passed. */
void sf_web_server_wait(sf_web_server *server, sf_bell *work);

/** Closes the server; gives browsers that read a moment to fetch what they lack. NULL is allowed. */
void sf_web_server_close(sf_web_server *server);

/** SF_UNAVAILABLE where the build has no page. */
int sf_web_check_build(const char *endpoint, sf_error *error);

/** "libwebsockets 4.1.6", or NULL if the build has none. */
const char *sf_web_library(void);

/** A file of the page. */
typedef struct sf_web_asset {
    const char *path, *type;
    const char *begin, *end;
} sf_web_asset;

/** NULL beyond the last. */
const sf_web_asset *sf_web_asset_at(size_t index);

#endif
