/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A recording whose spikes are not held but read, a piece of the stream at a time. Pieces follow one another;
 * each of several ranks goes through its share of them, in order, so that a rank holds one piece and never
 * the recording.
 */
#ifndef SF_CORE_PIECES_H
#define SF_CORE_PIECES_H

#include "core/progress.h"
#include "core/recording.h"

/** A piece, and what came before it. */
typedef struct sf_piece {
    const sf_spike *spikes;
    size_t before; /**< how many of the spikes are of pieces before: as far back as was asked for, or more */
    size_t count;  /**< of all spikes */
} sf_piece;

/**
 * Calls body for this rank's pieces in order, but for those without spikes. What came before reaches back by
 * reach_ns, and has a spike at least, where there is one. SF_DATA where pieces are not in order.
 */
int sf_pieces_walk(const sf_pieces *pieces, int64_t reach_ns,
                   int (*body)(void *context, const sf_piece *piece, sf_error *error), void *context,
                   sf_error *error);

/** Goes through all pieces, each rank through its own, and fills what is known of them since. `progress` is
 * told of "reading". SF_CANCELLED. */
int sf_pieces_survey(sf_pieces *pieces, size_t unit_count, const sf_progress *progress, sf_error *error);

#endif
