/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A growing queue of items in one thread, under indexes that only grow: an item keeps its index for life. The
 * room that a dropped item leaves is used again as it was left, so items may own memory that is recycled.
 */
#ifndef SF_WINDOW_QUEUE_H
#define SF_WINDOW_QUEUE_H

#include "core/memory.h"

#include <stdint.h>

/** Set item_size and leave the rest zero. */
typedef struct sf_queue {
    unsigned char *items;
    size_t item_size;
    uint64_t capacity; /**< a power of two, or 0 */
    uint64_t begin;    /**< index of the oldest item; add to it to drop */
    uint64_t end;      /**< index of the next item */
} sf_queue;

/** Valid for begin <= index < end, and for index == end after sf_queue_reserve. */
static inline void *sf_queue_at(const sf_queue *queue, uint64_t index)
{
    return queue->items + (index & (queue->capacity - 1)) * queue->item_size;
}

/** Twice the room; new room is zeroed. 0, or -1 with everything as it was. */
int sf_queue_grow(sf_queue *queue);

/** Makes room for this many items, more than there are; new room is not initialised, for items that own
 * nothing. 0, or -1 likewise. */
int sf_queue_grow_plain(sf_queue *queue, uint64_t room);

/** Makes room for one more item, at index `end`. 0, or -1 with everything as it was. */
static inline int sf_queue_reserve(sf_queue *queue)
{
    return queue->end - queue->begin < queue->capacity ? 0 : sf_queue_grow(queue);
}

/** Frees the queue's own memory. What items own, live or left behind, is at the indexes end - capacity .. end
 * - 1 of sf_queue_at; release it before. */
void sf_queue_free(sf_queue *queue);

#endif
