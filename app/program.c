/* SPDX-License-Identifier: Apache-2.0 */
#include "app/program.h"

#include "app/command.h"
#include "app/help.h"
#include "app/manual.h"
#include "app/parse.h"
#include "core/error.h"
#include "core/text.h"

#include <unistd.h>

#include <signal.h>
#include <string.h>

static const app_command *find_command(const char *name)
{
    for (size_t i = 0; app_commands[i] != NULL; i++)
        if (strcmp(app_commands[i]->name, name) == 0 ||
            (app_commands[i]->alias != NULL && strcmp(app_commands[i]->alias, name) == 0))
            return app_commands[i];
    return NULL;
}

/* `version` and `--mine` are what they are nearest to: dashes are no letters. */
static int refuse_command(const char *name, sf_error *error)
{
    sf_nearest nearest = {.word = name + strspn(name, "-")};
    sf_nearest_offer(&nearest, "version");
    for (size_t i = 0; app_commands[i] != NULL; i++) {
        sf_nearest_offer(&nearest, app_commands[i]->name);
        if (app_commands[i]->alias != NULL)
            sf_nearest_offer(&nearest, app_commands[i]->alias);
    }
    if (nearest.best != NULL && strcmp(nearest.best, "version") == 0)
        nearest.best = "--version";
    if (nearest.best != NULL)
        return sf_fail(error, SF_USAGE, NULL,
                       "there is no command '%s': did you mean `synfire %s`? `synfire --help` lists them",
                       name, nearest.best);
    if (access(name, F_OK) == 0)
        return sf_fail(error, SF_USAGE, NULL,
                       "there is no command '%s', but a file: `synfire info %s` says what is in it", name,
                       name);
    return sf_fail(error, SF_USAGE, NULL, "there is no command '%s'; `synfire --help` lists them", name);
}

/* What stands in a command's place; the last is for the build, which installs what it prints. */
static const struct {
    const char *word;
    void (*write)(sf_text *text); /* NULL: help, which takes a command's name */
} pages[] = {
    {"--version", app_help_version},  {"--help", NULL}, {"-h", NULL}, {"help", NULL},
    {"--completion", app_completion},
};

/* `synfire help` or `synfire --help`, and the page of a command whose name may follow. */
static int help(const char *name, sf_text *text, sf_error *error)
{
    const app_command *command = name != NULL ? find_command(name) : NULL;
    if (name != NULL && command == NULL)
        return refuse_command(name, error);
    if (command != NULL)
        app_help_command(text, command);
    else
        app_help_overview(text);
    return SF_OK;
}

int app_program(int argc, char **argv, const sf_ranks_way *way)
{
    signal(SIGPIPE, SIG_IGN); /* a closed pipe is an error of write, which app_print passes over ... */
    signal(SIGXFSZ, SIG_IGN); /* ... and a file that may not grow any more one with its own sentence */
    const char *first = argc > 1 ? argv[1] : "--help";
    sf_error error = {0};
    if (sf_ranks_use(way, &error) != SF_OK)
        return app_report("", &error);
    if (strcmp(first, "--manual") == 0 && argc > 2) /* for the build, too: the pages, into a folder */
        return app_manual_pages(argv[2], &error) == SF_OK ? 0 : app_report("", &error);
    for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++) {
        sf_text text = {0};
        if (strcmp(first, pages[i].word) != 0)
            continue;
        int status = SF_OK;
        if (pages[i].write != NULL)
            pages[i].write(&text);
        else
            status = help(argc > 2 ? argv[2] : NULL, &text, &error);
        if (status == SF_OK)
            status = app_print(&text, &error);
        return status == SF_OK ? 0 : app_refuse_words(argc - 1, argv + 1, &error);
    }
    const app_command *command = find_command(first);
    if (command == NULL) {
        refuse_command(first, &error);
        return app_refuse_words(argc - 1, argv + 1, &error);
    }
    return app_invoke(command, argc - 1, argv + 1);
}
