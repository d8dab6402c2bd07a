/* SPDX-License-Identifier: Apache-2.0 */
#include "app/parse.h"

#include "core/describe/table.h"
#include "core/error.h"
#include "core/provenance.h"

#include <string.h>

/* The library's tables, then the commands'; NULL beyond the last. */
static const sf_table *table_at(size_t index)
{
    size_t at = 0;
    while (sf_table_at(at) != NULL)
        if (at++ == index) return sf_table_at(index);
    for (const app_command *const *command = app_commands; *command != NULL; command++)
        for (size_t t = 0; t < APP_RESULT_TABLES && (*command)->tables[t] != NULL; t++)
            if (at++ == index) return (*command)->tables[t];
    return NULL;
}

/* The next requested table, or the next of all if none was requested; NULL beyond the last. */
static const sf_table *next_table(size_t *at, const char *asked)
{
    const sf_table *table = table_at((*at)++);
    while (table != NULL && asked != NULL && strcmp(table->name, asked) != 0)
        table = table_at((*at)++);
    return table;
}

static void print_document(sf_json *json, const char *name, const char *command, const sf_table *document)
{
    sf_json_object(json, NULL);
    sf_json_string(json, "name", name);
    sf_json_string(json, "about", document->about);
    sf_json_string(json, "command", command);
    sf_table_json_columns(json, "columns", document);
    sf_json_end_object(json);
}

static void print_documents(sf_json *json)
{
    for (const app_command *const *command = app_commands; *command != NULL; command++)
        for (size_t d = 0; d < APP_DOCUMENTS && (*command)->documents[d] != NULL; d++)
            print_document(json, d == 0 ? (*command)->name : (*command)->documents[d]->name, (*command)->name,
                           (*command)->documents[d]);
    print_document(json, app_refusal_document.name, NULL, &app_refusal_document);
    const sf_table *const *others = app_words_of_program.documents;
    for (size_t i = 0; others != NULL && others[i] != NULL; i++)
        print_document(json, others[i]->name, NULL, others[i]);
}

static bool is_configuration(const char *asked)
{
    return app_words_of_program.configuration != NULL && asked != NULL && strcmp(asked, "configuration") == 0;
}

static void print_json(sf_text *text, const app_call *call, const char *asked)
{
    sf_json json = sf_json_start(text);
    sf_json_object(&json, NULL);
    sf_json_array(&json, "tables");
    size_t at = 0;
    for (const sf_table *table; (table = next_table(&at, asked)) != NULL;) {
        sf_json_object(&json, NULL);
        sf_json_string(&json, "name", table->name);
        sf_json_string(&json, "row", table->row);
        sf_json_string(&json, "about", table->about);
        sf_table_json_columns(&json, "columns", table);
        sf_json_end_object(&json);
    }
    sf_json_end_array(&json);
    sf_json_array(&json, "documents");
    if (asked == NULL) print_documents(&json);
    sf_json_end_array(&json);
    sf_json_array(&json, "configuration");
    if (app_words_of_program.configuration_json != NULL && (asked == NULL || is_configuration(asked)))
        app_words_of_program.configuration_json(&json);
    sf_json_end_array(&json);
    app_provenance_json(&json, call);
    sf_json_end_object(&json);
}

static void print_about(app_table *table, const sf_column *is)
{
    sf_text about = {0};
    sf_text_printf(&about, "%s", is->about);
    for (size_t i = 0; is->words != NULL && is->words[i] != NULL; i++)
        sf_text_printf(&about, "%s%s", i == 0 ? " (" : ", ", is->words[i]);
    const char *null = is->null != NULL ? is->null : is->item_null;
    sf_text_printf(&about, "%s%s%s", is->words != NULL ? ")" : "", null != NULL ? "; null: " : "",
                   null != NULL ? null : "");
    app_table_cell(table, "%s", about.failed ? is->about : about.data);
    sf_text_free(&about);
}

static void print_columns(sf_text *text, const sf_table *of)
{
    app_table table = {0};
    static const char *const heads[] = {"column", "type", "unit", "what it is; null:"};
    app_table_heads(&table, heads, sizeof heads / sizeof *heads);
    for (size_t i = 0; i < of->column_count; i++) {
        const sf_column *is = sf_table_column(of, i);
        app_table_cell(&table, "%s", is->name);
        app_table_cell(&table, "%s%s", is->list ? "list of " : "", sf_column_type_name(is->type));
        app_table_cell(&table, "%s", is->unit != NULL ? is->unit : "");
        print_about(&table, is);
    }
    app_table_print(&table, text, sizeof heads / sizeof *heads);
    for (size_t i = 0; i < of->column_count; i++)
        if (sf_table_column(of, i)->type == SF_COLUMN_RECORD) {
            sf_table record = sf_table_record(of, i);
            sf_text_printf(text, "\n%s, each:\n", record.name);
            print_columns(text, &record);
        }
}

static void print_tables(sf_text *text, const char *asked)
{
    size_t at = 0;
    for (const sf_table *table; (table = next_table(&at, asked)) != NULL;) {
        sf_text_printf(text, "%s%s: %s\n\n", text->length > 0 ? "\n" : "", table->name, table->about);
        print_columns(text, table);
    }
}

static int check(const char *asked, sf_error *error)
{
    size_t at = 0;
    if (is_configuration(asked) || next_table(&at, asked) != NULL) return SF_OK;
    sf_text names = {0};
    for (size_t i = 0; table_at(i) != NULL; i++)
        sf_text_printf(&names, "%s%s", i > 0 ? ", " : "", table_at(i)->name);
    int status = sf_fail(error, SF_USAGE, NULL, "found '%s', expected one of %s", asked,
                         names.failed ? "the tables" : names.data);
    sf_text_free(&names);
    return status;
}

static int run(app_call *call, sf_error *error)
{
    const char *asked = call->argument_count > 0 ? call->arguments[0] : NULL;
    sf_text text = {0};
    int status = check(asked, error);
    if (status != SF_OK) return status;
    if (call->json)
        print_json(&text, call, asked);
    else if (is_configuration(asked))
        app_words_of_program.configuration(&text);
    else
        print_tables(&text, asked);
    if (!call->json && text.length > 0 && !text.failed)
        text.data[--text.length] = '\0'; /* app_print ends the last line */
    return app_print(&text, error);
}

static const app_option options[] = {{NULL, NULL, NULL}};

const app_command app_command_describe = {
    .name = "describe",
    .group = "advanced",
    .summary = "what every column of a result or message is, and every key of a configuration",
    .arguments = "[TABLE|configuration]",
    .least_arguments = 0,
    .most_arguments = 1,
    .example = "synfire describe episodes",
    .notes =
        "JSON, CSV, NWB and Python have the same columns by the same names, but for `id`, which is "
        "`episode_id` in NWB. CSV leaves lists out and gives a pair two columns; NWB writes NaN and empty "
        "texts where there is null, and leaves `links` out. `synfire describe configuration` prints a "
        "configuration with every key, its default, its bounds and what it is.",
    .options = {options},
    .tables = {&sf_provenance_table},
    .run = run,
};
