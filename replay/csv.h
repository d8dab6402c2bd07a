/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Text of spikes, one per line: the name of a unit and a time in seconds, or columns as named by a heading
 * (replay/csv_form.h). Times are read in decimal, to the nanosecond; negative ones are refused. Units are
 * ordered by name, numbers within names by value. Wells given by a column or by electrode names are streams.
 */
#ifndef SF_REPLAY_CSV_H
#define SF_REPLAY_CSV_H

#include "core/progress.h"
#include "core/recording.h"
#include "replay/lines.h"
#include "replay/reading.h"
#include "replay/streams.h"

/** `how` NULL: as the file says. SF_DATA names the line, what was expected and what was found. */
int sf_csv_read(sf_recording *recording, const char *path, const sf_reading *how, const sf_progress *progress,
                sf_error *error);

/** The same over lines in memory. */
int sf_csv_read_lines(sf_recording *recording, const sf_lines *lines, const sf_reading *how,
                      const sf_progress *progress, sf_error *error);

/** Lists the wells of a file; none if it names no wells. */
int sf_csv_list(sf_streams *streams, const char *path, const sf_reading *how, sf_error *error);

#endif
