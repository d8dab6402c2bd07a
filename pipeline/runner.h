/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Runs stages by their schedule: on a thread pool if that saves time, else one after another. Messages are
 * published in the order of the stages as early as possible, so the output is the same either way.
 */
#ifndef SF_PIPELINE_RUNNER_H
#define SF_PIPELINE_RUNNER_H

#include "core/thread.h"
#include "pipeline/publisher.h"
#include "pipeline/schedule.h"

/** Assumed cost of waking threads and waiting for them; smaller gains are ignored. */
#define SF_RUNNER_WORTH_NS INT64_C(200000)

/** One thread calls it; must not move while open. */
typedef struct sf_runner {
    const sf_schedule *schedule;
    sf_publisher *publisher;
    sf_times *times;
    sf_team *team;
    int64_t worth_ns;
    int64_t took_ns[SF_SCHEDULE_MOST]; /**< duration of each stage's last run */
    sf_outbox outboxes[SF_SCHEDULE_MOST];
    uint64_t overlapped; /**< number of runs on the team */
    bool has_lock, has_changed;
    pthread_mutex_t lock;
    pthread_cond_t changed;
} sf_runner;

/** Schedule, publisher and times are borrowed. threads: 0: all cores. SF_NO_MEMORY. */
int sf_runner_open(sf_runner *runner, const sf_schedule *schedule, sf_publisher *publisher, sf_times *times,
                   unsigned threads, sf_error *error);
void sf_runner_close(sf_runner *runner);

/**
 * Runs stages first .. end - 1. `call` is their argument except for the stage. If several stages fail,
 * returns the error of the first in order; what the stages before it published has gone out.
 */
int sf_runner_run(sf_runner *runner, const sf_hop *call, size_t first, size_t end, sf_error *error);

#endif
