/* SPDX-License-Identifier: Apache-2.0 */
#include "app/help.h"

#include "app/parse.h"
#include "run/tool.h"

#include <ctype.h>
#include <string.h>

static const char *const groups[][2] = {
    {"look", "Look at a recording"}, {"find", "Find episodes"}, {"connect", "Connect units"},
    {"timing", "Describe timing"},   {"live", "Run live"},      {"advanced", "Advanced"},
};

void app_help_overview(sf_text *text)
{
    sf_text_printf(text, "%s\n\nusage: %s [--version] [--help] COMMAND [options] [arguments]\n",
                   app_words_of_program.about, app_words_of_program.usage);
    for (size_t g = 0; g < sizeof groups / sizeof groups[0]; g++) {
        bool titled = false;
        for (size_t i = 0; app_commands[i] != NULL; i++) {
            const app_command *command = app_commands[i];
            if (strcmp(command->group, groups[g][0]) != 0)
                continue;
            if (!titled)
                sf_text_printf(text, "\n%s\n", groups[g][1]);
            titled = true;
            sf_text_printf(text, "  %-11s%s", command->name, command->summary);
            if (command->alias != NULL)
                sf_text_printf(text, " (also: %s)", command->alias);
            sf_text_printf(text, "\n");
        }
    }
    sf_text_printf(text, "\n`%s COMMAND --help` explains a command. %s", app_words_of_program.usage,
                   app_words_of_program.first);
}

/* Appends words, broken before column 100 and indented. */
static void wrap(sf_text *text, const char *words, int indent)
{
    int column = indent;
    while (*words != '\0') {
        int length = (int)strcspn(words, " \n");
        if (column > indent && column + 1 + length > 100) {
            sf_text_printf(text, "\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            sf_text_append(text, " ", 1);
            column++;
        }
        sf_text_append(text, words, (size_t)length);
        column += length;
        words += length;
        if (*words == '\n') {
            sf_text_printf(text, "\n%*s", indent, "");
            column = indent;
        }
        words += *words != '\0';
    }
    sf_text_append(text, "\n", 1);
}

static void list_options(sf_text *text, const app_option *options)
{
    for (; options != NULL && options->name != NULL; options++) {
        char left[128];
        snprintf(left, sizeof left, "--%s%s%s", options->name, options->argument != NULL ? " " : "",
                 options->argument != NULL ? options->argument : "");
        sf_text_printf(text, "  %-26s", left);
        if (strlen(left) > 24)
            sf_text_printf(text, "\n%28s", "");
        wrap(text, options->help, 28);
    }
}

void app_help_command(sf_text *text, const app_command *command)
{
    sf_text_printf(text, "usage: %s %s [options] %s\n\n%c%s.\n", app_words_of_program.usage, command->name,
                   command->arguments, toupper((unsigned char)command->summary[0]), command->summary + 1);
    if (command->alias != NULL)
        sf_text_printf(text, "Also called: synfire %s\n", command->alias);
    sf_text_printf(text, "\nOptions\n");
    for (size_t i = 0; i < APP_ALL_LISTS; i++)
        list_options(text, app_option_list(command, i));
    if (command->notes != NULL) {
        sf_text_append(text, "\n", 1);
        wrap(text, command->notes, 0);
    }
    sf_text_printf(text, "\nExample\n  %s", command->example);
}

void app_help_version(sf_text *text)
{
    sf_text_printf(text, "synfire %s\n", sf_version());
    sf_tool_versions(text);
}
