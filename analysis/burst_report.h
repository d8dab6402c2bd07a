/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Bursts of units and of the network, with their chance levels, as tables: the output of `synfire bursts`,
 * for the command and the library alike. docs/bursts.md has the definitions.
 */
#ifndef SF_ANALYSIS_BURST_REPORT_H
#define SF_ANALYSIS_BURST_REPORT_H

#include "analysis/activity.h"
#include "core/json.h"

#include <synfire/table.h>

typedef struct sf_burst_report_options {
    sf_activity_options activity;
    uint64_t seed; /**< of what chance gives */
} sf_burst_report_options;

#define SF_BURST_REPORT_OPTIONS ((sf_burst_report_options){SF_ACTIVITY_OPTIONS, 1})

/** The row of the seed; those of `activity` are sf_activity_table. */
extern const sf_key_table sf_burst_report_options_table;

/** Of a unit or of the network. */
typedef struct sf_burst_row {
    const char *kind; /**< "unit", "network" */
    uint32_t unit;    /**< UINT32_MAX: of the network */
    const char *name; /**< NULL: of the network */
    int64_t start_ns, stop_ns;
    uint64_t spikes, units;
} sf_burst_row;

typedef struct sf_burst_unit_row {
    uint32_t unit;
    const char *name;
    uint64_t spikes;
    double rate_hz;
    bool active;
    uint64_t bursts;
    double burst_rate, burst_rate_chance, burst_share, burst_share_chance;
    double burst_s, burst_spikes, burst_hz, inter_burst_s;
    double core_ms, extend_ms;
} sf_burst_unit_row;

typedef struct sf_network_burst_row {
    int64_t start_ns, stop_ns;
    uint64_t spikes, units;
    double participation, inter_burst_s;
} sf_network_burst_row;

typedef struct sf_burst_summary_row {
    const char *measure;
    double value, chance;
    const char *unit, *what;
} sf_burst_summary_row;

/** The measures of bursts that compare takes, and three more. */
#define SF_BURST_MEASURES (SF_MEASURE_NETWORK_UNITS - SF_MEASURE_BURST_RATE + 1)
#define SF_BURST_SUMMARY (SF_BURST_MEASURES + 3)

/** Zero-initialise. */
typedef struct sf_burst_report {
    sf_burst_report_options options;
    sf_recording_columns of;
    sf_activity activity;
    double measured[SF_MEASURES], by_chance[SF_MEASURES];
    sf_burst_unit_row *units;
    sf_network_burst_row *network; /**< activity.network.count */
    sf_burst_row *bursts;
    size_t burst_count;
    sf_burst_summary_row summary[SF_BURST_SUMMARY];
} sf_burst_report;

/** Lists the network's bursts, then those of each unit. Free *rows with sf_free, also after an error.
 * SF_NO_MEMORY. */
int sf_burst_rows_list(sf_burst_row **rows, size_t *count, const sf_activity *activity, const sf_unit *units,
                       sf_error *error);

/** `options` must have passed sf_activity_check. The recording must outlive the report. SF_NO_MEMORY. Free
 * with sf_burst_report_free, also after an error. */
int sf_burst_report_find(sf_burst_report *report, const sf_recording *recording,
                         const sf_burst_report_options *options, sf_error *error);
void sf_burst_report_free(sf_burst_report *report);

/** Its tables, as --table names them: units, network, bursts, summary. */
#define SF_BURST_TABLES 4
sf_table sf_burst_report_table(const sf_burst_report *report, size_t which);

/** Of all of it; a row is a sf_burst_report. */
extern const sf_table sf_burst_report_document;

#endif
