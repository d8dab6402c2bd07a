/* SPDX-License-Identifier: Apache-2.0 */
/** What core/backend/stream.h offers, in terms of events and engines. Jobs themselves are in crew.h. */
#ifndef SF_MINE_DEVICE_H
#define SF_MINE_DEVICE_H

#include "core/backend/find.h"
#include "mine/engine.h"

#include <synfire/mine.h>

/**
 * The device, or first of all devices, that `name` asks for and that has the engine; NULL: the CPU. "auto"
 * and NULL take one where there is one and the CPU would need long enough: `cpu_seconds`. SF_UNAVAILABLE for
 * a device that is missing, SF_USAGE for one that does not have the engine.
 */
int sf_device_choose(sf_device **device, const char *name, sf_operation operation, const sf_engine *engine,
                     double cpu_seconds, sf_error *error);

/** SF_USAGE where the device does not have the engine. */
int sf_engine_check(const sf_device *device, sf_operation operation, const sf_engine *engine,
                    sf_error *error);

/** What one core of the CPU needs to find all pairs among so many spikes within span_ns, roughly: enough to
 * tell a millisecond from a second. */
double sf_mine_core_seconds(const sf_delay *delays, size_t delay_count, double spikes, double span_ns);

/** How many devices are worth dividing a job among that one core of the CPU would need so long for, at least
 * 1: each repeats what all need, above all the copy of the spikes. */
uint32_t sf_devices_worth(double core_seconds);

#define SF_DEVICE_SECONDS 10.0 /**< of a core's work, that a device more is worth it for */

/** Tests and benchmarks: from now on a device is worth it for so many seconds of a core, 0: for any job; but
 * never more than `most`. SF_DEVICE_SECONDS and SF_MOST_DEVICES are what it begins with. */
void sf_devices_set_worth(double core_seconds, uint32_t most);

/** The events as backends take them; borrows their arrays. */
sf_stream sf_events_stream(const sf_events *events);

#endif
