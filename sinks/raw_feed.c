/* SPDX-License-Identifier: Apache-2.0 */
#include "sinks/raw_feed.h"

#include "core/error.h"
#include "core/memory.h"
#include "core/ring.h"
#include "core/thread.h"

#define SPIKE_BATCH 8192
#define MARKER_BATCH 256
#define WAIT_MS 10

struct sf_raw_feed {
    sf_ring spikes, markers;
    sf_bell room; /* rung after each take */
    _Atomic uint64_t spikes_refused, markers_refused;
    _Atomic uint64_t spikes_recorded, markers_recorded, spikes_failed, markers_failed;
    sf_spike spike_batch[SPIKE_BATCH]; /* of the writing thread */
    sf_marker marker_batch[MARKER_BATCH];
};

int sf_raw_feed_open(sf_raw_feed **out, uint64_t spikes, sf_error *error)
{
    *out = NULL;
    sf_raw_feed *feed = sf_alloc(1, sizeof *feed);
    if (feed == NULL) return sf_fail_memory(error);
    int status = sf_ring_open(&feed->spikes, sizeof(sf_spike), spikes, SF_RING_BLOCK, error);
    if (status == SF_OK)
        status = sf_ring_open(&feed->markers, sizeof(sf_marker), SF_RAW_MARKERS, SF_RING_BLOCK, error);
    if (status == SF_OK) status = sf_bell_open(&feed->room, error);
    if (status != SF_OK) {
        sf_raw_feed_close(feed);
        return status;
    }
    *out = feed;
    return SF_OK;
}

void sf_raw_feed_close(sf_raw_feed *feed)
{
    if (feed == NULL) return;
    sf_ring_close(&feed->spikes);
    sf_ring_close(&feed->markers);
    sf_bell_close(&feed->room);
    sf_free(feed);
}

/* Returns how many items there was no room for. */
static size_t put(sf_raw_feed *feed, sf_ring *ring, const void *items, size_t count, bool wait,
                  void (*wake)(void *user), void *user)
{
    const unsigned char *next = items;
    for (;;) {
        size_t taken = sf_ring_push(ring, next, count);
        next += taken * ring->item_size;
        count -= taken;
        if (count == 0 || !wait) return count;
        wake(user);
        sf_bell_wait(&feed->room, WAIT_MS);
    }
}

void sf_raw_feed_put(sf_raw_feed *feed, const sf_raw_batch *batch, bool wait, void (*wake)(void *user),
                     void *user)
{
    size_t spikes = put(feed, &feed->spikes, batch->spikes, batch->spike_count, wait, wake, user);
    size_t markers = put(feed, &feed->markers, batch->markers, batch->marker_count, wait, wake, user);
    atomic_fetch_add_explicit(&feed->spikes_refused, spikes, memory_order_relaxed);
    atomic_fetch_add_explicit(&feed->markers_refused, markers, memory_order_relaxed);
}

bool sf_raw_feed_take(sf_raw_feed *feed, sf_raw_batch *batch)
{
    batch->spikes = feed->spike_batch;
    batch->markers = feed->marker_batch;
    batch->spike_count = sf_ring_pop(&feed->spikes, feed->spike_batch, SPIKE_BATCH, NULL);
    batch->marker_count = sf_ring_pop(&feed->markers, feed->marker_batch, MARKER_BATCH, NULL);
    if (batch->spike_count == 0 && batch->marker_count == 0) return false;
    batch->spikes_lost = atomic_load(&feed->spikes_refused);
    batch->markers_lost = atomic_load(&feed->markers_refused);
    sf_bell_ring(&feed->room);
    return true;
}

uint64_t sf_raw_feed_put_so_far(const sf_raw_feed *feed)
{
    return sf_ring_pushed(&feed->spikes);
}

uint64_t sf_raw_feed_taken_so_far(const sf_raw_feed *feed)
{
    return sf_ring_popped(&feed->spikes);
}

void sf_raw_feed_settle(sf_raw_feed *feed, const sf_raw_batch *batch, bool recorded)
{
    atomic_fetch_add(recorded ? &feed->spikes_recorded : &feed->spikes_failed, batch->spike_count);
    atomic_fetch_add(recorded ? &feed->markers_recorded : &feed->markers_failed, batch->marker_count);
}

bool sf_raw_feed_is_busy(const sf_raw_feed *feed)
{
    return atomic_load(&feed->spikes_recorded) + atomic_load(&feed->spikes_failed) <
               sf_ring_pushed(&feed->spikes) ||
           atomic_load(&feed->markers_recorded) + atomic_load(&feed->markers_failed) <
               sf_ring_pushed(&feed->markers);
}

sf_raw_counts sf_raw_feed_count(const sf_raw_feed *feed)
{
    return (sf_raw_counts){
        .spikes = atomic_load(&feed->spikes_recorded),
        .markers = atomic_load(&feed->markers_recorded),
        .spikes_lost = atomic_load(&feed->spikes_refused) + atomic_load(&feed->spikes_failed),
        .markers_lost = atomic_load(&feed->markers_refused) + atomic_load(&feed->markers_failed),
    };
}
