/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The functional connectivity graph: units are vertices, and an edge is a frequent two-node episode (or a
 * pair with a high spike-time tiling coefficient). Two units may be joined by several edges, one per delay
 * interval.
 */
#ifndef SF_ANALYSIS_CONNECTIVITY_H
#define SF_ANALYSIS_CONNECTIVITY_H

#include "analysis/limits.h"
#include "core/backend/device.h"
#include "core/message.h"
#include "graph/store/csr.h"

#include <synfire/mine.h>

typedef struct sf_link {
    uint32_t from, to;
    sf_delay delay;
    uint64_t count;
    double expected; /**< by rates; NaN: not computed */
    double p, q;     /**< NaN: not computed, as the next */
    double expected_given_rest;
    double least_q; /**< smallest q that the stream's number of tests allows; set by sf_testing_mark alone */
    double asymmetry;       /**< set by sf_graph_of_links */
    const char *not_tested; /**< why a test gave no p, or NULL; a literal */
    double coefficient; /**< of a tiling graph or a graph of drive; a tiling graph's count and expected mean
                           nothing */
    int8_t sign;        /**< of drive, as the next */
    double confidence, score;
} sf_link;

/** Zero-initialise. Links are ordered by (from, to, delay), and no two have the same key. */
typedef struct sf_connectivity {
    uint32_t unit_count;
    bool is_tiling; /**< edges are spike-time tiling coefficients, undirected with from < to */
    bool is_signed; /**< edges are of drive: analysis/drive.h */
    sf_link *links;
    size_t count;
    size_t left_out;  /**< links that are no edges; they follow the first `count` links, unordered */
    double *rates_hz; /**< of units; NULL: not known */
    /* Of a tiling graph: */
    size_t pairs;        /**< that were looked at */
    uint32_t surrogates; /**< number of surrogates in the test; 0: no test */
    double chance_p;     /**< largest p of an edge; NaN without a test */
    /* Of drive: */
    size_t pairs_compared, troughs_hidden; /**< as in sf_graph_columns */
} sf_connectivity;

/** As sf_connectivity_build, but takes ownership of `links` (from sf_alloc), also on failure, and sorts them
 * in place if they are not in order. */
int sf_connectivity_take(sf_connectivity *graph, uint32_t unit_count, sf_link *links, size_t count,
                         sf_error *error);

/** Copies and sorts the links. SF_DATA if a unit is unknown or two links have the same units and delay. */
int sf_connectivity_build(sf_connectivity *graph, uint32_t unit_count, const sf_link *links, size_t count,
                          sf_error *error);
void sf_connectivity_free(sf_connectivity *graph);

/** Moves the links that do not satisfy the limits behind the others. */
void sf_connectivity_keep(sf_connectivity *graph, sf_limits limits);

/** Expected number of edges of a tiling graph if all pairs were independent. NaN without a test, and if max_q
 * is set, since max_q bounds the chance of any false edge. */
double sf_connectivity_by_chance(const sf_connectivity *graph, sf_limits limits);

/** Sets the units' firing rates from their spike counts and the recorded time (duration_ns 0: all rates are
 * 0). */
int sf_connectivity_set_rates(sf_connectivity *graph, const uint64_t *unit_spikes, int64_t duration_ns,
                              sf_error *error);

/** Weight of an edge: count - expected (the count if no expectation was computed), or the coefficient. */
double sf_connectivity_weight(const sf_connectivity *graph, const sf_link *link);

/**
 * Lists the changes between two snapshots in edge order: edges that are new, edges whose count, expectation
 * or p changed, and edges that are gone (`removed`, with their last values). Applying every change reproduces
 * `after`. The caller frees *changes with sf_free.
 */
int sf_connectivity_diff(const sf_connectivity *before, const sf_connectivity *after,
                         sf_edge_change **changes, size_t *count, sf_error *error);

/**
 * Converts the graph to an edge list for files: names from `units` (may be NULL); edge columns weight, count,
 * expected, low_ms, high_ms and, if computed, p, q and expected_given_rest (tiling graph: weight, high_ms
 * and, after a test, p and q); vertex columns rate, if known, and x_um and y_um, if the units have positions.
 */
int sf_connectivity_list(sf_edge_list *list, const sf_connectivity *graph, const sf_units *units,
                         sf_error *error);

/** As sf_connectivity_csr, without the columns of edges and vertices that only patterns and measures use. */
int sf_connectivity_shape(sf_csr *csr, const sf_connectivity *graph, sf_error *error);

/** Converts the graph to CSR for searches. Keeps parallel edges; edges of a directed graph keep the order of
 * the links. */
int sf_connectivity_csr(sf_csr *csr, const sf_connectivity *graph, const sf_units *units, sf_error *error);

/**
 * Lists the units within `most_hops` of `source`, including `source`, ordered by level and index, with
 * parents and path delays. `csr` must be built from `graph`. Either a message takes the arrays of the result,
 * or the caller frees it with sf_reach_result_free.
 */
int sf_connectivity_reach(sf_reach_result *reach, const sf_connectivity *graph, const sf_csr *csr,
                          uint32_t source, uint32_t most_hops, sf_error *error);

/** Counts, for every unit, the units that it reaches within `most_hops`, with 64 sources per search, on the
 * CPU (device NULL) or a device. Free with sf_reach_counts_free, unless a message takes the arrays.
 * SF_UNAVAILABLE: the device cannot do it. */
int sf_connectivity_reach_all(sf_reach_counts *counts, const sf_csr *csr, uint32_t most_hops,
                              sf_device *device, sf_error *error);
void sf_reach_counts_free(sf_reach_counts *counts);

/** Finds the weakly connected components. The caller frees the array. */
int sf_connectivity_components(sf_components_result *components, const sf_csr *csr, sf_error *error);

#endif
