/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The count of one pair of units in a window that slides, the same on the CPU and on GPUs: the length of a
 * greedy chain, which is advanced by spikes that come, and loses what starts with spikes that go. That no
 * more than one number has to be kept beside the count is told at window/pair_counts.h.
 *
 * Positions of the stream wrap at 2^32: those of a window lie within 2^31 of each other.
 */
#ifndef SF_CORE_BACKEND_PAIR_CHAIN_H
#define SF_CORE_BACKEND_PAIR_CHAIN_H

#include "core/backend/machine.h"

/** A stretch of the window, and in it a segment: what comes, or what stays. */
typedef struct sf_pair_view {
    const int64_t *times;      /**< by position in the stretch; never negative */
    const uint32_t *first;     /**< by unit, and one more: places of its spikes */
    const uint32_t *positions; /**< of the spike at place p: positions[p * stride] */
    uint32_t stride;
    const uint32_t *since; /**< by unit: the place of its first spike in the segment */
    uint32_t begin;        /**< position of the segment's first spike */
    uint32_t origin;       /**< position in the stream of the stretch's first spike */
} sf_pair_view;

typedef struct sf_pair_chain {
    uint32_t count;
    uint32_t restart; /**< position in the stream from which on the next occurrence may start; of no worth
                         where the count is 0 */
} sf_pair_chain;

static inline SF_ANYWHERE uint32_t sf_pair_at(const sf_pair_view *v, uint32_t place)
{
    return v->positions[(size_t)place * v->stride];
}

static inline SF_ANYWHERE int64_t sf_pair_time(const sf_pair_view *v, uint32_t place)
{
    return v->times[sf_pair_at(v, place)];
}

/** As sf_delay_over. */
static inline SF_ANYWHERE bool sf_pair_over(sf_delay delay, int64_t from, int64_t to)
{
    return to > from && to - from > delay.low_ns;
}

/** Takes the occurrences that end in the segment, whose stretch reaches back as far as the delay or the
 * window. Returns whether there were any. */
static inline SF_ANYWHERE bool sf_pair_enter(sf_pair_chain *c, const sf_pair_view *v, sf_delay delay,
                                             uint32_t from, uint32_t to)
{
    uint32_t none = v->first[from], starts = v->first[from + 1], early = none, before = c->count;
    for (uint32_t end = v->since[to]; end < v->first[to + 1]; end++) {
        int64_t time = sf_pair_time(v, end);
        while (early < starts && sf_pair_over(delay, sf_pair_time(v, early), time))
            early++;
        if (early == none || time - sf_pair_time(v, early - 1) > delay.high_ns)
            continue;
        uint32_t start = v->origin + sf_pair_at(v, early - 1);
        if (c->count == 0 || (int32_t)(start - c->restart) >= 0) {
            c->count++;
            c->restart = v->origin + sf_pair_at(v, end) + 1;
        }
    }
    return c->count != before;
}

/* Of the chain of the window before, the occurrences that start before the segment; *restart: position in the
 * stretch after the last of them. */
static inline SF_ANYWHERE uint32_t sf_pair_lost(uint32_t *restart, const sf_pair_view *v, sf_delay delay,
                                                uint32_t from, uint32_t to)
{
    uint32_t none = v->first[from], stays = v->since[from], early = none, lost = 0;
    *restart = 0;
    for (uint32_t end = v->first[to]; end < v->first[to + 1]; end++) {
        int64_t time = sf_pair_time(v, end);
        while (early < stays && sf_pair_over(delay, sf_pair_time(v, early), time))
            early++;
        if (early == none)
            continue;
        bool is_late = time - sf_pair_time(v, early - 1) > delay.high_ns;
        bool starts_later =
            early == stays && stays < v->first[from + 1] && sf_pair_over(delay, sf_pair_time(v, stays), time);
        if (starts_later || (is_late && early == stays))
            break; /* as whatever ends after it does */
        if (is_late || sf_pair_at(v, early - 1) < *restart)
            continue;
        lost++;
        *restart = sf_pair_at(v, end) + 1;
    }
    return lost;
}

/* Two chains: that of the window before starts again at `old`, that of the segment at `fresh`. Follows both
 * until no occurrence to come tells them apart, or the stretch ends: *met. Returns whether the second is
 * longer, as it is by one at most. */
static inline SF_ANYWHERE bool sf_pair_follow(uint32_t old, uint32_t *fresh, bool *met, const sf_pair_view *v,
                                              sf_delay delay, uint32_t from, uint32_t to)
{
    uint32_t early = v->since[from], starts = v->first[from + 1], old_count = 0, fresh_count = 0;
    *met = false;
    for (uint32_t end = v->since[to]; end < v->first[to + 1] && !*met; end++) {
        if (sf_pair_at(v, end) < old)
            continue;
        int64_t time = sf_pair_time(v, end);
        while (early < starts && sf_pair_over(delay, sf_pair_time(v, early), time))
            early++;
        bool ends = early > v->first[from] && time - sf_pair_time(v, early - 1) <= delay.high_ns;
        uint32_t next = ends             ? sf_pair_at(v, early - 1)
                        : early < starts ? sf_pair_at(v, early)
                                         : UINT32_MAX; /* no occurrence to come starts before */
        *met = next >= old && next >= *fresh;
        if (*met || !ends)
            continue;
        uint32_t after = sf_pair_at(v, end) + 1;
        old_count += next >= old;
        fresh_count += next >= *fresh;
        *fresh = next >= *fresh ? after : *fresh;
        old = next >= old ? after : old;
    }
    return fresh_count > old_count;
}

/**
 * Gives the occurrences back that start before the segment, which is the window now, or begins it. False
 * where the stretch ends too soon to tell, and is not the `whole` window: then the chain is as before.
 */
static inline SF_ANYWHERE bool sf_pair_leave(sf_pair_chain *c, const sf_pair_view *v, sf_delay delay,
                                             uint32_t from, uint32_t to, bool whole)
{
    uint32_t restart, fresh = v->begin, lost = sf_pair_lost(&restart, v, delay, from, to);
    bool met = restart <= v->begin;
    bool is_longer = met ? false : sf_pair_follow(restart, &fresh, &met, v, delay, from, to);
    if (!met && !whole)
        return false;
    c->count -= lost - (is_longer ? 1 : 0);
    if (!met)
        c->restart = v->origin + fresh;
    return true;
}

#endif
