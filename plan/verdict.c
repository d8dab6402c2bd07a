/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/verdict.h"

#include "core/error.h"
#include "core/memory.h"

#include <stdlib.h>

const char *sf_plan_answer_name(sf_plan_answer answer)
{
    return answer == SF_PLAN_PARALLEL_S ? "parallel_s" : answer == SF_PLAN_PARALLEL_D ? "parallel_d" : "none";
}

sf_plan_answer sf_plan_choose(bool shared, bool distributed)
{
    return shared ? SF_PLAN_PARALLEL_S : distributed ? SF_PLAN_PARALLEL_D : SF_PLAN_SEQUENTIAL;
}

static int add(sf_plan_dependencies *set, const sf_plan_dependency *dependency, sf_error *error)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->items[i].first == dependency->first && set->items[i].second == dependency->second &&
            sf_plan_element_same(&set->items[i].element, &dependency->element))
            return SF_OK;
    if (sf_reserve(&set->items, &set->capacity, set->count + 1, sizeof *dependency) != 0)
        return sf_fail_memory(error);
    set->items[set->count++] = *dependency;
    return SF_OK;
}

static int by_element(const void *left, const void *right)
{
    const sf_plan_element *one = &((const sf_plan_dependency *)left)->element;
    const sf_plan_element *other = &((const sf_plan_dependency *)right)->element;
    uint32_t ranks[][2] = {
        {one->tree, other->tree}, {one->depth, other->depth}, {one->parameter + 1, other->parameter + 1}};
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++)
        if (ranks[i][0] != ranks[i][1]) return ranks[i][0] < ranks[i][1] ? -1 : 1;
    return 0;
}

static int intersect(sf_plan_dependencies *set, const sf_plan_accesses *first, const sf_plan_accesses *second,
                     uint32_t loop, sf_error *error)
{
    for (size_t i = 0; i < first->count; i++)
        for (size_t k = 0; k < second->count; k++) {
            const sf_plan_access *one = &first->items[i], *other = &second->items[k];
            sf_plan_dependency found = {.first = one->operation,
                                        .second = other->operation,
                                        .commute = sf_plan_commute(one->operation, other->operation),
                                        .aggregation = sf_plan_aggregation(one->operation, other->operation)};
            if (!sf_plan_element_meet(&found.element, &one->element, &other->element, loop)) continue;
            int status = add(set, &found, error);
            if (status != SF_OK) return status;
        }
    if (set->count > 1) qsort(set->items, set->count, sizeof *set->items, by_element);
    return SF_OK;
}

static bool all_commute(const sf_plan_dependencies *set)
{
    for (size_t i = 0; i < set->count; i++)
        if (!set->items[i].commute) return false;
    return true;
}

static bool all_aggregate(const sf_plan_dependencies *set)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->items[i].aggregation == NULL) return false;
    return true;
}

/* Adds what of a set decided, each element once: what does not commute or, where copies may be joined, join.
 */
static int add_decided(sf_plan_dependencies *decided, const sf_plan_dependencies *set, bool joined,
                       sf_error *error)
{
    for (size_t i = 0; i < set->count; i++) {
        bool harmless = set->items[i].commute || (joined && set->items[i].aggregation != NULL);
        for (size_t k = 0; k < decided->count && !harmless; k++)
            harmless = sf_plan_element_same(&decided->items[k].element, &set->items[i].element);
        int status = harmless ? SF_OK : add(decided, &set->items[i], error);
        if (status != SF_OK) return status;
    }
    return SF_OK;
}

static int decide(sf_plan_verdict *verdict, sf_error *error)
{
    if (verdict->answer == SF_PLAN_PARALLEL_S) return SF_OK;
    if (!all_commute(&verdict->flow)) return add_decided(&verdict->decided, &verdict->flow, false, error);
    if (verdict->answer == SF_PLAN_SEQUENTIAL)
        return add_decided(&verdict->decided, &verdict->output, true, error);
    int status = add_decided(&verdict->decided, &verdict->anti, false, error);
    return status == SF_OK ? add_decided(&verdict->decided, &verdict->output, false, error) : status;
}

int sf_plan_judge(sf_plan_verdict *verdict, const sf_plan_accesses *first_in,
                  const sf_plan_accesses *first_out, const sf_plan_accesses *second_in,
                  const sf_plan_accesses *second_out, uint32_t loop, sf_error *error)
{
    *verdict = (sf_plan_verdict){0};
    int status = intersect(&verdict->flow, first_out, second_in, loop, error);
    if (status == SF_OK) status = intersect(&verdict->anti, first_in, second_out, loop, error);
    if (status == SF_OK) status = intersect(&verdict->output, first_out, second_out, loop, error);
    if (status != SF_OK) return status;
    bool possible = all_commute(&verdict->flow);
    verdict->shared = possible && all_commute(&verdict->anti) && all_commute(&verdict->output);
    verdict->distributed = possible && all_aggregate(&verdict->output);
    verdict->bernstein = verdict->flow.count + verdict->anti.count + verdict->output.count == 0;
    verdict->answer = sf_plan_choose(verdict->shared, verdict->distributed);
    return decide(verdict, error);
}

void sf_plan_verdict_free(sf_plan_verdict *verdict)
{
    sf_free(verdict->flow.items);
    sf_free(verdict->anti.items);
    sf_free(verdict->output.items);
    sf_free(verdict->decided.items);
    *verdict = (sf_plan_verdict){0};
}
