/* SPDX-License-Identifier: Apache-2.0 */
/** Cutting the merged stream where windows begin and end, and summarising a segment for an episode. */
#ifndef SF_WINDOW_SEGMENT_H
#define SF_WINDOW_SEGMENT_H

#include "core/recording.h"
#include "window/history.h"
#include "window/summary.h"
#include "window/trains.h"

#include <synfire/mine.h>

/** A piece of the stream that no window boundary cuts. */
typedef struct sf_segment {
    uint64_t begin, end; /**< stream positions begin .. end - 1; may be empty */
    sf_span span;        /**< start_ns <= time < stop_ns */
    bool closes;         /**< a window ends with this segment; the fields below describe it */
    uint64_t hop;        /**< 0-based number of that window */
    sf_span window;
    bool partial; /**< the stream began or ended inside the window */
} sf_segment;

/**
 * Windows are anchored like those of `synfire count --window --hop`: the full ones start at anchor + i * hop
 * and last `window`. Before the first full one, a window that begins at the anchor closes every hop. The
 * window need not be a multiple of the hop, and may be shorter than it.
 */
typedef struct sf_cutter {
    int64_t window_ns, hop_ns;
    int64_t anchor_ns;
    bool anchored;
    int64_t next_start_ns, next_stop_ns; /**< the next places where a window starts and where one stops */
    int64_t last_cut_ns;
    uint64_t last_position;
    uint64_t hops;
} sf_cutter;

/** anchor_ns INT64_MIN: the first spike. SF_USAGE where window or hop is not positive. */
int sf_cutter_open(sf_cutter *cutter, int64_t anchor_ns, int64_t window_ns, int64_t hop_ns, sf_error *error);

/**
 * The next segment that is complete: every spike before watermark_ns is in the history. False where there is
 * none yet. The history must reach back to the end of the last segment.
 */
bool sf_cutter_next(sf_cutter *cutter, const sf_history *history, int64_t watermark_ns, sf_segment *segment);

/**
 * Passes over windows in a silence: where nothing fires for longer than silence_ns (0: however long), the
 * windows without a spike that end in it are not closed, though they keep their numbers. To be called before
 * sf_cutter_next; returns how many windows are left out.
 */
uint64_t sf_cutter_skip(sf_cutter *cutter, const sf_history *history, int64_t watermark_ns,
                        int64_t silence_ns);

/** After the last sf_cutter_next up to stop_ns, the end of the stream: what is left, closing a partial
 * window. False where nothing is left. */
bool sf_cutter_finish(sf_cutter *cutter, const sf_history *history, int64_t stop_ns, sf_segment *segment);

/** Working memory of sf_segment_summarise; zero-initialise, one per thread. */
typedef struct sf_segment_scratch {
    struct sf_reach *reaches, *extended;
    sf_interval *intervals;
    size_t reach_capacity, extended_capacity, interval_capacity;
} sf_segment_scratch;

void sf_segment_scratch_free(sf_segment_scratch *scratch);

/**
 * Summarises the stream positions [begin, end) for an episode that sf_episode_check accepts. The trains reach
 * back as far as any window that will hold the segment, or further; they may go on past `end`.
 *
 * For each prefix of the episode it keeps, for every event that can end an occurrence of the prefix, the
 * latest position at which one can start; extending by a node is one pass over that list and the node's
 * train. Only the part of each train within the episode's reach of the segment is looked at. SF_NO_MEMORY.
 */
int sf_segment_summarise(sf_summary *summary, const sf_trains *trains, const sf_episode *episode,
                         uint64_t begin, uint64_t end, sf_segment_scratch *scratch, sf_error *error);

#endif
