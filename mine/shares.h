/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Counting and mining on a crew of devices, in shares. Results do not depend on how a job is divided:
 * candidates are counted one by one, episodes with different first units are found apart, and what stretches
 * of time count is joined exactly (mine/stretches.h).
 */
#ifndef SF_MINE_SHARES_H
#define SF_MINE_SHARES_H

#include "core/backend/crew.h"
#include "mine/engine.h"
#include "mine/resident.h"
#include "mine/stretches.h"

/** The events that a crew works on: a member gets them with its first share, an sf_device_stream as its part.
 */
typedef struct sf_crew_events {
    sf_crew *crew;
    const sf_events *events; /**< borrowed */
    sf_raw_spikes raw; /**< borrowed: where `spikes` is set, the events are outlined and members lay out */
    sf_sent_spikes sent[SF_MOST_DEVICES]; /**< owned, by member: what it has already, or its stretch */
    sf_stretches by_time; /**< owned; below 2 stretches, members get all events, and first units divide */
    double sending[SF_MOST_DEVICES]; /**< seconds that it took, by member */
} sf_crew_events;

/** Takes the events off a device: as `leave` of sf_way. */
void sf_crew_events_leave(sf_member *member);

/** As `count` of sf_engine. SF_UNAVAILABLE: no member can, and the CPU is to count. */
int sf_crew_count(sf_crew_events *on, const sf_engine *engine, uint32_t *counts, const sf_count_job *job,
                  sf_error *error);

/** As `mine` of sf_engine; what sending the events took is added to seconds[1]. SF_UNAVAILABLE: no member
 * can, and the tree is as it was. */
int sf_crew_mine(sf_crew_events *on, const sf_engine *engine, sf_tree *tree, double *seconds,
                 const sf_mine_job *job, sf_error *error);

/** The events have been laid out since: members that had no room for raw spikes take part again. False: there
 * is none. */
bool sf_crew_laid_out(sf_crew_events *on);

#endif
