/* SPDX-License-Identifier: Apache-2.0 */
/** How long each part of a hop takes, for the status message. One thread at a time. */
#ifndef SF_PIPELINE_TIMES_H
#define SF_PIPELINE_TIMES_H

#include "core/durations.h"
#include "core/message.h"

typedef enum sf_hop_part {
    SF_PART_COUNT,    /**< taking in spikes, and counting the tracked episodes */
    SF_PART_DISCOVER, /**< re-mining the window */
    SF_PART_TEST, /**< gathering spikes for the test, adopting its results, and choosing what is tested next
                   */
    SF_PART_GRAPH,
    SF_PART_DENSITY,
    SF_PART_PUBLISH,
    SF_PART_HOP,   /**< the whole hop */
    SF_PART_PAIRS, /**< part of the graph: counting pairs */
    SF_PART_REACH, /**< part of the graph: what units reach, and components */
    SF_PART_PATTERNS,
    SF_PART_CENSUS,
    SF_PART_MINE,   /**< in the background, like the next: the newest window whose result was taken */
    SF_PART_REWIRE, /**< counts in rewired graphs */
    SF_PARTS,
    SF_PART_NONE /**< not reported */
} sf_hop_part;

typedef struct sf_times {
    sf_stage_status status[SF_PARTS];
    sf_durations took[SF_PARTS];
    int64_t ns[SF_PARTS]; /**< of this hop so far */
    int64_t hop_ns;       /**< a part that takes longer than this, in real time, has missed its hop */
} sf_times;

void sf_times_open(sf_times *times, int64_t hop_ns);

/** Whether this part runs beside the hops; it is no part of one, and may take longer. */
bool sf_times_is_beside(sf_hop_part part);

/** Starts a hop. */
void sf_times_begin(sf_times *times);

/** Adds to the duration of a part in this hop. */
void sf_times_add(sf_times *times, sf_hop_part part, int64_t took_ns);

/** Writes what is known so far into a status, except where parts ran. */
void sf_times_tell(const sf_times *times, sf_status_message *status);

#endif
