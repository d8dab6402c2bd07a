/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The lists of all extensions of an episode at once: what one walk over the windows of its ends meets is
 * written down as hits, each with the slot of its unit, and then dealt out into a list a slot.
 */
#ifndef SF_MINE_HITS_H
#define SF_MINE_HITS_H

#include "mine/positions.h"

#include <stddef.h>

/** An end of one of several extensions. */
typedef struct sf_hit {
    uint32_t end, start, slot;
} sf_hit;

/** Collects the spikes in the windows whose units have a slot: slots[unit] is 1 + its number, or 0. Needs
 * room for every position and one more; returns how many there are. */
size_t sf_hits_walk(sf_hit *hits, const sf_window *windows, size_t count, const uint32_t *owner,
                    const uint32_t *slots);

/** Collects the spikes of one unit, `count` ascending positions, by merging them with the list of ends:
 * cheaper where windows are crowded. */
size_t sf_hits_merge(sf_hit *hits, const sf_followers *reaches, const sf_list_entry *list, size_t length,
                     const uint32_t *positions, size_t count, uint32_t slot);

/** Writes the hits into lists one after the other, those of slot 0 first; slot i ends before to[ends[i]]. */
void sf_hits_deal(sf_list_entry *to, size_t *ends, uint32_t slot_count, const sf_hit *hits, size_t count);

#endif
