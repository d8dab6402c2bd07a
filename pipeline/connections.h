/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The connectivity graph of a window and the configured queries on it. With the metric episodes, every
 * window's pairs of units are all counted (pairing.h), whatever is tracked, and those that reach the
 * threshold are the edges: the same graph as from mining the window for pairs. Spike-time tiling with its
 * surrogates takes longer, so that graph is built in the background, and belongs to the newest window for
 * which it is done.
 */
#ifndef SF_PIPELINE_CONNECTIONS_H
#define SF_PIPELINE_CONNECTIONS_H

#include "analysis/quantity.h"
#include "pipeline/pairing.h"
#include "pipeline/queries.h"
#include "pipeline/testing.h"

#include <synfire/mine.h>

/** A window with more edges than this gets no graph: nobody looks at that many, and building and publishing
 * them takes a fifth of a 100 ms hop. While a window fills, that many reach a rate by chance. */
#define SF_CONNECTIONS_MOST 250000

/** What a hop provides to build a graph: positions first .. last - 1 of the history, which still holds the
 * previous window. */
typedef struct sf_connections_window {
    sf_span span;
    const sf_history *history;
    uint64_t first, last;
    const uint64_t *unit_spikes; /**< number of spikes of each unit */
    double threshold;            /**< of frequent episodes */
    /** metric episodes: the pairs that reach the threshold, as from sf_pairing_found */
    const sf_pair_count *pairs;
    size_t pair_count;
    const sf_testing *testing;   /**< test results of edges; or NULL */
    const sf_observed *observed; /**< as in sf_hops_options */
    size_t observed_count;
} sf_connections_window;

/** Job that builds a graph by spike-time tiling; the worker's while it is busy. */
typedef struct sf_tiling_job {
    struct sf_connections *connections;
    sf_spike *spikes;
    size_t count, capacity;
    uint64_t last; /**< position of the history after its last spike */
    uint64_t *unit_spikes;
    sf_span window;
    sf_span *recorded; /**< its spans in which all units were observed and nothing was blanked */
    size_t recorded_count, recorded_capacity;
    sf_connectivity graph;
    int status;
    sf_error error;
} sf_tiling_job;

/** Window thread. Must not move while open. */
typedef struct sf_connections {
    const sf_live_options *config;
    const sf_units *units;
    const sf_delay *delays;
    bool too_many;            /**< the newest window has no graph */
    sf_connectivity snapshot; /**< the newest */
    sf_queries queries;
    sf_span *blanked; /**< blanked spans, unordered, until windows have passed them */
    size_t blanked_count, blanked_capacity;
    sf_background tiling;
    sf_tiling_job job;
    bool filling;               /**< the job's spikes are being copied from the history, some in each hop */
    uint64_t filled;            /**< position up to which they are copied */
    int64_t parts_ns[SF_PARTS]; /**< durations of the parts of the newest update */
} sf_connections;

/** Resolves units and patterns of the queries. `delays` (of pairs) is borrowed until close. device: the
 * run's, for searches from every unit, or NULL. SF_CONFIG. */
int sf_connections_open(sf_connections *connections, const sf_live_options *config, const sf_units *units,
                        const sf_delay *delays, sf_device *device, bool virtual_clock, sf_error *error);
void sf_connections_close(sf_connections *connections);

/** Records that nothing in this span was analysed; call it before the first window that ends in the span or
 * later. SF_NO_MEMORY. */
int sf_connections_blank(sf_connections *connections, sf_span span, sf_error *error);

/**
 * Processes the next window: pairs that reach the threshold, or tiling coefficients above their surrogates,
 * become the new snapshot. *message is the graph message (owned by the caller), or NULL if graphs are off,
 * none is ready, or there would be more than SF_CONNECTIONS_MOST edges, which is logged. SF_NO_MEMORY, or the
 * error of the queries.
 */
int sf_connections_update(sf_connections *connections, const sf_connections_window *window,
                          sf_message **message, sf_error *error);

#endif
