/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Tells a rig every two seconds that somebody listens, over a ZeroMQ REQ socket, as Open Ephys' ZMQ Interface
 * lists its clients by. A rig that does not answer loses nothing: the socket is made anew, and the heartbeat
 * goes on. One thread.
 */
#ifndef SF_INGEST_HEARTBEAT_H
#define SF_INGEST_HEARTBEAT_H

#include <stdint.h>
#include <synfire/error.h>

typedef struct sf_heartbeat sf_heartbeat;

/** Of a ZeroMQ context, which outlives it. SF_USAGE where the text is no endpoint. */
int sf_heartbeat_open(sf_heartbeat **out, void *context, const char *endpoint, sf_error *error);

/** Sends one where it is due, and takes answers; now_ns is the monotonic clock. NULL is allowed. */
void sf_heartbeat_tend(sf_heartbeat *heartbeat, int64_t now_ns);

void sf_heartbeat_close(sf_heartbeat *heartbeat); /**< NULL is allowed */

#endif
