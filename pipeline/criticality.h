/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The branching ratio of a stream in progress: at intervals, that of the newest spikes, by the function and
 * with the cautions of `synfire criticality` (analysis/criticality.h), in the background. Window thread.
 */
#ifndef SF_PIPELINE_CRITICALITY_H
#define SF_PIPELINE_CRITICALITY_H

#include "analysis/criticality.h"
#include "pipeline/background.h"
#include "pipeline/options.h"
#include "pipeline/publisher.h"
#include "pipeline/recorded.h"

/** A block of spikes in order. All chunks but the last are full; their contents do not move. */
#define SF_CRITICALITY_CHUNK 65536
typedef struct sf_criticality_chunk {
    size_t count;
    sf_spike spikes[SF_CRITICALITY_CHUNK];
} sf_criticality_chunk;

/** What to estimate: the window's spikes, up to last_count of the last chunk. The worker's while it is busy.
 */
typedef struct sf_criticality_job {
    sf_span window;
    bool partial; /**< the stream began in the window */
    int64_t arrival_ns;
    sf_recorded_time recorded; /**< of the window */
    sf_criticality_chunk **chunks;
    size_t chunk_count, chunk_room, last_count;
    sf_criticality found;
    int status;
    sf_error error;
} sf_criticality_job;

/** Must not move while open. */
typedef struct sf_criticality_run {
    const sf_inputs *inputs; /**< NULL: not configured, and the rest is unused */
    sf_criticality_options options;
    int64_t every_ns, length_ns;
    bool waits;                    /**< the stream waits for the previous estimate, so no window is skipped */
    int64_t began_ns;              /**< as of sf_trials */
    int64_t due_ns;                /**< end of the next window; INT64_MIN: the stream has not begun */
    sf_criticality_chunk **chunks; /**< of spikes that a window may still need */
    size_t chunk_count, chunk_room;
    sf_blanked blanked;
    sf_background background;
    sf_criticality_job job;
    uint64_t missed;    /**< windows skipped because the previous one was still being analysed */
    sf_message *newest; /**< the newest published message, or NULL */
} sf_criticality_run;

/** On a virtual clock estimates are made within the call that reaches the end of their window. SF_NO_MEMORY;
 * call close whatever is returned. */
int sf_criticality_run_open(sf_criticality_run *run, const sf_live_options *config, const sf_inputs *inputs,
                            bool waits, sf_error *error);
void sf_criticality_run_close(sf_criticality_run *run);

/** Adds a span that is not analysed, or spikes. Each in time order, and before the time next reached. */
int sf_criticality_run_blank(sf_criticality_run *run, sf_span span, sf_error *error);
int sf_criticality_run_feed(sf_criticality_run *run, const sf_spike *spikes, size_t count, sf_error *error);

/** No spike before this time will follow: starts the estimate that is due, and publishes finished ones. */
int sf_criticality_run_reach(sf_criticality_run *run, int64_t time_ns, int64_t arrival_ns,
                             sf_publisher *publisher, sf_error *error);

/** The stream has ended: if the stream waits, finishes and publishes the running estimate. */
int sf_criticality_run_finish(sf_criticality_run *run, sf_publisher *publisher, sf_error *error);

/** Adds the newest published estimate to a status. */
void sf_criticality_run_tell(const sf_criticality_run *run, sf_status_message *status);

#endif
