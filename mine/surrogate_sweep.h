/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Pairs counted in a surrogate by one pass over the recorded spikes in order of time, for several first units
 * at once. What follows a spike lies beside what follows the next one, so that the surrogate is read from
 * front to back; gone through by unit it would be read once for each of them, a line of the cache a spike.
 */
#ifndef SF_MINE_SURROGATE_SWEEP_H
#define SF_MINE_SURROGATE_SWEEP_H

#include "mine/surrogate_image.h"

/** A recorded spike. */
typedef struct sf_sweep_spike {
    uint32_t position, row; /**< row: its unit, of those of the block */
} sf_sweep_spike;

/** Blocks of units, each with its spikes in order. */
typedef struct sf_sweep {
    uint32_t unit_count, rows; /**< units, and of a block at most: block b has b * rows and those after it */
    uint32_t block_count;
    uint32_t *first; /**< block_count + 1 */
    sf_sweep_spike *spikes;
} sf_sweep;

/** With counts of a block within a core's cache, and enough blocks for so many threads. SF_NO_MEMORY;
 * sf_sweep_close in any case. */
int sf_sweep_open(sf_sweep *sweep, const sf_events *events, unsigned threads);
void sf_sweep_close(sf_sweep *sweep); /**< a zeroed object is allowed */

/** Counts each unit of a block followed by each unit by a delay: cells[row * unit_count + unit], of
 * sweep->rows rows. */
void sf_sweep_count(sf_greedy_count *cells, const sf_sweep *sweep, uint32_t block, const sf_image *image,
                    uint32_t delay);

#endif
