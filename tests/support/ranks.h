/* SPDX-License-Identifier: Apache-2.0 */
/** Ranks without MPI: threads of this process, which join what they have in a bracketing of the test's
 * choice. */
#ifndef SF_TESTS_RANKS_H
#define SF_TESTS_RANKS_H

#include "support/support.h"

#include "core/ranks.h"

#define TEST_MOST_RANKS 8

/**
 * Runs body(context, rank) as ranks 0 .. count - 1 and waits for all. The body asserts nothing: cmocka leaves
 * a test from its own thread only. `seed` chooses how joins are bracketed.
 */
void test_ranks_run(uint32_t count, uint64_t seed, void (*body)(void *context, uint32_t rank), void *context);

#endif
