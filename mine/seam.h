/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Where two stretches of a stream meet, each of which was counted as if it were alone: how many occurrences
 * the whole has beside those of both.
 *
 * An episode's count in a stretch is the length of its greedy chain. In the whole stream the chain does not
 * begin anew where the second stretch begins, but goes on from where it left the first: an occurrence may
 * straddle the seam, and from then on both chains take the same occurrences as soon as they have met. So it
 * is enough to look at the spikes around the seam. Summaries (window/summary.h) of those before it tell where
 * any chain can leave them, whatever it was before, and of those after it what each then counts. Where that
 * is one answer, and all chains have met, the second stretch has that many more occurrences than it had
 * alone, 0 or 1; else the episode is too regular for so short a look, and has to be counted in one piece.
 */
#ifndef SF_MINE_SEAM_H
#define SF_MINE_SEAM_H

#include "mine/engine.h"
#include "mine/resident.h"

typedef struct sf_seam {
    sf_events events;   /**< the spikes around it */
    uint32_t begin, at; /**< positions in the events: chains enter at `begin`; the seam */
    uint64_t settled;   /**< chains that start again at this position or before it have met */
} sf_seam;

/**
 * The seam before spike `at` of the recording, whose second stretch ends before spike `end`. `keep` is by
 * unit of the recording; an occurrence lasts `reach_ns` at most. SF_NO_MEMORY. Ends with sf_seam_close.
 */
int sf_seam_open(sf_seam *seam, const sf_raw_spikes *whole, const bool *keep, size_t at, size_t end,
                 int64_t reach_ns, unsigned threads, sf_error *error);
void sf_seam_close(sf_seam *seam); /**< a zeroed one is allowed */

/**
 * Adds to counts[i] what candidate i counts across the seam, or sets unsettled[i]. `job` has the candidates,
 * the threads and the tally. SF_NO_MEMORY.
 */
int sf_seam_add(const sf_seam *seam, uint32_t *counts, bool *unsettled, const sf_count_job *job,
                sf_error *error);

#endif
