/* SPDX-License-Identifier: Apache-2.0 */
/** Recordings for tests: real ones, and files that a test writes itself. */
#ifndef SF_TESTS_RECORDINGS_H
#define SF_TESTS_RECORDINGS_H

#include "core/recording.h"
#include "replay/reading.h"
#include "support/support.h"

/** Reads one by its path under shared/data, whole; fails the test where that fails. False, and says so, where
 * it is absent: then skip(). Free with sf_recording_clear. */
bool test_load_recording(sf_recording *recording, const char *relative);

/** The file that a test of test_with_file writes, which has the ending; it is gone before and after. */
extern char *test_path;
int test_name_file(void **state); /**< *state: the ending */
int test_remove_file(void **state);
#define test_with_file(test, ending)                                                                         \
    cmocka_unit_test_prestate_setup_teardown(test, test_name_file, test_remove_file, ending)

/** For test_fail_every_allocation: reads a recording and frees it. */
typedef struct test_reading {
    const char *path;
    const sf_reading *how; /**< or NULL */
} test_reading;
int test_read_and_free(void *reading);

#endif
