/* SPDX-License-Identifier: Apache-2.0 */
/** What both versions of NWB have in common: tables to choose from, metadata, and intervals that become
 * markers. */
#ifndef SF_REPLAY_NWB_PARTS_H
#define SF_REPLAY_NWB_PARTS_H

#include "replay/reader.h"

#define SF_NWB_MOST_TABLES 32

/** The groups of a file that hold spike times. */
typedef struct sf_nwb_tables {
    size_t count;
    char names[SF_NWB_MOST_TABLES][600]; /**< paths without the first slash; also what --stream takes */
    size_t spikes[SF_NWB_MOST_TABLES];
} sf_nwb_tables;

/** Tables beyond the most are passed over. */
void sf_nwb_tables_add(sf_nwb_tables *tables, const char *name, size_t spikes);

/** The one table, or the one that --stream names; `what` names their kind. SF_USAGE lists them. There is one.
 */
int sf_nwb_tables_choose(const sf_nwb_tables *tables, const char *what, const sf_hdf_input *input,
                         size_t *chosen, sf_error *error);

/** Calls `visit` with the path `processing/MODULE/NAME` of all that the modules of /processing hold, until it
 * returns non-zero. */
void sf_nwb_each_processed(hid_t file, int (*visit)(void *context, const char *path), void *context);

/** Subject, session and the like, as far as the file has them. SF_NO_MEMORY. */
int sf_nwb_read_metadata(sf_recording *recording, hid_t file, sf_error *error);

/** Where markers of intervals go. */
typedef struct sf_nwb_markers {
    sf_recording *recording;
    const char *path;
    size_t capacity; /**< of the recording's markers */
    sf_error *error;
} sf_nwb_markers;

/** Adds markers `label` and `label end`; a bound that is NaN has none. SF_DATA, SF_NO_MEMORY. */
int sf_nwb_add_interval(sf_nwb_markers *to, double start_s, double stop_s, const char *label);

/** The name of an interval: its tags, with commas, else `otherwise`. */
void sf_nwb_name_interval(char label[SF_MARKER_TEXT_SIZE], char *const *tags, size_t count,
                          const char *otherwise);

#endif
