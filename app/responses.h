/* SPDX-License-Identifier: Apache-2.0 */
/** Responses to stimuli as rows: for `responses`, its figure, and the files of `compare`. */
#ifndef SF_APP_RESPONSES_H
#define SF_APP_RESPONSES_H

#include "app/command.h"

/** The option list of commands that take all of them. */
#define APP_RESPONSE_OPTIONS                                                                                 \
    {.name = "marker"}, {.name = "response"}, {.name = "baseline"}, {.name = "around"}, {.name = "bin"},     \
    {                                                                                                        \
        .name = "permutations"                                                                               \
    }

/** Reads the options of the call. SF_USAGE for missing or invalid ones. */
int app_responses_parse(sf_response_options *options, const app_call *call, sf_error *error);

/** Lists the markers with other names, and says which one was chosen if --marker names none; returns whether
 * there are markers. */
bool app_responses_tell_others(sf_text *text, const app_call *call, const sf_recording *recording,
                               const char *marker);

/** Computes responses of all units, and of the chains of `episodes`, a file or a single episode; NULL: no
 * chains. Call sf_response_report_free whatever is returned. */
int app_responses_find(sf_response_report *report, const app_call *call, const sf_recording *recording,
                       const sf_response_options *options, const char *episodes, sf_error *error);

/** Warns of what makes p or latencies less certain. */
void app_responses_warn(const app_call *call, const sf_recording *recording, const sf_responses *units);

/** Sets the measures that compare reports, over units that fire at active_hz or more. Other measures stay. */
void app_responses_measure(const sf_response_report *report, const sf_activity *activity,
                           double values[SF_MEASURES], double chance[SF_MEASURES]);

#endif
