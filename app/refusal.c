/* SPDX-License-Identifier: Apache-2.0 */
/* How a command says that it failed: a line on stderr, with --json a document too, and its exit code. */
#include "app/parse.h"

#include "core/describe/table.h"
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

typedef struct refusal {
    int64_t exit_code;
    const char *place, *message;
} refusal;

#define ROW refusal
static const sf_column_row refusal_rows[] = {
    SF_MEMBER_IS(COUNT, exit_code,
                 "of the command, as sysexits.h has them; 130 and 143 where a signal stopped it"),
    SF_MEMBER_IS(TEXT, place, "the file, option or key, and where in it", .null = "it is of none"),
    SF_MEMBER_IS(TEXT, message, "what was found and what was expected"),
};
#undef ROW
static const sf_column_row document_rows[] = {
    SF_RECORD_BY("error", sf_column_own_row, refusal_rows, "what is wrong"),
};
const sf_table app_refusal_document = {.name = "refusal",
                                       .about = "What any command prints with --json where it fails",
                                       SF_TABLE_OF(document_rows)};

/* For a program, which so gets one document whatever happens; the sentence is on stderr too. */
void app_print_refusal(const app_call *call, int status, const sf_error *error)
{
    sf_text text = {0};
    app_document_json(
        &text, call, &app_refusal_document,
        &(refusal){app_exit_code(status, error), error->place[0] != '\0' ? error->place : NULL, error->text});
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
