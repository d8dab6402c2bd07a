/* SPDX-License-Identifier: Apache-2.0 */
/** A live source: a transport (ingest/transport.h) that feeds a decoder. */
#ifndef SF_INGEST_LIVE_SOURCE_H
#define SF_INGEST_LIVE_SOURCE_H

#include "ingest/protocol.h"

/**
 * sf_source_kind.open of every protocol: SF_CONFIG where a key is wrong, SF_UNAVAILABLE where a library is
 * missing.
 */
int sf_live_source_open(sf_source **out, const sf_source_kind *kind, const sf_source_settings *settings,
                        sf_error *error);

/**
 * Connects and waits at most timeout_s, and where electrodes are learnt learn_s more, until the stream is
 * known; `progress` (NULL is allowed) may stop the wait: SF_CANCELLED. SF_UNAVAILABLE where no stream came,
 * SF_DATA where what came is none of this protocol.
 *
 * Lost messages are counted by their numbers, unreadable ones by their fault; neither ends the stream. A
 * restart of the sender is a new run (sf_batch.restarts), not a gap. can_wait and virtual_clock are as the
 * sender says. The stream's metadata is in `origin`, its name in origin->path.
 */
int sf_live_source_begin(sf_source *source, const sf_progress *progress, sf_error *error);

int sf_live_source_read(sf_source *source, sf_batch *batch, int timeout_ms, sf_error *error);
void sf_live_source_close(sf_source *source);
bool sf_live_source_connected(sf_source *source);

/** What was received from a rig while listening. */
typedef struct sf_live_heard {
    bool is_connected; /**< at the end */
    bool has_come;     /**< anything at all */
    bool is_known;     /**< the stream, with its units */
    bool has_ended;    /**< in order */
    bool is_timed; /**< stream_s, passed_s and spread_ms are valid: real time, a single epoch, at least 0.5 s
                    */
    char failure[1100]; /**< why it could not be opened; empty: it could */
    char fault[160];    /**< fault of the newest unreadable message, or empty */
    const char *wants;  /**< what must arrive before the stream is known (a literal); NULL: anything */
    char names[160];    /**< of the first units */
    sf_transport_seen seen;
    size_t units;
    uint64_t spikes, markers, malformed, gaps, gap_lost, out_of_range, other_streams, restarts;
    double stream_s,
        passed_s;   /**< time from the first batch to the newest, by the stream's clock; by this computer's */
    double rate_hz; /**< sampling rate in use; 0: none */
    double spread_ms; /**< difference between the largest and the smallest delay of a batch */
} sf_live_heard;

/**
 * Listens for so many seconds as sf_live_source_begin and _read do, with at most a quarter of them to learn
 * electrodes, and says what came; it sends what they send. What cannot be opened, or ends the stream, is
 * `failure` and no error. SF_CONFIG where a key is wrong, SF_CANCELLED.
 */
int sf_live_source_hear(sf_live_heard *heard, const sf_source_kind *kind, const sf_source_settings *settings,
                        double seconds, const sf_progress *progress, sf_error *error);

/** The functions of a protocol's source. */
#define SF_LIVE_SOURCE                                                                                       \
    .is_live = true, .open = sf_live_source_open, .begin = sf_live_source_begin,                             \
    .read = sf_live_source_read, .close = sf_live_source_close, .connected = sf_live_source_connected

#endif
