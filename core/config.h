/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The configuration of a live run, as YAML has it. Loading is strict: an unknown key, a wrong type or a value
 * out of range is refused with line, column and what was expected. configs/ shows every key with its default.
 */
#ifndef SF_CORE_CONFIG_H
#define SF_CORE_CONFIG_H

#include "core/ring.h"
#include "core/text.h"

#include <synfire/density.h>

typedef enum sf_config_source_type { SF_CONFIG_REPLAY, SF_CONFIG_STREAM } sf_config_source_type;
typedef enum sf_config_sink_type {
    SF_CONFIG_JSONL,
    SF_CONFIG_ZMQ,
    SF_CONFIG_OSC,
    SF_CONFIG_HDF5
} sf_config_sink_type;
typedef enum sf_config_encoding { SF_CONFIG_MSGPACK, SF_CONFIG_JSON } sf_config_encoding;
typedef enum sf_config_metric { SF_CONFIG_EPISODES, SF_CONFIG_STTC } sf_config_metric;

/** Where a value that was given stands in the YAML, 1-based; line 0: it came from a setting. */
typedef struct sf_config_place {
    char *key; /**< dotted: "sources.0.speed" */
    size_t line, column;
} sf_config_place;

typedef struct sf_config_source {
    sf_config_source_type type; /**< `replay` or `zmq` */
    char *recording;            /**< replay: path */
    char *endpoint;             /**< zmq: what `synfire play` or another sender bound; tcp://127.0.0.1:7700 */
    char *speed;                /**< replay: `max` or a factor, 1 by default */
    double timeout_s; /**< zmq: how long to wait for the unit table, and until a silent sender is lost; 10 */
    uint32_t ring;    /**< spikes; 65536 */
    sf_ring_policy policy; /**< block (default for replay), drop-oldest (default for zmq), drop-newest */
} sf_config_source;

typedef struct sf_config_merge {
    double lateness_ms; /**< how long a source's newest spike waits for older ones; 0 */
    double stall_ms;    /**< a silent source without a clock holds the others at most this long; 1000 */
    double leap_s; /**< zmq, in real time: a time further from its source's is held until the stream goes on
                      from there; 10; 0: every time is believed */
    bool drop_duplicates; /**< drop spikes of one unit at one instant (they are counted either way); false */
} sf_config_merge;

typedef struct sf_config_window {
    double length_s;  /**< 10; a whole number of hops */
    double hop_s;     /**< 1 */
    double silence_s; /**< of a longer silence the empty windows are left out; 3600; 0: none are */
} sf_config_window;

typedef struct sf_config_mine {
    uint32_t every;   /**< hops between discoveries; 5; 0: no discovery, only what `track` names */
    char *delays_ms;  /**< as --delay; "0.5:5" */
    double min_count; /**< of these three exactly one is positive; min_rate_hz 0.5 where none is given */
    double min_rate_hz;
    double min_fraction;
    uint32_t max_size; /**< 4 */
    bool self;         /**< units may repeat in an episode; false */
    char *engine;      /**< auto */
    uint32_t threads;  /**< 0: all cores */
    uint32_t
        track_most; /**< at most so many discovered episodes are tracked, the most significant first; 200 */
} sf_config_mine;

typedef struct sf_config_reach {
    char *from;    /**< a unit's name or #index */
    uint32_t hops; /**< 2 */
} sf_config_reach;

typedef struct sf_config_pattern {
    char *pattern;  /**< as `synfire match` takes it: a name, a file, or the motif language */
    uint32_t limit; /**< embeddings published at most; 10 */
} sf_config_pattern;

typedef struct sf_config_graph {
    bool enabled;            /**< true */
    sf_config_metric metric; /**< `episodes` or `sttc` */
    double dt_ms;            /**< sttc: spikes at most this far apart are together; 50 */
    uint32_t surrogates;     /**< sttc: shifts that a pair must exceed; 200; 0: every pair is an edge */
    sf_config_reach *reach;
    uint32_t reach_count;
    uint32_t reach_all; /**< hops; 0: not asked */
    bool components;    /**< false */
    sf_config_pattern *patterns;
    uint32_t pattern_count;
    bool census;      /**< false */
    uint32_t rewired; /**< graphs that counts of patterns are held against; 0: none */
    uint32_t seed;    /**< of surrogates and rewired graphs; 1 */
} sf_config_graph;

typedef struct sf_config_density {
    sf_quantity quantity; /**< isi (of `unit`), delay (first to last spike of `episode`'s last link),
                                    rate, position (of all) */
    char *unit;           /**< "*": every unit */
    char *episode;        /**< "*": every one under `track` */
    char *method;         /**< a bandwidth method; isj, of position silverman */
    double reselect; /**< the bandwidth is chosen again once this share of the samples has changed; 0.2 */
    uint32_t grid;   /**< bins, of position in x and in y; 64, 32 */
} sf_config_density;

typedef struct sf_config_sink {
    sf_config_sink_type type;    /**< `jsonl`, `zmq`, `osc`, `hdf5` */
    char *path;                  /**< jsonl ("-": standard output), hdf5 */
    char *endpoint;              /**< zmq: tcp://127.0.0.1:7710; osc: HOST:PORT, 127.0.0.1:7720 */
    sf_config_encoding encoding; /**< zmq: msgpack */
    uint32_t ring;               /**< messages; 1024 */
    sf_ring_policy policy;       /**< drop-oldest */
    uint32_t wait_subscribers;   /**< zmq: 0 */
    bool insecure;               /**< zmq: other machines may connect; false */
    bool overwrite;              /**< jsonl, hdf5: false */
} sf_config_sink;

typedef struct sf_config {
    char *stream; /**< the name every message carries; "synfire" */
    sf_config_source *sources;
    uint32_t source_count;
    sf_config_merge merge;
    sf_config_window window;
    char *device;        /**< what discovers and counts: auto, cpu, cuda, cuda:N, cuda:all; auto */
    char *device_memory; /**< what jobs may take of it, as 8G; auto: most of what is free */
    sf_config_mine mine;
    char **track; /**< episodes as text: counted every hop whatever discovery finds */
    uint32_t track_count;
    char **watch; /**< episodes as text: a trigger the moment one completes */
    uint32_t watch_count;
    sf_config_graph graph;
    sf_config_density *density;
    uint32_t density_count;
    sf_config_sink *sinks;
    uint32_t sink_count;

    char *name; /**< what stands for the file in messages */
    sf_config_place *places;
    size_t place_count;
} sf_config;

/** Everything at its default, no sources and no sinks. */
int sf_config_default(sf_config *config, sf_error *error);

/**
 * Loads a file over the defaults, then applies `settings` (each "key=value" with a dotted path, as --set
 * gives: "window.length_s=5", "sources.0.speed=max"; an item after the last one of a list is added; a key
 * that does not exist is refused the same way). Checks types, ranges and what keys mean together: a window
 * that is no whole number of hops, a key that another one rules out, ... A
 * configuration without sources is allowed: the caller may replay a recording in their place. SF_CONFIG with
 * place "file:line:column: key" or "--set key"; SF_USAGE where a setting is no KEY=VALUE; SF_NO_INPUT where
 * the file cannot be read.
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

/** Puts one replay of a recording in place of all sources; `speed` as the key has it. */
int sf_config_replay(sf_config *config, const char *recording, const char *speed, sf_error *error);

/** Appends the resolved configuration as YAML that loads to the same, with every key that has a meaning. */
int sf_config_print(sf_text *text, const sf_config *config, sf_error *error);

void sf_config_free(sf_config *config);

#endif
