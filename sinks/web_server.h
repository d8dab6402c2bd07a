/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The page's server, on libwebsockets: a few files that are in the library, three texts, and a WebSocket of
 * frames. A browser that reads slowly has one frame in the system's hands and nobody waits for it. All on one
 * thread but open.
 */
#ifndef SF_SINKS_WEB_SERVER_H
#define SF_SINKS_WEB_SERVER_H

#include "core/orders.h"
#include "core/thread.h"
#include "sinks/web_board.h"

/** So many at once; more are refused. */
#define SF_WEB_BROWSERS 16

typedef struct sf_web_server sf_web_server;

/** Listens at HOST:PORT; port 0 takes any free one. `name` is by which else it may be called. The
 * board and the orders (NULL: none are taken) are borrowed until close. SF_CONFIG for what is no such
 * address, SF_UNAVAILABLE where it cannot be bound or the build has no libwebsockets. */
int sf_web_server_open(sf_web_server **server, sf_web_board *board, const char *endpoint, const char *name,
                       const sf_orders *orders, sf_error *error);

/** Where a browser finds the page, with the token behind the #; constant. */
const char *sf_web_server_address(const sf_web_server *server);

/** How many have the page open. */
unsigned sf_web_server_browsers(const sf_web_server *server);

/** Serves until something happened, the bell rang, or a frame's time has passed. */
void sf_web_server_wait(sf_web_server *server, sf_bell *work);

/** Browsers that read get a moment to fetch what they lack. NULL is allowed. */
void sf_web_server_close(sf_web_server *server);

/** SF_UNAVAILABLE where the build has no page. */
int sf_web_check_build(const char *endpoint, sf_error *error);

/** "libwebsockets 4.1.6", or NULL where the build has none. */
const char *sf_web_library(void);

/** A file of the page. */
typedef struct sf_web_asset {
    const char *path, *type;
    const char *begin, *end;
} sf_web_asset;

/** NULL beyond the last. */
const sf_web_asset *sf_web_asset_at(size_t index);

#endif
