/* SPDX-License-Identifier: Apache-2.0 */
/** A part of a recording: units, a span of time, epochs, without duplicates or stimulus artefacts. */
#ifndef SF_REPLAY_SELECTION_H
#define SF_REPLAY_SELECTION_H

#include "core/recording.h"

/** A time as the command line has it: absolute seconds, or counted from the first spike (`+5`). */
typedef struct sf_time_point {
    bool given;
    bool from_first;
    int64_t ns;
} sf_time_point;

/** Zero-initialised, it selects everything. */
typedef struct sf_selection {
    const char *units;       /**< `a,b,#10-#20`, or NULL for all */
    sf_time_point from, to;  /**< `to` is excluded; not given: after the last spike */
    const char *epochs_path; /**< CSV of start,stop,label in seconds, or NULL */
    const char *blank; /**< `MARKER,A,B`: removes spikes and exposure from A to B ms around each marker */
    int64_t dedup_ns;  /**< 0: off. A spike within this time after one on a unit within dedup_um is removed */
    double dedup_um;
} sf_selection;

int sf_time_point_parse(sf_time_point *point, const char *text, sf_error *error);

typedef struct sf_epoch {
    sf_span span;
    char label[64];
} sf_epoch;

/** Reads an epochs file; epochs are sorted by start and must not overlap. */
int sf_epochs_read(sf_epoch **epochs, size_t *count, const char *path, sf_error *error);

/**
 * Cuts the recording down in place. Units are never renumbered: what is not selected only loses its spikes.
 * `recorded` and `observed` shrink to the selection, and what was removed is in `dropped`, by cause.
 */
int sf_selection_apply(sf_recording *recording, const sf_selection *selection, sf_error *error);

#endif
