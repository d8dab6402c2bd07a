/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/schedule.h"

#include "core/error.h"
#include "core/memory.h"
#include "plan/executor.h"

/* In real time discovery does not delay the counts; on a virtual clock, what it finds in a window is counted
 * in that window. */
static const sf_stage *const in_real_time[] = {
    &sf_stage_feed,  &sf_stage_take,  &sf_stage_slide,  &sf_stage_test,    &sf_stage_count,
    &sf_stage_tell,  &sf_stage_pairs, &sf_stage_graph,  &sf_stage_density, &sf_stage_mine,
    &sf_stage_track, &sf_stage_begin, &sf_stage_report, &sf_stage_drop,    NULL};
static const sf_stage *const on_a_virtual_clock[] = {
    &sf_stage_feed,    &sf_stage_take,  &sf_stage_slide,  &sf_stage_pairs, &sf_stage_mine,
    &sf_stage_track,   &sf_stage_test,  &sf_stage_count,  &sf_stage_tell,  &sf_stage_graph,
    &sf_stage_density, &sf_stage_begin, &sf_stage_report, &sf_stage_drop,  NULL};

const sf_stage *const *sf_hop_stages(bool virtual_clock)
{
    return virtual_clock ? on_a_virtual_clock : in_real_time;
}

/* ---- what the stages are ---- */

/* A stage's function and, where its work is a loop, that and a round of it. */
static size_t add_rows(sf_plan_declared *rows, const sf_stage *stage)
{
    const sf_stage_rounds *rounds = &stage->rounds;
    rows[0] = (sf_plan_declared){.name = stage->name, .in = stage->in, .out = stage->out};
    if (rounds->loop == NULL) return 1;
    rows[1] = (sf_plan_declared){.name = rounds->loop,
                                 .variable = rounds->variable,
                                 .from = rounds->from,
                                 .to = rounds->to,
                                 .body = rounds->round};
    rows[2] = (sf_plan_declared){.name = rounds->round, .in = rounds->in, .out = rounds->out};
    return 3;
}

int sf_schedule_describe(sf_plan_algorithm *algorithm, const sf_stage *const *stages, sf_error *error)
{
    sf_plan_declared rows[3 * SF_SCHEDULE_MOST + 1];
    sf_text composition = {0};
    size_t count = 0;
    for (size_t i = 0; stages[i] != NULL; i++) {
        count += add_rows(rows + count, stages[i]);
        sf_text_printf(&composition, " %s", stages[i]->name);
        if (stages[i]->rounds.loop != NULL) sf_text_printf(&composition, " %s", stages[i]->rounds.loop);
    }
    rows[count] = (sf_plan_declared){.name = NULL};
    const sf_plan_declaration declared = {
        .name = "hop", .functions = rows, .trees = sf_hop_trees, .composition = composition.data};
    int status = composition.failed ? sf_fail_memory(error) : sf_plan_declare(algorithm, &declared, error);
    sf_text_free(&composition);
    return status;
}

/* ---- what follows ---- */

bool sf_schedule_may_overlap(const sf_plan_verdict *verdict)
{
    bool joined = verdict->answer == SF_PLAN_PARALLEL_D;
    for (size_t i = 0; i < verdict->decided.count && joined; i++)
        joined = verdict->decided.items[i].element.tree == SF_HOP_SINKS;
    return joined || verdict->answer == SF_PLAN_PARALLEL_S;
}

static bool reads_sinks(const sf_plan_accesses *in)
{
    for (size_t i = 0; i < in->count; i++)
        if (in->items[i].element.tree == SF_HOP_SINKS) return true;
    return false;
}

/* Rounds of its loop against each other: condition 3 holds for them. */
static int judge_rounds(bool *apart, const sf_plan_algorithm *algorithm, const sf_plan_step *loop,
                        sf_error *error)
{
    const sf_plan_step *round = &algorithm->steps[loop->body[0]];
    sf_plan_verdict verdict;
    int status =
        sf_plan_judge(&verdict, &round->in, &round->out, &round->in, &round->out, loop->variable, error);
    *apart = verdict.distributed;
    sf_plan_verdict_free(&verdict);
    return status;
}

static int judge_pair(sf_schedule *schedule, size_t before, size_t stage, const sf_plan_step *first,
                      const sf_plan_step *second, sf_error *error)
{
    sf_plan_verdict verdict;
    int status =
        sf_plan_judge(&verdict, &first->in, &first->out, &second->in, &second->out, SF_PLAN_NONE, error);
    if (!sf_schedule_may_overlap(&verdict)) schedule->after[stage] |= 1u << before;
    sf_plan_verdict_free(&verdict);
    return status;
}

/* The accesses of a round are declared by its stage, so functions are judged. */
static int judge(sf_schedule *schedule, const sf_plan_algorithm *algorithm, sf_error *error)
{
    const sf_plan_step *of[SF_SCHEDULE_MOST];
    const sf_plan_step *next = algorithm->steps;
    int status = SF_OK;
    for (size_t i = 0; i < schedule->count && status == SF_OK; i++) {
        of[i] = next++;
        schedule->reads_sinks[i] = reads_sinks(&of[i]->in);
        for (size_t k = 0; k < i && status == SF_OK; k++)
            status = judge_pair(schedule, k, i, of[k], of[i], error);
        if (status != SF_OK || schedule->stages[i]->rounds.loop == NULL) continue;
        status = judge_rounds(&schedule->apart[i], algorithm, next, error);
        next += 2;
    }
    return status;
}

/* Stages that could begin together, if each took as long. */
static size_t width_of(const sf_schedule *schedule)
{
    size_t level[SF_SCHEDULE_MOST] = {0}, at_level[SF_SCHEDULE_MOST] = {0}, width = 0;
    for (size_t i = 0; i < schedule->count; i++) {
        for (size_t k = 0; k < i; k++)
            if ((schedule->after[i] >> k & 1) != 0 && level[k] >= level[i]) level[i] = level[k] + 1;
        if (++at_level[level[i]] > width) width = at_level[level[i]];
    }
    return width;
}

int sf_schedule_derive(sf_schedule *schedule, const sf_stage *const *stages, bool sequential, sf_error *error)
{
    *schedule = (sf_schedule){.stages = stages};
    while (stages[schedule->count] != NULL)
        schedule->count++;
    sf_plan_algorithm algorithm;
    int status = sf_schedule_describe(&algorithm, stages, error);
    if (status != SF_OK) return status;
    status = judge(schedule, &algorithm, error);
    for (size_t i = 0; i < schedule->count && sequential; i++)
        schedule->after[i] = (1u << i) - 1;
    schedule->width = width_of(schedule);
    sf_plan_algorithm_free(&algorithm);
    return status;
}

size_t sf_schedule_find(const sf_schedule *schedule, const sf_stage *stage)
{
    size_t number = 0;
    while (schedule->stages[number] != stage)
        number++;
    return number;
}
