/* SPDX-License-Identifier: Apache-2.0 */
#include "core/ring.h"

#include "core/error.h"
#include "core/memory.h"

#include <string.h>

int sf_ring_open(sf_ring *ring, size_t item_size, uint64_t limit, sf_ring_policy policy, sf_error *error)
{
    memset(ring, 0, sizeof *ring);
    if (limit == 0) return sf_fail(error, SF_USAGE, NULL, "a ring has room for at least one item, not 0");
    uint64_t rounded = 1;
    while (rounded < limit && rounded < UINT64_MAX / 4)
        rounded *= 2;
    ring->item_size = item_size;
    ring->limit = rounded;
    ring->capacity = policy == SF_RING_DROP_OLDEST ? 2 * rounded : rounded;
    ring->policy = policy;
    ring->items = sf_alloc(ring->capacity, item_size);
    return ring->items != NULL ? SF_OK : sf_fail_memory(error);
}

void sf_ring_close(sf_ring *ring)
{
    sf_free(ring->items);
    ring->items = NULL;
}

static unsigned char *item_at(const sf_ring *ring, uint64_t index)
{
    return ring->items + (index & (ring->capacity - 1)) * ring->item_size;
}

/* Items from `index` on that lie in one piece before the ring wraps, at most `count`. */
static size_t in_one_piece(const sf_ring *ring, uint64_t index, size_t count)
{
    uint64_t piece = ring->capacity - (index & (ring->capacity - 1));
    return piece < count ? (size_t)piece : count;
}

/* One thread writes each counter, so a plain addition will do. */
static void add(_Atomic uint64_t *counter, uint64_t amount)
{
    if (amount > 0)
        atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + amount,
                              memory_order_relaxed);
}

size_t sf_ring_push(sf_ring *ring, const void *items, size_t count)
{
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    if (ring->capacity - (head - ring->cached_tail) < count)
        ring->cached_tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
    uint64_t room = ring->capacity - (head - ring->cached_tail);
    size_t taken = count < room ? count : (size_t)room;
    size_t first = in_one_piece(ring, head, taken);
    if (taken > 0) {
        memcpy(item_at(ring, head), items, first * ring->item_size);
        memcpy(ring->items, (const unsigned char *)items + first * ring->item_size,
               (taken - first) * ring->item_size);
        atomic_store_explicit(&ring->head, head + taken, memory_order_release);
    }
    if (ring->policy != SF_RING_BLOCK) add(&ring->refused, count - taken);
    return taken;
}

/* The new tail, after giving up what lies beyond the limit. */
static uint64_t discard_oldest(sf_ring *ring, uint64_t tail, void (*discard)(void *item))
{
    uint64_t fill = ring->cached_head - tail;
    if (fill <= ring->limit) return tail;
    uint64_t kept_from = ring->cached_head - ring->limit;
    for (uint64_t i = tail; discard != NULL && i < kept_from; i++)
        discard(item_at(ring, i));
    add(&ring->discarded, kept_from - tail);
    return kept_from;
}

/* The number of items in the ring, at most `most`, once those beyond the limit are given up; *tail is the
 * first of them. */
static size_t find_items(sf_ring *ring, uint64_t *tail, size_t most, void (*discard)(void *item))
{
    *tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    if (ring->policy == SF_RING_DROP_OLDEST || ring->cached_head - *tail < most)
        ring->cached_head = atomic_load_explicit(&ring->head, memory_order_acquire);
    *tail = discard_oldest(ring, *tail, discard);
    uint64_t fill = ring->cached_head - *tail;
    return most < fill ? most : (size_t)fill;
}

static void move_tail(sf_ring *ring, uint64_t tail)
{
    if (tail != atomic_load_explicit(&ring->tail, memory_order_relaxed))
        atomic_store_explicit(&ring->tail, tail, memory_order_release);
}

size_t sf_ring_pop(sf_ring *ring, void *items, size_t most, void (*discard)(void *item))
{
    uint64_t tail;
    size_t taken = find_items(ring, &tail, most, discard);
    size_t first = in_one_piece(ring, tail, taken);
    if (taken > 0) {
        memcpy(items, item_at(ring, tail), first * ring->item_size);
        memcpy((unsigned char *)items + first * ring->item_size, ring->items,
               (taken - first) * ring->item_size);
    }
    move_tail(ring, tail + taken);
    return taken;
}

size_t sf_ring_look(sf_ring *ring, const void **items, size_t most, void (*discard)(void *item))
{
    uint64_t tail;
    size_t there = find_items(ring, &tail, most, discard);
    move_tail(ring, tail);
    *items = item_at(ring, tail);
    return in_one_piece(ring, tail, there);
}

void sf_ring_release(sf_ring *ring, size_t count)
{
    move_tail(ring, atomic_load_explicit(&ring->tail, memory_order_relaxed) + count);
}

uint64_t sf_ring_pushed(const sf_ring *ring)
{
    return atomic_load_explicit(&ring->head, memory_order_acquire);
}

uint64_t sf_ring_popped(const sf_ring *ring)
{
    return atomic_load_explicit(&ring->tail, memory_order_acquire);
}

uint64_t sf_ring_fill(const sf_ring *ring)
{
    /* Tail before head: the difference can then be too large, never negative. */
    uint64_t tail = sf_ring_popped(ring);
    uint64_t fill = sf_ring_pushed(ring) - tail;
    return fill < ring->capacity ? fill : ring->capacity;
}

uint64_t sf_ring_dropped(const sf_ring *ring)
{
    return atomic_load_explicit(&ring->refused, memory_order_relaxed) +
           atomic_load_explicit(&ring->discarded, memory_order_relaxed);
}
