/* SPDX-License-Identifier: Apache-2.0 */
#include "mine/device.h"

#include "core/error.h"

#include <stdatomic.h>
#include <string.h>

/* Spikes within a delay that one core looks at in a second. */
#define PAIRS_A_SECOND 2.5e8

/* A GPU does in about 10 ms what a core does in 10 s. Below that, the copy outweighs what is saved. */
static _Atomic double seconds_a_device = SF_DEVICE_SECONDS;
static _Atomic uint32_t most_devices = SF_MOST_DEVICES;

double sf_mine_core_seconds(const sf_delay *delays, size_t delay_count, double spikes, double span_ns)
{
    double inside = 0;
    for (size_t d = 0; d < delay_count; d++)
        inside += (double)(delays[d].high_ns - delays[d].low_ns) / (span_ns + 1);
    return spikes < 2 ? 0 : spikes * spikes * inside / PAIRS_A_SECOND;
}

uint32_t sf_devices_worth(double core_seconds)
{
    double devices = core_seconds / seconds_a_device;
    uint32_t most = most_devices;
    return devices < most ? devices < 1 ? 1 : (uint32_t)devices : most;
}

void sf_devices_set_worth(double core_seconds, uint32_t most)
{
    seconds_a_device = core_seconds;
    most_devices = most;
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
    sf_device *devices[SF_MOST_DEVICES];
    uint32_t count;
    int status = sf_devices_find(devices, 1, &count, name, error);
    if (status == SF_OK && count > 0)
        status = sf_engine_check(devices[0], operation, engine, error);
    if (status == SF_OK && count > 0)
        *device = devices[0];
    return status;
}

int sf_engine_check(const sf_device *device, sf_operation operation, const sf_engine *engine, sf_error *error)
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
