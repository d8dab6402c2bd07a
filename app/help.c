/* SPDX-License-Identifier: Apache-2.0 */
#include "app/help.h"

#include "app/parse.h"
#include "tools/versions.h"

#include <ctype.h>
#include <string.h>

static const char *const groups[][2] = {
    {"look", "Look at a recording"}, {"find", "Find episodes"}, {"connect", "Connect units"},
    {"timing", "Describe timing"},   {"live", "Run live"},      {"advanced", "Advanced"},
};

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

void app_help_overview(sf_text *text)
{
    sf_text_printf(text, "%s\n\nusage: %s [--version] [--help] COMMAND [options] [arguments]\n",
                   app_words_of_program.about, app_words_of_program.usage);
    for (size_t g = 0; g < sizeof groups / sizeof groups[0]; g++) {
        bool titled = false;
        for (size_t i = 0; app_commands[i] != NULL; i++) {
            const app_command *command = app_commands[i];
            if (strcmp(command->group, groups[g][0]) != 0) continue;
            if (!titled) sf_text_printf(text, "\n%s\n", groups[g][1]);
            titled = true;
            sf_text_printf(text, "  %-14s%s", command->name, command->summary);
            if (command->alias != NULL) sf_text_printf(text, " (also: %s)", command->alias);
            sf_text_printf(text, "\n");
        }
    }
    const char *const *absent = app_words_of_program.absent;
    for (size_t i = 0; absent != NULL && absent[i] != NULL; i++)
        sf_text_printf(text, "%s%s", i == 0 ? "\nNot here: " : ", ", absent[i]);
    if (absent != NULL) {
        sf_text_printf(text, "\n  ");
        wrap(text, app_words_of_program.why_absent, 2);
    }
    sf_text_printf(text, "\n`%s COMMAND --help` explains a command. %s", app_words_of_program.usage,
                   app_words_of_program.first);
}

void app_option_argument(sf_text *text, const app_command *command, const app_option *option)
{
    const sf_key_table *table;
    const sf_key *row = app_option_row(command, option, &table);
    const char *argument = row != NULL ? row->argument : option->argument;
    sf_text_printf(text, "%s", argument != NULL ? argument : "");
    for (size_t i = 0; argument == NULL && row != NULL && row->words != NULL && row->words[i] != NULL; i++)
        sf_text_printf(text, "%s%s", i > 0 ? "|" : "", row->words[i]);
}

#define MOST_BOUND 1e6 /* more is no bound that anybody meets */

/* "2 to 16, " */
static void add_bounds(sf_text *text, const sf_key *row)
{
    bool above = row->zero != NULL && row->least == 0;
    if ((row->type != SF_KEY_WHOLE && row->type != SF_KEY_COUNT && row->type != SF_KEY_REAL) ||
        row->most > MOST_BOUND)
        return;
    if (!above) sf_text_printf(text, "%.10g to ", row->least);
    sf_text_printf(text, "%s%.10g, ", above ? "at most " : "", row->most);
}

static void add_default(sf_text *text, const sf_key *row, const void *defaults)
{
    const void *at = sf_key_at(row, defaults);
    bool text_is_none = row->type == SF_KEY_TEXT && *(const char *const *)at == NULL;
    if (row->zero != NULL && (text_is_none || row->type == SF_KEY_SET || sf_key_is_zero(row, defaults)))
        sf_text_printf(text, "default: %s", row->zero);
    else if (row->type == SF_KEY_TEXT)
        sf_text_printf(text, "default %s", text_is_none ? row->words[0] : *(const char *const *)at);
    else if (row->type == SF_KEY_CHOICE)
        sf_text_printf(text, "default %s", row->words[*(const int *)at]);
    else
        sf_text_printf(text, "default %.10g", sf_key_number(row, defaults));
}

void app_option_sentence(sf_text *text, const app_command *command, const app_option *option)
{
    const sf_key_table *table;
    const sf_key *row = app_option_row(command, option, &table);
    sf_text_printf(text, "%s", option->help != NULL ? option->help : row->what);
    if (option->help != NULL || row->type == SF_KEY_SWITCH || row->type == SF_KEY_FORM) return;
    sf_text_printf(text, " (");
    add_bounds(text, row);
    add_default(text, row, table->defaults);
    sf_text_printf(text, ")");
}

static void list_options(sf_text *text, const app_command *command, const app_option *options)
{
    for (; options != NULL && options->name != NULL; options++) {
        sf_text left = {0}, right = {0};
        sf_text_printf(&left, "--%s ", options->name);
        app_option_argument(&left, command, options);
        app_option_sentence(&right, command, options);
        if (left.failed || right.failed) {
            text->failed = true;
        } else {
            left.length -= left.data[left.length - 1] == ' ';
            sf_text_printf(text, "  %-26.*s", (int)left.length, left.data);
            if (left.length > 24) sf_text_printf(text, "\n%28s", "");
            wrap(text, right.data, 28);
        }
        sf_text_free(&left);
        sf_text_free(&right);
    }
}

void app_help_command(sf_text *text, const app_command *command)
{
    sf_text_printf(text, "usage: %s %s [options] %s\n\n%c%s.\n", app_words_of_program.usage, command->name,
                   command->arguments, toupper((unsigned char)command->summary[0]), command->summary + 1);
    if (command->alias != NULL) sf_text_printf(text, "Also called: synfire %s\n", command->alias);
    sf_text_printf(text, "\nOptions\n");
    for (size_t i = 0; i < APP_ALL_LISTS; i++)
        list_options(text, command, app_option_list(command, i));
    if (command->notes != NULL) {
        sf_text_append(text, "\n", 1);
        wrap(text, command->notes, 0);
    }
    sf_text_printf(text, "\nExample\n  %s", command->example);
}

void app_help_version(sf_text *text)
{
    sf_text_printf(text, "synfire %s\n", sf_version());
    sf_library_versions(text);
}
