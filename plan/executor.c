/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/executor.h"

#include "core/clock.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/thread.h"

#include <stdatomic.h>
#include <string.h>

/* Shares of a loop for each thread, where they work on one model: the last ones then end at about one time.
 */
#define SHARES 4

typedef struct runner {
    const sf_plan_program *program;
    sf_team *team;
    sf_plan_accesses *touched;    /* in and out of each step, as seen from beside it */
    const sf_plan_level **levels; /* of the composition, then of each loop; NULL: in order */
    atomic_size_t shared, copied;
    double at_once_seconds;
} runner;

/* Where the execution is, on one thread. */
typedef struct frame {
    runner *of;
    sf_plan_model *model;
    uint32_t *values; /* of every variable: constants, and those of the loops that run */
    bool *scope;
    bool shared; /* others work on the model */
    bool inside; /* a share of what runs at once */
    sf_error *error;
} frame;

/* ---- accesses ---- */

static bool may(sf_plan_call *call, sf_plan_place place, sf_plan_operation operation)
{
    const sf_plan_program *program = call->program;
    if (call->status == SF_OK && program->seen != NULL)
        program->seen(program->recorder, call, place, operation);
    return call->status == SF_OK;
}

int64_t sf_plan_call_read(sf_plan_call *call, sf_plan_place place, sf_plan_operation operation)
{
    int64_t value = 0;
    if (may(call, place, operation))
        call->status = sf_plan_model_read(call->model, place, &value, call->error);
    return value;
}

uint32_t sf_plan_call_children(sf_plan_call *call, sf_plan_place place)
{
    uint32_t count = 0;
    if (may(call, place, SF_PLAN_EXTRACT))
        call->status = sf_plan_model_count(call->model, place, &count, call->error);
    return count;
}

void sf_plan_call_change(sf_plan_call *call, sf_plan_place place, sf_plan_operation operation, int64_t amount)
{
    if (may(call, place, operation))
        call->status = sf_plan_model_change(call->model, place, operation, amount, call->shared, call->error);
}

void sf_plan_call_add(sf_plan_call *call, sf_plan_place place, int64_t value)
{
    if (may(call, place, SF_PLAN_ADD))
        call->status = sf_plan_model_add(call->model, place, value, call->shared, call->error);
}

void sf_plan_call_remove(sf_plan_call *call, sf_plan_place place)
{
    if (may(call, place, SF_PLAN_REMOVE))
        call->status = sf_plan_model_remove(call->model, place, call->shared, call->error);
}

void sf_plan_call_assign(sf_plan_call *call, sf_plan_place to, sf_plan_place from)
{
    if (may(call, from, SF_PLAN_EXTRACT) && may(call, to, SF_PLAN_ASSIGN))
        call->status = sf_plan_model_assign(call->model, to, from, call->shared, call->error);
}

/* ---- how much there is to do ---- */

/* Up to which round a loop runs. */
static size_t last_round(const frame *at, uint32_t loop)
{
    const sf_plan_step *step = &at->of->program->algorithm->steps[loop];
    if (step->kind == SF_PLAN_LOOP_DATA) return at->of->program->vectors;
    const sf_plan_element *element = &step->in.items[0].element; /* m[0,k,*] */
    sf_plan_place place = sf_plan_tree(element->tree);
    for (uint32_t level = 0; level + 1 < element->depth; level++) {
        const sf_plan_index *index = &element->at[level];
        place =
            sf_plan_child(place, index->kind == SF_PLAN_NUMBER ? index->number : at->values[index->number]);
    }
    uint32_t count = 0;
    return sf_plan_model_count(at->model, place, &count, NULL) == SF_OK ? count : 0;
}

/* About how many calls of functions a step makes: a loop inside counts as its first one does. */
static uint64_t calls(const frame *at, uint32_t number)
{
    const sf_plan_step *step = &at->of->program->algorithm->steps[number];
    if (step->kind == SF_PLAN_FUNCTION) return 1;
    uint64_t body = 0;
    size_t last = last_round(at, number);
    for (size_t i = 0; i < step->body_count; i++)
        body += calls(at, step->body[i]);
    return last > step->first ? body * (last - step->first) : 0;
}

/* The level of a loop, or of the composition (SF_PLAN_NONE); NULL: all runs in order. */
static const sf_plan_level *level_of(const frame *at, uint32_t loop)
{
    return at->of->levels[loop == SF_PLAN_NONE ? 0 : 1 + loop];
}

/* ---- one after the other ---- */

static int run_level(frame *at, uint32_t loop);

static int run_rounds(frame *at, uint32_t loop, size_t begin, size_t end)
{
    uint32_t variable = at->of->program->algorithm->steps[loop].variable;
    uint32_t outer = at->values[variable];
    bool known = at->scope[variable];
    int status = SF_OK;
    at->scope[variable] = true;
    for (size_t round = begin; round < end && status == SF_OK; round++) {
        at->values[variable] = (uint32_t)round;
        status = run_level(at, loop);
    }
    at->values[variable] = outer;
    at->scope[variable] = known;
    return status;
}

static int run_function(frame *at, uint32_t step)
{
    sf_plan_call call = {at->of->program, at->model, at->shared, step, at->values, SF_OK, at->error};
    at->of->program->functions[step].run(&call);
    return call.status;
}

/* ---- at once ---- */

typedef struct share {
    frame own;
    sf_plan_model *copy;
    sf_error error;
    int status;
} share;

/* Rounds of a loop, or steps that are neighbours. */
typedef struct region {
    frame *outer;
    uint32_t loop; /* SF_PLAN_NONE: steps */
    size_t begin, rounds;
    const uint32_t *steps;
    bool copies;
    share *shares;
    size_t count;
} region;

static int run_step(frame *at, uint32_t step);

static int open_share(const region *what, share *own, uint32_t step)
{
    const frame *outer = what->outer;
    size_t variables = outer->of->program->algorithm->variables.count;
    own->own = *outer;
    own->own.error = &own->error;
    own->own.inside = true;
    own->own.shared = outer->shared || !what->copies;
    own->own.values = sf_alloc(variables, sizeof *own->own.values);
    own->own.scope = sf_alloc(variables, sizeof *own->own.scope);
    if (own->own.values == NULL || own->own.scope == NULL) return sf_fail_memory(&own->error);
    memcpy(own->own.values, outer->values, variables * sizeof *outer->values);
    memcpy(own->own.scope, outer->scope, variables * sizeof *outer->scope);
    if (!what->copies) return SF_OK;
    int status = sf_plan_model_clone(&own->copy, outer->model, &outer->of->touched[2 * (size_t)step], 2,
                                     outer->values, outer->scope, &own->error);
    own->own.model = own->copy;
    own->own.shared = false;
    return status;
}

static void do_share(void *context, unsigned worker, size_t item)
{
    (void)worker;
    const region *what = context;
    share *own = &what->shares[item];
    own->status = open_share(what, own, what->loop != SF_PLAN_NONE ? what->loop : what->steps[item]);
    if (own->status == SF_OK)
        own->status = what->loop != SF_PLAN_NONE
                          ? run_rounds(&own->own, what->loop, what->begin + what->rounds * item / what->count,
                                       what->begin + what->rounds * (item + 1) / what->count)
                          : run_step(&own->own, what->steps[item]);
}

/* Joins what was done on copies, in order; the first failure is that of the whole. */
static int close_shares(region *what)
{
    int status = SF_OK;
    for (size_t i = 0; i < what->count; i++) {
        share *own = &what->shares[i];
        if (status == SF_OK && own->status != SF_OK) {
            status = own->status;
            if (what->outer->error != NULL) *what->outer->error = own->error;
        }
        if (status == SF_OK && own->copy != NULL)
            status =
                sf_plan_model_join(what->outer->model, own->copy, what->outer->shared, what->outer->error);
        sf_plan_model_free(own->copy);
        sf_free(own->own.values);
        sf_free(own->own.scope);
    }
    return status;
}

static int run_at_once(region *what)
{
    runner *of = what->outer->of;
    what->shares = sf_alloc(what->count, sizeof *what->shares);
    if (what->shares == NULL) return sf_fail_memory(what->outer->error);
    atomic_fetch_add(what->copies ? &of->copied : &of->shared, 1);
    if (what->outer->inside)
        for (size_t i = 0; i < what->count; i++)
            do_share(what, 0, i);
    else
        sf_team_run(of->team, what->count, do_share, what);
    int status = close_shares(what);
    sf_free(what->shares);
    return status;
}

/* Whether something is run in shares: a program that does not say otherwise does so where threads gain by it.
 */
static bool in_shares(const frame *at)
{
    bool always = at->of->program->least_calls == 0;
    return always || (!at->inside && sf_team_size(at->of->team) > 1);
}

static int run_region(region *what, int (*in_order)(region *what))
{
    frame *outer = what->outer;
    double start = outer->inside ? 0 : sf_clock_seconds();
    int status = in_shares(outer) ? run_at_once(what) : in_order(what);
    if (!outer->inside) outer->of->at_once_seconds += sf_clock_seconds() - start;
    return status;
}

/* ---- steps and levels ---- */

static int rounds_in_order(region *what)
{
    return run_rounds(what->outer, what->loop, what->begin, what->begin + what->rounds);
}

static int steps_in_order(region *what)
{
    int status = SF_OK;
    for (size_t i = 0; i < what->count && status == SF_OK; i++)
        status = run_step(what->outer, what->steps[i]);
    return status;
}

static bool on_copies(const frame *at, bool shared, bool distributed)
{
    return !shared || (at->of->program->copies && distributed);
}

static int run_step(frame *at, uint32_t step)
{
    const sf_plan_program *program = at->of->program;
    if (program->algorithm->steps[step].kind == SF_PLAN_FUNCTION) return run_function(at, step);
    size_t begin = program->algorithm->steps[step].first, end = last_round(at, step);
    region what = {.outer = at, .loop = step, .begin = begin, .rounds = end > begin ? end - begin : 0};
    const sf_plan_level *level = level_of(at, step);
    if (level == NULL || level->verdict.answer == SF_PLAN_SEQUENTIAL || what.rounds < 2 ||
        calls(at, step) < program->least_calls)
        return rounds_in_order(&what);
    const sf_plan_verdict *verdict = &level->verdict;
    size_t threads = sf_team_size(at->of->team);
    what.copies = on_copies(at, verdict->shared, verdict->distributed);
    what.count = what.copies ? threads : SHARES * threads;
    if (what.count > what.rounds) what.count = what.rounds;
    return run_region(&what, rounds_in_order);
}

static int run_group(frame *at, const uint32_t *steps, const sf_plan_group *group)
{
    if (group->count == 1) return run_step(at, steps[group->begin]);
    uint64_t work = 0;
    for (size_t i = 0; i < group->count; i++)
        work += calls(at, steps[group->begin + i]);
    region what = {.outer = at,
                   .loop = SF_PLAN_NONE,
                   .steps = steps + group->begin,
                   .count = group->count,
                   .copies = on_copies(at, group->shared, group->distributed)};
    return work >= at->of->program->least_calls ? run_region(&what, steps_in_order) : steps_in_order(&what);
}

static int run_level(frame *at, uint32_t loop)
{
    size_t count;
    const uint32_t *steps = sf_plan_level_steps(at->of->program->algorithm, loop, &count);
    const sf_plan_level *level = level_of(at, loop);
    int status = SF_OK;
    for (size_t i = 0; level == NULL && i < count && status == SF_OK; i++)
        status = run_step(at, steps[i]);
    for (size_t i = 0; level != NULL && i < level->group_count && status == SF_OK; i++)
        status = run_group(at, steps, &level->groups[i]);
    return status;
}

/* ---- the whole ---- */

/* Where a level is judged, and what every step of it touches; then the same of the levels inside it. */
static int prepare(frame *at, uint32_t loop)
{
    const sf_plan_program *program = at->of->program;
    const sf_plan_algorithm *algorithm = program->algorithm;
    size_t count;
    if (program->analysis != NULL)
        at->of->levels[loop == SF_PLAN_NONE ? 0 : 1 + loop] = sf_plan_level_of(program->analysis, loop);
    const uint32_t *steps = sf_plan_level_steps(algorithm, loop, &count);
    int status = SF_OK;
    for (size_t i = 0; i < count && status == SF_OK; i++) {
        const sf_plan_step *step = &algorithm->steps[steps[i]];
        sf_plan_accesses *touched = &at->of->touched[2 * (size_t)steps[i]];
        status = sf_plan_effects(&touched[0], &touched[1], algorithm, steps[i], at->scope, at->error);
        if (status != SF_OK || step->kind == SF_PLAN_FUNCTION) continue;
        at->scope[step->variable] = true;
        status = prepare(at, steps[i]);
        at->scope[step->variable] = false;
    }
    return status;
}

static int execute(frame *at, sf_plan_ran *ran)
{
    const sf_plan_program *program = at->of->program;
    for (size_t i = 0; i < program->algorithm->constant_count; i++) {
        at->values[i] = program->constants[i];
        at->scope[i] = true;
    }
    double start = sf_clock_seconds();
    int status = prepare(at, SF_PLAN_NONE);
    if (status == SF_OK) status = run_level(at, SF_PLAN_NONE);
    if (ran != NULL)
        *ran = (sf_plan_ran){sf_clock_seconds() - start, at->of->at_once_seconds,
                             atomic_load(&at->of->shared), atomic_load(&at->of->copied)};
    return status;
}

int sf_plan_execute(const sf_plan_program *program, sf_plan_model *model, sf_plan_ran *ran, sf_error *error)
{
    size_t variables = program->algorithm->variables.count, steps = program->algorithm->step_count;
    runner of = {.program = program};
    int status = sf_team_open(&of.team, program->threads > 0 ? program->threads : sf_thread_cores(), error);
    if (status != SF_OK) return status;
    of.touched = sf_alloc(2 * steps, sizeof *of.touched);
    of.levels = sf_alloc(1 + steps, sizeof *of.levels);
    frame at = {.of = &of,
                .model = model,
                .values = sf_alloc(variables, sizeof *at.values),
                .scope = sf_alloc(variables, sizeof *at.scope),
                .error = error};
    bool failed = of.touched == NULL || of.levels == NULL || at.values == NULL || at.scope == NULL;
    status = failed ? sf_fail_memory(error) : execute(&at, ran);
    for (size_t i = 0; of.touched != NULL && i < 2 * steps; i++)
        sf_plan_accesses_free(&of.touched[i]);
    sf_free(of.touched);
    sf_free(of.levels);
    sf_free(at.values);
    sf_free(at.scope);
    sf_team_close(of.team);
    return status;
}
