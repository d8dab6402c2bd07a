/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Features for decoders of brain-computer interfaces: counts of spikes of units and completions of episodes
 * in bins of stream time, from the first spike on. Every bin comes once, also without spikes. The front
 * thread counts and closes bins, the window thread publishes them. A silence takes one item of the ring
 * between them, so it cannot overflow the ring; bins that do not fit are dropped and counted.
 */
#ifndef SF_PIPELINE_FEATURES_H
#define SF_PIPELINE_FEATURES_H

#include "pipeline/feeder.h"
#include "pipeline/handoff.h"
#include "pipeline/inputs.h"
#include "pipeline/publisher.h"
#include "window/watch.h"

/** A number of bins with equal counts: one bin, or any number of empty ones. */
typedef struct sf_features_bins {
    uint64_t first, number; /**< number of the first bin, and how many bins */
    int64_t start_ns, arrival_ns;
    int64_t stop_ns;   /**< end of the last bin */
    bool lost;         /**< spikes of a source may be missing */
    uint32_t counts[]; /**< in the order of the names */
} sf_features_bins;

typedef struct sf_features_setup {
    const sf_live_options *config;
    const sf_inputs *inputs;
    const sf_feeders *feeders; /**< may be opened later */
    sf_handoff *handoff;       /**< provides bells; if it waits for room, so do bins */
} sf_features_setup;

typedef struct sf_features {
    sf_features_setup setup;
    int64_t bin_ns; /**< 0: not configured, and the rest is unused */
    int64_t silence_ns;
    size_t width, unit_count, episode_count, edge_count;
    char **names;
    uint32_t *slots; /**< by unit: its index among the counts; UINT32_MAX: none */
    sf_watch *watch; /**< for episodes and edges, whose counts follow those of units */
    bool has_bursts; /**< the last count is that of spikes in network bursts */
    sf_isi_n bursts;
    sf_ring bins; /**< of sf_features_bins */
    size_t item_size;
    _Atomic uint64_t dropped; /**< bins */
    /* Front thread. */
    sf_features_bins *open, *empty;
    bool begun;
    bool doubted;       /**< a source lost something, and nothing later has passed yet */
    int64_t noticed_ns; /**< monotonic clock when `doubted` was set */
    uint64_t *faults;   /**< by source */
    /* Window thread. */
    sf_features_bins *taken;
    int64_t names_due_ns;
    bool named;
} sf_features;

/** SF_CONFIG for an invalid unit or episode. */
int sf_features_open(sf_features *features, const sf_features_setup *setup, sf_error *error);
void sf_features_close(sf_features *features);

/** Call after each pull, before its spikes, with the faults of all sources (one entry each). Front thread;
 * this and the next two are real-time safe. */
void sf_features_look(sf_features *features, const sf_feeder_faults *all);

/** Spikes in stream order. */
void sf_features_take(sf_features *features, const sf_spike *spikes, const int64_t *arrivals_ns,
                      size_t count);

/** All spikes before this stream time have been taken; `ended`: none will follow, so the open bin ends there.
 */
void sf_features_reach(sf_features *features, int64_t watermark_ns, bool ended);

/** Publishes closed bins; the names come before the first and every ten seconds of stream time. Window
 * thread. */
int sf_features_tell(sf_features *features, sf_publisher *publisher, sf_error *error);

/** Discards bins to make room after a failure of the window thread, which calls it. */
void sf_features_drop(sf_features *features);

/** Number of bins dropped because the ring was full, and of partial occurrences dropped. Any thread. */
uint64_t sf_features_dropped(const sf_features *features);
uint64_t sf_features_overflows(const sf_features *features);

#endif
