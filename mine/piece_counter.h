/* SPDX-License-Identifier: Apache-2.0 */
/** Counting in a stream that is read in pieces: each is summarised by the interval engine, and summaries
 * compose, first those of a rank and then those of all ranks. */
#ifndef SF_MINE_PIECE_COUNTER_H
#define SF_MINE_PIECE_COUNTER_H

#include "core/pieces.h"
#include "mine/engine.h"

typedef struct sf_piece_counter {
    const sf_pieces *pieces; /**< borrowed */
    size_t unit_count;       /**< of the recording */
    bool *keep;              /**< by unit of the recording */
    uint64_t begin;          /**< kept spikes that ranks before this one have */
} sf_piece_counter;

/** To count among the units of these events, which may be outlined. On all ranks together. SF_NO_MEMORY. */
int sf_piece_counter_open(sf_piece_counter *counter, const sf_pieces *pieces, size_t unit_count,
                          const sf_events *events, sf_error *error);

/** How far a pass over all candidates of a size is, as the one who asked wants to be told. */
typedef struct sf_piece_progress {
    const sf_progress *progress;
    const char *what;
    double done, total; /**< candidates */
} sf_piece_progress;

/** As `count` of sf_engine, in one pass over the pieces, and on all ranks together; of `job` candidates,
 * threads and tally. Whatever the reading fails at, SF_CANCELLED. */
int sf_piece_counter_count(const sf_piece_counter *counter, uint32_t *counts, const sf_count_job *job,
                           const sf_piece_progress *told, sf_error *error);

void sf_piece_counter_close(sf_piece_counter *counter); /**< a zeroed one is allowed */

#endif
