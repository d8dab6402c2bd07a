/* SPDX-License-Identifier: Apache-2.0 */
/** What a browser's request says: which server it addresses, which page asks, and what it asks for. Nothing
 * else is read. */
#ifndef SF_SINKS_WEB_REQUEST_H
#define SF_SINKS_WEB_REQUEST_H

#include "core/episode.h"

#include <synfire/live.h>

#define SF_WEB_TOKEN 32    /* hexadecimal digits */
#define SF_WEB_CONTROL 256 /* maximum bytes of the control socket's token */
#define SF_WEB_MOST 320    /* maximum bytes of a browser's message */

/**
 * Whether a request's Host may name this server: an address in numbers, `localhost`, or its one configured
 * name, with any port, because tunnels change it. Another name leads here only through a foreign name server
 * (DNS rebinding). NULL: the request has none.
 */
bool sf_web_host_is_known(const char *host, const char *name);

/** Whether the asking page came from the server at `host`. */
bool sf_web_origin_is_own(const char *origin, const char *host);

typedef enum sf_web_word {
    SF_WEB_TRUST,
    SF_WEB_MARK,
    SF_WEB_UNMARK,
    SF_WEB_CONTROL_BY,
    SF_WEB_ARM,
    SF_WEB_DISARM
} sf_web_word;

typedef struct sf_web_request {
    sf_web_word word;
    char token[SF_WEB_TOKEN + 1];
    char id[SF_EPISODE_ID_SIZE];
    char control[SF_WEB_CONTROL + 1];
    char trigger[SF_TRIGGER_NAME_SIZE];
} sf_web_request;

/** Reads `token HEX`, `mark ID`, `unmark`, `control TOKEN`, `arm NAME` or `disarm NAME`. SF_DATA. */
int sf_web_request_read(sf_web_request *request, const char *text, size_t size, sf_error *error);

#endif
