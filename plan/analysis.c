/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/analysis.h"

#include "core/error.h"
#include "core/memory.h"

typedef struct effects {
    sf_plan_accesses in, out;
} effects;

/* The composition as it is walked: `scope` holds at the level that is being judged. */
typedef struct walk {
    sf_plan_analysis *analysis;
    const sf_plan_algorithm *algorithm;
    sf_plan_scope scope;
    sf_error *error;
} walk;

const uint32_t *sf_plan_level_steps(const sf_plan_algorithm *algorithm, uint32_t loop, size_t *count)
{
    *count = loop == SF_PLAN_NONE ? algorithm->composition_count : algorithm->steps[loop].body_count;
    return loop == SF_PLAN_NONE ? algorithm->composition : algorithm->steps[loop].body;
}

const sf_plan_level *sf_plan_level_of(const sf_plan_analysis *analysis, uint32_t loop)
{
    const sf_plan_level *level = analysis->levels;
    while (level->loop != loop)
        level++;
    return level;
}

static void free_effects(effects *of, size_t count)
{
    for (size_t i = 0; of != NULL && i < count; i++) {
        sf_plan_accesses_free(&of[i].in);
        sf_plan_accesses_free(&of[i].out);
    }
    sf_free(of);
}

/* Judges steps i and k of a level, i before k, and keeps the pair. */
static int judge_pair(walk *at, const uint32_t *steps, const effects *of, size_t i, size_t k,
                      const sf_plan_verdict **verdict)
{
    sf_plan_analysis *analysis = at->analysis;
    if (sf_reserve(&analysis->pairs, &analysis->pair_capacity, analysis->pair_count + 1,
                   sizeof *analysis->pairs) != 0)
        return sf_fail_memory(at->error);
    sf_plan_pair *pair = &analysis->pairs[analysis->pair_count++];
    *pair = (sf_plan_pair){.first = steps[i], .second = steps[k]};
    *verdict = &pair->verdict;
    return sf_plan_judge(&pair->verdict, &of[i].in, &of[i].out, &of[k].in, &of[k].out, SF_PLAN_NONE,
                         at->error);
}

/* Task parallelism: a group takes the next step while every pair of it may run in one and the same way. */
static int group_steps(walk *at, sf_plan_level *level, const uint32_t *steps, const effects *of, size_t count)
{
    level->groups = sf_alloc(count, sizeof *level->groups);
    if (level->groups == NULL) return sf_fail_memory(at->error);
    bool shared = true, distributed = true;
    for (size_t k = 0; k < count; k++) {
        sf_plan_group *group = level->group_count > 0 ? &level->groups[level->group_count - 1] : NULL;
        bool still_shared = shared, still_distributed = distributed;
        for (size_t i = k; group != NULL && i-- > group->begin && (still_shared || still_distributed);) {
            const sf_plan_verdict *verdict = NULL;
            int status = judge_pair(at, steps, of, i, k, &verdict);
            if (status != SF_OK) return status;
            still_shared = still_shared && verdict->shared;
            still_distributed = still_distributed && verdict->distributed;
        }
        if (group != NULL && (still_shared || still_distributed)) {
            shared = still_shared;
            distributed = still_distributed;
            group->count++;
            group->shared = shared;
            group->distributed = distributed;
            group->answer = sf_plan_choose(shared, distributed);
        } else {
            shared = distributed = true;
            level->groups[level->group_count++] = (sf_plan_group){.begin = k, .count = 1};
        }
    }
    return SF_OK;
}

static int judge_tasks(walk *at, sf_plan_level *level)
{
    size_t count;
    const uint32_t *steps = sf_plan_level_steps(at->algorithm, level->loop, &count);
    effects *of = sf_alloc(count, sizeof *of);
    if (of == NULL) return sf_fail_memory(at->error);
    int status = SF_OK;
    for (size_t i = 0; i < count && status == SF_OK; i++)
        status = sf_plan_effects(&of[i].in, &of[i].out, at->algorithm, steps[i], at->scope, at->error);
    if (status == SF_OK) status = group_steps(at, level, steps, of, count);
    free_effects(of, count);
    return status;
}

/* Data parallelism: the body at one value of the loop's variable against the body at another. */
static int judge_rounds(walk *at, sf_plan_level *level)
{
    effects body = {0};
    int status = sf_plan_body_effects(&body.in, &body.out, at->algorithm, level->loop, at->scope, at->error);
    if (status == SF_OK)
        status = sf_plan_judge(&level->verdict, &body.in, &body.out, &body.in, &body.out,
                               at->algorithm->steps[level->loop].variable, at->error);
    sf_plan_accesses_free(&body.in);
    sf_plan_accesses_free(&body.out);
    return status;
}

static bool is_judged(const sf_plan_analysis *analysis, uint32_t loop)
{
    for (size_t i = 0; i < analysis->level_count; i++)
        if (analysis->levels[i].loop == loop) return true;
    return false;
}

static int judge_level(walk *at, uint32_t loop)
{
    sf_plan_analysis *analysis = at->analysis;
    if (sf_reserve(&analysis->levels, &analysis->level_capacity, analysis->level_count + 1,
                   sizeof *analysis->levels) != 0)
        return sf_fail_memory(at->error);
    sf_plan_level *level = &analysis->levels[analysis->level_count++];
    *level = (sf_plan_level){.loop = loop};
    int status = loop != SF_PLAN_NONE ? judge_rounds(at, level) : SF_OK;
    bool outer = false;
    if (loop != SF_PLAN_NONE) {
        outer = at->scope[at->algorithm->steps[loop].variable];
        at->scope[at->algorithm->steps[loop].variable] = true;
    }
    if (status == SF_OK) status = judge_tasks(at, level);
    size_t count;
    const uint32_t *steps = sf_plan_level_steps(at->algorithm, loop, &count);
    for (size_t i = 0; i < count && status == SF_OK; i++)
        if (at->algorithm->steps[steps[i]].kind != SF_PLAN_FUNCTION && !is_judged(analysis, steps[i]))
            status = judge_level(at, steps[i]);
    if (loop != SF_PLAN_NONE) at->scope[at->algorithm->steps[loop].variable] = outer;
    return status;
}

int sf_plan_analyse(sf_plan_analysis *analysis, const sf_plan_algorithm *algorithm, sf_error *error)
{
    *analysis = (sf_plan_analysis){0};
    walk at = {analysis, algorithm, sf_alloc(algorithm->variables.count, sizeof(bool)), error};
    if (at.scope == NULL) return sf_fail_memory(error);
    for (size_t i = 0; i < algorithm->constant_count; i++)
        at.scope[i] = true;
    int status = judge_level(&at, SF_PLAN_NONE);
    sf_free(at.scope);
    return status;
}

void sf_plan_analysis_free(sf_plan_analysis *analysis)
{
    for (size_t i = 0; i < analysis->pair_count; i++)
        sf_plan_verdict_free(&analysis->pairs[i].verdict);
    for (size_t i = 0; i < analysis->level_count; i++) {
        sf_plan_verdict_free(&analysis->levels[i].verdict);
        sf_free(analysis->levels[i].groups);
    }
    sf_free(analysis->pairs);
    sf_free(analysis->levels);
    *analysis = (sf_plan_analysis){0};
}
