/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Counting in several surrogates at once, one in each lane of a vector. In order of time the i-th spike of a
 * shifted train lies no further from the i-th recorded one than a spike may move, so all surrogates look at
 * the same recorded spikes around it: these are looked up once, and held against every surrogate's time.
 */
#ifndef SF_MINE_SURROGATE_LANES_H
#define SF_MINE_SURROGATE_LANES_H

#include "mine/positions.h"
#include "mine/surrogate_move.h"

#define SF_SHIFT_LANES 32u

/** A count in each surrogate; sf_greedy_count has the members. Zero-initialise. */
typedef struct sf_lane_count {
    int32_t restart[SF_SHIFT_LANES];
    int32_t count[SF_SHIFT_LANES];
} sf_lane_count;

/** What all trains of a plan look at. */
typedef struct sf_shift_lanes {
    const sf_mover *mover;
    /** By recorded position: the recorded positions that a spike moved from there may follow or come after.
     */
    sf_followers *around;
} sf_shift_lanes;

/** Whether lanes pay: offsets are small enough, spikes few enough, and scanning the spikes around one is
 * cheaper than looking each spike up in each surrogate. */
bool sf_shift_lanes_pay(const sf_mover *mover);

int sf_shift_lanes_open(sf_shift_lanes *lanes, const sf_mover *mover); /**< SF_NO_MEMORY; close in any case */
void sf_shift_lanes_close(sf_shift_lanes *lanes);                      /**< a zeroed object is allowed */

/** A train in SF_SHIFT_LANES surrogates, and what a thread moves it with. */
typedef struct sf_lane_train {
    uint32_t unit, count;
    const int64_t *recorded; /**< its times */
    int32_t *offsets;        /**< [spike][lane]: ns after the recorded time, both in order */
    int32_t *after;          /**< [spike][lane]: recorded spikes with (time, unit) <= its own */
    int64_t *times;
    sf_mover_room room;
} sf_lane_train;

int sf_lane_train_open(sf_lane_train *train, const sf_mover *mover); /**< SF_NO_MEMORY */
void sf_lane_train_close(sf_lane_train *train);                      /**< a zeroed object is allowed */

/** Moves a unit's train in surrogates first .. first + count - 1, 1 .. SF_SHIFT_LANES of them; the lanes
 * behind these hold it as it was recorded. */
void sf_shift_lanes_move(sf_lane_train *train, const sf_shift_lanes *lanes, uint32_t unit, uint32_t first,
                         uint32_t count);

/** Counts each unit followed by the train by a delay: counts[unit], zeroed before. */
void sf_shift_lanes_sweep(sf_lane_count *counts, const sf_shift_lanes *lanes, const sf_lane_train *train,
                          sf_delay delay);

/** Counts a list of ends followed by the train. */
void sf_shift_lanes_merge(sf_lane_count *count, const sf_shift_lanes *lanes, const sf_lane_train *train,
                          const sf_list_entry *list, size_t length, sf_delay delay);

#endif
