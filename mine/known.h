/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Mining from pairs that somebody has counted already: they become level 2 as they are. What is longer needs
 * the spikes of few units only. All parts of a frequent episode are frequent, so one of three units or more
 * holds two frequent pairs of which one goes on where the other ends, and every unit of it is in such a
 * chain.
 */
#ifndef SF_MINE_KNOWN_H
#define SF_MINE_KNOWN_H

#include "mine/engine.h"
#include "window/pair_counts.h"

/** Roughly what one CPU core needs to go on from these pairs, in seconds; unit_spikes has the number of
 * spikes of each unit of the recording. */
double sf_known_core_seconds(const sf_pair_count *pairs, size_t count, const uint64_t *unit_spikes,
                             size_t spike_count);

/**
 * Fills and links level 2 of a tree whose level 1 is that of the events, from pairs of units of the recording
 * in any order: those that the job allows and that reach its threshold. Delays are numbers of the job's.
 * SF_DATA for more than the job's most, SF_INTERNAL for a pair of a unit that is not among the events,
 * SF_NO_MEMORY.
 */
int sf_tree_take_pairs(sf_tree *tree, const sf_mine_job *job, const sf_pair_count *pairs, size_t count,
                       size_t unit_count, sf_error *error);

/**
 * Fills `silent`, by unit of the recording, with those that no chain of two pairs of level 2 holds. *chains:
 * there is such a chain; otherwise nothing is longer than a pair. SF_NO_MEMORY.
 */
int sf_tree_find_silent(const sf_tree *tree, const sf_events *events, bool *silent, size_t unit_count,
                        bool *chains, sf_error *error);

#endif
