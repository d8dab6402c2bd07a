/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The window path: everything that happens once a hop. Spikes come in order; when the watermark passes the
 * end of a hop, its segment is summarised for every tracked episode and the window's exact counts, graph,
 * densities and status are published. One thread.
 */
#ifndef SF_PIPELINE_HOPS_H
#define SF_PIPELINE_HOPS_H

#include "pipeline/accelerator.h"
#include "pipeline/connections.h"
#include "pipeline/counting.h"
#include "pipeline/densities.h"
#include "pipeline/discovery.h"
#include "pipeline/predictions.h"
#include "pipeline/publisher.h"
#include "pipeline/stages.h"
#include "pipeline/testing.h"
#include "pipeline/tracking.h"

typedef struct sf_hops_options {
    const sf_live_options *config;
    const sf_stream_info *stream;
    const sf_observed *observed; /**< where recordings were, of the sources that are some; borrowed */
    size_t observed_count;
    sf_publisher *publisher;
    bool virtual_clock; /**< discovery and tests run inside their hop */
    sf_board *board;    /**< gets what tests say of the watched episodes */
    /** Adds what the window path does not know: sources, sinks, watched episodes. Called on this thread. */
    int (*complete_status)(void *user, sf_status_message *status, sf_error *error);
    /** A number that grows with everything that makes the stream leap or lose spikes. */
    uint64_t (*breaks)(void *user);
    void *user;
} sf_hops_options;

typedef struct sf_hops {
    sf_hops_options options;
    sf_history history;
    sf_cutter cutter;
    sf_counting counting;
    sf_tracking tracking;
    sf_tracking next; /**< what the newest discovery wants tracked, while that is prepared */
    bool preparing;
    sf_accelerator accelerator;
    sf_discovery discovery;
    sf_discovered discovered; /**< the newest that was taken up */
    sf_testing testing;
    sf_predictions predictions;
    sf_connections connections;
    sf_densities densities;
    sf_stages stages;
    sf_span window;   /**< the newest */
    uint64_t *counts; /**< of the tracked episodes, in the newest window */
    size_t count_capacity;
    uint64_t *unit_spikes; /**< per unit, in history from window_begin to counted_end */
    uint64_t window_begin, counted_end;
    uint64_t shown_end;    /**< positions before it were shown to the densities */
    int64_t shown_stop_ns; /**< end of the window they were shown last */
    double *rates_hz;      /**< per unit, of the newest window */
    int64_t arrival_ns;    /**< of the newest spike fed */
    int64_t last_ns;       /**< time of the newest spike fed */
    int64_t tell_due_ns;   /**< monotonic clock at which a live run's next status is due */
} sf_hops;

int sf_hops_open(sf_hops *hops, const sf_hops_options *options, sf_error *error);
void sf_hops_close(sf_hops *hops);

/** Appends spikes that follow those before in stream order; they arrived at arrival_ns of the monotonic
 * clock. */
int sf_hops_feed(sf_hops *hops, const sf_spike *spikes, size_t count, int64_t arrival_ns, sf_error *error);

/** Publishes every hop that ends at or before the watermark: nothing earlier than it will be fed any more. */
int sf_hops_advance(sf_hops *hops, int64_t watermark_ns, sf_error *error);

/** Publishes a status between two hops. */
int sf_hops_tell_status(sf_hops *hops, sf_error *error);

/** The stream ended: publishes the last, partial window, which stops just after the last spike, and a closing
 * status. */
int sf_hops_finish(sf_hops *hops, sf_error *error);

#endif
