/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Text of spikes, one a line: a unit's name and a time in seconds, or what a heading says of its columns
 * (replay/csv_form.h). Times are read in decimal, to the nanosecond; negative ones are refused. Units are
 * ordered by name, numbers in names by value. Wells that a column or the names of electrodes tell are
 * streams.
 */
#ifndef SF_REPLAY_CSV_H
#define SF_REPLAY_CSV_H

#include "core/progress.h"
#include "core/recording.h"
#include "replay/lines.h"
#include "replay/reading.h"
#include "replay/streams.h"

/** how NULL: as the file says. SF_DATA names the line, what was expected there and what was found. */
int sf_csv_read(sf_recording *recording, const char *path, const sf_reading *how, const sf_progress *progress,
                sf_error *error);

/** The same over lines in memory. */
int sf_csv_read_lines(sf_recording *recording, const sf_lines *lines, const sf_reading *how,
                      const sf_progress *progress, sf_error *error);

/** The wells that a file holds; none where it tells of none. */
int sf_csv_list(sf_streams *streams, const char *path, const sf_reading *how, sf_error *error);

#endif
