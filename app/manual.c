/* SPDX-License-Identifier: Apache-2.0 */
#include "app/manual.h"

#include "app/parse.h"

/* ---- manual page ---- */

/* Words as roff takes them: nothing in them is a request or an escape, and a hyphen is the one people type.
 */
static void add_words(sf_text *text, const char *words)
{
    for (const char *c = words; *c != '\0'; c++) {
        if ((*c == '.' || *c == '\'') && (c == words || c[-1] == '\n'))
            sf_text_printf(text, "\\&");
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

static void add_options(sf_text *text, const app_option *options)
{
    for (; options != NULL && options->name != NULL; options++) {
        sf_text_printf(text, ".TP\n\\fB\\-\\-");
        add_words(text, options->name);
        sf_text_printf(text, "\\fR");
        if (options->argument != NULL)
            sf_text_printf(text, " \\fI%s\\fR", options->argument);
        sf_text_append(text, "\n", 1);
        add_words(text, options->help);
        sf_text_append(text, "\n", 1);
    }
}

static void add_command(sf_text *text, const app_command *command)
{
    sf_text_printf(text, ".SS \"synfire %s [options] ", command->name);
    add_words(text, command->arguments);
    sf_text_printf(text, "\"\n");
    add_words(text, command->summary);
    if (command->alias != NULL)
        sf_text_printf(text, "\n(also: synfire %s)", command->alias);
    sf_text_append(text, "\n", 1);
    for (int i = 0; i < APP_OPTION_LISTS; i++)
        add_options(text, command->options[i]);
    if (command->notes != NULL) {
        sf_text_printf(text, ".PP\n");
        add_words(text, command->notes);
        sf_text_append(text, "\n", 1);
    }
    sf_text_printf(text, ".PP\nExample:\n.PP\n.RS\n.nf\n");
    add_words(text, command->example);
    sf_text_printf(text, "\n.fi\n.RE\n");
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
    "a signal ends in order leaves with 0.\n";

void app_manual_page(sf_text *text)
{
    sf_text_printf(text, ".\\\" SPDX-License-Identifier: Apache-2.0\n.TH SYNFIRE 1 \"\" \"synfire %s\"\n%s",
                   sf_version(), before_commands);
    add_options(text, app_common_options);
    sf_text_printf(text, ".SH COMMANDS\n");
    for (size_t i = 0; app_commands[i] != NULL; i++)
        add_command(text, app_commands[i]);
    sf_text_append(text, after_commands, sizeof after_commands - 2); /* app_print adds the last newline */
}

/* ---- completion ---- */

static void add_option_words(sf_text *text, const app_option *options)
{
    for (; options != NULL && options->name != NULL; options++)
        sf_text_printf(text, " --%s", options->name);
}

void app_completion(sf_text *text)
{
    sf_text_printf(text,
                   "# SPDX-License-Identifier: Apache-2.0\n"
                   "# bash completion of synfire; zsh takes it after `autoload bashcompinit; bashcompinit`.\n"
                   "_synfire() {\n"
                   "    local current=${COMP_WORDS[COMP_CWORD]} options\n"
                   "    case $COMP_CWORD:${COMP_WORDS[1]} in\n"
                   "    1:*) options='--version --help");
    for (size_t i = 0; app_commands[i] != NULL; i++)
        sf_text_printf(text, " %s", app_commands[i]->name);
    sf_text_printf(text, "' ;;\n");
    for (size_t i = 0; app_commands[i] != NULL; i++) {
        const app_command *command = app_commands[i];
        sf_text_printf(text, "    *:%s", command->name);
        if (command->alias != NULL)
            sf_text_printf(text, " | *:%s", command->alias);
        sf_text_printf(text, ") options='");
        for (int list = 0; list < APP_OPTION_LISTS; list++)
            add_option_words(text, command->options[list]);
        add_option_words(text, app_common_options);
        sf_text_printf(text, "' ;;\n");
    }
    sf_text_printf(text, "    esac\n"
                         "    if [[ $COMP_CWORD -eq 1 || $current == -* ]]; then\n"
                         "        COMPREPLY=($(compgen -W \"$options\" -- \"$current\"))\n"
                         "    else\n"
                         "        COMPREPLY=($(compgen -f -- \"$current\"))\n"
                         "    fi\n"
                         "}\n"
                         "complete -o filenames -F _synfire synfire");
}
