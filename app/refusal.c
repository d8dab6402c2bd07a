/* SPDX-License-Identifier: Apache-2.0 */
/* How a command says that it failed: a line on stderr, with --json a document too, and its exit code. */
#include "app/parse.h"

#include "core/error.h"
#include "core/text.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

int app_report(const char *command, const sf_error *error)
{
    fprintf(stderr, "synfire: %s%s%s%s%s\n", command, command[0] != '\0' ? ": " : "", error->place,
            error->place[0] != '\0' ? ": " : "", error->text);
    return sf_exit_code(error->code);
}

int app_exit_code(int status, const sf_error *error)
{
    int signal = app_stop_signal() != 0 ? app_stop_signal() : SIGINT;
    return status == SF_CANCELLED ? 128 + signal : status == SF_OK ? 0 : sf_exit_code(error->code);
}

/* For a program, which so gets one document whatever happens; the sentence is on stderr too. */
void app_print_refusal(const app_call *call, int status, const sf_error *error)
{
    sf_text text = {0};
    sf_json json = sf_json_start(&text);
    sf_json_object(&json, NULL);
    sf_json_object(&json, "error");
    sf_json_int(&json, "exit_code", app_exit_code(status, error));
    sf_json_string(&json, "place", error->place[0] != '\0' ? error->place : NULL);
    sf_json_string(&json, "message", error->text);
    sf_json_end_object(&json);
    app_provenance_json(&json, call);
    sf_json_end_object(&json);
    app_print(&text, NULL);
}

int app_refuse_words(int argc, char **argv, const sf_error *error)
{
    app_call call = {.words = argv};
    for (int i = 0; i < argc; i++)
        call.json = call.json || strcmp(argv[i], "--json") == 0;
    if (call.json && app_provenance_new(&call.provenance, (size_t)argc, argv, NULL) == SF_OK)
        app_print_refusal(&call, (int)error->code, error);
    app_provenance_free(call.provenance);
    return app_report("", error);
}
