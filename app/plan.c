/* SPDX-License-Identifier: Apache-2.0 */
#include "app/command.h"
#include "app/csv.h"

#include "core/error.h"

static void add_row(void *csv, const char *const cells[SF_TOOL_PLAN_CELLS])
{
    app_csv_row(csv);
    for (size_t i = 0; i < SF_TOOL_PLAN_CELLS; i++)
        app_csv_string(csv, cells[i]);
}

static int plan(const app_call *call, sf_text *text, app_csv *csv, sf_error *error)
{
    const sf_tool_plan_form as = {.made_by = call->json ? call->provenance : NULL,
                                  .row = app_has(call, "csv") ? add_row : NULL,
                                  .user = csv};
    bool sequential;
    int status = app_schedule(call, &sequential, error);
    if (status != SF_OK)
        return status;
    if (call->argument_count == 0)
        return sf_tool_own_plan(text, app_has(call, "virtual-clock"), sequential, &as, error);
    if (app_has(call, "schedule") || app_has(call, "virtual-clock"))
        return sf_fail(error, SF_USAGE, app_has(call, "schedule") ? "--schedule" : "--virtual-clock",
                       "is of the program's own pipeline: expected no FILE.yaml beside it");
    return sf_tool_plan(text, call->arguments[0], &as, error);
}

static int run(app_call *call, sf_error *error)
{
    sf_text text = {0};
    app_csv csv = {.out = &text};
    if (app_has(call, "csv"))
        csv = app_csv_start(&text, "kind,first,second,flow,anti,output,decided_by,answer");
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
    .run = run,
};
