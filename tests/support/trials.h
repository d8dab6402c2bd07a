/* SPDX-License-Identifier: Apache-2.0 */
/** Mining jobs on spikes of their own, for tests that hold devices against the CPU, and the test plugin's
 * devices to hold against it where there are no others. */
#ifndef SF_TESTS_TRIALS_H
#define SF_TESTS_TRIALS_H

#include "support/support.h"

#include "core/units.h"
#include "mine/mine.h"

/** The options borrow the delays: a trial stays where it was started. */
typedef struct test_trial {
    sf_spike *spikes; /**< to be freed by free() */
    size_t count;
    sf_units units;
    sf_delay delays[3];
    sf_mining_options options;
} test_trial;

/** This many units in a row, 10 um apart. Ends with sf_units_free. */
void test_make_units(sf_units *units, uint32_t count);

/** No spikes yet, such units, one delay, one thread. */
void test_trial_start(test_trial *trial, uint32_t units);
void test_trial_end(test_trial *trial);

/** What mining finds on a device, or the test fails. To be freed by sf_mine_result_free. */
sf_mine_result *test_trial_mine(test_trial *trial, const char *device);

/** Asserts that two results have the same levels, and the same episodes in the same order. */
void test_assert_same_result(const sf_mine_result *found, const sf_mine_result *expected);

/** The test plugin with these devices, by their characters (tests/plugin/backend.c); the smallest job is
 * divided among them. Ends with sf_devices_close. */
void test_use_devices(const char *characters);

/** A scenario for test_fail_every_allocation, of a trial: loads the test plugin, mines as the options say,
 * and leaves nothing. */
int test_load_and_mine(void *trial);

#endif
