/* SPDX-License-Identifier: Apache-2.0 */
#include "window/resident.h"

#include "core/ahead.h"
#include "core/error.h"
#include "core/memory.h"

#include <inttypes.h>
#include <string.h>

struct sf_resident {
    sf_device *device;
    const struct sf_backend_windows *backend;
    sf_backend_window *window;
    uint64_t capacity;   /* spikes that it has room for */
    uint64_t begin, end; /* positions on the device */
    /* Of streams of all units: each unit's own number, and where the unit's spikes begin. */
    uint32_t *numbers, *first;
    uint32_t unit_count;
};

/* More spikes than these are not laid out. */
#define MOST_SPIKES ((uint64_t)INT32_MAX)

static void close_window(void *resident)
{
    const sf_resident *r = resident;
    r->backend->close(r->window);
}

void sf_resident_close(sf_resident *resident)
{
    if (resident == NULL) return;
    if (resident->window != NULL) sf_device_discard(resident->device, close_window, resident);
    sf_free(resident->numbers);
    sf_free(resident->first);
    sf_free(resident);
}

int sf_resident_open(sf_resident **opened, sf_device *device, sf_error *error)
{
    *opened = NULL;
    const struct sf_backend_windows *backend = sf_device_backend(device)->windows;
    if (backend == NULL)
        return sf_fail(error, SF_UNAVAILABLE, NULL, "%s keeps no windows", sf_device_name(device));
    sf_resident *resident = sf_alloc(1, sizeof *resident);
    if (resident == NULL) return sf_fail_memory(error);
    *resident = (sf_resident){.device = device, .backend = backend};
    int status = sf_device_hold(device, error);
    if (status == SF_OK) {
        sf_error failure = {0};
        status = backend->open(&resident->window, sf_device_opened(device), &failure);
        status = sf_device_release(device, status, &failure, error);
    }
    if (status == SF_OK)
        *opened = resident;
    else
        sf_resident_close(resident);
    return status;
}

sf_device *sf_resident_device(const sf_resident *resident)
{
    return resident->device;
}

/* Copies the history up to `last`; what is then older than the room is gone. */
static int copy(sf_resident *resident, const sf_history *history, uint64_t last, sf_error *error)
{
    size_t count = (size_t)(last - resident->end);
    sf_error failure = {0};
    int status = resident->backend->append(resident->window, resident->end,
                                           sf_history_view(history, resident->end), count, &failure);
    if (status != SF_OK) return sf_device_answer(resident->device, status, &failure, error);
    resident->end = last;
    if (resident->end - resident->begin > resident->capacity)
        resident->begin = resident->end - resident->capacity;
    return SF_OK;
}

int sf_resident_append(sf_resident *resident, const sf_history *history, sf_error *error)
{
    if (sf_device_sick(resident->device, error)) return SF_UNAVAILABLE;
    bool follows = resident->end >= history->begin;
    if (!follows || history->end - resident->end > resident->capacity || history->end == resident->end)
        return SF_OK;
    return copy(resident, history, history->end, error);
}

/* Room for the whole window at the pace so far, or for all that the history has room for, so that it seldom
 * has to grow: all is then copied again. */
static int make_room(sf_resident *resident, const sf_history *history, uint64_t first, uint64_t last,
                     sf_error *error)
{
    int64_t passed_ns = sf_history_time(history, last - 1) - sf_history_time(history, first);
    uint64_t ahead = sf_room_ahead(last - first, passed_ns, history->span_ns),
             room = ahead > history->capacity ? ahead : history->capacity;
    int status = sf_device_hold(resident->device, error);
    if (status != SF_OK) return status;
    sf_error failure = {0};
    resident->capacity = 0;
    status = resident->backend->reserve(resident->window, room, &failure);
    if (status == SF_OK) resident->capacity = resident->backend->capacity(resident->window);
    return sf_device_release(resident->device, status, &failure, error);
}

int sf_resident_hold(sf_resident *resident, const sf_history *history, uint64_t first, uint64_t last,
                     sf_error *error)
{
    if (sf_device_sick(resident->device, error)) return SF_UNAVAILABLE;
    bool short_of_room = last - first > resident->capacity;
    int status = short_of_room ? make_room(resident, history, first, last, error) : SF_OK;
    if (status != SF_OK) return status;
    if (short_of_room || resident->begin > first || resident->end < first)
        resident->begin = resident->end = first;
    if (resident->end < last) status = copy(resident, history, last, error);
    if (status != SF_OK) return status;
    sf_error failure = {0};
    status = resident->backend->snapshot(resident->window, first, (size_t)(last - first), &failure);
    return sf_device_answer(resident->device, status, &failure, error);
}

int sf_resident_stream(sf_device_stream **stream, sf_resident *resident, const sf_backend_layout *layout,
                       sf_error *error)
{
    *stream = NULL;
    int status = sf_device_hold(resident->device, error);
    if (status != SF_OK) return status;
    sf_error failure = {0};
    sf_backend_stream *made;
    status = resident->backend->stream(&made, resident->window, layout, &failure);
    if (status == SF_OK) status = sf_device_stream_adopt(stream, resident->device, made, &failure);
    return sf_device_release(resident->device, status, &failure, error);
}

static int number_units(sf_resident *resident, uint32_t unit_count, sf_error *error)
{
    if (resident->first != NULL && resident->unit_count == unit_count) return SF_OK;
    uint32_t *numbers = sf_resize(resident->numbers, unit_count, sizeof *numbers);
    resident->numbers = numbers != NULL ? numbers : resident->numbers;
    uint32_t *first = sf_resize(resident->first, (size_t)unit_count + 1, sizeof *first);
    resident->first = first != NULL ? first : resident->first;
    if (numbers == NULL || first == NULL) return sf_fail_memory(error);
    for (uint32_t u = 0; u < unit_count; u++)
        numbers[u] = u;
    resident->unit_count = unit_count;
    return SF_OK;
}

static int count_units(sf_resident *resident, const sf_spike *spikes, size_t count, sf_error *error)
{
    uint32_t *first = resident->first, unit_count = resident->unit_count;
    memset(first, 0, ((size_t)unit_count + 1) * sizeof *first);
    for (size_t i = 0; i < count; i++) {
        if (spikes[i].unit >= unit_count)
            return sf_fail(error, SF_DATA, NULL,
                           "a spike is of unit #%" PRIu32 ", but there are %" PRIu32 " units", spikes[i].unit,
                           unit_count);
        first[spikes[i].unit + 1]++;
    }
    for (uint32_t u = 0; u < unit_count; u++)
        first[u + 1] += first[u];
    return SF_OK;
}

int sf_resident_lay_out(sf_device_stream **stream, sf_resident *resident, const sf_history *history,
                        uint64_t first, uint64_t last, uint32_t unit_count, sf_error *error)
{
    *stream = NULL;
    if (first == last) return SF_OK;
    if (last - first > MOST_SPIKES)
        return sf_fail(error, SF_UNAVAILABLE, NULL, "%" PRIu64 " spikes are more than a device lays out",
                       last - first);
    const sf_spike *spikes = sf_history_view(history, first);
    int status = number_units(resident, unit_count, error);
    if (status == SF_OK) status = count_units(resident, spikes, (size_t)(last - first), error);
    if (status == SF_OK) status = sf_resident_hold(resident, history, first, last, error);
    const sf_backend_layout layout = {.window_units = unit_count,
                                      .numbers = resident->numbers,
                                      .unit_count = unit_count,
                                      .count = (uint32_t)(last - first),
                                      .first = resident->first,
                                      .origin_ns = spikes[0].time_ns};
    return status == SF_OK ? sf_resident_stream(stream, resident, &layout, error) : status;
}
