/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The counts of the tracked episodes in each window, in one of two ways with the same results: on the CPU
 * from a summary of each segment, which costs by the hop, or on a device from the whole window, which lies
 * there. With the device named in the configuration the device counts. With `auto` the CPU does until that
 * takes SF_COUNTING_WORTH_NS a hop; then both do once, and if the device takes less than half the time, it
 * goes on. What a device refuses or fails at the CPU takes over within the hop. Window thread only.
 */
#ifndef SF_PIPELINE_COUNTING_H
#define SF_PIPELINE_COUNTING_H

#include "mine/mine.h"
#include "pipeline/options.h"
#include "window/resident.h"
#include "window/tracker.h"

#include <synfire/mine.h>

#define SF_COUNTING_WORTH_NS INT64_C(4000000)

/** So many hops lie between two comparisons of the CPU with the device. */
#define SF_COUNTING_PATIENCE 100

/** Episodes, and the counter of them on the device where that counts them. */
typedef struct sf_counted {
    sf_episode *episodes;
    size_t count;
    sf_counter *counter; /**< NULL: the CPU */
} sf_counted;

typedef struct sf_counting {
    size_t unit_count;
    sf_device *device;     /**< NULL: the CPU alone */
    sf_resident *resident; /**< its own window on the device: discovery holds another one */
    bool always;           /**< on the device whatever it costs */
    sf_tracker *tracker;   /**< of the episodes, or of none while the device counts them */
    sf_counted present, next;
    bool preparing;
    int64_t cpu_ns;    /**< the newest hop took */
    uint32_t patience; /**< hops until the next comparison */
} sf_counting;

/** device: of the run, or NULL. */
int sf_counting_open(sf_counting *counting, const sf_live_options *config, sf_device *device,
                     size_t unit_count, sf_error *error);
void sf_counting_close(sf_counting *counting);

/** As sf_tracker_prepare and sf_tracker_go_on. */
int sf_counting_prepare(sf_counting *counting, const sf_episode *episodes, size_t count, sf_error *error);
int sf_counting_go_on(sf_counting *counting, int64_t until_ns, bool *ready, sf_error *error);

/** Appends a segment; where a window closes with it, drops what lies before that window. */
int sf_counting_push(sf_counting *counting, const sf_segment *segment, const sf_history *history,
                     sf_error *error);

/** The window that counts are asked for: positions first .. last - 1 of the history. */
typedef struct sf_counting_window {
    const sf_history *history;
    uint64_t first, last;
    const uint64_t *unit_spikes; /**< how many each unit has */
} sf_counting_window;

/** counts[i] = count of the i-th tracked episode in the window that the last segment closed. */
int sf_counting_counts(sf_counting *counting, const sf_counting_window *window, uint64_t *counts,
                       sf_error *error);

/** Where the newest counts were made: "cpu", "cuda:0". */
const char *sf_counting_device(const sf_counting *counting);

#endif
