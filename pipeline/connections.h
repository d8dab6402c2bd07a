/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The connectivity graph of a window and the configured queries on it. By the metric episodes it is made of
 * the counts of every hop; spike-time tiling with its surrogates takes longer, so that graph is made in the
 * background, and is that of the newest window for which it is done.
 */
#ifndef SF_PIPELINE_CONNECTIONS_H
#define SF_PIPELINE_CONNECTIONS_H

#include "pipeline/queries.h"

/** What a hop offers to make a graph of. */
typedef struct sf_connections_window {
    sf_span span;
    const sf_spike *spikes; /**< of the window */
    size_t count;
    const sf_episodes_message *episodes;
    double threshold;       /**< of frequent episodes */
    const double *rates_hz; /**< by unit */
} sf_connections_window;

/** A graph by spike-time tiling; the worker's while it is busy. */
typedef struct sf_tiling_job {
    struct sf_connections *connections;
    sf_spike *spikes;
    size_t count, capacity;
    double *rates_hz; /**< by unit */
    sf_span window;
    sf_connectivity graph;
    int status;
    sf_error error;
} sf_tiling_job;

/** Window thread. Stays where it is while open. */
typedef struct sf_connections {
    const sf_config *config;
    const sf_units *units;
    sf_connectivity snapshot; /**< the newest */
    sf_queries queries;
    sf_background tiling;
    sf_tiling_job job;
} sf_connections;

/** Resolves what queries need. SF_CONFIG. */
int sf_connections_open(sf_connections *connections, const sf_config *config, const sf_units *units,
                        bool virtual_clock, sf_error *error);
void sf_connections_close(sf_connections *connections);

/**
 * Takes a window up: two-node episodes that reach the threshold, or tiling coefficients above their
 * surrogates, become the new snapshot. *message is the graph message (the caller's), or NULL where graphs are
 * off or none is ready.
 */
int sf_connections_update(sf_connections *connections, const sf_connections_window *window,
                          sf_message **message, sf_error *error);

#endif
