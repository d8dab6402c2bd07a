/* SPDX-License-Identifier: Apache-2.0 */
/** Options and output that every command which mines or counts episodes shares. */
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
    sf_mining_options options;    /**< delays point into this struct: do not copy it */
} app_mining;

/** Reads the options that the command has: delays by --delay, else by --preset; the threshold by one of
 * --min-*. SF_USAGE. */
int app_mining_parse(app_mining *mining, const app_call *call, sf_error *error);

/** "a count of 25.9", with the rule that it is of where none was asked for. */
void app_threshold_print(sf_text *text, double threshold, const char *why);

/** Where nothing is frequent: warns of it, and says what to try, which it has looked for. */
void app_nothing_warn(const app_mining *mining, const app_call *call, const sf_recording *recording,
                      const sf_episodes_columns *told);

/** Doubts counts of a delay that holds fewer than two steps of the recording's clock. */
void app_delay_doubt(const app_call *call, sf_delay delay, int64_t tick_ns);

/** Warns of the first of the delays that looks as if it were given in seconds or in microseconds; true where
 * one does. */
bool app_delays_warn(const app_call *call, const sf_delay *delays, size_t count);

/**
 * sf_mine with a progress bar; warns of delays that mean little in this recording, and of what a device did
 * not do. Where it fails, the place is an option of the command, or the recording.
 */
int app_mining_run(sf_episodes **episodes, const app_mining *mining, const app_call *call,
                   const sf_recording *recording, sf_error *error);

/** What a result lacks that was stopped: where it was ("searching", "testing", "telling"), or NULL of one
 * that is whole; and a sentence without its full stop. */
const char *app_stopped_name(const sf_episodes_columns *told);
extern const char *const app_stopped_words[];
void app_stopped_print(sf_text *text, const sf_episodes_columns *told);

/** Fails as `status` has it, with what was printed of a result that was stopped beside where that was. */
int app_stopped_report(int status, const sf_episodes_columns *told, sf_error *error);

/** Warns of a length (`window`) that is longer than what is looked at: its seconds look like ms. */
void app_seconds_warn(const app_call *call, const char *option, int64_t length_ns, int64_t duration_ns);

/** Warns of a length in ms (`width`) that is shorter than a spike: its ms look like seconds. */
void app_milliseconds_warn(const app_call *call, const char *option, int64_t length_ns);

/** What cut a result short that is told as far as it goes. */
typedef struct app_stop {
    const char *where; /**< as app_stopped_name has it; NULL: nothing did */
    sf_error reason;
} app_stop;

/** Where work that ended so has left something to tell: remembers it, and nothing failed. Returns the status
 * to go on with. `error` is what the work said. */
int app_stop_take(app_stop *stop, int status, const char *where, const sf_error *error);

/** The line above tables (with `before` in front of it: "# " in CSV), or nothing. */
void app_stop_print(sf_text *text, const app_stop *stop, const char *before);

/** Says so of a file that is not written then; true where that is so. */
bool app_stop_spares(const app_stop *stop, const app_call *call, const char *file);

/** After the result is printed: what the command ends with. */
int app_stop_report(const app_stop *stop, int status, sf_error *error);

/** What was looked for, as YAML: delays, threshold as a count, sizes. For files that say what made them. */
void app_mining_yaml(sf_text *yaml, const app_mining *mining, double threshold);

/** --device of work that one device does: "auto", or the name of one that is there. */
int app_device(const char **device, const app_call *call, sf_error *error);

/** Says where a job ("mined", "counted") was done, and why not where it should have been; nothing where the
 * note is empty. */
void app_device_warn(const app_call *call, const char *job, const char *device, const char *note);

/** The name of a unit, and the path of a recording; as long-lived as the recording. */
const char *app_unit_name(const sf_recording *recording, uint32_t unit);
const char *app_recording_path(const sf_recording *recording);
int64_t app_duration_ns(const sf_recording *recording); /**< of what is looked at */

/** The episode as text, in a cell. */
void app_csv_episode(app_csv *csv, const sf_recording *recording, const sf_episode *episode);

/** The delay of every link of these episodes, which lie `stride` bytes apart; {0, 0}: they have several. */
sf_delay app_common_delay(const sf_episode *first, size_t stride, size_t count);

/** Names of episodes that have one delay, which stands elsewhere: "A -(4,6]-> B" becomes "A > B" in place. */
void app_episode_shorten(char *text);

/** Head of a column of such names: "WHAT, > is (4,6] ms", or "WHAT (delays in ms)" where `common` is {0, 0}.
 */
void app_episode_head(char *text, size_t size, const char *what, sf_delay common);

/** A cell of the same interval: "1.2-3.4". */
void app_ratio_cell(app_table *table, double low, double high);

/** The episode as text; free with sf_text_free. data is NULL where memory is out. */
sf_text app_episode_text(const sf_recording *recording, const sf_episode *episode);

/** The episodes of a file, as sf_episode_list_read takes it, that this recording has the units of. Free with
 * sf_free. SF_DATA, SF_NO_INPUT. */
int app_episodes_read(sf_episode **episodes, size_t *count, const char *path, const sf_recording *recording,
                      sf_error *error);

/** The same of --registered, and the file's SHA-256 in hexadecimal; an episode that is no file: SF_USAGE. */
#define APP_SHA256 65
int app_registered_read(sf_episode **episodes, size_t *count, char sha256[APP_SHA256], const char *path,
                        const sf_recording *recording, sf_error *error);

/** app_delays_warn of episodes that were given. */
void app_episodes_warn(const app_call *call, const sf_episode *episodes, size_t count);

#endif
