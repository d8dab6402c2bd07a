/* SPDX-License-Identifier: Apache-2.0 */
#include "window/queue.h"

#include <string.h>

/* The new room takes over the items, in pieces that wrap in neither. */
static int move(sf_queue *queue, sf_queue grown)
{
    if (grown.items == NULL)
        return -1;
    for (uint64_t i = queue->begin, piece; i < queue->end; i += piece) {
        uint64_t wraps = queue->capacity - (i & (queue->capacity - 1)),
                 grown_wraps = grown.capacity - (i & (grown.capacity - 1));
        piece = queue->end - i;
        piece = piece < wraps ? piece : wraps;
        piece = piece < grown_wraps ? piece : grown_wraps;
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
