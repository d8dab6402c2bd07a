/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Densities of one plan, many of which are given a bandwidth and drawn in a hop: on the CPU (density/live.h,
 * density/picture.h) or on a device (density/moving_there.h), the same but for rounding. On the device that
 * the configuration names, or with `auto` on the faster (contest.h), which then has those hops in which as
 * many are due as make up for what a job costs there. What a device refuses or fails at the CPU does within
 * the hop. One thread.
 */
#ifndef SF_PIPELINE_TELLING_H
#define SF_PIPELINE_TELLING_H

#include "density/moving_there.h"
#include "pipeline/contest.h"

typedef struct sf_telling_setup {
    unsigned threads;    /**< on the CPU, 1 or more */
    sf_moving_view view; /**< what is drawn */
    sf_device *device;   /**< of the run; NULL: the CPU alone */
    bool always;         /**< on the device whatever it costs */
} sf_telling_setup;

/** What a thread needs to transform a state and to draw it. */
typedef struct sf_telling_worker {
    sf_moving_plan plan;
    double *points, *values; /**< as many as there are bins */
} sf_telling_worker;

/** Zero-initialised, there is nothing to close. */
typedef struct sf_telling {
    sf_telling_setup setup;
    sf_telling_worker *workers; /**< a thread each */
    sf_moving_there *there;     /**< NULL: the CPU alone, so far */
    size_t least;               /**< the device has the hops in which so many are due; 0: none */
    bool was_there;             /**< it had the newest */
    sf_contest contest;
} sf_telling;

/** What is due in a hop. */
typedef struct sf_telling_job {
    const sf_moving_plan *plan; /**< of all states, as it is now */
    sf_moving_density *states;
    const size_t *due; /**< numbers of states; with a device, all are due by sf_moving_due */
    size_t count;
    unsigned threads; /**< up to those of the setup */
    /** Takes what is drawn of state due[i], on any thread; not called where all samples are equal. A result
     * other than 0 ends the job. */
    int (*take)(void *context, size_t i, const sf_moving_picture *picture, const double *values);
    void *context;
} sf_telling_job;

/** For states of plans with these options. SF_NO_MEMORY. */
int sf_telling_open(sf_telling *telling, const sf_moving_plan *plan, const sf_telling_setup *setup,
                    sf_error *error);
void sf_telling_close(sf_telling *telling);

/** Selects bandwidths where they are due, and draws all. SF_NO_MEMORY, or what `take` said. */
int sf_telling_tell(sf_telling *telling, const sf_telling_job *job, sf_error *error);

/** Where the newest were drawn: "cpu", "cuda:0". */
const char *sf_telling_device(const sf_telling *telling);

#endif
