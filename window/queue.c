/* SPDX-License-Identifier: Apache-2.0 */
#include "window/queue.h"

#include <string.h>

int sf_queue_grow(sf_queue *queue)
{
    sf_queue grown = *queue;
    grown.capacity = queue->capacity == 0 ? 4 : 2 * queue->capacity;
    grown.items = sf_alloc(grown.capacity, queue->item_size);
    if (grown.items == NULL)
        return -1;
    for (uint64_t i = queue->begin; i < queue->end; i++)
        memcpy(sf_queue_at(&grown, i), sf_queue_at(queue, i), queue->item_size);
    sf_free(queue->items);
    *queue = grown;
    return 0;
}

void sf_queue_free(sf_queue *queue)
{
    sf_free(queue->items);
    *queue = (sf_queue){.item_size = queue->item_size};
}
