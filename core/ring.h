/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A lock-free ring for one producer thread and one consumer thread. Indexes are 64-bit and only grow, so
 * fill, overrun and loss are differences. Items move in batches: one index publication per batch.
 */
#ifndef SF_CORE_RING_H
#define SF_CORE_RING_H

#include <stdatomic.h>
#include <synfire/live.h>

#define SF_CACHE_LINE 64

/**
 * Fields are grouped by the thread that writes them, a cache line apart. Padding rather than alignment, so
 * that objects from sf_alloc may hold rings.
 */
typedef struct sf_ring {
    unsigned char *items;
    size_t item_size;
    uint64_t capacity; /**< items there is room for: limit, or 2 * limit with SF_RING_DROP_OLDEST */
    uint64_t limit;    /**< items the consumer keeps at most */
    sf_ring_policy policy;
    unsigned char before_producer[SF_CACHE_LINE];
    _Atomic uint64_t head;    /**< items ever published; written by the producer */
    uint64_t cached_tail;     /**< producer's own copy */
    _Atomic uint64_t refused; /**< newest items dropped; written by the producer */
    unsigned char before_consumer[SF_CACHE_LINE];
    _Atomic uint64_t tail;      /**< items ever consumed or discarded; written by the consumer */
    uint64_t cached_head;       /**< consumer's own copy */
    _Atomic uint64_t discarded; /**< oldest items dropped; written by the consumer */
    unsigned char after_consumer[SF_CACHE_LINE];
} sf_ring;

/** limit >= 1 is rounded up to a power of two. SF_USAGE where it is 0, SF_NO_MEMORY. */
int sf_ring_open(sf_ring *ring, size_t item_size, uint64_t limit, sf_ring_policy policy, sf_error *error);
void sf_ring_close(sf_ring *ring);

/**
 * Producer: copies in as many of the items as there is room for and returns how many. What did not fit is the
 * caller's to retry with SF_RING_BLOCK, and is dropped and counted otherwise (the return value is then still
 * what was taken). Real-time safe.
 */
size_t sf_ring_push(sf_ring *ring, const void *items, size_t count);

/**
 * Consumer: copies out at most `most` items and returns how many. With SF_RING_DROP_OLDEST a fill beyond
 * `limit` is first discarded and counted; `discard`, where not NULL, is called with each discarded item (to
 * release what it owns). Real-time safe.
 */
size_t sf_ring_pop(sf_ring *ring, void *items, size_t most, void (*discard)(void *item));

/** Consumer: like sf_ring_pop, but the items stay in the ring for reading until sf_ring_release removes them
 * from the front. Returns fewer items than there are where the ring wraps. Real-time safe. */
size_t sf_ring_look(sf_ring *ring, const void **items, size_t most, void (*discard)(void *item));
void sf_ring_release(sf_ring *ring, size_t count);

/** Items ever published, and items ever consumed or discarded. Any thread; exact on the thread that writes
 * it. */
uint64_t sf_ring_pushed(const sf_ring *ring);
uint64_t sf_ring_popped(const sf_ring *ring);

uint64_t sf_ring_fill(const sf_ring *ring);    /**< any thread; a snapshot */
uint64_t sf_ring_dropped(const sf_ring *ring); /**< any thread: refused + discarded */

#endif
