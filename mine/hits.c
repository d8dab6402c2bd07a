/* SPDX-License-Identifier: Apache-2.0 */
#include "mine/hits.h"

/* Without a branch, since whether a spike's unit has a slot is a coin toss. */
size_t sf_hits_walk(sf_hit *hits, const sf_window *windows, size_t count, const uint32_t *owner,
                    const uint32_t *slots)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        for (uint32_t p = windows[i].from; p < windows[i].to; p++) {
            uint32_t slot = slots[owner[p]];
            hits[found] = (sf_hit){p, windows[i].start, slot - 1};
            found += slot != 0;
        }
    }
    return found;
}

size_t sf_hits_merge(sf_hit *hits, const sf_followers *reaches, const sf_list_entry *list, size_t length,
                     const uint32_t *positions, size_t count, uint32_t slot)
{
    size_t found = 0, k = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t p = positions[i];
        while (k < length && reaches[list[k].end].from <= p)
            k++;
        if (k > 0 && p < reaches[list[k - 1].end].to) hits[found++] = (sf_hit){p, list[k - 1].start, slot};
    }
    return found;
}

void sf_hits_deal(sf_list_entry *to, size_t *ends, uint32_t slot_count, const sf_hit *hits, size_t count)
{
    for (uint32_t i = 0; i < slot_count; i++)
        ends[i] = 0;
    for (size_t i = 0; i < count; i++)
        ends[hits[i].slot]++;
    size_t end = 0;
    for (uint32_t i = 0; i < slot_count; i++) { /* for now: where the list begins */
        size_t length = ends[i];
        ends[i] = end;
        end += length;
    }
    for (size_t i = 0; i < count; i++)
        to[ends[hits[i].slot]++] = (sf_list_entry){hits[i].end, hits[i].start};
}
