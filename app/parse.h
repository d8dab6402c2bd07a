/* SPDX-License-Identifier: Apache-2.0 */
/** Parses argv into an app_call by a command's option tables. */
#ifndef SF_APP_PARSE_H
#define SF_APP_PARSE_H

#include "app/command.h"

/** --help --quiet --verbose --json, which every command has. */
extern const app_option app_common_options[];

/** --jobs. */
typedef struct app_jobs_options {
    uint64_t at_once; /**< number of processes; 0: one per core */
} app_jobs_options;

extern const sf_key_table app_jobs_table;

/** Options that name an output file, ended by NULL. */
extern const char *const app_output_options[];

int app_parse(app_call *call, const app_command *command, int argc, char **argv, sf_error *error);
int app_check_arguments(const app_call *call, sf_error *error);
void app_parse_free(app_call *call);

/** Runs the command on its words, argv[0] being its name; reports failures on stderr. Returns the exit code.
 */
int app_invoke(const app_command *command, int argc, char **argv);

/** The exit code of a call with this status: 128 plus the signal if one stopped it. */
int app_exit_code(int status, const sf_error *error);

/** Prints the document of a failed call with --json, so that a program always gets one. */
extern const sf_table app_refusal_document;
void app_print_refusal(const app_call *call, int status, const sf_error *error);

/** app_invoke's handling of words that no command takes: with --json among them the refusal is a document,
 * too. */
int app_refuse_words(int argc, char **argv, const sf_error *error);

/** Prints the line on stderr that says what failed; returns the exit code. */
int app_report(const char *command, const sf_error *error);

#endif
