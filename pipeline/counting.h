/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Counts of the tracked episodes in each window. Two implementations give the same results: each summarises a
 * segment once and combines the summaries of a window's segments, on the CPU (window/tracker.h) or on a
 * device (window/tracks.h). A device named in the configuration always counts. With `auto` the faster one
 * does (contest.h): the device also summarises the window, over several hops, and its time per segment is
 * compared with the CPU's; a list too long for the CPU goes to the device at once. If a device refuses or
 * fails, the CPU takes over within the hop. Window thread only.
 */
#ifndef SF_PIPELINE_COUNTING_H
#define SF_PIPELINE_COUNTING_H

#include "pipeline/contest.h"
#include "pipeline/options.h"
#include "window/tracker.h"
#include "window/tracks.h"

#include <synfire/mine.h>

/** With `auto`, a list of at least this many episodes is prepared and counted on the device without a
 * comparison: the CPU would take 0.5 to 2 us per episode in each hop, and hundreds of them to summarise the
 * window. */
#define SF_COUNTING_SURE 5000

/** A list of tracked episodes. Zero-initialised, it is empty. */
typedef struct sf_counted {
    sf_episode *episodes;
    size_t count;
    bool has_list;
    sf_track_list list; /**< the same for a device, if requested and not yet handed to it */
} sf_counted;

/** Builds a list from episodes allocated by sf_alloc; takes ownership of them, also on failure. `there`:
 * build it for a device, too. Any thread. SF_NO_MEMORY. */
int sf_counted_make(sf_counted *counted, sf_episode *episodes, size_t count, bool there, sf_error *error);
void sf_counted_free(sf_counted *counted);

typedef struct sf_counting {
    size_t unit_count;
    sf_device *device;     /**< NULL: CPU only */
    sf_resident *resident; /**< its own window on the device, apart from that of discovery */
    sf_tracker *tracker;   /**< counts on the CPU; idle while the device counts */
    sf_tracks *tracks;     /**< counts on the device, if it counts or is being compared; or NULL */
    bool on_device;        /**< the device counts */
    sf_counted present, next;
    bool preparing;
    bool next_there; /**< the list being prepared is for the device */
    size_t sure;     /**< SF_COUNTING_SURE */
    sf_contest contest;
    int64_t trial_ns; /**< time that the device has taken so far for the window of the comparison */
} sf_counting;

/** device: the run's, or NULL. SF_NO_MEMORY. */
int sf_counting_open(sf_counting *counting, const sf_live_options *config, sf_device *device,
                     size_t unit_count, sf_error *error);
void sf_counting_close(sf_counting *counting);

/**
 * Counts one episode of an artificial stream on the device, so that the device loads its code, which takes
 * tens of milliseconds, before the first hop. Other device failures are ignored: the first hop will meet
 * them. SF_NO_MEMORY.
 */
int sf_counting_warm_up(const sf_live_options *config, sf_device *device, sf_error *error);

/** As sf_tracker_prepare and sf_tracker_go_on; the history holds the window's spikes. Takes over the list
 * `next`, which is empty afterwards. */
int sf_counting_prepare(sf_counting *counting, sf_counted *next, const sf_history *history, sf_error *error);
int sf_counting_go_on(sf_counting *counting, const sf_history *history, int64_t until_ns, bool *ready,
                      sf_error *error);

/** Appends a segment; if a window closes with it, drops what lies before that window. */
int sf_counting_push(sf_counting *counting, const sf_segment *segment, const sf_history *history,
                     sf_error *error);

/** counts[i] = count of the i-th tracked episode in the window that the last segment closed. */
int sf_counting_counts(sf_counting *counting, const sf_history *history, uint64_t *counts, sf_error *error);

/** Where the newest counts were made: "cpu", "cuda:0". */
const char *sf_counting_device(const sf_counting *counting);

#endif
