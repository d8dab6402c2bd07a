/* SPDX-License-Identifier: Apache-2.0 */
/** Real recordings for tests. */
#ifndef SF_TESTS_RECORDINGS_H
#define SF_TESTS_RECORDINGS_H

#include "core/recording.h"
#include "support/support.h"

/** Reads one by its path under shared/data, whole; fails the test where that fails. False, and says so, where
 * it is absent: then skip(). Free with sf_recording_clear. */
bool test_load_recording(sf_recording *recording, const char *relative);

#endif
