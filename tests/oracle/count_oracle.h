/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Counting occurrences of an episode, slowly and obviously. Spikes are ordered by (time_ns, unit); the index
 * in the array is the position that decides before and after. The count is the size of the largest set of
 * occurrences whose intervals of positions are disjoint.
 */
#ifndef SF_TESTS_COUNT_ORACLE_H
#define SF_TESTS_COUNT_ORACLE_H

#include <stddef.h>
#include <synfire/mine.h>

/** The latest start for every possible end, then greedily by end; quadratic in the number of spikes. */
uint64_t oracle_count(const sf_spike *spikes, size_t count, const sf_episode *episode);

/**
 * The same greedy over a part: takes only occurrences that end at positions begin .. end - 1 and start at
 * `entry` or later. *exit is the end of the last one taken plus one, or `entry`.
 */
uint64_t oracle_pass(const sf_spike *spikes, size_t count, const sf_episode *episode, size_t begin,
                     size_t end, uint64_t entry, uint64_t *exit);

/**
 * The definition itself: enumerates every occurrence, then finds the largest disjoint set by dynamic
 * programming over positions. Exponential in the size of the episode: for a few dozen spikes.
 */
uint64_t oracle_count_brute(const sf_spike *spikes, size_t count, const sf_episode *episode);

/** The times of the occurrences that the count of one episode counts, as sf_counter_occurrences hands them
 * over. */
int check_occurrences(int64_t **times, size_t *count, const sf_spike *spikes, size_t spike_count,
                      size_t unit_count, const sf_episode *episode, sf_error *error);

#endif
