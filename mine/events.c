/* SPDX-License-Identifier: Apache-2.0 */
#include "mine/events.h"

#include "core/error.h"
#include "core/memory.h"

#include <inttypes.h>

#define DROPPED UINT32_MAX

/* Checks the order and numbers the kept units that fire at all or not; new_number has unit_count places. */
static int number_units(sf_events *events, size_t unit_count, const bool *keep, uint32_t *new_number)
{
    for (size_t u = 0; u < unit_count; u++) {
        new_number[u] = keep == NULL || keep[u] ? events->unit_count : DROPPED;
        if (new_number[u] != DROPPED)
            events->unit_count++;
    }
    events->unit = sf_resize(NULL, events->unit_count, sizeof *events->unit);
    events->first = sf_alloc((size_t)events->unit_count + 1, sizeof *events->first);
    if (events->unit == NULL || events->first == NULL)
        return SF_NO_MEMORY;
    for (size_t u = 0; u < unit_count; u++)
        if (new_number[u] != DROPPED)
            events->unit[new_number[u]] = (uint32_t)u;
    return SF_OK;
}

static int check_order(const sf_spike *spikes, size_t count, size_t unit_count, sf_error *error)
{
    for (size_t i = 0; i < count; i++) {
        if (spikes[i].unit >= unit_count)
            return sf_fail(error, SF_DATA, NULL, "spike %zu is of unit #%" PRIu32 ", but there are %zu units",
                           i, spikes[i].unit, unit_count);
        if (i > 0 && (spikes[i].time_ns < spikes[i - 1].time_ns ||
                      (spikes[i].time_ns == spikes[i - 1].time_ns && spikes[i].unit < spikes[i - 1].unit)))
            return sf_fail(error, SF_DATA, NULL,
                           "spike %zu is out of order: expected order by time, then unit", i);
    }
    int64_t span;
    if (count > 0 && __builtin_sub_overflow(spikes[count - 1].time_ns, spikes[0].time_ns, &span))
        return sf_fail(error, SF_DATA, NULL, "the spikes span more than 292 years");
    return SF_OK;
}

/* Fills the arrays in stream order, then deals them out by unit. */
static int lay_out(sf_events *events, const sf_spike *spikes, size_t count, const uint32_t *new_number,
                   sf_error *error)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        kept += new_number[spikes[i].unit] != DROPPED;
    if (kept >= UINT32_MAX)
        return sf_fail(error, SF_DATA, NULL,
                       "%zu spikes are more than the %" PRIu32 " that can be mined at once", kept,
                       UINT32_MAX - 1);
    events->times = sf_resize(NULL, kept, sizeof *events->times);
    events->owner = sf_resize(NULL, kept, sizeof *events->owner);
    events->positions = sf_resize(NULL, kept, sizeof *events->positions);
    events->unit_times = sf_resize(NULL, kept, sizeof *events->unit_times);
    if (events->times == NULL || events->owner == NULL || events->positions == NULL ||
        events->unit_times == NULL)
        return sf_fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        uint32_t unit = new_number[spikes[i].unit];
        if (unit == DROPPED)
            continue;
        if (events->count == 0)
            events->origin_ns = spikes[i].time_ns;
        events->times[events->count] = spikes[i].time_ns - events->origin_ns;
        events->owner[events->count++] = unit;
        events->first[unit + 1]++;
    }
    for (uint32_t u = 0; u < events->unit_count; u++)
        events->first[u + 1] += events->first[u];
    /* first[u] serves as the place to write next, and is shifted back afterwards. */
    for (uint32_t p = 0; p < events->count; p++) {
        uint32_t place = events->first[events->owner[p]]++;
        events->positions[place] = p;
        events->unit_times[place] = events->times[p];
    }
    for (uint32_t u = events->unit_count; u > 0; u--)
        events->first[u] = events->first[u - 1];
    events->first[0] = 0;
    return SF_OK;
}

int sf_events_open(sf_events *events, const sf_spike *spikes, size_t count, size_t unit_count,
                   const bool *keep, sf_error *error)
{
    *events = (sf_events){0};
    int status = check_order(spikes, count, unit_count, error);
    if (status != SF_OK)
        return status;
    uint32_t *new_number = sf_resize(NULL, unit_count, sizeof *new_number);
    if (new_number == NULL || number_units(events, unit_count, keep, new_number) != SF_OK)
        status = sf_fail_memory(error);
    if (status == SF_OK)
        status = lay_out(events, spikes, count, new_number, error);
    sf_free(new_number);
    if (status != SF_OK)
        sf_events_close(events);
    return status;
}

void sf_events_close(sf_events *events)
{
    sf_free(events->unit);
    sf_free(events->times);
    sf_free(events->owner);
    sf_free(events->first);
    sf_free(events->positions);
    sf_free(events->unit_times);
    *events = (sf_events){0};
}

uint32_t sf_events_position(const sf_events *events, int64_t time_ns)
{
    if (events->count == 0 || time_ns <= events->origin_ns)
        return 0;
    /* Unsigned, since the distance of a time far away may leave int64. */
    uint64_t time = (uint64_t)time_ns - (uint64_t)events->origin_ns;
    uint32_t low = 0, high = events->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if ((uint64_t)events->times[middle] < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The first of the unit's places whose position is not below `position`. */
static uint32_t place_of(const sf_events *events, uint32_t unit, uint32_t position)
{
    uint32_t low = events->first[unit], high = events->first[unit + 1];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (events->positions[middle] < position)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

sf_unit_events sf_events_unit(const sf_events *events, uint32_t unit, uint32_t first, uint32_t last)
{
    uint32_t begin = first == 0 ? events->first[unit] : place_of(events, unit, first);
    uint32_t end = last >= events->count ? events->first[unit + 1] : place_of(events, unit, last);
    return (sf_unit_events){.times = events->unit_times + begin,
                            .positions = events->positions + begin,
                            .count = end > begin ? end - begin : 0};
}
