/* SPDX-License-Identifier: Apache-2.0 */
/** The order of bursts and the places of units, counted pair by pair and window by window. */
#ifndef SF_TESTS_SEQUENCES_ORACLE_H
#define SF_TESTS_SEQUENCES_ORACLE_H

#include "analysis/burst_places.h"

/** d of a unit in a burst among units that fire in it by `least` spikes or more and are `listed`; NaN: it
 * takes no part; 0: it is the only one. */
double oracle_position(const sf_recording *recording, const sf_span *burst, const bool *listed,
                       uint64_t least, uint32_t unit);

/** Cosine of the positions of two bursts; NaN where one has none but 0. */
double oracle_similarity(const sf_recording *recording, const sf_span *one, const sf_span *other,
                         const bool *listed, uint64_t least);

/** The share of all signs of the bursts whose mean similarity is at least that of the recording, and the
 * latter: NaN of fewer than two bursts with an order. similarity[b * count + c], count at most 12. */
double oracle_order_p(const double *similarity, size_t count, double *mean);

/** The most bursts with an event in one window of a twentieth of its width's grid, which begins anywhere. */
uint64_t oracle_kept(const sf_burst_frame *frame, const sf_burst_train *train, const int64_t *zero_ns,
                     const uint32_t *moved);

/** Bursts with an event within the window around the middle. */
uint64_t oracle_kept_at(const sf_burst_frame *frame, const sf_burst_train *train, const int64_t *zero_ns,
                        const uint32_t *moved, int64_t middle_ns);

#endif
