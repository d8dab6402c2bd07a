/* SPDX-License-Identifier: Apache-2.0 */
/** Devices by name, and the one that pays. */
#ifndef SF_CORE_BACKEND_FIND_H
#define SF_CORE_BACKEND_FIND_H

#include "core/backend/device.h"

/** The name of all devices together begins with the backend's: "cuda:all". */
#define SF_ALL_DEVICES ":all"

/**
 * The device of that name: "cuda" is the first, or of several ranks on one machine (core/ranks.h) each has
 * one of its own, as far as they go; "cuda:1" is the second. NULL or "cpu" gives NULL: the CPU. It is
 * started. SF_UNAVAILABLE says what is missing, or that the device does not start; SF_USAGE for a name that
 * is none, or that is more than one.
 */
int sf_device_find(sf_device **device, const char *name, sf_error *error);

/**
 * The devices of that name, to divide a job among: "cuda:all" is the first `most`, at least 1, of those that
 * start and have not failed; they start side by side. Any other name that of sf_device_find. *count 0: the
 * CPU. Errors as sf_device_find.
 */
int sf_devices_find(sf_device *devices[SF_MOST_DEVICES], uint32_t most, uint32_t *count, const char *name,
                    sf_error *error);

/** What the shortest job takes a device that is running, to copy and read back, where nobody knows better. */
#define SF_READY_SECONDS 0.002

/**
 * The first device in order, for work that the CPU would need `here` seconds for, and a device that is
 * running `there`; NULL where that is not sooner, there is none, or starting one costs more than it saves.
 * What it would have saved is added up: once all such work together has lost as much as a start takes, a
 * device starts in the background, and later work finds it running.
 * `why` (or NULL) is filled where one would pay and is not well.
 */
sf_device *sf_device_auto(double here, double there, sf_error *why);

/** Whether the name is auto, cpu, or could be that of devices, as cuda, cuda:1 or cuda:all. Looks for none.
 */
bool sf_device_may_be(const char *name);

#endif
