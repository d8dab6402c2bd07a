/* SPDX-License-Identifier: Apache-2.0 */
#include "app/command.h"
#include "app/csv.h"

#include "core/describe/column.h"
#include "core/error.h"
#include "tools/plan_report.h"

#define ROW sf_plan_row
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

static void add_row(void *csv, const sf_plan_row *row)
{
    app_csv_struct(csv, &plans, row);
}

static int plan(const app_call *call, sf_text *text, app_csv *csv, sf_error *error)
{
    const sf_plan_form as = {.made_by = call->json ? call->provenance : NULL,
                             .row = app_has(call, "csv") ? add_row : NULL,
                             .user = csv};
    int sequential = false; /* the place of the word */
    int status = app_word(call, "schedule", &sequential, error);
    if (status != SF_OK)
        return status;
    if (call->argument_count == 0)
        return sf_plan_report_pipeline(text, app_has(call, "virtual-clock"), sequential, &as, error);
    if (app_has(call, "schedule") || app_has(call, "virtual-clock"))
        return sf_fail(error, SF_USAGE, app_has(call, "schedule") ? "--schedule" : "--virtual-clock",
                       "is of the program's own pipeline: expected no FILE.yaml beside it");
    return sf_plan_report_file(text, call->arguments[0], &as, error);
}

static int run(app_call *call, sf_error *error)
{
    sf_text text = {0};
    app_csv csv = {.out = &text};
    if (app_has(call, "csv"))
        csv = app_csv_start_table(&text, &plans);
    int status = plan(call, &text, &csv, error);
    if (status == SF_OK)
        return app_print(&text, error);
    sf_text_free(&text);
    return status;
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
    .tables = {&plans},
    .run = run,
};
