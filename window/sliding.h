/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A sliding window over segment summaries of one episode that keeps the window's total at O(1) compositions
 * per push and per drop in the worst case: at most SF_SLIDING_PUSH and SF_SLIDING_DROP of them.
 *
 * It is the de-amortised two-stack queue of Tangwongsan, Hirzel and Schneider (Low-Latency Sliding-Window
 * Aggregation in Worst-Case Constant Time, DEBS 2017, in its variant with one value per element). A plain
 * two-stack queue turns its whole back list over at once; here that work is spread over the operations before
 * it is needed. Between the indexes front <= left <= right <= accumulated <= back <= end:
 *
 *     [front, left)         the summary of everything from here to `back`
 *     [left, right)         the summary from here to `right`; to be completed, one a step
 *     [right, accumulated)  the segment's own summary; to be accumulated from the end, one a step
 *     [accumulated, back)   the summary from here to `back`
 *     [back, end)           the segment's own summary; `recent` is that of all of them
 *
 * [left, right) and [right, accumulated) are equally long, so both are done at the same time. One thread.
 */
#ifndef SF_WINDOW_SLIDING_H
#define SF_WINDOW_SLIDING_H

#include "window/queue.h"
#include "window/summary.h"

#define SF_SLIDING_PUSH 3
#define SF_SLIDING_DROP 2

typedef struct sf_sliding {
    sf_queue slots; /**< of sf_summary; its begin and end are front and end */
    uint64_t left, right, accumulated, back;
    sf_summary across; /**< from `right` to `back` */
    sf_summary recent; /**< from `back` to the end */
    sf_summary spare;
    uint64_t compositions; /**< made since the start */
} sf_sliding;

void sf_sliding_open(sf_sliding *sliding);
void sf_sliding_close(sf_sliding *sliding);

/**
 * Appends the summary of the segment that follows. The content changes hands: *summary then holds memory to
 * be used again. SF_NO_MEMORY; after a failure the window can only be closed.
 */
int sf_sliding_push(sf_sliding *sliding, sf_summary *summary, sf_error *error);

/** Drops the oldest segment, if there is one. SF_NO_MEMORY as with push. */
int sf_sliding_drop(sf_sliding *sliding, sf_error *error);

/** Segments in the window. */
static inline uint64_t sf_sliding_length(const sf_sliding *sliding)
{
    return sliding->slots.end - sliding->slots.begin;
}

/** The count of the window taken alone: nothing that starts before its first segment. No composition. */
uint64_t sf_sliding_count(const sf_sliding *sliding);

#endif
