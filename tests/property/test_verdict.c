/* SPDX-License-Identifier: Apache-2.0 */
/* Verdicts against functions that are run: both orders, mixtures, and copies whose changes are joined. */
#include "oracle/plan_oracle.h"

#include "plan/analysis.h"

#include "core/memory.h"

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
        sf_plan_element_write(&text, &accesses->items[i].element, &(sf_plan_names){0},
                              &(sf_plan_names){.items = (char *[]){"k"}},
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
            uint32_t *one = &first.calls[0].values[0], *other = &second.calls[0].values[0];
            *one = (uint32_t)test_random_below(random, ORACLE_CHILDREN);
            *other = (*one + 1 + (uint32_t)test_random_below(random, ORACLE_CHILDREN - 1)) % ORACLE_CHILDREN;
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
    oracle_answer found =
        run_often(random, (oracle_function){.calls = {{&in[0], &out[0], {0}}}, .count = 1},
                  (oracle_function){.calls = {{&in[second], &out[second], {0}}}, .count = 1}, loop);
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
    for (int round = 0; round < test_rounds(1500); round++)
        judge_as_the_oracle(&random, round % 2 == 1, seen[round % 2]);
    for (int loop = 0; loop < 2; loop++)
        for (int answer = 0; answer < 3; answer++)
            assert_true(test_is_short() || seen[loop][answer] > 20);
}

/* ---- compositions: functions, loops over k, loops over q in them ---- */

enum { VARIABLE_K, VARIABLE_Q, VARIABLE_CHOSEN, MOST_STEPS = 8 };

typedef struct composed {
    sf_plan_algorithm algorithm;
    sf_plan_step steps[MOST_STEPS];
    uint32_t bodies[MOST_STEPS][3], composition[3];
    char *variables[ORACLE_VARIABLES];
} composed;

static uint32_t add_function(composed *to, test_random *random)
{
    sf_plan_step *step = &to->steps[to->algorithm.step_count];
    random_function(random, &step->in, &step->out, true);
    for (int set = 0; set < 2;
         set++) /* each index is one of the variables; out of its loop it is chosen by the data */
        for (size_t i = 0; i < (set ? step->out : step->in).count; i++) {
            sf_plan_index *index = &(set ? step->out : step->in).items[i].element.at[0];
            if (index->kind == SF_PLAN_VARIABLE)
                index->number = (uint32_t)test_random_below(random, ORACLE_VARIABLES);
        }
    return (uint32_t)to->algorithm.step_count++;
}

static uint32_t add_loop(composed *to, test_random *random, uint32_t variable)
{
    uint32_t *body = to->bodies[to->algorithm.step_count];
    sf_plan_step *step = &to->steps[to->algorithm.step_count];
    uint32_t number = (uint32_t)to->algorithm.step_count++;
    *step = (sf_plan_step){.kind = SF_PLAN_LOOP_DATA, .variable = variable, .body = body};
    step->body_count = 1 + test_random_below(random, 2);
    for (size_t i = 0; i < step->body_count; i++)
        body[i] = variable == VARIABLE_K && i == 0 && test_random_below(random, 2) == 0
                      ? add_loop(to, random, VARIABLE_Q)
                      : add_function(to, random);
    return number;
}

static void compose(composed *to, test_random *random)
{
    *to = (composed){.variables = {"k", "q", "c"}};
    to->algorithm = (sf_plan_algorithm){.variables = {.items = to->variables, .count = ORACLE_VARIABLES},
                                        .steps = to->steps,
                                        .composition = to->composition,
                                        .composition_count = 2};
    to->composition[0] = add_loop(to, random, VARIABLE_K);
    to->composition[1] = add_function(to, random);
}

/* All calls of a step at these values; a variable that is in no loop here has any value. */
static void flatten(oracle_function *into, const composed *of, uint32_t number, uint32_t *values,
                    const bool *scope, test_random *random)
{
    const sf_plan_step *step = &of->steps[number];
    if (step->kind == SF_PLAN_FUNCTION) {
        oracle_call *call = &into->calls[into->count++];
        *call = (oracle_call){.in = &step->in, .out = &step->out};
        for (uint32_t v = 0; v < ORACLE_VARIABLES; v++)
            call->values[v] = scope[v] ? values[v] : (uint32_t)test_random_below(random, ORACLE_CHILDREN);
        return;
    }
    bool inner[ORACLE_VARIABLES];
    memcpy(inner, scope, sizeof inner);
    inner[step->variable] = true;
    for (uint32_t round = 0; round < ORACLE_CHILDREN; round++) {
        values[step->variable] = round;
        for (size_t i = 0; i < step->body_count; i++)
            flatten(into, of, step->body[i], values, inner, random);
    }
}

typedef struct judged {
    size_t allowed, refused; /* verdicts on one model and on copies that running confirmed */
    size_t cautious;         /* refused where no run showed why */
} judged;

static void count_verdict(judged *tally, bool allowed, bool found)
{
    assert_true(!allowed || found); /* what is allowed never goes wrong */
    tally->allowed += allowed;
    tally->refused += !allowed && !found;
    tally->cautious += !allowed && found;
}

/* Steps one and other at a level whose loops are in scope, or two rounds of a loop (other == one). */
static void hold_against(test_random *random, const composed *of, uint32_t one, uint32_t other,
                         const bool *scope, const sf_plan_verdict *verdict, judged *tally)
{
    oracle_answer all = {true, true};
    const sf_plan_step *loop = &of->steps[one];
    for (int model = 0; model < 60 && (all.shared || all.distributed); model++) {
        uint32_t values[ORACLE_VARIABLES], first_round = (uint32_t)test_random_below(random, 3);
        for (uint32_t v = 0; v < ORACLE_VARIABLES; v++)
            values[v] = (uint32_t)test_random_below(random, ORACLE_CHILDREN);
        static oracle_function sides[2];
        bool inner[ORACLE_VARIABLES];
        memcpy(inner, scope, sizeof inner);
        for (uint32_t side = 0; side < 2; side++) {
            sides[side].count = 0;
            if (one != other) {
                flatten(&sides[side], of, side ? other : one, values, inner, random);
                continue;
            }
            inner[loop->variable] = true;
            values[loop->variable] = (first_round + side * (1 + (uint32_t)test_random_below(random, 2))) % 3;
            for (size_t i = 0; i < loop->body_count; i++)
                flatten(&sides[side], of, loop->body[i], values, inner, random);
        }
        oracle_answer answer = oracle_run(random, &sides[0], &sides[1]);
        all.shared = all.shared && answer.shared;
        all.distributed = all.distributed && answer.distributed;
    }
    count_verdict(tally, verdict->shared, all.shared);
    count_verdict(tally, verdict->distributed, all.distributed);
}

/* Every verdict of a level and of those inside it. */
static void check_level(test_random *random, const composed *of, const sf_plan_analysis *analysis,
                        uint32_t loop, bool *scope, judged *tally)
{
    size_t count;
    const uint32_t *steps = sf_plan_level_steps(&of->algorithm, loop, &count);
    if (loop != SF_PLAN_NONE) {
        hold_against(random, of, loop, loop, scope, &sf_plan_level_of(analysis, loop)->verdict, tally);
        scope[of->steps[loop].variable] = true;
    }
    for (size_t i = 0; i < analysis->pair_count; i++)
        for (size_t k = 0; k + 1 < count; k++)
            if (analysis->pairs[i].first == steps[k])
                hold_against(random, of, steps[k], analysis->pairs[i].second, scope,
                             &analysis->pairs[i].verdict, tally);
    for (size_t i = 0; i < count; i++)
        if (of->steps[steps[i]].kind != SF_PLAN_FUNCTION)
            check_level(random, of, analysis, steps[i], scope, tally);
    if (loop != SF_PLAN_NONE) scope[of->steps[loop].variable] = false;
}

static void verdicts_of_compositions_are_what_running_gives(void **state)
{
    (void)state;
    test_random random = test_random_start("compositions", 20180269);
    judged tally = {0};
    for (int round = 0; round < 120; round++) {
        static composed made;
        compose(&made, &random);
        sf_plan_analysis analysis;
        assert_int_equal(sf_plan_analyse(&analysis, &made.algorithm, NULL), SF_OK);
        check_level(&random, &made, &analysis, SF_PLAN_NONE, (bool[ORACLE_VARIABLES]){false}, &tally);
        sf_plan_analysis_free(&analysis);
        for (size_t i = 0; i < made.algorithm.step_count; i++) {
            sf_plan_accesses_free(&made.steps[i].in);
            sf_plan_accesses_free(&made.steps[i].out);
        }
    }
    assert_true(tally.allowed > 200 && tally.refused > 200);
    /* A sentence of one name may stand for elements that two calls never have in common at once. */
    printf("  %zu allowed, %zu refused, %zu of them without need\n", tally.allowed,
           tally.refused + tally.cautious, tally.cautious);
    assert_true(tally.cautious * 10 < tally.refused);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(verdicts_are_what_running_gives),
                                       cmocka_unit_test(verdicts_of_compositions_are_what_running_gives)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
