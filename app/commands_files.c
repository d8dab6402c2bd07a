/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of a build without what is live (SYNFIRE_LIVE off). */
#include "app/command_list.h"

APP_COMMANDS(APP_DECLARED, APP_LEFT_OUT)

const app_command *const app_commands[] = {APP_COMMANDS(APP_LISTED, APP_LEFT_OUT) NULL};

static const char *const absent[] = {APP_COMMANDS(APP_LEFT_OUT, APP_NAMED) NULL};

const app_program_words app_words_of_program = {
    .usage = "synfire",
    .about = "synfire mines recordings of multi-electrode arrays for firing chains.",
    .first = APP_FIRST_RESULT,
    .absent = absent,
    .why_absent = "this build is for files alone, as any for Windows is; that for Linux, also in the Windows "
                  "Subsystem for Linux, has all commands",
};
