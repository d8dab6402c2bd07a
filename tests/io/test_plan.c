/* SPDX-License-Identifier: Apache-2.0 */
#include "support/support.h"

#include "core/file.h"
#include "core/memory.h"
#include "plan/one_r.h"
#include "tools/plan_file.h"

typedef struct planned {
    sf_plan_algorithm algorithm;
    sf_plan_analysis analysis;
} planned;

static planned plan_of(const char *relative)
{
    char path[512];
    snprintf(path, sizeof path, "%s/configs/plans/%s", SYNFIRE_SOURCE, relative);
    planned plan;
    sf_error error;
    if (sf_plan_read(&plan.algorithm, path, &error) != SF_OK) fail_msg("%s: %s", error.place, error.text);
    assert_int_equal(sf_plan_analyse(&plan.analysis, &plan.algorithm, &error), SF_OK);
    return plan;
}

static void free_plan(planned *plan)
{
    sf_plan_analysis_free(&plan->analysis);
    sf_plan_algorithm_free(&plan->algorithm);
}

/* "m[1] m[2]": the elements of a set, each once. */
static void assert_elements(const planned *plan, const sf_plan_dependencies *set, const char *expected)
{
    sf_text text = {0};
    sf_text_printf(&text, "%s", "");
    for (size_t i = 0; i < set->count; i++) {
        if (i > 0 && sf_plan_element_same(&set->items[i].element, &set->items[i - 1].element)) continue;
        sf_text_printf(&text, "%s", text.length > 0 ? " " : "");
        sf_plan_element_write(&text, &set->items[i].element, &plan->algorithm.trees,
                              &plan->algorithm.variables, &plan->algorithm.parameters);
    }
    assert_string_equal(text.data, expected);
    sf_text_free(&text);
}

static void assert_form(const planned *plan, const char *expected)
{
    sf_text form = {0};
    sf_plan_write_form(&form, &plan->algorithm, &plan->analysis);
    assert_string_equal(form.data, expected);
    sf_text_free(&form);
}

typedef struct published_answer {
    const char *first, *second; /* a pair, or a loop's variable and NULL */
    const char *answer, *flow, *anti, *output, *decided;
} published_answer;

/* Kholod (2018), the table of 1R; where it leaves a set open, what its declarations give. */
static const published_answer answers[] = {
    {"f0", "f1", "none", "m[0]", "", "", "m[0]"},
    {"f2", "f4", "none", "m[3,k]", "", "", "m[3,k]"},
    {"f4", "f10", "none", "m[2]", "", "", "m[2]"},
    {"f10", "f11", "parallel_d", "", "m[2]", "", "m[2]"},
    {"f5", "f8", "none", "m[3,k,q'].mi", "", "", "m[3,k,q'].mi"},
    {"f8", "f9", "parallel_s", "", "", "", ""},
    {"k", NULL, "none", "m[1] m[2] m[2].n", "m[1] m[2] m[2].n", "m[1] m[2] m[2].n", "m[1] m[2]"},
    {"j", NULL, "parallel_s", "", "", "m[3,k,q,p]", ""},
    {"q", NULL, "parallel_d", "m[2].n", "m[2].n", "m[2] m[2].n", "m[2]"},
    {"p", NULL, "none", "m[3,k,q'].mi", "m[3,k,q'].mi", "m[3,k,q'].mi", "m[3,k,q'].mi"},
};

static const sf_plan_verdict *verdict_of(const planned *plan, const published_answer *answer)
{
    const sf_plan_algorithm *algorithm = &plan->algorithm;
    for (size_t i = 0; answer->second != NULL && i < plan->analysis.pair_count; i++) {
        const sf_plan_pair *pair = &plan->analysis.pairs[i];
        if (strcmp(algorithm->steps[pair->first].name, answer->first) == 0 &&
            strcmp(algorithm->steps[pair->second].name, answer->second) == 0)
            return &pair->verdict;
    }
    for (size_t i = 0; answer->second == NULL && i < plan->analysis.level_count; i++) {
        uint32_t loop = plan->analysis.levels[i].loop;
        if (loop != SF_PLAN_NONE &&
            strcmp(algorithm->variables.items[algorithm->steps[loop].variable], answer->first) == 0)
            return &plan->analysis.levels[i].verdict;
    }
    fail_msg("%s is not judged", answer->first);
    return NULL;
}

static void one_r_gets_the_published_answers(void **state)
{
    (void)state;
    planned plan = plan_of("1r.yaml");
    assert_int_equal(plan.analysis.pair_count, 6);
    assert_int_equal(plan.analysis.level_count, 5);
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        const sf_plan_verdict *verdict = verdict_of(&plan, &answers[i]);
        assert_string_equal(sf_plan_answer_name(verdict->answer), answers[i].answer);
        assert_elements(&plan, &verdict->flow, answers[i].flow);
        assert_elements(&plan, &verdict->anti, answers[i].anti);
        assert_elements(&plan, &verdict->output, answers[i].output);
        assert_elements(&plan, &verdict->decided, answers[i].decided);
        /* Bernstein's condition, which wants nothing in common, allows one of the four that are allowed. */
        assert_int_equal(verdict->bernstein, strcmp(answers[i].first, "f8") == 0);
    }
    free_plan(&plan);
}

static void one_r_gets_the_published_form(void **state)
{
    (void)state;
    planned plan = plan_of("1r.yaml");
    assert_form(&plan, "1RPar = (loope [0,1] [0,p] paralleld [f10,f11] ∘ (paralleld [loope [0,k,1] [0,k,u] "
                       "(parallels [f8 f9]) ∘ (loope [0,t,1] [0,t,y] f6)]) ∘ (parallels [loopd [0] [z] "
                       "f3])) ∘ f0");
    free_plan(&plan);
}

/* ---- groups, and refusals ---- */

#define HEAD "algorithm: X\nmodel:\n  - {tree: 0, levels: [a, b], parameters: [n, a.s]}\n"

static int parse(sf_plan_algorithm *algorithm, const char *yaml, sf_error *error)
{
    return sf_plan_parse(algorithm, yaml, strlen(yaml), "x.yaml", error);
}

/* f and g may share a model, g and h too, but f and h may not: neighbours alone would put all three together.
 */
static void a_group_wants_every_pair(void **state)
{
    (void)state;
    planned plan;
    sf_error error;
    assert_int_equal(parse(&plan.algorithm,
                           HEAD "functions:\n"
                                "  f: {out: {\"m[0,1]\": assign}}\n"
                                "  g: {out: {\"m[0,2]\": assign}}\n"
                                "  h: {in: {\"m[0,1]\": extract}, out: {\"m[0,3]\": assign}}\n"
                                "  i: {out: {\"m[0,4]\": assign}}\n"
                                "composition: [f, g, h, i]\n",
                           &error),
                     SF_OK);
    assert_int_equal(sf_plan_analyse(&plan.analysis, &plan.algorithm, &error), SF_OK);
    assert_form(&plan, "XPar = (parallels [h i]) ∘ (parallels [f g])");
    free_plan(&plan);
}

/* One pair is allowed on one model, the next only on copies: three together are on copies. */
static void a_group_takes_the_way_that_all_pairs_allow(void **state)
{
    (void)state;
    planned plan;
    sf_error error;
    assert_int_equal(parse(&plan.algorithm,
                           HEAD "functions:\n"
                                "  f: {out: {\"m[0,1]\": increment}}\n"
                                "  g: {out: {\"m[0,1]\": increment, \"m[0,2]\": add}}\n"
                                "  h: {out: {\"m[0,1]\": sum, \"m[0,2]\": add}}\n"
                                "composition: [f, g, h]\n",
                           &error),
                     SF_OK);
    assert_int_equal(sf_plan_analyse(&plan.analysis, &plan.algorithm, &error), SF_OK);
    assert_int_equal(plan.analysis.pair_count, 3);
    assert_form(&plan, "XPar = paralleld [f,g,h]");
    free_plan(&plan);
}

typedef struct refusal {
    const char *yaml, *place, *words;
} refusal;

static const refusal refusals[] = {
    {"", "x.yaml", "is empty"},
    {"- 1\n", "x.yaml:1:1", "is a mapping"},
    {"algorithm: X\n", "x.yaml:1:1", "needs the key 'model'"},
    {"algorithm: [\n", "x.yaml:2:1", "no YAML"},
    {HEAD "functions: {f: {}}\ncomposition: [f]\ncolour: red\n", "x.yaml:6:1", "has no key 'colour'"},
    {HEAD "functions: {f: {out: {\"m[7]\": add}}}\ncomposition: [f]\n", "x.yaml:4:23",
     "the model has no tree 7"},
    {HEAD "functions: {f: {out: {\"m[0,1,2,3]\": add}}}\ncomposition: [f]\n", "x.yaml:4:23", "has 3 indices"},
    {HEAD "functions: {f: {out: {\"m[0,1].n\": add}}}\ncomposition: [f]\n", "x.yaml:4:23", "no parameter n"},
    {HEAD "functions: {f: {out: {\"m[0,k]\": add}}}\ncomposition: [f]\n", "x.yaml:4:16", "the index k"},
    {HEAD "functions: {f: {out: {\"m[0\": add}}}\ncomposition: [f]\n", "x.yaml:4:23", "a comma or ]"},
    {HEAD "functions: {f: {out: {\"m[0]\": }}}\ncomposition: [f]\n", "x.yaml:4:31",
     "an operation is expected"},
    {HEAD "functions: {f: {out: {\"m[0]\": []}}}\ncomposition: [f]\n", "x.yaml:4:31", "needs an operation"},
    {HEAD "functions: {f: {out: {\"m[0]\": multiply}}}\ncomposition: [f]\n", "x.yaml:4:31",
     "found 'multiply'"},
    {HEAD "functions: {f: {}}\ncomposition: [g]\n", "x.yaml:5:15", "no function or loop 'g'"},
    {HEAD "functions: {f: {}, g: {}}\ncomposition: [f]\n", "x.yaml:4:23", "g is called by nobody"},
    {HEAD "functions: {f: {}}\ncomposition: [f, f]\n", "x.yaml:5:18", "f is called twice"},
    {HEAD "functions: {f: {}, f: {}}\ncomposition: [f]\n", "x.yaml:4:20", "twice"},
    {HEAD "functions: {f: {}}\n"
          "loops:\n"
          "  a: {over: data, variable: j, from: \"[0]\", to: \"[9]\", do: [b]}\n"
          "  b: {over: data, variable: i, from: \"[0]\", to: \"[9]\", do: [a]}\n"
          "composition: [f]\n",
     "x.yaml:6:6", "calls itself"},
    {HEAD "functions: {f: {}}\nloops:\n  a: {over: time, variable: j, from: \"[0]\", to: \"[9]\", do: [f]}\n"
          "composition: [a]\n",
     "x.yaml:6:13", "found 'time'"},
    {HEAD
     "functions: {f: {}}\nloops:\n  a: {over: elements, variable: j, from: \"[0]\", to: \"[9]\", do: [f]}\n"
     "composition: [a]\n",
     "x.yaml:6:42", "a loop over elements begins at one"},
    {HEAD "functions: {f: {}}\n"
          "loops:\n"
          "  a: {over: data, variable: j, from: \"[0]\", to: \"[9]\", do: [b]}\n"
          "  b: {over: data, variable: j, from: \"[0]\", to: \"[9]\", do: [f]}\n"
          "composition: [a]\n",
     "x.yaml:7:6", "its variable j is that of a around it"},
    {HEAD "functions: {f: {chooses: [j]}}\n"
          "loops:\n"
          "  a: {over: data, variable: j, from: \"[0]\", to: \"[9]\", do: [f]}\n"
          "composition: [a]\n",
     "x.yaml:4:16", "what the data choose, j, is the variable of a"},
    {HEAD "constants: [t]\nfunctions: {f: {}}\n"
          "loops:\n"
          "  a: {over: data, variable: t, from: \"[0]\", to: \"[9]\", do: [f]}\n"
          "composition: [a]\n",
     "x.yaml:7:6", "its variable t is a constant"},
};

static void what_is_wrong_is_told_with_its_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        sf_plan_algorithm algorithm;
        sf_error error = {0};
        test_assert_fails(parse(&algorithm, refusals[i].yaml, &error), &error, SF_DATA, refusals[i].words);
        assert_string_equal(error.place, refusals[i].place);
        assert_null(algorithm.steps);
    }
}

static void the_other_worked_examples_get_what_was_worked_out_by_hand(void **state)
{
    (void)state;
    planned bayes = plan_of("naive-bayes.yaml"), mining = plan_of("level-wise-mining.yaml");
    assert_form(
        &bayes,
        "NaiveBayesPar = (parallels [(parallels [loope [1,1] [1,y] f6]) (parallels [loope [0,1] [0,p] "
        "(parallels [loope [0,k,1] [0,k,u] (parallels [loope [1,1] [1,y] f10])])])]) ∘ (parallels "
        "[loopd [0] [z] (parallels [f2 (parallels [loope [0,1] [0,p] f4])])]) ∘ f0");
    assert_form(&mining,
                "MiningPar = (loope [2,1] [2,size] paralleld [(paralleld [loope [1,1] [1,y] keep]),clear] ∘ "
                "(parallels [loope [1,1] [1,y] compose]) ∘ (parallels [loope [1,1] [1,y] (parallels [loope "
                "[0,1] [0,z] summarise])]) ∘ join) ∘ read");
    free_plan(&bayes);
    free_plan(&mining);
}

/* What its functions declare beside their code is what the source says, but for a parameter that it leaves
 * out. */
static void one_r_as_a_program_has_the_same_form(void **state)
{
    (void)state;
    planned described = plan_of("1r.yaml");
    sf_one_r_plan program;
    sf_error error;
    assert_int_equal(sf_one_r_plan_make(&program, &error), SF_OK);
    sf_text form = {0};
    sf_plan_write_form(&form, &program.algorithm, &program.analysis);
    assert_form(&described, form.data);
    sf_text_free(&form);
    sf_one_r_plan_free(&program);
    free_plan(&described);
}

static int plan_all(void *context)
{
    const sf_text *yaml = context;
    sf_plan_algorithm algorithm;
    sf_plan_analysis analysis = {0};
    sf_error error;
    int status = sf_plan_parse(&algorithm, yaml->data, yaml->length, "x.yaml", &error);
    if (status == SF_OK) status = sf_plan_analyse(&analysis, &algorithm, &error);
    sf_plan_analysis_free(&analysis);
    sf_plan_algorithm_free(&algorithm);
    return status;
}

static void memory_may_run_out_anywhere(void **state)
{
    (void)state;
    sf_text yaml = {0};
    sf_error error;
    assert_int_equal(sf_file_read(&yaml, SYNFIRE_SOURCE "/configs/plans/1r.yaml", &error), SF_OK);
    test_fail_every_allocation(plan_all, &yaml);
    sf_text_free(&yaml);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_r_gets_the_published_answers),
        cmocka_unit_test(one_r_gets_the_published_form),
        cmocka_unit_test(a_group_wants_every_pair),
        cmocka_unit_test(a_group_takes_the_way_that_all_pairs_allow),
        cmocka_unit_test(what_is_wrong_is_told_with_its_place),
        cmocka_unit_test(the_other_worked_examples_get_what_was_worked_out_by_hand),
        cmocka_unit_test(one_r_as_a_program_has_the_same_form),
        cmocka_unit_test(memory_may_run_out_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
