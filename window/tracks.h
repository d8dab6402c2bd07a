/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Episodes tracked on a device: what window/tracker.h does, where the window lies. Each segment is summarised
 * there once for all episodes; whenever 2, 4, 8, ... segments are complete, their summaries are composed, so
 * that any window is made of few: at most two of each length. A hop costs what the segment holds, one
 * composition in the mean and one for each length at most, and a look at those few.
 *
 * Every function may return SF_UNAVAILABLE: the device has failed, or has no room. Then only closing is left,
 * and the CPU does the work. One thread.
 */
#ifndef SF_WINDOW_TRACKS_H
#define SF_WINDOW_TRACKS_H

#include "window/queue.h"
#include "window/resident.h"
#include "window/segment.h"
#include "window/track_list.h"

typedef struct sf_tracks sf_tracks;

/** Tracks nothing yet, in a window of these segments. The resident window is borrowed and held by nobody else
 * meanwhile. SF_UNAVAILABLE also where the plugin tracks nothing. */
int sf_tracks_open(sf_tracks **tracks, sf_resident *resident, size_t unit_count, const sf_queue *segments,
                   sf_error *error);
void sf_tracks_close(sf_tracks *tracks); /**< NULL is allowed */

/** As sf_tracker_prepare: the list to be tracked next, which is taken over; what it is given as is empty
 * then.
 */
int sf_tracks_prepare(sf_tracks *tracks, sf_track_list *episodes, sf_error *error);

/** As sf_tracker_go_on: what the list before has not is summarised in the window's segments, whose spikes the
 * history holds; some of them at least. */
int sf_tracks_go_on(sf_tracks *tracks, const sf_history *history, int64_t until_ns, bool *ready,
                    sf_error *error);

/** Appends the segment that follows, and drops those before a window. */
int sf_tracks_push(sf_tracks *tracks, const sf_segment *segment, const sf_history *history, sf_error *error);
void sf_tracks_drop_before(sf_tracks *tracks, int64_t window_start_ns);

uint64_t sf_tracks_segments(const sf_tracks *tracks); /**< in the window */

/** counts[i] becomes the count of the i-th episode in the segments held, taken alone. */
int sf_tracks_counts(sf_tracks *tracks, uint64_t *counts, sf_error *error);

#endif
