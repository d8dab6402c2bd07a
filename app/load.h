/* SPDX-License-Identifier: Apache-2.0 */
/** The options that are allowed wherever REC is, and loading a recording by them. */
#ifndef SF_APP_LOAD_H
#define SF_APP_LOAD_H

#include "app/command.h"

/** --units --from --to --epochs --dedup --blank --preset --stream --rate */
extern const app_option app_selection_options[];

/** Reads `path` and applies the selection; warnings go to stderr. sf_recording_free takes *recording. */
int app_load(const app_call *call, const char *path, sf_recording **recording, sf_error *error);

/** --speed X|max: as given, or 1; max is 0, as sf_tool_play has it. */
int app_speed(const app_call *call, double *speed, sf_error *error);

#endif
