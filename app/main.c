/* SPDX-License-Identifier: Apache-2.0 */
#include "app/command.h"
#include "app/help.h"
#include "app/manual.h"
#include "app/parse.h"
#include "core/error.h"
#include "core/log.h"
#include "core/memory.h"
#include "core/text.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <synfire/device.h>

static const app_command *find_command(const char *name)
{
    for (size_t i = 0; app_commands[i] != NULL; i++)
        if (strcmp(app_commands[i]->name, name) == 0 ||
            (app_commands[i]->alias != NULL && strcmp(app_commands[i]->alias, name) == 0))
            return app_commands[i];
    return NULL;
}

static int report(const char *command, const sf_error *error)
{
    fprintf(stderr, "synfire: %s%s%s%s%s\n", command, command[0] != '\0' ? ": " : "", error->place,
            error->place[0] != '\0' ? ": " : "", error->text);
    return sf_exit_code(error->code);
}

/* What jobs may take of each GPU's memory. */
static int limit_device_memory(sf_error *error)
{
    const char *text = getenv("SYNFIRE_DEVICE_MEMORY");
    uint64_t bytes;
    if (text == NULL)
        return SF_OK;
    if (!sf_parse_bytes(text, &bytes) || bytes == 0)
        return sf_fail(error, SF_USAGE, "SYNFIRE_DEVICE_MEMORY",
                       "found '%s', expected a size such as 8G or 512M", text);
    sf_device_set_memory_limit(bytes);
    return SF_OK;
}

static int run_command(const app_command *command, int argc, char **argv)
{
    app_call call;
    sf_error error = {0};
    int status = app_parse(&call, command, argc, argv, &error);
    call.provenance = NULL;
    if (status == SF_OK)
        status = sf_tool_provenance_new(&call.provenance, (size_t)argc, argv, &error);
    if (status == SF_OK && app_has(&call, "help")) {
        sf_text text = {0};
        app_help_command(&text, command);
        status = app_print(&text, &error);
    } else if (status == SF_OK) {
        sf_log_set_level(call.verbose ? SF_LOG_DEBUG : SF_LOG_WARNING);
        status = app_check_arguments(&call, &error);
        if (status == SF_OK)
            status = limit_device_memory(&error);
        if (status == SF_OK)
            status = command->run(&call, &error);
        app_print_log(&call);
    }
    sf_tool_provenance_free(call.provenance);
    app_parse_free(&call);
    if (status == SF_OK)
        return 0;
    int code = report(command->name, &error);
    return status == SF_CANCELLED ? 128 + (app_stop_signal() != 0 ? app_stop_signal() : SIGINT) : code;
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
        return app_print(&text, &error) == SF_OK ? 0 : report("", &error);
    }
    const app_command *command = find_command(first);
    if (command == NULL) {
        sf_fail(&error, SF_USAGE, NULL, "there is no command '%s'; `synfire --help` lists them", first);
        return report("", &error);
    }
    return run_command(command, argc - 1, argv + 1);
}
