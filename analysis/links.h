/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The only definition of an edge of the connectivity graph: a pair of units that is a frequent episode, one
 * with a high spike-time tiling coefficient, or one in which a unit drives the other. Used for recordings and
 * live windows alike. Every graph built here has the rates of its units.
 */
#ifndef SF_ANALYSIS_LINKS_H
#define SF_ANALYSIS_LINKS_H

#include "analysis/episodes.h"
#include "analysis/sttc.h"
#include "mine/mine.h"
#include "window/pair_counts.h"

#include <synfire/graph.h>

/** Spikes in a stretch of recorded time. */
typedef struct sf_stretch {
    const sf_spike *spikes; /**< ordered by (time_ns, unit); used for tiling only */
    size_t spike_count;
    const uint64_t *unit_spikes; /**< unit_count: how many each unit has */
    size_t unit_count;
    int64_t duration_ns; /**< recorded time: rates and expected counts refer to it */
} sf_stretch;

/** Builds links from the two-unit episodes among those found or counted, with their test results. SF_DATA for
 * a duplicate, SF_NO_MEMORY. */
int sf_links_of_episodes(sf_connectivity *graph, const sf_episodes *episodes, sf_error *error);

/** Builds links from the pairs that a window's counters found; the pairs index `delays`. SF_NO_MEMORY. */
int sf_links_of_pairs(sf_connectivity *graph, const sf_pair_count *pairs, size_t count,
                      const sf_delay *delays, const sf_stretch *stretch, sf_error *error);

/** As sf_sttc_graph; ignores spikes outside the observed spans of the options. */
int sf_links_of_tiling(sf_connectivity *graph, const sf_stretch *stretch, const sf_sttc_options *options,
                       sf_error *error);

/** The same for a recording; fills in the units and recorded time of the options. SF_USAGE for a minimum
 * distance if the units have no positions. */
int sf_links_of_tiled(sf_connectivity *graph, const sf_recording *recording, sf_sttc_options options,
                      sf_error *error);

/** Tests which unit drives which, over all pairs; options as for sf_graph_of_drive, already checked.
 * SF_USAGE, SF_DATA, SF_CANCELLED, SF_NO_MEMORY. */
int sf_links_of_drive(sf_connectivity *graph, const sf_recording *recording, const sf_drive_options *options,
                      const sf_progress *progress, sf_error *error);

/** Computes the coefficients of a tiling graph's links in another recording of the same units:
 * sf_sttc_of_links. */
int sf_links_tiled_in(double *coefficients, const sf_connectivity *graph, const sf_recording *recording,
                      sf_error *error);

#endif
