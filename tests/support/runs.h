/* SPDX-License-Identifier: Apache-2.0 */
/** Whole runs of the pipeline in a test: a recording, a configuration, and every message that came of them.
 */
#ifndef SF_TESTS_RUNS_H
#define SF_TESTS_RUNS_H

#include "support/support.h"

#include "live/run.h"

#include <pthread.h>

/** Spikes of equally busy units e1, e2, ... at random multiples of the tick, from a random time on. */
sf_recording test_random_recording(test_random *random, size_t spikes, size_t units, int64_t duration_ns,
                                   int64_t tick_ns);

/** Every message of a run but triggers, in the order of its topic. */
typedef struct test_collector {
    pthread_mutex_t lock;
    sf_message *messages[20000];
    size_t count;
    uint64_t triggers;
} test_collector;

test_collector *test_collector_new(void);
void test_collector_free(test_collector *all);
sf_outlet test_outlet(test_collector *all); /**< which collects */

/** The configuration; what is wrong with it fails the test. */
sf_config test_config(const char *yaml);

/** A run from its start to its end; what fails in it fails the test. */
void test_run_all(const sf_run_options *options);
void test_run_to_end(const sf_config *config, const sf_recording *recording, double speed,
                     test_collector *all);

/** The configuration is well-formed, and the pipeline still refuses it for this recording, or for NULL, with
 * this status, place and part of a sentence. */
void test_pipeline_refuses(const char *yaml, const sf_recording *recording, sf_status status,
                           const char *place, const char *words);

/** Holds each count against the slice taken alone; returns how many were compared. */
size_t test_check_counts(const test_collector *all, const sf_spike *spikes, size_t count);

/** The closing status. */
const sf_status_message *test_last_status(const test_collector *all);

#endif
