/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The spikes of the merged stream that the window still needs, in one piece of memory. The position of a
 * spike is its number in the stream since the start. Every spike is stored twice, a capacity apart, so that
 * any part is contiguous and nothing is ever moved to make it so: no hop pays for the others. One thread.
 */
#ifndef SF_WINDOW_HISTORY_H
#define SF_WINDOW_HISTORY_H

#include <synfire/recording.h>

/** Zero-initialised, it is empty and at position 0. */
typedef struct sf_history {
    sf_spike *spikes; /**< 2 * capacity */
    uint64_t capacity;
    uint64_t begin, end; /**< positions kept: begin .. end - 1 */
    int64_t span_ns; /**< how much will be kept, 0: not known: growing makes room for it at the pace so far */
} sf_history;

void sf_history_free(sf_history *history);

/** Makes room for at least this many spikes, so that appending them moves none. SF_NO_MEMORY. */
int sf_history_reserve(sf_history *history, uint64_t capacity, sf_error *error);

/** Appends spikes that follow those before in stream order. Where room is short it grows, by half at least:
 * SF_NO_MEMORY. */
int sf_history_append(sf_history *history, const sf_spike *spikes, size_t count, sf_error *error);

/** Spikes from this position (begin <= position <= end) up to `end`; valid until the next append. */
const sf_spike *sf_history_view(const sf_history *history, uint64_t position);

/** The time of the spike at a position, begin <= position < end. */
static inline int64_t sf_history_time(const sf_history *history, uint64_t position)
{
    return sf_history_view(history, position)->time_ns;
}

/** Position of the first kept spike with time >= time_ns, or `end`. */
uint64_t sf_history_find(const sf_history *history, int64_t time_ns);

/** Forgets spikes before this position. */
void sf_history_drop_before(sf_history *history, uint64_t position);

#endif
