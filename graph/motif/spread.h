/* SPDX-License-Identifier: Apache-2.0 */
/** What counts in a graph are beside those in its rewired twins. */
#ifndef SF_GRAPH_MOTIF_SPREAD_H
#define SF_GRAPH_MOTIF_SPREAD_H

#include "core/backend/ways.h"
#include "graph/match/match.h"

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

/** The ways of rewiring and measuring; NULL-terminated. */
extern const sf_way *const sf_rewire_ways[];

/**
 * Takes the measure of so many rewired graphs; spreads[i] sets the i-th number in them beside counts[i], that
 * of the graph itself. The numbers are the same on every device. `ran` tells where they were rewired, or is
 * NULL. SF_UNAVAILABLE where the device that is named is missing, SF_CANCELLED (where `made` is asked for
 * with the spreads of the graphs that were made), SF_NO_MEMORY, or what the measure fails with.
 */
int sf_spread_find(sf_spread *spreads, const double *counts, const sf_csr *graph, const sf_measure *measure,
                   const sf_rewired_options *options, sf_ran *ran, const sf_progress *progress,
                   sf_error *error);

#endif
