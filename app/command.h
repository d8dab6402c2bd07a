/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The command line: one table (options, help, example) and one function per command. The help texts, the man
 * page and the completions are generated from the tables.
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

/** An option. With an `argument`, the command reads it; without, it is that of a row with this name, or a
 * flag. */
typedef struct app_option {
    const char *name;     /**< without dashes */
    const char *argument; /**< placeholder of its value in help; "q|ratio": the only values allowed */
    const char *help;     /**< one sentence, with the default; NULL: as the row says */
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
    const char *summary;                 /**< one line, beginning in lower case, without a full stop */
    const char *arguments;               /**< "REC", "G --source V" */
    int least_arguments, most_arguments; /**< most < 0: no limit */
    bool takes_several;                  /**< takes several recordings instead of one: app/batch.h */
    void (*words)(sf_text *text); /**< appends a blank and each allowed word of one of its arguments, ... */
    int words_at;                 /**< ... which is this one, from 1 */
    int leading_arguments;        /**< before the recording, such as plot's KIND */
    bool writes_last;             /**< the last argument is a file to write */
    bool keeps_noise;             /**< without --kind it includes units labelled noise: it analyses no unit */
    bool prints_losses;  /**< its lines include losses; with --json and --csv they are warned of, as by other
                            commands */
    const char *gathers; /**< an option with which one call handles all recordings; or NULL */
    const char *example; /**< a complete, working command line */
    const char *notes;   /**< further help, or NULL */
    const app_option *options[APP_OPTION_LISTS];
    const sf_key_table *rows[APP_ROW_TABLES];  /**< tables that describe options; ended by NULL */
    const sf_table *tables[APP_RESULT_TABLES]; /**< result tables in addition to the library's */
    const sf_table *documents[APP_DOCUMENTS];  /**< documents that app_document_json prints; docs/schema/ has
                                                  the first under the command's name */
    int (*run)(struct app_call *call, sf_error *error); /**< returns an sf_status */
} app_command;

typedef struct app_given {
    const char *name;
    const char *value; /**< NULL for a flag */
} app_given;

/** One parsed invocation. */
typedef struct app_call {
    const app_command *command;
    char **words;     /**< as given, the command's name first, NULL last */
    app_given *given; /**< in command-line order */
    size_t given_count;
    char **arguments;
    size_t argument_count;
    bool json, quiet, verbose;
    bool wanting; /**< set by a command that succeeded but found something wrong: exit code 1 */
    /** of its result; set by code that reads the recording or draws random numbers */
    sf_provenance *provenance;
    struct app_said *said; /**< what app_warn printed and app_doubt will print, each once; NULL: everything is
                              printed at once */
} app_call;

/** Sentences of one call. Zero-initialise; free with app_said_free. */
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

/** Finds a command by name or alias; NULL: there is none. */
const app_command *app_find_command(const char *name);

/** The program, for help texts. */
typedef struct app_program_words {
    const char *usage;                /**< what to type before the command */
    const char *about;                /**< what the program is, one or more lines */
    const char *first;                /**< what to try first, one or more lines */
    void (*settings)(sf_text *text);  /**< appends a blank and each key that --set takes; NULL: it has none */
    const sf_table *const *documents; /**< documents that no command prints, NULL last; NULL: none */
    const char *const *absent;        /**< names of commands that other builds have, NULL last; NULL: none */
    const char *why_absent;           /**< a sentence, beginning in lower case, without a full stop */
    /** Append a configuration that shows every key, and its keys to an array of JSON; NULL: it has none. */
    void (*configuration)(sf_text *text);
    void (*configuration_json)(sf_json *json);
} app_program_words;

extern const app_program_words app_words_of_program;

bool app_has(const app_call *call, const char *option);
/** All option lists of a command, app_common_options last; `list` numbers them, NULL beyond the last. */
const app_option *app_option_list(const app_command *command, size_t list);
#define APP_ALL_LISTS (APP_OPTION_LISTS + 2)

/** True where this list is among the options of the command. */
bool app_takes(const app_call *call, const app_option *options);
/** The last value given, or `otherwise`. */
const char *app_value(const app_call *call, const char *option, const char *otherwise);
/** Iterates over the values of a repeated option: *from starts at 0; NULL at the end. */
const char *app_next_value(const app_call *call, const char *option, size_t *from);

/** Finds the row that describes an option, in a table of the command, of selections or of mining, and that
 * table; NULL: the command reads the option itself. */
const sf_key *app_option_row(const app_command *command, const app_option *option,
                             const sf_key_table **table);

/** Reads all given options that are rows of this table into its struct. SF_USAGE names the option and what
 * was found. */
int app_options_read(const app_call *call, const sf_key_table *table, void *options, sf_error *error);

/** Read a number; leave *value unchanged if the option was not given. SF_USAGE names the option and what was
 * found. */
int app_uint(const app_call *call, const char *option, uint64_t least, uint64_t most, uint64_t *value,
             sf_error *error);
/** Reads an option whose `argument` lists words: the index of the word. */
int app_word(const app_call *call, const char *option, int *index, sf_error *error);
/** Which table --table names; only with --csv. */
int app_table_asked(const app_call *call, int *index, sf_error *error);
/** Refuses the first of these options (ended by NULL) that was given. SF_USAGE with its name and the reason.
 */
int app_refuse(const app_call *call, const char *const *options, const char *reason, sf_error *error);

/** If a library call failed with one of its options (`min_distance_um`) as the place, replaces the place by
 * the option of this command (`--min-distance`). Returns the status. */
int app_name_option(const app_call *call, int status, sf_error *error);

/** A progress bar on stderr with rate and time left, shown after a second and only on a terminal. */
sf_progress app_progress(const app_call *call);

/** Set by SIGINT and SIGTERM after app_catch_signals; a second SIGINT exits at once. */
void app_catch_signals(void);

/** For commands that may drive devices: SIGHUP, as from a closed terminal, stops too, and whatever signal
 * ends the program, bytes owed to devices are sent (io/last_words.h). */
void app_catch_all_signals(void);

/** From now on the first signal calls this in its handler; NULL: no call. */
void app_call_on_stop(void (*call)(void *user), void *user);

bool app_stop_requested(void);
int app_stop_signal(void); /**< 0: none has come */

/** Prints a warning `synfire: COMMAND: ...` to stderr unless --quiet; each text only once. */
void app_warn(const app_call *call, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Records a reason to doubt numbers of the result. It is part of the result, printed below its lines, also
 * with --quiet; if a call prints no lines it becomes a warning at the end. Each text only once. */
void app_doubt(const app_call *call, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Appends the recorded doubts, with a heading and an empty line before them; nothing if there are none. */
void app_doubts_print(sf_text *text, const app_call *call);

/** The same call without warnings and doubts. */
app_call app_silenced(const app_call *call);

/** Warns of the doubts that no lines have shown. */
void app_doubts_warn(const app_call *call);

/** Prints waiting log lines to stderr: errors always, others unless --quiet. Main thread. */
void app_print_log(const app_call *call);

/** Writes the text, escaped as core/text.h describes: the only way to a terminal. False if writing to `out`
 * failed (errno) or the text is `failed`. */
bool app_write(FILE *out, sf_text *text);

/** Prints the text and a newline to stdout and frees it. SF_IO if stdout cannot take it, SF_NO_MEMORY if the
 * text is `failed`. A reader that has closed the pipe is no failure. */
int app_print(sf_text *text, sf_error *error);

/** How a command prints its result: --json, a table as --csv or all as --nwb, or lines for people, followed
 * by the doubts. */
typedef struct app_telling {
    const sf_table *document;
    size_t table_count;
    sf_table (*table)(const void *what, size_t which); /**< the tables, in the order of --table */
    int (*lines)(sf_text *text, const void *what,
                 sf_error *error); /**< appends lines that end in a newline */
} app_telling;

#define APP_TOLD_TABLES 8 /* at most */

/** Prints the result in the requested form; `table`: from app_table_asked. */
int app_tell(const app_call *call, const app_telling *telling, const void *what, int table, sf_error *error);

bool app_has_printed(void); /**< app_print was called */
void app_print_anew(void);  /**< in a newly forked process: it has printed nothing */

/** Records in the provenance that random numbers were drawn from this seed. */
void app_tell_seed(const app_call *call, uint64_t seed);

/** The provenance of a result, with the command's words except the program's name. SF_NO_MEMORY. */
int app_provenance_new(sf_provenance **out, size_t word_count, char *const *words, sf_error *error);
void app_provenance_free(sf_provenance *provenance); /**< NULL is allowed */

/** Sets which part of the recording was analysed, replacing an earlier call, and whose defaults applied.
 * SF_NO_MEMORY. */
int app_tell_recording(const app_call *call, const sf_recording *recording, sf_error *error);

/** The field `provenance` of a result's document. */
void app_provenance_json(sf_json *json, const app_call *call);

/** Prints the document of --json: the struct `of`, by the columns of one of the command's documents, and the
 * provenance. */
void app_document_json(sf_text *text, const app_call *call, const sf_table *document, const void *of);

/** The provenance as a one-line document, for files that store it; free with sf_text_free. */
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
/** Number of screen characters in the first `length` bytes: UTF-8 continuation bytes count zero. */
size_t app_width(const char *text, size_t length);

/** Appends a number with this many digits, or - if it is not finite. */
void app_table_real(app_table *table, int digits, double value);
void app_table_print(app_table *table, sf_text *out, size_t columns); /**< appends the table and empties it */

/** Prints the table within 80 characters, or the width of the terminal on stdout if larger. Columns whose
 * heads are in `drop` (ended by NULL) are shown if there is room, the last of the list first, and the others
 * named below; those with only - are left out silently. If the first column is still too wide it is wrapped.
 * Cells are never cut. `wide`: nothing is left out. */
void app_table_fit(app_table *table, sf_text *out, size_t columns, const char *const *drop, bool wide);

#endif
