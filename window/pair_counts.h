/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The exact counts of all pairs A -(low,high]-> B in a window that slides over the merged stream: those of
 * the window's spikes taken alone. One thread calls; as many as are given move the units along.
 *
 * A count is the length of a greedy chain: from the window's first spike on, the occurrence that ends next is
 * taken, then the one that ends next of those that start after it. The count at the right end needs nothing
 * but the end of the last occurrence taken, and that only while an occurrence can start before it: for as
 * long as the delay. At the left end the chain loses the occurrences that start with spikes that leave. What
 * is left is the chain of the new window, unless the last of those lost lay across the new beginning and
 * another one starts below it. The two chains are then followed until they meet, mostly at the next
 * occurrence. Neither ever has two ends between two of the other, so the new chain has as many occurrences as
 * are left, or one more.
 *
 * So a spike that comes or goes meets the spikes within the delay, each once for each unit A: a move costs
 * the pairs of spikes that came and went, and the units. Only where a pair fires so regularly that its two
 * chains do not meet does it cost the pair's spikes in the window.
 *
 * Memory: for each delay 2 bytes for a pair of units, or, where few units follow a unit in the window, 11 to
 * 32 for each that does, which is less; 4 bytes a pair from units with more than 65,535 spikes in the window.
 * 16 bytes for a spike of the window, and 16 for a pair that has occurred within the last delay.
 */
#ifndef SF_WINDOW_PAIR_COUNTS_H
#define SF_WINDOW_PAIR_COUNTS_H

#include "window/history.h"

#include <synfire/mine.h>

typedef struct sf_pair_counts sf_pair_counts;

/** A pair that reaches the threshold. */
typedef struct sf_pair_count {
    uint32_t from, to;
    uint32_t delay; /**< its number among those of sf_pair_counts_open */
    uint32_t count;
} sf_pair_count;

/**
 * A window that is empty at a position of the stream. Delays are copied; each satisfies 0 <= low < high.
 * `self`: a unit may follow itself. `most`: how many pairs at the threshold are looked for, about.
 * threads: 1 or more; the counts are the same for any number. SF_NO_MEMORY.
 */
int sf_pair_counts_open(sf_pair_counts **pairs, size_t unit_count, const sf_delay *delays, size_t delay_count,
                        bool self, size_t most, unsigned threads, uint64_t position, sf_error *error);
void sf_pair_counts_close(sf_pair_counts *pairs);

/**
 * The window is now the positions begin .. end - 1 of the history, which still holds the window before; begin
 * and end never descend, and begin <= end. Pairs with a count of `least`, 1 or more, are found. SF_DATA where
 * a spike's unit does not exist or the window holds 2^31 spikes, SF_NO_MEMORY; after a failure the pairs can
 * only be closed.
 */
int sf_pair_counts_slide(sf_pair_counts *pairs, const sf_history *history, uint64_t begin, uint64_t end,
                         uint32_t least, sf_error *error);

/** The pairs that the last slide found, in no order; valid until the next. More than `most` of open only tell
 * that there are more. */
const sf_pair_count *sf_pair_counts_found(const sf_pair_counts *pairs, size_t *count);

#endif
