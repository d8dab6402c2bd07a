/* SPDX-License-Identifier: Apache-2.0 */
/** A part of a recording: units, a span of time, epochs, without duplicates or stimulus artefacts. */
#ifndef SF_REPLAY_SELECTION_H
#define SF_REPLAY_SELECTION_H

#include "core/provenance.h"

/** A time as the command line has it: absolute seconds, or counted from the first spike (`+5`). */
typedef struct sf_time_point {
    bool given;
    bool from_first;
    int64_t ns;
} sf_time_point;

/** Zero-initialised, it selects everything. Strings are borrowed. */
typedef struct sf_selection {
    const char *units;       /**< `a,b,#10-#20` (double quotes around names with commas), or NULL for all */
    sf_time_point from, to;  /**< `to` is excluded; not given: after the last spike */
    const char *epochs_path; /**< CSV of start,stop[,label] in seconds, or NULL */
    const char *blank; /**< `MARKER,A,B`: removes spikes and exposure from A to B ms around each marker */
    int64_t dedup_ns;  /**< 0: off */
    double dedup_um;
} sf_selection;

/** Reads `3600.5` or `+5`; SF_USAGE. */
int sf_time_point_parse(sf_time_point *point, const char *text, sf_error *error);

/** The time meant in a recording whose first spike is at first_ns; `otherwise` where none was given. */
int64_t sf_time_point_resolve(sf_time_point point, int64_t first_ns, int64_t otherwise);

/**
 * Reads an epochs file: start,stop[,label] in seconds of the recording's clock, with or without a header.
 * Epochs are sorted by start; empty and overlapping ones are refused with their line. sf_free takes *epochs.
 * SF_DATA.
 */
int sf_epochs_read(sf_epoch **epochs, size_t *count, const char *path, sf_error *error);

/**
 * Cuts the recording down in place. Units are never renumbered: what is not selected only loses its spikes.
 * `recorded` and `observed` shrink to the selection, and what was removed is in `dropped`, by cause.
 *
 * Duplicates go first, so that what is left of a unit does not depend on which others are selected: a spike
 * goes that is at most dedup_ns after a kept one on the same unit or on one at most dedup_um away. Then
 * units, blanked times, epochs, and from <= time < to, with `+` counted from the first spike of the whole
 * recording.
 *
 * A marker is named by its text, or ttl3 for a rising edge of line 3. Errors name the option as their place:
 * SF_USAGE for a unit, marker or span that is not there, SF_DATA for --dedup without positions; SF_NO_MEMORY.
 * The recording is then half cut and good for sf_recording_free only.
 *
 * `told`, zeroed, is told what was selected, but for what it does not know: preset and distance; NULL is
 * allowed.
 */
int sf_selection_apply(sf_recording *recording, const sf_selection *selection, sf_selected *told,
                       sf_error *error);

#endif
