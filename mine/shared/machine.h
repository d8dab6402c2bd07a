/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The state machine that counts one episode spike by spike, the same on the CPU and on GPUs: Algorithm 1 of
 * Cao et al., with a ring of marks a node in place of lists of any length.
 *
 * A mark of node i is a spike that can end the first i + 1 nodes, with the latest spike that can start them
 * there. A spike that completes an occurrence counts if that occurrence starts where the last one counted has
 * ended, or later. Marks older than the longest delay are never looked at again, so a ring with room for the
 * most spikes that a unit fires within that time forgets nothing that matters.
 *
 * With room for one mark and delays whose lower bound is -1 it counts the episode without lower bounds, which
 * is never less than the episode's count.
 */
#ifndef SF_MINE_SHARED_MACHINE_H
#define SF_MINE_SHARED_MACHINE_H

#include "core/anywhere.h"

#include <synfire/mine.h>

typedef struct sf_mark {
    int64_t time;
    uint32_t start;
} sf_mark;

/** Where one unit fires: the positions at places 0, stride, 2 * stride, ... before `end`. */
typedef struct sf_train_view {
    const uint32_t *next, *end;
} sf_train_view;

typedef struct sf_machine {
    uint32_t size;
    const int64_t *times;                      /**< by position */
    sf_train_view trains[SF_EPISODE_MAX_SIZE]; /**< by node: spikes not yet taken */
    uint32_t stride;
    sf_delay delays[SF_EPISODE_MAX_SIZE];
    sf_mark *marks; /**< (size - 1) * room, `spread` apart from each other */
    uint32_t room;
    size_t spread;
    uint32_t made[SF_EPISODE_MAX_SIZE]; /**< by node: marks made so far */
    uint32_t restart;                   /**< occurrences that start before it do not count */
} sf_machine;

#define SF_NO_POSITION UINT32_MAX

typedef struct sf_chain_end {
    uint32_t start, end;
} sf_chain_end;

static inline SF_ANYWHERE sf_mark *sf_machine_mark(const sf_machine *m, uint32_t node, uint32_t number)
{
    return &m->marks[((size_t)node * m->room + number % m->room) * m->spread];
}

/** The start that a spike at `time` has by the newest mark of a node that it may follow; SF_NO_POSITION. */
static inline SF_ANYWHERE uint32_t sf_machine_start(const sf_machine *m, uint32_t node, int64_t time)
{
    uint32_t made = m->made[node], kept = made < m->room ? made : m->room;
    for (uint32_t k = 1; k <= kept; k++) {
        const sf_mark *mark = sf_machine_mark(m, node, made - k);
        int64_t dt = time - mark->time;
        if (dt > m->delays[node].high_ns) break;
        if (dt > m->delays[node].low_ns) return mark->start;
    }
    return SF_NO_POSITION;
}

/** Takes one node's next spike, at position p. True where it completes an occurrence that counts. */
static inline SF_ANYWHERE bool sf_machine_take(sf_machine *m, uint32_t node, uint32_t p, sf_chain_end *done)
{
    int64_t time = m->times[p];
    uint32_t start = node == 0 ? p : sf_machine_start(m, node - 1, time);
    if (start == SF_NO_POSITION || start < m->restart) return false;
    if (node + 1 < m->size) {
        sf_mark *mark = sf_machine_mark(m, node, m->made[node]++);
        mark->time = time;
        mark->start = start;
        return false;
    }
    m->restart = p + 1;
    done->start = start;
    done->end = p;
    return true;
}

/**
 * Takes the spikes before position `until`, up to and with the next that completes an occurrence: true, and
 * *done is the occurrence. Later nodes come first, so that no spike follows itself.
 */
static inline SF_ANYWHERE bool sf_machine_run(sf_machine *m, uint32_t until, sf_chain_end *done)
{
    for (;;) {
        uint32_t p = until;
        for (uint32_t node = 0; node < m->size; node++)
            if (m->trains[node].next < m->trains[node].end && *m->trains[node].next < p)
                p = *m->trains[node].next;
        if (p >= until) return false;
        bool complete = false;
        for (uint32_t node = m->size; node-- > 0;) {
            if (m->trains[node].next >= m->trains[node].end || *m->trains[node].next != p) continue;
            m->trains[node].next += m->stride;
            complete = sf_machine_take(m, node, p, done) || complete;
        }
        if (complete) return true;
    }
}

/** Completions before `until`; *done is the last. */
static inline SF_ANYWHERE uint32_t sf_machine_count(sf_machine *m, uint32_t until, sf_chain_end *done)
{
    uint32_t count = 0;
    while (sf_machine_run(m, until, done))
        count++;
    return count;
}

/** Moves the machine to a position from which it starts as new: nothing before it exists. */
static inline SF_ANYWHERE void sf_machine_begin(sf_machine *m, uint32_t from)
{
    for (uint32_t node = 0; node < m->size; node++) {
        sf_train_view *train = &m->trains[node];
        size_t low = 0, high = (size_t)(train->end - train->next) / m->stride;
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            if (train->next[middle * m->stride] < from)
                low = middle + 1;
            else
                high = middle;
        }
        train->next += low * m->stride;
        m->made[node] = 0;
    }
    m->restart = from;
}

/* ---- segments ---- */

/**
 * What one machine says of one segment: the paper's (a, count, b). `entry` is the end of an occurrence that
 * starts before the segment, the first that it completes within; `exit` of one that starts within and
 * completes in the next. SF_NO_POSITION: there is none. Segments last longer than the episode, so it always
 * is the next.
 */
typedef struct sf_segment_count {
    uint32_t entry, exit, count;
} sf_segment_count;

/**
 * Runs over the segment begin <= p < end and on until what started within can no longer complete. `entry` and
 * what the machine did before are the caller's; past: the first position later than `end` by the episode's
 * span.
 */
static inline SF_ANYWHERE sf_segment_count sf_machine_segment(sf_machine *m, uint32_t begin, uint32_t end,
                                                              uint32_t past)
{
    sf_segment_count own = {SF_NO_POSITION, SF_NO_POSITION, 0};
    sf_chain_end done;
    for (; sf_machine_run(m, end, &done); own.count++)
        if (own.count == 0 && done.start < begin) own.entry = done.end;
    if (sf_machine_run(m, past, &done) && done.start < end) own.exit = done.end;
    return own;
}

/**
 * The count over all segments from what size machines said of each, at counts[segment * size + machine]:
 * machine 0 began at the segment's first spike, so it has no entry. Where no machine entered as the segment
 * before was left, the segment is counted again from there by a copy of `fresh`, which has taken nothing yet.
 * bounds has segments + 1 positions, past one for each segment. *recounted: how many were counted again.
 */
static inline SF_ANYWHERE uint32_t sf_machine_join(const sf_machine *fresh, const sf_segment_count *counts,
                                                   const uint32_t *bounds, const uint32_t *past,
                                                   uint32_t segments, uint32_t *recounted)
{
    *recounted = 0;
    uint32_t total = 0,
             left = SF_NO_POSITION; /* the end of the occurrence that runs over, once it is counted */
    for (uint32_t s = 0; s < segments; s++) {
        const sf_segment_count *own = counts + (size_t)s * fresh->size;
        uint32_t k = 0;
        while (k < fresh->size && own[k].entry != left)
            k++;
        sf_segment_count found;
        if (k < fresh->size) {
            found = own[k];
        } else {
            sf_machine again = *fresh;
            sf_machine_begin(&again, left + 1);
            found = sf_machine_segment(&again, bounds[s], bounds[s + 1], past[s]);
            found.count++; /* the one that ran over */
            ++*recounted;
        }
        total += found.count;
        left = found.exit;
    }
    return total;
}

#endif
