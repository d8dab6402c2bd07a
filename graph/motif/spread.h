/* SPDX-License-Identifier: Apache-2.0 */
/** What counts in a graph are beside those in its rewired twins. */
#ifndef SF_GRAPH_MOTIF_SPREAD_H
#define SF_GRAPH_MOTIF_SPREAD_H

#include "graph/match/match.h"

/** How often something is found in rewired graphs, and how far from that it is in the graph itself. */
typedef struct sf_spread {
    double mean;
    double sd; /**< of a sample; NaN for one graph */
    double z;  /**< (count - mean) / sd; NaN where sd is 0 or NaN */
} sf_spread;

/** Numbers taken of a graph: fills `count` values. Called from several threads at once. */
typedef struct sf_measure {
    size_t count;
    int (*take)(const void *what, double *values, const sf_csr *graph, const sf_progress *progress,
                sf_error *error);
    const void *what;
    bool is_census; /**< which devices count themselves */
} sf_measure;

/** Counts of patterns; a measure's `what`. */
typedef struct sf_pattern_set {
    const sf_pattern *patterns;
    const sf_match_options *options; /**< of each; whatever they say, one thread, all counted, none kept */
    size_t count;
} sf_pattern_set;

sf_measure sf_measure_patterns(const sf_pattern_set *set);

/** The triad census, SF_TRIADS numbers. */
sf_measure sf_measure_census(void);

typedef struct sf_spread_options {
    uint32_t graphs; /**< rewired, at least 1 */
    uint64_t seed;
    unsigned threads;            /**< 0: all cores; the numbers do not depend on it */
    const char *device;          /**< "cpu", "cuda", ...; NULL or "auto": by how much there is to do */
    const sf_progress *progress; /**< or NULL */
} sf_spread_options;

/** Where graphs were rewired. */
typedef struct sf_spread_place {
    char device[32]; /**< "cpu", "cuda:0" */
    char note[256];  /**< or empty: why the device asked for or chosen did not do it, and the CPU did */
} sf_spread_place;

/**
 * Takes the measure of so many rewired graphs; spreads[i] sets the i-th number in them beside counts[i], that
 * of the graph itself. The numbers are the same on every device. `place` may be NULL. SF_UNAVAILABLE where
 * the device that is named is missing, SF_CANCELLED, SF_NO_MEMORY, or what the measure fails with.
 */
int sf_spread_find(sf_spread *spreads, const double *counts, const sf_csr *graph, const sf_measure *measure,
                   const sf_spread_options *options, sf_spread_place *place, sf_error *error);

#endif
