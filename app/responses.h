/* SPDX-License-Identifier: Apache-2.0 */
/** Responses to stimuli as rows: of `responses`, of its figure, and in the files of `compare`. */
#ifndef SF_APP_RESPONSES_H
#define SF_APP_RESPONSES_H

#include "app/command.h"

/** In the list of options of a command that takes all of them. */
#define APP_RESPONSE_OPTIONS                                                                                 \
    {.name = "marker"}, {.name = "response"}, {.name = "baseline"}, {.name = "around"}, {.name = "bin"},     \
    {                                                                                                        \
        .name = "permutations"                                                                               \
    }

/** By the options of the call. SF_USAGE: what they do not say. */
int app_responses_parse(sf_response_options *options, const app_call *call, sf_error *error);

/** Says which markers of other names there are, and that this one was chosen where --marker names none;
 * whether there are any. */
bool app_responses_tell_others(sf_text *text, const app_call *call, const sf_recording *recording,
                               const char *marker);

/** Of all units, and of the chains of `episodes`, a file or one as it is; NULL: of none.
 * sf_response_report_free whatever happened. */
int app_responses_find(sf_response_report *report, const app_call *call, const sf_recording *recording,
                       const sf_response_options *options, const char *episodes, sf_error *error);

/** Warns of what makes p or latencies less sure. */
void app_responses_warn(const app_call *call, const sf_recording *recording, const sf_responses *units);

/** The measures of compare, of units that fire at active_hz or more. Others stay as they are. */
void app_responses_measure(const sf_response_report *report, const sf_activity *activity,
                           double values[SF_MEASURES], double chance[SF_MEASURES]);

#endif
