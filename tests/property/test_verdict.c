/* SPDX-License-Identifier: Apache-2.0 */
/* Verdicts against functions that are run: both orders, mixtures, and copies whose changes are joined. */
#include "oracle/plan_oracle.h"

#include "plan/verdict.h"

/* m[t], m[t,c], m[t,k] or a parameter of one of them; `variable`: whether k may stand there. */
static sf_plan_element random_element(test_random *random, bool variable)
{
    sf_plan_element element = {.tree = (uint32_t)test_random_below(random, ORACLE_TREES),
                               .depth = (uint32_t)test_random_below(random, 4) > 0,
                               .parameter = test_random_below(random, 3) == 0 ? 0 : SF_PLAN_NONE};
    if (element.depth > 0 && variable && test_random_below(random, 2) == 0)
        element.at[0] = (sf_plan_index){.kind = SF_PLAN_VARIABLE};
    else if (element.depth > 0)
        element.at[0].number = (uint32_t)test_random_below(random, ORACLE_CHILDREN);
    return element;
}

static void random_function(test_random *random, sf_plan_accesses *in, sf_plan_accesses *out, bool variable)
{
    size_t reads = test_random_below(random, 3), writes = test_random_below(random, 3);
    for (size_t i = 0; i < reads; i++) {
        sf_plan_access access = {random_element(random, variable),
                                 test_random_below(random, 2) ? SF_PLAN_EXTRACT : SF_PLAN_COMPARE};
        assert_int_equal(sf_plan_accesses_add(in, &access, NULL), SF_OK);
    }
    for (size_t i = 0; i < writes; i++) {
        sf_plan_access access = {
            random_element(random, variable),
            (sf_plan_operation)(SF_PLAN_ASSIGN +
                                test_random_below(random, SF_PLAN_OPERATIONS - SF_PLAN_ASSIGN))};
        assert_int_equal(sf_plan_accesses_add(out, &access, NULL), SF_OK);
        /* What is incremented may stand under In too, as the source has it. */
        if (test_random_below(random, 2) == 0 && access.operation >= SF_PLAN_INCREMENT)
            assert_int_equal(sf_plan_accesses_add(in, &access, NULL), SF_OK);
    }
}

static void tell(const char *name, const sf_plan_accesses *accesses)
{
    printf("  %s:", name);
    for (size_t i = 0; i < accesses->count; i++) {
        sf_text text = {0};
        sf_plan_element_write(&text, &accesses->items[i].element, &(sf_plan_names){.items = (char *[]){"k"}},
                              &(sf_plan_names){.items = (char *[]){"n"}});
        printf(" %s %s", text.data, sf_plan_operation_name(accesses->items[i].operation));
        sf_text_free(&text);
    }
    printf("\n");
}

/* Over many models: allowed must hold for all of them, and what is not allowed must fail for one. */
static oracle_answer run_often(test_random *random, oracle_function first, oracle_function second, bool loop)
{
    oracle_answer all = {true, true};
    for (int model = 0; model < 120 && (all.shared || all.distributed); model++) {
        if (loop) {
            first.round = (uint32_t)test_random_below(random, ORACLE_CHILDREN);
            second.round = (first.round + 1 + (uint32_t)test_random_below(random, ORACLE_CHILDREN - 1)) %
                           ORACLE_CHILDREN;
        }
        oracle_answer one = oracle_run(random, &first, &second);
        all.shared = all.shared && one.shared;
        all.distributed = all.distributed && one.distributed;
    }
    return all;
}

static void judge_as_the_oracle(test_random *random, bool loop, size_t seen[3])
{
    sf_plan_accesses in[2] = {{0}}, out[2] = {{0}};
    random_function(random, &in[0], &out[0], loop);
    random_function(random, &in[1], &out[1], loop);
    sf_plan_verdict verdict;
    int second = loop ? 0 : 1; /* a loop's body is held against itself */
    assert_int_equal(
        sf_plan_judge(&verdict, &in[0], &out[0], &in[second], &out[second], loop ? 0 : SF_PLAN_NONE, NULL),
        SF_OK);
    oracle_answer found = run_often(random, (oracle_function){&in[0], &out[0], 0},
                                    (oracle_function){&in[second], &out[second], 0}, loop);
    if (verdict.shared != found.shared || verdict.distributed != found.distributed) {
        printf("  judged %d %d, running gives %d %d%s\n", verdict.shared, verdict.distributed, found.shared,
               found.distributed, loop ? ", a loop over k" : "");
        tell("first in", &in[0]);
        tell("first out", &out[0]);
        tell("second in", &in[second]);
        tell("second out", &out[second]);
        fail();
    }
    assert_int_equal(verdict.answer, sf_plan_choose(found.shared, found.distributed));
    assert_true(!verdict.bernstein || found.shared); /* sufficient */
    seen[verdict.answer]++;
    sf_plan_verdict_free(&verdict);
    for (int i = 0; i < 2; i++) {
        sf_plan_accesses_free(&in[i]);
        sf_plan_accesses_free(&out[i]);
    }
}

static void verdicts_are_what_running_gives(void **state)
{
    (void)state;
    test_random random = test_random_start("plan", 20180268);
    size_t seen[2][3] = {{0}};
    for (int round = 0; round < 1500; round++)
        judge_as_the_oracle(&random, round % 2 == 1, seen[round % 2]);
    for (int loop = 0; loop < 2; loop++)
        for (int answer = 0; answer < 3; answer++)
            assert_true(seen[loop][answer] > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(verdicts_are_what_running_gives)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
