/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Limits on the connections of a bound ZeroMQ socket, because libzmq limits neither their number nor their
 * subscriptions. Events of the socket's monitor fill a table. When it is full, the oldest connection that is
 * not yet known (see sf_visitors_know) is closed, or the new one if all are known. A message of a connection
 * may be processed before the monitor reports the connection; it is still counted.
 */
#ifndef SF_IO_VISITORS_H
#define SF_IO_VISITORS_H

#include <stdint.h>
#include <synfire/error.h>

/** Maximum number of connections; fewer if the process may open less than four times this number of files and
 * sockets. */
#define SF_VISITORS_MOST 256
/** Subscriptions of one connection. */
#define SF_VISITOR_SUBSCRIPTIONS 64
/** libzmq closes a connection whose handshake takes longer. */
#define SF_VISITOR_HANDSHAKE_MS 5000

typedef struct sf_visitors sf_visitors;

/** Call before the socket is bound. SF_NO_MEMORY. */
int sf_visitors_open(sf_visitors **visitors, void *socket, sf_error *error);
void sf_visitors_close(sf_visitors *visitors); /**< NULL is allowed */

/* For the monitor's thread: values of ZMQ_EVENT_ACCEPTED and ZMQ_EVENT_DISCONNECTED. */
void sf_visitors_come(sf_visitors *visitors, int file);
void sf_visitors_go(sf_visitors *visitors, int file);

/** Any thread: marks a connection as known (it sent the token, or subscribed), so that unknown ones are
 * closed first. */
void sf_visitors_know(sf_visitors *visitors, int file);

/** Any thread: adds `by` to the number of subscriptions of the connection and marks it as known; closes it if
 * it has too many. */
void sf_visitors_subscribe(sf_visitors *visitors, int file, int by);

uint64_t sf_visitors_closed(const sf_visitors *visitors); /**< any thread: so far */

#endif
