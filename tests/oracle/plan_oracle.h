/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What two functions do when they run one after the other, mixed on one model, and on a copy each: found by
 * running them. A function reads all that it reads, then changes what it changes; what it saw counts as its
 * result.
 */
#ifndef SF_TESTS_PLAN_ORACLE_H
#define SF_TESTS_PLAN_ORACLE_H

#include "plan/algorithm.h"
#include "support/support.h"

/** Trees 0 and 1, each with children 0, 1 and 2, and a parameter (number 0) of every element. */
enum { ORACLE_TREES = 2, ORACLE_CHILDREN = 3 };

enum { ORACLE_VARIABLES = 3 };

/** One call of a function, at these values of the variables. */
typedef struct oracle_call {
    const sf_plan_accesses *in, *out;
    uint32_t values[ORACLE_VARIABLES];
} oracle_call;

/** What is held against each other: a function, or all that a loop or a round of it calls, in order. */
typedef struct oracle_function {
    oracle_call calls[48];
    size_t count;
} oracle_function;

typedef struct oracle_answer {
    bool shared;      /**< either order and every mixture tried gave what first before second gives */
    bool distributed; /**< changes made on copies and joined in either order gave the same, lists as sets */
} oracle_answer;

/** Runs them on one model of random values; both answers hold for that model only. */
oracle_answer oracle_run(test_random *random, const oracle_function *first, const oracle_function *second);

#endif
