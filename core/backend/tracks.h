/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A family of jobs of backends: the summaries of a stream's segments for many episodes (window/summary.h),
 * which stay on the device, and their compositions. A table is one summary of each episode of a list, all of
 * the same segment. window/tracks.h is the caller's side.
 */
#ifndef SF_CORE_BACKEND_TRACKS_H
#define SF_CORE_BACKEND_TRACKS_H

#include "core/backend/episodes.h"

typedef struct sf_backend_tracks sf_backend_tracks; /**< a list of episodes */
typedef struct sf_backend_table sf_backend_table;

/** Of an episode that the list before has not. */
#define SF_TRACK_NEW UINT32_MAX

/** More tables that one window consists of. */
#define SF_BACKEND_MOST_TABLES 64

/** Episodes in the order that a device has them in, ascending by size: node n of episode e is at
 * n * count + e. */
typedef struct sf_backend_track_list {
    uint32_t count;
    uint32_t of_size[SF_EPISODE_MAX_SIZE + 2]; /**< those of size s are of_size[s] .. of_size[s + 1] - 1 */
    uint32_t *units;                           /**< of the streams that will be summarised */
    int64_t *lows, *highs;                     /**< of the link after the node */
} sf_backend_track_list;

/** Positions first .. last - 1 of a stream, whose spike 0 is at position `origin` of the spikes that come in.
 * It holds as many spikes before the segment as occurrences may reach back. */
typedef struct sf_backend_segment {
    uint64_t origin;
    uint32_t first, last;
} sf_backend_segment;

struct sf_backend_tracking {
    /** known[i]: which of the list before episode i is, or SF_TRACK_NEW. Both are borrowed for the call. */
    int (*open)(sf_backend_tracks **tracks, sf_backend_device *device, const sf_backend_track_list *episodes,
                const uint32_t *known, sf_error *error);
    void (*close)(sf_backend_tracks *tracks); /**< NULL is allowed */
    /**
     * The summaries of a segment, whose stream may be NULL where it has no spike. `before`: the table of the
     * same segment for the list before, from which known ones are taken; or NULL, and all are made.
     */
    int (*summarise)(sf_backend_table **table, sf_backend_tracks *tracks, sf_backend_stream *stream,
                     const sf_backend_segment *segment, const sf_backend_table *before, sf_error *error);
    /** Joins two segments, the second of which follows the first. */
    int (*compose)(sf_backend_table **table, sf_backend_tracks *tracks, const sf_backend_table *left,
                   const sf_backend_table *right, sf_error *error);
    void (*close_table)(sf_backend_tracks *tracks, sf_backend_table *table); /**< NULL is allowed */
    /** counts[i] = what episode i counts in the segments of the tables, which follow one another from
     * position `from` on, taken alone. At most SF_BACKEND_MOST_TABLES, of fewer than 2^31 spikes together. */
    int (*count)(sf_backend_tracks *tracks, const sf_backend_table *const *tables, uint32_t table_count,
                 uint64_t from, uint32_t *counts, sf_error *error);
};

#endif
