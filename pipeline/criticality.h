/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The branching ratio while a stream goes on: every so often that of the last spikes, by the function and
 * with the cautions of `synfire criticality` (analysis/criticality.h), in the background. Window thread.
 */
#ifndef SF_PIPELINE_CRITICALITY_H
#define SF_PIPELINE_CRITICALITY_H

#include "analysis/criticality.h"
#include "pipeline/background.h"
#include "pipeline/options.h"
#include "pipeline/publisher.h"
#include "pipeline/recorded.h"

/** Spikes in order. Full but for the last one; what is in it stays where it is. */
#define SF_CRITICALITY_CHUNK 65536
typedef struct sf_criticality_chunk {
    size_t count;
    sf_spike spikes[SF_CRITICALITY_CHUNK];
} sf_criticality_chunk;

/** What is estimated: of the window's spikes, those of the last chunk so far. The worker's while it is busy.
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

/** Stays where it is while open. */
typedef struct sf_criticality_run {
    const sf_inputs *inputs; /**< NULL: it is not asked for, and nothing below is there */
    sf_criticality_options options;
    int64_t every_ns, length_ns;
    bool waits;                    /**< the stream waits for the estimate before: none is left out */
    int64_t began_ns;              /**< as of sf_trials */
    int64_t due_ns;                /**< end of the next window; INT64_MIN: the stream has not begun */
    sf_criticality_chunk **chunks; /**< of spikes that a window may still need */
    size_t chunk_count, chunk_room;
    sf_blanked blanked;
    sf_background background;
    sf_criticality_job job;
    uint64_t missed;    /**< windows that were due while the one before was still looked at */
    sf_message *newest; /**< what was told last, or NULL */
} sf_criticality_run;

/** On a virtual clock estimates are made within the call that reaches their window's end. SF_NO_MEMORY; close
 * it whatever happened. */
int sf_criticality_run_open(sf_criticality_run *run, const sf_live_options *config, const sf_inputs *inputs,
                            bool waits, sf_error *error);
void sf_criticality_run_close(sf_criticality_run *run);

/** A span that is not analysed; spikes. Each in order of time, and all before what is reached. */
int sf_criticality_run_blank(sf_criticality_run *run, sf_span span, sf_error *error);
int sf_criticality_run_feed(sf_criticality_run *run, const sf_spike *spikes, size_t count, sf_error *error);

/** No spike before this time is to come: begins what is due, and tells what was found. */
int sf_criticality_run_reach(sf_criticality_run *run, int64_t time_ns, int64_t arrival_ns,
                             sf_publisher *publisher, sf_error *error);

/** The stream has ended: tells what is still looked at, where the stream waits for it. */
int sf_criticality_run_finish(sf_criticality_run *run, sf_publisher *publisher, sf_error *error);

/** Puts what was told last into a status. */
void sf_criticality_run_tell(const sf_criticality_run *run, sf_status_message *status);

#endif
