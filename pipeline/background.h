/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Work that takes longer than a hop: one job at a time on a thread of its own, so that no hop waits for it.
 * On a virtual clock the job runs inside the call that starts it, which makes a run deterministic.
 */
#ifndef SF_PIPELINE_BACKGROUND_H
#define SF_PIPELINE_BACKGROUND_H

#include "core/progress.h"
#include "core/thread.h"

typedef enum sf_background_state {
    SF_BACKGROUND_IDLE,
    SF_BACKGROUND_BUSY,
    SF_BACKGROUND_DONE
} sf_background_state;

typedef enum sf_background_place {
    SF_BACKGROUND_BESIDE, /**< at low priority: hops go on meanwhile */
    SF_BACKGROUND_INSIDE, /**< within the call that starts it */
    SF_BACKGROUND_AWAITED /**< as beside, but somebody may wait for it: it does not give way */
} sf_background_place;

/** Zero-initialised it is closed. All calls but `work` come from one thread. */
typedef struct sf_background {
    void (*work)(void *job);
    void *job; /**< the caller's, but while busy the worker's */
    sf_background_place place;
    sf_thread thread;
    sf_bell bell, done; /**< for the worker; for who waits for it */
    atomic_int state;
    atomic_bool leave, halted;
} sf_background;

/** Inside on a virtual clock, else beside. */
static inline sf_background_place sf_background_inside(bool inside)
{
    return inside ? SF_BACKGROUND_INSIDE : SF_BACKGROUND_BESIDE;
}

/** Starts the thread, unless work is to be done inside. The struct must stay where it is. */
int sf_background_open(sf_background *background, const char *name, sf_background_place place,
                       void (*work)(void *job), void *job, sf_error *error);

/** Asks the work to stop by its progress, and waits for it. */
void sf_background_close(sf_background *background);

/** Any thread, while it is open: asks the work to stop by its progress, now and whenever it is started again.
 * Who waits for it goes on, and finds it cancelled or busy. */
void sf_background_halt(sf_background *background);

/** For the work: its update is false once nobody waits for the result any more. */
sf_progress sf_background_progress(sf_background *background);

/** True while the job is the caller's to fill. */
bool sf_background_is_idle(const sf_background *background);

/** Hands the job over; only while idle. */
void sf_background_start(sf_background *background);

/** Returns once the work that was handed over is done, or halted; at once while idle. */
void sf_background_wait(sf_background *background);

/** True where the work is done: the job is the caller's again, with its results. */
bool sf_background_take(sf_background *background);

#endif
