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

int sf_image_room_open(sf_image_room *room, const sf_events *events, const sf_surrogate_plan *plan)
{
    uint32_t delay_count = plan->delay_count;
    room->moved = sf_resize(NULL, events->count, sizeof *room->moved);
    room->sorted = sf_resize(NULL, events->count, sizeof *room->sorted);
    room->times = sf_resize(NULL, events->count, sizeof *room->times);
    room->trains = sf_resize(NULL, events->unit_count, sizeof *room->trains);
    room->followed = sf_resize(NULL, delay_count, sizeof *room->followed);
    bool all = room->moved != NULL && room->sorted != NULL && room->times != NULL && room->trains != NULL &&
               room->followed != NULL;
    if (all && sf_is_dither(plan->rule.kind)) {
        room->fired = sf_resize(NULL, events->count, sizeof *room->fired);
        room->goes = sf_resize(NULL, events->count, sizeof *room->goes);
        all = room->fired != NULL && room->goes != NULL;
    }
    return all ? SF_OK : SF_NO_MEMORY;
}

void sf_image_room_close(sf_image_room *room)
{
    sf_free(room->moved);
    sf_free(room->sorted);
    sf_free(room->times);
    sf_free(room->trains);
    sf_free(room->followed);
    sf_free(room->fired);
    sf_free(room->goes);
    *room = (sf_image_room){0};
}

/* ---- dithered trains ---- */

/* The train of a unit as the rule has it: from its first spike to its last. */
static void find_fired(int64_t *fired, const sf_events *events, const int64_t *trains,
                       const sf_surrogate_plan *plan, uint32_t unit)
{
    uint32_t begin = events->first[unit], count = events->first[unit + 1] - begin;
    for (uint32_t i = 0; i < count; i++)
        fired[i] = plan->mirrored ? plan->origin_ns - trains[begin + count - 1 - i]
                                  : plan->origin_ns + trains[begin + i];
}

int sf_image_dithers_open(sf_dither **dithers, const sf_events *events, const int64_t *trains,
                          const sf_surrogate_plan *plan)
{
    *dithers = NULL;
    if (!sf_is_dither(plan->rule.kind))
        return SF_OK;
    int64_t *fired = sf_resize(NULL, events->count, sizeof *fired);
    *dithers = sf_alloc(events->unit_count, sizeof **dithers);
    int status = fired != NULL && *dithers != NULL ? SF_OK : SF_NO_MEMORY;
    for (uint32_t u = 0; u < events->unit_count && status == SF_OK; u++) {
        find_fired(fired, events, trains, plan, u);
        status =
            sf_dither_open(&(*dithers)[u], plan->rule.kind, fired, events->first[u + 1] - events->first[u]);
    }
    sf_free(fired);
    return status;
}

void sf_image_dithers_close(sf_dither *dithers, const sf_events *events)
{
    for (uint32_t u = 0; dithers != NULL && u < events->unit_count; u++)
        sf_dither_close(&dithers[u]);
    sf_free(dithers);
}

static void dither_all(sf_image_room *room, const sf_events *events, const int64_t *trains,
                       const sf_dither *dithers, const sf_surrogate_plan *plan, uint32_t surrogate)
{
    for (uint32_t u = 0; u < events->unit_count; u++) {
        uint32_t begin = events->first[u];
        find_fired(room->fired + begin, events, trains, plan, u);
        sf_dither_train(room->goes + begin, &dithers[u], &plan->rule, surrogate, plan->trains[u],
                        room->fired + begin, events->first[u + 1] - begin);
    }
}

/* ---- moving ---- */

/* A surrogate as far as it has come: all spikes that lie before `until` are in the image. */
typedef struct making {
    sf_image *image;
    const sf_events *events;
    const int64_t *trains;
    const sf_surrogate_plan *plan;
    sf_image_room *room;
    uint32_t surrogate;
    int64_t reach; /* no spike moves further */
    int64_t until;
    uint32_t waiting; /* in room->moved: moved, and not before `until` */
    uint32_t count;   /* in the image */
    uint32_t after;   /* recorded spikes up to the last of the image */
} making;

static void start_trains(const making *m)
{
    for (uint32_t u = 0; u < m->events->unit_count; u++) {
        uint32_t number = m->plan->trains[u], first = m->events->first[u];
        m->room->trains[u] =
            (sf_moving_train){.number = number,
                              .taken = first,
                              .dealt = first,
                              .seam = sf_surrogate_seam(&m->plan->rule, m->surrogate, number)};
    }
}

/* Where a spike goes that is `number` of its train. */
static int64_t move_spike(const making *m, sf_moving_train *train, uint32_t number, int64_t fired)
{
    const sf_surrogate_rule *rule = &m->plan->rule;
    if (rule->kind == SF_SURROGATE_JITTER)
        return sf_surrogate_time(rule, m->surrogate, train->number, number, fired);
    if (fired < train->begin || fired >= train->end) {
        uint32_t own = sf_surrogate_segment(rule, train->seam, fired);
        bool whole = rule->kind != SF_SURROGATE_SEGMENT_SHIFT;
        train->begin = whole ? INT64_MIN : own * rule->segment_ns - train->seam;
        train->end = whole ? INT64_MAX : train->begin + rule->segment_ns;
        train->offset = sf_surrogate_offset(rule, m->surrogate, train->number, own);
    }
    return fired + train->offset;
}

/* Moves what may come to lie before `until`. */
static void move_train(making *m, uint32_t unit)
{
    const sf_surrogate_plan *plan = m->plan;
    sf_moving_train *train = &m->room->trains[unit];
    uint32_t begin = m->events->first[unit], end = m->events->first[unit + 1];
    for (; train->taken < end && m->trains[train->taken] - m->reach < m->until; train->taken++) {
        int64_t time = m->trains[train->taken];
        uint32_t number = plan->mirrored ? end - 1 - train->taken : train->taken - begin;
        int64_t fired = plan->mirrored ? plan->origin_ns - time : plan->origin_ns + time;
        int64_t goes =
            m->room->goes != NULL ? m->room->goes[begin + number] : move_spike(m, train, number, fired);
        m->room->moved[m->waiting++] = (sf_spike){
            .time_ns = plan->mirrored ? plan->origin_ns - goes : goes - plan->origin_ns, .unit = unit};
    }
}

/* ---- the image ---- */

/* Puts those before `until`, in order now, behind the image's; the others go on waiting. */
static void lay_out(making *m)
{
    const sf_events *events = m->events;
    sf_spike *moved = m->room->moved;
    uint32_t i = 0, after = m->after;
    for (; i < m->waiting && moved[i].time_ns < m->until; i++) {
        sf_spike spike = moved[i];
        after = sf_times_until(events->times, events->count, after, spike.time_ns - 1);
        while (after < events->count && events->times[after] == spike.time_ns &&
               events->owner[after] <= spike.unit)
            after++;
        m->room->times[m->count] = spike.time_ns;
        m->image->spikes[m->count] = (sf_image_spike){spike.unit, after};
        m->image->positions[m->room->trains[spike.unit].dealt++] = m->count++;
    }
    m->after = after;
    m->waiting -= i;
    memmove(moved, moved + i, m->waiting * sizeof *moved);
}

/* Of the recorded spikes whose followers are all in the image. */
static void find_followers(const making *m, uint32_t delay)
{
    const sf_events *events = m->events;
    sf_delay by = m->plan->delays[delay];
    uint32_t begin = m->room->followed[delay], end = begin;
    while (end < events->count && (m->until == INT64_MAX || events->times[end] < m->until - by.high_ns))
        end++;
    sf_followers_find(m->image->reaches[delay], events->times, begin, end, m->room->times, m->count, by);
    m->room->followed[delay] = end;
}

#define STRETCH 8192u /* spikes that all steps go through before the next come: within a core's cache */

void sf_image_make(sf_image *image, const sf_events *events, const int64_t *trains, const sf_dither *dithers,
                   const sf_surrogate_plan *plan, uint32_t surrogate, sf_image_room *room)
{
    making m = {.image = image,
                .events = events,
                .trains = trains,
                .plan = plan,
                .room = room,
                .surrogate = surrogate,
                .reach = plan->rule.width_ns * (plan->rule.kind == SF_SURROGATE_JITTER ? 2 : 1),
                .until = events->count > 0 ? events->times[0] : 0};
    if (dithers != NULL)
        dither_all(room, events, trains, dithers, plan, surrogate);
    start_trains(&m);
    memset(room->followed, 0, plan->delay_count * sizeof *room->followed);
    /* Up to the end of time: all may be in the image while followers are still to be found. */
    for (uint32_t recorded = 0; events->count > 0 && m.until < INT64_MAX;) {
        bool last = events->count - recorded <= STRETCH || m.until > INT64_MAX - m.reach;
        recorded = last ? events->count : recorded + STRETCH;
        if (last)
            m.until = INT64_MAX;
        else /* what moves further than a stretch is long would be sorted again and again */
            m.until =
                events->times[recorded] - m.until < m.reach ? m.until + m.reach : events->times[recorded];
        for (uint32_t u = 0; u < events->unit_count; u++)
            move_train(&m, u);
        sf_spikes_sort_within(room->moved, room->sorted, m.waiting);
        lay_out(&m);
        for (uint32_t d = 0; d < plan->delay_count; d++)
            find_followers(&m, d);
    }
}
