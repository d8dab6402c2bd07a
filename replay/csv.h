/* SPDX-License-Identifier: Apache-2.0 */
/**
 * CSV: a unit's name and a time in seconds on each line, with or without a heading. Times are read in
 * decimal, to the nanosecond; negative ones are refused. Units are ordered by name, numbers in names by
 * value.
 */
#ifndef SF_REPLAY_CSV_H
#define SF_REPLAY_CSV_H

#include "core/progress.h"
#include "core/recording.h"
#include "replay/lines.h"

/** SF_DATA names the line, what was expected there and what was found. */
int sf_csv_read(sf_recording *recording, const char *path, const sf_progress *progress, sf_error *error);

/** The same over lines in memory. */
int sf_csv_read_lines(sf_recording *recording, const sf_lines *lines, const sf_progress *progress,
                      sf_error *error);

#endif
