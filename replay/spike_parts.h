/* SPDX-License-Identifier: Apache-2.0 */
/** Parts of a recording's spikes that threads fill in parallel (core/thread.h divides them). */
#ifndef SF_REPLAY_SPIKE_PARTS_H
#define SF_REPLAY_SPIKE_PARTS_H

#include "core/recording.h"
#include "core/thread.h"

#include <string.h>

/** Start and number of a part's spikes; the number may be smaller than the room before the next part. */
typedef struct sf_spike_part {
    size_t begin, count;
} sf_spike_part;

/** Closes the gaps by moving the parts behind the first of them. Returns the index after the last spike. */
static inline size_t sf_spike_parts_close(sf_spike *spikes, const sf_spike_part *parts, size_t count)
{
    size_t end = parts[0].begin + parts[0].count;
    for (size_t i = 1; i < count; i++) {
        if (end < parts[i].begin)
            memmove(spikes + end, spikes + parts[i].begin, parts[i].count * sizeof *spikes);
        end += parts[i].count;
    }
    return end;
}

#endif
