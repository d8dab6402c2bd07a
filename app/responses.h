/* SPDX-License-Identifier: Apache-2.0 */
/** Responses to stimuli as rows: of `responses`, of its figure, and in the files of `compare`. */
#ifndef SF_APP_RESPONSES_H
#define SF_APP_RESPONSES_H

#include "app/command.h"

/** Of a unit or a chain: a row of app_responses_table. */
typedef struct app_response {
    const char *kind;
    uint32_t unit;
    const char *name;
    double response_hz, baseline_hz, evoked;
    uint64_t spikes, baseline_spikes;
    double reliability, baseline_reliability;
    double latency_ms, baseline_latency_ms, jitter_ms, baseline_jitter_ms;
    double p, q;
} app_response;

extern const sf_table app_responses_table;

/** Of a recording. Zero-initialise. */
typedef struct app_responses {
    sf_recording_columns of;
    sf_responses units;
    sf_responses chains; /**< of no items where --episodes was not given */
    sf_occurrences *occurrences;
    size_t chain_count;
    sf_event_train *begins; /**< of the chains, when each occurrence begins */
    char **names;           /**< of the chains */
} app_responses;

/** In the list of options of a command that takes all of them. */
#define APP_RESPONSE_OPTIONS                                                                                 \
    {.name = "marker"}, {.name = "response"}, {.name = "baseline"}, {.name = "around"}, {.name = "bin"},     \
    {                                                                                                        \
        .name = "permutations"                                                                               \
    }

/** By the options of the call. SF_USAGE: what they do not say; where `needed`, that --marker was not given.
 */
int app_responses_parse(sf_response_options *options, const app_call *call, bool needed, sf_error *error);

/** Of all units, and of the chains of `episodes`, a file or one as it is; NULL: of none. app_responses_free
 * whatever happened. */
int app_responses_find(app_responses *responses, const app_call *call, const sf_recording *recording,
                       const sf_response_options *options, const char *episodes, sf_error *error);
void app_responses_free(app_responses *responses);

/** Warns of what makes p or latencies less sure. */
void app_responses_warn(const app_call *call, const sf_responses *units);

/** How many rows there are, units first; and row i. */
size_t app_responses_count(const app_responses *responses);
app_response app_responses_row(const app_responses *responses, size_t i);

/** Whether it responds: by a q of 0.05 or less. */
bool app_response_stands(const app_response *row);

/** The trains that row i was counted from, and all that was found of it; *at is its number among these. */
const sf_responses *app_responses_of(const app_responses *responses, size_t i, size_t *at);

/** How many units respond, with more or with fewer spikes. */
void app_responses_standing(const app_responses *responses, size_t *more, size_t *fewer);

/** The measures of compare, of units that fire at active_hz or more. Others stay as they are. */
void app_responses_measure(const app_responses *responses, const sf_activity *activity,
                           double values[SF_MEASURES], double chance[SF_MEASURES]);

#endif
