/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What the interval engine (interval_search.c) and its twin for surrogates (surrogates.c) write down.
 * Everything is a position: a place in the order of spikes by (time, unit).
 */
#ifndef SF_MINE_POSITIONS_H
#define SF_MINE_POSITIONS_H

#include "core/backend/episodes.h"

#include <stdint.h>

/** The positions that follow a spike by a delay: from <= p < to. */
typedef struct sf_followers {
    uint32_t from, to;
} sf_followers;

/** A spike that can end an occurrence, and the latest that can start one ending there. */
typedef struct sf_list_entry {
    uint32_t end, start;
} sf_list_entry;

/** Positions from <= p < to that belong to one end, with that end's start. */
typedef struct sf_window {
    uint32_t from, to, start;
} sf_window;

/** Counting without a list of occurrences. Zero-initialise. */
typedef struct sf_greedy_count {
    uint32_t restart; /**< the first position that the next occurrence may start at */
    uint32_t count;
} sf_greedy_count;

/** An occurrence from `start`, after which the next may start at `after`, is counted if it can be. */
static inline void sf_greedy_take(sf_greedy_count *into, uint32_t start, uint32_t after)
{
    int takes = start >= into->restart;
    into->count += (uint32_t)takes;
    into->restart = takes ? after : into->restart;
}

/** How many of `count` ascending times are at or before `limit`, where the first `at` of them are. Goes on
 * four at a time, since a branch on each would be a coin toss. */
static inline uint32_t sf_times_until(const int64_t *times, uint32_t count, uint32_t at, int64_t limit)
{
    uint32_t passed = 4;
    while (passed == 4 && count - at >= 4) {
        const int64_t *next = times + at;
        passed = (uint32_t)(next[0] <= limit) + (next[1] <= limit) + (next[2] <= limit) + (next[3] <= limit);
        at += passed;
    }
    while (at < count && times[at] <= limit)
        at++;
    return at;
}

/** The first of `count` ascending times from place `at` on that is not before `time`: looked for in steps
 * that double. */
static inline uint32_t sf_times_from(const int64_t *times, uint32_t at, uint32_t count, int64_t time)
{
    uint32_t step = 1, end = at;
    while (end < count && times[end] < time) {
        at = end + 1;
        end = count - end > step ? end + step : count;
        step *= 2;
    }
    while (at < end) {
        uint32_t middle = at + (end - at) / 2;
        if (times[middle] < time)
            at = middle + 1;
        else
            end = middle;
    }
    return at;
}

/**
 * followers[p] = the positions among `to` that follow from[p] by the delay, for begin <= p < end; both times
 * ascend, `to` has `count`. Cost: linear in what is looked at.
 */
void sf_followers_find(sf_followers *followers, const int64_t *from, uint32_t begin, uint32_t end,
                       const int64_t *to, uint32_t count, sf_delay delay);

#endif
