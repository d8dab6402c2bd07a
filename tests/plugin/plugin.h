/* SPDX-License-Identifier: Apache-2.0 */
/** What the files of the test plugin share. */
#ifndef SF_TESTS_PLUGIN_H
#define SF_TESTS_PLUGIN_H

#include "core/backend/episodes.h"
#include "mine/events.h"
#include "support/plugin_work.h"

#define TEST_JOB_BYTES 1000u /* that every job is said to take */

/** More edges a test device does not rewire. */
#define TEST_REWIRED_EDGES 4096

struct sf_backend_device {
    uint32_t index, jobs;
    char character;
    uint64_t memory_limit; /* 0: none */
};

struct sf_backend_stream {
    sf_backend_device *device;
    sf_events events;
};

extern SF_API test_plugin_work test_plugin_work_done;

/** Begins a job: what the device's character makes of it. */
int test_begin_job(sf_backend_device *device, sf_error *error);

/** Whether the device is lost in the middle of the job that has begun. */
bool test_is_lost(const sf_backend_device *device);

extern const struct sf_backend_graphs test_graphs;
extern const struct sf_backend_bfs test_bfs;
extern const struct sf_backend_density test_density;
extern const struct sf_backend_surrogates test_surrogates;
extern const struct sf_backend_match test_match;
extern const struct sf_backend_rewire test_rewire;
extern const struct sf_backend_tracking test_tracking;
extern const struct sf_backend_pair_counting test_pairs;
extern const struct sf_backend_moving test_moving;

#endif
