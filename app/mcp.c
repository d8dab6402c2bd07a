/* SPDX-License-Identifier: Apache-2.0 */
/* synfire mcp: commands that only read, as tools of the Model Context Protocol, over standard input and
 * output. Their options are those that help prints; each call is the command itself, in a process of its own.
 */
#include "app/command.h"
#include "app/help.h"
#include "app/jobs.h"
#include "app/parse.h"

#include "core/file.h"
#include "core/memory.h"
#include "core/row_macros.h"
#include "live/asker.h"
#include "tools/mcp.h"
#include "tools/versions.h"

#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_FOLDERS 64
#define MOST_S 600          /* of a call */
#define MOST_OUT (16 << 20) /* bytes of an answer */
#define STATUS_MS 5000      /* a run that does not answer */
#define MOST_WORDS (2 * SF_MCP_MOST_WORDS + 8)

/* A command, and the file that it writes: its content is the answer, too. */
typedef struct offered {
    const char *name, *writes;
} offered;

static const offered all_offered[] = {{"info", NULL},    {"mine", NULL},      {"count", NULL},
                                      {"graph", NULL},   {"plot", "out.svg"}, {"report", "out.html"},
                                      {"compare", "out"}};
#define OFFERED (sizeof all_offered / sizeof *all_offered)

typedef struct mcp_options {
    const char *control, *token_file;
} mcp_options;

typedef struct server {
    char folders[MOST_FOLDERS][PATH_MAX];
    size_t folder_count;
    mcp_options live;
} server;

/* A call: the words of its command, and what came of it. */
typedef struct calling {
    const server *of;
    const app_command *command; /* NULL: the status of the run */
    char *words[MOST_WORDS + 1];
    int word_count;
    char folder[64]; /* for what it writes; "": nothing */
    sf_text out, written, said;
    int exit_code;
} calling;

/* ---- what it may read ---- */

static bool is_within(const server *s, const char *path)
{
    char real[PATH_MAX];
    if (realpath(path, real) == NULL) return false;
    for (size_t i = 0; i < s->folder_count; i++) {
        size_t length = strlen(s->folders[i]);
        if (strncmp(real, s->folders[i], length) == 0 && (real[length] == '/' || real[length] == '\0'))
            return true;
    }
    return false;
}

static int check_within(const server *s, const char *path, sf_error *error)
{
    if (is_within(s, path)) return SF_OK;
    return sf_fail(error, SF_USAGE, path, "%s",
                   access(path, F_OK) == 0 ? "lies in none of the folders given" : "there is no such file");
}

/* What the rows of a table name. */
static int check_table(const server *s, const char *path, sf_error *error)
{
    static const char *const columns[] = {"file", "positions"};
    sf_delimited table = {0};
    char folder[PATH_MAX], named[2 * PATH_MAX];
    sf_text content = {0};
    int status = sf_file_read(&content, path, error);
    if (status == SF_OK) status = sf_delimited_parse(&table, content.data, content.length, path, error);
    snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    snprintf(slash != NULL ? slash : folder, 2, "%s", slash != NULL ? "" : ".");
    for (size_t c = 0; status == SF_OK && c < sizeof columns / sizeof *columns; c++) {
        size_t column = sf_delimited_column(&table, columns[c]);
        for (size_t r = 0; column != SIZE_MAX && status == SF_OK && r < table.row_count; r++) {
            const char *cell = sf_delimited_cell(&table, r, column);
            snprintf(named, sizeof named, "%s/%s", cell[0] == '/' ? "" : folder, cell);
            if (cell[0] != '\0') status = check_within(s, named, error);
        }
    }
    sf_delimited_free(&table);
    sf_text_free(&content);
    return status;
}

/* ---- what it offers ---- */

/* Neither what writes, nor what several recordings or another form of the answer take, nor help. */
static bool is_offered(const app_option *option)
{
    static const char *const others[] = {"help", "quiet", "verbose", "json", "csv",
                                         "list", "jobs",  "table",   NULL};
    for (size_t i = 0; others[i] != NULL; i++)
        if (strcmp(option->name, others[i]) == 0) return false;
    for (size_t i = 0; app_output_options[i] != NULL; i++)
        if (strcmp(option->name, app_output_options[i]) == 0) return false;
    return true;
}

static const app_option *find_option(const app_command *command, const char *name)
{
    for (size_t l = 0; l < APP_ALL_LISTS; l++)
        for (const app_option *o = app_option_list(command, l); o != NULL && o->name != NULL; o++)
            if (strcmp(o->name, name) == 0) return is_offered(o) ? o : NULL;
    return NULL;
}

/* Without an argument it is a flag. */
static bool is_flag(const app_command *command, const app_option *option)
{
    sf_text argument = {0};
    app_option_argument(&argument, command, option);
    bool flag = argument.length == 0;
    sf_text_free(&argument);
    return flag;
}

static void describe_option(sf_json *json, const app_command *command, const app_option *option)
{
    sf_text sentence = {0};
    app_option_sentence(&sentence, command, option);
    sf_json_object(json, option->name);
    sf_json_string(json, "type", is_flag(command, option) ? "boolean" : "string");
    sf_json_string(json, "description", sentence.data);
    sf_json_end_object(json);
    sf_text_free(&sentence);
}

static void describe_words(sf_json *json, const app_command *command)
{
    sf_text words = {0};
    command->words(&words);
    sf_json_object(json, "figure");
    sf_json_string(json, "type", "string");
    sf_json_array(json, "enum");
    char *rest = words.data;
    for (char *word; rest != NULL && (word = strsep(&rest, " ")) != NULL;)
        if (word[0] != '\0') sf_json_string(json, NULL, word);
    sf_json_end_array(json);
    sf_json_end_object(json);
    sf_text_free(&words);
}

static void describe_tool(sf_json *json, const app_command *command)
{
    sf_json_object(json, NULL);
    sf_json_string(json, "name", command->name);
    sf_json_string(json, "description", command->summary);
    sf_json_object(json, "inputSchema");
    sf_json_string(json, "type", "object");
    sf_json_object(json, "properties");
    sf_json_object(json, "files");
    sf_json_string(json, "type", "array");
    sf_json_string(json, "description", command->arguments);
    sf_json_object(json, "items");
    sf_json_string(json, "type", "string");
    sf_json_end_object(json);
    sf_json_end_object(json);
    if (command->leading_arguments > 0) describe_words(json, command);
    for (size_t l = 0; l < APP_ALL_LISTS; l++)
        for (const app_option *o = app_option_list(command, l); o != NULL && o->name != NULL; o++)
            if (is_offered(o)) describe_option(json, command, o);
    sf_json_end_object(json);
    sf_json_array(json, "required");
    if (command->leading_arguments > 0) sf_json_string(json, NULL, "figure");
    sf_json_string(json, NULL, "files");
    sf_json_end_array(json);
    sf_json_bool(json, "additionalProperties", false);
    sf_json_end_object(json);
    sf_json_object(json, "annotations");
    sf_json_bool(json, "readOnlyHint", true);
    sf_json_end_object(json);
    sf_json_end_object(json);
}

static void describe_status(sf_json *json)
{
    sf_json_object(json, NULL);
    sf_json_string(json, "name", "status");
    sf_json_string(json, "description", "how the live run is doing: its newest status message");
    sf_json_object(json, "inputSchema");
    sf_json_string(json, "type", "object");
    sf_json_end_object(json);
    sf_json_object(json, "annotations");
    sf_json_bool(json, "readOnlyHint", true);
    sf_json_end_object(json);
    sf_json_end_object(json);
}

/* ---- a call ---- */

static int add_word(calling *c, const char *prefix, const char *name, const char *between, const char *value,
                    sf_error *error)
{
    sf_text word = {0};
    sf_text_printf(&word, "%s%s%s%s", prefix, name, between, value);
    if (word.failed || c->word_count == MOST_WORDS) {
        sf_text_free(&word);
        return sf_fail_memory(error);
    }
    c->words[c->word_count++] = word.data;
    return SF_OK;
}

static int add_option(calling *c, const sf_mcp_word *word, sf_error *error)
{
    const app_option *option = find_option(c->command, word->name);
    if (option == NULL)
        return sf_fail(error, SF_USAGE, word->name, "is no argument of %s here", c->command->name);
    if (is_flag(c->command, option) != (word->value == NULL))
        return sf_fail(error, SF_USAGE, word->name, "expected %s",
                       word->value == NULL ? "a value" : "true or false");
    if (word->value == NULL) return add_word(c, "--", word->name, "", "", error);
    if (access(word->value, F_OK) == 0 && !is_within(c->of, word->value))
        return sf_fail(error, SF_USAGE, word->value, "lies in none of the folders given");
    return add_word(c, "--", word->name, "=", word->value, error);
}

/* Options, then the figure, then the files. */
static int spell(calling *c, const sf_mcp_request *request, const char *writes, sf_error *error)
{
    int status = add_word(c, c->command->name, "", "", "", error);
    if (status == SF_OK) status = add_word(c, "--json", "", "", "", error);
    if (status == SF_OK && writes != NULL) {
        snprintf(c->folder, sizeof c->folder, "/tmp/synfire-mcp-XXXXXX");
        if (mkdtemp(c->folder) == NULL) {
            c->folder[0] = '\0';
            return sf_fail(error, SF_CANNOT_CREATE, "/tmp", "cannot make a folder there");
        }
        status = add_word(c, "--out=", c->folder, "/", writes, error);
    }
    size_t files = 0;
    const sf_mcp_word *figure = NULL;
    for (size_t i = 0; status == SF_OK && i < request->word_count; i++) {
        const sf_mcp_word *word = &request->words[i];
        if (strcmp(word->name, "figure") == 0 && c->command->leading_arguments > 0 && word->value != NULL)
            figure = word;
        else if (strcmp(word->name, "files") != 0)
            status = add_option(c, word, error);
    }
    if (status == SF_OK) status = add_word(c, "--", "", "", "", error);
    if (status == SF_OK && figure != NULL) status = add_word(c, figure->value, "", "", "", error);
    for (size_t i = 0; status == SF_OK && i < request->word_count; i++) {
        const sf_mcp_word *word = &request->words[i];
        if (strcmp(word->name, "files") != 0 || word->value == NULL) continue;
        files++;
        status = check_within(c->of, word->value, error);
        if (status == SF_OK && strcmp(c->command->name, "compare") == 0)
            status = check_table(c->of, word->value, error);
        if (status == SF_OK) status = add_word(c, word->value, "", "", "", error);
    }
    return status == SF_OK && files == 0 ? sf_fail(error, SF_USAGE, "files", "expected at least one")
                                         : status;
}

static int print_status(void *user, const char *bytes, size_t length, sf_error *error)
{
    (void)user;
    const char *told;
    size_t size;
    int status = sf_mcp_status(&told, &size, bytes, length, error);
    if (status == SF_OK) fwrite(told, 1, size, stdout);
    return status;
}

static int ask_status(const server *s)
{
    sf_asker asker;
    sf_text request = {0};
    sf_error error = {0};
    int status = sf_asker_request(&request, s->live.token_file, "status", NULL, NULL, &error);
    if (status == SF_OK) status = sf_asker_open(&asker, s->live.control, NULL, &(sf_curve_client){0}, &error);
    if (status == SF_OK) {
        status = sf_asker_send(&asker, &request, &error);
        if (status == SF_OK) status = sf_asker_receive(&asker, STATUS_MS, print_status, NULL, &error);
        if (status == SF_AGAIN) status = sf_fail(&error, SF_UNAVAILABLE, s->live.control, "nobody answers");
        sf_asker_close(&asker);
    }
    sf_text_free(&request);
    if (status != SF_OK) app_report("mcp", &error);
    return app_exit_code(status, &error);
}

static int work(void *context, size_t item)
{
    (void)item;
    calling *c = context;
    alarm(MOST_S);
    return c->command != NULL ? app_invoke(c->command, c->word_count, c->words) : ask_status(c->of);
}

static int take(void *context, app_job *job, sf_error *error)
{
    calling *c = context;
    c->out = job->out;
    c->said = job->said;
    c->exit_code = job->exit_code;
    if (job->signal != 0) sf_text_printf(&c->said, "it was ended by the signal %d\n", job->signal);
    job->out = job->said = (sf_text){0};
    return c->said.failed ? sf_fail_memory(error) : SF_OK;
}

static int perform(calling *c, const char *writes, sf_error *error)
{
    const app_jobs jobs = {.count = 1, .at_once = 1, .work = work, .take = take, .context = c};
    char path[128];
    int status = app_jobs_run(&jobs, error);
    snprintf(path, sizeof path, "%s/%s", c->folder, writes != NULL ? writes : "");
    if (status == SF_OK && c->exit_code == 0 && writes != NULL && strchr(writes, '.') != NULL)
        status = sf_file_read(&c->written, path, error);
    if (status == SF_OK && c->out.length + c->written.length > MOST_OUT)
        status = sf_fail(error, SF_USAGE, NULL,
                         "the answer has %zu bytes, and %d are taken: ask for less, as with top",
                         c->out.length + c->written.length, MOST_OUT);
    return status;
}

static int remove_one(const char *path, const struct stat *is, int kind, struct FTW *at)
{
    (void)is, (void)kind, (void)at;
    return remove(path);
}

static void free_call(calling *c)
{
    for (int i = 0; i < c->word_count; i++)
        sf_free(c->words[i]);
    if (c->folder[0] != '\0') nftw(c->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    sf_text_free(&c->out);
    sf_text_free(&c->written);
    sf_text_free(&c->said);
}

static void add_content(sf_json *json, const char *text)
{
    sf_json_object(json, NULL);
    sf_json_string(json, "type", "text");
    sf_json_string(json, "text", text);
    sf_json_end_object(json);
}

/* SF_USAGE where there is no such tool. */
static int call_tool(const server *s, const sf_mcp_request *request, sf_text *answer, sf_error *error)
{
    calling c = {.of = s};
    const offered *tool = NULL;
    for (size_t i = 0; i < OFFERED; i++)
        if (strcmp(all_offered[i].name, request->tool) == 0) tool = &all_offered[i];
    if (tool == NULL && (s->live.control == NULL || strcmp(request->tool, "status") != 0))
        return sf_fail(error, SF_USAGE, NULL, "there is no such tool");
    sf_error reason = {0};
    int status = SF_OK;
    if (tool != NULL) {
        c.command = app_find_command(tool->name);
        status = spell(&c, request, tool->writes, &reason);
    } else if (request->word_count > 0) {
        status = sf_fail(&reason, SF_USAGE, request->words[0].name, "is no argument of status here");
    }
    if (status == SF_OK) status = perform(&c, tool != NULL ? tool->writes : NULL, &reason);
    sf_json json = sf_json_start(answer);
    sf_json_object(&json, NULL);
    sf_json_array(&json, "content");
    if (status != SF_OK) {
        sf_text sentence = {0};
        sf_text_printf(&sentence, "%s%s%s", reason.place, reason.place[0] != '\0' ? ": " : "", reason.text);
        add_content(&json, sentence.data);
        sf_text_free(&sentence);
    }
    if (status == SF_OK && c.out.length > 0) add_content(&json, c.out.data);
    if (status == SF_OK && c.written.length > 0) add_content(&json, c.written.data);
    if (status == SF_OK && c.said.length > 0) add_content(&json, c.said.data);
    sf_json_end_array(&json);
    sf_json_bool(&json, "isError", status != SF_OK || c.exit_code != 0);
    sf_json_end_object(&json);
    free_call(&c);
    return SF_OK;
}

/* ---- the conversation ---- */

static void answer_initialize(sf_text *answer)
{
    sf_json json = sf_json_start(answer);
    sf_json_object(&json, NULL);
    sf_json_string(&json, "protocolVersion", SF_MCP_VERSION);
    sf_json_object(&json, "capabilities");
    sf_json_object(&json, "tools");
    sf_json_end_object(&json);
    sf_json_end_object(&json);
    sf_json_object(&json, "serverInfo");
    sf_json_string(&json, "name", "synfire");
    sf_json_string(&json, "version", sf_version());
    sf_json_end_object(&json);
    sf_json_end_object(&json);
}

static void answer_list(const server *s, sf_text *answer)
{
    sf_json json = sf_json_start(answer);
    sf_json_object(&json, NULL);
    sf_json_array(&json, "tools");
    for (size_t i = 0; i < OFFERED; i++)
        describe_tool(&json, app_find_command(all_offered[i].name));
    if (s->live.control != NULL) describe_status(&json);
    sf_json_end_array(&json);
    sf_json_end_object(&json);
}

static void refuse(sf_text *answer, const char *id, int code, const sf_error *error)
{
    sf_text_printf(answer, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":", id != NULL ? id : "null");
    sf_json json = sf_json_start(answer);
    sf_json_object(&json, NULL);
    sf_json_int(&json, "code", code);
    sf_json_string(&json, "message", error->text);
    sf_json_end_object(&json);
    sf_text_printf(answer, "}\n");
}

/* Appends nothing to a notification. */
static int answer_line(const server *s, sf_text *answer, const char *line, size_t length, sf_error *error)
{
    sf_mcp_request request;
    sf_text result = {0};
    sf_error reason = {0};
    int status = sf_mcp_request_read(&request, line, length, &reason);
    if (status == SF_OK && request.id != NULL) {
        if (request.method == SF_MCP_INITIALIZE)
            answer_initialize(&result);
        else if (request.method == SF_MCP_LIST)
            answer_list(s, &result);
        else if (request.method == SF_MCP_CALL)
            status = call_tool(s, &request, &result, &reason);
        else
            sf_text_printf(&result, "{}");
        request.code = SF_MCP_WRONG;
    }
    if (status == SF_OK && request.id != NULL)
        sf_text_printf(answer, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n", request.id,
                       result.failed ? "null" : result.data);
    else if (status != SF_OK && status != SF_NO_MEMORY)
        refuse(answer, request.id, request.code, &reason);
    bool failed = status == SF_NO_MEMORY || result.failed || answer->failed;
    sf_mcp_request_free(&request);
    sf_text_free(&result);
    return failed ? sf_fail_memory(error) : SF_OK;
}

/* A line without its end, of which no more than can be read are kept; false at the end of what comes. */
static bool next_line(sf_text *line)
{
    int byte;
    line->length = 0;
    while ((byte = getc(stdin)) != EOF && byte != '\n') {
        char one = (char)byte;
        if (line->length <= SF_MCP_MOST_BYTES) sf_text_append(line, &one, 1);
    }
    return byte != EOF || line->length > 0;
}

static int serve(const server *s, sf_error *error)
{
    sf_text line = {0};
    int status = SF_OK;
    while (status == SF_OK && next_line(&line)) {
        sf_text answer = {0};
        if (line.failed)
            status = sf_fail_memory(error);
        else if (line.length > 0)
            status = answer_line(s, &answer, line.data, line.length, error);
        if (status == SF_OK && answer.length > 0 &&
            (fwrite(answer.data, 1, answer.length, stdout) != answer.length || fflush(stdout) != 0))
            status = sf_fail(error, SF_IO, "standard output", "cannot be written");
        sf_text_free(&answer);
    }
    sf_text_free(&line);
    return status;
}

#define ROW mcp_options
static const mcp_options usual;
static const sf_key mcp_rows[] = {
    TEXT("control", control, .zero = "there is no tool status", .argument = "ENDPOINT",
         .what = "the control socket of a run, of which the tool status asks how it is, and nothing else"),
    TEXT("token", token_file, .zero = "none", .argument = "FILE", .what = "holds the token of that socket"),
    {0},
};
#undef ROW
static const sf_key_table mcp_table = SF_KEY_TABLE(mcp_rows, usual);

static int run(app_call *call, sf_error *error)
{
    server *s = sf_alloc(1, sizeof *s);
    if (s == NULL) return sf_fail_memory(error);
    int status = app_options_read(call, &mcp_table, &s->live, error);
    if (status == SF_OK && (s->live.control == NULL) != (s->live.token_file == NULL))
        status = sf_fail(error, SF_USAGE, s->live.control == NULL ? "--control" : "--token", "is needed");
    if (status == SF_OK && call->argument_count > MOST_FOLDERS)
        status = sf_fail(error, SF_USAGE, NULL, "at most %d folders are taken", MOST_FOLDERS);
    for (size_t i = 0; status == SF_OK && i < call->argument_count; i++)
        if (realpath(call->arguments[i], s->folders[s->folder_count++]) == NULL)
            status = sf_fail(error, SF_NO_INPUT, call->arguments[i], "there is no such folder");
    if (status == SF_OK) status = serve(s, error);
    sf_free(s);
    return status;
}

static const app_option options[] = {
    {.name = "control"},
    {.name = "token"},
    {NULL, NULL, NULL},
};

const app_command app_command_mcp = {
    .name = "mcp",
    .group = "advanced",
    .summary = "offers commands that only read as tools of the Model Context Protocol",
    .arguments = "FOLDER...",
    .least_arguments = 1,
    .most_arguments = -1,
    .example = "echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}' | synfire mcp .",
    .notes = "A client, such as an assistant that writes programs, starts it and asks on its standard "
             "input, a line of JSON each. It offers info, mine, count, graph, plot, report and compare of "
             "what lies in the folders, with their options, and with --control the status of a run. It "
             "writes nothing, arms nothing and asks for no network: docs/mcp.md.",
    .options = {options},
    .rows = {&mcp_table},
    .run = run,
};
