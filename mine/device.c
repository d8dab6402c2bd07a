/* SPDX-License-Identifier: Apache-2.0 */
#include "mine/device.h"

#include "core/error.h"

#include <string.h>

/* Spikes within a delay that one core looks at in a second. */
#define PAIRS_A_SECOND 2.5e8

double sf_mine_cpu_seconds_ahead(const sf_mine_job *job, uint64_t spikes, int64_t span_ns)
{
    if (spikes < 2)
        return 0;
    double count = (double)spikes, span = (double)span_ns + 1, inside = 0;
    for (uint32_t d = 0; d < job->delay_count; d++)
        inside += (double)(job->delays[d].high_ns - job->delays[d].low_ns) / span;
    return count * count * inside / PAIRS_A_SECOND / (job->threads > 0 ? job->threads : 1);
}

double sf_mine_cpu_seconds(const sf_mine_job *job)
{
    const sf_events *events = job->events;
    return events->count < 2
               ? 0
               : sf_mine_cpu_seconds_ahead(job, events->count, events->times[events->count - 1]);
}

int sf_device_choose(sf_device **device, const char *name, sf_operation operation, const sf_engine *engine,
                     double cpu_seconds, sf_error *error)
{
    *device = NULL;
    if (name == NULL || strcmp(name, "auto") == 0) {
        *device = sf_device_auto(cpu_seconds);
        if (!sf_device_supports(*device, operation, engine->name))
            *device = NULL;
        return SF_OK;
    }
    int status = sf_device_find(device, name, error);
    if (status == SF_OK && *device != NULL)
        status = sf_device_check(*device, operation, engine, error);
    if (status != SF_OK)
        *device = NULL;
    return status;
}

int sf_device_check(const sf_device *device, sf_operation operation, const sf_engine *engine, sf_error *error)
{
    if (sf_device_supports(device, operation, engine->name))
        return SF_OK;
    return sf_fail(error, SF_USAGE, NULL, "the engine %s does not run on %s: choose another, or cpu",
                   engine->name, sf_device_name(device));
}

sf_stream sf_events_stream(const sf_events *events)
{
    return (sf_stream){.unit_count = events->unit_count,
                       .count = events->count,
                       .times = events->times,
                       .owner = events->owner,
                       .first = events->first,
                       .positions = events->positions};
}
