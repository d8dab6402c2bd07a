/* SPDX-License-Identifier: Apache-2.0 */
/* A new key is a member in config.h, a line in a table of fields here and a line in the table of rules. */
#include "core/config_keys.h"

#include "core/config.h"
#include <synfire/mine.h>

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof(array)[0]))
#define LONGEST_TEXT 4096

/* Every field may be missing in the YAML that libcyaml sees; what may not be missing is in the rules. */
#define TEXT(key, structure, member)                                                                         \
    CYAML_FIELD_STRING_PTR(key, CYAML_FLAG_OPTIONAL | CYAML_FLAG_POINTER_NULL, structure, member, 1,         \
                           LONGEST_TEXT)
#define WHOLE(key, structure, member) CYAML_FIELD_UINT(key, CYAML_FLAG_OPTIONAL, structure, member)
#define REAL(key, structure, member) CYAML_FIELD_FLOAT(key, CYAML_FLAG_OPTIONAL, structure, member)
#define SWITCH(key, structure, member) CYAML_FIELD_BOOL(key, CYAML_FLAG_OPTIONAL, structure, member)
#define CHOICE(key, structure, member, words)                                                                \
    CYAML_FIELD_ENUM(key, CYAML_FLAG_OPTIONAL | CYAML_FLAG_STRICT, structure, member, words, COUNT(words))
#define GROUP(key, structure, member, fields)                                                                \
    CYAML_FIELD_MAPPING(key, CYAML_FLAG_OPTIONAL, structure, member, fields)
#define LIST(key, structure, member, count, entry, most)                                                     \
    CYAML_FIELD_SEQUENCE_COUNT(key, CYAML_FLAG_OPTIONAL | CYAML_FLAG_POINTER_NULL, structure, member, count, \
                               entry, 0, most)

/* ---- words ---- */

static const cyaml_strval_t source_types[] = {{"replay", SF_CONFIG_REPLAY}, {"zmq", SF_CONFIG_STREAM}};
static const cyaml_strval_t sink_types[] = {
    {"jsonl", SF_CONFIG_JSONL}, {"zmq", SF_CONFIG_ZMQ}, {"osc", SF_CONFIG_OSC}, {"hdf5", SF_CONFIG_HDF5}};
static const cyaml_strval_t encodings[] = {{"msgpack", SF_CONFIG_MSGPACK}, {"json", SF_CONFIG_JSON}};
static const cyaml_strval_t policies[] = {
    {"block", SF_RING_BLOCK}, {"drop-oldest", SF_RING_DROP_OLDEST}, {"drop-newest", SF_RING_DROP_NEWEST}};
static const cyaml_strval_t metrics[] = {{"episodes", SF_CONFIG_EPISODES}, {"sttc", SF_CONFIG_STTC}};
static const cyaml_strval_t quantities[] = {{"isi", SF_QUANTITY_ISI},
                                            {"delay", SF_QUANTITY_DELAY},
                                            {"rate", SF_QUANTITY_RATE},
                                            {"position", SF_QUANTITY_POSITION}};

/* ---- fields: a key that others depend on (`where`) comes before them ---- */

static const cyaml_schema_field_t source_fields[] = {
    CHOICE("type", sf_config_source, type, source_types),
    TEXT("recording", sf_config_source, recording),
    TEXT("speed", sf_config_source, speed),
    TEXT("endpoint", sf_config_source, endpoint),
    REAL("timeout_s", sf_config_source, timeout_s),
    WHOLE("ring", sf_config_source, ring),
    CHOICE("policy", sf_config_source, policy, policies),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t merge_fields[] = {
    REAL("lateness_ms", sf_config_merge, lateness_ms),
    REAL("stall_ms", sf_config_merge, stall_ms),
    REAL("leap_s", sf_config_merge, leap_s),
    SWITCH("drop_duplicates", sf_config_merge, drop_duplicates),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t window_fields[] = {
    REAL("length_s", sf_config_window, length_s),
    REAL("hop_s", sf_config_window, hop_s),
    REAL("silence_s", sf_config_window, silence_s),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t mine_fields[] = {
    WHOLE("every", sf_config_mine, every),
    TEXT("delays_ms", sf_config_mine, delays_ms),
    REAL("min_count", sf_config_mine, min_count),
    REAL("min_rate_hz", sf_config_mine, min_rate_hz),
    REAL("min_fraction", sf_config_mine, min_fraction),
    WHOLE("max_size", sf_config_mine, max_size),
    SWITCH("self", sf_config_mine, self),
    TEXT("engine", sf_config_mine, engine),
    WHOLE("threads", sf_config_mine, threads),
    WHOLE("track_most", sf_config_mine, track_most),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t reach_fields[] = {
    TEXT("from", sf_config_reach, from),
    WHOLE("hops", sf_config_reach, hops),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t reach_entry = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, sf_config_reach, reach_fields)};

static const cyaml_schema_field_t pattern_fields[] = {
    TEXT("pattern", sf_config_pattern, pattern),
    WHOLE("limit", sf_config_pattern, limit),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t pattern_entry = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, sf_config_pattern, pattern_fields)};

static const cyaml_schema_field_t graph_fields[] = {
    SWITCH("enabled", sf_config_graph, enabled),
    CHOICE("metric", sf_config_graph, metric, metrics),
    REAL("dt_ms", sf_config_graph, dt_ms),
    WHOLE("surrogates", sf_config_graph, surrogates),
    LIST("reach", sf_config_graph, reach, reach_count, &reach_entry, 1000),
    WHOLE("reach_all", sf_config_graph, reach_all),
    SWITCH("components", sf_config_graph, components),
    LIST("patterns", sf_config_graph, patterns, pattern_count, &pattern_entry, 100),
    SWITCH("census", sf_config_graph, census),
    WHOLE("rewired", sf_config_graph, rewired),
    WHOLE("seed", sf_config_graph, seed),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t density_fields[] = {
    CHOICE("quantity", sf_config_density, quantity, quantities),
    TEXT("unit", sf_config_density, unit),
    TEXT("episode", sf_config_density, episode),
    TEXT("method", sf_config_density, method),
    REAL("reselect", sf_config_density, reselect),
    WHOLE("grid", sf_config_density, grid),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t sink_fields[] = {
    CHOICE("type", sf_config_sink, type, sink_types),
    TEXT("path", sf_config_sink, path),
    SWITCH("overwrite", sf_config_sink, overwrite),
    SWITCH("insecure", sf_config_sink, insecure),
    TEXT("endpoint", sf_config_sink, endpoint),
    CHOICE("encoding", sf_config_sink, encoding, encodings),
    WHOLE("wait_subscribers", sf_config_sink, wait_subscribers),
    WHOLE("ring", sf_config_sink, ring),
    CHOICE("policy", sf_config_sink, policy, policies),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t source_entry = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, sf_config_source, source_fields)};
static const cyaml_schema_value_t density_entry = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, sf_config_density, density_fields)};
static const cyaml_schema_value_t sink_entry = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, sf_config_sink, sink_fields)};
static const cyaml_schema_value_t episode_entry = {
    CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char, 1, LONGEST_TEXT)};

static const cyaml_schema_field_t top_fields[] = {
    TEXT("stream", sf_config, stream),
    LIST("sources", sf_config, sources, source_count, &source_entry, 64),
    GROUP("merge", sf_config, merge, merge_fields),
    GROUP("window", sf_config, window, window_fields),
    TEXT("device", sf_config, device),
    TEXT("device_memory", sf_config, device_memory),
    GROUP("mine", sf_config, mine, mine_fields),
    LIST("track", sf_config, track, track_count, &episode_entry, 100000),
    LIST("watch", sf_config, watch, watch_count, &episode_entry, 100000),
    GROUP("graph", sf_config, graph, graph_fields),
    LIST("density", sf_config, density, density_count, &density_entry, 1000),
    LIST("sinks", sf_config, sinks, sink_count, &sink_entry, 64),
    CYAML_FIELD_END,
};

const cyaml_schema_value_t sf_config_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, sf_config, top_fields)};

/* ---- rules ---- */

const sf_config_rule sf_config_rules[] = {
    {"stream", .otherwise = "synfire"},

    {"sources.type", .needed = true},
    {"sources.recording", .where = "type=replay", .needed = true},
    {"sources.speed", .where = "type=replay", .otherwise = "1"},
    {"sources.endpoint", .where = "type=zmq", .otherwise = "tcp://127.0.0.1:7700"},
    {"sources.timeout_s", .where = "type=zmq", .otherwise = "10", .least = 0.001, .most = 86400},
    {"sources.ring", .otherwise = "65536", .least = 1, .most = 1 << 26},
    {"sources.policy", .where = "type=replay", .otherwise = "block"},
    {"sources.policy", .where = "type=zmq", .otherwise = "drop-oldest"},

    {"merge.lateness_ms", .otherwise = "0", .least = 0, .most = 60000},
    {"merge.stall_ms", .otherwise = "1000", .least = 1, .most = 600000},
    {"merge.leap_s", .otherwise = "10", .least = 0, .most = 1e9},
    {"merge.drop_duplicates", .otherwise = "false"},

    {"window.length_s", .otherwise = "10", .least = 0.001, .most = 86400},
    {"window.hop_s", .otherwise = "1", .least = 0.001, .most = 86400},
    {"window.silence_s", .otherwise = "3600", .least = 0, .most = 1e9},

    {"device", .otherwise = "auto"},
    {"device_memory", .otherwise = "auto"},

    {"mine.every", .otherwise = "5", .least = 0, .most = 1000000},
    {"mine.delays_ms", .otherwise = "0.5:5"},
    {"mine.min_count", .otherwise = "0", .least = 0, .most = 1e12},
    {"mine.min_rate_hz", .otherwise = "0", .least = 0, .most = 1e6},
    {"mine.min_fraction", .otherwise = "0", .least = 0, .most = 1},
    {"mine.max_size", .otherwise = "4", .least = 1, .most = SF_EPISODE_MAX_SIZE},
    {"mine.self", .otherwise = "false"},
    {"mine.engine", .otherwise = "auto"},
    {"mine.threads", .otherwise = "0", .least = 0, .most = 1024},
    {"mine.track_most", .otherwise = "200", .least = 0, .most = 100000},

    {"graph.enabled", .otherwise = "true"},
    {"graph.reach.from", .needed = true},
    {"graph.metric", .otherwise = "episodes"},
    {"graph.dt_ms", .where = "metric=sttc", .otherwise = "50", .least = 0.000001, .most = 3600000},
    {"graph.surrogates", .where = "metric=sttc", .otherwise = "200", .least = 0, .most = 100000},
    {"graph.reach.hops", .otherwise = "2", .least = 1, .most = 1000000},
    {"graph.reach_all", .otherwise = "0", .least = 0, .most = 1000000},
    {"graph.components", .otherwise = "false"},
    {"graph.patterns.pattern", .needed = true},
    {"graph.patterns.limit", .otherwise = "10", .least = 0, .most = 100000},
    {"graph.census", .otherwise = "false"},
    {"graph.rewired", .otherwise = "0", .least = 0, .most = 100000},
    {"graph.seed", .otherwise = "1", .least = 0, .most = UINT32_MAX},

    {"density.quantity", .otherwise = "isi"},
    {"density.unit", .where = "quantity=isi,rate", .needed = true},
    {"density.episode", .where = "quantity=delay", .needed = true},
    {"density.method", .where = "quantity=isi,delay,rate", .otherwise = "isj"},
    {"density.method", .where = "quantity=position", .otherwise = "silverman"},
    {"density.reselect", .otherwise = "0.2", .least = 0, .most = 100},
    {"density.grid", .where = "quantity=isi,delay,rate", .otherwise = "64", .least = 2, .most = 65536},
    {"density.grid", .where = "quantity=position", .otherwise = "32", .least = 2, .most = 1024},

    {"sinks.type", .needed = true},
    {"sinks.path", .where = "type=jsonl", .otherwise = "-"},
    {"sinks.path", .where = "type=hdf5", .needed = true},
    {"sinks.insecure", .where = "type=zmq", .otherwise = "false"},
    {"sinks.overwrite", .where = "type=jsonl,hdf5", .otherwise = "false"},
    {"sinks.endpoint", .where = "type=zmq", .otherwise = "tcp://127.0.0.1:7710"},
    {"sinks.endpoint", .where = "type=osc", .otherwise = "127.0.0.1:7720"},
    {"sinks.encoding", .where = "type=zmq", .otherwise = "msgpack"},
    {"sinks.wait_subscribers", .where = "type=zmq", .otherwise = "0", .least = 0, .most = 1000},
    {"sinks.ring", .otherwise = "1024", .least = 1, .most = 1 << 20},
    {"sinks.policy", .otherwise = "drop-oldest"},
};

const size_t sf_config_rule_count = sizeof sf_config_rules / sizeof sf_config_rules[0];
