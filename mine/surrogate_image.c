/* SPDX-License-Identifier: Apache-2.0 */
#include "mine/surrogate_image.h"

#include "core/memory.h"
#include "core/recording.h"

#include <string.h>

int sf_image_open(sf_image *image, const sf_mover *mover)
{
    const sf_events *events = mover->events;
    uint32_t delay_count = mover->plan->delay_count;
    image->spikes = sf_resize(NULL, events->count, sizeof *image->spikes);
    image->reaches = sf_alloc(delay_count, sizeof *image->reaches);
    if (!sf_mover_keeps_order(mover->plan))
        image->dealt = sf_resize(NULL, events->count, sizeof *image->dealt);
    image->positions = image->dealt != NULL ? image->dealt : events->positions;
    if (image->spikes == NULL || image->reaches == NULL ||
        (image->dealt == NULL && !sf_mover_keeps_order(mover->plan)))
        return SF_NO_MEMORY;
    for (uint32_t d = 0; d < delay_count; d++) {
        image->reaches[d] = sf_resize(NULL, events->count, sizeof **image->reaches);
        if (image->reaches[d] == NULL) return SF_NO_MEMORY;
    }
    return SF_OK;
}

void sf_image_close(sf_image *image, uint32_t delay_count)
{
    for (uint32_t d = 0; image->reaches != NULL && d < delay_count; d++)
        sf_free(image->reaches[d]);
    sf_free(image->reaches);
    sf_free(image->spikes);
    sf_free(image->dealt);
    *image = (sf_image){0};
}

size_t sf_image_bytes(const sf_events *events, uint32_t delay_count)
{
    return events->count * (sizeof(sf_image_spike) + sizeof(uint32_t) + delay_count * sizeof(sf_followers));
}

int sf_image_room_open(sf_image_room *room, const sf_mover *mover)
{
    uint32_t count = mover->events->count;
    if (sf_mover_keeps_order(mover->plan)) return SF_OK;
    room->moved = sf_resize(NULL, count, sizeof *room->moved);
    room->sorted = sf_resize(NULL, count, sizeof *room->sorted);
    room->times = sf_resize(NULL, count, sizeof *room->times);
    room->dealt = sf_resize(NULL, mover->events->unit_count, sizeof *room->dealt);
    bool all = room->moved != NULL && room->sorted != NULL && room->times != NULL && room->dealt != NULL;
    return all ? sf_mover_room_open(&room->mover, mover) : SF_NO_MEMORY;
}

void sf_image_room_close(sf_image_room *room)
{
    sf_mover_room_close(&room->mover);
    sf_free(room->moved);
    sf_free(room->sorted);
    sf_free(room->times);
    sf_free(room->dealt);
    *room = (sf_image_room){0};
}

/* ---- the image ---- */

/* How many recorded spikes have (time, unit) <= this, of which the first `after` do. */
static uint32_t count_until(const sf_events *events, uint32_t after, int64_t time, uint32_t unit)
{
    after = sf_times_until(events->times, events->count, after, time - 1);
    while (after < events->count && events->times[after] == time && events->owner[after] <= unit)
        after++;
    return after;
}

/* All trains move by as much, so spikes keep their places. */
static void make_in_order(sf_image *image, const sf_mover *mover, uint32_t surrogate)
{
    const sf_events *events = mover->events;
    const sf_surrogate_plan *plan = mover->plan;
    int64_t offset_ns = sf_surrogate_offset(&plan->rule, surrogate, 0, 0),
            by_ns = plan->mirrored ? -offset_ns : offset_ns;
    uint32_t after = 0;
    for (uint32_t q = 0; q < events->count; q++) {
        after = count_until(events, after, events->times[q] + by_ns, events->owner[q]);
        image->spikes[q] = (sf_image_spike){events->owner[q], after};
    }
    for (uint32_t d = 0; d < plan->delay_count; d++) {
        sf_delay delay = {plan->delays[d].low_ns - by_ns, plan->delays[d].high_ns - by_ns};
        sf_followers_find(image->reaches[d], events->times, 0, events->count, events->times, events->count,
                          delay);
    }
}

static void move_all(const sf_mover *mover, uint32_t surrogate, sf_image_room *room)
{
    const sf_events *events = mover->events;
    for (uint32_t u = 0; u < events->unit_count; u++) {
        uint32_t begin = events->first[u], count = events->first[u + 1] - begin;
        sf_mover_move(room->times, mover, u, surrogate, &room->mover);
        for (uint32_t i = 0; i < count; i++)
            room->moved[begin + i] = (sf_spike){.time_ns = room->times[i], .unit = u};
        room->dealt[u] = begin;
    }
    sf_spikes_sort_within(room->moved, room->sorted, events->count);
}

void sf_image_make(sf_image *image, const sf_mover *mover, uint32_t surrogate, sf_image_room *room)
{
    const sf_events *events = mover->events;
    uint32_t after = 0;
    if (sf_mover_keeps_order(mover->plan)) {
        make_in_order(image, mover, surrogate);
        return;
    }
    move_all(mover, surrogate, room);
    for (uint32_t q = 0; q < events->count; q++) {
        sf_spike spike = room->moved[q];
        after = count_until(events, after, spike.time_ns, spike.unit);
        room->times[q] = spike.time_ns;
        image->spikes[q] = (sf_image_spike){spike.unit, after};
        image->dealt[room->dealt[spike.unit]++] = q;
    }
    for (uint32_t d = 0; d < mover->plan->delay_count; d++)
        sf_followers_find(image->reaches[d], events->times, 0, events->count, room->times, events->count,
                          mover->plan->delays[d]);
}
