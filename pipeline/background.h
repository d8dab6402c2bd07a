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
    SF_BACKGROUND_BESIDE, /**< on its own thread at low priority, while hops continue */
    SF_BACKGROUND_INSIDE, /**< within the call that starts it */
    SF_BACKGROUND_AWAITED /**< on its own thread at normal priority, because a caller may wait for it */
} sf_background_place;

/** Zero-initialised it is closed. All calls except `work` come from one thread. */
typedef struct sf_background {
    void (*work)(void *job);
    void *job; /**< owned by the caller, and by the worker while it is busy */
    sf_background_place place;
    sf_thread thread;
    sf_bell bell, done; /**< bell wakes the worker, done wakes a waiting caller */
    atomic_int state;
    atomic_bool leave, halted;
} sf_background;

/** Inside on a virtual clock, else beside. */
static inline sf_background_place sf_background_inside(bool inside)
{
    return inside ? SF_BACKGROUND_INSIDE : SF_BACKGROUND_BESIDE;
}

/** Starts the thread, unless work is done inside the call. The struct must not move. Returns an error if the
 * thread cannot start. */
int sf_background_open(sf_background *background, const char *name, sf_background_place place,
                       void (*work)(void *job), void *job, sf_error *error);

/** Makes the work's progress return false, and waits for the work to end. */
void sf_background_close(sf_background *background);

/** Makes the work's progress return false, now and whenever it is started again. Waiting callers continue,
 * and find the job cancelled or still busy. Any thread, while open. */
void sf_background_halt(sf_background *background);

/** The progress for the work: its update returns false once nobody waits for the result. */
sf_progress sf_background_progress(sf_background *background);

/** True while the caller owns the job and may fill it. */
bool sf_background_is_idle(const sf_background *background);

/** Passes the job to the worker; only while idle. */
void sf_background_start(sf_background *background);

/** Returns when the started work is done or halted; at once if idle. */
void sf_background_wait(sf_background *background);

/** True if the work is done: the caller owns the job again, with its results. */
bool sf_background_take(sf_background *background);

#endif
