/* SPDX-License-Identifier: Apache-2.0 */
/** Options and output shared by all commands that mine or count episodes. */
#ifndef SF_APP_MINING_H
#define SF_APP_MINING_H

#include "app/command.h"
#include "app/csv.h"
#include "mine/rows.h"

#include <synfire/mine.h>

/** --delay --min-count --min-rate --min-fraction --repeats --min-distance --threads */
extern const app_option app_mining_options[];
extern const sf_key_table app_mining_table;

/** --engine --device */
extern const app_option app_engine_options[];

#define APP_MOST_DELAYS 64

#define APP_THRESHOLDS 3 /* kinds of sf_threshold_kind */

typedef struct app_mining {
    sf_delay delays[APP_MOST_DELAYS];
    double least[APP_THRESHOLDS]; /**< --min-*; 0: not given */
    sf_mining_options options;    /**< delays points into this struct: do not copy the struct */
} app_mining;

/** Reads the options that the command has: delays from --delay, else from --preset; the threshold from one of
 * --min-*. SF_USAGE. */
int app_mining_parse(app_mining *mining, const app_call *call, sf_error *error);

/** "a count of 25.9", with the rule behind it if no threshold was given. */
void app_threshold_print(sf_text *text, double threshold, const char *why);

/** If nothing is frequent: warns, and suggests options that it has tried. */
void app_nothing_warn(const app_mining *mining, const app_call *call, const sf_recording *recording,
                      const sf_episodes_columns *told);

/** Records a doubt about counts if a delay spans fewer than two steps of the recording's clock. */
void app_delay_doubt(const app_call *call, sf_delay delay, int64_t tick_ns);

/** Warns of the first delay that looks as if it were given in seconds or microseconds; true if there is one.
 */
bool app_delays_warn(const app_call *call, const sf_delay *delays, size_t count);

/**
 * Calls sf_mine with a progress bar; warns of delays that are meaningless in this recording, and of work that
 * a device did not do. On failure the place is an option of the command, or the recording.
 */
int app_mining_run(sf_episodes **episodes, const app_mining *mining, const app_call *call,
                   const sf_recording *recording, sf_error *error);

/** Where a stopped result was stopped ("searching", "testing", "telling"), NULL if it is complete; and a
 * sentence, without its full stop, that says what it lacks. */
const char *app_stopped_name(const sf_episodes_columns *told);
extern const char *const app_stopped_words[];
void app_stopped_print(sf_text *text, const sf_episodes_columns *told);

/** Fails with `status`; the error says where the work was stopped and what of it was printed. */
int app_stopped_report(int status, const sf_episodes_columns *told, sf_error *error);

/** Warns of a length (`window`) longer than the analysed time: its seconds look like ms. */
void app_seconds_warn(const app_call *call, const char *option, int64_t length_ns, int64_t duration_ns);

/** Warns of a length in ms (`width`) shorter than a spike: its ms look like seconds. */
void app_milliseconds_warn(const app_call *call, const char *option, int64_t length_ns);

/** Where a result that is printed partially was cut short. */
typedef struct app_stop {
    const char *where; /**< as from app_stopped_name; NULL: it is complete */
    sf_error reason;
} app_stop;

/** If stopped work has a partial result: records that, and treats it as success. Returns the status to
 * continue with. `error` is the work's. */
int app_stop_take(app_stop *stop, int status, const char *where, const sf_error *error);

/** Appends the line above tables (prefixed by `before`: "# " in CSV), or nothing. */
void app_stop_print(sf_text *text, const app_stop *stop, const char *before);

/** Warns that a file is not written because the result is partial; true if it is. */
bool app_stop_spares(const app_stop *stop, const app_call *call, const char *file);

/** After the result is printed: the status that the command ends with. */
int app_stop_report(const app_stop *stop, int status, sf_error *error);

/** The search as YAML (delays, threshold as a count, sizes), for files that record what produced them. */
void app_mining_yaml(sf_text *yaml, const app_mining *mining, double threshold);

/** --device for work on one device: "auto", or the name of an existing one. */
int app_device(const char **device, const app_call *call, sf_error *error);

/** Reports where a job ("mined", "counted") ran, and why not on the intended device; nothing if the note is
 * empty. */
void app_device_warn(const app_call *call, const char *job, const char *device, const char *note);

/** The name of a unit, and the path of a recording; valid as long as the recording. */
const char *app_unit_name(const sf_recording *recording, uint32_t unit);
const char *app_recording_path(const sf_recording *recording);
int64_t app_duration_ns(const sf_recording *recording); /**< recorded time of the selection */

/** Appends the episode as text in a cell. */
void app_csv_episode(app_csv *csv, const sf_recording *recording, const sf_episode *episode);

/** The delay shared by all links of these episodes, which lie `stride` bytes apart; {0, 0}: delays differ. */
sf_delay app_common_delay(const sf_episode *first, size_t stride, size_t count);

/** Shortens names of episodes with one common delay, which is stated elsewhere: "A -(4,6]-> B" becomes "A >
 * B", in place. */
void app_episode_shorten(char *text);

/** Head of a column of such names: "WHAT, > is (4,6] ms", or "WHAT (delays in ms)" where `common` is {0, 0}.
 */
void app_episode_head(char *text, size_t size, const char *what, sf_delay common);

/** Appends a cell for an interval: "1.2-3.4". */
void app_ratio_cell(app_table *table, double low, double high);

/** The episode as text; free with sf_text_free. data is NULL if memory is out. */
sf_text app_episode_text(const sf_recording *recording, const sf_episode *episode);

/** Reads a file of episodes, as sf_episode_list_read takes it, with the units of this recording. Free with
 * sf_free. SF_DATA, SF_NO_INPUT. */
int app_episodes_read(sf_episode **episodes, size_t *count, const char *path, const sf_recording *recording,
                      sf_error *error);

/** The same for --registered, with the file's SHA-256 in hexadecimal. SF_USAGE for an episode instead of a
 * file. */
#define APP_SHA256 65
int app_registered_read(sf_episode **episodes, size_t *count, char sha256[APP_SHA256], const char *path,
                        const sf_recording *recording, sf_error *error);

/** As app_delays_warn, for given episodes. */
void app_episodes_warn(const app_call *call, const sf_episode *episodes, size_t count);

#endif
