/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/tracking.h"

#include "core/error.h"
#include "core/memory.h"

#include <inttypes.h>
#include <math.h>
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
        if (sf_episode_compare(&tracking->items[i].episode, episode) == 0) return true;
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
        if (status != SF_OK) return status;
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
    const sf_episode *const *left = a, *const *right = b;
    return sf_episode_compare(*left, *right);
}

/* Which they are, in order. NULL: no memory. */
static const sf_episode **sort(const sf_episode *first, size_t stride, size_t count)
{
    const sf_episode **sorted = sf_resize(NULL, count, sizeof *sorted);
    for (size_t i = 0; sorted != NULL && i < count; i++)
        sorted[i] = (const sf_episode *)((const char *)first + i * stride);
    if (sorted != NULL && count > 0) qsort(sorted, count, sizeof *sorted, by_episode);
    return sorted;
}

static int reserve(sf_tracking *tracking, size_t count, sf_error *error)
{
    tracking->items = sf_resize(NULL, count, sizeof *tracking->items);
    tracking->capacity = count;
    if (tracking->items == NULL) return sf_fail_memory(error);
    return SF_OK;
}

/* Adds found episodes in order; pinned ones are not added again. */
static int add_found(sf_tracking *next, const sf_episode *found, size_t count, const sf_units *units,
                     sf_error *error)
{
    size_t pin_count = next->count;
    const sf_episode **pins = sort(&next->items->episode, sizeof *next->items, pin_count),
                     **sorted = sort(found, sizeof *found, count);
    int status = pins != NULL && sorted != NULL ? SF_OK : sf_fail_memory(error);
    for (size_t i = 0, k = 0; i < count && status == SF_OK; i++) {
        int order = 1;
        while (k < pin_count && (order = sf_episode_compare(pins[k], sorted[i])) < 0)
            k++;
        if (k == pin_count || order != 0) status = add(next, sorted[i], false, units, error);
    }
    sf_free(pins);
    sf_free(sorted);
    return status;
}

int sf_tracking_renew(sf_tracking *next, const sf_tracking *tracking, const sf_episode *found, size_t count,
                      const sf_units *units, sf_error *error)
{
    *next = (sf_tracking){0};
    int status = reserve(next, tracking->count + count, error);
    for (size_t i = 0; i < tracking->count && status == SF_OK; i++)
        if (tracking->items[i].pinned) status = add(next, &tracking->items[i].episode, true, units, error);
    if (status == SF_OK) status = add_found(next, found, count, units, error);
    if (status != SF_OK) sf_tracking_free(next);
    return status;
}

int sf_tracking_ready(sf_tracking *tracking, bool there, sf_error *error)
{
    sf_episode *episodes = sf_resize(NULL, tracking->count, sizeof *episodes);
    sf_free(tracking->parts);
    tracking->parts = sf_resize(NULL, tracking->count, sizeof *tracking->parts);
    int status = episodes != NULL && tracking->parts != NULL ? SF_OK : sf_fail_memory(error);
    for (size_t i = 0; status == SF_OK && i < tracking->count; i++)
        episodes[i] = tracking->items[i].episode;
    if (status == SF_OK) status = sf_fold_find(tracking->parts, episodes, tracking->count, error);
    if (status != SF_OK) {
        sf_free(episodes);
        return status;
    }
    return sf_counted_make(&tracking->counted, episodes, tracking->count, there, error);
}

int sf_tracked_prepare(sf_tracked_episodes *tracked, sf_counting *counting, const sf_history *history,
                       sf_error *error)
{
    int status =
        tracked->next.counted.episodes == NULL ? sf_tracking_ready(&tracked->next, false, error) : SF_OK;
    if (status == SF_OK) status = sf_counting_prepare(counting, &tracked->next.counted, history, error);
    tracked->preparing = status == SF_OK;
    return status;
}

static bool was_mined(const sf_tracking *tracking)
{
    return tracking->mined.stop_ns > tracking->mined.start_ns;
}

int sf_tracked_go_on(sf_tracked_episodes *tracked, sf_counting *counting, const sf_history *history,
                     int64_t until_ns, sf_error *error)
{
    bool ready;
    int status = sf_counting_go_on(counting, history, until_ns, &ready, error);
    if (status != SF_OK || !ready) return status;
    if (was_mined(&tracked->now))
        tracked->every_ns = tracked->next.mined.stop_ns - tracked->now.mined.stop_ns;
    sf_tracking_free(&tracked->now);
    tracked->now = tracked->next;
    tracked->next = (sf_tracking){0};
    tracked->preparing = false;
    return SF_OK;
}

double sf_tracked_age_s(const sf_tracked_episodes *tracked, int64_t time_ns)
{
    return was_mined(&tracked->now) ? (double)(time_ns - tracked->now.mined.stop_ns) * 1e-9 : NAN;
}

void sf_tracking_free(sf_tracking *tracking)
{
    sf_free(tracking->items);
    sf_free(tracking->parts);
    sf_counted_free(&tracking->counted);
    *tracking = (sf_tracking){0};
}
