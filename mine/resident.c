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

/* As sf_events_numbers, but that the spikes of a unit without events are left out, too: it is silent. */
static uint32_t *number_units(const sf_events *events, size_t unit_count)
{
    uint32_t *numbers = sf_events_numbers(events, unit_count);
    for (uint32_t u = 0; numbers != NULL && u < events->unit_count; u++)
        if (events->first[u] == events->first[u + 1]) numbers[events->unit[u]] = SF_LEFT_OUT;
    return numbers;
}

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
    uint32_t *numbers = number_units(events, unit_count);
    if (numbers == NULL) return sf_fail_memory(error);
    sf_backend_layout layout = layout_of(events, unit_count, numbers);
    int status = sf_resident_stream(stream, resident, &layout, error);
    sf_free(numbers);
    return status;
}

/* ---- spikes as they are ---- */

static const struct sf_backend_windows *family(const sf_device *device)
{
    return sf_device_backend(device)->windows;
}

typedef struct sending {
    sf_sent_spikes *sent;
    const sf_raw_spikes *raw;
    uint64_t *unit_spikes;
    size_t wrong;
} sending;

static int send_held(void *context, sf_device *device, sf_error *failure)
{
    sending *s = context;
    return family(device)->send(&s->sent->there, sf_device_opened(device), s->raw->spikes, s->raw->count,
                                s->unit_spikes, (uint32_t)s->raw->unit_count, &s->wrong, failure);
}

static void forget_sent(void *context)
{
    const sf_sent_spikes *sent = context;
    family(sent->device)->forget(sent->there);
}

void sf_sent_spikes_close(sf_sent_spikes *sent)
{
    if (sent->device != NULL) sf_device_discard(sent->device, forget_sent, sent);
    *sent = (sf_sent_spikes){0};
}

int sf_raw_spikes_send(sf_sent_spikes *sent, const sf_raw_spikes *raw, sf_device *device,
                       uint64_t *unit_spikes, sf_error *error)
{
    *sent = (sf_sent_spikes){.count = raw->count, .unit_count = raw->unit_count};
    if (family(device) == NULL)
        return sf_fail(error, SF_UNAVAILABLE, NULL, "%s lays out no spikes", sf_device_name(device));
    sending s = {.sent = sent, .raw = raw, .unit_spikes = unit_spikes, .wrong = raw->count};
    int status = sf_device_do(device, send_held, &s, error);
    if (status != SF_OK) return status;
    sent->device = device;
    if (s.wrong == raw->count) return SF_OK;
    sf_sent_spikes_close(sent);
    return sf_fail(error, SF_DATA, NULL, "spike %zu is out of order, or of no unit", s.wrong);
}

typedef struct laying_out {
    const sf_sent_spikes *sent;
    sf_backend_layout layout;
    sf_device_stream *made;
} laying_out;

static int lay_out_held(void *context, sf_device *device, sf_error *failure)
{
    laying_out *l = context;
    sf_backend_stream *made;
    int status = family(device)->lay_out(&made, l->sent->there, &l->layout, failure);
    return status == SF_OK ? sf_device_stream_adopt(&l->made, device, made, failure) : status;
}

int sf_events_sent_stream(sf_device_stream **stream, const sf_events *events, const sf_sent_spikes *sent,
                          sf_error *error)
{
    *stream = NULL;
    uint32_t *numbers = number_units(events, sent->unit_count);
    if (numbers == NULL) return sf_fail_memory(error);
    laying_out l = {.sent = sent, .layout = layout_of(events, sent->unit_count, numbers)};
    int status = sf_device_do(sent->device, lay_out_held, &l, error);
    *stream = l.made;
    sf_free(numbers);
    return status;
}

int sf_events_raw_stream(sf_device_stream **stream, const sf_events *events, const sf_raw_spikes *raw,
                         sf_sent_spikes *sent, sf_device *device, sf_error *error)
{
    int status = SF_OK;
    *stream = NULL;
    if (sent->device != device || sent->count != raw->count) {
        sf_sent_spikes_close(sent);
        status = sf_raw_spikes_send(sent, raw, device, NULL, error);
    }
    if (status == SF_OK) status = sf_events_sent_stream(stream, events, sent, error);
    sf_sent_spikes_close(sent);
    return status;
}
