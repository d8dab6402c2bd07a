/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The connections of one bound ZeroMQ socket, which libzmq bounds neither in number nor in what they
 * subscribe to. The events of the socket's monitor fill the table; where it is full, the oldest connection of
 * which nothing is known yet is closed, and where all are known, the new one. What a connection says may be
 * heard before the monitor tells that it came, and counts all the same.
 */
#ifndef SF_IO_VISITORS_H
#define SF_IO_VISITORS_H

#include <stdint.h>
#include <synfire/error.h>

/** Connections at once; fewer where the program may open less than four times as many files and sockets. */
#define SF_VISITORS_MOST 256
/** Subscriptions of one connection. */
#define SF_VISITOR_SUBSCRIPTIONS 64
/** A connection that has not said who it is after so long is closed by libzmq. */
#define SF_VISITOR_HANDSHAKE_MS 5000

typedef struct sf_visitors sf_visitors;

/** Before the socket is bound. SF_NO_MEMORY. */
int sf_visitors_open(sf_visitors **visitors, void *socket, sf_error *error);
void sf_visitors_close(sf_visitors *visitors); /**< NULL is allowed */

/* The thread that follows the monitor: ZMQ_EVENT_ACCEPTED and ZMQ_EVENT_DISCONNECTED with their value. */
void sf_visitors_come(sf_visitors *visitors, int file);
void sf_visitors_go(sf_visitors *visitors, int file);

/** Any thread: it has shown the token, or subscribed, and others go first. */
void sf_visitors_know(sf_visitors *visitors, int file);

/** Any thread: so many subscriptions more, or with -1 one less. A connection that has too many is closed. */
void sf_visitors_subscribe(sf_visitors *visitors, int file, int by);

uint64_t sf_visitors_closed(const sf_visitors *visitors); /**< any thread: so far */

#endif
