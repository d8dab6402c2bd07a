/* SPDX-License-Identifier: Apache-2.0 */
#include "app/command.h"

static int run(app_call *call, sf_error *error)
{
    (void)call;
    return sf_fail(error, SF_INTERNAL, NULL, "is not built yet");
}

const app_command app_command_info = {
    .name = "info",
    .group = "look",
    .summary = "not built yet",
    .arguments = "",
    .example = "synfire info",
    .run = run,
};
