/* SPDX-License-Identifier: Apache-2.0 */
/** The text of `info` about a recording, which also begins a report. */
#ifndef SF_APP_INFO_H
#define SF_APP_INFO_H

#include "app/command.h"

#include <synfire/recording.h>

/** Appends the text, including warnings of what misleads an analysis. SF_NO_MEMORY, SF_CANCELLED. */
int app_info_print(sf_text *text, const app_call *call, const sf_recording *recording,
                   const sf_overview_columns *overview, sf_error *error);

#endif
