/* SPDX-License-Identifier: Apache-2.0 */
#include "mine/resident.h"

#include "core/error.h"
#include "core/memory.h"

#include <inttypes.h>

static bool is_kept(const sf_events_choice *choice, size_t unit, const uint64_t *unit_spikes)
{
    return (choice->keep == NULL || choice->keep[unit]) && unit_spikes[unit] >= choice->least;
}

/* Numbers the kept units and adds up their spikes. */
static int number_units(sf_events *events, const uint64_t *unit_spikes, size_t unit_count,
                        const sf_events_choice *choice, sf_error *error)
{
    uint64_t count = 0;
    for (size_t u = 0; u < unit_count; u++) {
        if (!is_kept(choice, u, unit_spikes))
            continue;
        events->unit[events->unit_count++] = (uint32_t)u;
        count += unit_spikes[u];
        events->first[events->unit_count] = (uint32_t)count;
    }
    if (count >= UINT32_MAX)
        return sf_fail(error, SF_DATA, NULL,
                       "%" PRIu64 " spikes are more than the %" PRIu32 " that can be mined at once", count,
                       UINT32_MAX - 1);
    events->count = (uint32_t)count;
    return SF_OK;
}

int sf_events_outline(sf_events *events, const sf_spike *spikes, size_t count, size_t unit_count,
                      const uint64_t *unit_spikes, const sf_events_choice *choice, sf_error *error)
{
    *events = (sf_events){.unit = sf_resize(NULL, unit_count, sizeof *events->unit),
                          .first = sf_alloc(unit_count + 1, sizeof *events->first)};
    int status = events->unit != NULL && events->first != NULL
                     ? number_units(events, unit_spikes, unit_count, choice, error)
                     : sf_fail_memory(error);
    size_t first = 0;
    while (first < count && !is_kept(choice, spikes[first].unit, unit_spikes))
        first++;
    events->origin_ns = first < count ? spikes[first].time_ns : 0;
    if (status != SF_OK)
        sf_events_close(events);
    return status;
}

int sf_events_resident_stream(sf_device_stream **stream, const sf_events *events, size_t unit_count,
                              sf_resident *resident, sf_error *error)
{
    *stream = NULL;
    uint32_t *numbers = sf_resize(NULL, unit_count, sizeof *numbers);
    if (numbers == NULL)
        return sf_fail_memory(error);
    for (size_t u = 0; u < unit_count; u++)
        numbers[u] = SF_LEFT_OUT;
    for (uint32_t u = 0; u < events->unit_count; u++)
        numbers[events->unit[u]] = u;
    sf_backend_layout layout = {.window_units = (uint32_t)unit_count,
                                .numbers = numbers,
                                .unit_count = events->unit_count,
                                .count = events->count,
                                .first = events->first,
                                .origin_ns = events->origin_ns};
    int status = sf_resident_stream(stream, resident, &layout, error);
    sf_free(numbers);
    return status;
}
