/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Exact counts of a list of episodes in a window that slides over the merged stream by whole segments. Every
 * segment is summarised once per episode; the cost of a hop does not depend on the window's length. One
 * thread.
 */
#ifndef SF_WINDOW_TRACKER_H
#define SF_WINDOW_TRACKER_H

#include "window/segment.h"

#include <synfire/mine.h>

typedef struct sf_tracker sf_tracker;

/** window_ns: how long windows are, for the room that is made ahead; 0: not known. SF_NO_MEMORY. */
int sf_tracker_open(sf_tracker **tracker, size_t unit_count, int64_t window_ns, sf_error *error);
void sf_tracker_close(sf_tracker *tracker);

/**
 * From now on exactly these episodes are tracked, in this order (an episode may stand there twice). Those
 * that were tracked before keep their summaries; for the others the segments already in the window are
 * summarised, so that all counts are of the whole window at once. SF_DATA where an episode is not valid,
 * SF_NO_MEMORY; nothing has then changed.
 */
int sf_tracker_set(sf_tracker *tracker, const sf_episode *episodes, size_t count, sf_error *error);

/**
 * The same in steps, so that no hop pays for it all: begins to prepare a list in place of one that is being
 * prepared, while the present one is tracked on.
 */
int sf_tracker_prepare(sf_tracker *tracker, const sf_episode *episodes, size_t count, sf_error *error);

/**
 * Goes on preparing until the monotonic clock has passed until_ns, by one episode at least. *ready: all is
 * prepared, and the new list has taken the place of the present one; false where none is being prepared.
 * SF_NO_MEMORY: what was prepared is dropped.
 */
int sf_tracker_go_on(sf_tracker *tracker, int64_t until_ns, bool *ready, sf_error *error);

/**
 * Appends a segment to the window; `spikes` are those at its positions. Segments follow one another without a
 * gap. SF_DATA where a spike's unit does not exist, SF_NO_MEMORY; after a failure the tracker can only be
 * closed.
 */
int sf_tracker_push(sf_tracker *tracker, const sf_segment *segment, const sf_spike *spikes, sf_error *error);

/** Drops the segments that start before the window does. SF_NO_MEMORY as with push. */
int sf_tracker_drop_before(sf_tracker *tracker, int64_t window_start_ns, sf_error *error);

/** The segments in the window, of sf_segment; as they are until the next call. */
const sf_queue *sf_tracker_segments(const sf_tracker *tracker);

/**
 * Tracks nothing from now on, and keeps no spikes: which segments are in the window is all that is left.
 * Until sf_tracker_wake it takes no list.
 */
void sf_tracker_rest(sf_tracker *tracker);

/** Takes lists again; the history has the spikes of the segments in the window. SF_NO_MEMORY, SF_DATA as with
 * push. */
int sf_tracker_wake(sf_tracker *tracker, const sf_history *history, sf_error *error);

/** Its count in the window: that of the same slice of the stream taken alone. */
uint64_t sf_tracker_count(const sf_tracker *tracker, size_t index);

#endif
