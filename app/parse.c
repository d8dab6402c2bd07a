/* SPDX-License-Identifier: Apache-2.0 */
#include "app/parse.h"

#include "app/load.h"
#include "app/mining.h"
#include "app/significance.h"
#include "core/file.h"
#include "core/memory.h"
#include "core/row_macros.h"

#include <getopt.h>
#include <math.h>
#include <string.h>

const app_option app_common_options[] = {
    {"help", NULL, "show this help and leave"},
    {"quiet", NULL, "no warnings and no progress"},
    {"verbose", NULL, "say more on stderr"},
    {"json", NULL, "print exactly one JSON document"},
    {NULL, NULL, NULL},
};

/* Options of commands that take several recordings: app/batch.h. */
static const app_option batch_options[] = {
    {"list", "FILE",
     "further recordings: a path a line (- reads them from standard input); a file that several recordings "
     "write has {} in its name, for which each recording's name is put"},
    {.name = "jobs"},
    {0},
};

static const app_jobs_options usual_jobs;

#define ROW app_jobs_options
static const sf_key jobs_rows[] = {
    COUNT("jobs", at_once, 0, 4096, .argument = "N", .zero = "as many as there are cores for",
          .what = "recordings at a time, each in a process of its own"),
    {0},
};
#undef ROW

const sf_key_table app_jobs_table = SF_KEY_TABLE(jobs_rows, usual_jobs);

const char *const app_output_options[] = {"out", "occurrences", "nwb", "plot", "rule", "save", NULL};

const app_option *app_option_list(const app_command *command, size_t list)
{
    if (list < APP_OPTION_LISTS) return command->options[list];
    if (list == APP_OPTION_LISTS) return command->takes_several ? batch_options : NULL;
    return app_common_options;
}

/* ---- options that rows describe ---- */

static int refuse(const char *option, const char *value, const char *expected, sf_error *error)
{
    char place[128];
    snprintf(place, sizeof place, "--%s", option);
    return sf_fail(error, SF_USAGE, place, "found '%s', expected %s", value, expected);
}

static const sf_key *find_row(const sf_key_table *table, const char *option)
{
    const sf_key *keys[SF_KEYS_MOST];
    size_t count = sf_keys_of(table, NULL, keys), i = 0;
    while (i < count && !sf_key_is_option(keys[i], option))
        i++;
    return i < count ? keys[i] : NULL;
}

const sf_key *app_option_row(const app_command *command, const app_option *option, const sf_key_table **table)
{
    static const sf_key_table *const shared[] = {&app_selection_table, &app_mining_table, &app_test_table,
                                                 &app_jobs_table};
    const sf_key *row = NULL;
    for (size_t t = 0;
         option->argument == NULL && row == NULL && t < APP_ROW_TABLES + sizeof shared / sizeof shared[0];
         t++) {
        *table = t < APP_ROW_TABLES ? command->rows[t] : shared[t - APP_ROW_TABLES];
        row = *table != NULL ? find_row(*table, option->name) : NULL;
    }
    return row;
}

static int read_value(const char *option, const sf_key *row, void *options, const char *given,
                      sf_error *error)
{
    if (!sf_key_parse(row, options, given) || (row->zero != NULL && sf_key_is_zero(row, options))) {
        sf_text expected = {0};
        sf_key_range(&expected, row);
        int status = expected.failed ? sf_fail_memory(error) : refuse(option, given, expected.data, error);
        sf_text_free(&expected);
        return status;
    }
    return SF_OK;
}

/* The words of a comma list, as bits in their order. */
static int read_set(const char *option, const sf_key *row, void *options, const char *given, sf_error *error)
{
    const sf_key one = {.type = SF_KEY_CHOICE, .words = row->words};
    char *copy = sf_copy_string(given), *rest = copy;
    unsigned found = 0;
    int status = copy == NULL ? sf_fail_memory(error) : SF_OK;
    while (rest != NULL && status == SF_OK) {
        int word = 0;
        status = read_value(option, &one, &word, sf_text_field(&rest, ','), error);
        found |= row->words[word + 1] != NULL ? 1u << word : 0; /* the last is `none` */
    }
    sf_free(copy);
    if (status == SF_OK) *(unsigned *)sf_key_at(row, options) = found;
    return status;
}

static int read_form(const char *option, const sf_key *row, void *options, const char *given, sf_error *error)
{
    int status = row->read(options, given, error);
    if (status == SF_USAGE && error != NULL) snprintf(error->place, sizeof error->place, "--%s", option);
    return status;
}

static int read_option(const app_call *call, const char *option, const sf_key *row, void *options,
                       sf_error *error)
{
    const char *given = app_value(call, option, row->type == SF_KEY_SWITCH ? "true" : "");
    if (row->type == SF_KEY_SET) return read_set(option, row, options, given, error);
    if (row->type == SF_KEY_FORM) return read_form(option, row, options, given, error);
    int status = read_value(option, row, options, given, error);
    if (status == SF_OK && row->type == SF_KEY_TEXT) *(const char **)sf_key_at(row, options) = given;
    return status;
}

int app_options_read(const app_call *call, const sf_key_table *table, void *options, sf_error *error)
{
    const sf_key_table *own;
    int status = SF_OK;
    for (size_t l = 0; l < APP_ALL_LISTS; l++)
        for (const app_option *o = app_option_list(call->command, l);
             o != NULL && o->name != NULL && status == SF_OK; o++) {
            const sf_key *shown = app_option_row(call->command, o, &own), *row = find_row(table, o->name);
            if (app_has(call, o->name) && shown != NULL && row != NULL && row->type == shown->type &&
                row->words == shown->words)
                status = read_option(call, o->name, row, options, error);
        }
    return status;
}

/* ---- parsing ---- */

static size_t add_long_options(struct option *to, const app_command *command, const app_option *from)
{
    size_t count = 0;
    for (; from != NULL && from[count].name != NULL; count++) {
        const sf_key_table *table;
        const sf_key *row = app_option_row(command, &from[count], &table);
        bool flag = row != NULL ? row->type == SF_KEY_SWITCH : from[count].argument == NULL;
        to[count] =
            (struct option){.name = from[count].name, .has_arg = flag ? no_argument : required_argument};
    }
    return count;
}

/* Options by their names in the release before, behind the others. */
static size_t add_old_options(struct option *to, const app_command *command, const app_option *from)
{
    size_t count = 0;
    for (; from != NULL && from->name != NULL; from++) {
        const sf_key_table *table;
        const sf_key *row = app_option_row(command, from, &table);
        if (row != NULL && row->old != NULL)
            to[count++] = (struct option){
                .name = row->old, .has_arg = row->type == SF_KEY_SWITCH ? no_argument : required_argument};
    }
    return count;
}

/* The present name of an option that was given by an old one. */
static const char *name_now(const app_command *command, const char *given)
{
    const sf_key_table *table;
    for (size_t l = 0; l < APP_ALL_LISTS; l++)
        for (const app_option *o = app_option_list(command, l); o != NULL && o->name != NULL; o++) {
            const sf_key *row = app_option_row(command, o, &table);
            if (row != NULL && row->old != NULL && strcmp(row->old, given) == 0) return o->name;
        }
    return given;
}

static size_t count_options(const app_option *options)
{
    size_t count = 0;
    while (options != NULL && options[count].name != NULL)
        count++;
    return count;
}

static bool has_option(const struct option *options, const char *name)
{
    while (options->name != NULL && strcmp(options->name, name) != 0)
        options++;
    return options->name != NULL;
}

/* Refuses a word that getopt_long did not take: an unknown option, or a flag with a value. */
static int refuse_option(const app_command *command, const struct option *options, const char *word,
                         sf_error *error)
{
    char name[64];
    const char *bare = word + strspn(word, "-");
    size_t length = strcspn(bare, "=");
    snprintf(name, sizeof name, "%.*s", (int)length, bare);
    sf_nearest nearest = {.word = name};
    for (; options->name != NULL; options++) {
        if (strcmp(name, options->name) == 0 && bare[length] == '=' && options->has_arg == no_argument)
            return sf_fail(error, SF_USAGE, word, "takes no value: type --%s alone", name);
        sf_nearest_offer(&nearest, options->name);
    }
    if (nearest.best != NULL)
        return sf_fail(error, SF_USAGE, word,
                       "is no option of this command: did you mean --%s? `synfire %s --help` lists them",
                       nearest.best, command->name);
    return sf_fail(error, SF_USAGE, word, "is no option of this command; `synfire %s --help` lists them",
                   command->name);
}

/* A negative number after an option's name or among the arguments is a value, never an option: getopt_long is
 * only ever asked about words that start with "--" or "-" and a letter. Whatever writes --out takes -o, too.
 */
int app_parse(app_call *call, const app_command *command, int argc, char **argv, sf_error *error)
{
    *call = (app_call){.command = command};
    size_t count = 0;
    for (size_t i = 0; i < APP_ALL_LISTS; i++)
        count += count_options(app_option_list(command, i));
    struct option *options = sf_alloc(2 * count + 1, sizeof *options);
    call->given = sf_alloc((size_t)argc, sizeof *call->given);
    call->arguments = sf_alloc((size_t)argc, sizeof *call->arguments);
    if (options == NULL || call->given == NULL || call->arguments == NULL) {
        sf_free(options);
        return sf_fail_memory(error);
    }
    size_t filled = 0;
    for (size_t i = 0; i < APP_ALL_LISTS; i++)
        filled += add_long_options(options + filled, command, app_option_list(command, i));
    for (size_t i = 0; i < APP_ALL_LISTS; i++)
        filled += add_old_options(options + filled, command, app_option_list(command, i));

    int status = SF_OK;
    const char *letters = has_option(options, "out") ? "-:ho:" : "-:h";
    optind = 1;
    opterr = 0;
    for (;;) {
        int index = -1, before = optind;
        int found = getopt_long(argc, argv, letters, options, &index);
        if (found == -1) break;
        if (found == 1) { /* an argument, in its place */
            call->arguments[call->argument_count++] = optarg;
        } else if (found == 'h') {
            call->given[call->given_count++] = (app_given){.name = "help"};
        } else if (found == 'o') {
            call->given[call->given_count++] = (app_given){.name = "out", .value = optarg};
        } else if (found == ':') {
            status = sf_fail(error, SF_USAGE, argv[optind - 1],
                             "needs a value; `synfire %s --help` explains it", command->name);
            break;
        } else if (found == '?') {
            status = refuse_option(command, options, argv[before < argc ? before : argc - 1], error);
            break;
        } else {
            call->given[call->given_count++] =
                (app_given){.name = name_now(command, options[index].name), .value = optarg};
        }
    }
    while (status == SF_OK && optind < argc)
        call->arguments[call->argument_count++] = argv[optind++];
    sf_free(options);
    for (int i = optind; status != SF_OK && i < argc; i++) /* whoever asked for JSON is refused in JSON */
        call->json = call->json || strcmp(argv[i], "--json") == 0;
    call->json = call->json || app_has(call, "json");
    call->quiet = app_has(call, "quiet");
    call->verbose = app_has(call, "verbose");
    return status;
}

static bool is_read(const app_call *call, const char *path)
{
    static const char *const inputs[] = {"episodes", "epochs", "labels"};
    bool read = false;
    for (size_t a = 0; a < call->argument_count; a++)
        read = read || sf_file_same(path, call->arguments[a]);
    for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++) {
        const char *input = app_value(call, inputs[i], NULL);
        read = read || (input != NULL && sf_file_same(path, input));
    }
    return read;
}

/* No command may write over what it reads, nor over a recording. */
static int check_outputs(const app_call *call, sf_error *error)
{
    for (size_t i = 0; app_output_options[i] != NULL; i++) {
        const char *path = app_value(call, app_output_options[i], NULL);
        if (path != NULL && is_read(call, path))
            return sf_fail(error, SF_USAGE, path, "--%s would write over the input", app_output_options[i]);
        int status = path != NULL ? sf_recording_spare(path, error) : SF_OK;
        if (status != SF_OK) return status;
    }
    return SF_OK;
}

int app_check_arguments(const app_call *call, sf_error *error)
{
    const app_command *command = call->command;
    size_t count = call->argument_count;
    if (count < (size_t)command->least_arguments)
        return sf_fail(error, SF_USAGE, NULL, "an argument is missing: expected `synfire %s %s`",
                       command->name, command->arguments);
    bool gathers = command->gathers != NULL && app_has(call, command->gathers);
    if (command->most_arguments >= 0 && !gathers && count > (size_t)command->most_arguments)
        return sf_fail(error, SF_USAGE, call->arguments[command->most_arguments],
                       "is one argument too many: expected `synfire %s %s`", command->name,
                       command->arguments);
    if (call->json && app_has(call, "csv"))
        return sf_fail(error, SF_USAGE, "--csv", "does not go with --json: choose one");
    return check_outputs(call, error);
}

void app_parse_free(app_call *call)
{
    sf_free(call->given);
    sf_free(call->arguments);
}

bool app_has(const app_call *call, const char *option)
{
    for (size_t i = 0; i < call->given_count; i++)
        if (strcmp(call->given[i].name, option) == 0) return true;
    return false;
}

bool app_takes(const app_call *call, const app_option *options)
{
    for (size_t l = 0; l < APP_OPTION_LISTS; l++)
        if (call->command->options[l] == options) return true;
    return false;
}

const char *app_value(const app_call *call, const char *option, const char *otherwise)
{
    const char *value = otherwise;
    size_t from = 0;
    for (const char *next; (next = app_next_value(call, option, &from)) != NULL;)
        value = next;
    return value;
}

const char *app_next_value(const app_call *call, const char *option, size_t *from)
{
    for (; *from < call->given_count; ++*from)
        if (strcmp(call->given[*from].name, option) == 0) return call->given[(*from)++].value;
    return NULL;
}

int app_refuse(const app_call *call, const char *const *options, const char *reason, sf_error *error)
{
    while (*options != NULL && !app_has(call, *options))
        options++;
    if (*options == NULL) return SF_OK;
    char place[128];
    snprintf(place, sizeof place, "--%s", *options);
    return sf_fail(error, SF_USAGE, place, "%s", reason);
}

/* A value of a command's own, by a row that is this one's alone. */
static int read_given(const app_call *call, const char *option, const sf_key *row, void *value,
                      sf_error *error)
{
    return app_has(call, option) ? read_option(call, option, row, value, error) : SF_OK;
}

int app_uint(const app_call *call, const char *option, uint64_t least, uint64_t most, uint64_t *value,
             sf_error *error)
{
    const sf_key row = {
        .type = SF_KEY_COUNT, .least = (double)least, .most = most < UINT64_MAX ? (double)most : INFINITY};
    return read_given(call, option, &row, value, error);
}

/* The argument of an option that the command has. */
static const char *argument_of(const app_command *command, const char *option)
{
    const char *argument = NULL;
    for (size_t l = 0; argument == NULL && l < APP_OPTION_LISTS; l++)
        for (const app_option *o = command->options[l]; o != NULL && o->name != NULL; o++)
            argument = strcmp(o->name, option) == 0 ? o->argument : argument;
    return argument;
}

int app_word(const app_call *call, const char *option, int *index, sf_error *error)
{
    const char *given = app_value(call, option, NULL), *words = argument_of(call->command, option);
    sf_text expected = {0};
    int word = 0;
    for (size_t length; given != NULL && *words != '\0'; words += length + (words[length] == '|'), word++) {
        length = strcspn(words, "|");
        if (strlen(given) == length && strncmp(words, given, length) == 0) {
            sf_text_free(&expected);
            *index = word;
            return SF_OK;
        }
        sf_text_printf(&expected, "%s%.*s", word == 0 ? "one of " : ", ", (int)length, words);
    }
    int status = given == NULL     ? SF_OK
                 : expected.failed ? sf_fail_memory(error)
                                   : refuse(option, given, expected.data, error);
    sf_text_free(&expected);
    return status;
}

int app_table_asked(const app_call *call, int *index, sf_error *error)
{
    int status = app_word(call, "table", index, error);
    return status == SF_OK && app_has(call, "table") && !app_has(call, "csv")
               ? sf_fail(error, SF_USAGE, "--table", "is of --csv: --json has all tables")
               : status;
}

int app_name_option(const app_call *call, int status, sf_error *error)
{
    for (size_t l = 0; l < APP_OPTION_LISTS && call->command->options[l] != NULL; l++)
        for (const app_option *option = call->command->options[l]; option->name != NULL; option++)
            if (sf_key_is_option(&(sf_key){.name = error->place}, option->name)) {
                snprintf(error->place, sizeof error->place, "--%s", option->name);
                return status;
            }
    return status;
}
