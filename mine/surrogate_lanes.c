/* SPDX-License-Identifier: Apache-2.0 */
#include "mine/surrogate_lanes.h"

#include "core/memory.h"
#include "core/vector.h"

#include <string.h>

/* ---- whether they pay ---- */

static int64_t longest_delay(const sf_surrogate_plan *plan)
{
    int64_t high_ns = 0;
    for (uint32_t d = 0; d < plan->delay_count; d++)
        high_ns = plan->delays[d].high_ns > high_ns ? plan->delays[d].high_ns : high_ns;
    return high_ns;
}

/* Fills `around` (or NULL) by recorded position; returns how many spikes lie around all. */
static uint64_t look_around(sf_followers *around, const sf_mover *mover)
{
    const sf_events *events = mover->events;
    int64_t before_ns = mover->reach_ns + longest_delay(mover->plan), after_ns = mover->reach_ns;
    uint64_t sum = 0;
    for (uint32_t p = 0, from = 0, to = 0; p < events->count; p++) {
        while (events->times[from] < events->times[p] - before_ns)
            from++;
        while (to < events->count && events->times[to] <= events->times[p] + after_ns)
            to++;
        sum += to - from;
        if (around != NULL) around[p] = (sf_followers){from, to};
    }
    return sum;
}

/* An image takes about as long for a spike as all lanes take for this many spikes around it. */
#define MOST_AROUND ((uint64_t)100 * SF_SHIFT_LANES)

bool sf_shift_lanes_pay(const sf_mover *mover)
{
    uint32_t count = mover->events->count;
    bool fit =
        count <= INT32_MAX && mover->reach_ns <= INT32_MAX / 4 && longest_delay(mover->plan) <= INT32_MAX / 4;
    return fit && look_around(NULL, mover) <= MOST_AROUND * count;
}

/* ---- open and close ---- */

int sf_shift_lanes_open(sf_shift_lanes *lanes, const sf_mover *mover)
{
    *lanes = (sf_shift_lanes){.mover = mover,
                              .around = sf_resize(NULL, mover->events->count, sizeof *lanes->around)};
    if (lanes->around == NULL) return SF_NO_MEMORY;
    look_around(lanes->around, mover);
    return SF_OK;
}

void sf_shift_lanes_close(sf_shift_lanes *lanes)
{
    sf_free(lanes->around);
    *lanes = (sf_shift_lanes){0};
}

int sf_lane_train_open(sf_lane_train *train, const sf_mover *mover)
{
    train->times = sf_resize(NULL, mover->longest, sizeof *train->times);
    train->offsets = sf_resize(NULL, mover->longest, SF_SHIFT_LANES * sizeof *train->offsets);
    train->after = sf_resize(NULL, mover->longest, SF_SHIFT_LANES * sizeof *train->after);
    bool all = train->times != NULL && train->offsets != NULL && train->after != NULL;
    return all ? sf_mover_room_open(&train->room, mover) : SF_NO_MEMORY;
}

void sf_lane_train_close(sf_lane_train *train)
{
    sf_mover_room_close(&train->room);
    sf_free(train->times);
    sf_free(train->offsets);
    sf_free(train->after);
    *train = (sf_lane_train){0};
}

/* ---- vectors ---- */

/* Spikes that far on are asked for ahead of time. */
#define AHEAD 8

/* Spikes of a train lie far apart among the recorded ones: asks for their surroundings ahead of time. */
static inline void ask_ahead(const sf_shift_lanes *lanes, const sf_lane_train *train, uint32_t i)
{
    const sf_events *events = lanes->mover->events;
    const uint32_t *positions = events->positions + events->first[train->unit];
    if (i + 2 * AHEAD >= train->count) return;
    __builtin_prefetch(&lanes->around[positions[i + 2 * AHEAD]]);
    sf_followers around = lanes->around[positions[i + AHEAD]];
    for (uint32_t p = around.from; p < around.to; p += 8)
        __builtin_prefetch(&events->times[p]);
    for (uint32_t p = around.from; p < around.to; p += 16)
        __builtin_prefetch(&events->owner[p]);
}

/* A spike in all lanes. */
typedef struct lane_spike {
    int32_t offset[SF_SHIFT_LANES], after[SF_SHIFT_LANES];
} lane_spike;

SF_VECTOR_BODY lane_spike spike_of(const sf_lane_train *train, uint32_t i)
{
    lane_spike spike;
    memcpy(spike.offset, train->offsets + (size_t)i * SF_SHIFT_LANES, sizeof spike.offset);
    memcpy(spike.after, train->after + (size_t)i * SF_SHIFT_LANES, sizeof spike.after);
    return spike;
}

/* Takes an occurrence from `start` in lanes whose spike lies more than low and no more than high after the
 * recorded one at `rel`. */
SF_VECTOR_BODY void take(sf_lane_count *into, const lane_spike *spike, int32_t rel, int32_t low, int32_t high,
                         int32_t start)
{
    for (uint32_t lane = 0; lane < SF_SHIFT_LANES; lane++) {
        int32_t apart = spike->offset[lane] - rel, restart = into->restart[lane],
                takes = (apart > low) & (apart <= high) & (restart <= start);
        into->count[lane] += takes;
        into->restart[lane] = takes ? spike->after[lane] : restart;
    }
}

/* ---- recorded spikes up to each moved one ---- */

SF_VECTOR_BODY void after_body(const sf_lane_train *train, const sf_shift_lanes *lanes)
{
    const sf_events *events = lanes->mover->events;
    const uint32_t *positions = events->positions + events->first[train->unit];
    for (uint32_t i = 0; i < train->count; i++) {
        ask_ahead(lanes, train, i);
        sf_followers around = lanes->around[positions[i]];
        int32_t offset[SF_SHIFT_LANES], after[SF_SHIFT_LANES] = {0};
        memcpy(offset, train->offsets + (size_t)i * SF_SHIFT_LANES, sizeof offset);
        for (uint32_t p = around.from; p < around.to; p++) {
            int32_t rel =
                (int32_t)(events->times[p] - train->recorded[i]) - (events->owner[p] <= train->unit);
            for (uint32_t lane = 0; lane < SF_SHIFT_LANES; lane++)
                after[lane] += offset[lane] > rel;
        }
        for (uint32_t lane = 0; lane < SF_SHIFT_LANES; lane++)
            train->after[(size_t)i * SF_SHIFT_LANES + lane] = (int32_t)around.from + after[lane];
    }
}

SF_VECTOR_LEVELS(find_after, after_body, (const sf_lane_train *train, const sf_shift_lanes *lanes),
                 (train, lanes))

void sf_shift_lanes_move(sf_lane_train *train, const sf_shift_lanes *lanes, uint32_t unit, uint32_t first,
                         uint32_t count)
{
    const sf_mover *mover = lanes->mover;
    uint32_t begin = mover->events->first[unit];
    train->unit = unit;
    train->count = mover->events->first[unit + 1] - begin;
    train->recorded = mover->trains + begin;
    if (count < SF_SHIFT_LANES)
        memset(train->offsets, 0, (size_t)train->count * SF_SHIFT_LANES * sizeof *train->offsets);
    for (uint32_t lane = 0; lane < count; lane++) {
        sf_mover_move(train->times, mover, unit, first + lane, &train->room);
        for (uint32_t i = 0; i < train->count; i++)
            train->offsets[(size_t)i * SF_SHIFT_LANES + lane] =
                (int32_t)(train->times[i] - train->recorded[i]);
    }
    find_after(train, lanes);
}

/* ---- counting ---- */

/* The latest of several spikes of a unit that precede one would suffice. Nothing needs to ensure that: if one
 * of them is taken, all others lie before it and are not taken again. */
SF_VECTOR_BODY void sweep_body(sf_lane_count *counts, const sf_shift_lanes *lanes, const sf_lane_train *train,
                               int32_t low, int32_t high)
{
    const sf_events *events = lanes->mover->events;
    const uint32_t *positions = events->positions + events->first[train->unit];
    for (uint32_t i = 0; i < train->count; i++) {
        ask_ahead(lanes, train, i);
        sf_followers around = lanes->around[positions[i]];
        lane_spike spike = spike_of(train, i);
        for (uint32_t p = around.from; p < around.to; p++)
            take(&counts[events->owner[p]], &spike, (int32_t)(events->times[p] - train->recorded[i]), low,
                 high, (int32_t)p);
    }
}

SF_VECTOR_LEVELS(sweep, sweep_body,
                 (sf_lane_count * counts, const sf_shift_lanes *lanes, const sf_lane_train *train,
                  int32_t low, int32_t high),
                 (counts, lanes, train, low, high))

void sf_shift_lanes_sweep(sf_lane_count *counts, const sf_shift_lanes *lanes, const sf_lane_train *train,
                          sf_delay delay)
{
    sweep(counts, lanes, train, (int32_t)delay.low_ns, (int32_t)delay.high_ns);
}

/* An end has one chance in each lane, the first spike that follows it: where that is not taken, the start
 * lies before what was taken last, and where it is, before what is taken now. */
SF_VECTOR_BODY void merge_body(sf_lane_count *count, const sf_shift_lanes *lanes, const sf_lane_train *train,
                               const sf_list_entry *list, size_t length, int32_t low, int32_t high)
{
    const int64_t *times = lanes->mover->events->times, reach_ns = lanes->mover->reach_ns;
    uint32_t first = 0;
    for (size_t k = 0; k < length; k++) {
        int64_t end_ns = times[list[k].end];
        first = sf_times_from(train->recorded, first, train->count, end_ns + low - reach_ns);
        for (uint32_t i = first; i < train->count && train->recorded[i] <= end_ns + high + reach_ns; i++) {
            lane_spike spike = spike_of(train, i);
            take(count, &spike, (int32_t)(end_ns - train->recorded[i]), low, high, (int32_t)list[k].start);
        }
    }
}

SF_VECTOR_LEVELS(merge, merge_body,
                 (sf_lane_count * count, const sf_shift_lanes *lanes, const sf_lane_train *train,
                  const sf_list_entry *list, size_t length, int32_t low, int32_t high),
                 (count, lanes, train, list, length, low, high))

void sf_shift_lanes_merge(sf_lane_count *count, const sf_shift_lanes *lanes, const sf_lane_train *train,
                          const sf_list_entry *list, size_t length, sf_delay delay)
{
    merge(count, lanes, train, list, length, (int32_t)delay.low_ns, (int32_t)delay.high_ns);
}
