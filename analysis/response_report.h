/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Responses to stimuli as tables: what `synfire responses` tells, in the command and in the library alike.
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
    char commonest[SF_MARKER_TEXT_SIZE]; /**< the marker, where the options name none: units and chains have
                                            it from here */
    sf_responses units;
    sf_responses chains; /**< of no items where no episodes were given */
    sf_occurrences *occurrences;
    size_t chain_count;
    sf_event_train *begins; /**< of the chains, when each occurrence begins */
    char **names;           /**< of the chains */
    sf_response_row *rows;  /**< units, then chains */
    sf_response_trial *trials;
} sf_response_report;

/** Of all units, and of `count` chains, after the marker that the options name, else after the one that comes
 * most often. Errors as sf_responses_open and sf_marker_commonest; also SF_CANCELLED.
 * sf_response_report_free whatever happened. The recording must outlive it. */
int sf_response_report_find(sf_response_report *report, const sf_recording *recording,
                            const sf_response_options *options, const sf_episode *episodes, size_t count,
                            const sf_progress *progress, sf_error *error);
void sf_response_report_free(sf_response_report *report);

/** How many rows there are, units first; and row i. */
size_t sf_response_report_count(const sf_response_report *report);
sf_response_row sf_response_report_row(const sf_response_report *report, size_t i);

/** Whether it responds: by a q of 0.05 or less. */
bool sf_response_stands(const sf_response_row *row);

/** The trains that row i was counted from, and all that was found of it; *at is its number among these. */
const sf_responses *sf_response_report_of(const sf_response_report *report, size_t i, size_t *at);

/** How many units respond, with more or with fewer spikes. */
void sf_response_report_standing(const sf_response_report *report, size_t *more, size_t *fewer);

/** The share of the windows that was recorded and not blanked; whether markers come at one pace. */
double sf_responses_exposed(const sf_responses *responses);
bool sf_responses_regular(const sf_responses *responses);

/** Its tables, as --table names them: responses, histogram, trials. */
#define SF_RESPONSE_TABLES 3
sf_table sf_response_report_table(const sf_response_report *report, size_t which);

/** All of it, of an sf_response_report. */
extern const sf_table sf_response_report_document;

#endif
