/* SPDX-License-Identifier: Apache-2.0 */
#include "app/program.h"

#include "app/command.h"
#include "app/help.h"
#include "app/parse.h"
#include "core/error.h"
#include "core/text.h"
#include "io/file.h"

#include <ctype.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* ---- manual pages and completion ---- */

/* ---- manual page ---- */

/* Words as roff takes them: nothing in them is a request or an escape, and a hyphen is the one people type.
 */
static void add_words(sf_text *text, const char *words)
{
    for (const char *c = words; *c != '\0'; c++) {
        if ((*c == '.' || *c == '\'') && (c == words || c[-1] == '\n')) sf_text_printf(text, "\\&");
        if (*c == '\\')
            sf_text_printf(text, "\\e");
        else if (*c == '-')
            sf_text_printf(text, "\\-");
        else if (*c == '"')
            sf_text_printf(text, "\\(dq");
        else if (*c == '\n')
            sf_text_printf(text, "\n.br\n");
        else
            sf_text_append(text, c, 1);
    }
}

static void add_options(sf_text *text, const app_command *command, const app_option *options)
{
    for (; options != NULL && options->name != NULL; options++) {
        sf_text_printf(text, ".TP\n\\fB\\-\\-");
        add_words(text, options->name);
        sf_text_printf(text, "\\fR");
        sf_text argument = {0}, sentence = {0};
        app_option_argument(&argument, command, options);
        app_option_sentence(&sentence, command, options);
        text->failed = text->failed || argument.failed || sentence.failed;
        if (argument.length > 0) sf_text_printf(text, " \\fI%s\\fR", argument.data);
        sf_text_append(text, "\n", 1);
        if (sentence.length > 0) add_words(text, sentence.data);
        sf_text_free(&argument);
        sf_text_free(&sentence);
        sf_text_append(text, "\n", 1);
    }
}

static void add_head(sf_text *text, const char *title)
{
    sf_text_printf(text, ".\\\" SPDX-License-Identifier: Apache-2.0\n.TH SYNFIRE");
    if (title != NULL) {
        sf_text_append(text, "-", 1);
        for (const char *c = title; *c != '\0'; c++)
            sf_text_printf(text, "%c", toupper((unsigned char)*c));
    }
    sf_text_printf(text, " 1 \"\" \"synfire %s\"\n", sf_version());
}

/* Appends the manual page of a command; pages of aliases refer to it. */
static void add_command(sf_text *text, const app_command *command)
{
    add_head(text, command->name);
    sf_text_printf(text, ".SH NAME\nsynfire\\-%s \\- ", command->name);
    add_words(text, command->summary);
    sf_text_printf(text, "\n.SH SYNOPSIS\n.B synfire %s\n[\\fIoptions\\fR] ", command->name);
    add_words(text, command->arguments);
    if (command->alias != NULL) sf_text_printf(text, "\n.br\n.B synfire %s\n\\&...", command->alias);
    sf_text_printf(text, "\n.SH DESCRIPTION\n%c", toupper((unsigned char)command->summary[0]));
    add_words(text, command->summary + 1);
    sf_text_printf(text, ".\n");
    if (command->notes != NULL) {
        sf_text_printf(text, ".PP\n");
        add_words(text, command->notes);
        sf_text_append(text, "\n", 1);
    }
    sf_text_printf(text, ".SH OPTIONS\n");
    for (size_t i = 0; i < APP_ALL_LISTS; i++)
        add_options(text, command, app_option_list(command, i));
    sf_text_printf(text, ".SH EXAMPLE\n.nf\n");
    add_words(text, command->example);
    sf_text_printf(text, "\n.fi\n.SH SEE ALSO\n.BR synfire (1),\nwhich has environment and exit status\n");
}

static void add_summary(sf_text *text, const app_command *command)
{
    sf_text_printf(text, ".TP\n.BR synfire\\-%s (1)\n", command->name);
    add_words(text, command->summary);
    if (command->alias != NULL) sf_text_printf(text, " (also: synfire %s)", command->alias);
    sf_text_append(text, "\n", 1);
}

static const char before_commands[] =
    ".SH NAME\n"
    "synfire \\- live, exact episode mining for multi\\-electrode arrays\n"
    ".SH SYNOPSIS\n"
    ".B synfire\n"
    "[\\-\\-version] [\\-\\-help] \\fICOMMAND\\fR [\\fIoptions\\fR] [\\fIarguments\\fR]\n"
    ".SH DESCRIPTION\n"
    "synfire mines multi\\-electrode\\-array spike streams for firing chains: which recur,\n"
    "how they connect units, how their timing is distributed. It reads recordings and live\n"
    "streams.\n"
    ".PP\n"
    "Results go to standard output, everything else to standard error. A bare word is a\n"
    "unit's name, \\fB#2\\fR the unit with 0\\-based index 2. Times are seconds of the\n"
    "recording's clock unless marked ms; \\fB+5\\fR counts from its first spike. An episode is\n"
    "written \\fBA \\-(0,5]\\-> B \\-(5,10]\\-> C\\fR: B follows A by more than 0 and at most\n"
    "5 ms, and so on.\n"
    ".SH COMMON OPTIONS\n";

static const char after_commands[] =
    ".SH ENVIRONMENT\n"
    ".TP\n"
    ".B SYNFIRE_DEVICE_MEMORY\n"
    "What may be taken of each GPU's memory, as 8G or 512M; without it nine tenths of what is\n"
    "free. The key \\fBdevice_memory\\fR of a configuration goes before it.\n"
    ".TP\n"
    ".B SYNFIRE_DATA\n"
    "Where \\fBbench\\fR looks for data, unless \\-\\-data says so.\n"
    ".TP\n"
    ".B XDG_CACHE_HOME\n"
    "Below it is kept what the engines hybrid and two\\-pass measured of this machine; ~/.cache\n"
    "without it.\n"
    ".SH EXIT STATUS\n"
    "0 success, 64 usage, 65 invalid data, 66 input cannot be opened, 69 a service or device\n"
    "is missing, 70 defect of synfire or memory is out, 73 output cannot be created, 74\n"
    "reading or writing failed, 78 configuration, 130 and 143 stopped by SIGINT and SIGTERM\n"
    "before it was done (\\fBmine\\fR and \\fBcount\\fR print what they have by then); a live run that\n"
    "a signal ends in order leaves with 0. Of several recordings it is that of the first that failed.\n";

static void add_overview(sf_text *text)
{
    add_head(text, NULL);
    sf_text_append(text, before_commands, sizeof before_commands - 1);
    add_options(text, app_commands[0], app_common_options);
    sf_text_printf(text, ".SH COMMANDS\n");
    for (size_t i = 0; app_commands[i] != NULL; i++)
        add_summary(text, app_commands[i]);
    sf_text_append(text, after_commands, sizeof after_commands - 1);
}

/* Writes FOLDER/synfire[-NAME].1 and frees the text. */
static int write_page(sf_text *page, const char *folder, const char *name, sf_error *error)
{
    sf_text path = {0};
    sf_text_printf(&path, "%s/synfire%s%s.1", folder, name != NULL ? "-" : "", name != NULL ? name : "");
    int status = path.failed ? sf_fail_memory(error) : sf_file_write(page, path.data, error);
    sf_text_free(&path);
    sf_text_free(page);
    return status;
}

static int write_command(const app_command *command, const char *folder, sf_error *error)
{
    sf_text page = {0};
    add_command(&page, command);
    int status = write_page(&page, folder, command->name, error);
    if (status != SF_OK || command->alias == NULL) return status;
    sf_text_printf(&page, ".so man1/synfire-%s.1\n", command->name);
    return write_page(&page, folder, command->alias, error);
}

/* Writes synfire.1, a page of each command and one for each alias into a folder that is there: `synfire
 * --manual FOLDER`. SF_CANNOT_CREATE, SF_IO, SF_NO_MEMORY. */
static int manual_pages(const char *folder, sf_error *error)
{
    sf_text page = {0};
    add_overview(&page);
    int status = write_page(&page, folder, NULL, error);
    for (size_t i = 0; status == SF_OK && app_commands[i] != NULL; i++)
        status = write_command(app_commands[i], folder, error);
    return status;
}

/* ---- completion ---- */

static void add_option_words(sf_text *text, const app_command *command)
{
    for (size_t list = 0; list < APP_ALL_LISTS; list++)
        for (const app_option *o = app_option_list(command, list); o != NULL && o->name != NULL; o++)
            sf_text_printf(text, " --%s", o->name);
}

/* Whether `argument` lists the option's words, as `derived|sequential`; these are then offered for
 * completion. */
static bool lists_words(const char *argument)
{
    return argument != NULL && argument[0] != '\0' &&
           argument[strspn(argument, "abcdefghijklmnopqrstuvwxyz0123456789-|")] == '\0';
}

static void add_words_of(sf_text *text, const app_command *command, const app_option *option)
{
    sf_text argument = {0};
    app_option_argument(&argument, command, option);
    if (strcmp(option->name, "set") == 0 && app_words_of_program.settings != NULL) {
        sf_text_printf(text, "        %s:--set) words='", command->name);
        app_words_of_program.settings(text);
        sf_text_printf(text, "' ;;\n");
    } else if (strcmp(option->name, "device") == 0) {
        sf_text_printf(text, "        %s:--device) words='auto cpu cuda' ;;\n", command->name);
    } else if (lists_words(argument.data)) {
        sf_text_printf(text, "        %s:--%s) words='", command->name, option->name);
        for (const char *c = argument.data; *c != '\0'; c++)
            sf_text_append(text, *c == '|' ? " " : c, 1);
        sf_text_printf(text, "' ;;\n");
    }
    text->failed = text->failed || argument.failed;
    sf_text_free(&argument);
}

static void add_value_words(sf_text *text, const app_command *command)
{
    for (size_t list = 0; list < APP_ALL_LISTS; list++)
        for (const app_option *o = app_option_list(command, list); o != NULL && o->name != NULL; o++)
            add_words_of(text, command, o);
}

/* File names are left to the shell, which knows how to quote them: it completes where nothing is offered.
 * What is written here means the same in bash and in what zsh takes such functions for. */
static const char before_words[] =
    "#compdef synfire\n"
    "# SPDX-License-Identifier: Apache-2.0\n"
    "# Completion of synfire for bash and zsh.\n"
    "_synfire() {\n"
    "    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} "
    "words= option=\n"
    "    COMPREPLY=()\n"
    "    # `--option=value` comes in three words from bash, in one from zsh\n"
    "    if [[ $current == '=' ]]; then\n"
    "        current=\n"
    "    elif [[ $before == '=' && $COMP_CWORD -gt 2 ]]; then\n"
    "        before=${COMP_WORDS[COMP_CWORD-2]}\n"
    "    elif [[ $current == --*=* ]]; then\n"
    "        before=${current%%=*} option=${current%%=*}= current=${current#*=}\n"
    "    fi\n"
    "    case $command in\n";

static const char after_words[] =
    "    if [[ $current != -* && -z $words && $command == run && $before != --* && -d $configs ]]; then\n"
    "        words=$(cd \"$configs\" && printf '%s\\n' *.yaml | sed 's/\\.yaml$//')\n"
    "    fi\n"
    "    [[ -z $words ]] || COMPREPLY=($(compgen -P \"$option\" -W \"$words\" -- \"$current\"))\n"
    "}\n"
    "[[ -z ${ZSH_VERSION-} ]] || { autoload -Uz bashcompinit && bashcompinit; }\n"
    "complete -o bashdefault -o default -F _synfire synfire\n"
    "# zsh calls this file when it completes synfire for the first time\n"
    "[[ -z ${ZSH_VERSION-} || ${funcstack[1]-} != _synfire ]] || _bash_complete -o bashdefault -o default -F "
    "_synfire";

/* for bash, and zsh by bashcompinit: `synfire --completion` */
static void completion(sf_text *text)
{
    sf_text_append(text, before_words, sizeof before_words - 1);
    for (size_t i = 0; app_commands[i] != NULL; i++)
        if (app_commands[i]->alias != NULL)
            sf_text_printf(text, "        %s) command=%s ;;\n", app_commands[i]->alias,
                           app_commands[i]->name);
    sf_text_printf(
        text, "    esac\n    case $COMP_CWORD:$command:$before in\n    1:*) words='--version --help help");
    for (size_t i = 0; app_commands[i] != NULL; i++) {
        sf_text_printf(text, " %s", app_commands[i]->name);
        if (app_commands[i]->alias != NULL) sf_text_printf(text, " %s", app_commands[i]->alias);
    }
    sf_text_printf(text, "' ;;\n    2:help:*) words='");
    for (size_t i = 0; app_commands[i] != NULL; i++)
        sf_text_printf(text, "%s%s", i > 0 ? " " : "", app_commands[i]->name);
    sf_text_printf(text, "' ;;\n    *) case $command:$before in\n");
    for (size_t i = 0; app_commands[i] != NULL; i++)
        add_value_words(text, app_commands[i]);
    sf_text_printf(text, "        *) case $current:$command in\n");
    for (size_t i = 0; app_commands[i] != NULL; i++) {
        sf_text_printf(text, "            -*:%s) words='", app_commands[i]->name);
        add_option_words(text, app_commands[i]);
        sf_text_printf(text, "' ;;\n");
        if (app_commands[i]->words == NULL) continue;
        sf_text_printf(text, "            *:%s) [[ $COMP_CWORD != %d ]] || words='", app_commands[i]->name,
                       app_commands[i]->words_at + 1);
        app_commands[i]->words(text);
        sf_text_printf(text, "' ;;\n");
    }
    sf_text_printf(text,
                   "            esac ;;\n        esac ;;\n    esac\n"
                   "    local program configs\n"
                   "    program=$(command -v synfire) && configs=${program%%/*}/../share/synfire/configs\n");
    sf_text_append(text, after_words, sizeof after_words - 1);
}

/* ---- the program ---- */

const app_command *app_find_command(const char *name)
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
    const char *const *absent = app_words_of_program.absent;
    for (; absent != NULL && *absent != NULL; absent++)
        if (strcmp(*absent, name) == 0)
            return sf_fail(error, SF_UNAVAILABLE, NULL, "`synfire %s` is not here: %s", name,
                           app_words_of_program.why_absent);
    sf_nearest nearest = {.word = name + strspn(name, "-")};
    sf_nearest_offer(&nearest, "version");
    for (size_t i = 0; app_commands[i] != NULL; i++) {
        sf_nearest_offer(&nearest, app_commands[i]->name);
        if (app_commands[i]->alias != NULL) sf_nearest_offer(&nearest, app_commands[i]->alias);
    }
    if (nearest.best != NULL && strcmp(nearest.best, "version") == 0) nearest.best = "--version";
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

/* Words that stand in place of a command; the last is for the build, which installs its output. */
static const struct {
    const char *word;
    void (*write)(sf_text *text); /* NULL: help, which takes a command's name */
} pages[] = {
    {"--version", app_help_version}, {"--help", NULL}, {"-h", NULL}, {"help", NULL},
    {"--completion", completion},
};

/* `synfire help` or `synfire --help`, and the page of a command whose name may follow. */
static int help(const char *name, sf_text *text, sf_error *error)
{
    const app_command *command = name != NULL ? app_find_command(name) : NULL;
    if (name != NULL && command == NULL) return refuse_command(name, error);
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
    if (sf_ranks_use(way, &error) != SF_OK) return app_report("", &error);
    if (strcmp(first, "--manual") == 0 && argc > 2) /* for the build, too: the pages, into a folder */
        return manual_pages(argv[2], &error) == SF_OK ? 0 : app_report("", &error);
    for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++) {
        sf_text text = {0};
        if (strcmp(first, pages[i].word) != 0) continue;
        int status = SF_OK;
        if (pages[i].write != NULL)
            pages[i].write(&text);
        else
            status = help(argc > 2 ? argv[2] : NULL, &text, &error);
        if (status == SF_OK) status = app_print(&text, &error);
        return status == SF_OK ? 0 : app_refuse_words(argc - 1, argv + 1, &error);
    }
    const app_command *command = app_find_command(first);
    if (command == NULL) {
        refuse_command(first, &error);
        return app_refuse_words(argc - 1, argv + 1, &error);
    }
    return app_invoke(command, argc - 1, argv + 1);
}
