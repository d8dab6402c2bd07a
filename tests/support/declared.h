/* SPDX-License-Identifier: Apache-2.0 */
/** Whether functions touch what they are declared to touch: found by recording every access. */
#ifndef SF_TESTS_DECLARED_H
#define SF_TESTS_DECLARED_H

#include "plan/executor.h"
#include "support/support.h"

#include <stdatomic.h>

typedef struct test_recorder {
    atomic_size_t accesses, undeclared;
    char first[128]; /**< the first that is not declared, as "f3: increment m[3,0,1]" */
} test_recorder;

/** As sf_plan_program.seen, whose recorder is a test_recorder. */
void test_record_access(void *recorder, const sf_plan_call *call, sf_plan_place place,
                        sf_plan_operation operation);

#endif
