/* SPDX-License-Identifier: Apache-2.0 */
/** What core/backend.h offers, in terms of events and engines. Jobs themselves are in crew.h. */
#ifndef SF_MINE_DEVICE_H
#define SF_MINE_DEVICE_H

#include "mine/engine.h"

/**
 * The device that `name` asks for and the engine runs on; NULL: the CPU. "auto" and NULL take one where there
 * is one and the CPU would need long enough: `cpu_seconds`. SF_UNAVAILABLE for a device that is missing,
 * SF_USAGE for one that does not have the engine.
 */
int sf_device_choose(sf_device **device, const char *name, sf_operation operation, const sf_engine *engine,
                     double cpu_seconds, sf_error *error);

/** SF_USAGE where the device does not have the engine. */
int sf_device_check(const sf_device *device, sf_operation operation, const sf_engine *engine,
                    sf_error *error);

/** What the CPU needs for a job, roughly: enough to tell a millisecond from a second. */
double sf_mine_cpu_seconds(const sf_mine_job *job);

/** The same on so many spikes within span_ns, of which there are no events yet. */
double sf_mine_cpu_seconds_ahead(const sf_mine_job *job, uint64_t spikes, int64_t span_ns);

/** The events as backends take them; borrows their arrays. */
sf_stream sf_events_stream(const sf_events *events);

#endif
