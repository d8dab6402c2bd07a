/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The connectivity graph of a window and the configured queries on it. By the metric episodes all pairs of
 * units are counted in every window (pairing.h), whatever is tracked, and those that reach the threshold are
 * its edges: the graph that mining the window for pairs gives. Spike-time tiling with its surrogates takes
 * longer, so that graph is made in the background, and is that of the newest window for which it is done.
 */
#ifndef SF_PIPELINE_CONNECTIONS_H
#define SF_PIPELINE_CONNECTIONS_H

#include "analysis/quantity.h"
#include "pipeline/pairing.h"
#include "pipeline/queries.h"
#include "pipeline/testing.h"

#include <synfire/mine.h>

/** A window with more edges than this has no graph: nobody looks at so many, and making and telling them
 * takes a fifth of a hop of 100 ms. While a window fills, as many reach a rate by chance. */
#define SF_CONNECTIONS_MOST 250000

/** What a hop offers to make a graph of: positions first .. last - 1 of the history, which still holds the
 * window before. */
typedef struct sf_connections_window {
    sf_span span;
    const sf_history *history;
    uint64_t first, last;
    const uint64_t *unit_spikes; /**< how many each unit has */
    double threshold;            /**< of frequent episodes */
    const sf_pair_count *pairs;  /**< by the metric episodes: those that reach it, as sf_pairing_found */
    size_t pair_count;
    const sf_testing *testing;   /**< what is known of edges; or NULL */
    const sf_observed *observed; /**< as in sf_hops_options */
    size_t observed_count;
} sf_connections_window;

/** A graph by spike-time tiling; the worker's while it is busy. */
typedef struct sf_tiling_job {
    struct sf_connections *connections;
    sf_spike *spikes;
    size_t count, capacity;
    uint64_t last; /**< position of the history after its last spike */
    uint64_t *unit_spikes;
    sf_span window;
    sf_span *recorded; /**< spans of it in which all units were observed and nothing was blanked */
    size_t recorded_count, recorded_capacity;
    sf_connectivity graph;
    int status;
    sf_error error;
} sf_tiling_job;

/** Window thread. Stays where it is while open. */
typedef struct sf_connections {
    const sf_live_options *config;
    const sf_units *units;
    const sf_delay *delays;
    bool too_many;            /**< the newest window has no graph */
    sf_connectivity snapshot; /**< the newest */
    sf_queries queries;
    sf_span *blanked; /**< in no order, until windows are past them */
    size_t blanked_count, blanked_capacity;
    sf_background tiling;
    sf_tiling_job job;
    bool filling;               /**< the job's spikes are taken from the history, a part in each hop */
    uint64_t filled;            /**< up to this position */
    int64_t parts_ns[SF_PARTS]; /**< what parts of the newest update took */
} sf_connections;

/** Resolves what queries need. The delays of pairs are borrowed until close. device: of the run, for searches
 * from every unit, or NULL. SF_CONFIG. */
int sf_connections_open(sf_connections *connections, const sf_live_options *config, const sf_units *units,
                        const sf_delay *delays, sf_device *device, bool virtual_clock, sf_error *error);
void sf_connections_close(sf_connections *connections);

/** Nothing was analysed in the span: told before the first window that ends in it or later. SF_NO_MEMORY. */
int sf_connections_blank(sf_connections *connections, sf_span span, sf_error *error);

/**
 * Takes the next window up: pairs that reach the threshold, or tiling coefficients above their surrogates,
 * become the new snapshot. *message is the graph message (the caller's), or NULL where graphs are off, none
 * is ready, or there would be more than SF_CONNECTIONS_MOST edges, which is logged.
 */
int sf_connections_update(sf_connections *connections, const sf_connections_window *window,
                          sf_message **message, sf_error *error);

#endif
