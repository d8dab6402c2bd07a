/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The order of units within network bursts as tables: the output of `synfire sequences`, for the command and
 * the library alike. docs/sequences.md has the definitions.
 */
#ifndef SF_ANALYSIS_SEQUENCE_REPORT_H
#define SF_ANALYSIS_SEQUENCE_REPORT_H

#include "analysis/activity.h"
#include "analysis/sequences.h"
#include "core/episode.h"
#include "core/json.h"

#include <synfire/mine.h>
#include <synfire/table.h>

typedef struct sf_sequence_summary_row {
    const char *order_by;
    uint64_t bursts, ordered, backbone;
    double mean_similarity, p;
    bool counted;
    double window_ms;
    uint64_t placed;
    double placed_similarity, placed_p, without_one, dealt_p;
    bool sequence;
    uint64_t members;
} sf_sequence_summary_row;

typedef struct sf_sequence_unit_row {
    uint32_t unit;
    const char *name;
    uint64_t bursts;
    double share, spikes, first_ms;
    bool backbone;
    double position;
    uint64_t kept;
    double place_ms, jitter_ms, kept_chance, p, q, shape, shape_chance;
    bool member;
    uint64_t order;
} sf_sequence_unit_row;

typedef struct sf_sequence_burst_row {
    uint64_t burst;
    int64_t start_ns, stop_ns, begin_ns;
    uint64_t units, kept;
    double mean_similarity;
} sf_sequence_burst_row;

typedef struct sf_sequence_latency_row {
    uint64_t burst;
    uint32_t unit;
    const char *name;
    int64_t first_ns;
    double latency_ms;
    uint64_t rank;
} sf_sequence_latency_row;

typedef struct sf_burst_similarity_row {
    uint64_t burst, other;
    double similarity;
} sf_burst_similarity_row;

typedef struct sf_sequence_chain_row {
    char id[SF_EPISODE_ID_SIZE];
    char *episode; /**< of the row */
    uint64_t count;
    sf_sequence_place place;
    bool fixed;
} sf_sequence_chain_row;

/** Zero-initialise. */
typedef struct sf_sequence_report {
    const sf_recording *recording;
    sf_activity_options activity; /**< its rule defines the network bursts */
    sf_sequence_options options;
    sf_recording_columns of;
    sf_bursts network;
    sf_sequences found;
    sf_sequence_summary_row all;
    sf_sequence_unit_row *units;   /**< found.unit_count */
    sf_sequence_burst_row *bursts; /**< found.burst_count */
    sf_sequence_latency_row *latencies;
    size_t latency_count;
    sf_burst_similarity_row *similarities;
    size_t similarity_count;
    sf_sequence_chain_row *chains;
    size_t chain_count;
} sf_sequence_report;

/** Finds sequences, and the places of `count` chains in them. The recording must outlive the report.
 * SF_NO_MEMORY, SF_CANCELLED. Free with sf_sequence_report_free, also after an error. */
int sf_sequence_report_find(sf_sequence_report *report, const sf_recording *recording,
                            const sf_activity_options *activity, const sf_sequence_options *options,
                            const sf_episode *episodes, size_t count, const sf_progress *progress,
                            sf_error *error);
void sf_sequence_report_free(sf_sequence_report *report);

/** Its tables, as --table names them: units, bursts, latencies, similarity, chains, summary. */
#define SF_SEQUENCE_TABLES 6
sf_table sf_sequence_report_table(const sf_sequence_report *report, size_t which);

/** Of all of it; a row is a sf_sequence_report. */
extern const sf_table sf_sequence_report_document;

#endif
