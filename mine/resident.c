/* SPDX-License-Identifier: Apache-2.0 */
#include "mine/resident.h"

#include "core/error.h"
#include "core/memory.h"

sf_stream sf_events_stream(const sf_events *events)
{
    return (sf_stream){.unit_count = events->unit_count,
                       .count = events->count,
                       .times = events->times,
                       .owner = events->owner,
                       .first = events->first,
                       .positions = events->positions};
}

/* `numbers` as sf_events_numbers gives them. */
static sf_backend_layout layout_of(const sf_events *events, size_t unit_count, const uint32_t *numbers)
{
    return (sf_backend_layout){.window_units = (uint32_t)unit_count,
                               .numbers = numbers,
                               .unit_count = events->unit_count,
                               .count = events->count,
                               .first = events->first,
                               .origin_ns = events->origin_ns};
}

int sf_events_resident_stream(sf_device_stream **stream, const sf_events *events, size_t unit_count,
                              sf_resident *resident, sf_error *error)
{
    *stream = NULL;
    uint32_t *numbers = sf_events_numbers(events, unit_count);
    if (numbers == NULL)
        return sf_fail_memory(error);
    sf_backend_layout layout = layout_of(events, unit_count, numbers);
    int status = sf_resident_stream(stream, resident, &layout, error);
    sf_free(numbers);
    return status;
}

static int lay_out_held(sf_device_stream **stream, sf_device *device, const sf_raw_spikes *raw,
                        const sf_backend_layout *layout, sf_error *failure)
{
    sf_backend_stream *made;
    int status = sf_device_backend(device)->windows->lay_out(&made, sf_device_opened(device), raw->spikes,
                                                             raw->count, layout, failure);
    return status == SF_OK ? sf_device_stream_adopt(stream, device, made, failure) : status;
}

int sf_events_raw_stream(sf_device_stream **stream, const sf_events *events, const sf_raw_spikes *raw,
                         sf_device *device, sf_error *error)
{
    *stream = NULL;
    if (sf_device_backend(device)->windows == NULL)
        return sf_fail(error, SF_UNAVAILABLE, NULL, "%s lays out no spikes", sf_device_name(device));
    uint32_t *numbers = sf_events_numbers(events, raw->unit_count);
    if (numbers == NULL)
        return sf_fail_memory(error);
    sf_backend_layout layout = layout_of(events, raw->unit_count, numbers);
    sf_error failure = {0};
    int status = sf_device_hold(device, error);
    if (status == SF_OK) {
        status = lay_out_held(stream, device, raw, &layout, &failure);
        status = sf_device_release(device, status, &failure, error);
    }
    sf_free(numbers);
    return status;
}
