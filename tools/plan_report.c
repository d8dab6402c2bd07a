/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of an algorithm, as lines or JSON; of the pipeline's own also how it is scheduled. */
#include "tools/plan_report.h"

#include "core/memory.h"
#include "core/provenance.h"
#include "pipeline/schedule.h"
#include "plan/analysis.h"
#include "tools/plan_file.h"

#include <string.h>

/* What is reported on. */
typedef struct subject {
    const char *path; /* of a file; NULL: the pipeline itself */
    bool virtual_clock;
    sf_schedule schedule; /* of the pipeline */
    sf_plan_algorithm algorithm;
    sf_plan_analysis analysis;
} subject;

static void write_element(sf_text *text, const sf_plan_algorithm *algorithm, const sf_plan_element *element)
{
    sf_plan_element_write(text, element, &algorithm->trees, &algorithm->variables, &algorithm->parameters);
}

/* ---- the schedule of the pipeline ---- */

/* The function of a stage; its loop follows. */
static const sf_plan_step *step_of(const subject *of, size_t stage)
{
    const sf_plan_step *step = of->algorithm.steps;
    while (strcmp(step->name, of->schedule.stages[stage]->name) != 0)
        step++;
    return step;
}

/* What a stage waits for, and what that waits for. */
static uint32_t all_before(const sf_schedule *schedule, size_t stage)
{
    uint32_t all = schedule->after[stage];
    for (size_t i = stage; i-- > 0;)
        if ((all >> i & 1) != 0)
            all |= schedule->after[i];
    return all;
}

/* What a stage waits for itself: the rest follows. */
static uint32_t just_before(const sf_schedule *schedule, size_t stage)
{
    uint32_t own = schedule->after[stage];
    for (size_t i = 0; i < stage; i++)
        if ((schedule->after[stage] >> i & 1) != 0)
            own &= ~all_before(schedule, i);
    return own;
}

static uint32_t beside(const sf_schedule *schedule, size_t stage)
{
    uint32_t others = ~all_before(schedule, stage) & ~(1u << stage);
    for (size_t i = 0; i < schedule->count; i++)
        if ((all_before(schedule, i) >> stage & 1) != 0)
            others &= ~(1u << i);
    return others & ((1u << schedule->count) - 1);
}

/* The elements for which one stage waits for another. */
static int waited_for(sf_plan_dependencies *elements, const subject *of, size_t before, size_t stage,
                      sf_error *error)
{
    const sf_plan_step *first = step_of(of, before), *second = step_of(of, stage);
    sf_plan_verdict verdict;
    int status =
        sf_plan_judge(&verdict, &first->in, &first->out, &second->in, &second->out, SF_PLAN_NONE, error);
    *elements = verdict.decided;
    verdict.decided = (sf_plan_dependencies){0};
    sf_plan_verdict_free(&verdict);
    return status;
}

/* ---- JSON ---- */

/* The elements of a set, each once. */
static void print_elements(sf_json *json, const char *key, const sf_plan_algorithm *algorithm,
                           const sf_plan_dependencies *set)
{
    sf_json_array(json, key);
    for (size_t i = 0; i < set->count; i++) {
        bool first = true;
        for (size_t k = 0; k < i && first; k++)
            first = !sf_plan_element_same(&set->items[k].element, &set->items[i].element);
        sf_text name = {0};
        write_element(&name, algorithm, &set->items[i].element);
        if (first)
            sf_json_string(json, NULL, name.data);
        sf_text_free(&name);
    }
    sf_json_end_array(json);
}

static void print_operations(sf_json *json, const char *set_name, const sf_plan_algorithm *algorithm,
                             const sf_plan_dependencies *set)
{
    for (size_t i = 0; i < set->count; i++) {
        const sf_plan_dependency *found = &set->items[i];
        sf_text name = {0};
        write_element(&name, algorithm, &found->element);
        sf_json_object(json, NULL);
        sf_json_string(json, "set", set_name);
        sf_json_string(json, "element", name.data);
        sf_json_string(json, "first", sf_plan_operation_name(found->first));
        sf_json_string(json, "second", sf_plan_operation_name(found->second));
        sf_json_bool(json, "commute", found->commute);
        sf_json_string(json, "aggregation", found->aggregation);
        sf_json_end_object(json);
        sf_text_free(&name);
    }
}

static void print_verdict(sf_json *json, const sf_plan_algorithm *algorithm, const sf_plan_verdict *verdict)
{
    print_elements(json, "flow", algorithm, &verdict->flow);
    print_elements(json, "anti", algorithm, &verdict->anti);
    print_elements(json, "output", algorithm, &verdict->output);
    print_elements(json, "decided_by", algorithm, &verdict->decided);
    sf_json_array(json, "operations");
    print_operations(json, "flow", algorithm, &verdict->flow);
    print_operations(json, "anti", algorithm, &verdict->anti);
    print_operations(json, "output", algorithm, &verdict->output);
    sf_json_end_array(json);
    sf_json_bool(json, "shared", verdict->shared);
    sf_json_bool(json, "distributed", verdict->distributed);
    sf_json_bool(json, "bernstein", verdict->bernstein);
    sf_json_string(json, "answer", sf_plan_answer_name(verdict->answer));
}

static void print_accesses(sf_json *json, const char *key, const sf_plan_algorithm *algorithm,
                           const sf_plan_accesses *accesses)
{
    sf_json_array(json, key);
    for (size_t i = 0; i < accesses->count; i++) {
        sf_text name = {0};
        write_element(&name, algorithm, &accesses->items[i].element);
        sf_json_object(json, NULL);
        sf_json_string(json, "element", name.data);
        sf_json_string(json, "operation", sf_plan_operation_name(accesses->items[i].operation));
        sf_json_end_object(json);
        sf_text_free(&name);
    }
    sf_json_end_array(json);
}

static void print_stage(sf_json *json, const subject *of, size_t stage)
{
    const sf_schedule *schedule = &of->schedule;
    const sf_plan_step *step = step_of(of, stage);
    sf_json_object(json, NULL);
    sf_json_string(json, "stage", step->name);
    print_accesses(json, "in", &of->algorithm, &step->in);
    print_accesses(json, "out", &of->algorithm, &step->out);
    sf_json_array(json, "after");
    for (size_t i = 0; i < stage; i++) {
        sf_plan_dependencies elements = {0};
        if ((just_before(schedule, stage) >> i & 1) == 0)
            continue;
        (void)waited_for(&elements, of, i, stage, NULL);
        sf_json_object(json, NULL);
        sf_json_string(json, "stage", schedule->stages[i]->name);
        print_elements(json, "elements", &of->algorithm, &elements);
        sf_json_end_object(json);
        sf_free(elements.items);
    }
    sf_json_end_array(json);
    sf_json_array(json, "beside");
    for (size_t i = 0; i < schedule->count; i++)
        if ((beside(schedule, stage) >> i & 1) != 0)
            sf_json_string(json, NULL, schedule->stages[i]->name);
    sf_json_end_array(json);
    sf_json_string(json, "loop", schedule->stages[stage]->rounds.loop);
    sf_json_bool(json, "apart", schedule->apart[stage]);
    sf_json_end_object(json);
}

static void print_schedule(sf_json *json, const subject *of)
{
    sf_json_array(json, "schedule");
    for (size_t i = 0; i < of->schedule.count; i++)
        print_stage(json, of, i);
    sf_json_end_array(json);
}

static void print_json(sf_text *text, const subject *of, const char *form, const sf_provenance *made_by)
{
    const sf_plan_algorithm *algorithm = &of->algorithm;
    const sf_plan_analysis *analysis = &of->analysis;
    sf_json json = sf_json_start(text);
    sf_json_object(&json, NULL);
    sf_json_string(&json, "file", of->path);
    sf_json_string(&json, "algorithm", algorithm->name);
    sf_json_array(&json, "pairs");
    for (size_t i = 0; i < analysis->pair_count; i++) {
        const sf_plan_pair *pair = &analysis->pairs[i];
        sf_json_object(&json, NULL);
        sf_json_string(&json, "first", algorithm->steps[pair->first].name);
        sf_json_string(&json, "second", algorithm->steps[pair->second].name);
        print_verdict(&json, algorithm, &pair->verdict);
        sf_json_end_object(&json);
    }
    sf_json_end_array(&json);
    sf_json_array(&json, "loops");
    for (size_t i = 0; i < analysis->level_count; i++) {
        const sf_plan_level *level = &analysis->levels[i];
        if (level->loop == SF_PLAN_NONE)
            continue;
        const sf_plan_step *loop = &algorithm->steps[level->loop];
        sf_json_object(&json, NULL);
        sf_json_string(&json, "loop", loop->name);
        sf_json_string(&json, "variable", algorithm->variables.items[loop->variable]);
        sf_json_array(&json, "body");
        for (size_t k = 0; k < loop->body_count; k++)
            sf_json_string(&json, NULL, algorithm->steps[loop->body[k]].name);
        sf_json_end_array(&json);
        print_verdict(&json, algorithm, &level->verdict);
        sf_json_end_object(&json);
    }
    sf_json_end_array(&json);
    sf_json_string(&json, "form", form);
    sf_json_string(&json, "clock", of->path != NULL ? NULL : of->virtual_clock ? "virtual" : "real");
    if (of->path != NULL)
        sf_json_null(&json, "schedule");
    else
        print_schedule(&json, of);
    sf_provenance_json(&json, "provenance", made_by);
    sf_json_end_object(&json);
}

/* ---- text ---- */

/* One line for each element and its two operations: "flow    m[2]  add, then extract: do not commute". */
static void write_set(sf_text *text, const char *name, const sf_plan_algorithm *algorithm,
                      const sf_plan_dependencies *set)
{
    for (size_t i = 0; i < set->count; i++) {
        const sf_plan_dependency *found = &set->items[i];
        sf_text element = {0};
        write_element(&element, algorithm, &found->element);
        sf_text_printf(text, "    %-7s %-14s %s, then %s: %s", name, element.data != NULL ? element.data : "",
                       sf_plan_operation_name(found->first), sf_plan_operation_name(found->second),
                       found->commute ? "they commute" : "do not commute");
        if (!found->commute && found->aggregation != NULL)
            sf_text_printf(text, ", changes joined by %s", found->aggregation);
        sf_text_printf(text, "\n");
        sf_text_free(&element);
    }
}

static void write_verdict(sf_text *text, const sf_plan_algorithm *algorithm, const sf_plan_verdict *verdict)
{
    static const char *const answers[] = {"one after the other", "at once, on one model (parallels)",
                                          "at once, on a copy each, changes joined (paralleld)"};
    sf_text_printf(text, "%s", answers[verdict->answer]);
    for (size_t i = 0; i < verdict->decided.count; i++) {
        sf_text_printf(text, i > 0                                   ? ", "
                             : verdict->answer == SF_PLAN_SEQUENTIAL ? ", by "
                                                                     : ", because of ");
        write_element(text, algorithm, &verdict->decided.items[i].element);
    }
    if (verdict->bernstein)
        sf_text_printf(text, "; they have nothing in common");
    else if (verdict->answer != SF_PLAN_SEQUENTIAL)
        sf_text_printf(text, "; by Bernstein's condition not");
    sf_text_printf(text, "\n");
    write_set(text, "flow", algorithm, &verdict->flow);
    write_set(text, "anti", algorithm, &verdict->anti);
    write_set(text, "output", algorithm, &verdict->output);
}

static void write_accesses(sf_text *text, const char *what, const sf_plan_algorithm *algorithm,
                           const sf_plan_accesses *accesses, bool with_operation)
{
    for (size_t i = 0; i < accesses->count; i++) {
        sf_text_printf(text, i == 0 ? "            %-8s " : ", ", what);
        write_element(text, algorithm, &accesses->items[i].element);
        if (with_operation)
            sf_text_printf(text, " (%s)", sf_plan_operation_name(accesses->items[i].operation));
    }
    if (accesses->count > 0)
        sf_text_printf(text, "\n");
}

static void write_waits(sf_text *text, const subject *of, size_t stage)
{
    const char *before = "            after    ";
    for (size_t i = 0; i < stage; i++) {
        sf_plan_dependencies elements = {0};
        if ((just_before(&of->schedule, stage) >> i & 1) == 0)
            continue;
        (void)waited_for(&elements, of, i, stage, NULL);
        sf_text_printf(text, "%s%s", before, of->schedule.stages[i]->name);
        for (size_t k = 0; k < elements.count; k++) {
            sf_text_printf(text, k == 0 ? " (" : ", ");
            write_element(text, &of->algorithm, &elements.items[k].element);
        }
        sf_text_printf(text, elements.count > 0 ? ")" : "");
        sf_free(elements.items);
        before = ", ";
    }
    sf_text_printf(text, before[0] == ',' ? "\n" : "");
}

static void write_beside(sf_text *text, const sf_schedule *schedule, size_t stage)
{
    const char *before = "            beside   ";
    for (size_t i = 0; i < schedule->count; i++) {
        if ((beside(schedule, stage) >> i & 1) == 0)
            continue;
        sf_text_printf(text, "%s%s", before, schedule->stages[i]->name);
        before = ", ";
    }
    sf_text_printf(text, before[0] == ',' ? "\n" : "");
}

static void write_schedule(sf_text *text, const subject *of)
{
    const sf_schedule *schedule = &of->schedule;
    sf_text_printf(text, "the stages of a hop %s, and what each waits for\n",
                   of->virtual_clock ? "on a virtual clock" : "in real time");
    for (size_t i = 0; i < schedule->count; i++) {
        const sf_plan_step *step = step_of(of, i);
        sf_text_printf(text, "  %s\n", step->name);
        write_accesses(text, "reads", &of->algorithm, &step->in, false);
        write_accesses(text, "changes", &of->algorithm, &step->out, true);
        write_waits(text, of, i);
        write_beside(text, schedule, i);
        if (schedule->stages[i]->rounds.loop != NULL)
            sf_text_printf(text, "            work     a loop, %s: %s\n", schedule->stages[i]->rounds.loop,
                           schedule->apart[i] ? "a device, or a rank, may do a share of it alone"
                                              : "in one place");
    }
}

static void write_report(sf_text *text, const subject *of, const char *form)
{
    const sf_plan_algorithm *algorithm = &of->algorithm;
    const sf_plan_analysis *analysis = &of->analysis;
    if (of->path != NULL)
        sf_text_printf(text, "%s: %s, %zu functions and loops\n", of->path, algorithm->name,
                       algorithm->step_count);
    else
        write_schedule(text, of);
    sf_text_printf(text, "\nneighbours\n");
    for (size_t i = 0; i < analysis->pair_count; i++) {
        const sf_plan_pair *pair = &analysis->pairs[i];
        sf_text_printf(text, "  %s, %s: ", algorithm->steps[pair->first].name,
                       algorithm->steps[pair->second].name);
        write_verdict(text, algorithm, &pair->verdict);
    }
    sf_text_printf(text, "\nloops, one round and the next\n");
    for (size_t i = 0; i < analysis->level_count; i++) {
        const sf_plan_level *level = &analysis->levels[i];
        if (level->loop == SF_PLAN_NONE)
            continue;
        const sf_plan_step *loop = &algorithm->steps[level->loop];
        sf_text_printf(text, "  %s over %s: ", loop->name, algorithm->variables.items[loop->variable]);
        write_verdict(text, algorithm, &level->verdict);
    }
    sf_text_printf(text, "\nparallel form (what runs first stands last)\n  %s", form);
}

/* ---- rows ---- */

/* Elements once each, with a space between. */
static sf_text list_elements(const sf_plan_algorithm *algorithm, const sf_plan_dependencies *set)
{
    sf_text list = {0};
    for (size_t i = 0; i < set->count; i++) {
        bool first = true;
        for (size_t k = 0; k < i && first; k++)
            first = !sf_plan_element_same(&set->items[k].element, &set->items[i].element);
        if (first && list.length > 0)
            sf_text_printf(&list, " ");
        if (first)
            write_element(&list, algorithm, &set->items[i].element);
    }
    return list;
}

typedef struct row_taker {
    const sf_plan_algorithm *algorithm;
    void (*take)(void *user, const sf_plan_row *row);
    void *user;
} row_taker;

static void give_row(const row_taker *taker, const char *kind, const char *first, const char *second,
                     const sf_plan_verdict *verdict)
{
    const sf_plan_dependencies *const sets[] = {&verdict->flow, &verdict->anti, &verdict->output,
                                                &verdict->decided};
    sf_text lists[4];
    for (size_t i = 0; i < 4; i++)
        lists[i] = list_elements(taker->algorithm, sets[i]);
    taker->take(taker->user, &(sf_plan_row){.kind = kind,
                                            .first = first,
                                            .second = second,
                                            .flow = lists[0].data,
                                            .anti = lists[1].data,
                                            .output = lists[2].data,
                                            .decided_by = lists[3].data,
                                            .answer = sf_plan_answer_name(verdict->answer)});
    for (size_t i = 0; i < 4; i++)
        sf_text_free(&lists[i]);
}

static void give_rows(const row_taker *taker, const sf_plan_analysis *analysis)
{
    const sf_plan_algorithm *algorithm = taker->algorithm;
    for (size_t i = 0; i < analysis->pair_count; i++) {
        const sf_plan_pair *pair = &analysis->pairs[i];
        give_row(taker, "neighbours", algorithm->steps[pair->first].name, algorithm->steps[pair->second].name,
                 &pair->verdict);
    }
    for (size_t i = 0; i < analysis->level_count; i++) {
        const sf_plan_level *level = &analysis->levels[i];
        if (level->loop == SF_PLAN_NONE)
            continue;
        const sf_plan_step *loop = &algorithm->steps[level->loop];
        give_row(taker, "loop", loop->name, algorithm->variables.items[loop->variable], &level->verdict);
    }
}

/* ---- the whole ---- */

static int report(sf_text *text, subject *of, const sf_plan_form *as, sf_error *error)
{
    sf_text form = {0};
    int status = sf_plan_analyse(&of->analysis, &of->algorithm, error);
    if (status == SF_OK)
        sf_plan_write_form(&form, &of->algorithm, &of->analysis);
    const char *written = form.data != NULL ? form.data : "";
    if (status == SF_OK && as->row != NULL)
        give_rows(&(row_taker){&of->algorithm, as->row, as->user}, &of->analysis);
    else if (status == SF_OK && as->made_by != NULL)
        print_json(text, of, written, as->made_by);
    else if (status == SF_OK)
        write_report(text, of, written);
    sf_text_free(&form);
    sf_plan_analysis_free(&of->analysis);
    sf_plan_algorithm_free(&of->algorithm);
    return status;
}

int sf_plan_report_file(sf_text *text, const char *path, const sf_plan_form *as, sf_error *error)
{
    subject of = {.path = path};
    int status = sf_plan_read(&of.algorithm, path, error);
    return status == SF_OK ? report(text, &of, as, error) : status;
}

int sf_plan_report_pipeline(sf_text *text, bool virtual_clock, bool sequential, const sf_plan_form *as,
                            sf_error *error)
{
    subject of = {.virtual_clock = virtual_clock};
    const sf_stage *const *stages = sf_hop_stages(virtual_clock);
    int status = sf_schedule_derive(&of.schedule, stages, sequential, error);
    if (status == SF_OK)
        status = sf_schedule_describe(&of.algorithm, stages, error);
    return status == SF_OK ? report(text, &of, as, error) : status;
}
