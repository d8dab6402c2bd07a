/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The spike-time tiling coefficient of two trains (Cutts and Eglen, J. Neurosci. 34, 2014): how much more
 * often than by chance a spike of one has a spike of the other within dt, on a scale that does not depend on
 * rates.
 *
 *   STTC = ((PA - TB) / (1 - PA TB) + (PB - TA) / (1 - PB TA)) / 2
 *
 * PA is the share of A's spikes with a spike of B at most dt away, TA the share of the recorded time that
 * lies within dt of a spike of A. Where PA TB is 1 the term is 1. All times are integers, so nothing rounds
 * before the shares are taken.
 *
 * Where the recording paused, each span of recorded time stands alone: two spikes are together only within
 * one, and tiles are cut at its ends.
 */
#ifndef SF_ANALYSIS_STTC_H
#define SF_ANALYSIS_STTC_H

#include "analysis/connectivity.h"
#include "core/progress.h"
#include "core/recording.h"

/** Spike times of one unit, ascending. */
typedef struct sf_train {
    const int64_t *times_ns;
    size_t count;
} sf_train;

/** The recorded time, both ends included: the coefficient depends on it, so every result states it. */
typedef struct sf_recorded {
    int64_t start_ns, stop_ns;
} sf_recorded;

/** Every unit's train out of a stream; sf_trains_free gives the memory back. */
typedef struct sf_unit_trains {
    sf_train *items;
    size_t count;
    int64_t *times_ns;
} sf_unit_trains;

/** Copies the spikes, grouped by unit; every unit is below unit_count. Empty on failure: SF_NO_MEMORY. */
int sf_trains_split(sf_unit_trains *trains, const sf_spike *spikes, size_t spike_count, size_t unit_count,
                    sf_error *error);
void sf_trains_free(sf_unit_trains *trains);

typedef struct sf_sttc_options {
    int64_t dt_ns;
    sf_recorded recorded;
    const sf_span *observed; /**< recorded spans within `recorded`, ordered and disjoint; NULL: all of it */
    size_t observed_count;
    const sf_units *units; /**< with least_um: where they are */
    double least_um;       /**< minimum distance of the units of a pair; 0: all pairs */
    uint32_t surrogates;   /**< 0: no threshold, every pair with a coefficient is an edge */
    double percentile;     /**< a pair is an edge if its p is at most 1 - percentile */
    uint64_t seed;
    unsigned threads;
    const sf_progress *progress; /**< or NULL */
    uint32_t *made;              /**< output, or NULL: number of surrogates that pairs were compared with */
    bool *stopped; /**< output, or NULL: whether `progress` stopped the surrogates, which then is no error */
} sf_sttc_options;

/**
 * Builds the undirected graph (from < to) of pairs with a coefficient above 0 and above the pair's threshold.
 * A pair with a silent unit has no coefficient and is no edge. A surrogate circularly shifts every train
 * within each recorded span by an independent random amount, and keeps the tiles of the recording. p is the
 * fraction of surrogates whose coefficient is at least that of the pair, counting the recording as one of
 * them.
 *
 * q corrects p for all tested pairs: the fraction of surrogates, the recording included, in which any pair
 * exceeds its own surrogates as far as this pair does (Westfall and Young 1993); it bounds the probability of
 * a single false edge. NaN if the surrogates were stopped.
 *
 * The delay of an edge is (0, dt]. SF_CANCELLED.
 */
int sf_sttc_graph(sf_connectivity *graph, const sf_unit_trains *trains, const sf_sttc_options *options,
                  sf_error *error);

/**
 * Computes the coefficient of every link of a tiling graph in other trains, such as those of an epoch, over
 * the recorded time of the options; coefficients[i] belongs to link i, NaN if a unit is silent. Uses only dt,
 * the recorded time and `threads` of the options. Errors as for sf_sttc_graph.
 */
int sf_sttc_of_links(double *coefficients, const sf_connectivity *graph, const sf_unit_trains *trains,
                     const sf_sttc_options *options, sf_error *error);

#endif
