/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The command line: one table per command (options, help, example) and one function. The tables make the help
 * texts, the man page and the completions.
 */
#ifndef SF_APP_COMMAND_H
#define SF_APP_COMMAND_H

#include "analysis/burst_report.h"
#include "analysis/criticality.h"
#include "analysis/factors.h"
#include "analysis/labels.h"
#include "analysis/planted.h"
#include "analysis/response_report.h"
#include "analysis/rules.h"
#include "analysis/sequence_report.h"
#include "analysis/statistics.h"
#include "core/delimited.h"
#include "core/error.h"
#include "core/hash.h"
#include "core/json.h"
#include "core/keys.h"
#include "core/provenance.h"
#include "io/last_words.h"
#include "replay/nwb_results.h"
#include "replay/recording_file.h"
#include "replay/simulation_settings.h"

#include <synfire/synfire.h>
#include <synfire/table.h>

#include <stdio.h>

/** With an argument, the command reads it. Without: of a row that has this name, or a flag. */
typedef struct app_option {
    const char *name;     /**< without dashes */
    const char *argument; /**< what stands for its value in help; "q|ratio" are all that it may be */
    const char *help;     /**< one sentence, with the default; NULL: what the row says */
} app_option;

/** Option lists end with an all-NULL option. A command has up to six lists, so that groups are shared. */
#define APP_OPTION_LISTS 6
#define APP_ROW_TABLES 8
#define APP_RESULT_TABLES 6
#define APP_DOCUMENTS 2

struct app_call;

typedef struct app_command {
    const char *name;
    const char *alias;                   /**< or NULL */
    const char *group;                   /**< "look", "find", "connect", "timing", "live", "advanced" */
    const char *summary;                 /**< a line that begins small and has no full stop */
    const char *arguments;               /**< "REC", "G --source V" */
    int least_arguments, most_arguments; /**< most < 0: any number */
    bool takes_several;                  /**< recordings, in place of one: app/batch.h */
    void (*words)(sf_text *text); /**< appends a blank and each word that one of its arguments may be, ... */
    int words_at;                 /**< ... of all of them this one, from 1 */
    int leading_arguments;        /**< before the recording, as plot's KIND */
    bool writes_last;             /**< the last argument is a file that it writes */
    bool keeps_noise; /**< without --kind it looks at all units, those labelled noise too: it analyses none */
    bool prints_losses;  /**< in its lines; with --json and --csv they are warned of, as of other commands */
    const char *gathers; /**< an option with which all of them are of one call; or NULL */
    const char *example; /**< a whole command line that works */
    const char *notes;   /**< further help, or NULL */
    const app_option *options[APP_OPTION_LISTS];
    const sf_key_table *rows[APP_ROW_TABLES];  /**< that describe options; NULL behind the last */
    const sf_table *tables[APP_RESULT_TABLES]; /**< of its results, besides those of the library */
    const sf_table *documents[APP_DOCUMENTS];  /**< that app_document_json prints; docs/schema/ has the first
                                                  by the command's name */
    int (*run)(struct app_call *call, sf_error *error); /**< returns an sf_status */
} app_command;

typedef struct app_given {
    const char *name;
    const char *value; /**< NULL for a flag */
} app_given;

/** One invocation, parsed. */
typedef struct app_call {
    const app_command *command;
    char **words;     /**< as given, the command's name first, NULL last */
    app_given *given; /**< in the order on the command line */
    size_t given_count;
    char **arguments;
    size_t argument_count;
    bool json, quiet, verbose;
    bool wanting; /**< set by a command that is done and found what is not as it should be: exit code 1 */
    sf_provenance *provenance; /**< of its result: whoever reads the recording or draws numbers tells it */
    struct app_said
        *said; /**< what app_warn printed and app_doubt has to say, each once; NULL: all is printed at once */
} app_call;

/** Sentences of one call. Zero-initialise; app_said_free. */
#define APP_MOST_SAID 64
typedef struct app_sentences {
    char *items[APP_MOST_SAID];
    size_t count;
} app_sentences;

typedef struct app_said {
    app_sentences warnings, doubts;
} app_said;

void app_said_free(app_said *said);

extern const app_command *const app_commands[]; /**< NULL-terminated, in the order of help */

/** The command of a name or an alias; NULL: there is none. */
const app_command *app_find_command(const char *name);

/** How help texts speak of the program. */
typedef struct app_program_words {
    const char *usage;                /**< what is typed before the command */
    const char *about;                /**< what it is, a line or more */
    const char *first;                /**< what to try first, a line or more */
    void (*settings)(sf_text *text);  /**< appends a blank and each key that --set takes; NULL: it has none */
    const sf_table *const *documents; /**< that no command prints, NULL last; NULL: none */
    const char *const *absent;        /**< names of commands that other builds have, NULL last; NULL: none */
    const char *why_absent;           /**< a sentence that begins small and has no full stop */
    /** Append a configuration that shows every key, and its keys to an array of JSON; NULL: it has none. */
    void (*configuration)(sf_text *text);
    void (*configuration_json)(sf_json *json);
} app_program_words;

extern const app_program_words app_words_of_program;

bool app_has(const app_call *call, const char *option);
/** The lists of all its options, app_common_options the last: NULL where `list` has none. */
const app_option *app_option_list(const app_command *command, size_t list);
#define APP_ALL_LISTS (APP_OPTION_LISTS + 2)

/** True where this list is among the options of the command. */
bool app_takes(const app_call *call, const app_option *options);
/** The last value given, or `otherwise`. */
const char *app_value(const app_call *call, const char *option, const char *otherwise);
/** The values of a repeated option, one a call: *from starts at 0; NULL at the end. */
const char *app_next_value(const app_call *call, const char *option, size_t *from);

/** The row that describes an option, of a table of the command, of selections or of mining, and its table;
 * NULL: the command reads the option itself. */
const sf_key *app_option_row(const app_command *command, const app_option *option,
                             const sf_key_table **table);

/** Reads all options that were given of rows of this table into its struct. SF_USAGE names the option and
 * what was found. */
int app_options_read(const app_call *call, const sf_key_table *table, void *options, sf_error *error);

/** Numbers: leave *value as it is where the option was not given; SF_USAGE names the option and what was
 * found. */
int app_uint(const app_call *call, const char *option, uint64_t least, uint64_t most, uint64_t *value,
             sf_error *error);
/** One of the words of an option, by its `argument`: its index. */
int app_word(const app_call *call, const char *option, int *index, sf_error *error);
/** Which of its words --table is; it goes with --csv alone. */
int app_table_asked(const app_call *call, int *index, sf_error *error);
/** Refuses the first of these options, NULL at their end, that was given: SF_USAGE, its name and the reason.
 */
int app_refuse(const app_call *call, const char *const *options, const char *reason, sf_error *error);

/** Where a call of the library failed at an option that it names (`min_distance_um`), the place becomes the
 * option of this command (`--min-distance`). Returns the status. */
int app_name_option(const app_call *call, int status, sf_error *error);

/** A progress bar on stderr with rate and time left, shown after a second and only on a terminal. */
sf_progress app_progress(const app_call *call);

/** Set by SIGINT and SIGTERM once app_catch_signals ran; a second SIGINT leaves at once. */
void app_catch_signals(void);

/** Of what may drive devices: SIGHUP, as of a terminal that is closed, stops too, and whatever signal ends
 * the program, bytes that are owed to devices (io/last_words.h) go out. */
void app_catch_all_signals(void);

/** From now on the first signal calls this at once, in its handler; NULL: nothing any more. */
void app_call_on_stop(void (*call)(void *user), void *user);

bool app_stop_requested(void);
int app_stop_signal(void); /**< 0 while none came */

/** Prints a warning `synfire: COMMAND: ...` to stderr unless --quiet; the same one is printed once. */
void app_warn(const app_call *call, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Says what makes numbers of the result doubtful: it is part of the result, below its lines, also with
 * --quiet; where a call prints no lines it is a warning at the end. The same one is said once. */
void app_doubt(const app_call *call, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** The lines of what is doubtful, the heading and an empty line before them; nothing without any. */
void app_doubts_print(sf_text *text, const app_call *call);

/** The same call, which neither warns nor keeps a doubt. */
app_call app_silenced(const app_call *call);

/** Warns of what no lines have said. */
void app_doubts_warn(const app_call *call);

/** Main thread: prints what waits in the log to stderr: errors always, the rest unless --quiet. */
void app_print_log(const app_call *call);

/** Writes the text, escaped as core/text.h says: the one way to a terminal. False where `out` cannot take it
 * (errno) or the text failed. */
bool app_write(FILE *out, sf_text *text);

/** Prints the text and a newline to stdout and frees it; SF_IO where stdout cannot take it, SF_NO_MEMORY if
 * it failed. A reader that has gone has had enough: no failure. */
int app_print(sf_text *text, sf_error *error);

/** How a command tells what it found: --json, a table as --csv or all as --nwb, and lines for people, what is
 * doubtful below them. */
typedef struct app_telling {
    const sf_table *document;
    size_t table_count;
    sf_table (*table)(const void *what, size_t which);              /**< in the order of --table */
    int (*lines)(sf_text *text, const void *what, sf_error *error); /**< which end in a newline */
} app_telling;

#define APP_TOLD_TABLES 8 /* at most */

/** Prints it as the call asks for; `table`: what app_table_asked read. */
int app_tell(const app_call *call, const app_telling *telling, const void *what, int table, sf_error *error);

bool app_has_printed(void); /**< app_print was called */
void app_print_anew(void);  /**< of a process that was just made: it has printed nothing */

/** Random numbers were drawn from this seed: the result says so. */
void app_tell_seed(const app_call *call, uint64_t seed);

/** What made a result: of the command's words, the program's name left out. SF_NO_MEMORY. */
int app_provenance_new(sf_provenance **out, size_t word_count, char *const *words, sf_error *error);
void app_provenance_free(sf_provenance *provenance); /**< NULL is allowed */

/** What of a recording was looked at, in place of what was told before, and by whose defaults. SF_NO_MEMORY.
 */
int app_tell_recording(const app_call *call, const sf_recording *recording, sf_error *error);

/** The field `provenance` of a result's document. */
void app_provenance_json(sf_json *json, const app_call *call);

/** The document of --json: the struct `of`, by the columns of one of the command's documents, and the
 * provenance. */
void app_document_json(sf_text *text, const app_call *call, const sf_table *document, const void *of);

/** The provenance as a document on one line, for files that have room for it; sf_text_free takes it. */
sf_text app_provenance_text(const app_call *call);

/* ---- tables for terminals ---- */

/** Collects rows, then prints columns aligned to their widest cell: numbers to the right, text to the left.
 */
typedef struct app_table {
    size_t columns;
    char **cells; /**< row-major; the first row is the head */
    size_t count, capacity;
    bool failed;
} app_table;

void app_table_heads(app_table *table, const char *const *heads, size_t count);
void app_table_cell(app_table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Characters of the first `length` bytes on the screen: UTF-8 continuation bytes take no place. */
size_t app_width(const char *text, size_t length);

/** So many digits of a number, or - where it is not finite. */
void app_table_real(app_table *table, int digits, double value);
void app_table_print(app_table *table, sf_text *out, size_t columns); /**< appends the table and empties it */

/** The same within 80 characters, or as many as the terminal on stdout has where these are more: of the
 * columns whose heads are in `drop` (NULL at the end) those are shown that have room, the last of the list
 * first, and the others are named below; those of nothing but - are left out without a word. A first column
 * that is too wide even then goes on in further lines. Cells are never cut. `wide`: nothing is left out. */
void app_table_fit(app_table *table, sf_text *out, size_t columns, const char *const *drop, bool wide);

#endif
