/* SPDX-License-Identifier: Apache-2.0 */
/** What `info` says of a recording in words, which a report begins with. */
#ifndef SF_APP_INFO_H
#define SF_APP_INFO_H

#include "app/command.h"

#include <synfire/recording.h>

/** Appends it, with the warnings of what misleads an analysis. SF_NO_MEMORY, SF_CANCELLED. */
int app_info_print(sf_text *text, const app_call *call, const sf_recording *recording,
                   const sf_overview_columns *overview, sf_error *error);

#endif
