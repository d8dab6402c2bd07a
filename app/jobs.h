/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Work in processes of its own, some at a time: what one piece breaks, uses up or leaves behind is no
 * other's. The calling process has one thread and has not touched HDF5 nor a device.
 */
#ifndef SF_APP_JOBS_H
#define SF_APP_JOBS_H

#include "core/error.h"
#include "core/text.h"

/** A piece of work that has ended. */
typedef struct app_job {
    size_t item;
    int exit_code; /**< 70 where a signal ended it */
    int signal;    /**< that ended it, or 0 */
    double seconds;
    sf_text out, said; /**< what it wrote to stdout and to stderr */
} app_job;

typedef struct app_jobs {
    size_t count;
    size_t at_once;
    /** In a process of its own: the exit code. */
    int (*work)(void *context, size_t item);
    /** In the calling process, as they end, or NULL. */
    void (*ended)(void *context, const app_job *job);
    /** In the calling process, in the order of the items, or NULL: SF_OK goes on. It may take what is in
     * `out`. */
    int (*take)(void *context, app_job *job, sf_error *error);
    double
        patience_s; /**< with those that were asked to end, before they are ended; 0: as long as they take */
    void *context;
} app_jobs;

/**
 * Does items 0..count-1. Returns when all have ended: SF_CANCELLED after a signal that app_catch_signals has
 * caught, which is passed on to those at work, with no new one begun; what `take` returned; SF_UNAVAILABLE
 * where no process can be started.
 */
int app_jobs_run(const app_jobs *jobs, sf_error *error);

#endif
