/* SPDX-License-Identifier: Apache-2.0 */
/* The parallel form, in the notation of Kholod (2018): the step that runs first stands last. */
#include "plan/analysis.h"

static void write_level(sf_text *text, const sf_plan_algorithm *algorithm, const sf_plan_analysis *analysis,
                        uint32_t loop);

/* loope [0,1] [0,p] BODY */
static void write_loop(sf_text *text, const sf_plan_algorithm *algorithm, const sf_plan_analysis *analysis,
                       uint32_t loop)
{
    const sf_plan_step *step = &algorithm->steps[loop];
    sf_text_printf(text, "%s %s %s ", step->kind == SF_PLAN_LOOP_DATA ? "loopd" : "loope", step->from,
                   step->to);
    write_level(text, algorithm, analysis, loop);
}

/* A step among others: f0, (loope ...), (parallels [loopd ...]). */
static void write_step(sf_text *text, const sf_plan_algorithm *algorithm, const sf_plan_analysis *analysis,
                       uint32_t step)
{
    if (algorithm->steps[step].kind == SF_PLAN_FUNCTION) {
        sf_text_printf(text, "%s", algorithm->steps[step].name);
        return;
    }
    sf_plan_answer answer = sf_plan_level_of(analysis, step)->verdict.answer;
    if (answer == SF_PLAN_SEQUENTIAL)
        sf_text_printf(text, "(");
    else
        sf_text_printf(text, answer == SF_PLAN_PARALLEL_S ? "(parallels [" : "(paralleld [");
    write_loop(text, algorithm, analysis, step);
    sf_text_printf(text, answer == SF_PLAN_SEQUENTIAL ? ")" : "])");
}

/* Steps at once: (parallels [f8 f9]), paralleld [f10,f11], as the source writes them. */
static void write_group(sf_text *text, const sf_plan_algorithm *algorithm, const sf_plan_analysis *analysis,
                        const uint32_t *steps, const sf_plan_group *group)
{
    bool shared = group->answer == SF_PLAN_PARALLEL_S;
    sf_text_printf(text, shared ? "(parallels [" : "paralleld [");
    for (size_t i = 0; i < group->count; i++) {
        if (i > 0) sf_text_printf(text, shared ? " " : ",");
        write_step(text, algorithm, analysis, steps[group->begin + i]);
    }
    sf_text_printf(text, shared ? "])" : "]");
}

static void write_level(sf_text *text, const sf_plan_algorithm *algorithm, const sf_plan_analysis *analysis,
                        uint32_t loop)
{
    const sf_plan_level *level = sf_plan_level_of(analysis, loop);
    size_t count;
    const uint32_t *steps = sf_plan_level_steps(algorithm, loop, &count);
    for (size_t i = level->group_count; i-- > 0;) {
        const sf_plan_group *group = &level->groups[i];
        if (group->count > 1)
            write_group(text, algorithm, analysis, steps, group);
        else
            write_step(text, algorithm, analysis, steps[group->begin]);
        if (i > 0) sf_text_printf(text, " ∘ ");
    }
}

void sf_plan_write_form(sf_text *text, const sf_plan_algorithm *algorithm, const sf_plan_analysis *analysis)
{
    sf_text_printf(text, "%sPar = ", algorithm->name);
    write_level(text, algorithm, analysis, SF_PLAN_NONE);
}
