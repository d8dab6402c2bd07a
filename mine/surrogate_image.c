/* SPDX-License-Identifier: Apache-2.0 */
#include "mine/surrogate_image.h"

#include "core/memory.h"
#include "core/recording.h"

#include <string.h>

int sf_image_open(sf_image *image, const sf_events *events, uint32_t delay_count)
{
    image->spikes = sf_resize(NULL, events->count, sizeof *image->spikes);
    image->positions = sf_resize(NULL, events->count, sizeof *image->positions);
    image->reaches = sf_alloc(delay_count, sizeof *image->reaches);
    if (image->spikes == NULL || image->positions == NULL || image->reaches == NULL)
        return SF_NO_MEMORY;
    for (uint32_t d = 0; d < delay_count; d++) {
        image->reaches[d] = sf_resize(NULL, events->count, sizeof **image->reaches);
        if (image->reaches[d] == NULL)
            return SF_NO_MEMORY;
    }
    return SF_OK;
}

void sf_image_close(sf_image *image, uint32_t delay_count)
{
    for (uint32_t d = 0; image->reaches != NULL && d < delay_count; d++)
        sf_free(image->reaches[d]);
    sf_free(image->reaches);
    sf_free(image->spikes);
    sf_free(image->positions);
    *image = (sf_image){0};
}

size_t sf_image_bytes(const sf_events *events, uint32_t delay_count)
{
    return events->count * (sizeof(sf_image_spike) + sizeof(uint32_t) + delay_count * sizeof(sf_followers));
}

int sf_image_room_open(sf_image_room *room, const sf_events *events)
{
    room->moved = sf_resize(NULL, events->count, sizeof *room->moved);
    room->sorted = sf_resize(NULL, events->count, sizeof *room->sorted);
    room->times = sf_resize(NULL, events->count, sizeof *room->times);
    room->next = sf_resize(NULL, events->unit_count, sizeof *room->next);
    bool all = room->moved != NULL && room->sorted != NULL && room->times != NULL && room->next != NULL;
    return all ? SF_OK : SF_NO_MEMORY;
}

void sf_image_room_close(sf_image_room *room)
{
    sf_free(room->moved);
    sf_free(room->sorted);
    sf_free(room->times);
    sf_free(room->next);
    *room = (sf_image_room){0};
}

/* ---- moving and sorting ---- */

/* A train of a surrogate; the segment and offset of a spike are still good for most that follow it. */
typedef struct moving_train {
    const sf_surrogate_rule *rule;
    uint32_t surrogate, train, segment;
    int64_t seam, offset;
} moving_train;

static moving_train start_train(const sf_surrogate_rule *rule, uint32_t surrogate, uint32_t train)
{
    return (moving_train){.rule = rule,
                          .surrogate = surrogate,
                          .train = train,
                          .segment = UINT32_MAX,
                          .seam = sf_surrogate_seam(rule, surrogate, train)};
}

/* Where a spike goes. */
static int64_t move_spike(moving_train *m, uint32_t number, int64_t fired)
{
    if (m->rule->kind == SF_SURROGATE_JITTER)
        return sf_surrogate_time(m->rule, m->surrogate, m->train, number, fired);
    uint32_t own = sf_surrogate_segment(m->rule, m->seam, fired);
    if (own != m->segment) {
        m->segment = own;
        m->offset = sf_surrogate_offset(m->rule, m->surrogate, m->train, own);
    }
    return fired + m->offset;
}

static void move(sf_spike *moved, const sf_events *events, const int64_t *trains,
                 const sf_surrogate_plan *plan, uint32_t surrogate)
{
    for (uint32_t u = 0; u < events->unit_count; u++) {
        uint32_t begin = events->first[u], count = events->first[u + 1] - begin;
        moving_train train = start_train(&plan->rule, surrogate, plan->trains[u]);
        for (uint32_t i = 0; i < count; i++) {
            int64_t time = trains[begin + i];
            uint32_t number = plan->mirrored ? count - 1 - i : i;
            int64_t fired = plan->mirrored ? plan->origin_ns - time : plan->origin_ns + time;
            int64_t goes = move_spike(&train, number, fired);
            moved[begin + i] = (sf_spike){
                .time_ns = plan->mirrored ? plan->origin_ns - goes : goes - plan->origin_ns, .unit = u};
        }
    }
}

/* ---- the image ---- */

/* Deals the image positions out to the units: each goes to the next place of its owner. */
static void deal_out(sf_image *image, const sf_events *events, uint32_t *next)
{
    memcpy(next, events->first, events->unit_count * sizeof *next);
    for (uint32_t q = 0; q < events->count; q++)
        image->positions[next[image->spikes[q].owner]++] = q;
}

static void find_after(sf_image *image, const sf_events *events, const int64_t *times)
{
    uint32_t p = 0;
    for (uint32_t q = 0; q < events->count; q++) {
        while (p < events->count &&
               (events->times[p] < times[q] ||
                (events->times[p] == times[q] && events->owner[p] <= image->spikes[q].owner)))
            p++;
        image->spikes[q].after = p;
    }
}

void sf_image_make(sf_image *image, const sf_events *events, const int64_t *trains,
                   const sf_surrogate_plan *plan, uint32_t surrogate, sf_image_room *room)
{
    move(room->moved, events, trains, plan, surrogate);
    const sf_spike *sorted = sf_spikes_sort_within(room->moved, room->sorted, events->count);
    for (uint32_t q = 0; q < events->count; q++) {
        image->spikes[q].owner = sorted[q].unit;
        room->times[q] = sorted[q].time_ns;
    }
    find_after(image, events, room->times);
    for (uint32_t d = 0; d < plan->delay_count; d++)
        sf_followers_find(image->reaches[d], events->times, 0, events->count, room->times, events->count,
                          plan->delays[d]);
    deal_out(image, events, room->next);
}
