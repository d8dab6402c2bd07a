/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Runs stages by their schedule: on a team of threads where that gains something, else one after the other.
 * What they publish goes out in their order as soon as it can, so that nobody sees which way it was.
 */
#ifndef SF_PIPELINE_RUNNER_H
#define SF_PIPELINE_RUNNER_H

#include "core/thread.h"
#include "pipeline/publisher.h"
#include "pipeline/schedule.h"

/** What waking threads and waiting for them may cost; a gain below it is none. */
#define SF_RUNNER_WORTH_NS INT64_C(200000)

/** One thread calls it; stays where it is while open. */
typedef struct sf_runner {
    const sf_schedule *schedule;
    sf_publisher *publisher;
    sf_times *times;
    sf_team *team;
    int64_t worth_ns;
    int64_t took_ns[SF_SCHEDULE_MOST]; /**< each stage, when it ran last */
    sf_outbox outboxes[SF_SCHEDULE_MOST];
    uint64_t overlapped; /**< runs on the team */
    bool has_lock, has_changed;
    pthread_mutex_t lock;
    pthread_cond_t changed;
} sf_runner;

/** Schedule, publisher and times are borrowed. threads: 0: all cores. SF_NO_MEMORY. */
int sf_runner_open(sf_runner *runner, const sf_schedule *schedule, sf_publisher *publisher, sf_times *times,
                   unsigned threads, sf_error *error);
void sf_runner_close(sf_runner *runner);

/**
 * Runs stages first .. end - 1. `call` is what they are called with but for the stage. Of several stages that
 * fail the first in order does, and what stages before it published has been.
 */
int sf_runner_run(sf_runner *runner, const sf_hop *call, size_t first, size_t end, sf_error *error);

#endif
