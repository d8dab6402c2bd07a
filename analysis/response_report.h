/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Responses to stimuli as tables: the output of `synfire responses`, for the command and the library alike.
 * docs/responses.md has the definitions.
 */
#ifndef SF_ANALYSIS_RESPONSE_REPORT_H
#define SF_ANALYSIS_RESPONSE_REPORT_H

#include "analysis/responses.h"

#include <synfire/mine.h>
#include <synfire/table.h>

/** Of a unit or a chain. */
typedef struct sf_response_row {
    const char *kind;
    uint32_t unit;
    const char *name;
    double response_hz, baseline_hz, evoked;
    uint64_t spikes, baseline_spikes;
    double reliability, baseline_reliability;
    double latency_ms, baseline_latency_ms, jitter_ms, baseline_jitter_ms;
    double p, q;
} sf_response_row;

typedef struct sf_response_bin {
    const char *kind;
    uint32_t unit;
    const char *name;
    int64_t from_ns, to_ns;
    uint64_t spikes;
    double exposed_s, rate_hz;
} sf_response_bin;

typedef struct sf_response_trial {
    uint64_t trial;
    int64_t time_ns;
    double exposed;
    uint64_t spikes, baseline_spikes, answers;
} sf_response_trial;

/** Zero-initialise. */
typedef struct sf_response_report {
    sf_recording_columns of;
    char commonest[SF_MARKER_TEXT_SIZE]; /**< the most frequent marker, used by units and chains if the
                                            options name none */
    sf_responses units;
    sf_responses chains; /**< has no items if no episodes were given */
    sf_occurrences *occurrences;
    size_t chain_count;
    sf_event_train *begins; /**< per chain, the start times of its occurrences */
    char **names;           /**< of the chains */
    sf_response_row *rows;  /**< units, then chains */
    sf_response_trial *trials;
} sf_response_report;

/** Finds the responses of all units, and of `count` chains, to the marker that the options name, else to the
 * most frequent one. The recording must outlive the report. Errors as sf_responses_open and
 * sf_marker_commonest; also SF_CANCELLED. Free with sf_response_report_free, also after an error. */
int sf_response_report_find(sf_response_report *report, const sf_recording *recording,
                            const sf_response_options *options, const sf_episode *episodes, size_t count,
                            const sf_progress *progress, sf_error *error);
void sf_response_report_free(sf_response_report *report);

/** Number of rows, units first; and row i. */
size_t sf_response_report_count(const sf_response_report *report);
sf_response_row sf_response_report_row(const sf_response_report *report, size_t i);

/** Whether the row's item responds: q <= 0.05. */
bool sf_response_stands(const sf_response_row *row);

/** The responses (of units or of chains) that contain the item of row i; *at is the index of the item in
 * them. */
const sf_responses *sf_response_report_of(const sf_response_report *report, size_t i, size_t *at);

/** Number of units that respond with more spikes, and with fewer. */
void sf_response_report_standing(const sf_response_report *report, size_t *more, size_t *fewer);

/** Fraction of the windows that was recorded and not blanked; and whether markers come at regular intervals.
 */
double sf_responses_exposed(const sf_responses *responses);
bool sf_responses_regular(const sf_responses *responses);

/** Its tables, as --table names them: responses, histogram, trials. */
#define SF_RESPONSE_TABLES 3
sf_table sf_response_report_table(const sf_response_report *report, size_t which);

/** All of it, of an sf_response_report. */
extern const sf_table sf_response_report_document;

#endif
