/* SPDX-License-Identifier: Apache-2.0 */
#include "app/command.h"

static int run(app_call *call, sf_error *error)
{
    sf_text text = {0};
    int status = sf_tool_plan(&text, call->arguments[0], call->json ? call->provenance : NULL, error);
    if (status == SF_OK)
        return app_print(&text, error);
    sf_text_free(&text);
    return status;
}

const app_command app_command_plan = {
    .name = "plan",
    .group = "advanced",
    .summary = "which steps of an algorithm may run at the same time, and its parallel form",
    .arguments = "FILE.yaml",
    .least_arguments = 1,
    .most_arguments = 1,
    .example = "synfire plan configs/plans/1r.yaml",
    .notes =
        "FILE.yaml says what each function of an algorithm reads and changes in its model, by which "
        "operation, "
        "and how loops call them. Neighbours, and rounds of a loop, run at once on one model where what they "
        "do to the same elements commutes, and on a copy each where their changes can be joined. "
        "docs/plan.md explains the verdicts and the file; configs/plans/, installed under share/synfire, has "
        "worked "
        "examples.",
    .options = {NULL},
    .run = run,
};
