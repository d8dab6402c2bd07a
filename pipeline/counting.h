/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The counts of the tracked episodes in each window, in one of two ways with the same results: each segment
 * is summarised once, and a window's counts are made of its segments' summaries, on the CPU
 * (window/tracker.h) or on a device (window/tracks.h). With the device named in the configuration the device
 * counts. With `auto` the faster does (contest.h): the device summarises the window too, over some hops, and
 * its time for a segment is held against the CPU's; a list of so many episodes that the CPU has no chance is
 * the device's at once. What a device refuses or fails at the CPU takes over within the hop. Window thread
 * only.
 */
#ifndef SF_PIPELINE_COUNTING_H
#define SF_PIPELINE_COUNTING_H

#include "pipeline/contest.h"
#include "pipeline/options.h"
#include "window/tracker.h"
#include "window/tracks.h"

#include <synfire/mine.h>

/** With `auto` a list of so many is prepared and counted on the device without a comparison: the CPU would
 * take 0.5 to 2 us an episode in each hop, and hundreds of them to summarise the window. */
#define SF_COUNTING_SURE 5000

/** A list of tracked episodes. Zero-initialised, it is empty. */
typedef struct sf_counted {
    sf_episode *episodes;
    size_t count;
    bool has_list;
    sf_track_list list; /**< the same for a device, where that was asked for and has not taken it yet */
} sf_counted;

/** Makes a list of episodes, which are from sf_alloc and taken over, also where it fails; `there`: for a
 * device, too. Any thread. SF_NO_MEMORY. */
int sf_counted_make(sf_counted *counted, sf_episode *episodes, size_t count, bool there, sf_error *error);
void sf_counted_free(sf_counted *counted);

typedef struct sf_counting {
    size_t unit_count;
    sf_device *device;     /**< NULL: the CPU alone */
    sf_resident *resident; /**< its own window on the device: discovery holds another one */
    sf_tracker *tracker;   /**< of the episodes; it rests while the device counts them */
    sf_tracks *tracks;     /**< of the episodes on the device, where it counts them or is compared; or NULL */
    bool on_device;        /**< the device counts */
    sf_counted present, next;
    bool preparing;
    bool next_there; /**< the list that is prepared is the device's */
    size_t sure;     /**< SF_COUNTING_SURE */
    sf_contest contest;
    int64_t trial_ns; /**< the device has taken for the window so far that it is compared by */
} sf_counting;

/** device: of the run, or NULL. */
int sf_counting_open(sf_counting *counting, const sf_live_options *config, sf_device *device,
                     size_t unit_count, sf_error *error);
void sf_counting_close(sf_counting *counting);

/**
 * Counts an episode of a made-up stream on the device, so that no hop is the first: what a device loads for
 * it takes it tens of milliseconds. What the device cannot, the first hop will meet. SF_NO_MEMORY.
 */
int sf_counting_warm_up(const sf_live_options *config, sf_device *device, sf_error *error);

/** As sf_tracker_prepare and sf_tracker_go_on; the history has the window's spikes. The list is taken over,
 * and empty then. */
int sf_counting_prepare(sf_counting *counting, sf_counted *next, const sf_history *history, sf_error *error);
int sf_counting_go_on(sf_counting *counting, const sf_history *history, int64_t until_ns, bool *ready,
                      sf_error *error);

/** Appends a segment; where a window closes with it, drops what lies before that window. */
int sf_counting_push(sf_counting *counting, const sf_segment *segment, const sf_history *history,
                     sf_error *error);

/** counts[i] = count of the i-th tracked episode in the window that the last segment closed. */
int sf_counting_counts(sf_counting *counting, const sf_history *history, uint64_t *counts, sf_error *error);

/** Where the newest counts were made: "cpu", "cuda:0". */
const char *sf_counting_device(const sf_counting *counting);

#endif
