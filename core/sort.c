/* SPDX-License-Identifier: Apache-2.0 */
#include "core/error.h"
#include "core/memory.h"
#include "core/recording.h"
#include "core/thread.h"

#include <string.h>

static bool is_before(const sf_spike *a, const sf_spike *b)
{
    return a->time_ns < b->time_ns || (a->time_ns == b->time_ns && a->unit < b->unit);
}

typedef struct some_spikes {
    const sf_spike *spikes;
    size_t count;
} some_spikes;

/* 1 where one of a part, or the first behind it, is before its predecessor. */
static int look_at_order(void *context, unsigned worker, size_t part)
{
    const some_spikes *of = context;
    (void)worker;
    size_t first = sf_spikes_part(of->count, part), end = sf_spikes_part(of->count, part + 1);
    for (size_t i = first + 1; i <= end && i < of->count; i++)
        if (is_before(&of->spikes[i], &of->spikes[i - 1])) return 1;
    return 0;
}

bool sf_spikes_are_sorted(const sf_spike *spikes, size_t count)
{
    some_spikes all = {spikes, count};
    return sf_parallel_for(sf_spikes_threads(count), sf_spikes_parts(count), look_at_order, &all) == 0;
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
        if (to != from) memcpy(to, from, count * sizeof *to);
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
    if (sf_spikes_are_sorted(spikes, count)) return SF_OK;
    sf_spike *room = sf_resize(NULL, count, sizeof *room);
    if (room == NULL) return sf_fail_memory(error);
    sf_spikes_sort_within(spikes, room, count);
    sf_free(room);
    return SF_OK;
}

/* ---- trains one after the other ---- */

/*
 * Files mostly hold one train behind the other. So few stretches that are in order each are not dealt out but
 * merged: the span of all is cut into windows of as many spikes as stay in a processor's cache, and what of
 * each stretch lies in a window is put behind what the others have there, and sorted.
 */
enum { MOST_STRETCHES = 4096, WINDOW = 16384, SAMPLES = 16, CHUNKS = 64 };

typedef struct merging {
    const sf_spike *spikes;
    size_t *begins; /* of the stretches, and the count of spikes */
    size_t stretches;
    sf_spike *ends; /* windows end before these; the last one has none */
    size_t windows;
    sf_spikes_put *put;
    void *context;
} merging;

/* More than MOST_STRETCHES are not listed. */
static int list_stretches(merging *m, size_t count)
{
    void *begins = NULL;
    size_t capacity = 0;
    for (size_t i = 0; i <= count && m->stretches <= MOST_STRETCHES; i++) {
        if (i > 0 && i < count && !is_before(&m->spikes[i], &m->spikes[i - 1])) continue;
        if (sf_reserve(&begins, &capacity, m->stretches + 1, sizeof *m->begins) != 0) return SF_NO_MEMORY;
        m->begins = begins;
        m->begins[m->stretches] = i;
        m->stretches += i < count;
    }
    return SF_OK;
}

/* By spikes that are evenly spread over all stretches, so that windows hold about as many each. */
static int choose_windows(merging *m, size_t count)
{
    m->windows = count / WINDOW + 1;
    size_t samples = m->windows * SAMPLES, apart = count / samples;
    sf_spike *sampled = sf_resize(NULL, 2 * samples, sizeof *sampled);
    m->ends = sf_resize(NULL, m->windows, sizeof *m->ends);
    bool has_memory = sampled != NULL && m->ends != NULL;
    for (size_t i = 0; has_memory && i < samples; i++)
        sampled[i] = m->spikes[i * apart];
    if (has_memory) sf_spikes_sort_within(sampled, sampled + samples, samples);
    for (size_t w = 0; has_memory && w + 1 < m->windows; w++)
        m->ends[w] = sampled[(w + 1) * SAMPLES];
    sf_free(sampled);
    return has_memory ? SF_OK : SF_NO_MEMORY;
}

/* The first spike of a stretch that is not before this one. */
static size_t first_from(const merging *m, size_t stretch, const sf_spike *start)
{
    size_t low = m->begins[stretch], high = m->begins[stretch + 1];
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (is_before(&m->spikes[middle], start))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Where each stretch stands, what a window holds of all, and room to sort that. */
typedef struct merger {
    size_t *at;
    sf_spike *held, *room;
    size_t count, capacity;
} merger;

static int hold(merger *own, const sf_spike *spikes, size_t count)
{
    if (own->count + count > own->capacity) {
        size_t capacity = 2 * (own->count + count) + WINDOW;
        void *held = sf_resize(own->held, capacity, sizeof *own->held);
        own->held = held != NULL ? held : own->held;
        void *room = held != NULL ? sf_resize(own->room, capacity, sizeof *own->room) : NULL;
        if (room == NULL) return SF_NO_MEMORY;
        own->room = room;
        own->capacity = capacity;
    }
    memcpy(own->held + own->count, spikes, count * sizeof *spikes);
    own->count += count;
    return SF_OK;
}

static int take_window(merger *own, const merging *m, size_t window)
{
    const sf_spike *end = window + 1 < m->windows ? &m->ends[window] : NULL;
    int status = SF_OK;
    own->count = 0;
    for (size_t s = 0; s < m->stretches && status == SF_OK; s++) {
        size_t from = own->at[s], at = from, stop = m->begins[s + 1];
        while (at < stop && (end == NULL || is_before(&m->spikes[at], end)))
            at++;
        own->at[s] = at;
        if (at > from) status = hold(own, m->spikes + from, at - from);
    }
    return status;
}

static int merge_chunk(void *context, unsigned worker, size_t chunk)
{
    (void)worker;
    const merging *m = context;
    merger own = {.at = sf_resize(NULL, m->stretches, sizeof *own.at)};
    int status = own.at != NULL ? SF_OK : SF_NO_MEMORY;
    size_t first = m->windows * chunk / CHUNKS, last = m->windows * (chunk + 1) / CHUNKS, done = 0;
    for (size_t s = 0; status == SF_OK && s < m->stretches; s++) {
        own.at[s] = first > 0 ? first_from(m, s, &m->ends[first - 1]) : m->begins[s];
        done += own.at[s] - m->begins[s];
    }
    for (size_t w = first; status == SF_OK && w < last; w++) {
        status = take_window(&own, m, w);
        if (status == SF_OK && own.count > 0) {
            sf_spikes_sort_within(own.held, own.room, own.count);
            status = m->put(m->context, own.held, done, own.count);
        }
        done += own.count;
    }
    sf_free(own.at);
    sf_free(own.held);
    sf_free(own.room);
    return status;
}

static int sort_whole(sf_spike *spikes, size_t count, sf_spikes_put *put, void *context)
{
    int status = sf_spikes_sort(spikes, count, NULL);
    return status == SF_OK && count > 0 ? put(context, spikes, 0, count) : status;
}

int sf_spikes_order(sf_spike *spikes, size_t count, sf_spikes_put *put, void *context)
{
    merging m = {.spikes = spikes, .put = put, .context = context};
    int status = list_stretches(&m, count);
    bool merges = m.stretches > 1 && m.stretches <= MOST_STRETCHES && count >= WINDOW;
    if (status == SF_OK && merges) status = choose_windows(&m, count);
    if (status == SF_OK)
        status = merges ? sf_parallel_for(sf_thread_cores(), CHUNKS, merge_chunk, &m)
                        : sort_whole(spikes, count, put, context);
    sf_free(m.begins);
    sf_free(m.ends);
    return status;
}
