/* SPDX-License-Identifier: Apache-2.0 */
/* One command, from its words to its exit code. */
#include "app/command.h"
#include "app/help.h"
#include "app/parse.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/text.h"

#include <signal.h>
#include <stdlib.h>
#include <synfire/device.h>

int app_report(const char *command, const sf_error *error)
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

int app_invoke(const app_command *command, int argc, char **argv)
{
    app_call call;
    sf_error error = {0};
    int status = app_parse(&call, command, argc, argv, &error);
    call.provenance = NULL;
    call.words = argv;
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
    int code = app_report(command->name, &error);
    return status == SF_CANCELLED ? 128 + (app_stop_signal() != 0 ? app_stop_signal() : SIGINT) : code;
}
