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
    double least_q;         /**< that so many tests of a stream can give; set by sf_testing_mark alone */
    double asymmetry;       /**< set by sf_graph_of_links */
    const char *not_tested; /**< why a test gave no p, or NULL; a literal */
    double coefficient; /**< of a tiling graph, whose count and expectation then mean nothing, or of drive */
    int8_t sign;        /**< of drive, as the next */
    double confidence, score;
} sf_link;

/** Zero-initialise. Links are ordered by (from, to, delay) and differ in these. */
typedef struct sf_connectivity {
    uint32_t unit_count;
    bool is_tiling; /**< edges are spike-time tiling coefficients, undirected with from < to */
    bool is_signed; /**< edges are of drive: analysis/drive.h */
    sf_link *links;
    size_t count;
    size_t left_out;  /**< links behind these that are no edges, in no order */
    double *rates_hz; /**< of units; NULL: not known */
    /* Of a tiling graph: */
    size_t pairs;        /**< that were looked at */
    uint32_t surrogates; /**< that they were compared with; 0: no test was made */
    double chance_p;     /**< p up to which they are edges; NaN without a test */
    /* Of drive: */
    size_t pairs_compared, troughs_hidden; /**< as in sf_graph_columns */
} sf_connectivity;

/** Takes links of sf_alloc over, also where it fails, and orders those that are in no order. As
 * sf_connectivity_build. */
int sf_connectivity_take(sf_connectivity *graph, uint32_t unit_count, sf_link *links, size_t count,
                         sf_error *error);

/** Copies and orders the links. SF_DATA where a unit is unknown or two links agree in units and delay. */
int sf_connectivity_build(sf_connectivity *graph, uint32_t unit_count, const sf_link *links, size_t count,
                          sf_error *error);
void sf_connectivity_free(sf_connectivity *graph);

/** Moves the links that are not within the limits behind the others. */
void sf_connectivity_keep(sf_connectivity *graph, sf_limits limits);

/** How many pairs of a tiling graph would be edges on average if none had anything to do with each other; NaN
 * without a test, and by max_q, which bounds the chance of any. */
double sf_connectivity_by_chance(const sf_connectivity *graph, sf_limits limits);

/** Adds the firing rates of its units: so many spikes of each in so much recorded time (0: all rates are 0).
 */
int sf_connectivity_set_rates(sf_connectivity *graph, const uint64_t *unit_spikes, int64_t duration_ns,
                              sf_error *error);

/** The weight of an edge: count - expected (the count where nothing was expected), or the coefficient. */
double sf_connectivity_weight(const sf_connectivity *graph, const sf_link *link);

/**
 * What changed from one snapshot to the next: edges that are new, that carry another count, expectation or p,
 * and those that are gone (`removed`, with the values they had), in the order of edges. Whoever applies every
 * change holds the graph. *changes comes from sf_alloc and is the caller's.
 */
int sf_connectivity_diff(const sf_connectivity *before, const sf_connectivity *after,
                         sf_edge_change **changes, size_t *count, sf_error *error);

/**
 * The graph for files: names from `units` (may be NULL), the edge columns weight, count, expected, low_ms,
 * high_ms and, where they were computed, p, q and expected_given_rest (of a tiling graph: weight, high_ms
 * and, after a test, p and q), and the vertex columns rate, where it is known, and x_um and y_um, where the
 * units have positions.
 */
int sf_connectivity_list(sf_edge_list *list, const sf_connectivity *graph, const sf_units *units,
                         sf_error *error);

/** The same for searches without columns of edges and vertices, which patterns and measures ask for. */
int sf_connectivity_shape(sf_csr *csr, const sf_connectivity *graph, sf_error *error);

/** The same for searches, parallel edges kept; a directed graph's edges keep the order of links. */
int sf_connectivity_csr(sf_csr *csr, const sf_connectivity *graph, const sf_units *units, sf_error *error);

/**
 * The units within `most_hops` of a unit, itself included, by level and then by index, with parents and path
 * delays. `csr` is the graph's. The result is filled for a message; sf_reach_result_free otherwise.
 */
int sf_connectivity_reach(sf_reach_result *reach, const sf_connectivity *graph, const sf_csr *csr,
                          uint32_t source, uint32_t most_hops, sf_error *error);

/** How far every unit reaches within so many hops, from 64 units at once, on the CPU (device NULL) or on a
 * device. sf_reach_counts_free, or a message takes the arrays. SF_UNAVAILABLE: the device cannot. */
int sf_connectivity_reach_all(sf_reach_counts *counts, const sf_csr *csr, uint32_t most_hops,
                              sf_device *device, sf_error *error);
void sf_reach_counts_free(sf_reach_counts *counts);

/** Weakly connected components. The array is the caller's. */
int sf_connectivity_components(sf_components_result *components, const sf_csr *csr, sf_error *error);

#endif
