/* SPDX-License-Identifier: Apache-2.0 */
/**
 * One list of cases for every way that an operation has, on the CPU and on devices: test_ways holds the
 * answers of all ways together, and bench_ways times them. An operation that is added gets a case here.
 */
#ifndef SF_TESTS_WAYS_H
#define SF_TESTS_WAYS_H

#include "core/backend/ways.h"
#include "support/support.h"

/** What the operations work on. */
typedef struct test_input {
    sf_recording *recording;
    sf_graph *graph; /**< directed */
    sf_series *series;
} test_input;

/** So many spikes, an eighth as many edges, and 20 sqrt(size) samples. */
void test_input_make(test_input *input, size_t size, uint64_t seed);
void test_input_free(test_input *input);

#define TEST_MOST_ANSWERS 4096

/** The first numbers of what was found, two at least; integers but for densities. */
typedef struct test_answer {
    double numbers[TEST_MOST_ANSWERS];
    size_t count;
    sf_ran ran;
} test_answer;

typedef struct test_way_case {
    const char *operation;
    const sf_way *const *ways; /**< NULL-terminated */
    double tolerance;          /**< relative; 0: the same on every device */
    int (*run)(test_answer *answer, const test_input *input, const char *engine, const char *device,
               sf_error *error);
} test_way_case;

/** Ends with an operation of NULL. */
extern const test_way_case test_way_cases[];

#endif
