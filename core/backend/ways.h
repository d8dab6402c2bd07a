/* SPDX-License-Identifier: Apache-2.0 */
/**
 * One way to a device, for every operation. An operation lists its ways: how its engines do it on the CPU,
 * and how on devices. sf_choose takes a way on the CPU, and where a device is asked for or pays, devices and
 * the way there; sf_choice_run does the work, on the CPU what devices cannot, and tells what ran where.
 */
#ifndef SF_CORE_BACKEND_WAYS_H
#define SF_CORE_BACKEND_WAYS_H

#include "core/backend/crew.h"

#include <synfire/device.h>

typedef struct sf_way {
    const char *engine;
    bool on_devices;
    /** On devices, or NULL for all that load: as in sf_crew_request, the context being the job. */
    int (*supports)(const void *job, const sf_device *device, sf_error *why);
    /** What it would need, in seconds. On the CPU, asked first; NULL: never so long that a device pays. On
     * devices, of one that is running; NULL: SF_READY_SECONDS. */
    double (*estimate)(const void *job);
    /**
     * `crew` is NULL on the CPU. On devices SF_UNAVAILABLE, and nothing done that cannot be done again:
     * members that left have been dismissed, or else all are.
     */
    int (*run)(void *job, sf_crew *crew, sf_error *error);
    void (*leave)(sf_member *member); /**< takes the member's part off its device; NULL: there is none */
} sf_way;

/** How an operation is to be done. */
typedef struct sf_how {
    const char *engine; /**< NULL or "auto": the first in the list */
    const char *device;
    uint32_t most; /**< as in sf_crew_request, as the next */
    bool forgiving;
} sf_how;

/** What was chosen; zeroed, nothing. */
typedef struct sf_choice {
    const sf_way *here;  /**< on the CPU; NULL: devices alone can */
    const sf_way *there; /**< on the crew; NULL: the CPU alone can */
    sf_crew crew;
} sf_choice;

/**
 * Chooses from the ways of an operation, NULL at their end. SF_USAGE for an engine that is not in the list,
 * or does not run on the device named; else as sf_crew_open.
 */
int sf_choose(sf_choice *choice, const sf_way *const *ways, const sf_how *how, const void *job,
              sf_error *error);

/**
 * Does the job, any number of times: what a device has refused or failed at is done by those left or on the
 * CPU, now and from now on. `ran` (or NULL) is filled, also after a failure.
 */
int sf_choice_run(sf_choice *choice, void *job, sf_ran *ran, sf_error *error);

/** Takes off devices what jobs have left there; a zeroed choice is allowed. Jobs may go on. */
void sf_choice_leave(sf_choice *choice);

/** Fills engine, device, note and memory, of the next job as of the last. */
void sf_choice_tell(const sf_choice *choice, sf_ran *ran);

#endif
