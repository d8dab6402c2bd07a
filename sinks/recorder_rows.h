/* SPDX-License-Identifier: Apache-2.0 */
/** The rows of the recorder's tables, as they are in memory and in journals; docs/messages.md says what they
 * mean. */
#ifndef SF_SINKS_RECORDER_ROWS_H
#define SF_SINKS_RECORDER_ROWS_H

#include "core/message.h"

typedef struct window_row {
    uint64_t seq, hop;
    int64_t from_ns, to_ns;
    uint64_t spikes;
    uint32_t partial, episodes; /* episodes: rows of `counts` with this seq */
    uint64_t left_out, left_out_untested;
} window_row;

typedef struct episode_row {
    uint64_t seq; /* of the message that had the episode first */
    char id[16];
    int64_t delays_ns[SF_EPISODE_MAX_SIZE - 1][2];
    uint32_t units[SF_EPISODE_MAX_SIZE]; /* SF_NO_UNIT beyond size */
    uint32_t size, reserved;
} episode_row;

typedef struct count_row {
    uint64_t seq, count;
    double expected, p, q, p_age_s;
    uint32_t episode, tests; /* episode: row of `episodes` */
    char not_tested[24];     /* why there is no p */
} count_row;

typedef struct trigger_row {
    uint64_t seq;
    int64_t time_ns;
    uint64_t occurrence;
    char id[16];
    int64_t spike_times_ns[SF_EPISODE_MAX_SIZE]; /* INT64_MIN beyond size */
    double p, q, p_age_s;
    uint32_t size, tests;
    char not_tested[24];
    int64_t decided_ns;
    char name[SF_TRIGGER_NAME_SIZE];
} trigger_row;

typedef struct decision_row {
    uint64_t seq;
    int64_t time_ns;
    char name[64], id[16]; /* id: empty where it rests on no episode */
    uint64_t occurrence;
    char outcome[16], reason[24]; /* reason: empty where nothing spoke against it */
    uint64_t trigger_seq;         /* row of `triggers` with this seq; 0: none */
    int64_t decided_ns;
    double wait_ms;
} decision_row;

typedef struct delivery_row {
    uint64_t seq;
    int64_t time_ns;
    char name[64];
    uint64_t trigger_seq; /* row of `triggers` with this seq */
    char sink[SF_STATUS_NAME_SIZE], outcome[16];
    int64_t sent_ns;
    double latency_ms;
} delivery_row;

typedef struct density_row {
    uint64_t seq;
    int64_t from_ns, to_ns;
    double h, grid_start, grid_step;
    uint64_t first_value, count; /* in density_values */
    double row_start, row_step;
    uint64_t rows;
    double outside;
    uint32_t log_axis, reserved;
    char quantity[64];
} density_row;

typedef struct graph_row {
    uint64_t seq;
    int64_t from_ns, to_ns;
    uint64_t edges, changes; /* changes: rows of `edges` with this seq */
    double threshold;
    uint64_t left_out, left_out_untested;
} graph_row;

typedef struct edge_row {
    uint64_t seq;
    int64_t low_ns, high_ns;
    uint64_t count;
    double expected, p, q, p_age_s, weight;
    uint32_t from, to, removed, reserved;
} edge_row;

typedef struct reach_row {
    uint64_t seq;
    int64_t low_ns, high_ns; /* of the path */
    uint32_t source, unit, level;
    int32_t parent; /* -1: the source itself */
} reach_row;

typedef struct unit_row {
    uint64_t seq;
    uint32_t unit, component, reached, depth; /* SF_NO_UNIT: not asked for */
} unit_row;

/* What rewired graphs count beside the graph. */
typedef struct beside_row {
    int64_t rewired_from_ns, rewired_to_ns;
    uint64_t rewired_count;
    double mean, sd, z;
} beside_row;

typedef struct match_row {
    uint64_t seq, count;
    uint64_t first_unit; /* in match_units */
    beside_row beside;
    uint32_t pattern, truncated, size, kept, rewired, reserved; /* pattern: number in the configuration */
} match_row;

typedef struct triad_row {
    uint64_t seq;
    char triad[8];
    uint64_t count;
    beside_row beside;
    uint32_t rewired, reserved;
} triad_row;

typedef struct status_row {
    uint64_t seq;
    int64_t time_ns;
    uint64_t spikes;
    double rate_hz;
    uint64_t tracked, watched, edges, window_dropped, watch_overflows;
    char device[64], device_state[32], device_note[256];
    uint64_t device_memory;
    char counting_device[32], discovery_device[32];
    double discovery_ms;
    uint64_t tested, tests, tests_missed;
    char test_device[32];
    double test_ms, test_share;
    char not_tested[24];
} status_row;

typedef struct source_row {
    uint64_t seq;
    char name[SF_STATUS_NAME_SIZE], state[8], authentication[8];
    int64_t silent_ns, behind_ns; /* behind: -1: not known */
    uint64_t spikes, held, late, duplicate, out_of_range, dropped, leaps;
    int64_t missing_spikes; /* -1: not known */
    uint64_t markers, markers_late, markers_dropped, markers_left_out;
    int64_t missing_markers;
    uint64_t gaps, gap_lost, malformed, restarts, undone, steps, epochs;
    int64_t shift_ns, lateness_max_ns;
} source_row;

typedef struct sink_row {
    uint64_t seq;
    char name[SF_STATUS_NAME_SIZE];
    uint64_t published, dropped, failed, spikes, spikes_lost, markers, markers_lost;
    char state[16], note[256];
    uint64_t journal_bytes, syncs;
    double sync_max_ms, disk_left_s;
    int64_t refused;        /* -1: nobody is asked for a key */
    uint32_t own, reserved; /* own: 1 where it is the recorder of this file */
} sink_row;

#endif
