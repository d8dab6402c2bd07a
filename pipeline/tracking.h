/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Which episodes are counted every hop: those the configuration names, and those that discovery found in the
 * newest window it mined, the most remarkable first.
 */
#ifndef SF_PIPELINE_TRACKING_H
#define SF_PIPELINE_TRACKING_H

#include "core/message.h"
#include "mine/folding.h"
#include "pipeline/counting.h"
#include "pipeline/options.h"

#include <synfire/mine.h>

typedef struct sf_tracked {
    sf_episode episode;
    char id[SF_EPISODE_ID_SIZE];
    bool pinned; /**< named by the configuration: stays whatever discovery finds */
} sf_tracked;

/** A set of episodes in a stable order: pinned ones as configured, then by sf_episode_compare. */
typedef struct sf_tracking {
    sf_tracked *items;
    size_t count, capacity;
    sf_counted counted; /**< prepared for counting, if sf_tracking_ready was called, ... */
    sf_parts *parts;    /**< ... and the indices of each episode's parts */
    /** the window in which discovery found the list; empty: discovery has found nothing yet */
    sf_span mined;
} sf_tracking;

/** A hop, or a turn between two, spends 1/this of the hop length on preparing a list. */
#define SF_PREPARING_SHARE 40

/** The list that is tracked, and the next one while it is being prepared. */
typedef struct sf_tracked_episodes {
    sf_tracking now, next;
    bool preparing;
    bool went_on; /**< preparation continued between the last hop and this one, so the hop need not do it */
    int64_t every_ns; /**< stream time from the window of the previous list to that of `now`; 0: not known */
} sf_tracked_episodes;

/** Age of the list at a stream time, from the end of the window in which it was found; NaN: discovery has
 * found nothing yet. */
double sf_tracked_age_s(const sf_tracked_episodes *tracked, int64_t time_ns);

/** Adds an episode that stays tracked, unless it is already. SF_NO_MEMORY. */
int sf_tracking_pin_one(sf_tracking *tracking, const sf_episode *episode, const sf_units *units,
                        sf_error *error);

/** Parses and adds the episodes under `track`. SF_CONFIG at the entry. */
int sf_tracking_pin(sf_tracking *tracking, const sf_live_options *config, const sf_units *units,
                    sf_error *error);

/** Fills `next` with the pinned episodes of `tracking` and the found ones. SF_NO_MEMORY. */
int sf_tracking_renew(sf_tracking *next, const sf_tracking *tracking, const sf_episode *found, size_t count,
                      const sf_units *units, sf_error *error);

/** Prepares a list for counting and folding, so that the hop that adopts it need not; `there`: for a device,
 * too. Any thread. SF_NO_MEMORY. */
int sf_tracking_ready(sf_tracking *tracking, bool there, sf_error *error);

/** Starts to prepare counting of the episodes of `next`. SF_NO_MEMORY. */
int sf_tracked_prepare(sf_tracked_episodes *tracked, sf_counting *counting, const sf_history *history,
                       sf_error *error);

/** Continues to prepare until the monotonic clock reaches until_ns; a list that is ready is tracked from then
 * on. */
int sf_tracked_go_on(sf_tracked_episodes *tracked, sf_counting *counting, const sf_history *history,
                     int64_t until_ns, sf_error *error);

void sf_tracking_free(sf_tracking *tracking);

#endif
