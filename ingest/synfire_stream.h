/* SPDX-License-Identifier: Apache-2.0 */
/** A source that receives synfire's own stream (docs/wire.md) from `synfire play` or another sender over
 * ZeroMQ. */
#ifndef SF_INGEST_SYNFIRE_STREAM_H
#define SF_INGEST_SYNFIRE_STREAM_H

#include "core/progress.h"
#include "window/source.h"

/**
 * Connects to `endpoint` (tcp://HOST:PORT, ipc://PATH) and waits at most timeout_ms (-1: for ever) for the
 * sender's unit table; `progress` (NULL is allowed) may stop the wait: SF_CANCELLED. SF_USAGE where the text
 * is no endpoint, SF_UNAVAILABLE where no stream came, SF_DATA where what came is no stream of this version.
 *
 * Frames lost on the way are counted by their sequence numbers, frames that cannot be read by their fault;
 * neither ends the stream. A sender that starts again is a new run (sf_batch.restarts) and no gap, as long as
 * its units have the same names; otherwise reading fails with SF_DATA. can_wait and virtual_clock are what
 * the sender says. Metadata of the stream is in `origin`, its name in origin->path.
 */
int sf_stream_open(sf_source **out, const char *endpoint, int timeout_ms, const sf_progress *progress,
                   sf_error *error);

/** This source, as a configuration names it. */
extern const sf_source_kind sf_source_zmq;

#endif
