/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What one segment of a stream does to the count of one episode, whatever came before it.
 *
 * Counting is greedy: an occurrence is taken as soon as it completes, and after it only occurrences that
 * start at the restart position (the end of the last one taken, plus one) or later qualify. All that a
 * segment needs from its past is therefore the restart position on entry, and all that it tells its future is
 * how many occurrences completed and the restart position on exit. A summary is this map, for the segment
 * [begin, end) of stream positions and for entries up to `begin`. Entries differ only where an occurrence
 * straddles `begin`, and chains from different entries soon coincide, so the map is a table of few steps;
 * where nothing completes, exit = entry. The table is minimal: equal maps have equal tables.
 *
 * Summaries of adjacent segments compose; composition is associative and not commutative.
 */
#ifndef SF_WINDOW_SUMMARY_H
#define SF_WINDOW_SUMMARY_H

#include <synfire/error.h>

typedef struct sf_summary_step {
    uint64_t until; /**< the last entry this holds for; the first follows the step before */
    uint64_t count; /**< occurrences that complete in the segment, at least 1 */
    uint64_t exit;  /**< restart position after the last of them */
} sf_summary_step;

/** Zero-initialised, it is the summary of an empty segment at position 0. */
typedef struct sf_summary {
    uint64_t begin, end;
    sf_summary_step *steps; /**< `until` ascends; entries beyond the last step pass unchanged */
    uint32_t step_count, capacity;
} sf_summary;

void sf_summary_free(sf_summary *summary);

/** Makes it the summary of a segment in which nothing completes; keeps its memory. */
void sf_summary_clear(sf_summary *summary, uint64_t begin, uint64_t end);

/** An event of the segment that ends occurrences. */
typedef struct sf_interval {
    uint64_t end;         /**< its position */
    uint64_t start;       /**< the latest position at which an occurrence that ends there starts */
    uint64_t count, exit; /**< scratch of sf_summary_build */
} sf_interval;

/**
 * Summarises [begin, end) from the events that end occurrences in it: `end` ascends, and `start` never
 * descends. Linear in `count`. SF_NO_MEMORY.
 */
int sf_summary_build(sf_summary *summary, uint64_t begin, uint64_t end, sf_interval *intervals, size_t count,
                     sf_error *error);

/**
 * The summary of left and right together, where left ends where right begins; `to` is neither of them and
 * keeps its memory. Linear in the number of steps. SF_NO_MEMORY.
 */
int sf_summary_compose(sf_summary *to, const sf_summary *left, const sf_summary *right, sf_error *error);

typedef struct sf_passage {
    uint64_t count; /**< occurrences completed on the way */
    uint64_t exit;  /**< restart position after them */
} sf_passage;

/** Looks the map up; entry <= summary->begin. */
sf_passage sf_summary_pass(const sf_summary *summary, uint64_t entry);

#endif
