/* SPDX-License-Identifier: Apache-2.0 */
#include "window/queue.h"

#include <string.h>

/* The new room takes over the items, in pieces that do not wrap, which in more room they do even less. */
static int move(sf_queue *queue, sf_queue grown)
{
    if (grown.items == NULL) return -1;
    for (uint64_t i = queue->begin, piece; i < queue->end; i += piece) {
        uint64_t wraps = queue->capacity - (i & (queue->capacity - 1)), left = queue->end - i;
        piece = left < wraps ? left : wraps;
        memcpy(sf_queue_at(&grown, i), sf_queue_at(queue, i), piece * queue->item_size);
    }
    sf_free(queue->items);
    *queue = grown;
    return 0;
}

int sf_queue_grow(sf_queue *queue)
{
    sf_queue grown = *queue;
    grown.capacity = queue->capacity == 0 ? 4 : 2 * queue->capacity;
    grown.items = sf_alloc(grown.capacity, queue->item_size);
    return move(queue, grown);
}

int sf_queue_grow_plain(sf_queue *queue, uint64_t room)
{
    sf_queue grown = *queue;
    for (grown.capacity = 4; grown.capacity < room;)
        grown.capacity *= 2;
    grown.items = sf_resize(NULL, grown.capacity, queue->item_size);
    return move(queue, grown);
}

void sf_queue_free(sf_queue *queue)
{
    sf_free(queue->items);
    *queue = (sf_queue){.item_size = queue->item_size};
}
