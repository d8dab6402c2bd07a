/* SPDX-License-Identifier: Apache-2.0 */
#include "mine/surrogate_move.h"

#include "core/memory.h"
#include "core/reals.h"
#include "core/recording.h"

/* ---- open and close ---- */

/* The train of a unit as the rule has it: from its first spike to its last. */
static void find_fired(int64_t *fired, const sf_mover *m, uint32_t unit)
{
    uint32_t begin = m->events->first[unit], count = m->events->first[unit + 1] - begin;
    for (uint32_t i = 0; i < count; i++)
        fired[i] = m->plan->mirrored ? m->plan->origin_ns - m->trains[begin + count - 1 - i]
                                     : m->plan->origin_ns + m->trains[begin + i];
}

static int open_dithers(sf_mover *m)
{
    const sf_events *events = m->events;
    int64_t *fired = sf_resize(NULL, m->longest, sizeof *fired);
    m->dithers = sf_alloc(events->unit_count, sizeof *m->dithers);
    int status = fired != NULL && m->dithers != NULL ? SF_OK : SF_NO_MEMORY;
    for (uint32_t u = 0; u < events->unit_count && status == SF_OK; u++) {
        find_fired(fired, m, u);
        status = sf_dither_open(&m->dithers[u], m->plan->rule.kind, fired,
                                events->first[u + 1] - events->first[u]);
    }
    sf_free(fired);
    return status;
}

int sf_mover_open(sf_mover *m, const sf_events *events, const sf_surrogate_plan *plan)
{
    *m = (sf_mover){.events = events,
                    .plan = plan,
                    .reach_ns = plan->rule.width_ns * (plan->rule.kind == SF_SURROGATE_JITTER ? 2 : 1)};
    if (sf_mover_keeps_order(plan)) return SF_OK;
    m->trains = sf_resize(NULL, events->count, sizeof *m->trains);
    if (m->trains == NULL) return SF_NO_MEMORY;
    for (uint32_t i = 0; i < events->count; i++)
        m->trains[i] = events->times[events->positions[i]];
    for (uint32_t u = 0; u < events->unit_count; u++) {
        uint32_t spikes = events->first[u + 1] - events->first[u];
        m->longest = spikes > m->longest ? spikes : m->longest;
    }
    return sf_is_dither(plan->rule.kind) ? open_dithers(m) : SF_OK;
}

void sf_mover_close(sf_mover *m)
{
    for (uint32_t u = 0; m->dithers != NULL && u < m->events->unit_count; u++)
        sf_dither_close(&m->dithers[u]);
    sf_free(m->dithers);
    sf_free(m->trains);
    *m = (sf_mover){0};
}

int sf_mover_room_open(sf_mover_room *room, const sf_mover *m)
{
    room->spikes = sf_resize(NULL, m->longest, sizeof *room->spikes);
    room->sorted = sf_resize(NULL, m->longest, sizeof *room->sorted);
    bool all = room->spikes != NULL && room->sorted != NULL;
    if (all && m->dithers != NULL) {
        room->fired = sf_resize(NULL, m->longest, sizeof *room->fired);
        room->goes = sf_resize(NULL, m->longest, sizeof *room->goes);
        all = room->fired != NULL && room->goes != NULL;
    }
    return all ? SF_OK : SF_NO_MEMORY;
}

void sf_mover_room_close(sf_mover_room *room)
{
    sf_free(room->spikes);
    sf_free(room->sorted);
    sf_free(room->fired);
    sf_free(room->goes);
    *room = (sf_mover_room){0};
}

/* ---- moving ---- */

/* A train that is moved: the segment of its newest spike, and how far that moves. */
typedef struct moving_train {
    const sf_surrogate_rule *rule;
    uint32_t surrogate, number;
    int64_t seam, begin, end, offset;
} moving_train;

/* Where a spike goes that is `number` of its train. */
static int64_t move_spike(moving_train *train, uint32_t number, int64_t fired)
{
    const sf_surrogate_rule *rule = train->rule;
    if (rule->kind == SF_SURROGATE_JITTER)
        return sf_surrogate_time(rule, train->surrogate, train->number, number, fired);
    if (fired < train->begin || fired >= train->end) {
        uint32_t own = sf_surrogate_segment(rule, train->seam, fired);
        bool whole = rule->kind != SF_SURROGATE_SEGMENT_SHIFT;
        train->begin = whole ? INT64_MIN : own * rule->segment_ns - train->seam;
        train->end = whole ? INT64_MAX : train->begin + rule->segment_ns;
        train->offset = sf_surrogate_offset(rule, train->surrogate, train->number, own);
    }
    return fired + train->offset;
}

/* A few spikes are out of order where segments meet; where many are, they are not sorted one by one. */
static void sort_train(int64_t *times, uint32_t count, sf_mover_room *room)
{
    if (sf_times_settle(times, count)) return;
    for (uint32_t i = 0; i < count; i++)
        room->spikes[i] = (sf_spike){.time_ns = times[i]};
    sf_spikes_sort_within(room->spikes, room->sorted, count);
    for (uint32_t i = 0; i < count; i++)
        times[i] = room->spikes[i].time_ns;
}

void sf_mover_move(int64_t *times, const sf_mover *m, uint32_t unit, uint32_t surrogate, sf_mover_room *room)
{
    const sf_surrogate_plan *plan = m->plan;
    const int64_t *recorded = m->trains + m->events->first[unit];
    uint32_t count = m->events->first[unit + 1] - m->events->first[unit];
    moving_train train = {.rule = &plan->rule,
                          .surrogate = surrogate,
                          .number = plan->trains[unit],
                          .seam = sf_surrogate_seam(&plan->rule, surrogate, plan->trains[unit])};
    if (m->dithers != NULL) {
        find_fired(room->fired, m, unit);
        sf_dither_train(room->goes, &m->dithers[unit], &plan->rule, surrogate, train.number, room->fired,
                        count);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t number = plan->mirrored ? count - 1 - i : i;
        int64_t fired = plan->mirrored ? plan->origin_ns - recorded[i] : plan->origin_ns + recorded[i];
        int64_t goes = m->dithers != NULL ? room->goes[number] : move_spike(&train, number, fired);
        times[i] = plan->mirrored ? plan->origin_ns - goes : goes - plan->origin_ns;
    }
    sort_train(times, count, room);
}
