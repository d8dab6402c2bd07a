/* SPDX-License-Identifier: Apache-2.0 */
/** Whole trains of surrogates (core/backend/surrogate.h), each in order of time. */
#ifndef SF_MINE_SURROGATE_MOVE_H
#define SF_MINE_SURROGATE_MOVE_H

#include "core/backend/surrogates.h"
#include "mine/dither.h"
#include "mine/events.h"

/** The trains of a plan. Events and plan are borrowed. */
typedef struct sf_mover {
    const sf_events *events;
    const sf_surrogate_plan *plan;
    int64_t *trains;    /**< times by unit, where sf_events.first says; NULL: spikes keep their order */
    uint32_t longest;   /**< spikes of the longest train */
    int64_t reach_ns;   /**< no spike moves further */
    sf_dither *dithers; /**< by unit: of rules that look at a spike's neighbours; else NULL */
} sf_mover;

/** Whether all spikes of a surrogate move by as much; then no train is moved by itself. */
static inline bool sf_mover_keeps_order(const sf_surrogate_plan *plan)
{
    return plan->rule.kind == SF_SURROGATE_DISPLACED;
}

/** SF_NO_MEMORY; sf_mover_close in any case. */
int sf_mover_open(sf_mover *mover, const sf_events *events, const sf_surrogate_plan *plan);
void sf_mover_close(sf_mover *mover); /**< a zeroed object is allowed */

/** What one thread moves trains with. */
typedef struct sf_mover_room {
    sf_spike *spikes, *sorted;
    int64_t *fired, *goes; /**< of a dithered train: times of the rule, recorded and moved; or NULL */
} sf_mover_room;

int sf_mover_room_open(sf_mover_room *room, const sf_mover *mover); /**< SF_NO_MEMORY */
void sf_mover_room_close(sf_mover_room *room);                      /**< a zeroed object is allowed */

/** The times of a unit's train in a surrogate, on the clock of the events, ascending. */
void sf_mover_move(int64_t *times, const sf_mover *mover, uint32_t unit, uint32_t surrogate,
                   sf_mover_room *room);

#endif
