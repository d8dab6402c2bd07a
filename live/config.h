/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The configuration of a live run, as YAML has it. Loading is strict: an unknown key, a wrong type or a value
 * out of range is refused with line, column and what was expected. configs/ shows every key with its default.
 */
#ifndef SF_LIVE_CONFIG_H
#define SF_LIVE_CONFIG_H

#include "core/json.h"
#include "core/place.h"
#include "live/control_socket.h"
#include "pipeline/options.h"
#include "sinks/sink.h"
#include "window/source.h"

/** Where a value that was given stands in the YAML, 1-based; line 0: it came from a setting. */
typedef struct sf_config_place {
    char *key; /**< dotted: "sources.0.speed" */
    size_t line, column;
} sf_config_place;

#define SF_CONFIG_MOST_CORE 1023

/** What threads are given beyond their turn; each step that is refused is left out with a warning. */
typedef struct sf_config_realtime {
    uint32_t priority; /**< of SCHED_FIFO; 0: none */
    char *core;        /**< "any" or a number */
    bool lock_memory;
} sf_config_realtime;

/** Everything in it is its own. An item's settings begin with sf_source_settings or sf_sink_settings. */
typedef struct sf_config {
    sf_live_options live; /**< first: its keys are the configuration's */
    char **rules;         /**< files */
    uint32_t rule_count;
    sf_key_item *sources;
    uint32_t source_count;
    sf_key_item *sinks;
    uint32_t sink_count;
    sf_control_settings *control; /**< at most one */
    uint32_t control_count;
    sf_config_realtime realtime;

    char *name; /**< what stands for the file in messages */
    sf_config_place *places;
    size_t place_count;
} sf_config;

/** The kind of a source or sink, and its settings. */
static inline const sf_source_kind *sf_config_source_kind(const sf_config *config, size_t index)
{
    return (const sf_source_kind *)config->sources[index].kind;
}

static inline const sf_source_settings *sf_config_source(const sf_config *config, size_t index)
{
    return config->sources[index].settings;
}

static inline const sf_sink_kind *sf_config_sink_kind(const sf_config *config, size_t index)
{
    return (const sf_sink_kind *)config->sinks[index].kind;
}

static inline const sf_sink_settings *sf_config_sink(const sf_config *config, size_t index)
{
    return config->sinks[index].settings;
}

/** A text among an item's settings, as "recording"; NULL where its kind has none of this name. */
const char *sf_config_text(const sf_key_item *item, const char *key);

/** The registry of sources; NULL beyond the last. */
const sf_source_kind *sf_source_kind_at(size_t index);

/**
 * Where a configuration or a plan is: `path` itself, or where there is no such file, one that comes with
 * synfire and has that name, with or without `configs/` and `.yaml`; it is then in `room`.
 */
const char *sf_config_find(char room[SF_PLACE_SIZE], const char *path);

/**
 * Loads a file (sf_config_find) over the defaults, then applies `settings` (each "key=value" with a dotted
 * path, as --set gives: "window.length_s=5", "sources.0.speed=max"; an item after the last one of a list is
 * added; a key that does not exist is refused the same way). Checks types, ranges and what keys mean
 * together: a window that is no whole number of hops, a key that another one rules out, ... A configuration
 * without sources is allowed: the caller may replay a recording in their place. SF_CONFIG with place
 * "file:line:column: key" or "--set key"; SF_USAGE where a setting is no KEY=VALUE; SF_NO_INPUT where the
 * file cannot be read.
 */
int sf_config_load(sf_config *config, const char *path, const char *const *settings, size_t setting_count,
                   sf_error *error);

/** As sf_config_load, from text; `name` stands for the file in messages. */
int sf_config_parse(sf_config *config, const char *yaml, size_t length, const char *name,
                    const char *const *settings, size_t setting_count, sf_error *error);

/**
 * Refuses a value that turned out wrong later (an unknown unit, a recording that is not there): SF_CONFIG
 * with the place of `key`, a dotted path as "watch.0", or of the nearest list or mapping around it that was
 * given.
 */
int sf_config_refuse(const sf_config *config, const char *key, sf_error *error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/**
 * What differs between two configurations: each key, dotted, is told to `tell` with whether it may change
 * while a run goes on. Of lists of different lengths, items of different kinds and texts that are listed the
 * list is told.
 */
void sf_config_compare(const sf_config *now, const sf_config *next,
                       void (*tell)(void *user, const char *key, bool live), void *user);

/** Refuses a sink that would write over what the run reads: SF_CONFIG. */
int sf_config_check_files(const sf_config *config, sf_error *error);

/** What the pipeline refused by one of its keys gets the place of that key here. Returns status. */
int sf_config_locate(const sf_config *config, int status, const sf_error *reason, sf_error *error);

/** The same of what an item of "sources", "sinks" or "control" refused, by one of its keys or by what is
 * written there, as an endpoint. Returns status, SF_CONFIG for SF_USAGE. */
int sf_config_locate_item(const sf_config *config, const char *list, uint32_t index, int status,
                          const sf_error *reason, sf_error *error);

/** Puts one replay of a recording in place of all sources; `speed` as the key has it. */
int sf_config_replay(sf_config *config, const char *recording, const char *speed, sf_error *error);

/** Adds the page to the sinks, where there is none yet, with a raster that fits a stream of this speed: times
 * real time. */
int sf_config_show(sf_config *config, double speed, sf_error *error);

/**
 * Puts the episodes of a file (sf_episode_list_read) in the place of each item of `track` and `watch` that
 * names it, as @FILE; those of the file `watched`, where that is not NULL, are watched too. SF_CONFIG with
 * the place of the item, SF_DATA, SF_NO_INPUT.
 */
int sf_config_read_episodes(sf_config *config, const char *watched, sf_error *error);

/** Leaves stream, sources, merge and realtime, and puts one recorder that waits rather than drops in place of
 * all else.
 */
int sf_config_record(sf_config *config, const char *path, bool overwrite, sf_error *error);

/** Appends the resolved configuration as YAML that loads to the same, with every key that has a meaning. */
int sf_config_print(sf_text *text, const sf_config *config, sf_error *error);

/** Appends a configuration that shows every key with its default, its bounds and what it is; and all of them
 * as objects of an open array (docs/schema/describe.json). */
void sf_config_reference(sf_text *text);
void sf_config_keys_json(sf_json *json);

void sf_config_free(sf_config *config);

/** Appends a blank and each key of a configuration that stands in no list, as window.length_s. */
void sf_config_list_keys(sf_text *text);

#endif
