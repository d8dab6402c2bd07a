/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The densities of one plan, many of which get a new bandwidth and are drawn in a hop: on the CPU
 * (density/live.h, density/picture.h) or on a device (density/moving_there.h), with the same results up to
 * rounding. A device named in the configuration always draws; with `auto` the faster one does (contest.h), in
 * those hops in which enough densities are due to outweigh the cost of a device job. If a device refuses or
 * fails, the CPU takes over within the hop. One thread.
 */
#ifndef SF_PIPELINE_TELLING_H
#define SF_PIPELINE_TELLING_H

#include "density/moving_there.h"
#include "pipeline/contest.h"

typedef struct sf_telling_setup {
    unsigned threads;    /**< on the CPU, 1 or more */
    sf_moving_view view; /**< what is drawn */
    sf_device *device;   /**< of the run; NULL: the CPU alone */
    bool always;         /**< use the device whatever it costs */
} sf_telling_setup;

/** What one thread needs to transform and draw a state. */
typedef struct sf_telling_worker {
    sf_moving_plan plan;
    double *points, *values; /**< one per bin */
} sf_telling_worker;

/** Zero-initialised, there is nothing to close. */
typedef struct sf_telling {
    sf_telling_setup setup;
    sf_telling_worker *workers; /**< one per thread */
    sf_moving_there *there;     /**< NULL: CPU only, so far */
    size_t least;               /**< the device draws in hops with at least this number due; 0: never */
    bool was_there;             /**< the device drew the newest */
    sf_contest contest;
} sf_telling;

/** What is due in a hop. */
typedef struct sf_telling_job {
    const sf_moving_plan *plan; /**< of all states, in its present form */
    sf_moving_density *states;
    const size_t *due; /**< numbers of states; with a device, all are due by sf_moving_due */
    size_t count;
    unsigned threads; /**< at most those of the setup */
    /** Receives the drawing of state due[i], on any thread; not called if all samples are equal. A non-zero
     * result ends the job. */
    int (*take)(void *context, size_t i, const sf_moving_picture *picture, const double *values);
    void *context;
} sf_telling_job;

/** For states of plans with these options. SF_NO_MEMORY. */
int sf_telling_open(sf_telling *telling, const sf_moving_plan *plan, const sf_telling_setup *setup,
                    sf_error *error);
void sf_telling_close(sf_telling *telling);

/** Selects bandwidths where due, and draws all. SF_NO_MEMORY, or the non-zero result of `take`. */
int sf_telling_tell(sf_telling *telling, const sf_telling_job *job, sf_error *error);

/** Where the newest were drawn: "cpu", "cuda:0". */
const char *sf_telling_device(const sf_telling *telling);

#endif
