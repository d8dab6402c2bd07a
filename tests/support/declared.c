/* SPDX-License-Identifier: Apache-2.0 */
#include "support/declared.h"

/* Whether a loop around the step has this variable, or it is a constant: then it has one value in a call. */
static bool has_value(const sf_plan_algorithm *algorithm, uint32_t step, uint32_t variable)
{
    if (variable < algorithm->constant_count) return true;
    for (uint32_t i = 0; i < algorithm->step_count; i++)
        for (size_t k = 0; k < algorithm->steps[i].body_count; k++)
            if (algorithm->steps[i].body[k] == step)
                return algorithm->steps[i].variable == variable || has_value(algorithm, i, variable);
    return false;
}

static bool names(const sf_plan_call *call, const sf_plan_element *element, const sf_plan_place *place)
{
    if (element->tree != place->tree || element->parameter != place->parameter ||
        element->depth > place->depth ||
        (element->parameter != SF_PLAN_NONE && element->depth != place->depth))
        return false;
    for (uint32_t level = 0; level < element->depth; level++) {
        const sf_plan_index *index = &element->at[level];
        bool known =
            index->kind == SF_PLAN_NUMBER || (index->kind == SF_PLAN_VARIABLE &&
                                              has_value(call->program->algorithm, call->step, index->number));
        uint32_t value =
            index->kind == SF_PLAN_NUMBER || !known ? index->number : call->values[index->number];
        if (known && value != place->at[level]) return false;
    }
    return true;
}

void test_record_access(void *recorder, const sf_plan_call *call, sf_plan_place place,
                        sf_plan_operation operation)
{
    test_recorder *into = recorder;
    const sf_plan_step *step = &call->program->algorithm->steps[call->step];
    bool reads = operation == SF_PLAN_EXTRACT || operation == SF_PLAN_COMPARE;
    const sf_plan_accesses *declared = reads ? &step->in : &step->out;
    bool found = false;
    for (size_t i = 0; i < declared->count && !found; i++)
        found = declared->items[i].operation == operation && names(call, &declared->items[i].element, &place);
    atomic_fetch_add(&into->accesses, 1);
    if (!found && atomic_fetch_add(&into->undeclared, 1) == 0)
        snprintf(into->first, sizeof into->first, "%s: %s m[%u]", step->name,
                 sf_plan_operation_name(operation), place.tree);
}
