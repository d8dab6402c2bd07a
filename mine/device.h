/* SPDX-License-Identifier: Apache-2.0 */
/** Counting and mining on an accelerator: what core/backend.h offers, in terms of events and trees. */
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

/** What the CPU needs for a job, roughly: enough to tell a millisecond from a second. */
double sf_mine_cpu_seconds(const sf_mine_job *job);

/** The events as backends take them; borrows their arrays. */
sf_stream sf_events_stream(const sf_events *events);

/** As `mine` of sf_engine. SF_UNAVAILABLE: the device cannot, and the tree is as it was. */
int sf_mine_on_device(sf_device *device, const sf_engine *engine, sf_tree *tree, double *seconds,
                      const sf_mine_job *job, sf_error *error);

#endif
