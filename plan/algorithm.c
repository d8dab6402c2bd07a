/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/algorithm.h"

#include "core/error.h"
#include "core/memory.h"

int sf_plan_accesses_add(sf_plan_accesses *accesses, const sf_plan_access *access, sf_error *error)
{
    size_t kept = 0;
    for (size_t i = 0; i < accesses->count; i++) {
        const sf_plan_access *known = &accesses->items[i];
        bool alike = known->operation == access->operation;
        if (alike && sf_plan_element_covers(&known->element, &access->element))
            return SF_OK; /* then nothing before it was covered by the new one either */
        if (!alike || !sf_plan_element_covers(&access->element, &known->element))
            accesses->items[kept++] = *known;
    }
    accesses->count = kept;
    if (sf_reserve(&accesses->items, &accesses->capacity, accesses->count + 1, sizeof *access) != 0)
        return sf_fail_memory(error);
    accesses->items[accesses->count++] = *access;
    return SF_OK;
}

void sf_plan_accesses_free(sf_plan_accesses *accesses)
{
    sf_free(accesses->items);
    *accesses = (sf_plan_accesses){0};
}

void sf_plan_algorithm_free(sf_plan_algorithm *algorithm)
{
    for (size_t i = 0; i < algorithm->step_count; i++) {
        sf_plan_step *step = &algorithm->steps[i];
        sf_free(step->name);
        sf_free(step->from);
        sf_free(step->to);
        sf_free(step->body);
        sf_plan_accesses_free(&step->in);
        sf_plan_accesses_free(&step->out);
    }
    sf_free(algorithm->steps);
    sf_free(algorithm->composition);
    sf_free(algorithm->name);
    sf_plan_names_free(&algorithm->trees);
    sf_plan_names_free(&algorithm->variables);
    sf_plan_names_free(&algorithm->parameters);
    *algorithm = (sf_plan_algorithm){0};
}

/* An access as it is seen where only the variables in scope have a value. */
static sf_plan_access generalised(const sf_plan_access *access, sf_plan_scope scope)
{
    sf_plan_access seen = *access;
    for (uint32_t level = 0; level < seen.element.depth; level++) {
        sf_plan_index *index = &seen.element.at[level];
        if (index->kind == SF_PLAN_VARIABLE && !scope[index->number])
            *index = (sf_plan_index){.kind = SF_PLAN_ANY};
    }
    sf_plan_element *element = &seen.element; /* a name means all below it: m[3,k,*,*] is m[3,k] */
    while (element->parameter == SF_PLAN_NONE && element->depth > 0 &&
           element->at[element->depth - 1].kind == SF_PLAN_ANY)
        element->depth--;
    return seen;
}

static int add_generalised(sf_plan_accesses *to, const sf_plan_accesses *from, sf_plan_scope scope,
                           sf_error *error)
{
    int status = SF_OK;
    for (size_t i = 0; i < from->count && status == SF_OK; i++) {
        sf_plan_access seen = generalised(&from->items[i], scope);
        status = sf_plan_accesses_add(to, &seen, error);
    }
    return status;
}

static int add_all(sf_plan_accesses *to, const sf_plan_accesses *from, sf_error *error)
{
    int status = SF_OK;
    for (size_t i = 0; i < from->count && status == SF_OK; i++)
        status = sf_plan_accesses_add(to, &from->items[i], error);
    return status;
}

int sf_plan_body_effects(sf_plan_accesses *in, sf_plan_accesses *out, const sf_plan_algorithm *algorithm,
                         uint32_t loop, sf_plan_scope scope, sf_error *error)
{
    const sf_plan_step *step = &algorithm->steps[loop];
    bool outer = scope[step->variable];
    scope[step->variable] = true;
    int status = SF_OK;
    for (size_t i = 0; i < step->body_count && status == SF_OK; i++)
        status = sf_plan_effects(in, out, algorithm, step->body[i], scope, error);
    scope[step->variable] = outer;
    return status;
}

int sf_plan_effects(sf_plan_accesses *in, sf_plan_accesses *out, const sf_plan_algorithm *algorithm,
                    uint32_t number, sf_plan_scope scope, sf_error *error)
{
    const sf_plan_step *step = &algorithm->steps[number];
    if (step->kind == SF_PLAN_FUNCTION) {
        int status = add_all(in, &step->in, error);
        return status == SF_OK ? add_all(out, &step->out, error) : status;
    }
    sf_plan_accesses body_in = {0}, body_out = {0};
    int status = sf_plan_body_effects(&body_in, &body_out, algorithm, number, scope, error);
    if (status == SF_OK) status = add_generalised(in, &step->in, scope, error);
    if (status == SF_OK) status = add_generalised(in, &body_in, scope, error);
    if (status == SF_OK) status = add_generalised(out, &body_out, scope, error);
    sf_plan_accesses_free(&body_in);
    sf_plan_accesses_free(&body_out);
    return status;
}
