/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The devices of a loaded plugin, and how the program works on one. The CPU needs none: every operation has
 * its way on the CPU in the folder that asks for it, and that is what runs where there is no device, where a
 * device refuses a job as too large, and after a device has failed. Who wants a device by name, or one that
 * pays, asks for a crew (crew.h).
 */
#ifndef SF_CORE_BACKEND_DEVICE_H
#define SF_CORE_BACKEND_DEVICE_H

#include "core/backend/plugin.h"

/** A device of a loaded plugin, shared by all who use it. */
typedef struct sf_device sf_device;

/**
 * How many devices there are, and each. Opens none. A plugin is looked for in the build directory of this
 * very program, or else where the program is installed, nowhere else, and loaded once.
 */
uint32_t sf_device_count(void);
sf_device *sf_device_at(uint32_t index);

/** The same of the plugin that is loaded, without looking for one. */
uint32_t sf_devices_loaded(void);

/** Where there is no device, why: SF_UNAVAILABLE; else SF_OK. */
int sf_device_none(sf_error *error);

const char *sf_device_name(const sf_device *device); /**< "cuda:0"; "cpu" for NULL */
const sf_backend *sf_device_backend(const sf_device *device);

/** Zeroed where the device does not start. */
void sf_device_facts(sf_device *device, sf_backend_facts *facts);

/** Bytes that jobs had taken at most when the last one ended; waits for no job. NULL: 0. */
uint64_t sf_device_memory(const sf_device *device);

/** Whether the device has failed, with the sentence that tells how. A sick device is not used again. */
bool sf_device_sick(sf_device *device, sf_error *error);

/** Whether it has been opened, so that work need not wait for it to start; and opens it. SF_UNAVAILABLE where
 * it is sick or does not start. */
bool sf_device_ready(const sf_device *device);
int sf_device_start(sf_device *device, sf_error *error);

/**
 * Waits until no other job runs on the device, opens it if it is the first, and holds it: SF_UNAVAILABLE
 * where it is sick or does not start, and then it is not held.
 */
int sf_device_hold(sf_device *device, sf_error *error);
sf_backend_device *sf_device_opened(const sf_device *device); /**< while held */

/**
 * Ends a job on a device that is held: `status` and `failure` are what the backend said, what the caller is
 * to answer is returned. A failure other than those named at sf_backend marks the device sick, is logged, and
 * becomes SF_UNAVAILABLE: the caller's answer to that is always to do the work elsewhere.
 */
int sf_device_release(sf_device *device, int status, const sf_error *failure, sf_error *error);

/**
 * For a long job, while its thread holds the device and nothing of the job is under way on it: lets those
 * that wait have the device, one after the other, and holds it again. Waits for nobody where nobody waits,
 * but on a thread that is patient for a reservation to end.
 */
void sf_device_give_way(sf_device *device);

/** The same for calls into a backend that need not hold the device, but for ending a job. */
int sf_device_answer(sf_device *device, int status, const sf_error *failure, sf_error *error);

/**
 * For a caller that is to come several times within a short while, from any thread: until it takes that back,
 * a thread that is patient has the device at most once. NULL, the CPU, is allowed.
 */
void sf_device_reserve(sf_device *device);
void sf_device_unreserve(sf_device *device);

/** The calling thread is patient from now on: nobody waits for what it does. */
void sf_device_be_patient(void);

/** What a job does on a device, which is held for it; returns what the backend says. */
typedef int sf_device_job(void *context, sf_device *device, sf_error *failure);

/** Holds the device, does the job, and ends it. */
int sf_device_do(sf_device *device, sf_device_job *job, void *context, sf_error *error);

/** Gives back what lies on a device; works on a sick one too. */
void sf_device_discard(sf_device *device, void (*close)(void *object), void *object);

/** Closes every device and forgets every plugin; nothing may be using them. The next call that looks for a
 * device starts anew. */
void sf_devices_close(void);

/** Adds to the seconds that work of this process took longer than on a device that runs, since devices were
 * looked for or closed last; all of them. Any thread. */
double sf_devices_lose(double seconds);

/** Starts a device in a thread of its own, while others go on; the first time only, since devices were closed
 * last. Any thread. sf_devices_close, and the end of the process, wait for it. */
void sf_device_start_beside(sf_device *device);

/** Tests: uses the plugin in this file, and no other, from now on. SF_UNAVAILABLE says why it is refused. */
int sf_devices_use(const char *path, sf_error *error);

#endif
