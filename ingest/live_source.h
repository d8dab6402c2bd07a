/* SPDX-License-Identifier: Apache-2.0 */
/** A live source: a transport (ingest/transport.h) that hands what comes to a decoder. */
#ifndef SF_INGEST_LIVE_SOURCE_H
#define SF_INGEST_LIVE_SOURCE_H

#include "ingest/protocol.h"

/**
 * sf_source_kind.open of every protocol. Connects and waits at most timeout_s, and where electrodes are
 * learnt learn_s more, until the stream is known; `progress` (NULL is allowed) may stop the wait:
 * SF_CANCELLED. SF_CONFIG where a key is wrong, SF_UNAVAILABLE where no stream came, SF_DATA where what came
 * is none of this protocol.
 *
 * Messages lost on the way are counted by their numbers, those that cannot be read by their fault; neither
 * ends the stream. A sender that starts again is a new run (sf_batch.restarts) and no gap. can_wait and
 * virtual_clock are what the sender says. Metadata of the stream is in `origin`, its name in origin->path.
 */
int sf_live_source_open(sf_source **out, const sf_source_kind *kind, const sf_source_settings *settings,
                        const sf_progress *progress, sf_error *error);

int sf_live_source_read(sf_source *source, sf_batch *batch, int timeout_ms, sf_error *error);
void sf_live_source_close(sf_source *source);
bool sf_live_source_connected(sf_source *source);

/** The functions of a protocol's source. */
#define SF_LIVE_SOURCE                                                                                       \
    .is_live = true, .open = sf_live_source_open, .read = sf_live_source_read,                               \
    .close = sf_live_source_close, .connected = sf_live_source_connected

#endif
