/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Bounds in bytes what libzmq holds of a connection. Its own limits count whole messages and bound each
 * frame, but a message may have any number of frames: a sender that never ends one would take all memory. A
 * thread holds what the kernel received over TCP against what was handed on, and cuts the connection off
 * where too much lies between; libzmq then drops the message that was not whole, and connects again.
 */
#ifndef SF_INGEST_BYTE_GUARD_H
#define SF_INGEST_BYTE_GUARD_H

#include <synfire/error.h>

/** More than QUEUE_FRAMES of the longest frames (ingest/synfire_stream.c) and what is on its way. */
#define SF_GUARD_BYTES ((uint64_t)384 << 20)

typedef struct sf_byte_guard sf_byte_guard;

/** Before the socket connects, `has_keys` where it has those of CURVE. Close it before the socket and its
 * context. */
int sf_byte_guard_open(sf_byte_guard **guard, void *context, void *socket, const char *endpoint,
                       bool has_keys, sf_error *error);
void sf_byte_guard_close(sf_byte_guard *guard); /**< NULL is allowed */

/** Any thread: a frame of so many bytes was handed on. */
void sf_byte_guard_note(sf_byte_guard *guard, uint64_t bytes);

/** The socket's thread: true once where libzmq gave the connection up, so that it must be made anew. */
bool sf_byte_guard_gave_up(sf_byte_guard *guard);

/** Any thread: whether there is a connection. */
bool sf_byte_guard_connected(const sf_byte_guard *guard);

/** Any thread: how often a connection was cut off or given up since it was asked last. */
uint64_t sf_byte_guard_cuts(sf_byte_guard *guard);

#endif
