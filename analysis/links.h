/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What makes an edge of the connectivity graph, defined once: a pair that is a frequent episode, or one with
 * a high spike-time tiling coefficient; of a recording, which is a window that nothing leaves, and of a live
 * window alike. Every graph made here has the rates of its units.
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
    const sf_spike *spikes; /**< ordered by (time_ns, unit); only tiling looks at them */
    size_t spike_count;
    const uint64_t *unit_spikes; /**< unit_count: how many each unit has */
    size_t unit_count;
    int64_t duration_ns; /**< recorded time: rates and expected counts refer to it */
} sf_stretch;

/** The episodes of two units among those found or counted, with what a test said of them. SF_DATA for one
 * that is there twice, SF_NO_MEMORY. */
int sf_links_of_episodes(sf_connectivity *graph, const sf_episodes *episodes, sf_error *error);

/** Pairs that a window's counts found; they index `delays`. SF_NO_MEMORY. */
int sf_links_of_pairs(sf_connectivity *graph, const sf_pair_count *pairs, size_t count,
                      const sf_delay *delays, const sf_stretch *stretch, sf_error *error);

/** As sf_sttc_graph; spikes outside the observed spans of the options are passed over. */
int sf_links_of_tiling(sf_connectivity *graph, const sf_stretch *stretch, const sf_sttc_options *options,
                       sf_error *error);

/** The same of a recording, whose units and recorded time the options get. SF_USAGE for a distance where the
 * units have no positions. */
int sf_links_of_tiled(sf_connectivity *graph, const sf_recording *recording, sf_sttc_options options,
                      sf_error *error);

/** Who drives whom among all units: options as in sf_graph_of_drive, read. SF_USAGE, SF_DATA, SF_CANCELLED,
 * SF_NO_MEMORY. */
int sf_links_of_drive(sf_connectivity *graph, const sf_recording *recording, const sf_drive_options *options,
                      const sf_progress *progress, sf_error *error);

/** The coefficients of a tiling graph's links in another recording of its units: sf_sttc_of_links. */
int sf_links_tiled_in(double *coefficients, const sf_connectivity *graph, const sf_recording *recording,
                      sf_error *error);

#endif
