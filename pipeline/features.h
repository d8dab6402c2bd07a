/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What decoders of brain-computer interfaces take: the spikes of units and the completions of episodes in
 * bins of the stream's time, from its first spike on, each bin once and those without a spike too. The front
 * thread counts and closes bins, the window thread tells them. A silence is one item of the ring between
 * them, so it never overflows; what the ring has no room for is counted in bins.
 */
#ifndef SF_PIPELINE_FEATURES_H
#define SF_PIPELINE_FEATURES_H

#include "pipeline/feeder.h"
#include "pipeline/handoff.h"
#include "pipeline/inputs.h"
#include "pipeline/publisher.h"
#include "window/watch.h"

/** So many bins, all of the same counts: one, or as many empty ones. */
typedef struct sf_features_bins {
    uint64_t first, number; /**< that of the first, and how many */
    int64_t start_ns, arrival_ns;
    int64_t stop_ns;   /**< of the last */
    bool lost;         /**< spikes of a source may be missing */
    uint32_t counts[]; /**< in the order of the names */
} sf_features_bins;

typedef struct sf_features_setup {
    const sf_live_options *config;
    const sf_inputs *inputs;
    const sf_feeders *feeders; /**< may be opened later */
    sf_handoff *handoff;       /**< its bells; where it waits for room, so do bins */
} sf_features_setup;

typedef struct sf_features {
    sf_features_setup setup;
    int64_t bin_ns; /**< 0: none are asked for, and nothing below is there */
    int64_t silence_ns;
    size_t width, unit_count, episode_count, edge_count;
    char **names;
    uint32_t *slots; /**< by unit: its place among the counts; UINT32_MAX: none */
    sf_watch *watch; /**< of episodes and edges, which stand behind the units */
    bool has_bursts; /**< the last count is of spikes of network bursts */
    sf_isi_n bursts;
    sf_ring bins; /**< of sf_features_bins */
    size_t item_size;
    _Atomic uint64_t dropped; /**< bins */
    /* Front thread. */
    sf_features_bins *open, *empty;
    bool begun;
    bool doubted;       /**< a source lost something, and nothing that came after has gone through yet */
    int64_t noticed_ns; /**< monotonic clock of that */
    uint64_t *faults;   /**< by source */
    /* Window thread. */
    sf_features_bins *taken;
    int64_t names_due_ns;
    bool named;
} sf_features;

/** SF_CONFIG for a unit or an episode that cannot be. */
int sf_features_open(sf_features *features, const sf_features_setup *setup, sf_error *error);
void sf_features_close(sf_features *features);

/** Front thread, after each pull and before its spikes: faults, one of each source. Real-time safe, as the
 * next. */
void sf_features_look(sf_features *features, const sf_feeder_faults *all);

/** Spikes in stream order. */
void sf_features_take(sf_features *features, const sf_spike *spikes, const int64_t *arrivals_ns,
                      size_t count);

/** All before this stream time has been taken; `ended`: nothing follows, so the bin that is open ends there.
 */
void sf_features_reach(sf_features *features, int64_t watermark_ns, bool ended);

/** Window thread: publishes what has been closed, and the names before it and every ten seconds of the
 * stream. */
int sf_features_tell(sf_features *features, sf_publisher *publisher, sf_error *error);

/** Window thread, which has failed: makes room. */
void sf_features_drop(sf_features *features);

/** Bins that the ring had no room for, and partial occurrences given up. Any thread. */
uint64_t sf_features_dropped(const sf_features *features);
uint64_t sf_features_overflows(const sf_features *features);

#endif
