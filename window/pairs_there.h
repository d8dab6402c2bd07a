/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The counts of all pairs in a window that slides, on a device: what window/pair_counts.h does, where the
 * window lies. A move costs what comes and goes, and a look at every pair.
 *
 * Memory of the device: 8 bytes for a delay and a pair of units, and the spikes of a move.
 *
 * Every function may return SF_UNAVAILABLE: the device has failed, or has no room. Then only closing is left,
 * and the CPU does the work. One thread.
 */
#ifndef SF_WINDOW_PAIRS_THERE_H
#define SF_WINDOW_PAIRS_THERE_H

#include "window/pair_counts.h"
#include "window/resident.h"

typedef struct sf_pairs_there sf_pairs_there;

/** As sf_pair_counts_open, for a window that is empty at a position of the stream. piece: a job moves the
 * window by so many spikes at most, and whoever waits for the device has it after each; 0: by all at once.
 * SF_UNAVAILABLE also where the plugin counts no pairs. */
int sf_pairs_there_open(sf_pairs_there **pairs, sf_device *device, size_t unit_count, const sf_delay *delays,
                        size_t delay_count, bool self, size_t most, uint64_t piece, uint64_t position,
                        sf_error *error);
void sf_pairs_there_close(sf_pairs_there *pairs); /**< NULL is allowed */

/** As sf_pair_counts_slide and sf_pair_counts_found. */
int sf_pairs_there_slide(sf_pairs_there *pairs, const sf_history *history, uint64_t begin, uint64_t end,
                         uint32_t least, sf_error *error);
const sf_pair_count *sf_pairs_there_found(const sf_pairs_there *pairs, size_t *count);

#endif
