/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Runs work items in processes of their own, several at a time: crashes, memory use and leftovers of one item
 * do not affect others. The calling process must have one thread and must not have used HDF5 or a device.
 */
#ifndef SF_APP_JOBS_H
#define SF_APP_JOBS_H

#include "core/error.h"
#include "core/text.h"

/** A finished item. */
typedef struct app_job {
    size_t item;
    int exit_code; /**< 70 if a signal ended it */
    int signal;    /**< the signal that ended it, or 0 */
    double seconds;
    sf_text out, said; /**< its stdout and stderr */
} app_job;

typedef struct app_jobs {
    size_t count;
    size_t at_once;
    /** Does an item, in a process of its own; returns the exit code. */
    int (*work)(void *context, size_t item);
    /** NULL, or called in the calling process as items end. */
    void (*ended)(void *context, const app_job *job);
    /** NULL, or called in the calling process in the order of the items: SF_OK continues. It may take `out`.
     */
    int (*take)(void *context, app_job *job, sf_error *error);
    /** time between asking processes to end and ending them; 0: wait as long as they take */
    double patience_s;
    void *context;
} app_jobs;

/**
 * Does items 0..count-1 and returns when all have ended. SF_CANCELLED after a signal caught by
 * app_catch_signals, which is passed on to running items, and no new one starts; the status that `take`
 * returned; SF_UNAVAILABLE if no process can be started.
 */
int app_jobs_run(const app_jobs *jobs, sf_error *error);

#endif
