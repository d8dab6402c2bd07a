/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/plan_told.h"

#include "core/error.h"
#include "core/memory.h"
#include "pipeline/schedule.h"
#include "plan/analysis.h"
#include "tools/plan_file.h"

#include <string.h>

/* ---- the document ---- */

static const char *answer_of(const void *answer)
{
    return sf_plan_answer_name(*(const sf_plan_answer *)answer);
}

static const char *const set_names[] = {"flow", "anti", "output", NULL};

#define ROW sf_plan_told_operation
static const sf_column_row operation_rows[] = {
    SF_MEMBER_IS(TEXT, set, "of which", .words = set_names),
    SF_MEMBER_IS(TEXT, element, "as m[2]"),
    SF_MEMBER_IS(TEXT, first, "what the first does"),
    SF_MEMBER_IS(TEXT, second, "what the second does"),
    SF_MEMBER_IS(FLAG, commute, "in either order alike"),
    SF_MEMBER_IS(TEXT, aggregation, "that joins copies", .null = "there is none"),
};
#undef ROW

#define ROW sf_plan_told_verdict
static const char *const answers[] = {"none", "parallel_s", "parallel_d", NULL};
static const sf_column_row verdict_rows[] = {
    SF_LIST_IS(TEXT, flow, "elements of the model written by the first and read by the second"),
    SF_LIST_IS(TEXT, anti, "those read by the first and written by the second"),
    SF_LIST_IS(TEXT, output, "those written by both"),
    SF_LIST_IS(TEXT, decided_by, "those that the answer rests on"),
    SF_RECORDS_ARE(operations, sf_plan_told_operation, operation_rows, "what is done to these elements"),
    SF_MEMBER_IS(FLAG, shared, "they may run at once on one model"),
    SF_MEMBER_IS(FLAG, distributed, "they may on copies whose changes are joined"),
    SF_MEMBER_IS(FLAG, bernstein, "they may by Bernstein's conditions"),
    SF_WORD_IS("answer", answer, answer_of, "whether they may run at the same time, and on what",
               .words = answers),
};
#undef ROW
static const sf_table verdicts = {.name = "verdict", SF_TABLE_OF(verdict_rows)};

#define ROW sf_plan_told_pair
static const sf_column_row pair_rows[] = {
    SF_MEMBER_IS(TEXT, first, "a function"),
    SF_MEMBER_IS(TEXT, second, "the one that follows it"),
    SF_COLUMNS_OF(verdict, &verdicts),
};
static const sf_column_row loop_rows[] = {
    SF_FIELD_IS(TEXT, "loop", first, "its name"),
    SF_FIELD_IS(TEXT, "variable", second, "what it runs over"),
    SF_LIST_IS(TEXT, body, "its functions and loops"),
    SF_COLUMNS_OF(verdict, &verdicts),
};
#undef ROW

#define ROW sf_plan_told_access
static const sf_column_row access_rows[] = {
    SF_MEMBER_IS(TEXT, element, "as history"),
    SF_MEMBER_IS(TEXT, operation, "as extract"),
};
#undef ROW

#define ROW sf_plan_told_wait
static const sf_column_row wait_rows[] = {
    SF_MEMBER_IS(TEXT, stage, "that is to be over before"),
    SF_LIST_IS(TEXT, elements, "because of these"),
};
#undef ROW

#define ROW sf_plan_told_stage
static const sf_column_row stage_rows[] = {
    SF_MEMBER_IS(TEXT, stage, "its name"),
    SF_RECORDS_ARE(in, sf_plan_told_access, access_rows, "what it reads"),
    SF_RECORDS_ARE(out, sf_plan_told_access, access_rows, "what it changes"),
    SF_RECORDS_ARE(after, sf_plan_told_wait, wait_rows, "what it waits for, without what that waits for"),
    SF_LIST_IS(TEXT, beside, "stages that may run at the same time"),
    SF_MEMBER_IS(TEXT, loop, "its work, where that is a loop", .null = "it is none"),
    SF_MEMBER_IS(FLAG, apart, "a device or a rank may do a share of the loop alone"),
};
#undef ROW

#define ROW sf_plan_told
#define OF_A_FILE "of a file"
static const char *const clocks[] = {"real", "virtual", NULL};
static const sf_column_row document_rows[] = {
    SF_MEMBER_IS(TEXT, file, "as given", .null = "the pipeline itself"),
    SF_MEMBER_IS(TEXT, algorithm, "its name"),
    SF_RECORDS_ARE(pairs, sf_plan_told_pair, pair_rows, "functions that follow each other"),
    SF_RECORDS_ARE(loops, sf_plan_told_pair, loop_rows, "one round of a loop's body and the next"),
    SF_MEMBER_IS(TEXT, form, "the parallel form"),
    SF_MEMBER_IS(TEXT, clock, "of the pipeline's run", .null = OF_A_FILE, .words = clocks),
    SF_RECORDS_ARE(schedule, sf_plan_told_stage, stage_rows, "the stages of the pipeline's hop in order",
                   .null = OF_A_FILE),
};
#undef ROW

const sf_table sf_plan_document = {.name = "plan_of_an_algorithm",
                                   .about = "which steps of an algorithm may run at the same time",
                                   SF_TABLE_OF(document_rows)};

/* ---- names and verdicts ---- */

/* What is told, and of what. */
typedef struct teller {
    sf_plan_told *told;
    bool failed; /* memory was lacking */
    sf_plan_algorithm algorithm;
    sf_plan_analysis analysis;
    sf_schedule schedule; /* of the pipeline */
} teller;

static void *take(teller *of, size_t count, size_t size)
{
    void *block = sf_arena_take(&of->told->memory, count, size);
    of->failed |= block == NULL;
    return block;
}

/* Moves the text into the result's memory; frees the text. */
static const char *keep(teller *of, sf_text *text)
{
    char *kept = text->failed ? NULL : take(of, text->length + 1, 1);
    of->failed |= kept == NULL;
    if (kept != NULL) memcpy(kept, text->data != NULL ? text->data : "", text->length + 1);
    sf_text_free(text);
    return kept;
}

static const char *name_element(teller *of, const sf_plan_element *element)
{
    sf_text name = {0};
    sf_plan_element_write(&name, element, &of->algorithm.trees, &of->algorithm.variables,
                          &of->algorithm.parameters);
    return keep(of, &name);
}

/* The elements of a set, each once. */
static sf_column_list name_elements(teller *of, const sf_plan_dependencies *set)
{
    const char **names = take(of, set->count, sizeof *names);
    size_t count = 0;
    for (size_t i = 0; names != NULL && i < set->count; i++) {
        bool first = true;
        for (size_t k = 0; k < i && first; k++)
            first = !sf_plan_element_same(&set->items[k].element, &set->items[i].element);
        if (first) names[count++] = name_element(of, &set->items[i].element);
    }
    return (sf_column_list){names, count};
}

static sf_column_list tell_operations(teller *of, const sf_plan_dependencies *const sets[3])
{
    size_t most = sets[0]->count + sets[1]->count + sets[2]->count, count = 0;
    sf_plan_told_operation *operations = take(of, most, sizeof *operations);
    for (size_t s = 0; s < 3; s++)
        for (size_t i = 0; operations != NULL && i < sets[s]->count; i++) {
            const sf_plan_dependency *found = &sets[s]->items[i];
            operations[count++] = (sf_plan_told_operation){.set = set_names[s],
                                                           .element = name_element(of, &found->element),
                                                           .first = sf_plan_operation_name(found->first),
                                                           .second = sf_plan_operation_name(found->second),
                                                           .commute = found->commute,
                                                           .aggregation = found->aggregation};
        }
    return (sf_column_list){operations, count};
}

static sf_plan_told_verdict tell_verdict(teller *of, const sf_plan_verdict *verdict)
{
    const sf_plan_dependencies *const sets[] = {&verdict->flow, &verdict->anti, &verdict->output};
    return (sf_plan_told_verdict){.flow = name_elements(of, &verdict->flow),
                                  .anti = name_elements(of, &verdict->anti),
                                  .output = name_elements(of, &verdict->output),
                                  .decided_by = name_elements(of, &verdict->decided),
                                  .operations = tell_operations(of, sets),
                                  .shared = verdict->shared,
                                  .distributed = verdict->distributed,
                                  .bernstein = verdict->bernstein,
                                  .answer = verdict->answer};
}

/* Copies the name of a step, because the algorithm is freed before the result. */
static const char *name_text(teller *of, const char *name)
{
    sf_text text = {0};
    sf_text_printf(&text, "%s", name);
    return keep(of, &text);
}

static sf_column_list tell_pairs(teller *of)
{
    const sf_plan_analysis *analysis = &of->analysis;
    const sf_plan_step *steps = of->algorithm.steps;
    sf_plan_told_pair *pairs = take(of, analysis->pair_count, sizeof *pairs);
    for (size_t i = 0; pairs != NULL && i < analysis->pair_count; i++) {
        const sf_plan_pair *pair = &analysis->pairs[i];
        pairs[i] = (sf_plan_told_pair){.first = name_text(of, steps[pair->first].name),
                                       .second = name_text(of, steps[pair->second].name),
                                       .verdict = tell_verdict(of, &pair->verdict)};
    }
    return (sf_column_list){pairs, pairs != NULL ? analysis->pair_count : 0};
}

static sf_column_list tell_loops(teller *of)
{
    const sf_plan_analysis *analysis = &of->analysis;
    const sf_plan_algorithm *algorithm = &of->algorithm;
    sf_plan_told_pair *loops = take(of, analysis->level_count, sizeof *loops);
    size_t count = 0;
    for (size_t i = 0; loops != NULL && i < analysis->level_count; i++) {
        const sf_plan_level *level = &analysis->levels[i];
        if (level->loop == SF_PLAN_NONE) continue;
        const sf_plan_step *loop = &algorithm->steps[level->loop];
        const char **body = take(of, loop->body_count, sizeof *body);
        for (size_t k = 0; body != NULL && k < loop->body_count; k++)
            body[k] = name_text(of, algorithm->steps[loop->body[k]].name);
        loops[count++] =
            (sf_plan_told_pair){.first = name_text(of, loop->name),
                                .second = name_text(of, algorithm->variables.items[loop->variable]),
                                .body = {body, body != NULL ? loop->body_count : 0},
                                .verdict = tell_verdict(of, &level->verdict)};
    }
    return (sf_column_list){loops, count};
}

/* ---- the schedule of the pipeline ---- */

/* The function of a stage; its loop follows. */
static const sf_plan_step *step_of(const teller *of, size_t stage)
{
    const sf_plan_step *step = of->algorithm.steps;
    while (strcmp(step->name, of->schedule.stages[stage]->name) != 0)
        step++;
    return step;
}

/* The stages that a stage waits for, directly or through others. */
static uint32_t all_before(const sf_schedule *schedule, size_t stage)
{
    uint32_t all = schedule->after[stage];
    for (size_t i = stage; i-- > 0;)
        if ((all >> i & 1) != 0) all |= schedule->after[i];
    return all;
}

/* The stages that a stage waits for directly, without those that follow from others. */
static uint32_t just_before(const sf_schedule *schedule, size_t stage)
{
    uint32_t own = schedule->after[stage];
    for (size_t i = 0; i < stage; i++)
        if ((schedule->after[stage] >> i & 1) != 0) own &= ~all_before(schedule, i);
    return own;
}

static uint32_t beside(const sf_schedule *schedule, size_t stage)
{
    uint32_t others = ~all_before(schedule, stage) & ~(1u << stage);
    for (size_t i = 0; i < schedule->count; i++)
        if ((all_before(schedule, i) >> stage & 1) != 0) others &= ~(1u << i);
    return others & ((1u << schedule->count) - 1);
}

static sf_column_list tell_accesses(teller *of, const sf_plan_accesses *accesses)
{
    sf_plan_told_access *told = take(of, accesses->count, sizeof *told);
    for (size_t i = 0; told != NULL && i < accesses->count; i++)
        told[i] = (sf_plan_told_access){name_element(of, &accesses->items[i].element),
                                        sf_plan_operation_name(accesses->items[i].operation)};
    return (sf_column_list){told, told != NULL ? accesses->count : 0};
}

/* The elements for which one stage waits for another. */
static sf_column_list tell_reasons(teller *of, size_t before, size_t stage)
{
    const sf_plan_step *first = step_of(of, before), *second = step_of(of, stage);
    sf_plan_verdict verdict;
    if (sf_plan_judge(&verdict, &first->in, &first->out, &second->in, &second->out, SF_PLAN_NONE, NULL) !=
        SF_OK)
        of->failed = true;
    sf_column_list elements = name_elements(of, &verdict.decided);
    sf_plan_verdict_free(&verdict);
    return elements;
}

static sf_column_list tell_waits(teller *of, size_t stage)
{
    sf_plan_told_wait *waits = take(of, stage, sizeof *waits);
    size_t count = 0;
    for (size_t i = 0; waits != NULL && i < stage; i++)
        if ((just_before(&of->schedule, stage) >> i & 1) != 0)
            waits[count++] = (sf_plan_told_wait){of->schedule.stages[i]->name, tell_reasons(of, i, stage)};
    return (sf_column_list){waits, count};
}

static sf_column_list tell_beside(teller *of, size_t stage)
{
    const char **names = take(of, of->schedule.count, sizeof *names);
    size_t count = 0;
    for (size_t i = 0; names != NULL && i < of->schedule.count; i++)
        if ((beside(&of->schedule, stage) >> i & 1) != 0) names[count++] = of->schedule.stages[i]->name;
    return (sf_column_list){names, count};
}

static sf_column_list tell_schedule(teller *of)
{
    const sf_schedule *schedule = &of->schedule;
    sf_plan_told_stage *stages = take(of, schedule->count, sizeof *stages);
    for (size_t i = 0; stages != NULL && i < schedule->count; i++) {
        const sf_plan_step *step = step_of(of, i);
        stages[i] = (sf_plan_told_stage){.stage = schedule->stages[i]->name,
                                         .in = tell_accesses(of, &step->in),
                                         .out = tell_accesses(of, &step->out),
                                         .after = tell_waits(of, i),
                                         .beside = tell_beside(of, i),
                                         .loop = schedule->stages[i]->rounds.loop,
                                         .apart = schedule->apart[i]};
    }
    return (sf_column_list){stages, stages != NULL ? schedule->count : 0};
}

/* ---- the whole ---- */

static int tell(teller *of, sf_error *error)
{
    sf_plan_told *told = of->told;
    int status = sf_plan_analyse(&of->analysis, &of->algorithm, error);
    if (status == SF_OK) {
        sf_text form = {0};
        sf_plan_write_form(&form, &of->algorithm, &of->analysis);
        told->algorithm = name_text(of, of->algorithm.name);
        told->step_count = of->algorithm.step_count;
        told->pairs = tell_pairs(of);
        told->loops = tell_loops(of);
        told->form = keep(of, &form);
        if (told->file == NULL) told->schedule = tell_schedule(of);
        status = of->failed ? sf_fail_memory(error) : SF_OK;
    }
    sf_plan_analysis_free(&of->analysis);
    sf_plan_algorithm_free(&of->algorithm);
    return status;
}

int sf_plan_tell_file(sf_plan_told *told, const char *path, sf_error *error)
{
    teller of = {.told = told};
    *told = (sf_plan_told){.file = path};
    int status = sf_plan_read(&of.algorithm, path, error);
    return status == SF_OK ? tell(&of, error) : status;
}

int sf_plan_tell_pipeline(sf_plan_told *told, bool virtual_clock, bool sequential, sf_error *error)
{
    teller of = {.told = told};
    const sf_stage *const *stages = sf_hop_stages(virtual_clock);
    *told = (sf_plan_told){.clock = virtual_clock ? "virtual" : "real"};
    int status = sf_schedule_derive(&of.schedule, stages, sequential, error);
    if (status == SF_OK) status = sf_schedule_describe(&of.algorithm, stages, error);
    return status == SF_OK ? tell(&of, error) : status;
}

void sf_plan_told_free(sf_plan_told *told)
{
    sf_arena_free(&told->memory);
}
