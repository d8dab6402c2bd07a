/* SPDX-License-Identifier: Apache-2.0 */
/** Shared by both versions of NWB: locations of tables, metadata, and intervals that become markers. */
#ifndef SF_REPLAY_NWB_PARTS_H
#define SF_REPLAY_NWB_PARTS_H

#include "replay/reader.h"

/** Whether the file is NWB 2, by its version (a dataset in betas) or, without one, by its type. */
bool sf_nwb_is_2(hid_t file);

/** The table of electrodes, and the rows that belong to each unit. Zero-initialise; free with
 * sf_nwb_free_electrodes. */
typedef struct sf_nwb_electrodes {
    double *x, *y; /**< NULL: no usable geometry */
    int64_t *ids;
    size_t count;
    size_t groups_apart; /**< number of electrode groups with overlapping positions that were moved along x;
                            0: none */
    int64_t *rows;       /**< electrodes of unit i are rows[ends[i - 1]] .. rows[ends[i] - 1] */
    size_t *ends;
} sf_nwb_electrodes;

/** Reads the table alone, without the units' rows; leaves `all` empty if there is none. */
int sf_nwb_open_electrodes(sf_nwb_electrodes *all, const sf_hdf_input *input, sf_error *error);
/** The same, with the rows named by the column `electrodes` of a table of `units` rows. */
int sf_nwb_read_electrodes(sf_nwb_electrodes *all, hid_t units_table, size_t units, const sf_hdf_input *input,
                           sf_error *error);
/** Sets the unit's position to the mean of its electrodes; sets its electrode number if it has a single
 * electrode. */
void sf_nwb_place_unit(sf_unit *unit, const sf_nwb_electrodes *all, size_t index);
/** Sets the metadata `positions` if groups were moved. SF_NO_MEMORY. */
int sf_nwb_tell_positions(sf_recording *recording, const sf_nwb_electrodes *all, sf_error *error);
void sf_nwb_free_electrodes(sf_nwb_electrodes *all);

/** Reads the row ends of a ragged column, which must ascend and end at the length of the column; free *ends
 * with sf_free. */
int sf_nwb_read_ends(hid_t table, const char *column, size_t length, const char *path, size_t **ends,
                     size_t *rows, sf_error *error);

/** Calls `visit` with the path `processing/MODULE/NAME` of each object in the modules of /processing, until
 * it returns non-zero. */
void sf_nwb_each_processed(hid_t file, int (*visit)(void *context, const char *path), void *context);

/** Reads subject, session and similar metadata, if present. SF_NO_MEMORY. */
int sf_nwb_read_metadata(sf_recording *recording, hid_t file, sf_error *error);

/** Where markers of intervals go. */
typedef struct sf_nwb_markers {
    sf_recording *recording;
    const char *path;
    size_t capacity; /**< of the recording's markers */
    sf_error *error;
} sf_nwb_markers;

/** Adds markers `label` and `label end`, omitting a bound that is NaN. SF_DATA, SF_NO_MEMORY. */
int sf_nwb_add_interval(sf_nwb_markers *to, double start_s, double stop_s, const char *label);

/** Name of an interval: its tags joined by commas, else `otherwise`. */
void sf_nwb_name_interval(char label[SF_MARKER_TEXT_SIZE], char *const *tags, size_t count,
                          const char *otherwise);

#endif
