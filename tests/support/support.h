/* SPDX-License-Identifier: Apache-2.0 */
/** What tests share: cmocka, a seeded random source whose seed is printed, real data, temporary files. */
#ifndef SF_TESTS_SUPPORT_H
#define SF_TESTS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <synfire/synfire.h>

/** A small random source for property tests (splitmix64). */
typedef struct test_random {
    uint64_t state;
} test_random;

/** Seeds from SYNFIRE_TEST_SEED or, without it, from `otherwise`; prints the seed so that a failure can be
 * repeated. */
test_random test_random_start(const char *what, uint64_t otherwise);
uint64_t test_random_bits(test_random *random);
uint64_t test_random_below(test_random *random, uint64_t limit); /**< 0..limit-1 */
double test_random_unit(test_random *random);                    /**< [0, 1) */

/**
 * Makes `count` random spikes of units 0..units-1 at times 0..last_ns, ordered, with many ties and repeated
 * spikes where last_ns is small; returns count. Free with free().
 */
size_t test_random_stream(test_random *random, sf_spike **spikes, size_t count, uint32_t units,
                          int64_t last_ns);

/** A random episode of 1..most_size nodes over units 0..units-1 with delays 0 <= low < high <= high_ns. */
sf_episode test_random_episode(test_random *random, uint32_t most_size, uint32_t units, int64_t high_ns);

/** Path of a file under shared/data, or NULL after printing that it is absent; then call skip(). Free with
 * free(). */
char *test_data_path(const char *relative);

/** True, and says so, where no device is found; then call skip(). */
bool test_no_device(void);

/** How often to repeat what a checker makes slow: SYNFIRE_TEST_ROUNDS times or, without it,
 * SYNFIRE_TEST_SHARE of `usual` (0.25: a quarter, at least one) or all of that. */
int test_rounds(int usual);

/** There are fewer rounds than usual: what many of them show together may be missing. */
bool test_is_short(void);

/** A path for a temporary file with this ending; the file does not exist yet. Free with free(). */
char *test_temporary_path(const char *ending);

/** "x-2.h5" of "x.h5" and 2: what a sink writes instead of a file that is there. Free with free(). */
char *test_successor(const char *path, unsigned number);

/** The value of a recording's metadata, or NULL where it has none of this key. */
const char *test_metadata(const sf_recording *recording, const char *key);

/** Asserts that a page of docs/ has `name` in backquotes. */
void test_assert_documented(const char *page, const char *name);

/** Asserts that status is `expected` and that error->text contains `words` (NULL: any non-empty sentence). */
void test_assert_fails(int status, const sf_error *error, sf_status expected, const char *words);

/** Asserts that two doubles are equal to the last bit, or both NaN (cmocka compares floats). */
void test_assert_same(double found, double expected);

/**
 * Runs `scenario` again and again, failing the allocation after 0, 1, 2, ... successes (0, 4, 8, ... where
 * test_is_short), until it succeeds. Asserts after each run that no block leaked. `scenario` returns an
 * sf_status and must clean up after itself.
 */
void test_fail_every_allocation(int (*scenario)(void *context), void *context);

/**
 * Runs `scenario` again and again, whose progress says stop when it is asked for the 1st, 2nd, 3rd, ... time,
 * until it succeeds: before, it must have failed with SF_CANCELLED and leaked nothing. Returns how often it
 * was asked.
 */
long test_stop_at_every_call(int (*scenario)(void *context, const sf_progress *progress), void *context);

#endif
