/* SPDX-License-Identifier: Apache-2.0 */
#include "app/command.h"
#include "app/csv.h"

#include "core/describe/column.h"
#include "core/error.h"
#include "tools/plan_told.h"

#include <string.h>

/* ---- rows ---- */

/* A row of CSV; the four texts are elements of the model with a space between. */
typedef struct plan_row {
    const char *kind, *first, *second;
    const char *flow, *anti, *output, *decided_by;
    const char *answer;
} plan_row;

#define ROW plan_row
#define NO_ELEMENT "there is no such element"
static const char *const kinds[] = {"neighbours", "loop", NULL};
static const sf_column_row rows[] = {
    SF_MEMBER_IS(TEXT, kind, "two functions, one after the other, or a loop and its next round",
                 .words = kinds),
    SF_MEMBER_IS(TEXT, first, "the first function, or the loop"),
    SF_MEMBER_IS(TEXT, second, "the second one, or the variable of the loop"),
    SF_MEMBER_IS(TEXT, flow,
                 "elements of the model that the first changes and the second reads, with a space "
                 "between",
                 .null = NO_ELEMENT),
    SF_MEMBER_IS(TEXT, anti, "those that the first reads and the second changes", .null = NO_ELEMENT),
    SF_MEMBER_IS(TEXT, output, "those that both change", .null = NO_ELEMENT),
    SF_MEMBER_IS(TEXT, decided_by, "those that the answer rests on", .null = NO_ELEMENT),
    SF_MEMBER_IS(TEXT, answer, "whether they may run at the same time, and on what"),
};
#undef ROW

static const sf_table plans = {
    .name = "plan", .row = "plan_pair", .about = "neighbours and loops of an algorithm", SF_TABLE_OF(rows)};

static sf_text join(const sf_column_list *names)
{
    const char *const *items = names->items;
    sf_text joined = {0};
    for (size_t i = 0; i < names->count; i++)
        sf_text_printf(&joined, i > 0 ? " %s" : "%s", items[i]);
    return joined;
}

static void add_rows(app_csv *csv, const char *kind, const sf_column_list *pairs)
{
    const sf_plan_told_pair *items = pairs->items;
    for (size_t i = 0; i < pairs->count; i++) {
        const sf_plan_told_verdict *verdict = &items[i].verdict;
        sf_text flow = join(&verdict->flow), anti = join(&verdict->anti), output = join(&verdict->output);
        sf_text decided_by = join(&verdict->decided_by);
        app_csv_struct(csv, &plans,
                       &(plan_row){.kind = kind,
                                   .first = items[i].first,
                                   .second = items[i].second,
                                   .flow = flow.data,
                                   .anti = anti.data,
                                   .output = output.data,
                                   .decided_by = decided_by.data,
                                   .answer = sf_plan_answer_name(verdict->answer)});
        sf_text_free(&flow);
        sf_text_free(&anti);
        sf_text_free(&output);
        sf_text_free(&decided_by);
    }
}

static void print_rows(sf_text *text, const sf_plan_told *told)
{
    app_csv csv = app_csv_start_table(text, &plans);
    add_rows(&csv, "neighbours", &told->pairs);
    add_rows(&csv, "loop", &told->loops);
}

/* ---- lines ---- */

static void print_verdict(sf_text *text, const sf_plan_told_verdict *verdict)
{
    static const char *const answers[] = {"one after the other", "at once, on one model (parallels)",
                                          "at once, on a copy each, changes joined (paralleld)"};
    bool sequential = verdict->answer == SF_PLAN_SEQUENTIAL;
    const char *const *reasons = verdict->decided_by.items;
    const sf_plan_told_operation *operations = verdict->operations.items;
    sf_text_printf(text, "%s", answers[verdict->answer]);
    for (size_t i = 0; i < verdict->decided_by.count; i++)
        sf_text_printf(text, "%s%s", i > 0 ? ", " : sequential ? ", by " : ", because of ", reasons[i]);
    if (verdict->bernstein)
        sf_text_printf(text, "; they have nothing in common");
    else if (!sequential)
        sf_text_printf(text, "; by Bernstein's condition not");
    sf_text_printf(text, "\n");
    for (size_t i = 0; i < verdict->operations.count; i++) {
        const sf_plan_told_operation *on = &operations[i];
        sf_text_printf(text, "    %-7s %-14s %s, then %s: %s", on->set, on->element, on->first, on->second,
                       on->commute ? "they commute" : "do not commute");
        if (!on->commute && on->aggregation != NULL)
            sf_text_printf(text, ", changes joined by %s", on->aggregation);
        sf_text_printf(text, "\n");
    }
}

static void print_accesses(sf_text *text, const char *what, const sf_column_list *accesses,
                           bool with_operation)
{
    const sf_plan_told_access *items = accesses->items;
    for (size_t i = 0; i < accesses->count; i++) {
        sf_text_printf(text, i == 0 ? "            %-8s " : ", ", what);
        sf_text_printf(text, "%s", items[i].element);
        if (with_operation) sf_text_printf(text, " (%s)", items[i].operation);
    }
    if (accesses->count > 0) sf_text_printf(text, "\n");
}

static void print_waits(sf_text *text, const sf_column_list *waits)
{
    const sf_plan_told_wait *items = waits->items;
    for (size_t i = 0; i < waits->count; i++) {
        const char *const *elements = items[i].elements.items;
        sf_text_printf(text, "%s%s", i == 0 ? "            after    " : ", ", items[i].stage);
        for (size_t k = 0; k < items[i].elements.count; k++)
            sf_text_printf(text, "%s%s", k == 0 ? " (" : ", ", elements[k]);
        sf_text_printf(text, items[i].elements.count > 0 ? ")" : "");
    }
    if (waits->count > 0) sf_text_printf(text, "\n");
}

static void print_beside(sf_text *text, const sf_column_list *stages)
{
    const char *const *names = stages->items;
    for (size_t i = 0; i < stages->count; i++)
        sf_text_printf(text, "%s%s", i == 0 ? "            beside   " : ", ", names[i]);
    if (stages->count > 0) sf_text_printf(text, "\n");
}

static void print_schedule(sf_text *text, const sf_plan_told *told)
{
    const sf_plan_told_stage *stages = told->schedule.items;
    sf_text_printf(text, "the stages of a hop %s, and what each waits for\n",
                   strcmp(told->clock, "virtual") == 0 ? "on a virtual clock" : "in real time");
    for (size_t i = 0; i < told->schedule.count; i++) {
        sf_text_printf(text, "  %s\n", stages[i].stage);
        print_accesses(text, "reads", &stages[i].in, false);
        print_accesses(text, "changes", &stages[i].out, true);
        print_waits(text, &stages[i].after);
        print_beside(text, &stages[i].beside);
        if (stages[i].loop != NULL)
            sf_text_printf(text, "            work     a loop, %s: %s\n", stages[i].loop,
                           stages[i].apart ? "a device, or a rank, may do a share of it alone"
                                           : "in one place");
    }
}

static void print_lines(sf_text *text, const sf_plan_told *told)
{
    const sf_plan_told_pair *pairs = told->pairs.items, *loops = told->loops.items;
    if (told->file != NULL)
        sf_text_printf(text, "%s: %s, %zu functions and loops\n", told->file, told->algorithm,
                       told->step_count);
    else
        print_schedule(text, told);
    sf_text_printf(text, "\nneighbours\n");
    for (size_t i = 0; i < told->pairs.count; i++) {
        sf_text_printf(text, "  %s, %s: ", pairs[i].first, pairs[i].second);
        print_verdict(text, &pairs[i].verdict);
    }
    sf_text_printf(text, "\nloops, one round and the next\n");
    for (size_t i = 0; i < told->loops.count; i++) {
        sf_text_printf(text, "  %s over %s: ", loops[i].first, loops[i].second);
        print_verdict(text, &loops[i].verdict);
    }
    sf_text_printf(text, "\nparallel form (what runs first stands last)\n  %s", told->form);
}

/* ---- the command ---- */

static int tell(sf_plan_told *told, const app_call *call, sf_error *error)
{
    int sequential = false; /* the place of the word */
    int status = app_word(call, "schedule", &sequential, error);
    if (status != SF_OK) return status;
    if (call->argument_count == 0)
        return sf_plan_tell_pipeline(told, app_has(call, "virtual-clock"), sequential, error);
    if (app_has(call, "schedule") || app_has(call, "virtual-clock"))
        return sf_fail(error, SF_USAGE, app_has(call, "schedule") ? "--schedule" : "--virtual-clock",
                       "is of the program's own pipeline: expected no FILE.yaml beside it");
    return sf_plan_tell_file(told, call->arguments[0], error);
}

static int run(app_call *call, sf_error *error)
{
    sf_text text = {0};
    sf_plan_told told = {0};
    int status = tell(&told, call, error);
    if (status == SF_OK && app_has(call, "csv"))
        print_rows(&text, &told);
    else if (status == SF_OK && call->json)
        app_document_json(&text, call, &sf_plan_document, &told);
    else if (status == SF_OK)
        print_lines(&text, &told);
    sf_plan_told_free(&told);
    return status == SF_OK ? app_print(&text, error) : status;
}

static const app_option plan_options[] = {
    {"virtual-clock", NULL,
     "of the pipeline: as `run --replay REC --speed max` goes, where discovery comes first"},
    {"schedule", "derived|sequential", "of the pipeline: derived (default), or one stage after the other"},
    {"csv", NULL, "print CSV: neighbours, then loops; docs/formats.md has the columns"},
    {NULL, NULL, NULL},
};

const app_command app_command_plan = {
    .name = "plan",
    .group = "advanced",
    .summary = "which steps of an algorithm may run at the same time, and its parallel form",
    .arguments = "[FILE.yaml]",
    .least_arguments = 0,
    .most_arguments = 1,
    .example = "synfire plan configs/plans/1r.yaml",
    .notes =
        "FILE.yaml says what each function of an algorithm reads and changes in its model, by which "
        "operation, "
        "and how loops call them. Neighbours, and rounds of a loop, run at once on one model where what they "
        "do to the same elements commutes, and on a copy each where their changes can be joined. "
        "docs/plan.md explains the verdicts and the file; configs/plans/, installed under share/synfire, has "
        "worked "
        "examples. Without a file: the stages of a hop of `synfire run`, from what each declares to read and "
        "change, "
        "and the schedule that follows.",
    .options = {plan_options},
    .documents = {&sf_plan_document},
    .tables = {&plans},
    .run = run,
};
