/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The configured queries on every snapshot of the connectivity graph: reach of units, components, patterns,
 * the triad census, and in the background comparison of their counts with rewired graphs and measures of
 * units.
 */
#ifndef SF_PIPELINE_QUERIES_H
#define SF_PIPELINE_QUERIES_H

#include "analysis/connectivity.h"
#include "graph/motif/spread.h"
#include "pipeline/background.h"
#include "pipeline/options.h"
#include "pipeline/reaching.h"
#include "pipeline/times.h"

/** Share of a hop that all patterns together may take; a search that is cut short reports it. */
#define SF_QUERIES_SHARE 0.25

/** A comparison of all counts with rewired graphs; the worker's while it is busy. */
typedef struct sf_rewired_job {
    struct sf_queries *queries;
    sf_csr graph;
    sf_span window;
    double *counts; /**< of each pattern, then of each triad, in `graph` */
    sf_spread *spreads;
    int64_t took_ns;
    int status;
    sf_error error;
} sf_rewired_job;

/** The measures of the units of one graph; the worker's while it is busy. */
typedef struct sf_measuring_job {
    sf_connectivity graph; /**< the links alone */
    size_t capacity;       /**< of its links */
    sf_span window;
    sf_unit_measures *measures; /**< of units with an edge */
    size_t count;
    double modularity;
    int status;
    sf_error error;
} sf_measuring_job;

/** Window thread. Zero-initialised it has no queries. Must not move while open. */
typedef struct sf_queries {
    const sf_live_options *config;
    struct sf_reach_query {
        uint32_t source, hops;
    } * reach;
    sf_reaching reaching; /**< for every unit as source */
    sf_pattern *patterns;
    sf_match_options *options; /**< of each pattern */
    size_t pattern_count;
    double time_limit_s; /**< of one pattern; 0: none */
    const char *asked;   /**< the device for pattern search, where it can; or NULL */
    char matched_on[32]; /**< device of the newest pattern searches; empty: none yet, or several */
    uint64_t answered;   /**< number of snapshots so far */
    sf_background rewiring;
    sf_rewired_job job;
    sf_motif_spread *spreads; /**< the newest of each count */
    bool due;                 /**< measure the units of the next graph, once the previous measures are done */
    sf_background measuring;
    sf_measuring_job measured;
} sf_queries;

/**
 * Resolves units and reads patterns. On a virtual clock no search is cut short, and comparisons with rewired
 * graphs and measures are those of the window itself. device: the run's, for patterns and searches from every
 * unit, or NULL. SF_CONFIG.
 */
int sf_queries_open(sf_queries *queries, const sf_live_options *config, const sf_units *units,
                    sf_device *device, bool virtual_clock, sf_error *error);
void sf_queries_close(sf_queries *queries);

/** Answers all queries for the snapshot of the message's window, into the message; adds the duration of each
 * kind of query to parts_ns, by sf_hop_part. SF_NO_MEMORY. */
int sf_queries_answer(sf_queries *queries, const sf_connectivity *snapshot, sf_graph_message *message,
                      int64_t *parts_ns, sf_error *error);

#endif
