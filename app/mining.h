/* SPDX-License-Identifier: Apache-2.0 */
/** Options and output that every command which mines or counts episodes shares. */
#ifndef SF_APP_MINING_H
#define SF_APP_MINING_H

#include "app/command.h"
#include "mine/mine.h"

#include <synfire/mine.h>

/** --delay --min-count --min-rate --min-fraction --self --min-distance --threads */
extern const app_option app_mining_options[];

/** --engine --device */
extern const app_option app_engine_options[];

#define APP_MOST_DELAYS 64

typedef struct app_mining {
    sf_delay delays[APP_MOST_DELAYS];
    sf_mine_options options; /**< delays point into this struct: do not copy it */
} app_mining;

/**
 * Reads the options: delays by --delay, else by --preset, else (0.5,5] ms; the threshold by one of --min-*,
 * else a thousandth of the spikes of the recording but at least 20. SF_USAGE.
 */
int app_mining_parse(app_mining *mining, const app_call *call, const sf_recording *recording,
                     sf_error *error);

/** Warns of delays that mean little in this recording, then mines with a progress bar. */
int app_mining_run(sf_mine_result **result, const app_mining *mining, const app_call *call,
                   const sf_recording *recording, sf_error *error);

/** What was looked for, as YAML: delays, threshold as a count, sizes. For files that say what made them. */
void app_mining_yaml(sf_text *yaml, const app_mining *mining, double threshold);

/** --engine and --device, each or NULL; checks both, and that a device named is there. SF_USAGE,
 * SF_UNAVAILABLE. */
int app_engine(const char **engine, const char **device, const app_call *call, sf_error *error);

/** --device of work that one device does: "auto", or the name of one that is there. */
int app_device(const char **device, const app_call *call, sf_error *error);

/** Says where a job ("mined", "counted") was done, and why not where it should have been; nothing where the
 * note is empty. */
void app_device_warn(const app_call *call, const char *job, const char *device, const char *note);

/** `device_note`: what app_device_warn says of it, or null. */
void app_device_json(sf_json *json, const char *note);

/** Appends the delay intervals in ms: "(0.5,5] (5,10]". */
void app_delays_print(sf_text *text, const app_mining *mining);

/** Fields of an episode inside an object: id, units, names, delays_ms. */
void app_episode_json(sf_json *json, const sf_episode *episode, const sf_units *units);

/** Appends a field of a CSV line, quoted. */
void app_csv_quote(sf_text *text, const char *field);

/** The episode as text; free with sf_text_free. data is NULL where memory is out. */
sf_text app_episode_text(const sf_episode *episode, const sf_units *units);

/**
 * Reads a file of episodes, one a line: as text, or as JSON objects with `units` (indices) and `delays_ms`.
 * Empty lines are passed over. The place of an error is FILE:LINE. Free with sf_free. SF_DATA, SF_NO_INPUT.
 */
int app_episodes_read(sf_episode **episodes, size_t *count, const char *path, const sf_units *units,
                      sf_error *error);

#endif
