/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/tracking.h"

#include "core/error.h"
#include "core/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static int add(sf_tracking *tracking, const sf_episode *episode, bool pinned, const sf_units *units,
               sf_error *error)
{
    void *items = tracking->items;
    if (sf_reserve(&items, &tracking->capacity, tracking->count + 1, sizeof *tracking->items) != 0)
        return sf_fail_memory(error);
    tracking->items = items;
    sf_tracked *tracked = &tracking->items[tracking->count++];
    *tracked = (sf_tracked){.episode = *episode, .pinned = pinned};
    sf_episode_id(tracked->id, episode, units);
    return SF_OK;
}

static bool contains(const sf_tracking *tracking, const sf_episode *episode)
{
    for (size_t i = 0; i < tracking->count; i++)
        if (sf_episode_compare(&tracking->items[i].episode, episode) == 0)
            return true;
    return false;
}

int sf_tracking_pin(sf_tracking *tracking, const sf_live_options *config, const sf_units *units,
                    sf_error *error)
{
    for (uint32_t i = 0; i < config->track_count; i++) {
        char key[32];
        snprintf(key, sizeof key, "track.%" PRIu32, i);
        sf_episode episode;
        sf_error reason;
        if (sf_episode_parse(&episode, config->track[i], units, &reason) != SF_OK)
            return sf_live_refuse(key, error, "%s: %s", reason.place, reason.text);
        if (contains(tracking, &episode))
            return sf_live_refuse(key, error, "the episode '%s' is listed twice", config->track[i]);
        int status = add(tracking, &episode, true, units, error);
        if (status != SF_OK)
            return status;
    }
    return SF_OK;
}

int sf_tracking_pin_one(sf_tracking *tracking, const sf_episode *episode, const sf_units *units,
                        sf_error *error)
{
    return contains(tracking, episode) ? SF_OK : add(tracking, episode, true, units, error);
}

static int by_episode(const void *a, const void *b)
{
    return sf_episode_compare(a, b);
}

int sf_tracking_renew(sf_tracking *next, const sf_tracking *tracking, sf_episode *found, size_t count,
                      const sf_units *units, sf_error *error)
{
    *next = (sf_tracking){0};
    int status = SF_OK;
    for (size_t i = 0; i < tracking->count && status == SF_OK; i++)
        if (tracking->items[i].pinned)
            status = add(next, &tracking->items[i].episode, true, units, error);
    sf_tracking pins = *next;
    if (count > 0)
        qsort(found, count, sizeof *found, by_episode);
    for (size_t i = 0; i < count && status == SF_OK; i++) {
        pins.items = next->items;
        if (!contains(&pins, &found[i]))
            status = add(next, &found[i], false, units, error);
    }
    if (status != SF_OK)
        sf_tracking_free(next);
    return status;
}

int sf_tracked_prepare(sf_tracked_episodes *tracked, sf_counting *counting, sf_error *error)
{
    size_t count = tracked->next.count;
    sf_episode *episodes = sf_alloc(count, sizeof *episodes);
    if (episodes == NULL)
        return sf_fail_memory(error);
    for (size_t i = 0; i < count; i++)
        episodes[i] = tracked->next.items[i].episode;
    int status = sf_counting_prepare(counting, episodes, count, error);
    sf_free(episodes);
    tracked->preparing = status == SF_OK;
    return status;
}

int sf_tracked_go_on(sf_tracked_episodes *tracked, sf_counting *counting, const sf_history *history,
                     int64_t until_ns, sf_error *error)
{
    bool ready;
    int status = sf_counting_go_on(counting, history, until_ns, &ready, error);
    if (status != SF_OK || !ready)
        return status;
    sf_tracking_free(&tracked->now);
    tracked->now = tracked->next;
    tracked->next = (sf_tracking){0};
    tracked->preparing = false;
    return SF_OK;
}

void sf_tracking_free(sf_tracking *tracking)
{
    sf_free(tracking->items);
    *tracking = (sf_tracking){0};
}
