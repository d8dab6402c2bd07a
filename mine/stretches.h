/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Mining divided by time: each device of a crew has one stretch of the spikes, and no others, so that copy,
 * layout and counting all divide.
 *
 * An episode counts in the whole stream what it counts in K stretches, each taken alone, and at most one
 * occurrence more for each seam between them (mine/seam.h). So one that reaches the threshold reaches
 * floor(threshold / K) in some stretch: each device finds the pairs that do, all count those that any has
 * found, and seams are added. Longer episodes are joined from frequent ones and counted in the same way. This
 * pays where chance alone seldom reaches the threshold in a stretch, so that few episodes are counted in
 * vain.
 */
#ifndef SF_MINE_STRETCHES_H
#define SF_MINE_STRETCHES_H

#include "core/backend/crew.h"
#include "mine/engine.h"
#include "mine/resident.h"

/** Where the stretches lie, and what each unit fires in them. */
typedef struct sf_stretches {
    uint32_t count; /**< below 2: not divided by time */
    /** of the recording's spikes, as sf_events_count_stretches has them */
    size_t bounds[SF_MOST_DEVICES + 1];
    uint64_t *unit_spikes; /**< owned, likewise */
} sf_stretches;

void sf_stretches_free(sf_stretches *stretches); /**< a zeroed one is allowed */

/** Spikes that are as much worth dividing as a second of a core's work (sf_devices_worth). */
#define SF_STRETCH_SPIKES_A_SECOND 1.2e6

/** Whether it pays for these events, outlined, of the whole recording. */
bool sf_stretches_pay(const sf_stretches *stretches, const sf_raw_spikes *raw, const sf_events *events,
                      const sf_mine_job *job);

/** What is mined. */
typedef struct sf_stretches_job {
    const sf_mine_job *job;
    const sf_raw_spikes *raw;
    sf_sent_spikes *sent;      /**< by member of the crew: its stretch, if it has that already */
    const sf_events *events;   /**< outlined, of the whole recording */
    const uint32_t *forbidden; /**< as in sf_backend_mine */
} sf_stretches_job;

/**
 * As `mine` of sf_engine; sending the spikes is added to seconds[1]. SF_UNAVAILABLE where a member cannot, or
 * too many episodes would have to be counted: then the tree is as it was, and members that have not failed
 * are there again.
 */
int sf_stretches_mine(const sf_stretches *stretches, sf_crew *crew, const sf_stretches_job *job,
                      sf_tree *tree, double *seconds, sf_error *error);

#endif
