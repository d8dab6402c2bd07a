/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The spikes of the window by unit: each unit's train holds the times and stream positions of its spikes, so
 * that an episode looks only at the spikes of its own units. One thread.
 */
#ifndef SF_WINDOW_TRAINS_H
#define SF_WINDOW_TRAINS_H

#include "window/queue.h"

#include <synfire/recording.h>

typedef struct sf_train_event {
    int64_t time_ns;
    uint64_t position;
} sf_train_event;

typedef struct sf_trains {
    sf_queue *units; /**< of sf_train_event */
    size_t unit_count;
    int64_t span_ns; /**< as sf_history has it */
} sf_trains;

int sf_trains_open(sf_trains *trains, size_t unit_count, sf_error *error);
void sf_trains_close(sf_trains *trains);

/** Forgets all spikes, and gives back their room. */
void sf_trains_clear(sf_trains *trains);

/**
 * Appends the spikes at positions position, position + 1, ...; on failure none of them is appended. SF_DATA
 * where a spike is of a unit that does not exist, SF_NO_MEMORY.
 */
int sf_trains_append(sf_trains *trains, const sf_spike *spikes, size_t count, uint64_t position,
                     sf_error *error);

/** Forgets spikes before this position. */
void sf_trains_drop_before(sf_trains *trains, uint64_t position);

static inline const sf_train_event *sf_train_at(const sf_queue *train, uint64_t index)
{
    return (const sf_train_event *)(const void *)train->items + (index & (train->capacity - 1));
}

/** Index in the train of its first event at or after this position, or train->end. */
uint64_t sf_train_find_position(const sf_queue *train, uint64_t position);

/** Index in the train of its first event at or after this time, or train->end. */
uint64_t sf_train_find_time(const sf_queue *train, int64_t time_ns);

#endif
