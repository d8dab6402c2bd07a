/* SPDX-License-Identifier: Apache-2.0 */
#include "app/command.h"
#include "app/help.h"
#include "app/manual.h"
#include "app/parse.h"
#include "core/error.h"
#include "core/text.h"

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

/* What stands in a command's place; the last two are for the build, which installs what they print. */
static const struct {
    const char *word;
    void (*write)(sf_text *text);
} pages[] = {
    {"--version", app_help_version}, {"--help", app_help_overview}, {"-h", app_help_overview},
    {"help", app_help_overview},     {"--manual", app_manual_page}, {"--completion", app_completion},
};

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN); /* a closed pipe is an error of write, with its own sentence ... */
    signal(SIGXFSZ, SIG_IGN); /* ... and so is a file that may not grow any more */
    const char *first = argc > 1 ? argv[1] : "--help";
    sf_error error = {0};
    for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++) {
        sf_text text = {0};
        if (strcmp(first, pages[i].word) != 0)
            continue;
        pages[i].write(&text);
        return app_print(&text, &error) == SF_OK ? 0 : app_report("", &error);
    }
    const app_command *command = find_command(first);
    if (command == NULL) {
        sf_fail(&error, SF_USAGE, NULL, "there is no command '%s'; `synfire --help` lists them", first);
        return app_report("", &error);
    }
    return app_invoke(command, argc - 1, argv + 1);
}
