/* SPDX-License-Identifier: Apache-2.0 */
#include "core/error.h"
#include "core/memory.h"
#include "core/recording.h"

#include <string.h>

bool sf_spikes_are_sorted(const sf_spike *spikes, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (spikes[i].time_ns < spikes[i - 1].time_ns ||
            (spikes[i].time_ns == spikes[i - 1].time_ns && spikes[i].unit < spikes[i - 1].unit))
            return false;
    return true;
}

/* What differs among some spikes: times, or units where all times are the same. */
typedef struct spread {
    bool by_time, in_order;
    uint64_t least, most;
} spread;

static uint64_t key_of(const sf_spike *spike, bool by_time)
{
    return by_time ? (uint64_t)spike->time_ns ^ UINT64_C(1) << 63 : spike->unit;
}

static bool is_before(const sf_spike *a, const sf_spike *b)
{
    return a->time_ns < b->time_ns || (a->time_ns == b->time_ns && a->unit < b->unit);
}

static spread spread_of(const sf_spike *spikes, size_t count)
{
    spread s = {.in_order = true};
    for (int by_time = 1; by_time >= 0 && s.most == s.least; by_time--) {
        s.by_time = by_time != 0;
        s.least = s.most = key_of(&spikes[0], s.by_time);
        for (size_t i = 1; i < count; i++) {
            uint64_t key = key_of(&spikes[i], s.by_time);
            s.least = key < s.least ? key : s.least;
            s.most = key > s.most ? key : s.most;
            s.in_order = s.in_order && !is_before(&spikes[i], &spikes[i - 1]);
        }
    }
    return s;
}

enum { FEW = 24, PER_BIN = 2, LEAST_BITS = 4, MOST_BITS = 11 };

/* So many of the high bits of what differs that a bin has PER_BIN spikes on average. */
static int shift_of(const spread *s, size_t count)
{
    int bits = LEAST_BITS, width = 64 - __builtin_clzll(s->most - s->least);
    while (bits < MOST_BITS && ((size_t)PER_BIN << bits) < count)
        bits++;
    return width > bits ? width - bits : 0;
}

static void sort_few(sf_spike *to, const sf_spike *from, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sf_spike spike = from[i];
        size_t at = i;
        for (; at > 0 && is_before(&spike, &to[at - 1]); at--)
            to[at] = to[at - 1];
        to[at] = spike;
    }
}

/*
 * Deals the spikes out into bins by the high bits of what differs among them, and sorts each bin likewise:
 * with the most significant bits first, all work after the first deal lies within the processor's caches.
 * They end up in `to`, which is `from` or `room`; the other is overwritten.
 */
static void sort_into(sf_spike *to, sf_spike *from, sf_spike *room, size_t count)
{
    if (count <= FEW) {
        sort_few(to, from, count);
        return;
    }
    spread s = spread_of(from, count);
    if (s.in_order) {
        if (to != from)
            memcpy(to, from, count * sizeof *to);
        return;
    }
    int shift = shift_of(&s, count);
    size_t bins = (size_t)((s.most - s.least) >> shift) + 1, ends[(1 << MOST_BITS) + 1], begin = 0;
    memset(ends, 0, (bins + 1) * sizeof *ends);
    for (size_t i = 0; i < count; i++)
        ends[((key_of(&from[i], s.by_time) - s.least) >> shift) + 1]++;
    for (size_t b = 1; b <= bins; b++) /* for now: where each begins */
        ends[b] += ends[b - 1];
    for (size_t i = 0; i < count; i++)
        room[ends[(key_of(&from[i], s.by_time) - s.least) >> shift]++] = from[i];
    for (size_t b = 0; b < bins; begin = ends[b++])
        sort_into(to + begin, room + begin, from + begin, ends[b] - begin);
}

void sf_spikes_sort_within(sf_spike *spikes, sf_spike *room, size_t count)
{
    sort_into(spikes, spikes, room, count);
}

int sf_spikes_sort(sf_spike *spikes, size_t count, sf_error *error)
{
    if (sf_spikes_are_sorted(spikes, count))
        return SF_OK;
    sf_spike *room = sf_resize(NULL, count, sizeof *room);
    if (room == NULL)
        return sf_fail_memory(error);
    sf_spikes_sort_within(spikes, room, count);
    sf_free(room);
    return SF_OK;
}
