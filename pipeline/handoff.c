/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/handoff.h"

#include "core/clock.h"

#define MOST_DECIDED 4096
#define MOST_BLANKED 4096
#define MOST_BURSTS 4096
#define MOST_TRIALS 4096
#define LOOK_MOST 8192

int sf_handoff_open(sf_handoff *handoff, uint64_t room, bool block, sf_error *error)
{
    *handoff = (sf_handoff){0};
    atomic_store(&handoff->watermark_ns, INT64_MIN);
    atomic_store(&handoff->settled_ns, INT64_MIN);
    atomic_store(&handoff->leapt_ns, INT64_MIN);
    atomic_store(&handoff->began_ns, INT64_MAX);
    sf_ring_policy policy = block ? SF_RING_BLOCK : SF_RING_DROP_NEWEST;
    int status = sf_ring_open(&handoff->spikes, sizeof(sf_spike), room, policy, error);
    if (status == SF_OK)
        status = sf_ring_open(&handoff->decided, sizeof(sf_decided), MOST_DECIDED, policy, error);
    if (status == SF_OK)
        status = sf_ring_open(&handoff->blanked, sizeof(sf_span), MOST_BLANKED, policy, error);
    if (status == SF_OK)
        status = sf_ring_open(&handoff->bursts, sizeof(sf_burst_news), MOST_BURSTS, policy, error);
    if (status == SF_OK) status = sf_ring_open(&handoff->trials, sizeof(int64_t), MOST_TRIALS, policy, error);
    if (status == SF_OK) status = sf_bell_open(&handoff->filled, error);
    if (status == SF_OK) status = sf_bell_open(&handoff->emptied, error);
    if (status != SF_OK) sf_handoff_close(handoff);
    return status;
}

void sf_handoff_close(sf_handoff *handoff)
{
    sf_ring_close(&handoff->spikes);
    sf_ring_close(&handoff->decided);
    sf_ring_close(&handoff->blanked);
    sf_ring_close(&handoff->bursts);
    sf_ring_close(&handoff->trials);
    sf_bell_close(&handoff->filled);
    sf_bell_close(&handoff->emptied);
}

bool sf_handoff_waits(const sf_handoff *handoff)
{
    return handoff->spikes.policy == SF_RING_BLOCK && !atomic_load(&handoff->abandoned);
}

/* The other rings hold less, but fill by what is decided, which is rare. */
bool sf_handoff_has_room(const sf_handoff *handoff, uint64_t spikes)
{
    return handoff->spikes.capacity - sf_ring_fill(&handoff->spikes) >= spikes;
}

void sf_handoff_abandon(sf_handoff *handoff)
{
    atomic_store(&handoff->abandoned, true);
    sf_bell_ring(&handoff->emptied);
}

void sf_handoff_put(sf_handoff *handoff, const sf_spike *spikes, size_t count, int64_t arrival_ns)
{
    if (count > 0) atomic_store_explicit(&handoff->arrival_ns, arrival_ns, memory_order_relaxed);
    for (size_t done = 0; done < count;) {
        done += sf_ring_push(&handoff->spikes, spikes + done, count - done);
        if (done == count || !sf_handoff_waits(handoff)) return;
        sf_bell_ring(&handoff->filled);
        sf_bell_wait(&handoff->emptied, 10);
    }
}

uint64_t sf_handoff_put_so_far(const sf_handoff *handoff)
{
    return sf_ring_pushed(&handoff->spikes);
}

size_t sf_handoff_look(sf_handoff *handoff, uint64_t until, const sf_spike **spikes)
{
    uint64_t left = until - sf_ring_popped(&handoff->spikes);
    const void *there;
    size_t count = sf_ring_look(&handoff->spikes, &there, left < LOOK_MOST ? (size_t)left : LOOK_MOST, NULL);
    *spikes = there;
    return count;
}

void sf_handoff_release(sf_handoff *handoff, size_t count)
{
    sf_ring_release(&handoff->spikes, count);
    sf_bell_ring(&handoff->emptied);
}

static void push_one(sf_handoff *handoff, sf_ring *ring, const void *item)
{
    while (sf_ring_push(ring, item, 1) == 0 && sf_handoff_waits(handoff)) {
        sf_bell_ring(&handoff->filled);
        sf_bell_wait(&handoff->emptied, 10);
    }
}

static bool pop_one(sf_handoff *handoff, sf_ring *ring, void *item)
{
    if (sf_ring_pop(ring, item, 1, NULL) == 0) return false;
    sf_bell_ring(&handoff->emptied);
    return true;
}

void sf_handoff_decide(sf_handoff *handoff, const sf_decided *decided)
{
    push_one(handoff, &handoff->decided, decided);
}

bool sf_handoff_next(sf_handoff *handoff, sf_decided *decided)
{
    return pop_one(handoff, &handoff->decided, decided);
}

void sf_handoff_burst(sf_handoff *handoff, const sf_burst_news *news)
{
    push_one(handoff, &handoff->bursts, news);
}

bool sf_handoff_next_burst(sf_handoff *handoff, sf_burst_news *news)
{
    return pop_one(handoff, &handoff->bursts, news);
}

void sf_handoff_trial(sf_handoff *handoff, int64_t marker_ns)
{
    push_one(handoff, &handoff->trials, &marker_ns);
}

bool sf_handoff_next_trial(sf_handoff *handoff, int64_t *marker_ns)
{
    return pop_one(handoff, &handoff->trials, marker_ns);
}

void sf_handoff_blank(sf_handoff *handoff, sf_span span)
{
    push_one(handoff, &handoff->blanked, &span);
}

bool sf_handoff_next_blanked(sf_handoff *handoff, sf_span *span)
{
    return pop_one(handoff, &handoff->blanked, span);
}

static void drop_all(sf_ring *ring)
{
    const void *there;
    for (size_t count; (count = sf_ring_look(ring, &there, SIZE_MAX, NULL)) > 0;)
        sf_ring_release(ring, count);
}

void sf_handoff_drop(sf_handoff *handoff)
{
    drop_all(&handoff->spikes);
    drop_all(&handoff->bursts);
    drop_all(&handoff->decided);
    drop_all(&handoff->blanked);
    drop_all(&handoff->trials);
    sf_bell_ring(&handoff->emptied);
}

void sf_handoff_settle(sf_handoff *handoff, int64_t watermark_ns)
{
    atomic_store_explicit(&handoff->settled_ns, watermark_ns, memory_order_release);
    sf_bell_ring(&handoff->emptied);
}

void sf_handoff_await(sf_handoff *handoff, int64_t time_ns)
{
    if (atomic_load_explicit(&handoff->watermark_ns, memory_order_relaxed) < time_ns)
        sf_handoff_promise(handoff, time_ns, false);
    while (atomic_load_explicit(&handoff->settled_ns, memory_order_acquire) < time_ns &&
           !atomic_load(&handoff->abandoned)) {
        sf_bell_ring(&handoff->filled);
        sf_bell_wait(&handoff->emptied, 10);
    }
}

/* At leisure they are woken once in a millisecond, and as soon as half of their room is taken. */
static bool is_due(sf_handoff *handoff, bool ended)
{
    if (!handoff->at_leisure || ended) return true;
    int64_t now_ns = sf_clock_monotonic_ns();
    bool due = now_ns - handoff->rung_ns >= SF_MILLISECOND ||
               !sf_handoff_has_room(handoff, handoff->spikes.capacity / 2);
    if (due) handoff->rung_ns = now_ns;
    return due;
}

void sf_handoff_promise(sf_handoff *handoff, int64_t watermark_ns, bool ended)
{
    atomic_store_explicit(&handoff->watermark_ns, watermark_ns, memory_order_release);
    if (ended) atomic_store_explicit(&handoff->ended, true, memory_order_release);
    if (is_due(handoff, ended)) sf_bell_ring(&handoff->filled);
}
