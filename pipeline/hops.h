/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The window path: everything that happens once a hop. Spikes come in order; when the watermark passes the
 * end of a hop, its stages (pipeline/hop.h) publish the window's exact counts, graph, densities and status.
 * One thread calls it.
 */
#ifndef SF_PIPELINE_HOPS_H
#define SF_PIPELINE_HOPS_H

#include "pipeline/accelerator.h"
#include "pipeline/connections.h"
#include "pipeline/counting.h"
#include "pipeline/densities.h"
#include "pipeline/discovery.h"
#include "pipeline/hop.h"
#include "pipeline/pairing.h"
#include "pipeline/predictions.h"
#include "pipeline/publisher.h"
#include "pipeline/runner.h"
#include "pipeline/testing.h"
#include "pipeline/tracking.h"

typedef struct sf_hops_options {
    const sf_live_options *config;
    const sf_stream_info *stream;
    const sf_observed *observed; /**< when the recordings among the sources were observed; borrowed */
    size_t observed_count;
    sf_publisher *publisher;
    bool virtual_clock; /**< discovery and tests run inside their hop */
    bool waits;         /**< the stream waits for tests: it is replayed */
    sf_board *board;    /**< receives the test results of the watched episodes */
    sf_hop_sources sources;
    sf_hop_triggers triggers;
    const sf_hop_recorder *recorder; /**< records the accesses of stages; borrowed; or NULL */
    int64_t worth_ns; /**< minimum gain for stages to overlap; 0: SF_RUNNER_WORTH_NS; negative: always */
} sf_hops_options;

typedef struct sf_hops {
    sf_hops_options options;
    sf_cutter cutter;
    void *model[SF_HOP_ELEMENTS]; /**< the elements that follow */
    sf_hop_batch queue;
    sf_history history;
    sf_accelerator device;
    sf_counting summaries;
    sf_hop_window window;
    sf_hop_rates rates;
    sf_pairing pairs; /**< open if the graph is of frequent pairs */
    sf_tracked_episodes tracked;
    sf_hop_counts counts;
    sf_discovery found;
    sf_testing tests;
    sf_predictions rules;
    sf_connections graph;
    sf_densities densities;
    sf_times times;
    sf_schedule schedule;
    sf_runner runner;
    sf_team *team;       /**< open once the number of tracked episodes makes threads worthwhile */
    int64_t arrival_ns;  /**< of the newest spike fed */
    int64_t last_ns;     /**< time of the newest spike fed */
    int64_t leapt_ns;    /**< as in sf_handoff; silences of over a second before it are clock steps */
    int64_t tell_due_ns; /**< monotonic clock at which a live run's next status is due */
    bool keeps_memory;   /**< large blocks that hops free are kept for the next hops (core/spare.h) */
    int64_t began_ns;    /**< monotonic clock when the newest hop began; 0: none has */
    int64_t rest_ns;     /**< monotonic clock until which the next hop is not near */
} sf_hops;

/** Must not move while open. SF_CONFIG, SF_NO_MEMORY. */
int sf_hops_open(sf_hops *hops, const sf_hops_options *options, sf_error *error);
void sf_hops_close(sf_hops *hops);

/** Appends spikes that follow the previous ones in stream order; arrival_ns is the monotonic clock when they
 * arrived. */
int sf_hops_feed(sf_hops *hops, const sf_spike *spikes, size_t count, int64_t arrival_ns, sf_error *error);

/** Publishes every hop that ends at or before the watermark: no earlier spike will be fed any more. */
int sf_hops_advance(sf_hops *hops, int64_t watermark_ns, sf_error *error);

/** Publishes a status between two hops. */
int sf_hops_tell_status(sf_hops *hops, sf_error *error);

/** Between two hops of a real-time run: continues to prepare the next list of tracked episodes, for a small
 * part of a hop, while the next hop is not near. *went_on: it did, and should be called again before waiting
 * for anything. */
int sf_hops_go_on(sf_hops *hops, bool *went_on, sf_error *error);

/** The stream ended: publishes the last, partial window, which ends just after the last spike, and a closing
 * status. */
int sf_hops_finish(sf_hops *hops, sf_error *error);

#endif
