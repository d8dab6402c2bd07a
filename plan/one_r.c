/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trees of the model, as in the source. m[0]: attributes and their values; both are numbered from 1, and
 * attribute 0, the t of the loops, has the classes. m[1]: the rules of the best attribute so far, whose
 * number is the element's own; m[1].n: vectors that they get right. m[2]: the same of the attribute that is
 * looked at. m[3,k,q,p]: vectors with value q of attribute k and class p; m[3,k,q].mi: the most frequent
 * class there and its count. A rule is a value and a class.
 *
 * The source leaves out of its table that f10 looks at m[1].n and m[2].n and that f11 clears m[2].n. Here
 * both are declared, as those who record what is touched find; the verdicts and the parallel form stay the
 * same.
 */
#include "plan/one_r.h"

#include "core/error.h"
#include "core/memory.h"

#include <string.h>

enum { ATTRIBUTES, BEST, RULES, COUNTS, TREES };

/* Variables and parameters in the order in which the table below names them; the constant comes first. */
enum { T, K, Q, P, J };
enum { MOST_FREQUENT, CORRECT, PARAMETERS };

/* ---- two numbers in one ---- */

static int64_t pack(uint64_t first, uint32_t class)
{
    return (int64_t)(first << 16 | class);
}

static uint64_t first_of(int64_t packed)
{
    return (uint64_t)packed >> 16;
}

static uint32_t class_of(int64_t packed)
{
    return (uint32_t)packed & 0xffff;
}

/* ---- places ---- */

static sf_plan_place value_place(const sf_plan_call *call)
{
    return sf_plan_child(sf_plan_child(sf_plan_tree(COUNTS), call->values[K]), call->values[Q]);
}

static sf_plan_place most_frequent(const sf_plan_call *call)
{
    return sf_plan_parameter(value_place(call), MOST_FREQUENT);
}

static sf_plan_place correct_of(uint32_t tree)
{
    return sf_plan_parameter(sf_plan_tree(tree), CORRECT);
}

/* ---- the functions ---- */

static void add_many(sf_plan_call *call, sf_plan_place below, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        sf_plan_call_add(call, below, 0);
}

/* Attributes and their values, and a count for each value and class. */
static void f0(sf_plan_call *call)
{
    const sf_one_r_data *data = call->program->context;
    sf_plan_place known = sf_plan_tree(ATTRIBUTES), counts = sf_plan_tree(COUNTS);
    add_many(call, known, data->attributes + 1);
    add_many(call, counts, data->attributes + 1);
    add_many(call, sf_plan_child(known, 0), data->classes + 1);
    for (uint32_t k = 1; k <= data->attributes; k++) {
        uint32_t values = data->value_counts[k - 1] + 1;
        add_many(call, sf_plan_child(known, k), values);
        add_many(call, sf_plan_child(counts, k), values);
        for (uint32_t q = 1; q < values; q++)
            add_many(call, sf_plan_child(sf_plan_child(counts, k), q), data->classes + 1);
    }
}

/* Counts a vector under its value and class. */
static void f3(sf_plan_call *call)
{
    const sf_one_r_data *data = call->program->context;
    uint32_t k = call->values[K], j = call->values[J];
    sf_plan_place at = sf_plan_child(sf_plan_tree(COUNTS), k);
    at = sf_plan_child(sf_plan_child(at, data->values[k - 1][j] + 1u), data->labels[j] + 1u);
    sf_plan_call_change(call, at, SF_PLAN_INCREMENT, 1);
}

/* Keeps the class if it is more frequent than those before. */
static void f6(sf_plan_call *call)
{
    uint32_t p = call->values[P];
    int64_t count = sf_plan_call_read(call, sf_plan_child(value_place(call), p), SF_PLAN_COMPARE);
    int64_t known = sf_plan_call_read(call, most_frequent(call), SF_PLAN_COMPARE);
    if ((uint64_t)count > first_of(known))
        sf_plan_call_change(call, most_frequent(call), SF_PLAN_ASSIGN, pack((uint64_t)count, p));
}

/* Makes a rule of the most frequent class of a value that vectors have. */
static void f8(sf_plan_call *call)
{
    int64_t found = sf_plan_call_read(call, most_frequent(call), SF_PLAN_EXTRACT);
    if (first_of(found) > 0)
        sf_plan_call_add(call, sf_plan_tree(RULES), pack(call->values[Q], class_of(found)));
}

/* Adds what the rule gets right. */
static void f9(sf_plan_call *call)
{
    int64_t found = sf_plan_call_read(call, most_frequent(call), SF_PLAN_EXTRACT);
    sf_plan_call_change(call, correct_of(RULES), SF_PLAN_INCREMENT, (int64_t)first_of(found));
}

/* Keeps the better rules. */
static void f10(sf_plan_call *call)
{
    int64_t found = sf_plan_call_read(call, correct_of(RULES), SF_PLAN_COMPARE);
    if (found <= sf_plan_call_read(call, correct_of(BEST), SF_PLAN_COMPARE)) return;
    sf_plan_call_assign(call, sf_plan_tree(BEST), sf_plan_tree(RULES));
    sf_plan_call_change(call, sf_plan_tree(BEST), SF_PLAN_ASSIGN, call->values[K]);
    sf_plan_call_change(call, correct_of(BEST), SF_PLAN_ASSIGN, found);
}

/* Clears the rules of this attribute. */
static void f11(sf_plan_call *call)
{
    sf_plan_call_remove(call, sf_plan_tree(RULES));
    sf_plan_call_change(call, correct_of(RULES), SF_PLAN_ASSIGN, 0);
}

static const sf_plan_declared functions[] = {
    {.name = "f0", .run = f0, .out = "m[0] add; m[3] add"},
    {.name = "f3", .run = f3, .out = "m[3,k,q,p] increment"},
    {.name = "f6",
     .run = f6,
     .in = "m[3,k,q',p'] compare; m[3,k,q'].mi compare",
     .out = "m[3,k,q'].mi assign"},
    {.name = "f8", .run = f8, .in = "m[3,k,q'].mi extract", .out = "m[2] add"},
    {.name = "f9", .run = f9, .in = "m[3,k,q'].mi extract", .out = "m[2].n increment"},
    {.name = "f10",
     .run = f10,
     .in = "m[1].n compare; m[2] extract; m[2].n compare",
     .out = "m[1] assign; m[1].n assign"},
    {.name = "f11", .run = f11, .out = "m[2] remove; m[2].n assign"},
    {.name = "f1", .variable = "k", .from = "[0,1]", .to = "[0,p]", .body = "f2 f4 f10 f11"},
    {.name = "f2", .over_data = true, .variable = "j", .from = "[0]", .to = "[z]", .body = "f3"},
    {.name = "f4", .variable = "q", .from = "[0,k,1]", .to = "[0,k,u]", .body = "f5 f8 f9"},
    {.name = "f5", .variable = "p", .from = "[0,t,1]", .to = "[0,t,y]", .body = "f6"},
    {.name = NULL},
};

/* ---- training ---- */

int sf_one_r_plan_make(sf_one_r_plan *plan, sf_error *error)
{
    *plan = (sf_one_r_plan){.functions = functions};
    const sf_plan_declaration declared = {
        .name = "1R", .functions = functions, .constants = "t", .composition = "f0 f1"};
    int status = sf_plan_declare(&plan->algorithm, &declared, error);
    if (status == SF_OK) status = sf_plan_analyse(&plan->analysis, &plan->algorithm, error);
    if (status != SF_OK) sf_one_r_plan_free(plan);
    return status;
}

void sf_one_r_plan_free(sf_one_r_plan *plan)
{
    sf_plan_analysis_free(&plan->analysis);
    sf_plan_algorithm_free(&plan->algorithm);
}

int sf_one_r_train(sf_plan_model **model, const sf_one_r_plan *plan, const sf_one_r_data *data,
                   const sf_one_r_how *how, sf_plan_ran *ran, sf_error *error)
{
    sf_one_r_data own = *data;
    sf_plan_program program = {.algorithm = &plan->algorithm,
                               .functions = plan->functions,
                               .analysis = how->sequential ? NULL : &plan->analysis,
                               .context = &own,
                               .vectors = data->vectors,
                               .constants = (const uint32_t[]){0},
                               .threads = how->threads,
                               .least_calls = how->least_calls,
                               .copies = how->copies};
    int status = sf_plan_model_new(model, TREES, PARAMETERS, error);
    if (status != SF_OK) return status;
    status = sf_plan_execute(&program, *model, ran, error);
    if (status != SF_OK) {
        sf_plan_model_free(*model);
        *model = NULL;
    }
    return status;
}

int sf_one_r_read(sf_one_r_rule *rule, const sf_plan_model *model, const sf_one_r_data *data, sf_error *error)
{
    *rule = (sf_one_r_rule){.attribute = SF_PLAN_NONE};
    int64_t attribute, correct, packed;
    uint32_t count;
    int status = sf_plan_model_read(model, sf_plan_tree(BEST), &attribute, error);
    if (status == SF_OK) status = sf_plan_model_read(model, correct_of(BEST), &correct, error);
    if (status == SF_OK) status = sf_plan_model_count(model, sf_plan_tree(BEST), &count, error);
    if (status != SF_OK || attribute == 0) return status;
    rule->attribute = (uint32_t)attribute - 1;
    rule->correct = (uint64_t)correct;
    rule->value_count = data->value_counts[rule->attribute];
    rule->predicted = sf_resize(NULL, rule->value_count, sizeof *rule->predicted);
    if (rule->predicted == NULL) return sf_fail_memory(error);
    memset(rule->predicted, 0xff, rule->value_count * sizeof *rule->predicted); /* SF_ONE_R_NO_CLASS */
    for (uint32_t i = 0; i < count && status == SF_OK; i++) {
        status = sf_plan_model_read(model, sf_plan_child(sf_plan_tree(BEST), i), &packed, error);
        if (status == SF_OK) rule->predicted[first_of(packed) - 1] = (uint16_t)(class_of(packed) - 1);
    }
    return status;
}
