/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Limits the bytes that libzmq buffers of a connection. libzmq's own limits count whole messages and bound
 * each frame, but a message may have any number of frames, so a sender that never ends one would exhaust
 * memory. A thread compares what the kernel received over TCP with what was handed on, and cuts the
 * connection if the difference is too large; libzmq then drops the incomplete message and reconnects.
 */
#ifndef SF_INGEST_BYTE_GUARD_H
#define SF_INGEST_BYTE_GUARD_H

#include <synfire/error.h>

/** More than the 16 longest frames that libzmq queues (256 MiB; ingest/synfire.c), plus data in transit. */
#define SF_GUARD_BYTES ((uint64_t)384 << 20)

typedef struct sf_byte_guard sf_byte_guard;

/** Call before the socket connects; `has_keys`: it has CURVE keys. Close the guard before the socket and its
 * context. */
int sf_byte_guard_open(sf_byte_guard **guard, void *context, void *socket, const char *endpoint,
                       bool has_keys, sf_error *error);
void sf_byte_guard_close(sf_byte_guard *guard); /**< NULL is allowed */

/** Any thread: a frame of `bytes` bytes was handed on. */
void sf_byte_guard_note(sf_byte_guard *guard, uint64_t bytes);

/** The socket's thread: true once after libzmq gave up the connection, so that the caller must connect again.
 */
bool sf_byte_guard_gave_up(sf_byte_guard *guard);

/** Any thread: whether there is a connection. */
bool sf_byte_guard_connected(const sf_byte_guard *guard);

/** Any thread: number of connections cut off or given up since the last call. */
uint64_t sf_byte_guard_cuts(sf_byte_guard *guard);

#endif
