/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The count of one pair of units in a window that slides, the same on the CPU and on GPUs: the length of a
 * greedy chain, which is advanced by spikes that come, and loses what starts with spikes that go. That no
 * more than one number has to be kept beside the count is told at window/pair_counts.h.
 *
 * Positions of the stream wrap at 2^32: those of a window lie within 2^31 of each other.
 */
#ifndef SF_MINE_SHARED_PAIR_CHAIN_H
#define SF_MINE_SHARED_PAIR_CHAIN_H

#include "mine/shared/machine.h"

/** A stretch of the window, and in it a segment: what comes, or what stays. Spikes are by place: first[u] ..
 * first[u + 1] - 1 are those of unit u, in order. */
typedef struct sf_pair_view {
    const uint32_t *first;     /**< by unit, and one more */
    const int64_t *times;      /**< never negative */
    const uint32_t *positions; /**< in the stretch */
    const uint32_t *since;     /**< by unit: the place of its first spike in the segment */
    /** The same spikes for the unit that a pair leads to: spike k of unit u is at k * stride + u, so that
     * threads side by side, which have neighbouring units, read side by side; stride 0: they are by place. */
    const int64_t *across_times;
    const uint32_t *across_positions;
    uint32_t stride;
    uint32_t begin;  /**< position of the segment's first spike */
    uint32_t origin; /**< position in the stream of the stretch's first spike */
} sf_pair_view;

/** The spikes of the unit that a pair leads to: `count`, of which those from `since` on are in the segment.
 */
typedef struct sf_pair_ends {
    const int64_t *times;
    const uint32_t *positions;
    size_t stride;
    uint32_t since, count;
} sf_pair_ends;

static inline SF_ANYWHERE sf_pair_ends sf_pair_ends_of(const sf_pair_view *v, uint32_t unit)
{
    uint32_t first = v->first[unit];
    sf_pair_ends ends;
    ends.times = v->stride > 0 ? v->across_times + unit : v->times + first;
    ends.positions = v->stride > 0 ? v->across_positions + unit : v->positions + first;
    ends.stride = v->stride > 0 ? v->stride : 1;
    ends.since = v->since[unit] - first;
    ends.count = v->first[unit + 1] - first;
    return ends;
}

typedef struct sf_pair_chain {
    uint32_t count;
    uint32_t restart; /**< position in the stream from which on the next occurrence may start; meaningless
                         where the count is 0 */
} sf_pair_chain;

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
    sf_pair_ends ends = sf_pair_ends_of(v, to);
    uint32_t none = v->first[from], starts = v->first[from + 1], early = none, before = c->count;
    for (uint32_t end = ends.since; end < ends.count; end++) {
        int64_t time = ends.times[end * ends.stride];
        while (early < starts && sf_pair_over(delay, v->times[early], time))
            early++;
        if (early == none || time - v->times[early - 1] > delay.high_ns) continue;
        uint32_t start = v->origin + v->positions[early - 1];
        if (c->count == 0 || (int32_t)(start - c->restart) >= 0) {
            c->count++;
            c->restart = v->origin + ends.positions[end * ends.stride] + 1;
        }
    }
    return c->count != before;
}

/* Of the chain of the window before, the occurrences that start before the segment; *restart: position in the
 * stretch after the last of them. */
static inline SF_ANYWHERE uint32_t sf_pair_lost(uint32_t *restart, const sf_pair_view *v, sf_delay delay,
                                                uint32_t from, uint32_t to)
{
    sf_pair_ends ends = sf_pair_ends_of(v, to);
    uint32_t none = v->first[from], stays = v->since[from], early = none, lost = 0;
    *restart = 0;
    for (uint32_t end = 0; end < ends.count; end++) {
        int64_t time = ends.times[end * ends.stride];
        while (early < stays && sf_pair_over(delay, v->times[early], time))
            early++;
        if (early == none) continue;
        bool is_late = time - v->times[early - 1] > delay.high_ns;
        bool starts_later =
            early == stays && stays < v->first[from + 1] && sf_pair_over(delay, v->times[stays], time);
        if (starts_later || (is_late && early == stays)) break; /* as whatever ends after it does */
        if (is_late || v->positions[early - 1] < *restart) continue;
        lost++;
        *restart = ends.positions[end * ends.stride] + 1;
    }
    return lost;
}

/* Two chains: that of the window before starts again at `old`, that of the segment at `fresh`. Follows both
 * until no occurrence to come tells them apart, or the stretch ends: *met. Returns whether the second is
 * longer, as it is by one at most. */
static inline SF_ANYWHERE bool sf_pair_follow(uint32_t old, uint32_t *fresh, bool *met, const sf_pair_view *v,
                                              sf_delay delay, uint32_t from, uint32_t to)
{
    sf_pair_ends ends = sf_pair_ends_of(v, to);
    uint32_t early = v->since[from], starts = v->first[from + 1], old_count = 0, fresh_count = 0;
    *met = false;
    for (uint32_t end = ends.since; end < ends.count && !*met; end++) {
        uint32_t position = ends.positions[end * ends.stride], after = position + 1;
        if (position < old) continue;
        int64_t time = ends.times[end * ends.stride];
        while (early < starts && sf_pair_over(delay, v->times[early], time))
            early++;
        bool is_end = early > v->first[from] && time - v->times[early - 1] <= delay.high_ns;
        uint32_t next = is_end           ? v->positions[early - 1]
                        : early < starts ? v->positions[early]
                                         : UINT32_MAX; /* no occurrence to come starts before */
        *met = next >= old && next >= *fresh;
        if (*met || !is_end) continue;
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
    if (!met && !whole) return false;
    c->count -= lost - (is_longer ? 1 : 0);
    if (!met) c->restart = v->origin + fresh;
    return true;
}

#endif
