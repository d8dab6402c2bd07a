/* SPDX-License-Identifier: Apache-2.0 */
/* One command, from its words to its exit code. */
#include "app/batch.h"
#include "app/command.h"
#include "app/help.h"
#include "app/load.h"
#include "app/parse.h"
#include "core/error.h"
#include "core/ranks.h"
#include "core/text.h"

#include <stdlib.h>
#include <synfire/device.h>

/* Limits the memory that jobs may take on each GPU. */
static int limit_device_memory(sf_error *error)
{
    const char *text = getenv("SYNFIRE_DEVICE_MEMORY");
    uint64_t bytes;
    if (text == NULL) return SF_OK;
    if (!sf_parse_bytes(text, &bytes) || bytes == 0)
        return sf_fail(error, SF_USAGE, "SYNFIRE_DEVICE_MEMORY",
                       "found '%s', expected a size such as 8G or 512M", text);
    sf_device_set_memory_limit(bytes);
    return SF_OK;
}

static size_t count_words(char **words)
{
    size_t count = 0;
    while (words[count] != NULL)
        count++;
    return count;
}

static int perform(app_call *call, sf_error *error)
{
    sf_log_set_level(call->verbose ? SF_LOG_DEBUG : SF_LOG_WARNING);
    int status = app_check_arguments(call, error);
    if (status == SF_OK) status = limit_device_memory(error);
    if (status == SF_OK) status = call->command->run(call, error);
    if (status == SF_OK) app_tell_undeclared(call);
    app_doubts_warn(call);
    app_print_log(call);
    return status;
}

static int finish(const app_call *call, int status, sf_error *error)
{
    status = sf_ranks_end(status, error);
    if (status != SF_OK && call->json && call->provenance != NULL && !app_has_printed())
        app_print_refusal(call, status, error);
    app_provenance_free(call->provenance);
    if (status != SF_OK) app_report(call->command->name, error);
    return status == SF_OK && call->wanting ? 1 : app_exit_code(status, error);
}

/* A recording of several, in a process of its own. */
static int perform_one(app_call *call)
{
    sf_error error = {0};
    int status = app_provenance_new(&call->provenance, count_words(call->words), call->words, &error);
    return finish(call, status == SF_OK ? perform(call, &error) : status, &error);
}

int app_invoke(const app_command *command, int argc, char **argv)
{
    app_call call;
    app_said said = {0};
    sf_error error = {0};
    int status = app_parse(&call, command, argc, argv, &error);
    call.words = argv;
    call.said = &said;
    call.provenance = NULL;
    int made = app_provenance_new(&call.provenance, (size_t)argc, argv, status == SF_OK ? &error : NULL);
    status = status == SF_OK ? made : status;
    if (status == SF_OK && app_has(&call, "help")) {
        sf_text text = {0};
        app_help_command(&text, command);
        status = app_print(&text, &error);
    } else if (status == SF_OK && app_is_batch(&call)) {
        status = app_batch(&call, perform_one, &error);
    } else if (status == SF_OK) {
        status = perform(&call, &error);
    }
    int code = finish(&call, status, &error);
    app_parse_free(&call);
    app_said_free(&said);
    return code;
}
