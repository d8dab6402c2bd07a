/* SPDX-License-Identifier: Apache-2.0 */
/** The order of bursts and the places of units, counted pair by pair and window by window. */
#ifndef SF_TESTS_SEQUENCES_ORACLE_H
#define SF_TESTS_SEQUENCES_ORACLE_H

#include "analysis/sequences.h"

/** What the order is by, and of which units: those that are listed and fire `least` spikes or more. */
typedef struct oracle_order {
    sf_sequence_order by;
    int64_t window_ns; /**< of which rate peaks are by a half */
    uint64_t least;
    const bool *listed;
    bool leaves_out;  /**< positions are those of all but this unit, from their mean in the burst */
    uint32_t without; /**< likewise */
} oracle_order;

/** A burst, and whether all its spikes are played backwards. */
typedef struct oracle_burst {
    const sf_span *span;
    bool backwards;
} oracle_burst;

/** d of a unit in a burst; NaN: it takes no part; 0: it is the only one. */
double oracle_position(const sf_recording *recording, oracle_burst burst, const oracle_order *order,
                       uint32_t unit);

/** Cosine of the positions of two bursts; NaN where one has none but 0, played either way. */
double oracle_similarity(const sf_recording *recording, oracle_burst one, oracle_burst other,
                         const oracle_order *order);

/** The share of all ways to play the bursts whose mean similarity is at least that of the recording, and the
 * latter: NaN of fewer than two bursts with an order. similarity[(2 * b + s) * 2 * count + 2 * c + t] of b
 * played backwards by s and c by t; count at most 12. */
double oracle_order_p(const double *similarity, size_t count, double *mean);

/** The most bursts with an event in one window of a twentieth of its width's grid, which begins anywhere. */
uint64_t oracle_kept(const sf_burst_frame *frame, const sf_burst_train *train, const int64_t *zero_ns,
                     const uint32_t *moved);

/** The mean cosine of the train in two bursts, of all pairs, by sums over all pairs of events. */
double oracle_shape(const sf_burst_frame *frame, const sf_burst_train *train, const int64_t *zero_ns,
                    const uint32_t *moved);

/** Bursts with an event within the window around the middle. */
uint64_t oracle_kept_at(const sf_burst_frame *frame, const sf_burst_train *train, const int64_t *zero_ns,
                        const uint32_t *moved, int64_t middle_ns);

#endif
